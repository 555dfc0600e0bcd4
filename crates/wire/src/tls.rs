//! The client side of TLS 1.2 and 1.3 as a pure machine over rustls: bytes in, plain text and answers out.
//!
//! ```text
//!   TlsSpec --TlsClient::new--> TlsClient --connect--> Tls                (once a run; once a connection)
//!
//!   bytes from the socket --Tls::receive--> plain text                    (appended to the caller's)
//!                                       \-> outgoing: handshake, alerts   (to be written; see `sent`)
//!   plain text            --Tls::encrypt--> outgoing
//! ```
//!
//! The key exchange groups are fixed: X25519, then secp256r1 and secp384r1. The post-quantum hybrid
//! X25519MLKEM768 is not offered: it costs the client CPU time and 2 KiB a handshake, and what is under test
//! is the server.

mod ciphers;
mod client;
mod connection;
mod error;
mod fault;
mod pem;
mod spec;
mod tickets;
mod time;
mod unverified;

pub use ciphers::Ciphers;
pub use client::TlsClient;
pub use connection::{Tls, TlsFacts};
pub use error::TlsError;
pub use fault::{Alert, CertificateFault, TlsFault};
pub use pem::{certificates_from_pem, key_from_pem};
pub use rustls::pki_types::{CertificateDer, PrivateKeyDer};
pub use spec::{Identity, TlsSpec, TlsVersions, Verify};
pub use tickets::Tickets;
pub use time::TlsTime;
