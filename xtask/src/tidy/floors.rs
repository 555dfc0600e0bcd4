//! The floors of the house: a crate may use only crates on floors below its own. Siblings never meet.

use super::tree::{File, Tree};
use super::{Check, Finding};

pub(super) const CHECK: Check =
    Check { name: "floors", about: "a crate uses only crates on floors below it; tests may use any", find };

const FLOORS: &[(u8, &[&str])] = &[
    (7, &["httperf-cli"]),
    (6, &["httperf"]),
    (5, &["httperf-report", "httperf-fleet", "httperf-serve"]),
    (4, &["httperf-analysis"]),
    (3, &["httperf-load", "httperf-stat"]),
    (2, &["httperf-engine"]),
    (1, &["httperf-wire", "httperf-sockopt"]),
];

/// Crates beside the house: they may use any floor, and no floor may use them.
const OUTSIDE: &[&str] = &["xtask", "httperf-fuzz"];

fn find(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in tree.packages.iter().filter(|package| !OUTSIDE.contains(&package.name.as_str())) {
        let mut add = |key: &str, message| {
            let line = tree.file(&package.manifest).map_or(1, |manifest| line_of(manifest, key));
            findings.push(Finding::new(&package.manifest, line, message));
        };
        let name = &package.name;
        let Some(own) = floor(name) else {
            add(
                "name",
                format!("{name} has no floor, give it one in xtask/src/tidy/floors.rs and ARCHITECTURE.md"),
            );
            continue;
        };
        for used in package.uses.iter().filter(|used| floor(used).is_none_or(|floor| floor >= own)) {
            let (from, to) = (placed(name), placed(used));
            let advice = "move what both need to a floor below, or hand it in from above";
            add(used, format!("{from} may not use {to}, {advice}"));
        }
    }
    findings
}

/// The line of a manifest that sets this key; 1 if none does, as in `[dependencies.NAME]`.
fn line_of(manifest: &File, key: &str) -> usize {
    let sets = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
    manifest.lines().find(|(_, line)| sets(line)).map_or(1, |(number, _)| number)
}

fn floor(package: &str) -> Option<u8> {
    FLOORS.iter().find(|(_, packages)| packages.contains(&package)).map(|(floor, _)| *floor)
}

fn placed(package: &str) -> String {
    match floor(package) {
        Some(floor) => format!("{package} (floor {floor})"),
        None => format!("{package} (no floor)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(packages: &[(&str, &[&str])]) -> Vec<String> {
        find(&Tree::of(&[]).with_packages(packages)).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn downward_is_free() {
        assert_eq!(
            messages(&[("httperf-engine", &["httperf-wire"]), ("httperf-cli", &["httperf", "httperf-wire"])]),
            [""; 0]
        );
    }

    #[test]
    fn upward_and_sideways_are_not() {
        let found = messages(&[("httperf-wire", &["httperf-engine"]), ("httperf-load", &["httperf-stat"])]);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("httperf-wire (floor 1) may not use httperf-engine (floor 2), "));
        assert!(found[1].starts_with("httperf-load (floor 3) may not use httperf-stat (floor 3), "));
    }

    #[test]
    fn nobody_in_the_house_uses_a_chore() {
        assert_eq!(messages(&[("xtask", &["httperf-cli"])]), [""; 0]);
        assert!(
            messages(&[("httperf-cli", &["xtask"])])[0]
                .starts_with("httperf-cli (floor 7) may not use xtask (no floor)")
        );
    }

    #[test]
    fn a_crate_without_a_floor_is_found() {
        assert!(messages(&[("httperf-attic", &[])])[0].starts_with("httperf-attic has no floor"));
    }

    #[test]
    fn the_finding_stands_at_the_dependency() {
        for line in ["httperf-engine.workspace = true", "httperf-engine = { path = \"../engine\" }"] {
            let manifest = format!("[package]\nname = \"httperf-wire\"\n[dependencies]\n{line}\n");
            let tree = Tree::of(&[("httperf-wire/Cargo.toml", &manifest)]);
            let tree = tree.with_packages(&[("httperf-wire", &["httperf-engine"])]);
            assert_eq!(find(&tree)[0].line, 4);
        }
    }
}
