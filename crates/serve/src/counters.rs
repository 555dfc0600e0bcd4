//! What the server has seen so far.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a server has counted since its start. Each figure is exact; between them there is no
/// common instant while calls are in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted, before any handshake.
    pub connections: u64,
    /// Calls of `accept` that failed, for example because the process is out of descriptors.
    pub accept_failures: u64,
    /// TLS handshakes with certificate and signature.
    pub handshakes_full: u64,
    /// TLS handshakes that took up an earlier one.
    pub handshakes_resumed: u64,
    /// Connections that ended, or were dropped, before their TLS handshake was done: clients that
    /// speak no TLS, refuse the certificate, leave, or take too long. Those cut off by the
    /// server's own stop are in none of the three.
    pub handshakes_failed: u64,
    /// Requests whose head has been read.
    pub arrived: u64,
    /// Replies given whole to the connection. A reply is counted just before its last byte goes to
    /// the socket, so a client that holds a whole reply finds it counted. HTTP errors found before
    /// there is a request (a head that does not parse) are in neither count.
    pub served: u64,
    /// Bytes of request bodies taken in, without the framing of chunks.
    pub body_bytes: u64,
    /// Bytes given to the sockets: heads, bodies, framing, TLS. They are counted just after they
    /// went.
    pub sent_bytes: u64,
}

impl Counts {
    /// One line of JSON, what `/stats` answers. Its keys are the names of the fields but for
    /// `requests` ([`arrived`](Counts::arrived)) and `replies` ([`served`](Counts::served)).
    pub fn to_json(&self) -> String {
        let rows = [
            ("connections", self.connections),
            ("accept_failures", self.accept_failures),
            ("handshakes_full", self.handshakes_full),
            ("handshakes_resumed", self.handshakes_resumed),
            ("handshakes_failed", self.handshakes_failed),
            ("requests", self.arrived),
            ("replies", self.served),
            ("body_bytes", self.body_bytes),
            ("sent_bytes", self.sent_bytes),
        ];
        // Names without quotes and whole numbers: there is nothing to escape.
        let members = rows.map(|(name, count)| format!("\"{name}\":{count}"));
        format!("{{{}}}\n", members.join(","))
    }
}

/// The same figures while they grow. Nothing is ordered by them, so every access is relaxed.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    connections: AtomicU64,
    accept_failures: AtomicU64,
    handshakes_full: AtomicU64,
    handshakes_resumed: AtomicU64,
    handshakes_failed: AtomicU64,
    arrived: AtomicU64,
    served: AtomicU64,
    body_bytes: AtomicU64,
    sent_bytes: AtomicU64,
}

impl Counters {
    pub(crate) fn accept(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    pub(crate) fn fail_to_accept(&self) {
        self.accept_failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn shake_in_full(&self) {
        self.handshakes_full.fetch_add(1, Relaxed);
    }

    pub(crate) fn resume(&self) {
        self.handshakes_resumed.fetch_add(1, Relaxed);
    }

    pub(crate) fn fail_handshake(&self) {
        self.handshakes_failed.fetch_add(1, Relaxed);
    }

    /// Counts a request and returns how many came before it.
    pub(crate) fn arrive(&self) -> u64 {
        self.arrived.fetch_add(1, Relaxed)
    }

    pub(crate) fn serve(&self) {
        self.served.fetch_add(1, Relaxed);
    }

    pub(crate) fn take_in(&self, bytes: usize) {
        self.body_bytes.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn send(&self, bytes: usize) {
        self.sent_bytes.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn served(&self) -> u64 {
        self.served.load(Relaxed)
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            connections: self.connections.load(Relaxed),
            accept_failures: self.accept_failures.load(Relaxed),
            handshakes_full: self.handshakes_full.load(Relaxed),
            handshakes_resumed: self.handshakes_resumed.load(Relaxed),
            handshakes_failed: self.handshakes_failed.load(Relaxed),
            arrived: self.arrived.load(Relaxed),
            served: self.served(),
            body_bytes: self.body_bytes.load(Relaxed),
            sent_bytes: self.sent_bytes.load(Relaxed),
        }
    }
}
