//! Requests, rendered once and sent many times.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    bytes: Box<[u8]>,
    head: bool,
}

impl Request {
    /// Renders a request in the order of the original tool: request line, User-Agent, (HTTP/1.0: Connection),
    /// Host, the raw fields, the empty line, the body.
    pub fn render(spec: &RequestSpec) -> Self {
        let method = if spec.method.is_empty() { b"GET".as_slice() } else { &spec.method };
        let mut out = Vec::with_capacity(128 + spec.uri.len() + spec.fields.len() + spec.body.len());
        out.extend_from_slice(method);
        out.push(b' ');
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
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&spec.body);
        Self { bytes: out.into(), head: method == b"HEAD" }
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
}
