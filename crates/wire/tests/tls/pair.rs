//! The two ends of a connection in one hand, and the papers they need.

use std::io::Read;
use std::sync::{Arc, OnceLock};

use httperf_wire::{CertificateDer, Identity, Tickets, Tls, TlsClient, TlsFault, TlsSpec, TlsTime, Verify};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion, version};

pub(crate) const NAME: &str = "server.example";
/// 2023-11-14; the certificates are valid in 2023 and 2024.
pub(crate) const NOW: u64 = 1_700_000_000;
pub(crate) const V12: &[&SupportedProtocolVersion] = &[&version::TLS12];
pub(crate) const V13: &[&SupportedProtocolVersion] = &[&version::TLS13];
pub(crate) const BOTH: &[&SupportedProtocolVersion] = &[&version::TLS13, &version::TLS12];

/// An authority and what it has signed.
pub(crate) struct Papers {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) root: CertificateDer<'static>,
}

/// A certificate and its key.
pub(crate) struct Leaf {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) pem: String,
    pub(crate) key: KeyPair,
}

pub(crate) fn papers() -> &'static Papers {
    static PAPERS: OnceLock<Papers> = OnceLock::new();
    PAPERS.get_or_init(|| Papers::new("authority"))
}

impl Papers {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), root }
    }

    pub(crate) fn leaf(&self, name: &str, usage: ExtendedKeyUsagePurpose) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2023, 1, 1), date_time_ymd(2025, 1, 1));
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Leaf { certificate: certificate.der().clone(), pem: certificate.pem(), key }
    }
}

impl Leaf {
    pub(crate) fn for_server(name: &str) -> Self {
        papers().leaf(name, ExtendedKeyUsagePurpose::ServerAuth)
    }

    pub(crate) fn for_client() -> Self {
        papers().leaf("client.example", ExtendedKeyUsagePurpose::ClientAuth)
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity { certificates: self.pem.clone().into(), key: self.key.serialize_pem().into() }
    }
}

/// How a server is made.
pub(crate) struct Setup {
    pub(crate) versions: &'static [&'static SupportedProtocolVersion],
    pub(crate) groups: Vec<&'static dyn SupportedKxGroup>,
    pub(crate) leaf: Leaf,
    pub(crate) asks_client: bool,
    pub(crate) time: TlsTime,
}

impl Setup {
    pub(crate) fn new(versions: &'static [&'static SupportedProtocolVersion]) -> Self {
        let groups = aws_lc_rs::ALL_KX_GROUPS.to_vec();
        let leaf = Leaf::for_server(NAME);
        Self { versions, groups, leaf, asks_client: false, time: TlsTime::at(NOW) }
    }

    pub(crate) fn config(self) -> ServerConfig {
        let provider = CryptoProvider { kx_groups: self.groups, ..aws_lc_rs::default_provider() };
        let provider = Arc::new(provider);
        let builder = ServerConfig::builder_with_details(provider.clone(), Arc::new(self.time))
            .with_protocol_versions(self.versions)
            .unwrap();
        let builder = if self.asks_client {
            let mut roots = RootCertStore::empty();
            roots.add(papers().root.clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(self.leaf.key.serialize_der()).unwrap();
        builder.with_single_cert(vec![self.leaf.certificate], key).unwrap()
    }

    pub(crate) fn arc(self) -> Arc<ServerConfig> {
        Arc::new(self.config())
    }
}

/// A client's spec that verifies nothing, at the time that is.
pub(crate) fn spec() -> TlsSpec {
    TlsSpec { time: Some(TlsTime::at(NOW)), ..TlsSpec::new(NAME) }
}

/// One that verifies.
pub(crate) fn verifying() -> TlsSpec {
    TlsSpec { verify: Verify::Roots(vec![papers().root.clone()]), ..spec() }
}

/// How the server's bytes are cut for the client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    Whole,
    Bytes,
    /// The flight of that number in two, after so many bytes.
    At(usize, usize),
}

pub(crate) struct Pair {
    pub(crate) client: Tls,
    pub(crate) server: ServerConnection,
    /// What the client has read.
    pub(crate) plain: Vec<u8>,
    /// What the server has read.
    pub(crate) heard: Vec<u8>,
    /// Sizes of the server's flights so far.
    pub(crate) flights: Vec<usize>,
    /// What went wrong with the server.
    pub(crate) server_error: Option<rustls::Error>,
}

impl Pair {
    pub(crate) fn new(client: &TlsClient, server: &Arc<ServerConfig>, tickets: Option<&Tickets>) -> Self {
        Self {
            client: client.connect(tickets).unwrap(),
            server: ServerConnection::new(server.clone()).unwrap(),
            plain: Vec::new(),
            heard: Vec::new(),
            flights: Vec::new(),
            server_error: None,
        }
    }

    /// A pair that has shaken hands.
    pub(crate) fn shaken(client: &TlsClient, server: &Arc<ServerConfig>, tickets: Option<&Tickets>) -> Self {
        let mut pair = Self::new(client, server, tickets);
        pair.run(Cut::Whole).unwrap();
        assert!(pair.client.is_ready() && !pair.server.is_handshaking());
        pair
    }

    /// Carries bytes until nobody has any.
    pub(crate) fn run(&mut self, cut: Cut) -> Result<(), TlsFault> {
        loop {
            let to_server = self.client.outgoing().len();
            self.carry();
            let flight = self.flight();
            if to_server == 0 && flight.is_empty() {
                return Ok(());
            }
            self.deliver(&flight, cut)?;
        }
    }

    /// Carries what the client has outgoing to the server.
    pub(crate) fn carry(&mut self) {
        let bytes = self.client.outgoing().to_vec();
        self.client.sent(bytes.len());
        let mut rest = &bytes[..];
        while !rest.is_empty() && self.server_error.is_none() {
            self.server.read_tls(&mut rest).unwrap();
            match self.server.process_new_packets() {
                Ok(state) => {
                    let start = self.heard.len();
                    self.heard.resize(start + state.plaintext_bytes_to_read(), 0);
                    self.server.reader().read_exact(&mut self.heard[start..]).unwrap();
                }
                Err(error) => self.server_error = Some(error),
            }
        }
    }

    /// What the server has outgoing.
    pub(crate) fn flight(&mut self) -> Vec<u8> {
        let mut flight = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut flight).unwrap();
        }
        flight
    }

    pub(crate) fn deliver(&mut self, flight: &[u8], cut: Cut) -> Result<(), TlsFault> {
        if flight.is_empty() {
            return Ok(());
        }
        let number = self.flights.len();
        self.flights.push(flight.len());
        let (client, plain) = (&mut self.client, &mut self.plain);
        match cut {
            Cut::Bytes => flight.chunks(1).try_for_each(|byte| client.receive(byte, plain)),
            Cut::At(at, after) if at == number => {
                let (head, tail) = flight.split_at(after.min(flight.len()));
                client.receive(head, plain).and_then(|()| client.receive(tail, plain))
            }
            Cut::Whole | Cut::At(..) => client.receive(flight, plain),
        }
    }
}

/// Bytes that are not all alike.
pub(crate) fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}
