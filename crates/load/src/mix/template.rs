//! URIs with placeholders: `/dir{dir:05}/{file}`.
//!
//! `{NAME}` stands for what `pick.NAME` has drawn, `{session}` for the session's number in the run, `{call}`
//! for the call's in the session (both from 0), `{{` and `}}` for braces. `:0N` after a name pads a number
//! with zeros.

use std::ops::Range;

use toml::Spanned;

use super::MixError;
use super::pick::{Drawn, Pick};

/// The widest padding: a u64 has no more digits.
const WIDTH_MAX: usize = 20;

/// Names that stand for something in every class.
pub(super) const RESERVED: &[&str] = &["session", "call"];

/// A parsed URI.
#[derive(Clone, Debug)]
pub(super) struct Template {
    parts: Box<[Part]>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(Box<str>),
    Field { what: Field, width: usize },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    Session,
    Call,
    /// The place of the pick in its class.
    Pick(usize),
}

impl Template {
    /// Reads the `uri` of a class with these picks.
    pub(super) fn parse(source: &str, uri: &Spanned<String>, picks: &[Pick]) -> Result<Self, MixError> {
        let whole = uri.get_ref();
        let at =
            |place: Range<usize>, message: String| MixError::new(source, within(source, uri, place), message);
        if !whole.starts_with('/') {
            let message = format!("`uri` does not begin with a slash: `{}`", whole.escape_debug());
            return Err(at(0..0, message).help("write the path only: the server is that of the command line"));
        }
        if let Some((start, bad)) = whole.char_indices().find(|(_, letter)| !fits(*letter)) {
            let place = start..start + bad.len_utf8();
            let code: String = whole[place.clone()].bytes().map(|byte| format!("%{byte:02X}")).collect();
            let message = format!("a request target cannot contain `{}`", bad.escape_debug());
            return Err(at(place, message).help(format!("write {code}")));
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = whole.as_str();
        while let Some(brace) = rest.find(['{', '}']) {
            text.push_str(&rest[..brace]);
            rest = &rest[brace..];
            let start = whole.len() - rest.len();
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                text.push_str(&rest[..1]);
                rest = after;
                continue;
            }
            let Some(end) = rest.find('}').filter(|_| rest.starts_with('{')) else {
                let message = format!("a single `{}` in the URI", &rest[..1]);
                return Err(at(start..start + 1, message).help("write it twice if it is meant as such"));
            };
            let (placeholder, after) = rest.split_at(end + 1);
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text).into()));
            }
            parts.push(field(placeholder, picks).map_err(|(message, help)| {
                let error = at(start..start + placeholder.len(), message);
                if help.is_empty() { error } else { error.help(help) }
            })?);
            rest = after;
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text.into()));
        }
        Ok(Self { parts: parts.into() })
    }

    /// Whether pick `index` stands in it.
    pub(super) fn names(&self, index: usize) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Field { what: Field::Pick(i), .. } if *i == index))
    }

    /// Appends the URI of a call.
    pub(super) fn render(&self, session: u64, call: u64, picks: &[Pick], drawn: &Drawn, uri: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                Part::Text(text) => uri.extend_from_slice(text.as_bytes()),
                Part::Field { what: Field::Session, width } => number(session, *width, uri),
                Part::Field { what: Field::Call, width } => number(call, *width, uri),
                Part::Field { what: Field::Pick(index), width } => {
                    let rank = drawn.get(*index).copied().unwrap_or(0);
                    match picks.get(*index).map(|pick| pick.value(rank)) {
                        Some(Ok(value)) => number(value, *width, uri),
                        Some(Err(text)) => uri.extend_from_slice(text.as_bytes()),
                        None => {}
                    }
                }
            }
        }
    }
}

/// What one placeholder, braces included, stands for; or a message and help.
fn field(placeholder: &str, picks: &[Pick]) -> Result<Part, (String, String)> {
    let inner = placeholder.trim_start_matches('{').trim_end_matches('}');
    let (name, padding) =
        inner.split_once(':').map_or((inner, None), |(name, padding)| (name, Some(padding)));
    let what = match name {
        "session" => Field::Session,
        "call" => Field::Call,
        _ => match picks.iter().position(|pick| pick.name() == name) {
            Some(index) => Field::Pick(index),
            None => {
                let known: Vec<_> = picks.iter().map(Pick::name).chain(RESERVED.iter().copied()).collect();
                let known: Vec<_> = known.iter().map(|name| format!("`{{{name}}}`")).collect();
                let message = format!("nothing is called `{placeholder}` here");
                return Err((message, format!("there are {}; others come from `pick`", known.join(", "))));
            }
        },
    };
    let Some(padding) = padding else { return Ok(Part::Field { what, width: 0 }) };
    if matches!(what, Field::Pick(index) if picks.get(index).is_some_and(Pick::is_text)) {
        return Err((format!("`{placeholder}` pads a text"), format!("write `{{{name}}}`")));
    }
    let digits =
        padding.strip_prefix('0').filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    match digits.and_then(|digits| digits.parse().ok()).filter(|width| (1..=WIDTH_MAX).contains(width)) {
        Some(width) => Ok(Part::Field { what, width }),
        None => {
            let message = format!("`:{padding}` is no padding");
            Err((message, format!("write `{{{name}:05}}` for five digits; {WIDTH_MAX} is the most")))
        }
    }
}

/// Whether a request line can carry it (RFC 9112 section 3.2): visible ASCII. A fragment stays with the
/// client.
pub(super) fn fits(letter: char) -> bool {
    letter.is_ascii_graphic() && letter != '#'
}

/// Where a piece of a string stands in the file: nothing of it, or one with escapes, is the whole string.
fn within(source: &str, string: &Spanned<String>, piece: Range<usize>) -> Range<usize> {
    let span = string.span();
    let found =
        source.get(span.clone()).filter(|_| !piece.is_empty()).and_then(|text| text.find(string.get_ref()));
    found.map_or(span.clone(), |at| span.start + at + piece.start..span.start + at + piece.end)
}

/// Appends `value` in decimal digits, `width` of them at least.
fn number(mut value: u64, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; WIDTH_MAX];
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        count += 1;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[WIDTH_MAX - width.clamp(count, WIDTH_MAX)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> Result<String, String> {
        let uri = Spanned::new(0..text.len(), text.to_owned());
        let template = Template::parse(text, &uri, &[]).map_err(|error| error.to_string())?;
        let mut out = b"x".to_vec();
        template.render(12, 3, &[], &Drawn::default(), &mut out);
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn placeholders_become_numbers() {
        assert_eq!(render("/a{session}/{call:03}{session:01}?b").unwrap(), "x/a12/00312?b");
        assert_eq!(render("/").unwrap(), "x/");
        assert_eq!(render("/{session:020}").unwrap(), "x/00000000000000000012");
    }

    #[test]
    fn doubled_braces_are_braces() {
        assert_eq!(render("/{{session}}{{{call}}}").unwrap(), "x/{session}{3}");
    }

    #[test]
    fn numbers_have_all_their_digits() {
        for (value, width, expected) in
            [(0, 0, "0"), (u64::MAX, 0, "18446744073709551615"), (10, 1, "10"), (7, 2, "07")]
        {
            let mut out = Vec::new();
            number(value, width, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }

    #[test]
    fn what_cannot_be_in_a_request_line_is_found_at_its_place() {
        assert_eq!(render("/a b").unwrap_err(), "1:3: a request target cannot contain ` `; write %20");
        assert_eq!(render("/é").unwrap_err(), "1:2: a request target cannot contain `é`; write %C3%A9");
        assert!(render("/a#b").unwrap_err().starts_with("1:3: "));
        assert!(render("a").unwrap_err().starts_with("1:1: `uri` does not begin with a slash"));
        assert!(render("").unwrap_err().starts_with("1:1: `uri` does not begin with a slash"));
    }

    #[test]
    fn braces_that_do_not_match_are_found() {
        assert!(render("/{call").unwrap_err().starts_with("1:2: a single `{` in the URI"));
        assert!(render("/call}").unwrap_err().starts_with("1:6: a single `}` in the URI"));
        assert!(render("/{}").unwrap_err().starts_with("1:2: nothing is called `{}` here"));
        assert!(render("/{{call}").unwrap_err().starts_with("1:8: a single `}`"));
        for padding in ["", "5", "0", "00", "021", "0x", "0-1", "+5"] {
            let error = render(&format!("/{{call:{padding}}}")).unwrap_err();
            assert!(error.starts_with(&format!("1:2: `:{padding}` is no padding")), "{error}");
        }
    }
}
