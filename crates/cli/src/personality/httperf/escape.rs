//! The escapes of `--add-header`: `\n` is CRLF, `\r` CR, `\a` LF, `\\` a backslash, `\NNN` an octal byte.

use crate::number::strtoul;

/// A stretch of typed text and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece<'a> {
    /// As typed.
    pub(crate) raw: &'a [u8],
    /// No escape we know: the character stays, the backslash goes.
    pub(crate) unknown: bool,
    sent: [u8; 2],
    len: usize,
}

impl Piece<'_> {
    /// The bytes to send.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.sent[..self.len]
    }
}

/// Cuts a typed text into single bytes and escapes.
pub(crate) fn pieces(mut text: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        // What is sent, how much of it counts, how much was typed.
        let (sent, len, typed) = match *text {
            [] => return None,
            [b'\\'] => ([0, 0], 0, 1),
            [b'\\', b'n', ..] => (*b"\r\n", 2, 2),
            [b'\\', b'r', ..] => (*b"\r\0", 1, 2),
            [b'\\', b'a', ..] => (*b"\n\0", 1, 2),
            [b'\\', b'0'..=b'9', ..] => {
                // Any number of octal digits, the last eight bits count. `\8` has
                // none: it is a NUL before the 8.
                let octal = strtoul(&text[1..], 8);
                ([octal.value as u8, 0], 1, 1 + octal.len)
            }
            [b'\\', other, ..] => ([other, 0], 1, 2),
            [byte, ..] => ([byte, 0], 1, 1),
        };
        let (raw, rest) = text.split_at(typed);
        text = rest;
        let known = matches!(raw, [_] | [b'\\', b'n' | b'r' | b'a' | b'\\' | b'0'..=b'9', ..]);
        Some(Piece { raw, unknown: !known || len == 0, sent, len })
    })
}

/// What a typed text stands for.
pub(crate) fn unescape(text: &[u8]) -> Vec<u8> {
    pieces(text).flat_map(|piece| piece.sent.into_iter().take(piece.len)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_the_original() {
        for (typed, sent) in [
            (r"A: 1\n", b"A: 1\r\n".as_slice()),
            (r"A: 1\r\a", b"A: 1\r\n"),
            (r"x\\n", b"x\\n"),
            (r"\101\n", b"A\r\n"),
            (r"A\1012\n", b"A\n\r\n"),
            (r"\777B", b"\xffB"),
            (r"\400", b"\0"),
            (r"\8\9\18", b"\x008\x009\x018"),
            (r"\00000101", b"A"),
            (r"\1111111111111111111111111111\n", b"\xff\r\n"),
            (r"\q2\t", b"q2t"),
            ("A: 1\\", b"A: 1"),
            ("", b""),
        ] {
            assert_eq!(unescape(typed.as_bytes()), sent, "{typed}");
        }
        assert_eq!(unescape(b"\xc3\\\xa9"), b"\xc3\xa9");
    }

    #[test]
    fn unknown_escapes_are_marked() {
        let unknown = |text: &'static [u8]| {
            pieces(text).filter(|piece| piece.unknown).map(|piece| piece.raw).collect::<Vec<_>>()
        };
        assert_eq!(unknown(br"\n\r\a\\\1\8 a\q\ "), [br"\q".as_slice(), br"\ "]);
        assert_eq!(unknown(br"a\"), [br"\".as_slice()]);
    }

    #[test]
    fn the_pieces_are_the_text() {
        let text = br"A: \1\q\8\n\\x\".as_slice();
        assert_eq!(pieces(text).flat_map(|piece| piece.raw.to_vec()).collect::<Vec<_>>(), text);
    }
}
