//! The server over TLS, with a client that is not ours.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod client;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use client::{Client, config, connect, until};
use httperf_serve::{Config, Identity, Server, Tls, TlsVersion};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, HandshakeKind, ProtocolVersion};
use rustls::{RootCertStore, SignatureScheme, StreamOwned};
use tokio_rustls::rustls;

type TlsClient = Client<StreamOwned<ClientConnection, std::net::TcpStream>>;

fn tls_server(tls: Tls) -> Server {
    Server::start(Config { tls: Some(tls), ..config() }).unwrap()
}

/// Takes any certificate, but not a signature that is wrong.
#[derive(Debug)]
struct Anyone(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

/// A client that takes any certificate.
fn anyone() -> ClientConfig {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(Anyone(provider.signature_verification_algorithms));
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// A client that takes this certificate and no other, and only under the name it asked for.
fn trusting(certificate: CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

fn tls_connect(server: &Server, config: &Arc<ClientConfig>, name: &str) -> TlsClient {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::clone(config), name).unwrap();
    Client::over(StreamOwned::new(connection, connect(server)))
}

fn kind(client: &TlsClient) -> Option<HandshakeKind> {
    client.stream().conn.handshake_kind()
}

#[test]
fn https_is_http_in_tls() {
    let server = tls_server(Tls::default());
    let mut client = tls_connect(&server, &Arc::new(anyone()), "localhost");
    assert_eq!(client.get("/bytes/1MiB").body.len(), 1 << 20);
    assert_eq!(client.get("/status/404").status, 404);
    let tls = &client.stream().conn;
    assert_eq!(tls.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    assert_eq!(tls.alpn_protocol(), Some(&b"http/1.1"[..]));
    let counts = server.stop();
    assert_eq!((counts.connections, counts.handshakes_full, counts.served), (1, 1, 2));
    // The records of TLS come on top.
    assert!(counts.sent_bytes > 1 << 20);
}

#[test]
fn a_version_can_be_the_last() {
    let server = tls_server(Tls { max_version: TlsVersion::V1_2, ..Tls::default() });
    let mut client = tls_connect(&server, &Arc::new(anyone()), "localhost");
    assert_eq!(client.get("/").status, 200);
    assert_eq!(client.stream().conn.protocol_version(), Some(ProtocolVersion::TLSv1_2));
}

#[test]
fn the_certificate_it_makes_is_for_its_names() {
    let server = tls_server(Tls::default());
    let mut first = tls_connect(&server, &Arc::new(anyone()), "localhost");
    first.get("/");
    let shown = first.stream().conn.peer_certificates().unwrap()[0].clone().into_owned();
    let config = Arc::new(trusting(shown));
    for name in ["localhost", "127.0.0.1", "::1"] {
        assert_eq!(tls_connect(&server, &config, name).get("/").status, 200, "{name}");
    }
    let mut wrong = tls_connect(&server, &config, "example.org").into_stream();
    assert!(wrong.write_all(b"GET").is_err());
    until(|| server.counts().handshakes_failed == 1);
}

#[test]
fn handshakes_are_resumed_and_counted() {
    for max_version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        let server = tls_server(Tls { max_version, ..Tls::default() });
        let config = Arc::new(anyone());
        for round in 0..3 {
            let mut client = tls_connect(&server, &config, "localhost");
            client.get("/");
            let expected = if round == 0 { HandshakeKind::Full } else { HandshakeKind::Resumed };
            assert_eq!(kind(&client), Some(expected), "{max_version:?}");
        }
        let mut forgetful = anyone();
        forgetful.resumption = Resumption::disabled();
        let forgetful = Arc::new(forgetful);
        for _ in 0..2 {
            tls_connect(&server, &forgetful, "localhost").get("/");
        }
        let counts = server.stop();
        assert_eq!((counts.handshakes_full, counts.handshakes_resumed), (3, 2), "{max_version:?}");
        assert_eq!((counts.handshakes_failed, counts.connections), (0, 5));
    }
}

#[test]
fn who_speaks_no_tls_is_dropped_and_the_others_are_served() {
    let server = tls_server(Tls::default());
    let mut steady = tls_connect(&server, &Arc::new(anyone()), "localhost");
    steady.get("/");
    // One that stays and says nothing is in nobody's way.
    let silent = connect(&server);
    for (number, bytes) in
        ["GET / HTTP/1.1\r\nHost: t\r\n\r\n", "\0\0\0\0\0\0", "\x16\x03\x01"].iter().enumerate()
    {
        let mut plain = connect(&server);
        plain.write_all(bytes.as_bytes()).unwrap();
        plain.shutdown(std::net::Shutdown::Write).unwrap();
        let mut client = Client::over(plain);
        // At most an alert (RFC 8446, section 6): nothing that could be taken for a reply.
        assert!(client.rest().len() <= 7);
        until(|| server.counts().handshakes_failed == number as u64 + 1);
        assert_eq!(steady.get("/").status, 200);
        assert_eq!(tls_connect(&server, &Arc::new(anyone()), "localhost").get("/").status, 200);
    }
    // Another protocol than HTTP/1.1 is refused (RFC 7301, section 3.2).
    let mut other = anyone();
    other.alpn_protocols = vec![b"h2".to_vec()];
    assert!(tls_connect(&server, &Arc::new(other), "localhost").into_stream().write_all(b"x").is_err());
    drop(silent);
    until(|| server.counts().handshakes_failed == 5);
    assert_eq!(server.stop().handshakes_full, 4);
}

#[test]
fn a_handshake_has_a_limit() {
    let server = tls_server(Tls { handshake_limit: Duration::from_millis(20), ..Tls::default() });
    Client::connect(&server).assert_closed();
    until(|| server.counts().handshakes_failed == 1);
}

#[test]
fn unannounced_ends_look_the_same_over_tls() {
    let server = tls_server(Tls::default());
    let config = Arc::new(anyone());
    let mut client = tls_connect(&server, &config, "localhost");
    assert_eq!(client.get("/idle-close").field("connection"), None);
    client.assert_closed();

    let mut lost = tls_connect(&server, &config, "localhost");
    lost.send("GET /lost?every=1 HTTP/1.1\r\nHost: t\r\n\r\n");
    let mut end = Vec::new();
    let error = std::io::Read::read_to_end(&mut lost.into_stream(), &mut end).unwrap_err();
    assert_eq!((error.kind(), end.len()), (std::io::ErrorKind::UnexpectedEof, 0));
}

#[test]
fn a_stop_ends_tls_connections_in_order() {
    let server =
        Server::start(Config { grace: Duration::from_secs(60), tls: Some(Tls::default()), ..config() })
            .unwrap();
    let config = Arc::new(anyone());
    let mut handshaking = Client::connect(&server);
    let mut idle = tls_connect(&server, &config, "localhost");
    idle.get("/");
    let mut late = tls_connect(&server, &config, "localhost");
    late.send("GET /delay/300ms HTTP/1.1\r\nHost: t\r\n\r\n");
    until(|| server.counts().arrived == 2);
    let stopping = thread::spawn(move || server.stop());
    handshaking.assert_closed();
    // Both with a close_notify, or reading to the end would fail.
    idle.assert_closed();
    assert_eq!(late.reply().text(), "late\n");
    late.assert_closed();
    let counts = stopping.join().unwrap();
    assert_eq!((counts.served, counts.handshakes_failed), (2, 0));
}

/// A certificate for `own.example` and its key, in PEM form.
fn pair() -> (String, String, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["own.example".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem(), made.cert.der().clone())
}

fn files(certificate: &Path, key: &Path) -> Tls {
    let identity = Identity::Files { certificate: certificate.to_owned(), key: key.to_owned() };
    Tls { identity, ..Tls::default() }
}

#[test]
fn a_certificate_of_ones_own_is_the_one_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key, shown) = pair();
    let both = folder.path().join("both.pem");
    fs::write(&both, certificate + &key).unwrap();
    let server = tls_server(files(&both, &both));
    assert_eq!(tls_connect(&server, &Arc::new(trusting(shown)), "own.example").get("/").status, 200);
}

#[test]
fn files_that_will_not_do_are_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (certificate, key, _) = pair();
    let good = (file("cert.pem", &certificate), file("key.pem", &key));
    let other = file("other.pem", &pair().1);
    let cut = file("cut.pem", &certificate[..certificate.len() / 2]);
    let hollow = file("hollow.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let large = file("large.pem", &"x".repeat((1 << 20) + 1));
    let missing = folder.path().join("missing.pem");
    for (certificate, key, said) in [
        (&missing, &good.1, "read {}/missing.pem: No such file or directory (os error 2)"),
        (&good.0, &missing, "read {}/missing.pem: No such file or directory (os error 2)"),
        (&large, &good.1, "read {}/large.pem: larger than 1MiB, which no PEM file of a server is"),
        (
            &good.1,
            &good.1,
            "find a certificate in {}/key.pem: there is none in PEM form (-----BEGIN ...-----)",
        ),
        (
            &good.0,
            &good.0,
            "find a private key that is not encrypted in {}/cert.pem: there is none in PEM form (-----BEGIN ...-----)",
        ),
        (&cut, &good.1, "find a certificate in {}/cut.pem: its -----END ...----- line is missing"),
        (
            &good.0,
            &other,
            "use the certificate of {}/cert.pem with the key of {}/other.pem: keys may not be consistent: KeyMismatch",
        ),
        (
            &hollow,
            &good.1,
            "use the certificate of {}/hollow.pem with the key of {}/key.pem: invalid peer certificate: BadEncoding",
        ),
    ] {
        let tls = Some(files(certificate, key));
        let error = Server::start(Config { tls, ..config() }).unwrap_err();
        let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
        let expected = said.replace("{}", folder.path().to_str().unwrap());
        assert_eq!(format!("{error}{cause}"), expected);
    }
}
