//! What is wrong with a mix file, and where.

use std::fmt;
use std::ops::Range;

/// A mistake in a mix file, at the value that is to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the file it is about; may be empty, never lies outside.
    pub span: Range<usize>,
    /// The next step, where there is an obvious one.
    pub help: Option<String>,
    /// The line of the first of these bytes, from 1.
    pub line: usize,
    /// The column of that byte in characters, from 1.
    pub column: usize,
}

impl MixError {
    pub(super) fn new(source: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let start = floor(source, span.start);
        let end = floor(source, span.end).max(start);
        let before = source.get(..start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            message: message.into(),
            span: start..end,
            help: None,
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The nearest border between characters at or before `at`.
fn floor(source: &str, at: usize) -> usize {
    let at = at.min(source.len());
    (0..=at).rev().find(|&at| source.is_char_boundary(at)).unwrap_or(0)
}

/// `line:column: message; help`, so that a file's name and a colon can stand before it.
impl fmt::Display for MixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for MixError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column_in_characters() {
        let source = "a = 1\nü = 'é' # x\n";
        let place = |span| {
            let error = MixError::new(source, span, "no");
            (error.to_string(), error.span)
        };
        assert_eq!(place(0..1), ("1:1: no".to_owned(), 0..1));
        assert_eq!(place(11..15), ("2:5: no".to_owned(), 11..15));
        assert_eq!(place(7..7), ("2:1: no".to_owned(), 6..6), "inside a character");
        assert_eq!(place(90..99), ("3:1: no".to_owned(), 20..20), "behind the end");
    }

    #[test]
    fn help_follows_the_message() {
        assert_eq!(
            MixError::new("", 0..0, "no class").help("write one").to_string(),
            "1:1: no class; write one"
        );
    }
}
