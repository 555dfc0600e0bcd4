//! Every Rust file opens with what it is: the big idea first.

use super::tree::Tree;
use super::{Check, Finding};

pub(super) const CHECK: Check =
    Check { name: "headers", about: "every Rust file opens with a `//!` that says what it is", find };

fn find(tree: &Tree) -> Vec<Finding> {
    let bare = tree.rust().filter(|file| !file.text.starts_with("//! "));
    bare.map(|file| Finding::new(&file.path, 1, "no `//!` opens the file, say in a sentence what it holds"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doc_is_the_very_first_line() {
        let tree = Tree::of(&[
            ("good.rs", "//! Says it.\n"),
            ("late.rs", "use std::fmt;\n//! Says it.\n"),
            ("comment.rs", "// Says it.\n"),
            ("blank.rs", "//!\n"),
            ("empty.rs", ""),
        ]);
        let paths: Vec<String> = find(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["late.rs", "comment.rs", "blank.rs", "empty.rs"]);
    }
}
