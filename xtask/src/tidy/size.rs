//! No giant files: a noun a file, and every model's ugliest spot is its one giant.

use super::tree::Tree;
use super::{Check, Finding};

pub(super) const CHECK: Check = Check {
    name: "size",
    about: "no Rust file has more than 800 lines; the aim is a median of 150 to 350",
    find,
};

const LINES_MAX: usize = 800;

fn find(tree: &Tree) -> Vec<Finding> {
    let long =
        tree.rust().map(|file| (file, file.text.lines().count())).filter(|(_, lines)| *lines > LINES_MAX);
    long.map(|(file, lines)| {
        let message = format!("{lines} lines, more than {LINES_MAX}, split it by its nouns");
        Finding::new(&file.path, LINES_MAX + 1, message)
    })
    .collect()
}

/// How long the files are, in one line.
pub(super) fn spread(tree: &Tree) -> String {
    let mut lines: Vec<usize> = tree.rust().map(|file| file.text.lines().count()).collect();
    lines.sort_unstable();
    let (median, longest) = (lines.get(lines.len() / 2).unwrap_or(&0), lines.last().unwrap_or(&0));
    format!("{} Rust files, median {median} lines, longest {longest}", lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_after_the_last_allowed_one_is_the_finding() {
        let (fits, over) = ("//\n".repeat(LINES_MAX), "//\n".repeat(LINES_MAX + 1));
        let found = find(&Tree::of(&[("a.rs", &fits), ("b.rs", &over), ("c.md", &over)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("b.rs", LINES_MAX + 1));
    }

    #[test]
    fn the_spread_is_of_rust_only() {
        let tree = Tree::of(&[("a.rs", "1\n"), ("b.rs", "1\n2\n"), ("c.rs", "1\n2\n3\n"), ("d.md", "")]);
        assert_eq!(spread(&tree), "3 Rust files, median 2 lines, longest 3");
        assert_eq!(spread(&Tree::of(&[])), "0 Rust files, median 0 lines, longest 0");
    }
}
