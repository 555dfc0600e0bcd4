//! Text from a server on its way to a terminal: nothing in it may move the cursor, change its meaning or turn
//! the direction of writing.

use std::borrow::Cow;
use std::io::Write;

/// The text with everything that steers a terminal written out: controls (C0, DEL, C1) and bidirectional
/// controls as `\x1b`, `\u{202e}`, bytes that are no UTF-8 as `\xff`. Line feeds and tabs stay, and a
/// carriage return where it belongs: before a line feed. It acts on whole lines: a character must not be cut
/// in two.
///
/// ```
/// # use httperf_report::escape_terminal;
/// assert_eq!(*escape_terminal(b"RH0:Server: \x1b[2Jx\r\n"), *b"RH0:Server: \\x1b[2Jx\r\n");
/// ```
pub fn escape_terminal(text: &[u8]) -> Cow<'_, [u8]> {
    if text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            rest = &rest[character.len_utf8()..];
            let fine = match character {
                '\n' | '\t' => true,
                '\r' => rest.first() == Some(&b'\n'),
                _ => !character.is_control() && !turns(character),
            };
            let _ = match character {
                _ if fine => out.write_all(character.encode_utf8(&mut [0; 4]).as_bytes()),
                '\0'..='\x7f' => write!(out, "\\x{:02x}", u32::from(character)),
                _ => write!(out, "\\u{{{:x}}}", u32::from(character)),
            };
        }
        rest = &rest[chunk.invalid().len()..];
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    Cow::Owned(out)
}

/// Bidirectional controls (Unicode Standard Annex 9, section 2).
fn turns(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: impl AsRef<[u8]>) -> String {
        String::from_utf8(escape_terminal(text.as_ref()).into_owned()).expect("it is UTF-8 now")
    }

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        assert_eq!(escaped("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
        assert_eq!(escaped("\0\x08\x7f"), "\\x00\\x08\\x7f");
        assert_eq!(escaped("\u{9b}2J"), "\\u{9b}2J");
        assert_eq!(escaped("a\u{202e}b\u{2066}c\u{200f}"), "a\\u{202e}b\\u{2066}c\\u{200f}");
        assert_eq!(escaped(b"\xff\xe2\x82 \x9b"), "\\xff\\xe2\\x82 \\x9b");
    }

    #[test]
    fn a_carriage_return_stays_only_where_a_line_ends() {
        assert_eq!(escaped("one\r\n\ttwo\rover it\r"), "one\r\n\ttwo\\x0dover it\\x0d");
        assert_eq!(escaped("\r\r\n"), "\\x0d\r\n");
        assert_eq!(escaped(b"\xff\r\n\r"), "\\xff\r\n\\x0d");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in ["", "RS0: header 39 content 10 footer 0\n", "Grüße, 世界 \\x1b\r\n"] {
            assert_eq!(escaped(text), text);
        }
        assert!(matches!(escape_terminal(b"plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_control_is_ever_left() {
        for first in 0..=255_u8 {
            for second in 0..=255_u8 {
                let text = escaped([first, second, b'.']);
                let bad = |character: char| {
                    turns(character) || (character.is_control() && !matches!(character, '\n' | '\t' | '\r'))
                };
                assert!(!text.contains(bad), "{first} {second}");
                assert!(!text.contains("\r."), "{first} {second}");
            }
        }
    }
}
