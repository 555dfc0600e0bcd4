//! Comments keep the width that rustfmt holds code to: it wraps no comment.

use super::tree::Tree;
use super::{Check, Finding};

pub(super) const CHECK: Check =
    Check { name: "width", about: "no comment is wider than code may be: 110 columns", find };

/// `max_width` in rustfmt.toml.
const COLUMNS_MAX: usize = 110;

fn find(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (number, line) in file.lines().filter(|(_, line)| line.trim_start().starts_with("//")) {
            let columns = line.chars().count();
            if columns > COLUMNS_MAX {
                let message = format!("{columns} columns, more than {COLUMNS_MAX}, wrap the comment");
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_that_are_too_wide_are_found() {
        let (fits, wide) = ("x".repeat(COLUMNS_MAX - 3), "x".repeat(COLUMNS_MAX - 2));
        let text = format!(
            "//!{fits}\n    //{wide}\n//!{wide}\nlet long = \"{wide}\"; // code\n//{}\n",
            "é".repeat(108)
        );
        let lines: Vec<usize> = find(&Tree::of(&[("a.rs", &text)])).iter().map(|found| found.line).collect();
        assert_eq!(lines, [2, 3]);
    }
}
