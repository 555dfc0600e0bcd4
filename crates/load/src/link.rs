//! From what a reply refers to, to the URI to ask this server for.

use crate::header::{lines, value};

/// The server a session talks to.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Its name, as absolute references give it: without a port, as in the Host header.
    pub server: &'a [u8],
    /// Whether it is asked over TLS: then `https://SERVER/` is this server as well.
    pub tls: bool,
}

/// Whether the header section says that a page follows: a Content-Type that begins `text/html`, in any case.
pub fn is_html(header: &[u8]) -> bool {
    let kind = lines(header).find_map(|line| value(line, "Content-Type"));
    let kind = kind.map(<[u8]>::trim_ascii_start).and_then(|kind| kind.get(..b"text/html".len()));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}

/// The value of the first `Location:` of a header section, if it is not empty.
pub fn location(header: &[u8]) -> Option<&[u8]> {
    let place = lines(header).find_map(|line| value(line, "Location"))?.trim_ascii();
    (!place.is_empty()).then_some(place)
}

/// The URI that a reference in the reply to `base` means on this server. `None`: another server, or nothing
/// to fetch; the original says `ignoring absolute URI`.
///
/// Absolute references count only as `http://SERVER/...` (with TLS also `https://SERVER/...`), and as
/// `//SERVER/...`. `/x` stays as it is; anything else is put into the directory of `base`, dots and all:
/// servers resolve them. Of what a hostile page may hold nothing breaks the request line: blanks become
/// `%20`, control bytes and a fragment are left out.
pub fn resolve(reference: &[u8], base: &[u8], site: Site<'_>) -> Option<Vec<u8>> {
    let reference = until(reference, b"#").trim_ascii();
    if reference.is_empty() {
        return None;
    }
    let (directory, rest) = if let Some(rest) = reference.strip_prefix(b"//") {
        (b"".as_slice(), on_server(rest, site)?)
    } else if let Some(scheme) = scheme(reference) {
        let same = scheme.eq_ignore_ascii_case(b"http") || site.tls && scheme.eq_ignore_ascii_case(b"https");
        let rest = reference[scheme.len() + 1..].strip_prefix(b"//")?;
        (b"".as_slice(), if same { on_server(rest, site)? } else { return None })
    } else if reference.starts_with(b"/") {
        (b"".as_slice(), reference)
    } else {
        (directory(base), reference)
    };
    let mut uri = Vec::with_capacity(directory.len() + rest.len());
    uri.extend_from_slice(directory);
    for &byte in rest {
        match byte {
            b' ' => uri.extend_from_slice(b"%20"),
            _ if byte.is_ascii_control() => {}
            _ => uri.push(byte),
        }
    }
    Some(uri)
}

/// `SERVER/path` => `/path`.
fn on_server<'a>(rest: &'a [u8], site: Site<'_>) -> Option<&'a [u8]> {
    let (server, path) = rest.split_at_checked(site.server.len())?;
    (server.eq_ignore_ascii_case(site.server) && path.starts_with(b"/")).then_some(path)
}

/// The scheme, if there is one (RFC 3986 section 3.1).
fn scheme(reference: &[u8]) -> Option<&[u8]> {
    let colon = reference.iter().position(|&byte| byte == b':')?;
    let scheme = &reference[..colon];
    let rest = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    (scheme.first()?.is_ascii_alphabetic() && scheme.iter().all(rest)).then_some(scheme)
}

/// A URI up to and with the last slash of its path.
fn directory(base: &[u8]) -> &[u8] {
    let path = until(base, b"?#");
    path.iter().rposition(|&byte| byte == b'/').map_or(b"/", |slash| &path[..=slash])
}

fn until<'a>(text: &'a [u8], ends: &[u8]) -> &'a [u8] {
    text.split(|byte| ends.contains(byte)).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(base: &str, reference: &str, tls: bool) -> Option<String> {
        let site = Site { server: b"127.0.0.1", tls };
        let uri = resolve(reference.as_bytes(), base.as_bytes(), site);
        uri.map(|uri| String::from_utf8(uri).unwrap())
    }

    fn plain(reference: &str) -> Option<String> {
        from("/d/page.html", reference, false)
    }

    #[test]
    fn relative_names_use_the_directory() {
        assert_eq!(plain("a.gif").unwrap(), "/d/a.gif");
        assert_eq!(plain("../a.gif").unwrap(), "/d/../a.gif");
        assert_eq!(plain("?x=1").unwrap(), "/d/?x=1");
        assert_eq!(plain("e/a:b").unwrap(), "/d/e/a:b");
        assert_eq!(plain("/a.gif").unwrap(), "/a.gif");
        assert_eq!(from("/page.html", "a", false).unwrap(), "/a");
        assert_eq!(from("/d/?u=/x/y", "a", false).unwrap(), "/d/a");
        assert_eq!(from("", "a", false).unwrap(), "/a");
    }

    #[test]
    fn absolute_uris_count_on_the_same_server_only() {
        assert_eq!(plain("http://127.0.0.1/x.gif").unwrap(), "/x.gif");
        assert_eq!(plain("HTTP://127.0.0.1/").unwrap(), "/");
        assert_eq!(plain("//127.0.0.1/x").unwrap(), "/x");
        assert_eq!(from("/", "https://127.0.0.1/x", true).unwrap(), "/x");
        assert_eq!(from("/", "http://127.0.0.1/x", true).unwrap(), "/x");
        for other in [
            "http://other.example/y.gif",
            "https://127.0.0.1/x",
            "http://127.0.0.1",
            "http://127.0.0.1:80/x",
            "http://127.0.0.11/x",
            "http:/127.0.0.1/x",
            "http:x",
            "//other.example/x",
            "//",
            "data:image/png;base64,xx",
            "javascript:x()",
        ] {
            assert_eq!(plain(other), None, "{other}");
        }
        assert_eq!(from("/", "ftp://127.0.0.1/x", true), None);
    }

    #[test]
    fn nothing_breaks_the_request_line() {
        assert_eq!(plain(" a b.gif ").unwrap(), "/d/a%20b.gif");
        assert_eq!(plain("a HTTP/1.1\r\nX: y").unwrap(), "/d/a%20HTTP/1.1X:%20y");
        assert_eq!(plain("a\0\x7f\t.gif#top").unwrap(), "/d/a.gif");
        assert_eq!(plain("#top"), None);
        assert_eq!(plain(" \r\n"), None);
    }

    #[test]
    fn the_header_says_what_comes_and_where_to_go() {
        assert!(is_html(b"HTTP/1.1 200 OK\r\nContent-type: Text/HTML; charset=x\r\n\r\n"));
        assert!(is_html(b"content-type:text/html\n"));
        assert!(!is_html(b"Content-Type: text/plain\r\nX: text/html\r\n"));
        assert!(!is_html(b"Content-Type: text\r\n"));
        assert_eq!(location(b"A: b\r\nlocation:  /x y \r\nLocation: /z\r\n"), Some(b"/x y".as_slice()));
        assert_eq!(location(b"Location: \r\n"), None);
        assert_eq!(location(b"Content-Location: /x\r\n"), None);
    }
}
