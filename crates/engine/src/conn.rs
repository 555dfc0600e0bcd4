//! Connections and calls: what is known of each, and its stamps.

use httperf_wire::{Fault, H1, Tls, TlsFacts, TlsFault};

use crate::object::{CallId, Id, SessionId};
use crate::request::RequestId;
use crate::time::Time;

/// One connection.
///
/// ```text
///   Opening --socket--> Connecting ---connected---> Open --close, failure--> Closed
///      |                  |    |                     ^                        ^
///      |                  |    +--TLS--> Securing ---+                        |
///      |                  |                 |                                 |
///      +------------------+-----------------+------------ failure ------------+
/// ```
#[derive(Debug)]
pub struct Conn {
    /// When it was due: the arrival's time, or when its slot became free.
    pub due: Time,
    /// Just before connect(2); [`Time::NEVER`] without a socket.
    pub created: Time,
    /// When the peer was reached: TCP was there, and a TLS handshake could begin; [`Time::NEVER`] before.
    pub reached: Time,
    /// When it could carry calls; [`Time::NEVER`] before.
    pub connected: Time,
    /// The session it belongs to; `SessionId::NONE` if to none.
    pub session: SessionId,
    /// Complete replies.
    pub replies: u32,
    /// What the workload wanted to remember.
    pub token: u32,
    /// The number of its target in the scenario.
    pub target: u32,
    /// How the server broke the protocol, if it did.
    pub fault: Option<Broken>,
    pub(crate) tls: Option<Box<Tls>>,
    pub(crate) state: State,
    pub(crate) flags: Flags,
    pub(crate) machine: H1,
    pub(crate) queue: Queue,
    /// When the watchdog bites; [`Time::NEVER`] if it sleeps.
    pub(crate) deadline: Time,
    /// The time under which the watchdog has this connection in its queue; [`Time::NEVER`] if it has not.
    pub(crate) watched: Time,
}

impl Conn {
    /// What its TLS handshake has settled; `None` before, and without TLS.
    pub fn tls(&self) -> Option<TlsFacts> {
        self.tls.as_ref().and_then(|tls| tls.facts())
    }

    /// It has had replies and nothing is outstanding.
    pub(crate) fn is_idle(&self) -> bool {
        self.state == State::Open && self.queue.len == 0 && self.replies > 0
    }
}

/// How the peer broke a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// HTTP. The text completes "the server sent ...".
    #[error(transparent)]
    Http(#[from] Fault),
    /// TLS. The text is a sentence.
    #[error(transparent)]
    Tls(#[from] TlsFault),
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Opening,
    Connecting,
    Securing,
    Open,
    Closed,
}

/// What else is known of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// A reply has begun and is not complete.
    pub(crate) receiving: bool,
    /// The header section of the reply at hand is complete; kept only where somebody wants its bytes.
    pub(crate) headed: bool,
    /// The oldest unsent call is encrypted, and among the outgoing bytes of TLS.
    pub(crate) encrypted: bool,
    /// The kernel has not taken all that TLS had outgoing.
    pub(crate) blocked: bool,
    /// The peer has ended the stream while no call was outstanding.
    pub(crate) ended: bool,
}

/// The outstanding calls of a connection, oldest first: a list through the calls themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// The oldest call without a complete reply.
    pub(crate) first: CallId,
    /// The oldest call that is not fully sent.
    pub(crate) unsent: CallId,
    /// The youngest call.
    pub(crate) last: CallId,
    /// How many there are.
    pub(crate) len: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { first: Id::NONE, unsent: Id::NONE, last: Id::NONE, len: 0 }
    }
}

/// One request and its reply. Stamps are [`Time::NEVER`] until what they stand for has happened.
#[derive(Debug)]
pub struct Call {
    /// The connection it is on.
    pub conn: Id<Conn>,
    /// When it was due.
    pub due: Time,
    /// When it became head of its connection's send queue (response time of the classic report starts here).
    pub heads_queue: Time,
    /// Just before its first byte was handed to the kernel.
    pub sent: Time,
    /// The first byte of its reply (the final one).
    pub first_byte: Time,
    /// When the status line was complete.
    pub status_at: Time,
    /// The status of the reply; 0 before.
    pub status: u16,
    /// Bytes of the reply's header section.
    pub header: u32,
    /// Decoded body bytes of the reply.
    pub content: u64,
    /// Which request it is.
    pub request: RequestId,
    /// Its number in the run, from 0; attempts of one call share it.
    pub serial: u64,
    /// Bytes of the request that earlier attempts wrote.
    pub(crate) carried: u32,
    /// What the workload wanted to remember.
    pub token: u32,
    pub(crate) written: u32,
    pub(crate) next: CallId,
}

impl Call {
    /// What another attempt at this call takes over.
    pub fn again(&self) -> Again {
        Again { serial: self.serial, request_bytes: self.carried + self.written, header_bytes: 0 }
    }
}

/// What an attempt at a call takes over from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// The number of the call.
    pub serial: u64,
    /// Bytes of the request that were written: the classic report counts them again with each attempt that is
    /// written out (manual `Request size`).
    pub request_bytes: u32,
    /// Header bytes that count once more with the reply of this attempt.
    pub header_bytes: u32,
}
