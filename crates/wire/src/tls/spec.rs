//! What TLS a run speaks, as plain data.

use rustls::pki_types::CertificateDer;

use super::{Ciphers, TlsTime};

/// Everything there is to choose. [`TlsSpec::new`] gives what the classic tool does: any version, all
/// ciphers, no check of the server's certificate, no certificate of our own, no ALPN.
#[derive(Clone, Debug)]
pub struct TlsSpec {
    /// The server's name. A DNS name is sent to the server (SNI, RFC 6066 section 3) and looked for in its
    /// certificate; an IP address is only looked for.
    pub server_name: String,
    /// Which versions are offered.
    pub versions: TlsVersions,
    /// The suites offered; all there are if `None`.
    pub ciphers: Option<Ciphers>,
    /// Whether the server's certificate is checked.
    pub verify: Verify,
    /// What to show to a server that asks who we are.
    pub identity: Option<Identity>,
    /// Append the secrets of each connection to the file that the environment variable `SSLKEYLOGFILE` names,
    /// for packet analysers. Nothing is written while the variable is not set.
    pub keylog: bool,
    /// The protocols offered (RFC 7301), most wanted first; empty: no ALPN.
    pub alpn: Vec<Vec<u8>>,
    /// What time it is to certificates and tickets; the system's time if `None`.
    pub time: Option<TlsTime>,
}

impl TlsSpec {
    /// The plainest TLS with that server.
    #[must_use]
    pub fn new(server_name: impl Into<String>) -> Self {
        Self {
            server_name: server_name.into(),
            versions: TlsVersions::default(),
            ciphers: None,
            verify: Verify::default(),
            identity: None,
            keylog: false,
            alpn: Vec::new(),
            time: None,
        }
    }
}

/// The versions offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersions {
    /// 1.3 and 1.2; the server chooses.
    #[default]
    Auto,
    /// 1.2 only.
    Tls12,
    /// 1.3 only.
    Tls13,
}

/// Whether the server's certificate is checked.
#[derive(Clone, Debug, Default)]
pub enum Verify {
    /// Not at all: neither its chain nor its name, dates or signatures. The server may be anybody.
    #[default]
    No,
    /// It must lead to one of these, be valid now and bear the server's name. Of roots that cannot be used
    /// see [`TlsClient::roots_skipped`](super::TlsClient::roots_skipped).
    Roots(Vec<CertificateDer<'static>>),
}

/// A certificate of our own with its key, both as PEM text (they may be the same text).
#[derive(Clone)]
pub struct Identity {
    /// Our certificate, then those that lead from it to a root.
    pub certificates: Vec<u8>,
    /// Its private key (PKCS #8, PKCS #1 or SEC 1), not encrypted.
    pub key: Vec<u8>,
}

/// Keys are not for printing.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}
