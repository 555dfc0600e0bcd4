//! No path of the machine at hand: what is true here only does not belong into the repository.

use std::path::{Component, Path};

use super::tree::Tree;
use super::{Check, Finding};

pub(super) const CHECK: Check =
    Check { name: "machine", about: "no file names a folder that only this machine has", find };

/// Folders at the top of many machines. A path below one may be meant for all of them, so there the whole
/// path counts.
const COMMON: &[&str] = &[
    "bin", "dev", "etc", "home", "lib", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "usr",
    "var",
];

fn find(tree: &Tree) -> Vec<Finding> {
    let mut own = Vec::from_iter(root_prefix(&tree.root));
    own.extend(tree.home.iter().map(|home| format!("{}/", home.display())));
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.extension() != Some("lock")) {
        for (number, line) in file.lines() {
            for path in own.iter().filter(|path| names(line, path)) {
                let message =
                    format!("`{path}` is a folder of this machine, write a relative path or a variable");
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

/// What tells that a path is below the work tree's: its top folder, if only such a machine has that, else all
/// of it.
fn root_prefix(root: &Path) -> Option<String> {
    let top = root.components().find_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    })?;
    Some(if COMMON.contains(&top) { format!("{}/", root.display()) } else { format!("/{top}/") })
}

/// Whether a line has this absolute path, not a relative one that ends alike.
fn names(line: &str, path: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "._-~})".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(root: &str, home: &str, text: &str) -> usize {
        let tree = Tree::of(&[("notes.md", text), ("Cargo.lock", text)]);
        find(&Tree { root: root.into(), home: Some(home.into()), ..tree }).len()
    }

    #[test]
    fn a_folder_of_ones_own_counts_from_the_top() {
        assert_eq!(count("/corner/httperf", "/home/ann", "see /corner/notes.md"), 1);
        assert_eq!(count("/corner/httperf", "/home/ann", "see `/home/ann/notes.md`"), 1);
    }

    #[test]
    fn a_common_folder_counts_only_as_a_whole() {
        assert_eq!(count("/home/ann/httperf", "/home/bob", "in /home/ann/httperf/target"), 1);
        assert_eq!(count("/home/ann/httperf", "/home/bob", "in /home/carl/httperf/target"), 0);
        assert_eq!(count("/tmp/clone", "/home/bob", "written to /tmp/trace.csv"), 0);
    }

    #[test]
    fn a_relative_path_may_end_alike() {
        let text = "crates/corner/src and ./corner/x and $A/corner/x and ${A}/corner/x";
        assert_eq!(count("/corner/httperf", "/home/ann", text), 0);
    }
}
