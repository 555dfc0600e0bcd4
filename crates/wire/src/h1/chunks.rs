//! Chunk framing, byte by byte and without a buffer (RFC 9112 section 7.1).

use crate::{Fault, limits};

/// Where in the chunks of a body the stream is.
///
/// ```text
///          hex             SP, HTAB          all but CR, LF
///         +---+             +---+               +---+
///         |   v     SP      |   v      ;        |   v
///   +---> Size -----------> Pad ------------> Extension
///   |      |  +------------- ; -----------------^ |
///   |      | CR              | CR                 | CR
///   |      +-----------------+--------------------+
///   |                        v        LF, size 0
///   |                       Line ----------------> the trailer section
///   |                        | LF
///   |   LF        CR         v
///   +------- Lf <---- Cr <- Data
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunks {
    /// Hexadecimal digits, so many so far.
    Size { size: u64, digits: u8 },
    /// Blanks behind the size: the grammar has them before an extension, and some servers pad with them.
    Pad { size: u64, line: u16 },
    /// An extension, skipped; `line` bytes of the line are gone.
    Extension { size: u64, line: u16 },
    /// The LF of the size line.
    Line { size: u64 },
    /// Content.
    Data { left: u64 },
    /// The CR behind the content.
    Cr,
    /// The LF behind the content.
    Lf,
}

/// What one look has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Framing only, and the input is used up.
    Nothing,
    /// So many bytes of content, the last of those used.
    Content(u64),
    /// The line of the last chunk is complete.
    LastLine,
}

/// 16 hexadecimal digits are 64 bits: a size that has no more cannot overflow.
const DIGITS: u8 = 16;

impl Default for Chunks {
    fn default() -> Self {
        Self::Size { size: 0, digits: 0 }
    }
}

impl Chunks {
    /// Reads up to the end of one run of content: how many bytes it took, and what they were.
    pub(super) fn read(&mut self, input: &[u8]) -> Result<(usize, Found), Fault> {
        for (at, &byte) in input.iter().enumerate() {
            if let Self::Data { left } = *self {
                let bytes = left.min((input.len() - at) as u64);
                self.pass(bytes);
                return Ok((at + bytes as usize, Found::Content(bytes)));
            }
            if self.step(byte)? {
                return Ok((at + 1, Found::LastLine));
            }
        }
        Ok((input.len(), Found::Nothing))
    }

    /// How many bytes of content are to come in this chunk.
    pub(super) fn left(&self) -> u64 {
        match *self {
            Self::Data { left } => left,
            _ => 0,
        }
    }

    /// Passes over content.
    pub(super) fn pass(&mut self, bytes: u64) {
        *self = match self.left() - bytes {
            0 => Self::Cr,
            left => Self::Data { left },
        };
    }

    /// Takes one byte of framing; true when it completes the line of the last chunk.
    fn step(&mut self, byte: u8) -> Result<bool, Fault> {
        *self = match (*self, byte) {
            (Self::Size { digits: 1.., size }, b'\r') => Self::Line { size },
            (Self::Size { digits: digits @ 1.., size }, b' ' | b'\t') => {
                Self::Pad { size, line: u16::from(digits) + 1 }
            }
            (Self::Size { digits: digits @ 1.., size }, b';') => {
                Self::Extension { size, line: u16::from(digits) + 1 }
            }
            (Self::Size { digits, size }, _) => match hex(byte) {
                Some(digit) if digits < DIGITS => {
                    Self::Size { size: size << 4 | u64::from(digit), digits: digits + 1 }
                }
                Some(_) => return Err(Fault::Malformed("a chunk size of more than 16 digits")),
                None => return Err(Fault::Malformed("a chunk size that is no hexadecimal number")),
            },

            (Self::Pad { size, .. } | Self::Extension { size, .. }, b'\r') => Self::Line { size },
            (Self::Pad { line, .. } | Self::Extension { line, .. }, _)
                if usize::from(line) + 2 >= limits::CHUNK_LINE =>
            {
                return Err(Fault::Limit("a chunk size line of more than 16 KiB"));
            }
            (Self::Pad { size, line }, b' ' | b'\t') => Self::Pad { size, line: line + 1 },
            (Self::Pad { size, line }, b';') => Self::Extension { size, line: line + 1 },
            (Self::Pad { .. }, _) => return Err(Fault::Malformed("a chunk size with something behind it")),
            (Self::Extension { .. }, b'\n') => {
                return Err(Fault::Malformed("a bare LF in a chunk size line"));
            }
            (Self::Extension { size, line }, _) => Self::Extension { size, line: line + 1 },

            (Self::Line { size: 0 }, b'\n') => return Ok(true),
            (Self::Line { size }, b'\n') => Self::Data { left: size },
            (Self::Line { .. }, _) => return Err(Fault::Malformed("a bare CR in a chunk size line")),

            (Self::Cr, b'\r') => Self::Lf,
            (Self::Lf, b'\n') => Self::default(),
            (Self::Data { .. } | Self::Cr | Self::Lf, _) => {
                return Err(Fault::Malformed("a chunk that does not end in CRLF where its size says"));
            }
        };
        Ok(false)
    }
}

fn hex(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size a line announces.
    fn size(line: &str) -> Result<u64, Fault> {
        let mut chunks = Chunks::default();
        match chunks.read(line.as_bytes())? {
            (_, Found::LastLine) => Ok(0),
            _ => Ok(chunks.left()),
        }
    }

    #[test]
    fn a_size_is_1_to_16_hexadecimal_digits_of_either_case() {
        for (line, bytes) in [
            ("5\r\n", 5),
            ("aF\r\n", 0xaf),
            ("0000000000000005\r\n", 5),
            ("ffffffffffffffff\r\n", u64::MAX),
            ("000\r\n", 0),
        ] {
            assert_eq!(size(line), Ok(bytes), "{line:?}");
        }
        for line in [
            "\r\n",
            ";x\r\n",
            " 5\r\n",
            "+5\r\n",
            "-5\r\n",
            "0x5\r\n",
            "5_0\r\n",
            "g\r\n",
            "5 5\r\n",
            "00000000000000005\r\n",
            "10000000000000000\r\n",
        ] {
            assert!(matches!(size(line), Err(Fault::Malformed(_))), "{line:?}");
        }
    }

    #[test]
    fn extensions_are_skipped_and_blanks_before_them() {
        for line in ["5;a=b;c=\"d;e\"\r\n", "5;\r\n", "5 \t;a\r\n", "5  \r\n"] {
            assert_eq!(size(line), Ok(5), "{line:?}");
        }
    }

    #[test]
    fn every_line_of_the_framing_ends_in_crlf() {
        for stream in ["5\n", "5;a\n", "5;a\rb", "5\r\r", "1\r\nx\n", "1\r\nx\r\r", "1\r\nxy", "1\r\nx1"] {
            let mut chunks = Chunks::default();
            let mut rest = stream.as_bytes();
            let fault = loop {
                match chunks.read(rest) {
                    Ok((_, Found::Nothing)) => panic!("{stream:?} was taken"),
                    Ok((used, _)) => rest = &rest[used..],
                    Err(fault) => break fault,
                }
            };
            assert!(matches!(fault, Fault::Malformed(_)), "{stream:?}");
        }
    }

    #[test]
    fn a_size_line_may_have_16_kib() {
        for filler in ["x", " "] {
            let start = if filler == "x" { "5;" } else { "5 " };
            let line = |length: usize| format!("{start}{}\r\n", filler.repeat(length - start.len() - 2));
            assert_eq!(size(&line(limits::CHUNK_LINE)), Ok(5));
            assert!(matches!(size(&line(limits::CHUNK_LINE + 1)), Err(Fault::Limit(_))));
        }
    }
}
