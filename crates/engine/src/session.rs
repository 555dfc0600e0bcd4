//! Sessions: calls of one user, on one connection or several. What a user does, and when, is the workload's.

use httperf_wire::Tickets;

use crate::time::Time;

/// One session.
#[derive(Debug)]
pub struct Session {
    /// When it was due: the arrival's time, or when its slot became free.
    pub due: Time,
    /// When it was begun.
    pub began: Time,
    /// Complete replies.
    pub replies: u32,
    /// Connections that could carry calls.
    pub connections: u32,
    /// What the workload wanted to remember.
    pub token: u32,
    /// What its connections remember of a TLS server, and of which target: later handshakes are short.
    pub(crate) tickets: Option<(u32, Tickets)>,
    /// Its last event is queued.
    pub(crate) ended: bool,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything it had to do was done.
    Succeeded,
    /// It was given up.
    Failed,
    /// The run ended before it did.
    Unfinished,
}
