//! The seam to the kernel: the core asks for transmits, the driver brings completions.
//!
//! A driver completes, it does not ask: what a transmit came to is returned by `submit` when it is known at
//! once, else a later `next` brings it. Every completion is stamped by the driver.

use std::net::SocketAddr;

use crate::core::Core;
use crate::object::ConnId;
use crate::scenario::SocketOptions;
use crate::time::{Nanos, Time};

/// What the core wants done.
#[derive(Debug)]
pub enum Transmit<'a> {
    /// Make a socket and begin to connect it. Completes with `Opened` or `OpenFailed`; after `Opened` comes
    /// `Connected` or `ConnectFailed`.
    Open {
        /// For this connection.
        conn: ConnId,
        /// When it was due, in nanoseconds: equal arrivals have equal keys, however a run is shared out. A
        /// simulation finds its draws by it.
        key: u64,
        /// To this address.
        to: SocketAddr,
        /// In this manner.
        options: &'a SocketOptions,
    },
    /// Send bytes. Completes with `Sent` (fewer than asked: wait for `Writable`) or `SendFailed`.
    Write {
        /// On this connection.
        conn: ConnId,
        /// Valid until the completion.
        bytes: &'a [u8],
    },
    /// Close the socket. Has no completion; nothing is heard of the connection afterwards.
    Close {
        /// This connection.
        conn: ConnId,
        /// To be sent before, as far as the kernel takes it at once: what TLS says at the end.
        last: &'a [u8],
    },
}

/// Something the kernel has finished or noticed, and when.
#[derive(Debug)]
pub struct Completion<'a> {
    /// The moment; for `Opened` and `Sent` just before the system call, else when it was noticed.
    pub at: Time,
    /// Where; `ConnId::NONE` for `Stop`.
    pub conn: ConnId,
    /// What.
    pub input: Input<'a>,
}

/// What a completion says.
#[derive(Debug)]
pub enum Input<'a> {
    /// A socket exists and its connect was begun.
    Opened,
    /// No socket could be had: the error number.
    OpenFailed(i32),
    /// The connection is there.
    Connected,
    /// It is not, and will not be: the error number.
    ConnectFailed(i32),
    /// So many bytes were taken by the kernel.
    Sent(usize),
    /// The kernel took none: the error number.
    SendFailed(i32),
    /// After a short `Sent`: the kernel takes bytes again.
    Writable,
    /// Bytes from the peer, lent until the core has handled them.
    Data(&'a [u8]),
    /// Body bytes from the peer, thrown away unread (no more than [`Core::discardable`]).
    Discarded(u64),
    /// The peer has ended its side.
    Eof,
    /// The connection is broken: the error number.
    Failed(i32),
    /// Somebody wants to see how far the run has come.
    Snapshot,
    /// Somebody wants the run to end.
    Stop(Stop),
}

/// Who wants the run to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// SIGINT.
    Interrupted,
    /// SIGTERM, SIGHUP.
    Terminated,
    /// Another part of the run failed.
    Error,
}

/// How a loop spent its time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// In the loop.
    pub total: Nanos,
    /// Waiting for something to happen, deliberate polling before a due time included.
    pub idle: Nanos,
}

/// The only code that makes system calls or reads a clock.
pub trait Driver {
    /// What the clock says.
    fn now(&mut self) -> Time;

    /// Waits until something has happened or `until` has come.
    ///
    /// # Errors
    /// When waiting itself is not possible; the run cannot go on.
    fn wait(&mut self, until: Time) -> std::io::Result<()>;

    /// The next thing that has happened, `None` when the batch of this `wait` is used up. The core says how
    /// many bytes may be thrown away unread.
    fn next(&mut self, core: &Core) -> Option<Completion<'_>>;

    /// Hands a transmit over; returns its completion if that is there already.
    fn submit(&mut self, transmit: Transmit<'_>) -> Option<Completion<'static>>;

    /// Whether input is known to be waiting that was not handed out yet, so that
    /// nobody should be declared late.
    fn behind(&self) -> bool;

    /// How this loop has spent its time so far.
    fn load(&self) -> Load;
}
