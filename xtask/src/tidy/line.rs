//! One line of text, seen as several checks see it.

/// The code of a line of Rust: what stands before a comment.
///
/// A `//` inside a string ends it too. What the checks look for stands before the strings it is called with,
/// so a whole lexer would find hardly more.
pub(super) fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Whether `part` occurs in `line` and does not begin inside a longer name or path, such as `print!` in
/// `eprint!`.
pub(super) fn has(line: &str, part: &str) -> bool {
    line.match_indices(part).any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_not_code() {
        assert_eq!(code("let x = 1; // one"), "let x = 1; ");
        assert_eq!(code("    /// Says what it means."), "    ");
        assert_eq!(code("let x = 1;"), "let x = 1;");
    }

    #[test]
    fn a_part_begins_where_a_word_begins() {
        assert!(has("print!(\"x\")", "print!"));
        assert!(has("    std::print!(\"x\")", "print!"));
        assert!(!has("eprint!(\"x\")", "print!"));
        assert!(has("eprint!(\"x\"); print!(\"y\")", "print!"));
    }
}
