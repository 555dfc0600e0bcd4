//! What is wrong with a session file, and where.

use std::fmt;
use std::path::PathBuf;

/// Why a session file cannot be used: `did not recognize method 'get' in s.log:3:13: expected ...`. It
/// begins with the original's text where that has one, up to the name of the file; place and expectation
/// are ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogError {
    what: String,
    place: Place,
    why: String,
}

/// A place in a file. Lines and columns count from 1, columns are bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl LogError {
    pub(super) fn new(what: String, place: Place, why: String) -> Self {
        Self { what, place, why }
    }

    /// Line and column, from 1.
    pub fn line_column(&self) -> (usize, usize) {
        (self.place.line, self.place.column)
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.what, self.place, self.why)
    }
}

impl std::error::Error for LogError {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// Characters of a word that an error repeats.
const EXCERPT_MAX: usize = 80;

/// A word of the file as an error shows it: cut, control characters escaped.
pub(super) fn excerpt(word: &[u8]) -> String {
    // No character has more than four bytes.
    let head = &word[..word.len().min(4 * EXCERPT_MAX)];
    let text = String::from_utf8_lossy(head);
    let mut out = String::new();
    for (count, char) in text.chars().enumerate() {
        if count == EXCERPT_MAX {
            return out + "...";
        }
        if char.is_control() { out.extend(char.escape_default()) } else { out.push(char) }
    }
    if head.len() < word.len() { out + "..." } else { out }
}
