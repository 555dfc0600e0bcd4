//! One word, one meaning: the words the house does not use, in code, help texts and documents.
//!
//! Names count by their parts, so that a type or a variable is found as well as prose. Where a word is
//! somebody else's (nginx's processes, a crate's method) the line says so in a comment, or the line above in
//! a comment of its own: `tidy: allow(NAME) REASON`, NAME being this check's. A leave without a reason, or
//! one that nothing needs, is a finding.

use super::tree::{File, Tree};
use super::{Check, Finding};

pub(super) const CHECK: Check = Check {
    name: "glossary",
    about: "code, help and documents say the house's words; see ARCHITECTURE.md",
    find,
};

/// A word that is not used.
struct Term {
    /// In singular, lower case; the plural is found too.
    words: &'static [&'static str],
    /// The word after which it is something else, and fine.
    fine_after: Option<&'static str>,
    /// The house's own.
    instead: &'static str,
}

const TERMS: &[Term] = &[
    Term { words: &["transaction"], fine_after: None, instead: "`call` or `session`" },
    Term { words: &["hit"], fine_after: Some("cache"), instead: "`request` or `call`, or `reach` as a verb" },
    Term { words: &["worker"], fine_after: None, instead: "`thread`, or `agent` for a machine" },
    Term { words: &["virtual", "user"], fine_after: None, instead: "`session`" },
    Term { words: &["vu"], fine_after: None, instead: "`session`" },
];

/// The only file that must spell them out.
const SELF: &str = "xtask/src/tidy/glossary.rs";

const LEAVE: &str = "tidy: allow(glossary)";

fn find(tree: &Tree) -> Vec<Finding> {
    let files = ["rs", "md", "toml"].into_iter().flat_map(|extension| tree.with_extension(extension));
    files.filter(|file| file.path != SELF).flat_map(look).collect()
}

fn look(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |line, message| findings.push(Finding::new(&file.path, line, message));
    let mut above = None;
    for (number, line) in file.lines() {
        let own = leave(line);
        if own.is_some_and(|leave| leave.reason.is_empty()) {
            add(number, format!("`{LEAVE}` gives no reason, write one after it"));
        }
        if own.is_some_and(|leave| leave.alone) {
            above = Some(number);
            continue;
        }
        let given = own.map(|_| number).or(above.take());
        let mut used = terms(line).peekable();
        match given {
            None => used.for_each(|Term { words, instead, .. }| {
                let word = words.join(" ");
                add(
                    number,
                    format!("`{word}` is not a word of the house, say {instead}, or `{LEAVE} REASON`"),
                );
            }),
            Some(at) if used.peek().is_none() => add(at, format!("`{LEAVE}` is not needed, take it out")),
            Some(_) => {}
        }
    }
    findings
}

/// The unused words that are used in a line.
fn terms(line: &str) -> impl Iterator<Item = &'static Term> {
    let parts = parts(line);
    TERMS.iter().filter(move |term| {
        parts.windows(term.words.len()).enumerate().any(|(at, window)| {
            let before = at.checked_sub(1).map(|at| parts[at].as_str());
            same(window, term.words) && (term.fine_after.is_none() || term.fine_after != before)
        })
    })
}

/// Whether these are those words, the last one in singular or plural.
fn same(found: &[String], words: &[&str]) -> bool {
    let last = words.len() - 1;
    let is = |at: usize, word: &str| {
        found[at] == word || (at == last && found[at].strip_suffix('s') == Some(word))
    };
    words.iter().enumerate().all(|(at, word)| is(at, word))
}

/// The words of a line in lower case, with names taken apart: `max_depth` and `MaxDepth` are two words each.
fn parts(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for name in line.split(|c: char| !c.is_alphabetic()) {
        let mut part = String::new();
        let mut lower_before = false;
        for c in name.chars() {
            if lower_before && c.is_uppercase() {
                parts.push(std::mem::take(&mut part));
            }
            lower_before = c.is_lowercase();
            part.extend(c.to_lowercase());
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}

/// The leave a line gives.
#[derive(Clone, Copy)]
struct Leave<'a> {
    reason: &'a str,
    /// It stands in a comment of its own, so it is for the line below.
    alone: bool,
}

fn leave(line: &str) -> Option<Leave<'_>> {
    let (before, after) = line.split_once(LEAVE)?;
    let reason = after.trim_start_matches([':', ' ']).trim_end_matches(['-', '>', '*', '/', ' ']);
    Some(Leave { reason, alone: matches!(before.trim(), "//" | "#" | "<!--") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        find(&Tree::of(&[("a.rs", text)]))
            .into_iter()
            .map(|finding| (finding.line, finding.message))
            .collect()
    }

    fn count(text: &str) -> usize {
        found(text).len()
    }

    #[test]
    fn a_word_is_found_in_prose_and_in_names() {
        for line in [
            "a worker",
            "Workers",
            "let worker_count",
            "struct HttpWorker;",
            "fn max_workers()",
            "WORKER_MAX",
        ] {
            assert_eq!(count(line), 1, "{line}");
        }
        for line in ["10 VUs", "a vu", "a virtual user", "virtual_users", "VirtualUser", "a `transaction`"] {
            assert_eq!(count(line), 1, "{line}");
        }
    }

    #[test]
    fn a_part_of_a_word_is_another_word() {
        for line in ["networker", "white", "architecture", "a virtual clock, a user", "vue", "workspace"] {
            assert_eq!(count(line), 0, "{line}");
        }
    }

    #[test]
    fn a_cache_may_be_hit() {
        assert_eq!(count("a cache hit, cache_hits, CacheHit"), 0);
        assert_eq!(count("the hits of a cache"), 1);
        assert_eq!(count("hit"), 1);
    }

    #[test]
    fn the_message_says_what_to_write() {
        let (line, message) = found("//! Calm.\nlet transactions = 1;\n").remove(0);
        assert_eq!(line, 2);
        assert!(message.contains("say `call` or `session`"), "{message}");
    }

    #[test]
    fn a_leave_with_a_reason_is_for_its_line() {
        assert_eq!(count(&format!("x.worker_threads(1) // {LEAVE}: the runtime's own name")), 0);
        assert_eq!(count(&format!("| 1 worker | <!-- {LEAVE} nginx's word -->")), 0);
        assert_eq!(count(&format!("x.worker_threads(1) // {LEAVE}: the runtime's own name\nworker")), 1);
    }

    #[test]
    fn a_leave_alone_on_a_line_is_for_the_next() {
        assert_eq!(count(&format!("    // {LEAVE}: nginx's word\n    \"worker_processes 1\",\n")), 0);
        assert_eq!(count(&format!("// {LEAVE}: nginx's word\nworker\nworker\n")), 1);
    }

    #[test]
    fn a_leave_without_a_reason_or_a_need_is_a_finding() {
        assert!(found(&format!("worker <!-- {LEAVE} -->"))[0].1.contains("gives no reason"));
        assert!(found(&format!("thread // {LEAVE}: just in case"))[0].1.contains("is not needed"));
        let alone = found(&format!("// {LEAVE}: just in case\nthread\n"));
        assert!(alone.len() == 1 && alone[0].0 == 1 && alone[0].1.contains("is not needed"), "{alone:?}");
    }

    #[test]
    fn only_code_help_and_documents_are_read() {
        let tree =
            Tree::of(&[("a.md", "worker"), ("b.toml", "worker"), ("c.txt", "worker"), (SELF, "worker")]);
        let paths: Vec<String> = find(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["a.md", "b.toml"]);
    }
}
