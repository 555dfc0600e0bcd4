//! Small servers that speak TLS, or do not, and the papers they show.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

pub(crate) const NAME: &str = "server.example";
pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
pub(crate) const TO_END: &str = "HTTP/1.1 200 OK\r\n\r\nhello";

/// A server that does `script` on each connection, in a thread of its own.
pub(crate) fn serve(script: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = Arc::new(script);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, script) = (stream.unwrap(), script.clone());
            std::thread::spawn(move || script(&mut stream));
        }
    });
    port
}

/// An authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
    pub(crate) pem: String,
}

/// A certificate and its key.
pub(crate) struct Leaf {
    certificate: CertificateDer<'static>,
    key: KeyPair,
    pub(crate) pem: String,
}

/// What a certificate says.
#[derive(Clone, Copy)]
pub(crate) struct Says {
    pub(crate) name: &'static str,
    /// From the first day of one year to that of another.
    pub(crate) years: (i32, i32),
    pub(crate) for_clients: bool,
}

/// One that everybody should accept.
pub(crate) const GOOD: Says = Says { name: NAME, years: (2000, 2100), for_clients: false };

impl Says {
    fn params(self) -> CertificateParams {
        let mut params = CertificateParams::new([self.name.to_owned()]).unwrap();
        (params.not_before, params.not_after) =
            (date_time_ymd(self.years.0, 1, 1), date_time_ymd(self.years.1, 1, 1));
        params.extended_key_usages = vec![if self.for_clients {
            ExtendedKeyUsagePurpose::ClientAuth
        } else {
            ExtendedKeyUsagePurpose::ServerAuth
        }];
        params
    }

    pub(crate) fn self_signed(self) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let certificate = self.params().self_signed(&key).unwrap();
        Leaf { certificate: certificate.der().clone(), pem: certificate.pem(), key }
    }
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap();
        Self { root: root.der().clone(), pem: root.pem(), issuer: Issuer::new(params, key) }
    }

    pub(crate) fn sign(&self, says: Says) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let certificate = says.params().signed_by(&key, &self.issuer).unwrap();
        Leaf { certificate: certificate.der().clone(), pem: certificate.pem(), key }
    }
}

impl Leaf {
    /// Writes certificate and key to one file.
    pub(crate) fn write(&self, path: &Path) {
        std::fs::write(path, self.pem.clone() + &self.key.serialize_pem()).unwrap();
    }

    /// A server that shows this certificate and answers every request with `reply`.
    pub(crate) fn server(&self, reply: &'static str) -> Tls {
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).unwrap();
        Tls { chain: vec![self.certificate.clone()], key, reply, polite: true, last: false, clients: None }
    }
}

/// A server that speaks TLS.
pub(crate) struct Tls {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    reply: &'static str,
    /// It says close_notify.
    polite: bool,
    /// It ends the connection after its first reply.
    last: bool,
    clients: Option<CertificateDer<'static>>,
}

impl Tls {
    /// Clients must show a certificate of this authority.
    pub(crate) fn demanding(self, authority: &Authority) -> Self {
        Self { clients: Some(authority.root.clone()), ..self }
    }

    /// It ends connections after their first reply, with close_notify or without.
    pub(crate) fn ending(self, polite: bool) -> Self {
        Self { polite, last: true, ..self }
    }

    /// Its port, and the names that clients ask for.
    pub(crate) fn start(self) -> (u16, Arc<Mutex<Vec<Option<String>>>>) {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone());
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = match self.clients {
            None => builder.with_no_client_auth(),
            Some(root) => {
                let mut roots = RootCertStore::empty();
                roots.add(root).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let config = Arc::new(builder.with_single_cert(self.chain, self.key).unwrap());
        let names = Arc::new(Mutex::new(Vec::new()));
        let heard = names.clone();
        let (reply, polite, last) = (self.reply, self.polite, self.last);
        let port = serve(move |stream| {
            let mut tls = ServerConnection::new(config.clone()).unwrap();
            if tls.complete_io(stream).is_err() {
                return;
            }
            heard.lock().unwrap().push(tls.server_name().map(str::to_owned));
            loop {
                let mut session = rustls::Stream::new(&mut tls, stream);
                let (mut seen, mut byte) = (Vec::new(), [0]);
                while !seen.ends_with(b"\r\n\r\n") {
                    match session.read(&mut byte) {
                        Ok(1) => seen.push(byte[0]),
                        _ => return,
                    }
                }
                session.write_all(reply.as_bytes()).unwrap();
                if last {
                    break;
                }
            }
            if polite {
                tls.send_close_notify();
                let _ = tls.complete_io(stream);
            }
        });
        (port, names)
    }
}
