//! TLS under a connection: whose certificate, which versions, how long a handshake may take.

use std::fs::File;
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, HandshakeKind, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::server::TlsStream;

use crate::counters::Counters;

/// How a server speaks TLS. HTTP/1.1 is the one protocol it offers (ALPN), and every client gets
/// tickets to resume with.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Who the server says it is. Default a certificate made at the start.
    pub identity: Identity,
    /// The newest version it speaks; the oldest is always 1.2. Default 1.3.
    pub max_version: TlsVersion,
    /// A client whose handshake takes longer is dropped. Default 10 s.
    pub handshake_limit: Duration,
}

impl Default for Tls {
    fn default() -> Tls {
        Tls {
            identity: Identity::SelfSigned,
            max_version: TlsVersion::V1_3,
            handshake_limit: Duration::from_secs(10),
        }
    }
}

/// A certificate and its private key.
#[derive(Clone, Debug)]
pub enum Identity {
    /// Both made at the start and gone with the server: ECDSA on P-256, signed by itself, for the
    /// names `localhost`, `127.0.0.1` and `::1`.
    SelfSigned,
    /// Both from files in PEM form, read once at the start.
    Files {
        /// The server's own certificate, then those that lead to its root.
        certificate: PathBuf,
        /// The private key (PKCS #8, PKCS #1 or SEC 1), not encrypted. May be the same file.
        key: PathBuf,
    },
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// RFC 5246.
    V1_2,
    /// RFC 8446.
    V1_3,
}

/// Why there can be no TLS. The messages complete "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or is too large to be one of ours.
    #[error("read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("find {what} in {}: {why}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
        /// What was found instead.
        why: String,
    },
    /// The certificate and the key are not for use, or not a pair.
    #[error("use the certificate of {} with the key of {}", certificate.display(), key.display())]
    Pair {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong with them.
        source: rustls::Error,
    },
    /// No certificate could be made.
    #[error("make a certificate")]
    Make(#[from] rcgen::Error),
    /// The cryptography does not work, for example in want of randomness.
    #[error("set up TLS")]
    SetUp(#[from] rustls::Error),
}

/// Makes TLS of connections.
#[derive(Debug)]
pub(crate) struct Handshaker {
    config: Arc<ServerConfig>,
    limit: Duration,
}

impl Handshaker {
    pub(crate) fn new(tls: &Tls) -> Result<Handshaker, TlsError> {
        // Named here: the provider of the process is nobody's, or the one of whoever came first.
        let provider = Arc::new(aws_lc_rs::default_provider());
        let versions: &[&SupportedProtocolVersion] = match tls.max_version {
            TlsVersion::V1_2 => &[&TLS12],
            TlsVersion::V1_3 => &[&TLS13, &TLS12],
        };
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)?
            .with_no_client_auth();
        let mut config = match &tls.identity {
            Identity::SelfSigned => {
                let (certificate, key) = make()?;
                builder.with_single_cert(vec![certificate], key)?
            }
            Identity::Files { certificate, key } => {
                builder.with_single_cert(certificates(certificate)?, private_key(key)?).map_err(|source| {
                    TlsError::Pair { certificate: certificate.clone(), key: key.clone(), source }
                })?
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // Tickets keep nothing here, so any number of clients can resume. For a client of TLS 1.2
        // without them there is the default storage of 256 sessions.
        config.ticketer = aws_lc_rs::Ticketer::new()?;
        Ok(Handshaker { config: Arc::new(config), limit: tls.handshake_limit })
    }

    /// Waits for the client's part of the handshake and counts how it ended; `None` if badly. Why
    /// is of no interest: clients that speak no TLS, or refuse the certificate, may.
    pub(crate) async fn shake<S>(&self, stream: S, counters: &Counters) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let shaking = TlsAcceptor::from(Arc::clone(&self.config)).accept(stream);
        let Ok(Ok(stream)) = tokio::time::timeout(self.limit, shaking).await else {
            counters.fail_handshake();
            return None;
        };
        match stream.get_ref().1.handshake_kind() {
            Some(HandshakeKind::Resumed) => counters.resume(),
            _ => counters.shake_in_full(),
        }
        Some(stream)
    }
}

/// A new key and a certificate for the names of this machine's loopback.
fn make() -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), rcgen::Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let names = ["localhost".into(), Ipv4Addr::LOCALHOST.to_string(), "::1".into()];
    let mut about = CertificateParams::new(names)?;
    about.distinguished_name.push(DnType::CommonName, "httperf serve");
    let certificate = about.self_signed(&key)?;
    Ok((certificate.into(), key.into()))
}

/// Some certificate, and whatever follows it.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    found
        .and_then(|all| if all.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(all) })
        .map_err(|error| unlike(path, "a certificate", &error))
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&read(path)?)
        .map_err(|error| unlike(path, "a private key that is not encrypted", &error))
}

/// More than any chain of certificates needs, and little enough for a file named by mistake.
const FILE_LIMIT: u64 = 1 << 20;

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_LIMIT + 1).read_to_end(&mut text))
        .and_then(|_| if text.len() as u64 > FILE_LIMIT { Err(too_large()) } else { Ok(()) })
        .map_err(|source| TlsError::Read { path: path.to_owned(), source })?;
    Ok(text)
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "larger than 1MiB, which no PEM file of a server is")
}

fn unlike(path: &Path, what: &'static str, error: &pem::Error) -> TlsError {
    let why = match error {
        pem::Error::NoItemsFound => "there is none in PEM form (-----BEGIN ...-----)".into(),
        pem::Error::MissingSectionEnd { .. } => "its -----END ...----- line is missing".into(),
        pem::Error::IllegalSectionStart { .. } => "its -----BEGIN ...----- line is damaged".into(),
        other => other.to_string(),
    };
    TlsError::Pem { path: path.to_owned(), what, why }
}
