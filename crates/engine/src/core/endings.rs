//! How connections end: time limits, failures, announced ends.

use httperf_wire::{Fault, TlsFault};

use super::{Action, Core, Ended};
use crate::cause::Cause;
use crate::conn::{Broken, Conn, State};
use crate::driver::Stop;
use crate::event::Event;
use crate::object::ConnId;
use crate::time::{Nanos, Time};

/// What a workload that keeps its connections in a pool has asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptPool {
    /// What calls in flight get at the end of the run.
    grace: Nanos,
    /// Why the run winds down, if it does.
    ending: Option<Ended>,
}

impl Core {
    /// Says that the workload keeps its connections in a pool, where no call waits for one of them in
    /// particular. Then the end of a connection between calls is told ([`Event::ConnEnded`]), and no error: a
    /// call it took with it has failed, and may be issued again. And when the time of the run is up, or
    /// somebody ends it, [`Event::Stopping`] comes first and calls in flight get so long; whoever ends it
    /// once more ends it at once.
    pub fn keep_pool(&mut self, grace: Nanos) {
        self.pool = Some(KeptPool { grace, ending: None });
    }

    /// Whether the workload keeps its connections in a pool.
    pub fn keeps_pool(&self) -> bool {
        self.pool.is_some()
    }

    /// The run has to end, after the grace of a pool.
    pub(super) fn wind_down(&mut self, ended: Ended) {
        match &mut self.pool {
            // Where another part has failed nothing is worth waiting for.
            _ if ended == Ended::Stopped(Stop::Error) => self.end(ended),
            Some(pool) if pool.ending.is_none() && self.ended.is_none() => {
                pool.ending = Some(ended);
                self.limit = self.now + pool.grace;
                self.events.push(Event::Stopping { at: self.now });
            }
            _ => self.end(ended),
        }
    }

    /// Why the run is over: what began its end, unless somebody lost patience with that.
    pub(super) fn reason(&self, ended: Ended) -> Ended {
        match (ended, self.pool.and_then(|pool| pool.ending)) {
            (Ended::Finished | Ended::Limit, Some(first)) => first,
            _ => ended,
        }
    }

    /// The peer has ended a connection on which nothing is outstanding.
    pub(super) fn ended_idle(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        conn.flags.ended = true;
        if self.pool.is_some() {
            self.events.push(Event::ConnEnded { conn: id, at: self.now });
        }
    }

    /// Starts the watchdog of a connection anew.
    #[inline]
    pub(super) fn renew(&mut self, id: ConnId, limit: Option<Nanos>) {
        if self.limited {
            self.watch(id, limit);
        }
    }

    fn watch(&mut self, id: ConnId, limit: Option<Nanos>) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        conn.deadline = match self.scenario.deadlines.call {
            // That of the oldest call: the others on the connection follow it.
            Some(limit) if conn.state == State::Open => {
                self.calls.get(conn.queue.first).map_or(Time::NEVER, |call| call.heads_queue + limit)
            }
            _ => limit.map_or(Time::NEVER, |limit| self.now + limit),
        };
        if conn.deadline < conn.watched {
            conn.watched = conn.deadline;
            self.watched.add(conn.deadline, id);
            self.forget_the_gone();
        }
    }

    /// Entries of connections that are gone would stay until their time. When they are most of all, they go
    /// at once: memory follows the connections that live, not those of the last `--timeout` seconds.
    fn forget_the_gone(&mut self) {
        if self.watched.len() > 2 * self.conns.len() + 1024 {
            let conns = &self.conns;
            self.watched.retain(|at, id| conns.get(*id).is_some_and(|conn| conn.watched == at));
        }
    }

    /// The server has announced the end of the connection: no error, but calls behind it are lost.
    pub(super) fn close_announced(&mut self, id: ConnId) {
        self.fail_calls(id, Cause::ClosedIdle);
        self.depart(id);
    }

    /// One error: all calls of the connection fail with it.
    pub(super) fn fail(&mut self, id: ConnId, cause: Cause, errno: i32) {
        if cause == Cause::ClosedIdle && self.pool.is_some() {
            return self.close_announced(id);
        }
        self.fail_calls(id, cause);
        self.events.push(Event::ConnFailed { conn: id, cause, errno, at: self.now });
        self.depart(id);
    }

    /// The server broke the protocol.
    pub(super) fn fault(&mut self, id: ConnId, fault: Fault) {
        self.broken(id, Broken::Http(fault));
    }

    /// The server broke a protocol.
    pub(super) fn broken(&mut self, id: ConnId, how: Broken) {
        if let Some(conn) = self.conns.get_mut(id) {
            conn.fault = Some(how);
        }
        self.fail(id, cause_of(how), 0);
    }

    fn fail_calls(&mut self, id: ConnId, cause: Cause) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        conn.state = State::Closed;
        let mut call = conn.queue.first;
        while let Some(next) = self.calls.get(call).map(|call| call.next) {
            self.events.push(Event::CallFailed { call, cause, at: self.now });
            call = next;
        }
    }

    pub(super) fn depart(&mut self, id: ConnId) {
        self.heard.forget(id);
        self.say_farewell(id);
        self.transmits.push_back(Action::Close(id));
    }
}

impl Conn {
    /// What an unannounced end of the stream with no reply begun means.
    pub(super) fn ended_cause(&self) -> Cause {
        if self.replies > 0 { Cause::ClosedIdle } else { Cause::ClosedEarly }
    }
}

fn cause_of(how: Broken) -> Cause {
    match how {
        Broken::Http(Fault::Malformed(_)) => Cause::Malformed,
        Broken::Http(Fault::Limit(_)) => Cause::Limit,
        Broken::Http(Fault::Unsolicited) => Cause::Unsolicited,
        Broken::Http(Fault::Truncated) => Cause::Truncated,
        Broken::Tls(TlsFault::Certificate(_)) => Cause::TlsCertificate,
        Broken::Tls(_) => Cause::TlsHandshake,
    }
}
