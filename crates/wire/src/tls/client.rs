//! The TLS of one run: from what was asked for to what every connection starts from.

use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};
use rustls::{ClientConfig, Error, KeyLogFile, RootCertStore};

use super::unverified::Unverified;
use super::{Tickets, Tls, TlsError, TlsSpec, Verify, certificates_from_pem, ciphers, key_from_pem};

/// What TLS a run speaks: built once, shared by all its threads. A clone is two reference counts.
#[derive(Clone, Debug)]
pub struct TlsClient {
    /// Without a store for tickets.
    config: Arc<ClientConfig>,
    server: Arc<Server>,
}

#[derive(Debug)]
struct Server {
    name: ServerName<'static>,
    is_verified: bool,
    roots_skipped: usize,
}

impl TlsClient {
    /// # Errors
    /// What in the `spec` cannot be had.
    pub fn new(spec: &TlsSpec) -> Result<Self, TlsError> {
        let name = ServerName::try_from(spec.server_name.clone())
            .map_err(|_| TlsError::ServerName(spec.server_name.clone()))?;
        let provider = Arc::new(CryptoProvider {
            cipher_suites: ciphers::select(spec.ciphers.as_ref(), spec.versions)?,
            kx_groups: vec![
                aws_lc_rs::kx_group::X25519,
                aws_lc_rs::kx_group::SECP256R1,
                aws_lc_rs::kx_group::SECP384R1,
            ],
            ..aws_lc_rs::default_provider()
        });
        let (verifier, roots_skipped) = verifier(&spec.verify, &provider)?;
        let time: Arc<dyn TimeProvider> = match &spec.time {
            Some(time) => Arc::new(time.clone()),
            None => Arc::new(DefaultTimeProvider),
        };
        let builder = ClientConfig::builder_with_details(provider, time)
            .with_protocol_versions(ciphers::offered(spec.versions))
            .map_err(|error| TlsError::Setup(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &spec.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let chain = certificates_from_pem(&identity.certificates)?;
                builder.with_client_auth_cert(chain, key_from_pem(&identity.key)?).map_err(|error| {
                    match error {
                        Error::InconsistentKeys(_) => TlsError::KeyMismatch,
                        error => TlsError::Identity(error.to_string()),
                    }
                })?
            }
        };
        config.resumption = Resumption::disabled();
        config.alpn_protocols.clone_from(&spec.alpn);
        if spec.keylog {
            config.key_log = Arc::new(KeyLogFile::new());
        }
        let is_verified = !matches!(spec.verify, Verify::No);
        let client =
            Self { config: Arc::new(config), server: Arc::new(Server { name, is_verified, roots_skipped }) };
        // The first ClientHello of a process takes tens of milliseconds (the random generator tests itself):
        // not in the time of the first connection.
        client.connect(None)?;
        Ok(client)
    }

    /// The client side of one connection; its ClientHello is outgoing at once. With `tickets` (of this
    /// client) sessions are resumed from, and kept in, that store; without, every handshake is a full one.
    ///
    /// # Errors
    /// The system gives no random bytes, or its clock shows no time.
    pub fn connect(&self, tickets: Option<&Tickets>) -> Result<Tls, TlsError> {
        let config = tickets.map_or(&self.config, |tickets| &tickets.config);
        let connection = UnbufferedClientConnection::new(config.clone(), self.server.name.clone());
        let connection = connection.map_err(|error| TlsError::Setup(error.to_string()))?;
        Tls::new(connection).map_err(|fault| TlsError::Setup(fault.to_string()))
    }

    /// A store for the tickets of one session: at most two.
    #[must_use]
    pub fn tickets(&self) -> Tickets {
        Tickets::new(&self.config)
    }

    /// Whether the server's certificate is checked.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.server.is_verified
    }

    /// How many of the roots given cannot be used, because they are no certificates or of a kind rustls does
    /// not read. Systems have some; in a file that somebody has named they are worth a word.
    #[must_use]
    pub fn roots_skipped(&self) -> usize {
        self.server.roots_skipped
    }
}

/// Who checks the server's certificate, and how many roots are of no use to that.
fn verifier(
    verify: &Verify,
    provider: &Arc<CryptoProvider>,
) -> Result<(Arc<dyn ServerCertVerifier>, usize), TlsError> {
    let Verify::Roots(certificates) = verify else { return Ok((Arc::new(Unverified), 0)) };
    let mut roots = RootCertStore::empty();
    let (_, skipped) =
        roots.add_parsable_certificates(certificates.iter().map(|root| CertificateDer::from(root.as_ref())));
    if roots.is_empty() {
        return Err(TlsError::NoRoots(certificates.len()));
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    Ok((verifier.map_err(|error| TlsError::Setup(error.to_string()))?, skipped))
}
