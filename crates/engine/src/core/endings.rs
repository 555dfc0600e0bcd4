//! How connections end: time limits, failures, announced ends.

use httperf_wire::{Fault, TlsFault};

use super::{Action, Core};
use crate::cause::Cause;
use crate::conn::{Broken, Conn, State};
use crate::event::Event;
use crate::object::ConnId;
use crate::time::{Nanos, Time};

impl Core {
    /// Starts the watchdog of a connection anew.
    #[inline]
    pub(super) fn renew(&mut self, id: ConnId, limit: Option<Nanos>) {
        if self.limited {
            self.watch(id, limit);
        }
    }

    fn watch(&mut self, id: ConnId, limit: Option<Nanos>) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        conn.deadline = limit.map_or(Time::NEVER, |limit| self.now + limit);
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
