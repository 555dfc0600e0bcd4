//! What a session remembers of the server, so that its later connections need no full handshake.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::client::{ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, NamedGroup};

/// At most so many tickets of TLS 1.3 are kept, the newest: servers send two with a full handshake and one
/// with a resumed one, and each can be used once (RFC 8446 appendix C.4).
const TICKETS: usize = 2;

/// A store for the tickets of one session. Clones are the same store. It belongs to the
/// [`TlsClient`](super::TlsClient) that made it: a connection with these tickets speaks that client's TLS.
///
/// Of TLS 1.3 the two newest tickets are kept, and each resumes one connection: a session that opens three
/// connections before the first of them has brought new tickets shakes hands in full on the third. Of TLS 1.2
/// the last session is kept, by ticket (RFC 5077) or session id, and resumes any number.
#[derive(Clone)]
pub struct Tickets {
    /// The client's configuration with this store in it: rustls has no other place for one.
    pub(super) config: Arc<ClientConfig>,
}

impl Tickets {
    /// A copy of the configuration shares all its big parts with the original: a dozen reference counts.
    pub(super) fn new(config: &ClientConfig) -> Self {
        let mut config = config.clone();
        config.resumption = Resumption::store(Arc::<Store>::default());
        Self { config: Arc::new(config) }
    }
}

impl std::fmt::Debug for Tickets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tickets").finish_non_exhaustive()
    }
}

/// rustls's own store keeps eight tickets a server, by name. One client has one server.
#[derive(Debug, Default)]
struct Store(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    group: Option<NamedGroup>,
    // Both are large, and most sessions have one of the two.
    tls12: Option<Box<Tls12ClientSessionValue>>,
    /// Oldest first.
    tls13: VecDeque<Tls13ClientSessionValue>,
}

impl Store {
    /// Whatever panicked with the lock held, what is kept is whole: every change is one assignment.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for Store {
    fn set_kx_hint(&self, _server: ServerName<'static>, group: NamedGroup) {
        self.kept().group = Some(group);
    }

    fn kx_hint(&self, _server: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept().group
    }

    fn set_tls12_session(&self, _server: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.kept().tls12 = Some(Box::new(value));
    }

    fn tls12_session(&self, _server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.kept().tls12.as_deref().cloned()
    }

    fn remove_tls12_session(&self, _server: &ServerName<'static>) {
        self.kept().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _server: ServerName<'static>, value: Tls13ClientSessionValue) {
        let tickets = &mut self.kept().tls13;
        if tickets.len() == TICKETS {
            tickets.pop_front();
        }
        tickets.reserve_exact(1);
        tickets.push_back(value);
    }

    fn take_tls13_ticket(&self, _server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.kept().tls13.pop_back()
    }
}
