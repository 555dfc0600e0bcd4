//! Texts with quotes and escapes: the value of `contents=` and `headers=`.

use super::error::LogError;
use super::text::{Text, is_blank};

/// Reads a text up to the first blank, tab or line end outside quotes. Quoted parts may be mixed and
/// joined, the other quote is an ordinary byte inside. `\n`, `\r` and `\t` are what they are in C, a
/// backslash before a line end is a line end and goes on in the next line, `\X` is X. A CRLF counts as one
/// LF.
///
/// A quote that is open at the end of its line takes that line end, and the text is over, as in the original;
/// then the place of the quote comes with it.
///
/// # Errors
/// If the file ends within a quote or after a backslash and a line end.
pub(super) fn read(text: &mut Text<'_>) -> Result<(Vec<u8>, Option<usize>), LogError> {
    let mut out = Vec::new();
    // The quote that is open, and where it began.
    let mut open: Option<(u8, usize)> = None;
    loop {
        let (at, rest) = (text.at(), text.rest());
        let (line_end, len) = match rest {
            [b'\r', b'\n', ..] => (true, 2),
            [b'\n', ..] => (true, 1),
            _ => (false, 1),
        };
        match (rest.first(), open) {
            (None, None) => return Ok((out, None)),
            (_, Some((quote, start))) if only_blanks(rest) => return Err(unclosed(text, quote, start)),
            (_, None) if line_end => return Ok((out, None)),
            (_, Some((_, start))) if line_end => {
                out.push(b'\n');
                return Ok((out, Some(start)));
            }
            (Some(b' ' | b'\t'), None) => return Ok((out, None)),
            (Some(b'\\'), _) => {
                text.skip(1);
                escape(text, at, &mut out)?;
                continue;
            }
            (Some(&byte), Some((quote, _))) if byte == quote => open = None,
            (Some(&byte @ (b'\'' | b'"')), None) => open = Some((byte, at)),
            (Some(&byte), _) => out.push(byte),
            // The file ends in a quote: only_blanks has seen it.
            (None, Some((quote, start))) => return Err(unclosed(text, quote, start)),
        }
        text.skip(len);
    }
}

/// What follows the backslash at `at`.
fn escape(text: &mut Text<'_>, at: usize, out: &mut Vec<u8>) -> Result<(), LogError> {
    let (byte, len) = match text.rest() {
        // The original drops a backslash that ends the file.
        [] => return Ok(()),
        [b'\r', b'\n', ..] => (b'\n', 2),
        [b'n', ..] => (b'\n', 1),
        [b'r', ..] => (b'\r', 1),
        [b't', ..] => (b'\t', 1),
        [byte, ..] => (*byte, 1),
    };
    let continued = matches!(text.rest(), [b'\n', ..] | [b'\r', b'\n', ..]);
    text.skip(len);
    out.push(byte);
    if continued && text.rest().is_empty() {
        let what = format!("premature EOF seen in '{}', ", text.file().display());
        return Err(text.error(at, &what, "the line that the backslash continues with"));
    }
    Ok(())
}

/// Whether a line end is followed by nothing more of the file, so that a quote that is open can only be
/// what is left of a longer file.
fn only_blanks(rest: &[u8]) -> bool {
    let at_line_end = matches!(rest, [] | [b'\n', ..] | [b'\r', b'\n', ..]);
    at_line_end && rest.iter().all(|&byte| byte == b'\n' || is_blank(byte))
}

fn unclosed(text: &Text<'_>, quote: u8, start: usize) -> LogError {
    let expected = format!("a closing {} before the end of the file", quote as char);
    text.error(start, "unterminated quote in ", &expected)
}
