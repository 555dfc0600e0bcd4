//! Requests, rendered once and sent many times.

use std::ops::Range;

/// The HTTP version of a request line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0; the request asks for `keep-alive`.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
}

/// What a request says. Everything is sent as it stands, without any check: a load generator may have to send
/// what is wrong.
#[derive(Clone, Debug, Default)]
pub struct RequestSpec {
    /// The method; empty means GET.
    pub method: Vec<u8>,
    /// The request target.
    pub uri: Vec<u8>,
    /// The version in the request line.
    pub version: Version,
    /// The value of User-Agent; empty means none.
    pub user_agent: Vec<u8>,
    /// The value of Host; `None` leaves the field out.
    pub host: Option<Vec<u8>>,
    /// Raw bytes after Host: complete field lines, each with its CRLF.
    pub fields: Vec<u8>,
    /// The body. No Content-Length is added for it.
    pub body: Vec<u8>,
}

/// A request as it goes over the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    bytes: Vec<u8>,
    head: bool,
    /// Where the request target lies.
    uri: Range<usize>,
    /// Where the empty line begins.
    fields_end: usize,
}

impl Request {
    /// Renders a request in the order of the original tool: request line, User-Agent, (HTTP/1.0: Connection),
    /// Host, the raw fields, the empty line, the body.
    pub fn render(spec: &RequestSpec) -> Self {
        let method = if spec.method.is_empty() { b"GET".as_slice() } else { &spec.method };
        let mut out = Vec::with_capacity(128 + spec.uri.len() + spec.fields.len() + spec.body.len());
        out.extend_from_slice(method);
        out.push(b' ');
        let uri = out.len()..out.len() + spec.uri.len();
        out.extend_from_slice(&spec.uri);
        out.extend_from_slice(match spec.version {
            Version::Http10 => b" HTTP/1.0\r\n",
            Version::Http11 => b" HTTP/1.1\r\n",
        });
        let mut field = |name: &str, value: &[u8]| {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        };
        if !spec.user_agent.is_empty() {
            field("User-Agent", &spec.user_agent);
        }
        if spec.version == Version::Http10 {
            field("Connection", b"keep-alive");
        }
        if let Some(host) = &spec.host {
            field("Host", host);
        }
        out.extend_from_slice(&spec.fields);
        let fields_end = out.len();
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&spec.body);
        Self { bytes: out, head: method == b"HEAD", uri, fields_end }
    }

    /// Becomes `of` with another target (`None`: the same) and more fields: complete lines, put before the
    /// empty line. Allocates nothing once the buffer has grown.
    pub fn patch(&mut self, of: &Request, uri: Option<&[u8]>, fields: &[u8]) {
        let new = uri.unwrap_or(&of.bytes[of.uri.clone()]);
        self.bytes.clear();
        self.bytes.extend_from_slice(&of.bytes[..of.uri.start]);
        self.bytes.extend_from_slice(new);
        self.uri = of.uri.start..self.bytes.len();
        self.bytes.extend_from_slice(&of.bytes[of.uri.end..of.fields_end]);
        self.bytes.extend_from_slice(fields);
        self.fields_end = self.bytes.len();
        self.bytes.extend_from_slice(&of.bytes[of.fields_end..]);
        self.head = of.head;
    }

    /// Its target.
    pub fn uri(&self) -> &[u8] {
        &self.bytes[self.uri.clone()]
    }

    /// The header section, the empty line included.
    pub fn header(&self) -> &[u8] {
        &self.bytes[..self.fields_end + 2]
    }

    /// What follows the empty line.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.fields_end + 2..]
    }

    /// The whole request, header and body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Which reply this request calls for.
    pub fn due(&self) -> crate::Due {
        if self.head { crate::Due::Head } else { crate::Due::Reply }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> RequestSpec {
        RequestSpec {
            uri: b"/ok".to_vec(),
            user_agent: "httperf/0.9.0".into(),
            host: Some("127.0.0.1".into()),
            ..RequestSpec::default()
        }
    }

    #[test]
    fn the_request_of_the_manual_is_64_bytes() {
        let request = Request::render(&spec());
        assert_eq!(
            request.bytes(),
            b"GET /ok HTTP/1.1\r\nUser-Agent: httperf/0.9.0\r\nHost: 127.0.0.1\r\n\r\n"
        );
        assert_eq!(request.bytes().len(), 64);
    }

    #[test]
    fn http_1_0_asks_for_keep_alive_before_host() {
        let request = Request::render(&RequestSpec { version: Version::Http10, ..spec() });
        let text = String::from_utf8_lossy(request.bytes()).into_owned();
        assert_eq!(
            text,
            "GET /ok HTTP/1.0\r\nUser-Agent: httperf/0.9.0\r\nConnection: keep-alive\r\nHost: 127.0.0.1\r\n\r\n"
        );
    }

    #[test]
    fn raw_fields_follow_host_and_the_body_follows_the_empty_line() {
        let request = Request::render(&RequestSpec {
            method: "HEAD".into(),
            fields: b"A: 1\r\n".to_vec(),
            body: b"xyz".to_vec(),
            host: None,
            ..spec()
        });
        assert!(request.bytes().ends_with(b"User-Agent: httperf/0.9.0\r\nA: 1\r\n\r\nxyz"));
        assert_eq!(request.due(), crate::Due::Head);
    }

    #[test]
    fn a_patch_changes_the_target_adds_fields_and_keeps_the_rest() {
        let of = Request::render(&RequestSpec { body: b"xyz".to_vec(), ..spec() });
        let mut patched = Request::default();
        patched.patch(&of, Some(b"/other"), b"Cookie: a\r\n");
        let whole = RequestSpec {
            uri: b"/other".to_vec(),
            fields: b"Cookie: a\r\n".to_vec(),
            body: b"xyz".to_vec(),
            ..spec()
        };
        assert_eq!(patched, Request::render(&whole));
        assert_eq!((patched.uri(), patched.body()), (b"/other".as_slice(), b"xyz".as_slice()));
        assert!(patched.header().ends_with(b"Cookie: a\r\n\r\n"));
        let again = patched.clone();
        patched.patch(&again, None, b"");
        assert_eq!(patched, again);
    }
}
