//! What the server has seen so far.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a server has counted since its start. Each figure is exact; between them there is no
/// common instant while calls are in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests whose head has been read.
    pub arrived: u64,
    /// Replies given whole to the connection. A reply is counted just before its last byte goes to
    /// the socket, so a client that holds a whole reply finds it counted. HTTP errors found before
    /// there is a request (a head that does not parse) are in neither count.
    pub served: u64,
    /// Bytes of request bodies taken in, without the framing of chunks.
    pub body_bytes: u64,
    /// Calls of `accept` that failed, for example because the process is out of descriptors.
    pub accept_failures: u64,
}

/// The same figures while they grow. Nothing is ordered by them, so every access is relaxed.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    arrived: AtomicU64,
    served: AtomicU64,
    body_bytes: AtomicU64,
    accept_failures: AtomicU64,
}

impl Counters {
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

    pub(crate) fn fail_to_accept(&self) {
        self.accept_failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn served(&self) -> u64 {
        self.served.load(Relaxed)
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            arrived: self.arrived.load(Relaxed),
            served: self.served(),
            body_bytes: self.body_bytes.load(Relaxed),
            accept_failures: self.accept_failures.load(Relaxed),
        }
    }
}
