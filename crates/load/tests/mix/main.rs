//! Mix files from outside: what they mean, what is wrong with them, and what the schema says of them.

#![allow(clippy::unwrap_used)]

mod errors;
mod examples;
mod play;
mod schema;

/// A file that has everything, to be changed by tests.
const WHOLE: &str = r#"[sessions]
rate = 20.0
count = 1000
length = { mean = 10 }
think = { distribution = "exponential", mean = "5s", max = "60s" }

[calls]
dynamic_share = 0.3

[quality]
good = "3s"
tolerable = "5s"

[[class]]
name = "small"
weight = 35
uri = "/dir{dir:05}/{page}"
pick.dir = { count = 64, first = 1, zipf = 1.0 }
pick.page = { values = ["a", "b"] }

[[class]]
name = "dynamic"
weight = 30
dynamic = true
method = "POST"
uri = "/post?id={session}-{call}"
headers = ["Content-Type: text/plain"]
body = "{}"
"#;

/// The file with `from`, which is there once, changed `to`.
fn with(from: &str, to: &str) -> String {
    assert_eq!(WHOLE.matches(from).count(), 1, "{from}");
    WHOLE.replace(from, to)
}
