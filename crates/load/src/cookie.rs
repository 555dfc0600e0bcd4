//! The cookies of a session: the one of the original, or a jar of them.
//!
//! The original (manual `--session-cookies`) keeps one text a session, whatever its name. `--cookie-jar`
//! keeps one a name. Neither looks at path, domain or date: a session talks to one server and is short.

use crate::header::{lines, value};

/// Longer texts are cut by the original, and here.
const TEXT_MAX: usize = 245;

/// Cookies in a jar.
const JAR_COOKIES_MAX: usize = 64;

/// Bytes of all cookies in a jar, as they are sent.
const JAR_BYTES_MAX: usize = 4096;

/// What a session sends back. [`Cookies::see`] is given the header section of every reply,
/// [`Cookies::render`] writes the field of every request.
#[derive(Clone, Debug)]
pub enum Cookies {
    /// The last cookie only, as a text.
    Last(Option<Vec<u8>>),
    /// The last cookie of each name, in the order of first appearance.
    Jar(Vec<Cookie>),
}

/// One cookie of a jar.
#[derive(Clone, Debug)]
pub struct Cookie {
    /// `name=value`.
    pair: Vec<u8>,
    /// Bytes of the name.
    name_len: usize,
}

impl Cookies {
    /// The single cookie of the original.
    pub fn last() -> Self {
        Self::Last(None)
    }

    /// An empty jar.
    pub fn jar() -> Self {
        Self::Jar(Vec::new())
    }

    /// Forgets everything, for the next session.
    pub fn clear(&mut self) {
        match self {
            Self::Last(text) => *text = None,
            Self::Jar(jar) => jar.clear(),
        }
    }

    /// Takes the cookies out of a raw header section. Returns how many of them were cut to 245 bytes (the
    /// original warns each time: `truncating cookie to 245 bytes`), or had no place in the jar.
    pub fn see(&mut self, header: &[u8]) -> usize {
        lines(header).filter_map(|line| value(line, "Set-Cookie")).filter(|field| !self.set(field)).count()
    }

    /// Appends `Cookie: a=1; b=2` and CRLF, or nothing if there is no cookie.
    pub fn render(&self, out: &mut Vec<u8>) {
        match self {
            Self::Last(None) => return,
            Self::Last(Some(text)) => {
                out.extend_from_slice(b"Cookie: ");
                out.extend_from_slice(text);
            }
            Self::Jar(jar) => {
                let Some((first, others)) = jar.split_first() else { return };
                out.extend_from_slice(b"Cookie: ");
                out.extend_from_slice(&first.pair);
                for other in others {
                    out.extend_from_slice(b"; ");
                    out.extend_from_slice(&other.pair);
                }
            }
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Takes what follows `Set-Cookie:`. `false` if it was cut or refused.
    fn set(&mut self, field: &[u8]) -> bool {
        match self {
            Self::Last(text) => {
                // One blank is part of the name that the original looks for; without it, or with nothing
                // after it, the line says nothing and the earlier cookie stays.
                let Some(new @ [_, ..]) = field.strip_prefix(b" ") else { return true };
                let new = before_semicolon(new);
                let kept = &new[..new.len().min(TEXT_MAX)];
                let text = text.get_or_insert_default();
                text.clear();
                text.extend_from_slice(kept);
                kept.len() == new.len()
            }
            Self::Jar(jar) => set_in(jar, field),
        }
    }
}

fn before_semicolon(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == b';').next().unwrap_or_default()
}

/// `name=value; attribute; ...` into a jar (RFC 6265 section 5.2). `false` if there is no place for it.
fn set_in(jar: &mut Vec<Cookie>, field: &[u8]) -> bool {
    let pair = before_semicolon(field);
    let Some(equals) = pair.iter().position(|&byte| byte == b'=') else { return true };
    let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    // A control byte in it could not be sent back (RFC 6265 section 4.1.1).
    if name.is_empty() || value.iter().chain(name).any(u8::is_ascii_control) {
        return true;
    }
    let known = jar.iter().position(|cookie| &cookie.pair[..cookie.name_len] == name);
    if value.is_empty() || has_expired(field) {
        known.map(|at| jar.remove(at));
        return true;
    }
    let cookie = Cookie { pair: [name, b"=", value].concat(), name_len: name.len() };
    let old = known.map_or(0, |at| jar[at].pair.len());
    let separators = 2 * (jar.len() + usize::from(known.is_none())).saturating_sub(1);
    let sum: usize = jar.iter().map(|cookie| cookie.pair.len()).sum();
    if sum - old + cookie.pair.len() + separators > JAR_BYTES_MAX {
        return false;
    }
    match known {
        Some(at) => jar[at] = cookie,
        None if jar.len() < JAR_COOKIES_MAX => jar.push(cookie),
        None => return false,
    }
    true
}

/// Whether the last Max-Age is 0 or less (RFC 6265 section 5.2.2). Expires is not looked at: there is no
/// clock here, and servers that delete send an empty value or Max-Age=0 with it.
fn has_expired(field: &[u8]) -> bool {
    let age = |attribute: &[u8]| {
        let attribute = attribute.trim_ascii();
        let (name, rest) = attribute.split_at_checked(b"max-age".len())?;
        let age = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
        let digits = age.strip_prefix(b"-").unwrap_or(age);
        let valid = name.eq_ignore_ascii_case(b"max-age")
            && !digits.is_empty()
            && digits.iter().all(u8::is_ascii_digit);
        valid.then(|| digits.len() < age.len() || digits.iter().all(|&digit| digit == b'0'))
    };
    field.split(|&byte| byte == b';').skip(1).filter_map(age).last().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent after these header lines, and how many cookies were cut or refused.
    fn after(mut cookies: Cookies, header: &str) -> (String, usize) {
        let refused = cookies.see(header.as_bytes());
        let mut out = Vec::new();
        cookies.render(&mut out);
        (String::from_utf8(out).unwrap(), refused)
    }

    fn last(header: &str) -> String {
        let (sent, refused) = after(Cookies::last(), header);
        assert_eq!(refused, 0);
        sent
    }

    fn jar(header: &str) -> String {
        let (sent, refused) = after(Cookies::jar(), header);
        assert_eq!(refused, 0);
        sent
    }

    #[test]
    fn the_text_up_to_the_semicolon_is_sent_back() {
        let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: sid=v1; path=/; HttpOnly\r\n\r\n";
        assert_eq!(last(reply), "Cookie: sid=v1\r\n");
        assert_eq!(last("set-cookie: a=1\nX: y\n\n"), "Cookie: a=1\r\n");
        assert_eq!(last("SET-COOKIE:  a=1  ;x"), "Cookie:  a=1  \r\n");
        assert_eq!(last("Set-Cookie: ;x\r\n"), "Cookie: \r\n");
        assert_eq!(last("Set-Cookie: a=1\rX: y\r\n"), "Cookie: a=1\r\n");
        for header in
            ["", "Set-Cookie:a=1\r\n", "Set-Cookie:\ta=1\r\n", "Set-Cookie: \r\n", "Set-Cookies: a\r\n"]
        {
            assert_eq!(last(header), "", "{header:?}");
        }
    }

    #[test]
    fn a_later_cookie_replaces_and_an_empty_one_does_not_delete() {
        assert_eq!(last("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n"), "Cookie: b=2\r\n");
        assert_eq!(last("Set-Cookie: a=1\r\nSet-Cookie: \r\n"), "Cookie: a=1\r\n");
        assert_eq!(last("Set-Cookie: a=1\r\nSet-Cookie: a=\r\n"), "Cookie: a=\r\n");
        let mut cookies = Cookies::last();
        cookies.see(b"Set-Cookie: a=1\r\n");
        cookies.clear();
        assert_eq!(after(cookies, "Date: x\r\n").0, "");
    }

    #[test]
    fn long_texts_are_cut_to_245_bytes_and_that_is_said() {
        for (len, cut) in [(245, 0), (246, 1), (70_000, 1)] {
            let (sent, refused) = after(Cookies::last(), &format!("Set-Cookie: {}; x\r\n", "c".repeat(len)));
            assert_eq!((sent, refused), (format!("Cookie: {}\r\n", "c".repeat(245)), cut));
        }
    }

    #[test]
    fn a_jar_keeps_the_last_of_each_name_in_order() {
        let header = "Set-Cookie: a=1; Path=/\r\nset-cookie:b=2\nSet-Cookie: a = 3 \r\nSet-Cookie: A=4; Max-Age=60\r\n";
        assert_eq!(jar(header), "Cookie: a=3; b=2; A=4\r\n");
        assert_eq!(jar("Set-Cookie: t=a=b==\r\n"), "Cookie: t=a=b==\r\n");
        assert_eq!(jar("Set-Cookie: no pair\r\nSet-Cookie: =1\r\nSet-Cookie: x=\x01\r\n"), "");
    }

    #[test]
    fn an_empty_value_or_an_age_of_0_deletes_from_a_jar() {
        for how in
            ["a=", "a=; Path=/", "a=9; Max-Age=0", "a=9; secure; max-age = -1", "a=9; Max-Age=5; Max-Age=00"]
        {
            assert_eq!(
                jar(&format!("Set-Cookie: a=1\nSet-Cookie: b=2\nSet-Cookie: {how}\n")),
                "Cookie: b=2\r\n"
            );
        }
        for how in ["a=9; Max-Age=10", "a=9; Max-Age=", "a=9; Max-Age=0x", "a=9; Max-Age", "a=9; Max-Agent=0"]
        {
            assert_eq!(jar(&format!("Set-Cookie: a=1\nSet-Cookie: {how}\n")), "Cookie: a=9\r\n", "{how}");
        }
    }

    #[test]
    fn a_jar_is_bounded() {
        let many: String = (0..70).map(|n| format!("Set-Cookie: c{n}=1\n")).collect();
        let (sent, refused) = after(Cookies::jar(), &many);
        assert_eq!((sent.matches('=').count(), refused), (64, 6));

        let value = "v".repeat(1000);
        let large: String = (0..9).map(|n| format!("Set-Cookie: c{n}={value}\n")).collect();
        let (sent, refused) = after(Cookies::jar(), &format!("{large}Set-Cookie: c0=x\nSet-Cookie: d=y\n"));
        assert_eq!((sent.len() < JAR_BYTES_MAX, refused), (true, 5));
        assert!(sent.starts_with("Cookie: c0=x; c1=v") && sent.ends_with("; d=y\r\n"));

        let exact = format!("Set-Cookie: a={}\n", "v".repeat(JAR_BYTES_MAX - 2));
        assert_eq!(after(Cookies::jar(), &exact).1, 0);
        assert_eq!(after(Cookies::jar(), &exact.replace("a=", "ab=")).1, 1);
    }
}
