//! The TLS client, tested as a dialogue with rustls's server: no socket, a time that stands still.

#![allow(clippy::unwrap_used)]

mod certificates;
mod faults;
mod handshake;
mod pair;
mod resumption;
mod traffic;
