//! A log of URIs, taken in order (manual `--wlog`).

use std::fmt;
use std::sync::Arc;

/// The URIs of a log, shared by the threads of a run.
///
/// NUL, LF and CRLF all separate, whatever the file uses: no request target may hold one of them. Empty
/// entries are skipped, and so is a byte order mark at the start. Everything else is sent as it stands,
/// blanks included.
#[derive(Debug)]
pub struct Entries {
    /// All entries, one after the other.
    text: Vec<u8>,
    /// Where each ends in `text`.
    ends: Vec<usize>,
}

/// Why a file is no log of URIs. [`WlogError::message`] is the original's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WlogError {
    /// No bytes at all.
    Empty,
    /// Separators only.
    NoUris,
}

impl WlogError {
    /// The text for the user, without the name of the program.
    pub fn message(self, file: impl fmt::Display) -> String {
        match self {
            Self::Empty => format!("file {file} is empty"),
            Self::NoUris => format!("{file} does not contain any valid URIs"),
        }
    }
}

impl Entries {
    /// Reads the bytes of a log.
    ///
    /// # Errors
    /// If there is no URI in it.
    pub fn parse(bytes: &[u8]) -> Result<Self, WlogError> {
        if bytes.is_empty() {
            return Err(WlogError::Empty);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut entries = Self { text: Vec::with_capacity(bytes.len()), ends: Vec::new() };
        for entry in bytes.split_inclusive(|byte| matches!(byte, 0 | b'\n')) {
            let entry = match entry {
                [entry @ .., b'\r', b'\n'] | [entry @ .., 0 | b'\n'] => entry,
                last => last,
            };
            if !entry.is_empty() {
                entries.text.extend_from_slice(entry);
                entries.ends.push(entries.text.len());
            }
        }
        if entries.ends.is_empty() { Err(WlogError::NoUris) } else { Ok(entries) }
    }

    /// How many there are: at least one.
    #[expect(clippy::len_without_is_empty, reason = "a log without entries is an error")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The entry of this number, from 0.
    fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }
}

/// One share of the calls of a log.
#[derive(Clone, Debug)]
pub struct Wlog {
    entries: Arc<Entries>,
    loops: bool,
    /// The number of the next entry; not below the length if the log has ended.
    next: usize,
    of: usize,
}

impl Wlog {
    /// Share `index` of `of` (at least 1): it takes the entries index, index + of, ... With `loops` (manual:
    /// `y`) the log is read again and again, else once.
    pub fn new(entries: Arc<Entries>, loops: bool, index: u32, of: u32) -> Self {
        let len = entries.len();
        let index = index as usize;
        let next = if loops { index % len } else { index };
        Self { entries, loops, next, of: of.max(1) as usize }
    }

    /// Appends the next URI to `out`. `false` once a log that does not loop has ended: then the first entry
    /// is appended, for that is what the original's `accessing URI` line says of the call that stops the
    /// run.
    #[must_use = "a log that ends stops the run"]
    pub fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let len = self.entries.len();
        if self.next >= len {
            out.extend_from_slice(self.entries.get(0));
            return false;
        }
        out.extend_from_slice(self.entries.get(self.next));
        self.next = self.next.saturating_add(self.of);
        if self.loops {
            self.next %= len;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<String>, WlogError> {
        let entries = Entries::parse(bytes)?;
        Ok((0..entries.len()).map(|n| String::from_utf8(entries.get(n).to_vec()).unwrap()).collect())
    }

    fn take(log: &mut Wlog, n: usize) -> Vec<(bool, String)> {
        let mut one = || {
            let mut out = Vec::new();
            let more = log.next(&mut out);
            (more, String::from_utf8(out).unwrap())
        };
        (0..n).map(|_| one()).collect()
    }

    #[test]
    fn nul_lf_and_crlf_separate() {
        for log in [
            "/a\0/b\0\0/c\0",
            "/a\0/b\0/c",
            "/a\n/b\n\n/c",
            "\r\n/a\r\n/b\r\n\r\n/c\r\n",
            "/a\0\n/b\n\0/c\0\n",
        ] {
            assert_eq!(all(log.as_bytes()).unwrap(), ["/a", "/b", "/c"], "{log:?}");
        }
        assert_eq!(all(b"\xef\xbb\xbf/a\n").unwrap(), ["/a"]);
        assert_eq!(all(b" /a b\0/c\r\0").unwrap(), [" /a b", "/c\r"]);
    }

    #[test]
    fn a_file_without_uris_is_an_error() {
        assert_eq!(all(b""), Err(WlogError::Empty));
        for log in [b"\0\0".as_slice(), b"\n", b"\r\n\r\n", b"\xef\xbb\xbf"] {
            assert_eq!(all(log), Err(WlogError::NoUris));
        }
        assert_eq!(WlogError::Empty.message("w.bin"), "file w.bin is empty");
        assert_eq!(WlogError::NoUris.message("w.bin"), "w.bin does not contain any valid URIs");
    }

    #[test]
    fn a_log_ends_or_loops() {
        let entries: Arc<Entries> = Entries::parse(b"/a\0/b\0").unwrap().into();
        let says = |loops, n| take(&mut Wlog::new(entries.clone(), loops, 0, 1), n);
        let entry = |more, uri: &str| (more, uri.to_owned());
        let end = entry(false, "/a");
        assert_eq!(says(false, 4), [entry(true, "/a"), entry(true, "/b"), end.clone(), end]);
        assert_eq!(
            says(true, 4),
            [entry(true, "/a"), entry(true, "/b"), entry(true, "/a"), entry(true, "/b")]
        );
    }

    #[test]
    fn shares_together_are_the_whole() {
        let entries: Arc<Entries> = Entries::parse(b"0\n1\n2\n3\n4\n5\n6").unwrap().into();
        for (loops, total) in [(false, 7), (true, 30)] {
            let whole = take(&mut Wlog::new(entries.clone(), loops, 0, 1), total);
            for of in 1..10_u32 {
                for index in 0..of {
                    let expected: Vec<_> =
                        whole.iter().skip(index as usize).step_by(of as usize).cloned().collect();
                    let mut log = Wlog::new(entries.clone(), loops, index, of);
                    assert_eq!(take(&mut log, expected.len()), expected, "{index}/{of}");
                    assert_eq!(take(&mut log, 1)[0].0, loops);
                }
            }
        }
    }
}
