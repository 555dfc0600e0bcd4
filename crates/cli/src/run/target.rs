//! The URLs of `httperf run`: where the calls go and what they ask for.

use std::net::{SocketAddr, ToSocketAddrs};

/// What a URL says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) tls: bool,
    /// A name or an address; an IPv6 address in brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// Path and query, as they are sent.
    pub(super) path: String,
    /// `user:password`, if there is one.
    pub(super) user: Option<String>,
}

impl Url {
    /// Reads `http[s]://[user@]host[:port][/path]`. An error is a line for the user.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(format!("{scheme}:// is not spoken, http:// and https:// are")),
        };
        // A fragment is the browser's business.
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user, authority) = match authority.rsplit_once('@') {
            Some((user, authority)) => (Some(user.to_owned()), authority),
            None => (None, authority),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                let number = port.parse().map_err(|_| format!("`{port}` is no port (1 to 65535)"))?;
                (host, number)
            }
            _ => (authority, if tls { 443 } else { 80 }),
        };
        if host.is_empty() || host.contains([' ', '[']) && !(host.starts_with('[') && host.ends_with(']')) {
            return Err(format!("`{text}` names no host; a URL looks like http://127.0.0.1:8080/"));
        }
        if path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(format!("`{path}` has a blank or a control character, write it as %20"));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { tls, host: host.to_owned(), port, path, user })
    }

    /// The text of the Host field: with the port unless it is that of the scheme.
    pub(super) fn host_field(&self) -> String {
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Without what is secret.
    pub(super) fn shown(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        let path = crate::redact::redact_uri(self.path.as_bytes());
        format!("{scheme}://{}{}", self.host_field(), String::from_utf8_lossy(&path))
    }

    /// All addresses of the family of the first.
    pub(super) fn addresses(&self) -> Result<Vec<SocketAddr>, String> {
        let name = self.host.trim_start_matches('[').trim_end_matches(']');
        let failed = |why: String| format!("failed to find the address of {name}: {why}");
        let all: Vec<SocketAddr> =
            (name, self.port).to_socket_addrs().map_err(|error| failed(error.to_string()))?.collect();
        let first = all.first().ok_or_else(|| failed("it has none".to_owned()))?;
        let mut alike: Vec<_> = all.iter().filter(|one| one.is_ipv4() == first.is_ipv4()).copied().collect();
        alike.dedup();
        Ok(alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let url = |text| Url::parse(text).unwrap();
        let plain = url("http://127.0.0.1:8080/a?b=c#d");
        assert_eq!((plain.tls, plain.port, plain.path.as_str()), (false, 8080, "/a?b=c"));
        assert_eq!(plain.host_field(), "127.0.0.1:8080");
        let tls = url("HTTPS://me:secret@[::1]?q");
        assert_eq!((tls.tls, tls.host.as_str(), tls.port, tls.path.as_str()), (true, "[::1]", 443, "/?q"));
        assert_eq!((tls.user.as_deref(), tls.host_field().as_str()), (Some("me:secret"), "[::1]"));
        assert!(!tls.shown().contains("secret"));
        assert_eq!(url("localhost").path, "/");
    }

    #[test]
    fn what_is_no_url_is_said() {
        for text in ["ftp://a/", "http://", "http://:80/", "http://a:99999/", "http://a/b c", "http://a b/"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
