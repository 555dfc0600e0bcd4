//! No code above the driver reads a clock: time comes in with the input, so a whole run replays from a seed.

use super::tree::Tree;
use super::{Check, Finding, line};

pub(super) const CHECK: Check = Check {
    name: "clocks",
    about: "no code above the driver reads a clock, but the ends of the program",
    find,
};

const CLOCKS: &[&str] = &["Instant::now", "SystemTime::now", "Timestamp::now", "Zoned::now", "clock_gettime"];

/// Who may: the driver that stamps, the server at the other end, and those who start runs and date their
/// results.
const ALLOWED: &[&str] =
    &["crates/engine/src/epoll.rs", "crates/serve/", "crates/httperf/src/", "crates/cli/src/", "xtask/"];

fn find(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let bound = tree.rust().filter(|file| {
        !file.is_below(&["tests", "benches"]) && !ALLOWED.iter().any(|allowed| file.path.starts_with(allowed))
    });
    for file in bound {
        for (number, text) in file.lines() {
            for clock in CLOCKS.iter().filter(|clock| line::has(line::code(text), clock)) {
                let message = format!(
                    "`{clock}` reads a clock, take `now` as an argument: it comes with the driver's input"
                );
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        find(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn every_clock_is_found() {
        for clock in CLOCKS {
            assert_eq!(
                count("crates/engine/src/core.rs", &format!("let now = std::time::{clock}();")),
                1,
                "{clock}"
            );
        }
    }

    #[test]
    fn the_driver_the_ends_and_the_tests_may() {
        let free = [
            "crates/engine/src/epoll.rs",
            "crates/serve/src/lib.rs",
            "crates/cli/src/main.rs",
            "crates/wire/tests/h1.rs",
        ];
        for path in free {
            assert_eq!(count(path, "let now = Instant::now();"), 0, "{path}");
        }
        assert_eq!(count("crates/engine/src/sim.rs", "let now = Instant::now();"), 1);
    }

    #[test]
    fn to_speak_of_a_clock_is_not_to_read_one() {
        assert_eq!(count("crates/engine/src/core.rs", "/// Never calls `Instant::now`."), 0);
    }
}
