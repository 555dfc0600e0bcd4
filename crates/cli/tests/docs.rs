//! The command lines of the README and the docs work as they stand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::path::{Path, PathBuf};

use common::{Serve, httperf};

/// README.md and everything in docs/.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    docs.filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .chain([root.join("README.md")])
        .collect()
}

/// The loads in a page's code blocks: their words, without comments.
fn loads(page: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(page).unwrap();
    let blocks = text.split("```").skip(1).step_by(2);
    let lines =
        blocks.flat_map(str::lines).filter(|line| line.starts_with("httperf --server 127.0.0.1 --port 8080"));
    lines
        .map(|line| line.split('#').next().unwrap().split_whitespace().skip(1).map(str::to_owned).collect())
        .collect()
}

#[test]
fn every_load_of_the_documentation_runs_without_an_error() {
    let serve = Serve::start();
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<_> = pages().iter().flat_map(|page| loads(page)).collect();
    assert!(all.len() >= 5, "the README shows some");
    for words in all {
        let words = words.iter().map(|word| if word == "8080" { &serve.port } else { word });
        // As they stand, but not for as long.
        let output =
            httperf().args(words.clone()).args(["--runtime", "0.3"]).current_dir(&folder).output().unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{words:?}");
        assert!(report.contains("\nErrors: total 0 "), "{words:?}\n{report}");
    }
}

#[test]
fn the_documentation_links_to_files_that_exist() {
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap();
            if !path.is_empty() && !path.contains("://") {
                assert!(page.parent().unwrap().join(path).exists(), "{} links to {link}", page.display());
            }
        }
    }
}
