//! HTTP as pure machines: bytes in, signals out. No clock, no socket, no allocation per call.
//!
//! ```text
//!   RequestSpec           --Request::render--> bytes for the socket         (once per scenario)
//!
//!   bytes from the socket --Machine::receive--> Step { used, signal }       (until the input is used up)
//!   end of the stream     --Machine::finish---> Some(End) | None | Fault
//!   both ways, with TLS   --Tls::receive, encrypt--> plain text | bytes for the socket
//! ```
//!
//! One machine belongs to one connection. It knows nothing of calls: the caller keeps the queue of
//! outstanding calls and says, with each input, which kind of reply is due next ([`Due`]). A machine may
//! be fed any piece of the stream, down to a single byte; the signals add up to the same whatever the
//! cuts. What saves work across connections, and is no state of any, is the caller's too: one [`Memo`]
//! for the machines of a thread. TLS is rustls's, which does allocate: some buffers a record.

mod h1;
mod request;
mod tls;

pub use h1::{H1, Memo};
pub use request::{Request, RequestSpec, Version};
pub use tls::{
    Alert, CertificateDer, CertificateFault, Ciphers, Identity, PrivateKeyDer, Tickets, Tls, TlsClient,
    TlsError, TlsFacts, TlsFault, TlsSpec, TlsTime, TlsVersions, Verify, certificates_from_pem, key_from_pem,
};

/// Which reply the caller waits for on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// No call is outstanding: any byte is unsolicited.
    Nothing,
    /// The reply to a request whose reply may have a body.
    Reply,
    /// The reply to a HEAD request: never a body (RFC 9112 section 6.3).
    Head,
}

/// What one look at the input has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the input are dealt with.
    pub used: usize,
    /// What they meant; `None` only when the whole input is used up.
    pub signal: Option<Signal>,
}

/// What the peer has said so far. For each reply, in this order:
/// `Begin (Interim Begin)* Status Head Content* End`, and `Note` anywhere between `Begin` and `End`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The first byte of a reply has come (the first byte of its status line).
    Begin,
    /// That was an interim reply (1xx), complete; the reply proper is still to come (RFC 9110 section 15.2).
    Interim(u16),
    /// The status line is complete. 100-999; codes from 600 on belong to the class of 5xx.
    Status(u16),
    /// The header section is complete.
    Head {
        /// Bytes of status line, fields and the empty line.
        bytes: u32,
    },
    /// Body bytes after removal of chunk framing: the last `bytes` bytes of what this step used.
    Content {
        /// How many.
        bytes: u64,
    },
    /// The reply is complete.
    End {
        /// Bytes after the line of the last chunk: trailer fields and the empty line (2 without trailers).
        footer: u32,
        /// The connection can carry no further reply: `close` was announced, HTTP/1.0 without keep-alive,
        /// both framings at once, or the body ended with the stream.
        last: bool,
    },
    /// Something odd that is no error.
    Note(Note),
}

/// Oddities that are counted but are no errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Transfer-Encoding and Content-Length in one reply (RFC 9112 section 6.3).
    LengthAndChunked,
    /// A transfer coding that is not known; the body runs to the end of the stream.
    UnknownCoding,
    /// A field line longer than the 1,023 bytes the original tool could hold; its length with the line end.
    LongField(u32),
    /// TLS ended without close_notify behind a complete reply (RFC 8446 section 6.1).
    NoCloseNotify,
    /// `--classic-strict` only: a status line that is none, read as status 599.
    GarbageStatus,
}

/// How the peer broke the protocol, and which rule. The text completes "the server sent ...".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Syntax or framing that means nothing.
    #[error("{0}")]
    Malformed(&'static str),
    /// A limit of this implementation was reached ([`limits`]).
    #[error("{0}")]
    Limit(&'static str),
    /// Bytes without an outstanding call.
    #[error("bytes that no request asked for")]
    Unsolicited,
    /// The stream ended inside a message, an interim reply without its final one included.
    #[error("the end of the stream inside a reply")]
    Truncated,
}

/// How loosely replies are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Read as httperf 0.9.0 did: a status line that is none is status 599, codes below 100 are let through,
    /// a body cut short by the end of the stream is a reply, a 205 has no body, a transfer coding other than
    /// chunked counts as absent, Connection is not looked at.
    pub classic_strict: bool,
}

/// Limits on what a peer can make us hold or count.
pub mod limits {
    /// One line: status, field, trailer field.
    pub const LINE: usize = 64 * 1024;
    /// A header section, and a trailer section.
    pub const SECTION: usize = 256 * 1024;
    /// Fields in a section.
    pub const FIELDS: usize = 1000;
    /// A chunk-size line with its extensions.
    pub const CHUNK_LINE: usize = 16 * 1024;
    /// Interim replies for one call.
    pub const INTERIM: u32 = 32;
}

/// One protocol's client side as a pure machine.
///
/// Drive it so: for every piece of the stream call [`receive`](Machine::receive) with what is left of it
/// until the signal is `None`, or `End` with nothing left; pass the `Due` that holds at that moment (after an
/// `End` it is that of the next call). After a fault the machine must not be fed again.
pub trait Machine {
    /// Reads on in the stream. Any memo will do, whoever used it before.
    ///
    /// # Errors
    /// The fault that ends this connection. The signals before it stand.
    fn receive(&mut self, input: &[u8], due: Due, memo: &mut Memo) -> Result<Step, Fault>;

    /// The peer has ended its side of the stream.
    ///
    /// # Errors
    /// `Truncated` inside a reply (also `Malformed`, when what came before can never become a reply).
    /// `Ok(None)`: no reply had begun. `Ok(Some(End))`: the end completes the reply.
    fn finish(&mut self, due: Due) -> Result<Option<Signal>, Fault>;

    /// How many of the coming bytes are plain body of the current reply, whatever they are. So many may be
    /// thrown away unread and reported with [`discarded`](Machine::discarded).
    fn discardable(&self) -> u64;

    /// `bytes` body bytes were thrown away unread. The caller takes them for a
    /// `Content`; an `End` may follow.
    ///
    /// # Panics
    /// If `bytes` is more than was [`discardable`](Machine::discardable).
    fn discarded(&mut self, bytes: u64) -> Option<Signal>;
}
