//! The server's end of TLS in a simulation, through rustls, and what it has seen.

use std::io::Read;
use std::sync::{Arc, Mutex, OnceLock};

use httperf_engine::Secure;
use httperf_engine::sim::{Layer, Layers, Server};
use httperf_wire::{CertificateDer, TlsClient, TlsSpec};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use rustls::{HandshakeKind, ServerConfig, ServerConnection, SupportedProtocolVersion, version};

/// What the servers of a run have seen, all connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) full: u64,
    pub(crate) resumed: u64,
    /// Clients that said close_notify.
    pub(crate) polite: u64,
    /// Connections on which the client broke the protocol, or sent an alert.
    pub(crate) broken: u64,
}

/// A server's TLS. Its connections share tickets.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    seen: Arc<Mutex<Seen>>,
    /// It says close_notify.
    polite: bool,
}

pub(crate) const V12: &SupportedProtocolVersion = &version::TLS12;
pub(crate) const V13: &SupportedProtocolVersion = &version::TLS13;

/// A certificate and its key, made once.
fn papers() -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    static PAPERS: OnceLock<(CertificateDer<'static>, Vec<u8>)> = OnceLock::new();
    let (certificate, key) = PAPERS.get_or_init(|| {
        let made = rcgen::generate_simple_self_signed(["model".to_owned()]).expect("a certificate");
        (made.cert.der().clone(), made.signing_key.serialize_der())
    });
    (certificate.clone(), PrivateKeyDer::try_from(key.clone()).expect("a key"))
}

impl Tls {
    pub(crate) fn new(version: &'static SupportedProtocolVersion) -> Self {
        let (certificate, key) = papers();
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("a certificate and its key");
        config.ticketer = aws_lc_rs::Ticketer::new().expect("random bytes");
        Self { config: Arc::new(config), seen: Arc::default(), polite: true }
    }

    /// One that ends without close_notify.
    pub(crate) fn bare(self) -> Self {
        Self { polite: false, ..self }
    }

    /// A server that speaks it.
    pub(crate) fn before(&self, server: Server) -> Server {
        let tls = self.clone();
        let make = move || -> Box<dyn Layer> {
            let mut connection = ServerConnection::new(tls.config.clone()).expect("a connection");
            connection.set_buffer_limit(None);
            Box::new(End { connection, tls: tls.clone(), shaken: false, polite: false, broken: false })
        };
        Server::Behind(Layers::new(make), Box::new(server))
    }

    pub(crate) fn seen(&self) -> Seen {
        *self.seen.lock().expect("nobody panics with it")
    }
}

/// The client's TLS: it verifies nothing.
pub(crate) fn client(resume: bool) -> Option<Secure> {
    let client = TlsClient::new(&TlsSpec::new("model")).expect("a client");
    Some(Secure { clients: [client].into(), resume })
}

/// The server's end of one connection.
struct End {
    connection: ServerConnection,
    tls: Tls,
    shaken: bool,
    polite: bool,
    broken: bool,
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("End")
    }
}

impl End {
    fn drain(&mut self, down: &mut Vec<u8>) {
        while self.connection.wants_write() {
            self.connection.write_tls(down).expect("memory can be written");
        }
    }

    fn note(&mut self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.tls.seen.lock().expect("nobody panics with it"));
    }
}

impl Layer for End {
    fn receive(&mut self, mut bytes: &[u8], up: &mut Vec<u8>, down: &mut Vec<u8>) {
        while !bytes.is_empty() && !self.broken {
            let taken = self.connection.read_tls(&mut bytes);
            match taken.map_err(|_| ()).and_then(|_| self.connection.process_new_packets().map_err(|_| ())) {
                Ok(state) => {
                    let start = up.len();
                    up.resize(start + state.plaintext_bytes_to_read(), 0);
                    self.connection.reader().read_exact(&mut up[start..]).expect("they are there");
                    if state.peer_has_closed() && !self.polite {
                        self.polite = true;
                        self.note(|seen| seen.polite += 1);
                    }
                    if !self.shaken && !self.connection.is_handshaking() {
                        self.shaken = true;
                        match self.connection.handshake_kind() {
                            Some(HandshakeKind::Resumed) => self.note(|seen| seen.resumed += 1),
                            _ => self.note(|seen| seen.full += 1),
                        }
                    }
                    // What follows a close_notify is nothing.
                    if state.peer_has_closed() {
                        break;
                    }
                }
                Err(()) => {
                    self.broken = true;
                    self.note(|seen| seen.broken += 1);
                }
            }
        }
        self.drain(down);
    }

    fn send(&mut self, bytes: &[u8], down: &mut Vec<u8>) {
        use std::io::Write;
        self.connection.writer().write_all(bytes).expect("no limit is set");
        self.drain(down);
    }

    fn end(&mut self, down: &mut Vec<u8>) {
        if self.tls.polite {
            self.connection.send_close_notify();
            self.drain(down);
        }
    }
}

/// Does not speak TLS: it writes down what comes, and answers the first of it with this.
#[derive(Clone, Debug)]
pub(crate) struct Parrot {
    answer: &'static [u8],
    answered: bool,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Parrot {
    pub(crate) fn new(answer: &'static [u8]) -> Self {
        Self { answer, answered: false, heard: Arc::default() }
    }

    pub(crate) fn before(&self, server: Server) -> Server {
        let parrot = self.clone();
        Server::Behind(Layers::new(move || Box::new(parrot.clone())), Box::new(server))
    }

    /// The types of the records that came (RFC 8446 section 5.1), of connections one after the other.
    pub(crate) fn records(&self) -> Vec<u8> {
        let heard = self.heard.lock().expect("nobody panics with it");
        let (mut types, mut rest) = (Vec::new(), heard.as_slice());
        while let [kind, _, _, high, low, more @ ..] = rest {
            types.push(*kind);
            rest = more.get(usize::from(u16::from_be_bytes([*high, *low]))..).unwrap_or_default();
        }
        types
    }
}

impl Layer for Parrot {
    fn receive(&mut self, bytes: &[u8], _: &mut Vec<u8>, down: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.answered, true) {
            down.extend_from_slice(self.answer);
        }
        self.heard.lock().expect("nobody panics with it").extend_from_slice(bytes);
    }

    fn send(&mut self, bytes: &[u8], down: &mut Vec<u8>) {
        down.extend_from_slice(bytes);
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}
