//! The vocabulary: everything that can happen in a run, on one screen.
//!
//! An event carries what it reports. The object it names stays in its slot, its stamps written once, until
//! its last event has been polled and handed round.

use httperf_wire::Note;

use crate::cause::Cause;
use crate::object::{CallId, ConnId, SessionId};
use crate::scenario::Scrap;
use crate::session::Outcome;
use crate::time::Time;

/// Something that happened, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "the fields are named after what they hold")]
pub enum Event {
    /// The workload took up an arrival that was due at `due`.
    Arrival { due: Time, at: Time },
    /// An arrival that had been taken up is dropped: no connection was to be had for it.
    Shed { due: Time, at: Time },

    /// A session was begun.
    SessionBegan { session: SessionId, at: Time },
    /// A session is over, or was still going on when the run ended. Its last event.
    SessionEnded { session: SessionId, outcome: Outcome, at: Time },

    /// A socket exists and its connect was begun.
    ConnConnecting { conn: ConnId, at: Time },
    /// The connection can carry calls.
    ConnConnected { conn: ConnId, at: Time },
    /// The connection failed: one error, however many calls were on it. `errno` is 0
    /// if the kernel had no say.
    ConnFailed { conn: ConnId, cause: Cause, errno: i32, at: Time },
    /// The peer has ended a connection on which nothing was outstanding, and the workload keeps a pool.
    ConnEnded { conn: ConnId, at: Time },
    /// The connection is closed. Its last event.
    ConnClosed { conn: ConnId, at: Time },
    /// The connection was still there when the run ended, or it was given up before it could carry calls. Its
    /// last event.
    ConnAborted { conn: ConnId, at: Time },

    /// A request was given to the send queue of its connection.
    CallIssued { call: CallId, at: Time },
    /// The first byte is about to be handed to the kernel.
    CallSendStart { call: CallId, at: Time },
    /// The last of its `bytes` was handed to the kernel; those of earlier attempts are among them.
    CallSendStop { call: CallId, bytes: u32, at: Time },
    /// The status line of the reply is complete.
    CallRecvStart { call: CallId, status: u16, at: Time },
    /// The header section of the reply is complete.
    CallRecvHeader { call: CallId, bytes: u32, text: Scrap, at: Time },
    /// Body bytes came.
    CallRecvData { call: CallId, bytes: u64, text: Scrap, at: Time },
    /// The reply is complete. The call's last event.
    CallRecvStop { call: CallId, footer: u32, at: Time },
    /// There will be no reply to this attempt. The call's last event.
    CallFailed { call: CallId, cause: Cause, at: Time },
    /// There was no reply yet when the run ended or the workload closed the connection. The call's last
    /// event.
    CallAborted { call: CallId, at: Time },

    /// The server did something odd that is no error.
    Noted { conn: ConnId, note: Note, at: Time },
    /// The server sent an interim reply, which was skipped.
    Interim { conn: ConnId, status: u16, at: Time },

    /// A moment the workload asked for with `schedule` has come; it was due at `due`.
    Wake { token: u64, due: Time, at: Time },
    /// The next sample of the classic report is due.
    Tick { at: Time },
    /// Somebody wants to see how far the run has come.
    Snapshot { at: Time },
    /// The run ends soon, and the workload keeps a pool: no new work, what is in flight may end.
    Stopping { at: Time },
    /// The run ends. The last event of all is behind it: what is still open is aborted.
    Stopped { at: Time },
}
