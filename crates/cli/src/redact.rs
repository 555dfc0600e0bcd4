//! Secrets stand as `***` in what we print: the echo line, the argv of a result, error texts.
//!
//! Hidden are the values of header fields that carry credentials, of fields and URL parameters
//! whose name says so, and the user and password in a URL. When in doubt more is hidden: a value
//! ends only at `&` or at the line's end.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use crate::personality::httperf::escape;

const MASK: &[u8] = b"***";
const FIELDS: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"];
const WORDS: [&str; 5] = ["token", "secret", "password", "key", "sig"];

/// A command line as it may be shown, one string a word; bytes that are not UTF-8 are replaced. Works
/// on the words alone, so that it serves every personality: any word, option value or attached short
/// value may be a header or a URL.
pub(crate) fn redact_argv(argv: &[OsString]) -> Vec<String> {
    argv.iter().map(|word| String::from_utf8_lossy(&redact_word(word.as_bytes())).into_owned()).collect()
}

/// A command line of `httperf run` as it may be shown: there options say what is secret, besides.
pub(crate) fn redact_run_argv(argv: &[OsString]) -> Vec<String> {
    let mut shown = redact_argv(argv);
    let mut hide_next = false;
    for word in &mut shown {
        if std::mem::take(&mut hide_next) {
            "***".clone_into(word);
            continue;
        }
        for (short, long) in [("-u", "--user"), ("-b", "--cookie")] {
            if word == short || word == long {
                hide_next = true;
            } else if word.starts_with(&format!("{long}=")) {
                *word = format!("{long}=***");
            } else if word.starts_with(short) && !word.starts_with("--") {
                *word = format!("{short}***");
            }
        }
    }
    shown
}

/// One word of a command line. The names of options are not field names: `--ssl-key=FILE` stays.
pub(crate) fn redact_word(word: &[u8]) -> Vec<u8> {
    let name = match word {
        [b'-', b'-', ..] => word.iter().position(|b| *b == b'=').map_or(word.len(), |at| at + 1),
        [b'-', _, ..] => 2,
        _ => 0,
    };
    let (name, value) = word.split_at(name);
    let redacted = if value.starts_with(b"/") || authority(value, 0).is_some() {
        redact_uri(value)
    } else {
        redact_header(value)
    };
    [name, &redacted].concat()
}

/// A URI, absolute or not: the userinfo of every authority in it, the values of secret parameters.
pub(crate) fn redact_uri(uri: &[u8]) -> Vec<u8> {
    redact_parameters(&redact_userinfo(uri))
}

/// Header lines as typed for `--add-header`, escapes unresolved. Lines end at `\n`, `\a` or
/// their octal forms; a name is recognised even if it is written with escapes. A folded line
/// belongs to the field before it.
pub(crate) fn redact_header(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut line = Line::default();
    let mut hidden = Hidden::No;
    for piece in escape::pieces(text) {
        let bytes = piece.bytes();
        if bytes.contains(&b'\n') || bytes.contains(&b'\r') {
            hidden = line.flush(hidden, &mut out);
            if bytes.contains(&b'\n') && hidden == Hidden::Rest {
                hidden = Hidden::IfFolded;
            }
            out.extend_from_slice(piece.raw);
        } else {
            line.push(piece.raw, bytes);
        }
    }
    line.flush(hidden, &mut out);
    out
}

/// Does the text that follows belong to a secret value?
#[derive(Clone, Copy, PartialEq)]
enum Hidden {
    No,
    /// If it begins with a blank: the line before was a secret field.
    IfFolded,
    /// Yes: only a CR stood between, which not every server takes for a line's end.
    Rest,
}

/// A line being gathered, as typed and as sent.
#[derive(Default)]
struct Line {
    raw: Vec<u8>,
    sent: Vec<u8>,
    /// For each sent byte the end of its typed form in `raw`.
    ends: Vec<usize>,
}

impl Line {
    fn push(&mut self, raw: &[u8], sent: &[u8]) {
        self.raw.extend_from_slice(raw);
        self.sent.extend_from_slice(sent);
        self.ends.resize(self.sent.len(), self.raw.len());
    }

    fn flush(&mut self, hidden: Hidden, out: &mut Vec<u8>) -> Hidden {
        let Line { raw, sent, ends } = std::mem::take(self);
        let folded = sent.first().is_some_and(|b| matches!(b, b' ' | b'\t'));
        if hidden == Hidden::Rest || (hidden == Hidden::IfFolded && folded) {
            out.extend_from_slice(if raw.is_empty() { b"" } else { MASK });
            return Hidden::Rest;
        }
        let colon = sent.iter().position(|b| *b == b':');
        let Some(colon) = colon.filter(|colon| is_secret_field(sent[..*colon].trim_ascii())) else {
            out.extend_from_slice(&redact_uri(&raw));
            return Hidden::No;
        };
        let blanks = sent[colon + 1..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let kept = ends[colon + blanks];
        out.extend_from_slice(&raw[..kept]);
        out.extend_from_slice(if kept < raw.len() { MASK } else { b"" });
        Hidden::Rest
    }
}

/// A header field's name is a token (RFC 9110, 5.6.2); `/a?key` before a colon is none.
fn is_secret_field(name: &[u8]) -> bool {
    let token = name.iter().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b));
    token && (FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field.as_bytes())) || is_secret_name(name))
}

fn is_secret_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.windows(word.len()).any(|part| part == word.as_bytes()))
}

/// The next authority at or after `from`: its bytes lie between `//` and the next `/`, `?`, `#` or blank. The
/// `//` begins the text or follows a colon.
fn authority(text: &[u8], from: usize) -> Option<std::ops::Range<usize>> {
    let slashes = |at: usize| text[at..].starts_with(b"//") && (at == 0 || text[at - 1] == b':');
    let start = (from..text.len()).find(|at| slashes(*at))? + 2;
    let len = text[start..].iter().take_while(|b| !b"/?# \t".contains(b)).count();
    Some(start..start + len)
}

fn redact_userinfo(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    while let Some(range) = authority(text, done) {
        out.extend_from_slice(&text[done..range.start]);
        done = range.start;
        if let Some(at) = text[range.clone()].iter().rposition(|b| *b == b'@') {
            out.extend_from_slice(MASK);
            done += at;
        }
        out.extend_from_slice(&text[done..range.end]);
        done = range.end;
    }
    out.extend_from_slice(&text[done..]);
    out
}

fn redact_parameters(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut name, mut at) = (0, 0);
    while let Some(byte) = text.get(at) {
        out.push(*byte);
        at += 1;
        let secret = *byte == b'=' && is_secret_name(&percent_decoded(&text[name..at - 1]));
        if b"=?&;#/ \t\"'<>,(".contains(byte) {
            name = at;
        }
        let len = text[at..].iter().take_while(|b| **b != b'&').count();
        if secret && len > 0 {
            out.extend_from_slice(MASK);
            at += len;
        }
    }
    out
}

fn percent_decoded(name: &[u8]) -> Vec<u8> {
    let digit = |at: usize| char::from(*name.get(at)?).to_digit(16);
    let (mut out, mut at) = (Vec::with_capacity(name.len()), 0);
    while at < name.len() {
        let (byte, len) = match (name[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => (u8::try_from(high << 4 | low).unwrap_or(b'%'), 3),
            (byte, _, _) => (byte, 1),
        };
        out.push(byte);
        at += len;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn secret_fields_lose_their_values() {
        for (typed, out) in [
            (r"A: 1\n", r"A: 1\n"),
            (r"Authorization: Bearer abc\n", r"Authorization: ***\n"),
            (r"authorization:abc", r"authorization:***"),
            (r"A: 1\nCOOKIE: a=b; c=d\nB: 2\n", r"A: 1\nCOOKIE: ***\nB: 2\n"),
            (r"Proxy-Authorization: x\r\aA: 1\r\a", r"Proxy-Authorization: ***\r\aA: 1\r\a"),
            (r"A: 1\12Cookie: x\12", r"A: 1\12Cookie: ***\12"),
            (r"\101uthorization: x\\ny\n", r"\101uthorization: ***\n"),
            (r"X-Auth-Token: t\nX-My-Signature: s\n", r"X-Auth-Token: ***\nX-My-Signature: ***\n"),
            (r"X-API-KEY:\n", r"X-API-KEY:\n"),
            (r"Cookie: a\n b\nC: d\n", r"Cookie: ***\n***\nC: d\n"),
            (r"Cookie: a\rb\nC: d\n", r"Cookie: ***\r***\nC: d\n"),
            (r"Referer: http://u:p@h/?a=1&token=x&b=2\n", r"Referer: http://***@h/?a=1&token=***&b=2\n"),
            (r"A: 1\n\nuser=me&password=x y\n", r"A: 1\n\nuser=me&password=***\n"),
            ("", ""),
            ("\\", "\\"),
        ] {
            assert_eq!(shown(redact_header(typed.as_bytes())), out, "{typed}");
        }
        assert_eq!(redact_header(b"Cookie: \xff\\n\xfe"), b"Cookie: ***\\n\xfe");
    }

    #[test]
    fn secret_parameters_and_userinfo_are_hidden() {
        for (typed, out) in [
            ("/", "/"),
            ("/a?b=c", "/a?b=c"),
            ("/a?token=x", "/a?token=***"),
            ("/a?token=x/y#z w&b=1", "/a?token=***&b=1"),
            ("/a?api%4Bey=x&Sig=&q=1", "/a?api%4Bey=***&Sig=&q=1"),
            ("/a;access_token=x", "/a;access_token=***"),
            ("http://u:p@h:80/x@y", "http://***@h:80/x@y"),
            ("http://a@b@h/", "http://***@h/"),
            ("//u@h/", "//***@h/"),
            ("/a//b@c", "/a//b@c"),
            ("/?next=https://u:p@h/&a=http://v@i", "/?next=https://***@h/&a=http://***@i"),
        ] {
            assert_eq!(shown(redact_uri(typed.as_bytes())), out, "{typed}");
        }
    }

    #[test]
    fn of_a_run_the_user_and_the_cookie_are_hidden() {
        let words = "httperf run http://u:p@a/?key=1 -u me:you -bsid=1 --user=x --cookie c -d 5s --uid";
        let argv: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        assert_eq!(
            redact_run_argv(&argv).join(" "),
            "httperf run http://***@a/?key=*** -u *** -b*** --user=*** --cookie *** -d 5s --uid"
        );
    }

    #[test]
    fn a_command_line_is_redacted_word_by_word() {
        let argv = [
            "httperf",
            "--add-header=Authorization: x\\n",
            "--add-h",
            "Cookie: y\\n",
            "-HX-Api-Key: z",
            "--uri=/a?key=1",
            "--ssl-key=/etc/my.key",
            "--server",
            "key.example",
            "http://u:p@h/?token=t\\nu",
        ]
        .map(OsString::from);
        let want = [
            "httperf",
            "--add-header=Authorization: ***\\n",
            "--add-h",
            "Cookie: ***\\n",
            "-HX-Api-Key: ***",
            "--uri=/a?key=***",
            "--ssl-key=/etc/my.key",
            "--server",
            "key.example",
            "http://***@h/?token=***",
        ];
        assert_eq!(redact_argv(&argv), want);
    }
}
