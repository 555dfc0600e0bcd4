//! Every event of a run as an event of `tracing`, for those who look for a fault (manual `--debug`).
//!
//! | level | what |
//! |---|---|
//! | INFO | sessions and connections, failures, the end |
//! | DEBUG | arrivals, calls, oddities |
//! | TRACE | every step of a request and a reply, wakes, ticks |
//!
//! The target is `httperf`, the fields are those of the event: `t` is seconds from the start of the run;
//! `conn` and `session` are slots with their generation, `call` is the number of the call in this loop.

use std::fmt;

use httperf_engine::{CallId, Collector, ConnId, Core, Event, Nanos, SessionId, Time};
use tracing::{debug, info, trace};

/// The collector. What nobody subscribes to costs a look at a flag.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace;

/// Nanoseconds as seconds.
struct Seconds(Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000_000, self.0 / 1_000 % 1_000_000)
    }
}

impl Collector for Trace {
    fn on(&mut self, event: &Event, core: &Core) {
        let since_start = |at: Time| Seconds(at.since(core.began_at()));
        match *event {
            Event::Arrival { due, at } => {
                debug!(target: "httperf", t = %since_start(at), lag = %Seconds(at.since(due)), "arrival");
            }
            Event::Shed { due, at } => {
                debug!(target: "httperf", t = %since_start(at), age = %Seconds(at.since(due)), "arrival shed");
            }
            Event::SessionBegan { .. } | Event::SessionEnded { .. } => session(event, core, since_start),
            Event::ConnConnecting { .. }
            | Event::ConnConnected { .. }
            | Event::ConnFailed { .. }
            | Event::ConnEnded { .. }
            | Event::ConnClosed { .. }
            | Event::ConnAborted { .. }
            | Event::Noted { .. }
            | Event::Interim { .. } => connection(event, core, since_start),
            Event::CallIssued { .. }
            | Event::CallSendStart { .. }
            | Event::CallSendStop { .. }
            | Event::CallRecvStart { .. }
            | Event::CallRecvHeader { .. }
            | Event::CallRecvData { .. }
            | Event::CallRecvStop { .. }
            | Event::CallFailed { .. }
            | Event::CallAborted { .. } => call(event, core, since_start),
            Event::Wake { token, due, at } => {
                let lag = Seconds(at.since(due));
                trace!(target: "httperf", t = %since_start(at), token, %lag, "wake");
            }
            Event::Tick { at } => trace!(target: "httperf", t = %since_start(at), "tick"),
            Event::Snapshot { at } => info!(target: "httperf", t = %since_start(at), "snapshot"),
            Event::Stopping { at } => info!(target: "httperf", t = %since_start(at), "stopping"),
            Event::Stopped { at } => info!(target: "httperf", t = %since_start(at), "stopped"),
        }
    }
}

fn session(event: &Event, core: &Core, since_start: impl Fn(Time) -> Seconds) {
    match *event {
        Event::SessionBegan { session, at } => {
            info!(target: "httperf", t = %since_start(at), ?session, "session began");
        }
        Event::SessionEnded { session, outcome, at } => {
            let replies = core.session(session).map(|session| session.replies);
            info!(target: "httperf", t = %since_start(at), ?session, ?outcome, replies, "session ended");
        }
        _ => {}
    }
}

fn connection(event: &Event, core: &Core, since_start: impl Fn(Time) -> Seconds) {
    let session = |conn| session_of(core, conn).map(tracing::field::debug);
    match *event {
        Event::ConnConnecting { conn, at } => {
            info!(target: "httperf", t = %since_start(at), ?conn, session = session(conn), "connecting");
        }
        Event::ConnConnected { conn, at } => {
            info!(target: "httperf", t = %since_start(at), ?conn, session = session(conn), "connected");
        }
        Event::ConnFailed { conn, cause, errno, at } => {
            let (t, cause, session) = (since_start(at), cause.key(), session(conn));
            info!(target: "httperf", %t, ?conn, session, cause, errno, "connection failed");
        }
        Event::ConnEnded { conn, at } => {
            debug!(target: "httperf", t = %since_start(at), ?conn, session = session(conn), "ended by the peer");
        }
        Event::ConnClosed { conn, at } => {
            info!(target: "httperf", t = %since_start(at), ?conn, session = session(conn), "closed");
        }
        Event::ConnAborted { conn, at } => {
            info!(target: "httperf", t = %since_start(at), ?conn, session = session(conn), "aborted");
        }
        Event::Noted { conn, note, at } => {
            debug!(target: "httperf", t = %since_start(at), ?conn, ?note, "odd");
        }
        Event::Interim { conn, status, at } => {
            debug!(target: "httperf", t = %since_start(at), ?conn, status, "interim reply");
        }
        _ => {}
    }
}

fn call(event: &Event, core: &Core, since_start: impl Fn(Time) -> Seconds) {
    let serial = |call: CallId| core.call(call).map(|call| call.serial);
    let conn = |call: CallId| core.call(call).map(|call| tracing::field::debug(call.conn));
    match *event {
        Event::CallIssued { call, at } => {
            let session = core.call(call).and_then(|call| session_of(core, call.conn));
            let (t, session) = (since_start(at), session.map(tracing::field::debug));
            debug!(target: "httperf", %t, conn = conn(call), call = serial(call), session, "call issued");
        }
        Event::CallSendStart { call, at } => {
            let t = since_start(at);
            trace!(target: "httperf", %t, conn = conn(call), call = serial(call), "send start");
        }
        Event::CallSendStop { call, bytes, at } => {
            let t = since_start(at);
            trace!(target: "httperf", %t, conn = conn(call), call = serial(call), bytes, "send stop");
        }
        Event::CallRecvStart { call, status, at } => {
            let t = since_start(at);
            trace!(target: "httperf", %t, conn = conn(call), call = serial(call), status, "reply start");
        }
        Event::CallRecvHeader { call, bytes, at, .. } => {
            let t = since_start(at);
            trace!(target: "httperf", %t, conn = conn(call), call = serial(call), bytes, "reply header");
        }
        Event::CallRecvData { call, bytes, at, .. } => {
            let t = since_start(at);
            trace!(target: "httperf", %t, conn = conn(call), call = serial(call), bytes, "reply data");
        }
        Event::CallRecvStop { call, at, .. } => {
            let (t, status) = (since_start(at), core.call(call).map(|call| call.status));
            debug!(target: "httperf", %t, conn = conn(call), call = serial(call), status, "reply");
        }
        Event::CallFailed { call, cause, at } => {
            let (t, cause) = (since_start(at), cause.key());
            info!(target: "httperf", %t, conn = conn(call), call = serial(call), cause, "call failed");
        }
        Event::CallAborted { call, at } => {
            let t = since_start(at);
            debug!(target: "httperf", %t, conn = conn(call), call = serial(call), "call aborted");
        }
        _ => {}
    }
}

/// The session of a connection, if it belongs to one.
fn session_of(core: &Core, conn: ConnId) -> Option<SessionId> {
    core.conn(conn).map(|conn| conn.session).filter(|session| !session.is_none())
}
