//! A session file as it is read: a position, words, line ends, places for errors.

use std::io;
use std::path::Path;

use super::error::{LogError, Place, excerpt};

/// The bytes of a file and how far they are read. A byte order mark is left out.
pub(super) struct Text<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Text<'a> {
    pub(super) fn new(file: &'a Path, bytes: &'a [u8]) -> Self {
        Self { file, bytes: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), at: 0 }
    }

    pub(super) fn file(&self) -> &'a Path {
        self.file
    }

    /// How many bytes are read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Where the first NUL byte is.
    pub(super) fn nul(&self) -> Option<usize> {
        self.bytes.iter().position(|&byte| byte == 0)
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn skip(&mut self, len: usize) {
        self.at = self.bytes.len().min(self.at + len);
    }

    /// The rest of the line and its end.
    pub(super) fn skip_line(&mut self) {
        let rest = self.rest();
        self.skip(rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1));
    }

    /// Blanks; the CR of a CRLF is one.
    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.skip(rest.iter().position(|&byte| !is_blank(byte)).unwrap_or(rest.len()));
    }

    /// `true` at the end of a line or of the file; a line end is skipped.
    pub(super) fn skip_line_end(&mut self) -> bool {
        let end = matches!(self.peek(), None | Some(b'\n'));
        self.skip(usize::from(end));
        end
    }

    /// The word that begins here.
    pub(super) fn look(&self) -> &'a [u8] {
        self.rest().split(|&byte| byte == b'\n' || is_blank(byte)).next().unwrap_or_default()
    }

    pub(super) fn word(&mut self) -> &'a [u8] {
        let word = self.look();
        self.skip(word.len());
        word
    }

    /// File, line and column of a byte.
    pub(super) fn place(&self, at: usize) -> Place {
        let before = &self.bytes[..at.min(self.bytes.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        Place { file: self.file.to_owned(), line, column: before.len() - start + 1 }
    }

    /// `WHAT PLACE: expected ...`; `what` ends in a blank.
    pub(super) fn error(&self, at: usize, what: &str, expected: &str) -> LogError {
        LogError::new(what.to_owned(), self.place(at), format!("expected {expected}"))
    }

    /// The original's error for a word.
    pub(super) fn unrecognized(&self, kind: &str, word: &[u8], at: usize, expected: &str) -> LogError {
        self.error(at, &format!("did not recognize {kind} '{}' in ", excerpt(word)), expected)
    }

    pub(super) fn unreadable(&self, path: &Path, at: usize, error: &io::Error) -> LogError {
        let what = format!("can't open {}, named in ", path.display());
        LogError::new(what, self.place(at), format!("{error}"))
    }
}

/// What C's `isspace` says, but for the line end.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The decimal number that a text begins with, and its length. `None` where C would read another form
/// (hexadecimal, infinity) or none.
pub(super) fn number(text: &[u8]) -> Option<(f64, usize)> {
    let digits = |from: usize| {
        text.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 || matches!(text.get(end), Some(b'x' | b'X')) && text[sign..end] == *b"0" {
        return None;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let number = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    Some((number, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_up_to_what_is_none() {
        for (text, value, len) in [
            ("0.5", 0.5, 3),
            (".2", 0.2, 2),
            ("+3.", 3.0, 3),
            ("-1", -1.0, 2),
            ("1e-1", 0.1, 4),
            ("2E3x", 2000.0, 3),
            ("1e", 1.0, 1),
            ("1e+", 1.0, 1),
            ("5s", 5.0, 1),
            ("0.1x", 0.1, 3),
        ] {
            assert_eq!(number(text.as_bytes()), Some((value, len)), "{text}");
        }
        for text in ["", "abc", "-", ".", "e5", "inf", "nan", "0x10", "-0X1", "+-1"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
        assert_eq!(number(b"1e999").map(|(value, _)| value), Some(f64::INFINITY));
    }

    #[test]
    fn places_count_lines_and_bytes_from_1() {
        let text = Text::new(Path::new("f"), b"\xef\xbb\xbfab\ncd\n");
        let places: Vec<_> = [0, 2, 3, 5, 6, 99].iter().map(|&at| text.place(at).to_string()).collect();
        assert_eq!(places, ["f:1:1", "f:1:3", "f:2:1", "f:2:3", "f:3:1", "f:3:1"]);
    }
}
