//! `--wmix`: mistakes are shown before the first packet, and a mix is played against the built-in server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use common::{Serve, document, httperf, load};
use serde_json::Value;

/// 12 sessions of 3 calls, 10 ms apart on average.
const MIX: &str = "\
[sessions]
rate = 100.0
count = 12
length = { mean = 3, distribution = \"constant\" }
think = { distribution = \"exponential\", mean = \"10ms\" }

[quality]
good = \"10s\"
tolerable = \"20s\"

[[class]]
name = \"files\"
weight = 2
uri = \"/bytes/{size}\"
pick.size = { count = 2000, first = 1 }

[[class]]
name = \"broken\"
weight = 1
uri = \"/status/503?{session}.{call}\"
";

/// A folder with this mix in it.
fn with(mix: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mix.toml");
    std::fs::write(&path, mix).unwrap();
    (folder, path)
}

/// What is said of a command line that never becomes a run: on a port where nobody listens, status 1, nothing
/// on stdout.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = load("1").current_dir(folder).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_mistake_is_shown_at_its_place() {
    let (folder, _) = with(MIX.replace("count = 12", "count = 12\nlenght = 3"));
    let expected = "\
httperf: unknown field `lenght`, expected one of `rate`, `arrivals`, `count`, `duration`, `length`, `think`
 --> mix.toml:4:1
  |
4 | lenght = 3
  | ^^^^^^
";
    assert_eq!(refused(folder.path(), &["--wmix", "mix.toml"]), expected);

    let (folder, _) = with(MIX.replace("count = 12\n", ""));
    let expected = "\
httperf: nothing says when the run ends
 --> mix.toml:1:1
  |
1 | [sessions]
  | ^^^^^^^^^^
  |
  = help: write count = 1000 or duration = \"60s\" in [sessions]
";
    assert_eq!(refused(folder.path(), &["--wmix=mix.toml"]), expected);

    // Nor is a document begun.
    let (folder, _) = with(MIX.replace("{size}", "{sise}"));
    let expected = "\
httperf: nothing is called `{sise}` here
  --> mix.toml:14:15
   |
14 | uri = \"/bytes/{sise}\"
   |               ^^^^^^
   |
   = help: there are `{size}`, `{session}`, `{call}`; others come from `pick`
";
    let said = refused(folder.path(), &["--wmix=mix.toml", "--json=result.json"]);
    assert_eq!(said, expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let (folder, _) = with(b"[sessions]\nrate = 1\n# \xff\n");
    let said = |name: &str| refused(folder.path(), &["--wmix", name]);
    assert_eq!(said("mix.toml"), "httperf: --wmix: mix.toml: line 3 is not UTF-8\n");
    let nothing = "httperf: --wmix: failed to read none.toml: No such file or directory (os error 2)\n";
    assert_eq!(said("none.toml"), nothing);
    assert_eq!(said("/dev/zero"), "httperf: --wmix: /dev/zero is larger than 16 MiB\n");
}

#[test]
fn what_the_mix_says_cannot_be_said_again() {
    let (folder, _) = with(MIX);
    let said = |option: &str| refused(folder.path(), &["--wmix=mix.toml", option]);
    for (option, name) in [
        ("--rate=5", "rate"),
        ("--period=e1", "period"),
        ("--num-conns=5", "num-conns"),
        ("--concurrency=2", "concurrency"),
    ] {
        let expected = format!(
            "httperf: --{name} and --wmix cannot be used together: the mix says when sessions begin\n"
        );
        assert_eq!(said(option), expected);
    }
    for (option, name) in [
        ("--num-calls=5", "num-calls"),
        ("--burst-length=5", "burst-length"),
        ("--uri=/a", "uri"),
        ("--method=HEAD", "method"),
        ("--wset=5,0.1", "wset"),
        ("--wlog=y,log", "wlog"),
    ] {
        let expected =
            format!("httperf: --{name} and --wmix cannot be used together: the mix says what they call\n");
        assert_eq!(said(option), expected);
    }
    assert_eq!(said("--wsess=1,1,0"), "httperf: --wsess and --wmix cannot be used together\n");
}

/// A run of the mix and its document.
fn play(serve: &Serve, path: &Path, arguments: &[&str]) -> (Output, Value) {
    let json = path.with_file_name("result.json");
    let mut load = serve.load();
    let output = load.arg("--wmix").arg(path).arg("--json").arg(&json).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    (output, document(&json))
}

#[test]
fn a_mix_is_played_and_graded_however_many_threads_share_it() {
    let serve = Serve::start();
    let (_folder, path) = with(MIX);
    let calls = |document: &Value| -> Vec<Value> {
        let of = |class: &Value| class["calls"].clone();
        document["quality"]["classes"].as_array().unwrap().iter().map(of).collect()
    };
    let (output, alone) = play(&serve, &path, &[]);
    let report = String::from_utf8(output.stdout).unwrap();
    // Our own options never appear in the first line; what a mix takes the place of would be wrong there.
    let first = report.lines().next().unwrap();
    assert!(!first.contains("wmix") && !first.contains("--num-"), "{first}");
    assert!(
        report.contains("\nSession length histogram: 0 0 0 12\n\nQuality limits [ms]: good 10000.0 "),
        "{report}"
    );
    assert!(report.contains("\nCalls: total 36 replies 36 lost 0 unfinished 0 5xx "), "{report}");

    let total = &alone["quality"]["total"];
    let [small, broken] = &calls(&alone)[..] else { panic!("two classes") };
    assert_eq!(small.as_u64().unwrap() + broken.as_u64().unwrap(), 36);
    // Fast or not, a status of 503 is no answer.
    assert_eq!((&total["good"], &total["failed"], &total["server_errors"]), (small, broken, broken));
    assert_eq!(alone["accounting"]["arrivals"]["started"], 12);
    assert_eq!(alone["load"]["arrivals"], "poisson");
    assert_eq!(alone["load"]["rate_per_s"], 100.0);

    let options =
        ["--threads=3", "--session-cookies", "--timeout=5", "--retry-on-failure", "--max-connections=2"];
    let (_, shared) = play(&serve, &path, &options);
    assert_eq!(calls(&shared), calls(&alone), "the draws are those of the sessions");
    assert_eq!(shared["quality"]["total"]["bytes"], total["bytes"]);
    let (_, other) = play(&serve, &path, &["--client=5/9"]);
    assert_eq!(other["quality"]["total"]["calls"], 36);
    assert_eq!(other["run"]["seed"], 5);
}

#[test]
fn a_time_limit_ends_a_mix_early() {
    let serve = Serve::start();
    let (_folder, path) =
        with(MIX.replace("count = 12", "duration = \"1h\"").replace("/bytes/{size}", "/delay/{size}s"));
    let (_, document) = play(&serve, &path, &["--runtime=0.4"]);
    assert_eq!(document["run"]["stopped_by"], "duration");
    let total = &document["quality"]["total"];
    let count = |key: &str| total[key].as_u64().unwrap();
    assert_eq!(count("calls"), count("replies") + count("lost") + count("unfinished"));
    assert_eq!(count("calls") - count("unfinished"), count("good") + count("tolerable") + count("failed"));
    assert!(count("unfinished") > 0, "{total}");
}

#[test]
fn a_server_that_is_not_there_fails_every_session_and_its_call() {
    let (_folder, path) = with(MIX);
    let output =
        httperf().args(["--server", "127.0.0.1", "--port", "1", "--wmix"]).arg(path).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("\nQuality: good 0 (0.0%) tolerable 0 (0.0%) failed 12 (100.0%)\n"), "{report}");
    assert!(report.contains("\nCalls: total 12 replies 0 lost 12 "), "{report}");
}
