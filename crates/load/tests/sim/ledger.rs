//! The collector that books every event, and objects to what is not in order.

use std::collections::BTreeMap;

use httperf_engine::{CallId, Cause, Collector, ConnId, Core, Event, Outcome, Time};

/// Everything that happened, and what was wrong with it.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) events: Vec<Event>,
    pub(crate) totals: Totals,
    /// Every complete reply, in order.
    pub(crate) replies: Vec<Replied>,
    /// Arrivals that were taken up: due, and when.
    pub(crate) arrivals: Vec<(Time, Time)>,
    /// When a connection failed, and why.
    pub(crate) failures: Vec<(Time, Cause)>,
    /// When something other than an end happened last.
    pub(crate) progress: Time,
    /// When the reply that a failure broke off had begun.
    begun: Option<Time>,
    pub(crate) complaints: Vec<String>,
    conns: BTreeMap<u64, Conn>,
    calls: BTreeMap<u64, Call>,
    sessions: BTreeMap<u64, bool>,
    stopped: bool,
    /// The time of the latest event, and how many had it.
    instant: (Time, u64),
}

/// What is counted. Two runs that count alike are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) arrivals: u64,
    pub(crate) shed: u64,
    pub(crate) connecting: u64,
    pub(crate) connected: u64,
    /// Failures before a connect was begun, then before it was over, then after.
    pub(crate) no_socket: BTreeMap<Cause, u64>,
    pub(crate) not_connected: BTreeMap<Cause, u64>,
    pub(crate) broken: BTreeMap<Cause, u64>,
    pub(crate) closed: u64,
    /// Open at the end: before a connect was begun, before it was over, after.
    pub(crate) aborted: [u64; 3],
    pub(crate) issued: u64,
    pub(crate) calls_failed: BTreeMap<Cause, u64>,
    pub(crate) calls_aborted: u64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Bytes of complete replies.
    pub(crate) header: u64,
    pub(crate) content: u64,
    pub(crate) footer: u64,
    /// Bytes of all header sections as they came: `header` counts some again with a call that was made again.
    pub(crate) sections: u64,
    pub(crate) request_bytes: u64,
    pub(crate) notes: u64,
    pub(crate) interims: u64,
    pub(crate) sessions: u64,
    /// Succeeded, failed, unfinished.
    pub(crate) sessions_ended: [u64; 3],
}

/// A complete reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Replied {
    pub(crate) due: Time,
    pub(crate) sent: Time,
    pub(crate) first: Time,
    pub(crate) last: Time,
    pub(crate) status: u16,
    pub(crate) content: u64,
    /// Bits of the connection's id, and the how many-th reply on it.
    pub(crate) conn: u64,
    pub(crate) number: usize,
}

#[derive(Default)]
struct Conn {
    connecting: bool,
    connected: bool,
    failed: bool,
    gone: bool,
    replies: usize,
}

#[derive(Default)]
struct Call {
    sending: bool,
    sent: bool,
    status: bool,
    header: bool,
    gone: bool,
    content: u64,
}

/// More events than this at one instant are a loop without end.
const SAME_INSTANT: u64 = 1_000_000;

impl Ledger {
    fn complain(&mut self, event: &Event, what: &str) {
        if self.complaints.len() < 10 {
            self.complaints.push(format!("{event:?}: {what}"));
        }
    }

    fn expect(&mut self, holds: bool, event: &Event, what: &str) {
        if !holds {
            self.complain(event, what);
        }
    }

    fn clock(&mut self, at: Time, event: &Event) {
        self.expect(at >= self.instant.0, event, "time runs backwards");
        self.instant = if at == self.instant.0 { (at, self.instant.1 + 1) } else { (at, 0) };
        assert!(self.instant.1 < SAME_INSTANT, "the loop spins without end: {event:?}");
    }

    /// Books an event of a connection; `orderly` says whether it may come now.
    fn conn(&mut self, id: ConnId, event: &Event, core: &Core, orderly: impl FnOnce(&mut Conn) -> bool) {
        let here = core.conn(id).is_some();
        self.expect(here, event, "the connection is not in its slot");
        let conn = self.conns.entry(id.to_bits()).or_default();
        let gone = conn.gone;
        let fits = orderly(conn);
        self.expect(!gone, event, "after the last event of its connection");
        self.expect(fits, event, "out of order for its connection");
    }

    /// The same for a call.
    fn call(&mut self, id: CallId, event: &Event, core: &Core, orderly: impl FnOnce(&mut Call) -> bool) {
        let here = core.call(id).is_some();
        self.expect(here, event, "the call is not in its slot");
        let Some(call) = self.calls.get_mut(&id.to_bits()) else {
            return self.complain(event, "a call that was never issued");
        };
        let gone = call.gone;
        let fits = orderly(call);
        self.expect(!gone, event, "after the last event of its call");
        self.expect(fits, event, "out of order for its call");
        let conn = core.call(id).and_then(|call| self.conns.get(&call.conn.to_bits()));
        let over = conn.is_none_or(|conn| conn.gone);
        self.expect(!over, event, "after the last event of its connection");
    }

    fn replied(&mut self, id: CallId, at: Time, event: &Event, core: &Core) {
        let Some(call) = core.call(id) else { return };
        let Some(conn) = self.conns.get_mut(&call.conn.to_bits()) else { return };
        let reply = Replied {
            due: call.due,
            sent: call.sent,
            first: call.first_byte,
            last: at,
            status: call.status,
            content: call.content,
            conn: call.conn.to_bits(),
            number: conn.replies,
        };
        conn.replies += 1;
        *self.totals.statuses.entry(call.status).or_default() += 1;
        self.totals.header += u64::from(call.header);
        self.totals.content += call.content;
        let stamps = [reply.due, reply.sent, reply.first, call.status_at, reply.last];
        self.expect(stamps.is_sorted() && at.is_set(), event, "stamps out of order");
        let booked = self.calls.get(&id.to_bits()).map(|call| call.content);
        self.expect(booked == Some(reply.content), event, "body bytes do not add up");
        self.replies.push(reply);
    }

    /// When the reply that was under way at the end began or, without one, when a
    /// request was last written to.
    pub(crate) fn waiting_since(&self) -> Time {
        let written = self.events.iter().rev().find_map(|event| match *event {
            Event::CallSendStop { at, .. }
            | Event::CallSendStart { at, .. }
            | Event::CallIssued { at, .. } => Some(at),
            _ => None,
        });
        self.begun.or(written).unwrap_or(Time::NEVER)
    }

    /// Connections and calls without a last event.
    pub(crate) fn left_over(&self) -> (usize, usize) {
        let conns = self.conns.values().filter(|conn| !conn.gone).count();
        let sessions = self.sessions.values().filter(|going| **going).count();
        (conns + sessions, self.calls.values().filter(|call| !call.gone).count())
    }
}

impl Collector for Ledger {
    fn on(&mut self, event: &Event, core: &Core) {
        self.events.push(*event);
        let at = stamp(event);
        self.clock(at, event);
        match *event {
            Event::ConnFailed { .. } | Event::ConnClosed { .. } | Event::ConnAborted { .. } => {}
            Event::CallFailed { .. } | Event::CallAborted { .. } => {}
            Event::Stopped { .. } | Event::Tick { .. } => {}
            Event::Stopping { .. } | Event::Shed { .. } => {}
            _ => self.progress = at,
        }
        if self.stopped {
            let end = matches!(
                event,
                Event::ConnAborted { .. } | Event::CallAborted { .. } | Event::SessionEnded { .. }
            );
            self.expect(end, event, "after the end of the run");
        }
        match *event {
            Event::Snapshot { .. } | Event::Stopping { .. } => {}
            Event::Shed { due, at } => {
                self.totals.shed += 1;
                self.expect(at >= due, event, "before it was due");
            }
            Event::ConnEnded { conn, .. } => self.conn(conn, event, core, |conn| conn.connected),
            Event::SessionBegan { session, .. } => {
                self.totals.sessions += 1;
                let new = self.sessions.insert(session.to_bits(), true).is_none();
                self.expect(new && core.session(session).is_some(), event, "begun twice, or not in its slot");
            }
            Event::SessionEnded { session, outcome, .. } => {
                let outcomes = [Outcome::Succeeded, Outcome::Failed, Outcome::Unfinished];
                for (count, one) in self.totals.sessions_ended.iter_mut().zip(outcomes) {
                    *count += u64::from(one == outcome);
                }
                let going = self.sessions.insert(session.to_bits(), false);
                self.expect(going == Some(true), event, "the end of a session that is not going on");
                let due = self.stopped == (outcome == Outcome::Unfinished) || !self.stopped;
                self.expect(due, event, "an outcome behind the end of the run");
            }
            Event::Arrival { due, at } => {
                self.totals.arrivals += 1;
                self.arrivals.push((due, at));
                self.expect(at >= due, event, "before it was due");
            }
            Event::ConnConnecting { conn, .. } => {
                self.totals.connecting += 1;
                self.conn(conn, event, core, |conn| {
                    !std::mem::replace(&mut conn.connecting, true) && !conn.failed
                });
            }
            Event::ConnConnected { conn, .. } => {
                self.totals.connected += 1;
                self.conn(conn, event, core, |conn| {
                    conn.connecting && !std::mem::replace(&mut conn.connected, true) && !conn.failed
                });
            }
            Event::ConnFailed { conn, cause, .. } => {
                self.failures.push((at, cause));
                let mut stage = 0;
                self.conn(conn, event, core, |conn| {
                    stage = usize::from(conn.connecting) + usize::from(conn.connected);
                    !std::mem::replace(&mut conn.failed, true)
                });
                let totals = &mut self.totals;
                let stages = [&mut totals.no_socket, &mut totals.not_connected, &mut totals.broken];
                *stages.into_iter().nth(stage).expect("three stages").entry(cause).or_default() += 1;
            }
            Event::ConnClosed { conn, .. } => {
                self.totals.closed += 1;
                self.conn(conn, event, core, |conn| !std::mem::replace(&mut conn.gone, true));
            }
            Event::ConnAborted { conn, .. } => {
                let mut stage = 0;
                self.conn(conn, event, core, |conn| {
                    stage = usize::from(conn.connecting) + usize::from(conn.connected);
                    !conn.failed && !std::mem::replace(&mut conn.gone, true)
                });
                self.totals.aborted[stage] += 1;
                let given_up = self.stopped || stage < 2;
                self.expect(given_up, event, "open, and before the end of the run");
            }
            Event::CallIssued { call, .. } => {
                self.totals.issued += 1;
                let new = self.calls.insert(call.to_bits(), Call::default()).is_none();
                self.expect(new, event, "issued twice");
                self.call(call, event, core, |_| true);
            }
            Event::CallSendStart { call, at } => {
                self.call(call, event, core, |call| !std::mem::replace(&mut call.sending, true));
                let due = core.call(call).map_or(Time::NEVER, |call| call.due);
                self.expect(at >= due, event, "before it was due");
            }
            Event::CallSendStop { call, bytes, .. } => {
                self.totals.request_bytes += u64::from(bytes);
                self.call(call, event, core, |call| call.sending && !std::mem::replace(&mut call.sent, true));
            }
            Event::CallRecvStart { call, .. } => {
                self.call(call, event, core, |call| {
                    call.sending && !std::mem::replace(&mut call.status, true)
                });
            }
            Event::CallRecvHeader { call, bytes, .. } => {
                self.totals.sections += u64::from(bytes);
                self.call(call, event, core, |call| {
                    call.status && bytes > 0 && !std::mem::replace(&mut call.header, true)
                });
            }
            Event::CallRecvData { call, bytes, .. } => {
                self.call(call, event, core, |call| {
                    call.content += bytes;
                    call.header && bytes > 0
                });
            }
            Event::CallRecvStop { call, footer, at } => {
                self.totals.footer += u64::from(footer);
                self.call(call, event, core, |call| call.header && !std::mem::replace(&mut call.gone, true));
                self.replied(call, at, event, core);
            }
            Event::CallFailed { call, cause, .. } => {
                *self.totals.calls_failed.entry(cause).or_default() += 1;
                let begun = core.call(call).map(|call| call.first_byte).filter(|first| first.is_set());
                self.begun = self.begun.or(begun);
                self.call(call, event, core, |call| !std::mem::replace(&mut call.gone, true));
            }
            Event::CallAborted { call, .. } => {
                self.totals.calls_aborted += 1;
                self.call(call, event, core, |call| !std::mem::replace(&mut call.gone, true));
            }
            Event::Noted { conn, .. } => {
                self.totals.notes += 1;
                self.conn(conn, event, core, |conn| conn.connected);
            }
            Event::Interim { conn, .. } => {
                self.totals.interims += 1;
                self.conn(conn, event, core, |conn| conn.connected);
            }
            Event::Wake { due, at, .. } => self.expect(at >= due, event, "before it was due"),
            Event::Tick { .. } => {}
            Event::Stopped { .. } => {
                let again = std::mem::replace(&mut self.stopped, true);
                self.expect(!again, event, "a second end");
            }
        }
    }
}

impl Totals {
    pub(crate) fn replies(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// What several shares counted together.
    pub(crate) fn add(&mut self, other: &Totals) {
        fn map<K: Ord + Copy>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
            for (key, count) in from {
                *into.entry(*key).or_default() += count;
            }
        }
        self.arrivals += other.arrivals;
        self.shed += other.shed;
        self.connecting += other.connecting;
        self.connected += other.connected;
        map(&mut self.no_socket, &other.no_socket);
        map(&mut self.not_connected, &other.not_connected);
        map(&mut self.broken, &other.broken);
        self.closed += other.closed;
        for (into, from) in self.aborted.iter_mut().zip(other.aborted) {
            *into += from;
        }
        self.issued += other.issued;
        map(&mut self.calls_failed, &other.calls_failed);
        self.calls_aborted += other.calls_aborted;
        map(&mut self.statuses, &other.statuses);
        self.header += other.header;
        self.content += other.content;
        self.footer += other.footer;
        self.sections += other.sections;
        self.request_bytes += other.request_bytes;
        self.notes += other.notes;
        self.interims += other.interims;
        self.sessions += other.sessions;
        for (into, from) in self.sessions_ended.iter_mut().zip(other.sessions_ended) {
            *into += from;
        }
    }
}

/// When an event happened.
fn stamp(event: &Event) -> Time {
    match *event {
        Event::Arrival { at, .. }
        | Event::Shed { at, .. }
        | Event::ConnEnded { at, .. }
        | Event::Stopping { at }
        | Event::SessionBegan { at, .. }
        | Event::SessionEnded { at, .. }
        | Event::ConnConnecting { at, .. }
        | Event::ConnConnected { at, .. }
        | Event::ConnFailed { at, .. }
        | Event::ConnClosed { at, .. }
        | Event::ConnAborted { at, .. }
        | Event::CallIssued { at, .. }
        | Event::CallSendStart { at, .. }
        | Event::CallSendStop { at, .. }
        | Event::CallRecvStart { at, .. }
        | Event::CallRecvHeader { at, .. }
        | Event::CallRecvData { at, .. }
        | Event::CallRecvStop { at, .. }
        | Event::CallFailed { at, .. }
        | Event::CallAborted { at, .. }
        | Event::Noted { at, .. }
        | Event::Interim { at, .. }
        | Event::Wake { at, .. }
        | Event::Tick { at }
        | Event::Snapshot { at }
        | Event::Stopped { at } => at,
    }
}
