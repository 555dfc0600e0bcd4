//! One file writes to the terminal. Everything else hands it bytes, which a test can read.

use super::tree::Tree;
use super::{Check, Finding, line};

pub(super) const CHECK: Check =
    Check { name: "writer", about: "nothing prints; only the one writer opens the standard streams", find };

/// The one writer.
const WRITER: &str = "crates/cli/src/output.rs";

/// Folders and files beside the product, which may print.
const FREE: &[&str] = &["xtask", "tests", "benches", "examples", "build.rs"];

const PRINTS: &[&str] = &["println!(", "eprintln!(", "print!(", "eprint!(", "dbg!("];
const STREAMS: &[&str] = &["stdout()", "stderr()"];

fn find(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !file.is_below(FREE)) {
        for (number, text) in file.lines() {
            // In comments too: an example that prints is copied.
            for print in PRINTS.iter().filter(|print| line::has(text, print)) {
                let message = format!("`{print}..)` prints, return the bytes and let {WRITER} write them");
                findings.push(Finding::new(&file.path, number, message));
            }
            let opens =
                |stream: &&&str| line::has(line::code(text), stream) && !text.contains(&format!(".{stream}"));
            for stream in STREAMS.iter().filter(|_| file.path != WRITER).filter(opens) {
                let message =
                    format!("`{stream}` opens a standard stream, only {WRITER} may, hand it the bytes");
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
    fn each_macro_is_found_once() {
        for print in PRINTS {
            assert_eq!(count("crates/wire/src/h1.rs", &format!("    {print}\"x\");")), 1, "{print}");
            assert_eq!(count(WRITER, &format!("    {print}\"x\");")), 1, "{print}");
        }
        assert_eq!(count("crates/wire/src/h1.rs", "writeln!(out, \"x\")?;"), 0);
    }

    #[test]
    fn the_streams_belong_to_the_writer() {
        assert_eq!(count("crates/cli/src/main.rs", "let out = std::io::stdout().lock();"), 1);
        assert_eq!(count("crates/cli/src/main.rs", "let out = stderr();"), 1);
        assert_eq!(count(WRITER, "let out = std::io::stdout().lock();"), 0);
    }

    #[test]
    fn a_childs_streams_and_a_comment_are_no_streams_of_ours() {
        assert_eq!(count("crates/cli/src/main.rs", "command.stdout(Stdio::piped()); output.stdout();"), 0);
        assert_eq!(count("crates/cli/src/main.rs", "x(); // not stdout()"), 0);
    }

    #[test]
    fn chores_and_tests_may_print() {
        for path in [
            "xtask/src/main.rs",
            "crates/cli/tests/story.rs",
            "crates/wire/benches/h1.rs",
            "crates/cli/build.rs",
        ] {
            assert_eq!(count(path, "println!(\"x\");"), 0, "{path}");
        }
    }
}
