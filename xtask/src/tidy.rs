//! `cargo xtask tidy`: the rules of the house that a machine can hold.
//!
//! ```text
//! git ls-files + cargo metadata --> Tree --> each Check --> findings: path:line: what, and what to do
//! ```
//!
//! A new check is a file below `tidy/` with its own table, words and tests, and one line in [`CHECKS`].

mod clocks;
mod documents;
mod floors;
mod forbidden;
mod glossary;
mod headers;
mod line;
mod lints;
mod machine;
mod size;
mod tree;
mod width;
mod writer;

use std::fmt;

use tree::Tree;

const CHECKS: &[Check] = &[
    floors::CHECK,
    lints::CHECK,
    size::CHECK,
    width::CHECK,
    headers::CHECK,
    glossary::CHECK,
    writer::CHECK,
    clocks::CHECK,
    forbidden::CHECK,
    documents::CHECK,
    machine::CHECK,
];

/// One rule.
struct Check {
    name: &'static str,
    /// The rule in one line, for `--list`.
    about: &'static str,
    /// A pure function of the tree: it is tested on trees of a few lines.
    find: fn(&Tree) -> Vec<Finding>,
}

/// A place where a rule is not kept. Lines count from 1.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    /// What is wrong, and what to do.
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Looks at the whole tree and prints what it finds; `false` if that is anything.
pub(crate) fn run(verbose: bool) -> anyhow::Result<bool> {
    let tree = Tree::load()?;
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| (check.find)(&tree)).collect();
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    if verbose {
        println!("tidy: {}", size::spread(&tree));
    }
    let (checks, files) = (CHECKS.len(), tree.files.len());
    println!("tidy: {checks} checks, {files} files, findings: {}", findings.len());
    Ok(findings.is_empty())
}

/// The checks, one a line.
pub(crate) fn list() -> String {
    CHECKS.iter().map(|check| format!("{:<10} {}\n", check.name, check.about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_a_place_and_a_sentence() {
        let finding = Finding::new("crates/wire/src/h1.rs", 7, "this is wrong, do that");
        assert_eq!(finding.to_string(), "crates/wire/src/h1.rs:7: this is wrong, do that");
    }

    #[test]
    fn every_check_is_listed_once() {
        for check in CHECKS {
            assert_eq!(list().lines().filter(|line| line.split(' ').next() == Some(check.name)).count(), 1);
        }
    }

    #[test]
    fn an_empty_tree_lacks_its_documents_and_nothing_else() {
        let tree = Tree::of(&[]);
        for check in CHECKS {
            let expected = matches!(check.name, "documents" | "lints");
            assert_eq!(!(check.find)(&tree).is_empty(), expected, "{}", check.name);
        }
    }
}
