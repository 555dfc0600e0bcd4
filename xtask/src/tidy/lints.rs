//! The compiler answers for memory: the workspace forbids `unsafe_code`, and every crate takes the
//! workspace's lints. The exceptions are listed here, and say why in their lib.rs.

use super::tree::{File, Tree};
use super::{Check, Finding};

pub(super) const CHECK: Check = Check {
    name: "lints",
    about: "the workspace forbids `unsafe_code` and every crate takes its lints",
    find,
};

/// Crates that make system calls no library makes for us, and nothing else.
const EXCEPTIONS: &[&str] = &["crates/sockopt/Cargo.toml"];

fn find(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let root = tree.file("Cargo.toml");
    if !root.is_some_and(|file| holds(file, "[workspace.lints.rust]", "unsafe_code = \"forbid\"")) {
        let message =
            "`unsafe_code` is not forbidden, write `unsafe_code = \"forbid\"` under [workspace.lints.rust]";
        findings.push(Finding::new("Cargo.toml", 1, message));
    }
    let bound = |manifest: &str| !EXCEPTIONS.contains(&manifest);
    for package in tree.packages.iter().filter(|package| bound(&package.manifest)) {
        let manifest = tree.file(&package.manifest);
        if !manifest.is_some_and(|file| holds(file, "[lints]", "workspace = true")) {
            let message = "the workspace's lints are not taken, add `[lints]` with `workspace = true`";
            findings.push(Finding::new(&package.manifest, 1, message));
        }
    }
    findings
}

/// Whether a TOML file has this line in the section under this heading.
fn holds(file: &File, heading: &str, wanted: &str) -> bool {
    let section = file.text.lines().map(str::trim).skip_while(|line| *line != heading).skip(1);
    section.take_while(|line| !line.starts_with('[')).any(|line| line == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: (&str, &str) = ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n");

    fn found(files: &[(&str, &str)]) -> usize {
        find(&Tree::of(files).with_packages(&[("a", &[])])).len()
    }

    #[test]
    fn both_halves_are_needed() {
        let taken = ("a/Cargo.toml", "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n");
        assert_eq!(found(&[ROOT, taken]), 0);
        assert_eq!(found(&[taken]), 1);
        assert_eq!(found(&[ROOT, ("a/Cargo.toml", "[package]\nname = \"a\"\n")]), 1);
    }

    #[test]
    fn a_line_of_another_section_does_not_count() {
        assert_eq!(found(&[ROOT, ("a/Cargo.toml", "[lints]\n[dependencies.b]\nworkspace = true\n")]), 1);
    }

    #[test]
    fn to_deny_is_not_to_forbid() {
        let weak = ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"deny\"\n");
        assert_eq!(found(&[weak, ("a/Cargo.toml", "[lints]\nworkspace = true\n")]), 1);
    }
}
