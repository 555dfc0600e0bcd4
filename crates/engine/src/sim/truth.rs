//! What really happened in a simulation: the model servers know what they did.

use super::server::Reply;
use crate::object::ConnId;
use crate::time::Time;

/// One connection, seen from the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialogue {
    /// The connection.
    pub conn: ConnId,
    /// What its draws were found by; it follows from when it was due.
    pub key: u64,
    /// When its connect was begun.
    pub opened: Time,
    /// When the client's kernel had it; [`Time::NEVER`] if it never did.
    pub connected: Time,
    /// Request bytes that came.
    pub received: u64,
    /// Requests that came completely.
    pub requests: u32,
    /// What was done for each, in order.
    pub answers: Vec<Answer>,
    /// When the server ended its side.
    pub ended: Option<Time>,
    /// When the client closed.
    pub closed: Option<Time>,
}

/// What was done for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When the request was complete.
    pub asked: Time,
    /// When the first segment arrives at the client, if nothing overtakes it.
    pub first: Time,
    /// When the last byte arrives there.
    pub last: Time,
    /// Bytes sent.
    pub bytes: u64,
    /// What an honest reply says.
    pub reply: Option<Reply>,
}

/// How often the driver was called, and the bytes it moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Calls of `wait`.
    pub waits: u64,
    /// Things that happened in the world, to the servers as well.
    pub happenings: u64,
    /// Completions that `next` brought.
    pub completions: u64,
    /// Transmits.
    pub transmits: u64,
    /// Waits that were woken for nothing by a fault.
    pub early: u64,
    /// Events of closed descriptors.
    pub stale: u64,
    /// Bytes read, thrown away ones included.
    pub received: u64,
    /// Bytes thrown away unread.
    pub discarded: u64,
    /// Bytes written.
    pub sent: u64,
}

impl Default for Dialogue {
    fn default() -> Self {
        Self {
            conn: ConnId::NONE,
            key: 0,
            opened: Time::NEVER,
            connected: Time::NEVER,
            received: 0,
            requests: 0,
            answers: Vec::new(),
            ended: None,
            closed: None,
        }
    }
}
