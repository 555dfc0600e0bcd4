//! The status line, byte by byte. Nothing is stored, and the first byte that does not fit is the fault: a
//! peer that speaks something else (TLS, HTTP/2) may never send a line end.

use crate::{Fault, limits};

/// A complete status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// Bytes of the line, its end included.
    pub(super) bytes: u32,
    pub(super) code: u16,
    pub(super) http10: bool,
    /// Classic reading only: the line was no status line, and stands for 599.
    pub(super) garbage: bool,
}

/// A status line on its way in (RFC 9112 section 4).
///
/// ```text
///   "HTTP/1." --> 0|1 --> SP --> d d d --+--> SP --> text* --+--> CR --> LF
///    Version     Minor   Blank    Code   |          Reason   |     Lf
///                                        +-------------------+---------> LF
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StatusLine {
    bytes: u32,
    code: u16,
    http10: bool,
    next: Next,
}

/// What may come next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// This byte of [`VERSION`].
    Version(u8),
    Minor,
    Blank,
    /// A digit, so many are there; after three of them the reason or the end of the line.
    Code(u8),
    Reason,
    Lf,
    /// Classic reading only: anything up to the line end.
    Garbage,
}

impl Default for Next {
    fn default() -> Self {
        Self::Version(0)
    }
}

const VERSION: &[u8; 7] = b"HTTP/1.";

/// What the original tool calls a status line that is none.
const GARBAGE: u16 = 599;

impl StatusLine {
    /// Reads up to the end of the line: how many bytes it took, and the status if the line is complete.
    pub(super) fn read(&mut self, input: &[u8], classic: bool) -> Result<(usize, Option<Status>), Fault> {
        let room = limits::LINE - self.bytes as usize;
        let line = &input[..input.len().min(room)];
        if self.bytes == 0
            && let Some(status) = Self::usual(line)
        {
            return Ok((status.bytes as usize, Some(status)));
        }
        let mut used = 0;
        while let Some(&byte) = line.get(used) {
            self.next = match self.after(byte, classic) {
                Some(next) => next,
                None if classic => Next::Garbage,
                None => return Err(Fault::Malformed(self.next.missed())),
            };
            used += 1;
            if byte == b'\n' {
                self.bytes += used as u32;
                return Ok((used, Some(self.status())));
            }
        }
        if used < input.len() {
            return Err(Fault::Limit("a status line of more than 64 KiB"));
        }
        self.bytes += used as u32;
        Ok((used, None))
    }

    /// Takes a line in one look if it is all there and as most are. Byte by byte it comes out the
    /// same, at several times the price.
    fn usual(line: &[u8]) -> Option<Status> {
        let (version, rest) = line.split_first_chunk()?;
        let http10 = match version {
            b"HTTP/1.1 " => false,
            b"HTTP/1.0 " => true,
            _ => return None,
        };
        let (code, rest) = rest.split_first_chunk()?;
        let &[a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', b' '] = code else { return None };
        let digit = |byte| u16::from(byte - b'0');
        let reason = rest.iter().take_while(|byte| text(**byte)).count();
        let whole = rest[reason..].starts_with(b"\r\n");
        let bytes = (version.len() + code.len() + reason + 2) as u32;
        let code = digit(a) * 100 + digit(b) * 10 + digit(c);
        whole.then_some(Status { bytes, code, http10, garbage: false })
    }

    /// What may come after `byte`; `None` if it has no place here.
    fn after(&mut self, byte: u8, classic: bool) -> Option<Next> {
        let next = match self.next {
            // The original took a code of any length.
            Next::Code(1 | 2) if classic && !byte.is_ascii_digit() => Next::Code(3),
            next => next,
        };
        Some(match (next, byte) {
            (Next::Version(6), b'.') => Next::Minor,
            (Next::Version(at @ 0..6), _) if byte == VERSION[usize::from(at)] => Next::Version(at + 1),
            (Next::Minor, b'0' | b'1') => {
                self.http10 = byte == b'0';
                Next::Blank
            }
            (Next::Blank, b' ') => Next::Code(0),
            (Next::Code(0), b'0') if !classic => return None,
            (Next::Code(digits @ 0..3), b'0'..=b'9') => {
                self.code = self.code * 10 + u16::from(byte - b'0');
                Next::Code(digits + 1)
            }
            (Next::Code(3), b' ') => Next::Reason,
            (Next::Reason, _) if text(byte) => Next::Reason,
            (Next::Code(3) | Next::Reason, b'\r') => Next::Lf,
            (Next::Code(3) | Next::Reason | Next::Lf, b'\n') => next,
            (Next::Garbage, _) => Next::Garbage,
            _ => return None,
        })
    }

    fn status(&self) -> Status {
        let garbage = matches!(self.next, Next::Garbage);
        let code = if garbage { GARBAGE } else { self.code };
        Status { bytes: self.bytes, code, http10: self.http10 && !garbage, garbage }
    }
}

/// What a reason phrase may hold.
#[inline]
fn text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

impl Next {
    /// What the server sent instead of this.
    fn missed(self) -> &'static str {
        match self {
            Self::Version(_) | Self::Minor => "a status line that is none of HTTP/1.0 or 1.1",
            Self::Blank | Self::Code(_) => "a status code that is not one blank and a number from 100 to 999",
            Self::Reason | Self::Garbage => "a control character in a reason phrase",
            Self::Lf => "a bare CR in a status line",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[u8]) -> Result<Option<(u16, usize)>, Fault> {
        let (used, status) = StatusLine::default().read(line, false)?;
        Ok(status.map(|status| (status.code, used)))
    }

    #[test]
    fn the_reason_and_the_blank_before_it_are_optional() {
        assert_eq!(read(b"HTTP/1.1 200\r\nA"), Ok(Some((200, 14))));
        assert_eq!(read(b"HTTP/1.1 200 \r\nA"), Ok(Some((200, 15))));
        assert_eq!(read(b"HTTP/1.0 999 \tna\xefve\nA"), Ok(Some((999, 20))));
    }

    #[test]
    fn the_first_byte_that_does_not_fit_is_the_fault() {
        let good = b"HTTP/1.1 200";
        for at in 0..good.len() {
            assert_eq!(read(&good[..at]), Ok(None));
            for bad in [b'\t', b'\0', b'\r', b'\n', b'x', b'/'] {
                let line = [&good[..at], &[bad]].concat();
                if !good.starts_with(&line) {
                    assert!(matches!(read(&line), Err(Fault::Malformed(_))), "{}", line.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn a_code_has_three_digits_and_begins_with_100() {
        for line in ["HTTP/1.1 099", "HTTP/1.1 20 ", "HTTP/1.1 2000", "HTTP/1.1 200O", "HTTP/1.1 +20"] {
            assert!(matches!(read(line.as_bytes()), Err(Fault::Malformed(_))), "{line}");
        }
        assert_eq!(read(b"HTTP/1.1 100\n"), Ok(Some((100, 13))));
    }

    #[test]
    fn a_line_may_have_64_kib() {
        let mut line = b"HTTP/1.1 200 ".to_vec();
        line.resize(limits::LINE - 1, b'x');
        assert_eq!(read(&line), Ok(None));
        assert_eq!(read(&[&line[..], b"\n"].concat()), Ok(Some((200, limits::LINE))));
        assert!(matches!(read(&[&line[..], b"x\n"].concat()), Err(Fault::Limit(_))));
    }

    #[test]
    fn classic_reading_takes_garbage_for_599_and_a_code_of_any_length() {
        let classic = |line: &[u8]| {
            let (_, status) = StatusLine::default().read(line, true).expect("no limit reached");
            status.map(|status| (status.code, status.garbage))
        };
        assert_eq!(classic(b"GARB"), None);
        assert_eq!(classic(b"GARB\0AGE\r\n"), Some((599, true)));
        assert_eq!(classic(b"\n"), Some((599, true)));
        assert_eq!(classic(b"HTTP/1.1 2000 x\n"), Some((599, true)));
        assert_eq!(classic(b"HTTP/1.1 042 x\n"), Some((42, false)));
        assert_eq!(classic(b"HTTP/1.1 42 x\n"), Some((42, false)));
        assert_eq!(classic(b"HTTP/1.1 7\r\n"), Some((7, false)));
    }
}
