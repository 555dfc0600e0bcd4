//! The client side of one TLS connection.

use std::cell::Cell;
use std::fmt;

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus};
use rustls::{HandshakeKind, NamedGroup, ProtocolVersion};

use super::{TlsFault, ciphers};

/// The most bytes that are kept of records and handshake messages that are not whole yet. A record has at
/// most 18,437 bytes with its header (RFC 5246 section 6.2.3), a handshake message at most 64 KiB (rustls),
/// and only whoever cuts it to pieces of a few bytes needs more than this for it.
const PENDING: usize = 96 * 1024;

/// A buffer of outgoing bytes up to this size is kept for the next request; a larger one is given back when
/// it has been sent, so that idle connections are small.
const OUTGOING_KEPT: usize = 1024;

/// What a record adds to its plain text: header, explicit nonce, content type, tag. The largest is that of
/// AES-GCM in TLS 1.2: 5 + 8 + 16.
const RECORD_OVERHEAD: usize = 29;

/// The most plain text of a record (RFC 8446 section 5.1).
const RECORD: usize = 16 * 1024;

thread_local! {
    /// Where input is decrypted in place: one for all connections of a thread, empty between calls.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// One connection.
///
/// Drive it so: write [`outgoing`](Tls::outgoing) (the ClientHello at first) and report with
/// [`sent`](Tls::sent) what the kernel took; give everything that is read to [`receive`](Tls::receive), and
/// look at `outgoing` after it. Once it [`is_ready`](Tls::is_ready), [`encrypt`](Tls::encrypt). An end of the
/// stream before [`is_closed`](Tls::is_closed) is one that the server did not announce. Any cuts of the input
/// give the same plain text.
///
/// An idle connection holds 4 to 5 KB: keys, the state of rustls, the server's certificates. A full handshake
/// costs the client 60 to 120 us of CPU time unverified, twice that verified (`examples/handshake.rs`).
///
/// After a fault write what is outgoing (the alert for the server, if there is one) and close the socket.
pub struct Tls {
    /// Some hundred bytes, which plain connections should not carry about.
    connection: Box<UnbufferedClientConnection>,
    /// Input that is not dealt with: a record, or a handshake message over several, of which the rest is to
    /// come.
    pending: Vec<u8>,
    outgoing: Vec<u8>,
    /// How much of `outgoing` has been sent.
    sent: usize,
    fault: Option<TlsFault>,
    /// The first bytes have been seen and are not text.
    begun: bool,
    /// The peer has closed its side.
    closed: bool,
    /// We have closed ours.
    shut: bool,
}

/// What the handshake has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsFacts {
    /// "1.2" or "1.3".
    pub version: &'static str,
    /// The suite, by its name in IANA's registry.
    pub suite: &'static str,
    /// The key exchange group: "x25519", "secp256r1" or "secp384r1"; `None` for a resumed session of TLS 1.2,
    /// which exchanges no keys.
    pub group: Option<&'static str>,
    /// The session was resumed from a ticket.
    pub resumed: bool,
}

impl Tls {
    /// With the ClientHello outgoing.
    pub(super) fn new(connection: UnbufferedClientConnection) -> Result<Self, TlsFault> {
        let mut tls = Self {
            connection: Box::new(connection),
            pending: Vec::new(),
            outgoing: Vec::new(),
            sent: 0,
            fault: None,
            begun: false,
            closed: false,
            shut: false,
        };
        tls.process(&mut [], &mut Vec::new()).1?;
        Ok(tls)
    }

    /// Takes bytes from the peer. Plain text is appended to `plain`, what has to be answered to `outgoing`.
    /// What comes after the peer's close_notify, or after our own [`close`](Tls::close), is thrown away.
    ///
    /// # Errors
    /// The fault that ends this connection, and the same again if called after it. Plain text that came
    /// before it stands; an alert for the peer is in `outgoing`.
    pub fn receive(&mut self, input: &[u8], plain: &mut Vec<u8>) -> Result<(), TlsFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.closed || self.shut {
            return Ok(());
        }
        // Where bytes are pending the input joins them, so that a record in many pieces is copied once.
        let was_pending = !self.pending.is_empty();
        let mut buffer = if was_pending { std::mem::take(&mut self.pending) } else { SCRATCH.take() };
        buffer.extend_from_slice(input);
        let (used, result) = self.take_in(&mut buffer, plain);
        let rest = &buffer[used..];
        let result = match result {
            Ok(()) if rest.len() > PENDING => {
                Err(TlsFault::Protocol("the server sent a handshake message that is too large"))
            }
            result => result,
        };
        self.fault = result.err();
        if self.fault.is_none() && !self.closed && !rest.is_empty() {
            if was_pending && used == 0 {
                self.pending = buffer;
                return Ok(());
            }
            self.pending = rest.to_vec();
        }
        buffer.clear();
        SCRATCH.set(buffer);
        result
    }

    /// Encrypts plain bytes into `outgoing`, in records of 16 KiB at most.
    ///
    /// # Errors
    /// The fault that ended this connection; or that it is not [`ready`](Tls::is_ready); or, in TLS 1.2, that
    /// a connection's keys are used up (after 2^24 records with AES-GCM; TLS 1.3 changes them in time).
    pub fn encrypt(&mut self, plain: &[u8]) -> Result<(), TlsFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if !self.is_ready() {
            return Err(TlsFault::Protocol("plain text for a connection that cannot take it"));
        }
        // A guess that is right but for what rustls has queued, such as the answer to a key update.
        let room = plain.len() + (plain.len() / RECORD + 1) * RECORD_OVERHEAD;
        let result = self.write(room, |traffic, out| traffic.encrypt(plain, out));
        self.fault = result.err();
        result
    }

    /// Queues close_notify into `outgoing`, once. Nothing is queued before the handshake is done or after a
    /// fault. No input is read from here on.
    pub fn close(&mut self) {
        if self.is_ready() {
            self.fault =
                self.write(RECORD_OVERHEAD + 2, |traffic, out| traffic.queue_close_notify(out)).err();
        }
        self.shut = true;
        self.pending = Vec::new();
    }

    /// The bytes to be written. Right after `connect`: the ClientHello.
    #[must_use]
    pub fn outgoing(&self) -> &[u8] {
        &self.outgoing[self.sent..]
    }

    /// So many of the outgoing bytes have been taken by the kernel.
    ///
    /// # Panics
    /// If there were not so many.
    pub fn sent(&mut self, bytes: usize) {
        assert!(bytes <= self.outgoing.len() - self.sent, "more was sent than was outgoing");
        self.sent += bytes;
        if self.sent == self.outgoing.len() {
            self.sent = 0;
            self.outgoing.clear();
            if self.outgoing.capacity() > OUTGOING_KEPT {
                self.outgoing = Vec::new();
            }
        }
    }

    /// The handshake is done, and plain text can be encrypted: no fault, no [`close`](Tls::close) so far.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.fault.is_none() && !self.shut && !self.connection.is_handshaking()
    }

    /// The peer has sent close_notify: its plain text is complete.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// What the handshake has settled; `None` before its end.
    #[must_use]
    pub fn facts(&self) -> Option<TlsFacts> {
        if self.connection.is_handshaking() {
            return None;
        }
        let version = match self.connection.protocol_version()? {
            ProtocolVersion::TLSv1_2 => "1.2",
            ProtocolVersion::TLSv1_3 => "1.3",
            _ => return None,
        };
        Some(TlsFacts {
            version,
            suite: ciphers::iana_name(self.connection.negotiated_cipher_suite()?.suite()),
            group: self.connection.negotiated_key_exchange_group().map(|group| match group.name() {
                NamedGroup::X25519 => "x25519",
                NamedGroup::secp256r1 => "secp256r1",
                NamedGroup::secp384r1 => "secp384r1",
                _ => "unknown",
            }),
            resumed: self.connection.handshake_kind() == Some(HandshakeKind::Resumed),
        })
    }

    /// The protocol that the server chose of those offered (ALPN), if any.
    #[must_use]
    pub fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// `process`, after a look at what the peer's very first bytes are.
    fn take_in(&mut self, buffer: &mut [u8], plain: &mut Vec<u8>) -> (usize, Result<(), TlsFault>) {
        if !self.begun {
            // As many as a record's header has; with fewer rustls says nothing either.
            let Some(first) = buffer.first_chunk::<5>() else { return (0, Ok(())) };
            if first.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\r' | b'\n' | b'\t')) {
                return (0, Err(TlsFault::NotTls));
            }
            self.begun = true;
        }
        self.process(buffer, plain)
    }

    /// Lets rustls deal with what is in the buffer; how many bytes of it are done with, and what came of it.
    fn process(&mut self, buffer: &mut [u8], plain: &mut Vec<u8>) -> (usize, Result<(), TlsFault>) {
        let mut used = 0;
        loop {
            let UnbufferedStatus { discard, state } =
                self.connection.process_tls_records(&mut buffer[used..]);
            let mut discard = discard;
            let step = match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => loop {
                    match traffic.next_record() {
                        None => break Ok(true),
                        Some(Ok(record)) => {
                            discard += record.discard;
                            plain.extend_from_slice(record.payload);
                        }
                        Some(Err(error)) => break Err(TlsFault::from(&error)),
                    }
                },
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    encode(&mut data, &mut self.outgoing).map(|()| true)
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    Ok(true)
                }
                Ok(ConnectionState::PeerClosed) => {
                    self.closed = true;
                    Ok(false)
                }
                Ok(
                    ConnectionState::BlockedHandshake
                    | ConnectionState::WriteTraffic(_)
                    | ConnectionState::Closed,
                ) => Ok(false),
                Ok(_) => Err(UNEXPECTED),
                Err(error) => Err(TlsFault::from(&error)),
            };
            used += discard;
            match step {
                Ok(true) => {}
                Ok(false) => return (used, Ok(())),
                Err(fault) => {
                    self.gather_alerts(&mut buffer[used..]);
                    return (used, Err(fault));
                }
            }
        }
    }

    /// After an error: takes what rustls has for the peer. It hands that out before it looks at any input,
    /// and only as long as there is some may it be asked, because it takes no second error.
    fn gather_alerts(&mut self, buffer: &mut [u8]) {
        while self.connection.wants_write() {
            let state = self.connection.process_tls_records(buffer).state;
            let Ok(ConnectionState::EncodeTlsData(mut data)) = state else { return };
            if encode(&mut data, &mut self.outgoing).is_err() {
                return;
            }
        }
    }

    /// Lets `put` write into `outgoing`, with that much room at first, or as much as it asks for.
    fn write(
        &mut self,
        room: usize,
        mut put: impl FnMut(&mut WriteTraffic<'_>, &mut [u8]) -> Result<usize, EncryptError>,
    ) -> Result<(), TlsFault> {
        self.compact();
        loop {
            // What is pending is incomplete, so nothing comes of it; but rustls remembers how far it has
            // read.
            match self.connection.process_tls_records(&mut self.pending).state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    return append(&mut self.outgoing, room, |out| put(&mut traffic, out));
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => encode(&mut data, &mut self.outgoing)?,
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(_) => return Err(UNEXPECTED),
                Err(error) => return Err(TlsFault::from(&error)),
            }
        }
    }

    /// Drops what has been sent of a long `outgoing`, so that it does not grow with every write.
    fn compact(&mut self) {
        if self.sent > self.outgoing.len() / 2 {
            self.outgoing.drain(..self.sent);
            self.sent = 0;
        }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("facts", &self.facts())
            .field("pending", &self.pending.len())
            .field("outgoing", &self.outgoing().len())
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

type WriteTraffic<'c> = rustls::unbuffered::WriteTraffic<'c, ClientConnectionData>;

/// rustls is in a state that its documentation rules out.
const UNEXPECTED: TlsFault = TlsFault::Protocol("the TLS library is in an unexpected state");

/// Appends a record of the handshake.
fn encode(
    data: &mut EncodeTlsData<'_, ClientConnectionData>,
    outgoing: &mut Vec<u8>,
) -> Result<(), TlsFault> {
    let start = outgoing.len();
    // Its size is not to be had without trying.
    let Err(EncodeError::InsufficientSize(size)) = data.encode(&mut []) else { return Err(UNEXPECTED) };
    outgoing.resize(start + size.required_size, 0);
    let written = data.encode(&mut outgoing[start..]).map_err(|_| UNEXPECTED)?;
    outgoing.truncate(start + written);
    Ok(())
}

/// Appends what `put` writes.
fn append(
    outgoing: &mut Vec<u8>,
    mut room: usize,
    mut put: impl FnMut(&mut [u8]) -> Result<usize, EncryptError>,
) -> Result<(), TlsFault> {
    let start = outgoing.len();
    loop {
        outgoing.resize(start + room, 0);
        match put(&mut outgoing[start..]) {
            Ok(written) => {
                outgoing.truncate(start + written);
                return Ok(());
            }
            Err(EncryptError::InsufficientSize(size)) if size.required_size > room => {
                room = size.required_size;
            }
            Err(EncryptError::InsufficientSize(_)) => {
                outgoing.truncate(start);
                return Err(UNEXPECTED);
            }
            Err(EncryptError::EncryptExhausted) => {
                outgoing.truncate(start);
                return Err(TlsFault::Protocol("the keys of this connection are used up"));
            }
        }
    }
}
