//! What no commit leaves behind: stubs, tests that are switched off, tests that wait.

use super::tree::{File, Tree};
use super::{Check, Finding, line};

pub(super) const CHECK: Check =
    Check { name: "forbidden", about: "no stubs, no ignored tests, no test that sleeps", find };

/// Where a pattern counts.
enum Place {
    Anywhere,
    LineStart,
    Tests,
}

/// Each is written in two halves, so that nothing that looks for it finds this table.
const PATTERNS: &[(&str, Place, &str)] = &[
    (concat!("todo", "!("), Place::Anywhere, "is a stub, write the code or leave the item out"),
    (concat!("unimplemented", "!("), Place::Anywhere, "is a stub, write the code or leave the item out"),
    (concat!("#[", "ignore"), Place::LineStart, "switches a test off, mend the test or take it out"),
    (
        concat!("thread", "::sleep"),
        Place::Tests,
        "makes a test wait, drive it with a virtual clock or wait for the event",
    ),
];

fn find(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let tests = tests_from(file);
        for (number, text) in file.lines() {
            let counts = |pattern: &str, place: &Place| match place {
                Place::Anywhere => line::has(text, pattern),
                Place::LineStart => text.trim_start().starts_with(pattern),
                Place::Tests => number >= tests && line::has(text, pattern),
            };
            for (pattern, _, advice) in PATTERNS.iter().filter(|(pattern, place, _)| counts(pattern, place)) {
                findings.push(Finding::new(&file.path, number, format!("`{pattern}` {advice}")));
            }
        }
    }
    findings
}

/// The line from which on a file is tests: they stand at the bottom.
fn tests_from(file: &File) -> usize {
    if file.is_below(&["tests", "test", "tests.rs"]) || file.path.ends_with("_test.rs") {
        return 1;
    }
    let mut lines = file.lines().zip(file.text.lines().skip(1));
    let module = lines
        .find(|((_, line), next)| line.trim() == "#[cfg(test)]" && next.trim_start().starts_with("mod "));
    module.map_or(usize::MAX, |((number, _), _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        find(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn stubs_and_ignored_tests_are_found_anywhere() {
        for (pattern, _, _) in &PATTERNS[..3] {
            assert_eq!(count("crates/wire/src/h1.rs", &format!("    {pattern})")), 1, "{pattern}");
            assert_eq!(count("crates/wire/tests/h1.rs", &format!("    {pattern})")), 1, "{pattern}");
        }
    }

    #[test]
    fn an_attribute_stands_at_the_start_of_its_line() {
        assert_eq!(count("a.rs", &format!("// no {}]", PATTERNS[2].0)), 0);
    }

    #[test]
    fn only_tests_may_not_sleep() {
        let sleep = format!("std::{}(x);\n", PATTERNS[3].0);
        assert_eq!(count("crates/serve/src/lib.rs", &sleep), 0);
        assert_eq!(count("crates/serve/tests/a.rs", &sleep), 1);
        assert_eq!(count("crates/serve/src/a_test.rs", &sleep), 1);
        assert_eq!(count("crates/serve/src/lib.rs", &format!("#[cfg(test)]\nuse x;\n{sleep}")), 0);
        assert_eq!(
            count("crates/serve/src/lib.rs", &format!("{sleep}#[cfg(test)]\nmod tests {{\n{sleep}}}\n")),
            1
        );
    }
}
