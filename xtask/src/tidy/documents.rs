//! The documents a newcomer meets are there, short enough to read, and true about how to test.

use super::tree::Tree;
use super::{Check, Finding};

pub(super) const CHECK: Check = Check {
    name: "documents",
    about: "the documents are there, and CI runs the README's test command",
    find,
};

const REQUIRED: &[&str] =
    &["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", CI];
const CI: &str = ".ci/run";

/// Three pages.
const ARCHITECTURE_LINES_MAX: usize = 200;

fn find(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in REQUIRED {
        if tree.file(path).is_none_or(|file| file.text.trim().is_empty()) {
            findings.push(Finding::new(path, 1, "missing or empty, write it"));
        }
    }
    if let Some(file) = tree.file("ARCHITECTURE.md") {
        let lines = file.text.lines().count();
        if lines > ARCHITECTURE_LINES_MAX {
            let message = format!(
                "{lines} lines, more than three pages ({ARCHITECTURE_LINES_MAX}), cut what the code says"
            );
            findings.push(Finding::new(&file.path, ARCHITECTURE_LINES_MAX + 1, message));
        }
    }
    if let Some(readme) = tree.file("README.md") {
        match readme.lines().find_map(|(number, line)| Some((number, test_command(line)?))) {
            None => findings.push(Finding::new(
                "README.md",
                1,
                "no line is a test command, give one that starts with `cargo test`",
            )),
            Some((number, command)) => {
                let runs = |text: &str| text.lines().any(|line| line.trim_end().ends_with(command));
                if !tree.file(CI).is_some_and(|ci| runs(&ci.text)) {
                    let message = format!("{CI} does not run `{command}`, make the two agree");
                    findings.push(Finding::new("README.md", number, message));
                }
            }
        }
    }
    findings
}

/// The test command that a line of the README is, with or without a prompt.
fn test_command(line: &str) -> Option<&str> {
    let command = line.trim().trim_start_matches("$ ");
    command.starts_with("cargo test").then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "# httperf\n\n```console\n$ cargo test --workspace\n```\n";

    fn messages(readme: &str, architecture: &str, ci: &str) -> Vec<String> {
        let files = [("README.md", readme), ("ARCHITECTURE.md", architecture), (CI, ci)];
        let rest = [("CHANGELOG.md", "x"), ("LICENSE-MIT", "x"), ("LICENSE-APACHE", "x")];
        find(&Tree::of(&[&files[..], &rest[..]].concat())).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_tree_with_everything_is_tidy() {
        assert_eq!(messages(README, "x", "step cargo test --workspace\n"), [""; 0]);
    }

    #[test]
    fn what_is_missing_or_empty_is_named() {
        assert_eq!(find(&Tree::of(&[])).len(), REQUIRED.len());
        assert_eq!(
            messages(README, " \n", "cargo test --workspace\n"),
            ["ARCHITECTURE.md:1: missing or empty, write it"]
        );
    }

    #[test]
    fn three_pages_are_enough() {
        let long = "x\n".repeat(ARCHITECTURE_LINES_MAX + 1);
        let found = messages(README, &long, "cargo test --workspace\n");
        assert!(found.len() == 1 && found[0].starts_with("ARCHITECTURE.md:201: 201 lines"), "{found:?}");
    }

    #[test]
    fn ci_runs_the_very_command() {
        let found = messages(README, "x", "cargo test --workspace --quiet\n");
        assert_eq!(found, ["README.md:4: .ci/run does not run `cargo test --workspace`, make the two agree"]);
        assert!(messages("# httperf\n", "x", "x")[0].contains("no line is a test command"));
    }
}
