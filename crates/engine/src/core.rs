//! The core: a pure state machine over connections, calls and time.
//!
//! Drive it so (see [`run`](crate::run())): hand it one input (`handle`, `handle_wake`, `handle_deadlines`),
//! then drain `poll` and `poll_transmit` until both are empty, then the next input. Commands act in order,
//! only append, and never fail late: on a connection that can take no more, `issue` returns [`Gone`], creates
//! nothing and counts nothing; the event that says why is already queued.

mod endings;
mod replies;
mod secure;

use std::collections::VecDeque;

use httperf_wire::{H1, Machine, Memo, Request, Signal};

use crate::cause::Cause;
use crate::conn::{Again, Call, Conn, Flags, Queue, State};
use crate::driver::{Completion, Input, Stop, Transmit};
use crate::event::Event;
use crate::object::{CallId, ConnId, SessionId, Slab};
use crate::request::{Patch, RequestId, Requests};
use crate::scenario::{Deadlines, Scenario, Scrap};
use crate::session::{Outcome, Session};
use crate::time::{Time, Timers};
use endings::KeptPool;
use replies::Heard;

/// Fewer coming body bytes than this are read, not thrown away: a discard pays only when it is large.
const DISCARD_FROM: u64 = 64 * 1024;

/// The connection takes no more calls; the event that says why is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Payload bytes of all connections so far; under TLS the plain text, without records and handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes the kernel took; under TLS those of requests that it took to the last byte.
    pub sent: u64,
    /// Bytes that came, chunk framing and partial replies included.
    pub received: u64,
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Finished,
    Limit,
    Stopped(Stop),
}

/// The core of one loop.
pub struct Core {
    scenario: Scenario,
    requests: Requests,
    /// Whether there is any time limit to watch.
    limited: bool,
    now: Time,
    began: Time,
    started: Time,
    turn: u64,
    ended: Option<Ended>,
    /// The workload wants the end.
    stopping: bool,
    pool: Option<KeptPool>,
    traffic: Traffic,
    conns: Slab<Conn>,
    calls: Slab<Call>,
    sessions: Slab<Session>,
    /// The number of the next call.
    serial: u64,
    memo: Memo,
    heard: Heard,
    events: Events,
    transmits: VecDeque<Action>,
    /// Decrypted bytes of the input at hand.
    plain: Vec<u8>,
    /// Wakes of the workload.
    wakes: Timers<u64>,
    /// When the next tick is due, and when the time of the run is up. Not among the wakes: an arrival that is
    /// overdue comes before everything due later, and where a schedule cannot be kept there is always one.
    tick: Time,
    limit: Time,
    watched: Timers<ConnId>,
    leaving: Leaving,
}

/// Events that wait to be polled. They are drained after every input, so a list and a position will do.
#[derive(Debug, Default)]
struct Events {
    list: Vec<Event>,
    next: usize,
}

impl Events {
    #[inline]
    fn push(&mut self, event: Event) {
        self.list.push(event);
    }

    #[inline]
    fn pop(&mut self) -> Option<Event> {
        if let Some(event) = self.list.get(self.next) {
            self.next += 1;
            return Some(*event);
        }
        self.list.clear();
        self.next = 0;
        None
    }
}

/// A transmit that waits to be polled.
#[derive(Clone, Copy, Debug)]
enum Action {
    Open(ConnId),
    Write(ConnId),
    Close(ConnId),
}

/// The object whose last event is being handed round; it is removed when the next event is polled.
#[derive(Clone, Copy, Debug)]
enum Leaving {
    Nobody,
    Conn(ConnId),
    Call(CallId),
    Session(SessionId),
}

impl Core {
    /// A core for this scenario, with nothing in it.
    pub fn new(scenario: Scenario) -> Self {
        Self {
            requests: Requests::new(scenario.requests.clone()),
            limited: scenario.deadlines != Deadlines::default(),
            scenario,
            now: Time::default(),
            began: Time::default(),
            started: Time::default(),
            turn: 0,
            ended: None,
            stopping: false,
            pool: None,
            traffic: Traffic::default(),
            conns: Slab::default(),
            calls: Slab::default(),
            sessions: Slab::default(),
            serial: 0,
            heard: Heard::default(),
            memo: Memo::default(),
            events: Events::default(),
            transmits: VecDeque::with_capacity(64),
            plain: Vec::new(),
            wakes: Timers::new(),
            tick: Time::NEVER,
            limit: Time::NEVER,
            watched: Timers::new(),
            leaving: Leaving::Nobody,
        }
    }

    // ---- what the loop does: handle -------------------------------------------------------------------

    /// The run begins; arrivals count from here.
    pub fn begin(&mut self, now: Time) {
        self.now = now;
        self.began = now;
        // A run can be over before its first step is done.
        self.started = now;
        if let Some(ticks) = self.scenario.ticks {
            self.tick = now + ticks.first;
        }
        if let Some(limit) = self.scenario.limit {
            self.limit = now + limit;
        }
    }

    /// The workload has done its first step; the test lasts from here.
    pub fn started(&mut self, now: Time) {
        self.now = now;
        self.started = now;
    }

    /// The loop begins another turn.
    pub fn turn(&mut self) {
        self.turn += 1;
    }

    /// Takes one completion from the driver.
    pub fn handle(&mut self, completion: Completion<'_>) {
        let Completion { at, conn: id, input } = completion;
        self.now = self.now.max(at);
        self.heard.text.clear();
        if let Input::Stop(stop) = input {
            return self.wind_down(Ended::Stopped(stop));
        }
        let Some(conn) = self.conns.get_mut(id) else {
            if let Input::Snapshot = input {
                self.events.push(Event::Snapshot { at });
            }
            return;
        };
        if conn.state == State::Closed {
            return;
        }
        match input {
            Input::Data(bytes) => match conn.tls {
                None => {
                    self.traffic.received += bytes.len() as u64;
                    self.receive(id, bytes);
                }
                Some(_) => self.decrypt(id, bytes),
            },
            Input::Sent(bytes) => match conn.tls {
                None => self.sent(id, bytes, at),
                Some(_) => self.sent_secure(id, bytes, at),
            },
            Input::Writable => {
                if !conn.queue.unsent.is_none() || conn.tls.is_some() {
                    self.transmits.push_back(Action::Write(id));
                }
            }
            Input::Discarded(bytes) => {
                self.traffic.received += bytes;
                let end = conn.machine.discarded(bytes);
                self.signal(id, Signal::Content { bytes }, Scrap::NONE);
                if let Some(signal) = end {
                    self.signal(id, signal, Scrap::NONE);
                }
            }
            Input::Opened => {
                conn.state = State::Connecting;
                conn.created = at;
                self.events.push(Event::ConnConnecting { conn: id, at });
                self.renew(id, self.scenario.deadlines.connect);
            }
            Input::Connected => {
                conn.reached = at;
                if self.scenario.secure.is_some() {
                    self.secure(id);
                } else {
                    self.open(id);
                }
            }
            // An answer of TLS itself that nobody takes, while nothing is outstanding: as `Failed`.
            Input::SendFailed(_) if conn.tls.is_some() && conn.is_idle() => conn.flags.ended = true,
            Input::OpenFailed(errno) | Input::ConnectFailed(errno) | Input::SendFailed(errno) => {
                let cause = if conn.flags.ended { conn.ended_cause() } else { Cause::from_errno(errno) };
                self.fail(id, cause, errno);
            }
            Input::Failed(errno) => {
                if conn.queue.len == 0 && conn.state == State::Open {
                    self.ended_idle(id);
                } else {
                    self.fail(id, Cause::from_errno(errno), errno);
                }
            }
            Input::Eof if conn.tls.is_some() => self.finish_secure(id),
            Input::Eof => self.finish(id),
            Input::Stop(_) | Input::Snapshot => {}
        }
    }

    /// Takes up the end of the run, a tick, or the first wake that was due by `limit`; `now` is what the
    /// clock says. `false` if there was none.
    pub fn handle_wake(&mut self, limit: Time, now: Time) -> bool {
        if self.limit <= limit {
            self.now = self.now.max(now);
            self.limit = Time::NEVER;
            self.wind_down(Ended::Limit);
        } else if self.tick <= limit {
            self.now = self.now.max(now);
            self.events.push(Event::Tick { at: self.now });
            if let Some(ticks) = self.scenario.ticks {
                let missed = self.now.since(self.tick) / ticks.every;
                self.tick = self.tick + ticks.every * (missed + 1);
            }
        } else if let Some((due, token)) = self.wakes.take(limit) {
            self.now = self.now.max(now);
            self.events.push(Event::Wake { token, due, at: self.now });
        } else {
            return false;
        }
        true
    }

    /// Fails every connection whose time limit has passed.
    pub fn handle_deadlines(&mut self, now: Time) {
        self.now = self.now.max(now);
        while let Some((at, id)) = self.watched.take(now) {
            let Some(conn) = self.conns.get_mut(id) else { continue };
            if conn.watched != at || conn.state == State::Closed {
                continue;
            }
            conn.watched = Time::NEVER;
            if conn.deadline > now {
                if conn.deadline.is_set() {
                    conn.watched = conn.deadline;
                    self.watched.add(conn.deadline, id);
                }
                continue;
            }
            let cause = match conn.state {
                State::Open => Cause::ReplyTimeout,
                State::Securing => Cause::HandshakeTimeout,
                _ => Cause::ConnectTimeout,
            };
            self.fail(id, cause, 0);
        }
    }

    /// The run is over: whatever is open is aborted.
    pub fn abort(&mut self, now: Time) {
        self.now = self.now.max(now);
        let at = self.now;
        let open: Vec<ConnId> = self.conns.ids().collect();
        for id in open {
            let Some(conn) = self.conns.get_mut(id) else { continue };
            if conn.state == State::Closed {
                continue;
            }
            conn.state = State::Closed;
            let mut call = conn.queue.first;
            while let Some(next) = self.calls.get(call).map(|call| call.next) {
                self.events.push(Event::CallAborted { call, at });
                call = next;
            }
            self.events.push(Event::ConnAborted { conn: id, at });
            self.transmits.push_back(Action::Close(id));
        }
        let going: Vec<SessionId> =
            self.sessions.ids().filter(|id| self.sessions.get(*id).is_some_and(|it| !it.ended)).collect();
        for session in going {
            self.events.push(Event::SessionEnded { session, outcome: Outcome::Unfinished, at });
        }
    }

    // ---- what the workload does: commands -------------------------------------------------------------

    /// Says that an arrival which was due at `due` is taken up.
    pub fn arrive(&mut self, due: Time) {
        self.events.push(Event::Arrival { due, at: self.now });
    }

    /// Says that an arrival which was due at `due`, and was taken up, is dropped.
    pub fn shed(&mut self, due: Time) {
        self.events.push(Event::Shed { due, at: self.now });
    }

    /// Opens a connection to a target (by its number in the scenario). `due` is when it should have been
    /// opened, `token` whatever the workload wants to find in it.
    pub fn connect(&mut self, target: u32, due: Time, token: u32) -> ConnId {
        self.connect_in(SessionId::NONE, target, due, token)
    }

    /// Opens a connection of a session. Otherwise as [`connect`](Core::connect).
    pub fn connect_in(&mut self, session: SessionId, target: u32, due: Time, token: u32) -> ConnId {
        let id = self.conns.insert(Conn {
            due,
            created: Time::NEVER,
            reached: Time::NEVER,
            connected: Time::NEVER,
            session,
            replies: 0,
            token,
            target,
            fault: None,
            tls: None,
            state: State::Opening,
            flags: Flags::default(),
            machine: H1::new(self.scenario.rules),
            queue: Queue::default(),
            deadline: Time::NEVER,
            watched: Time::NEVER,
        });
        self.transmits.push_back(Action::Open(id));
        id
    }

    /// Gives a request that was due at `due` to the send queue of a connection.
    ///
    /// # Errors
    /// [`Gone`] if the connection is not open.
    #[inline]
    pub fn issue(&mut self, conn: ConnId, request: RequestId, due: Time) -> Result<CallId, Gone> {
        self.issue_again(conn, request, due, 0, None)
    }

    /// Issues a call with a token of the workload's; `again` says that it is another attempt at a call, and
    /// what it takes over from the one before. Otherwise as [`issue`](Core::issue).
    ///
    /// # Errors
    /// [`Gone`] if the connection is not open.
    #[inline(always)]
    pub fn issue_again(
        &mut self,
        conn: ConnId,
        request: RequestId,
        due: Time,
        token: u32,
        again: Option<Again>,
    ) -> Result<CallId, Gone> {
        let at = self.now;
        let Some(owner) = self.conns.get_mut(conn).filter(|conn| conn.state == State::Open) else {
            return Err(Gone);
        };
        self.requests.hold(request);
        let (serial, carried, header) = match again {
            None => {
                self.serial += 1;
                (self.serial - 1, 0, 0)
            }
            Some(again) => (again.serial, again.request_bytes, again.header_bytes),
        };
        let queue = &mut owner.queue;
        let heads = queue.unsent.is_none();
        let call = self.calls.insert(Call {
            conn,
            due,
            heads_queue: if heads { at } else { Time::NEVER },
            sent: Time::NEVER,
            first_byte: Time::NEVER,
            status_at: Time::NEVER,
            status: 0,
            header,
            content: 0,
            request,
            serial,
            carried,
            token,
            written: 0,
            next: CallId::NONE,
        });
        if queue.len == 0 {
            queue.first = call;
        } else if let Some(last) = self.calls.get_mut(queue.last) {
            last.next = call;
        }
        queue.last = call;
        queue.len += 1;
        if heads {
            queue.unsent = call;
            self.transmits.push_back(Action::Write(conn));
        }
        self.events.push(Event::CallIssued { call, at });
        Ok(call)
    }

    /// Closes a connection. Calls that are outstanding on it are aborted; before it is open it is aborted
    /// itself.
    pub fn close(&mut self, conn: ConnId) {
        let at = self.now;
        let Some(owner) = self.conns.get_mut(conn).filter(|conn| conn.state != State::Closed) else { return };
        let opened = owner.state == State::Open;
        owner.state = State::Closed;
        let mut call = owner.queue.first;
        while let Some(next) = self.calls.get(call).map(|call| call.next) {
            self.events.push(Event::CallAborted { call, at });
            call = next;
        }
        if opened {
            return self.depart(conn);
        }
        self.events.push(Event::ConnAborted { conn, at });
        self.transmits.push_back(Action::Close(conn));
    }

    /// Begins a session that was due at `due`, with a token of the workload's.
    pub fn begin_session(&mut self, due: Time, token: u32) -> SessionId {
        let began = self.now;
        let session = Session { due, began, replies: 0, connections: 0, token, tickets: None, ended: false };
        let session = self.sessions.insert(session);
        self.events.push(Event::SessionBegan { session, at: began });
        session
    }

    /// Ends a session. Its connections are the workload's to close.
    pub fn end_session(&mut self, id: SessionId, outcome: Outcome) {
        let Some(session) = self.sessions.get_mut(id).filter(|session| !session.ended) else { return };
        session.ended = true;
        self.events.push(Event::SessionEnded { session: id, outcome, at: self.now });
    }

    /// Makes a request that differs from another one. It lives until the workload has
    /// [`released`](Core::release) it and no call needs it any more.
    pub fn patch(&mut self, of: RequestId, patch: Patch<'_>) -> RequestId {
        self.requests.patch(of, patch)
    }

    /// The workload needs a patched request no longer.
    pub fn release(&mut self, request: RequestId) {
        self.requests.release(request);
    }

    /// Asks for a [`Wake`](Event::Wake) at a moment; one that has passed comes at once.
    pub fn schedule(&mut self, at: Time, token: u64) {
        self.wakes.add(at, token);
    }

    /// Ends the run as soon as everything commanded so far is handed over: the workload has nothing left to
    /// do.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    // ---- what everybody reads: poll -------------------------------------------------------------------

    /// The next event. The object whose last event it is goes when the next one is polled.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Event> {
        if !matches!(self.leaving, Leaving::Nobody) {
            self.bid_farewell();
        }
        let event = self.events.pop()?;
        match event {
            Event::ConnClosed { conn, .. } | Event::ConnAborted { conn, .. } => {
                self.leaving = Leaving::Conn(conn);
            }
            Event::CallRecvStop { call, .. }
            | Event::CallFailed { call, .. }
            | Event::CallAborted { call, .. } => self.leaving = Leaving::Call(call),
            Event::SessionEnded { session, .. } => self.leaving = Leaving::Session(session),
            _ => {}
        }
        Some(event)
    }

    /// The next thing the driver has to do.
    #[inline(always)]
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        while let Some(action) = self.transmits.pop_front() {
            match action {
                Action::Close(conn) => {
                    // Told here and not before: what was begun meanwhile has overlapped with it.
                    // One that was aborted is gone already.
                    if self.conns.get(conn).is_some() {
                        self.events.push(Event::ConnClosed { conn, at: self.now });
                    }
                    return Some(Transmit::Close { conn, last: self.farewell(conn) });
                }
                Action::Open(id) => {
                    let Some(conn) = self.conns.get(id) else { continue };
                    if conn.state == State::Opening {
                        let to = self.scenario.targets[conn.target as usize];
                        let options = &self.scenario.socket;
                        return Some(Transmit::Open { conn: id, key: conn.due.0, to, options });
                    }
                }
                Action::Write(id) => {
                    let Some(conn) = self.conns.get_mut(id) else { continue };
                    if conn.tls.is_some() {
                        // What is left to be said on a closed connection goes with its end, once.
                        if conn.state != State::Closed && self.encrypt(id) {
                            let tls = self.conns.get(id).and_then(|conn| conn.tls.as_ref());
                            return tls.map(|tls| Transmit::Write { conn: id, bytes: tls.outgoing() });
                        }
                        continue;
                    }
                    let Some(call) = self.calls.get(conn.queue.unsent) else { continue };
                    if conn.state == State::Open {
                        let request = self.requests.get(call.request);
                        return Some(Transmit::Write {
                            conn: id,
                            bytes: &request.bytes()[call.written as usize..],
                        });
                    }
                }
            }
        }
        if self.stopping {
            self.stopping = false;
            self.end(Ended::Finished);
        }
        None
    }

    /// Whether there is no event to be polled.
    pub(crate) fn is_settled(&self) -> bool {
        self.events.next == self.events.list.len()
    }

    /// When the core has to be called again at the latest.
    pub fn poll_timeout(&self) -> Time {
        self.next_wake().min(self.watched.next())
    }

    /// When the next wake is due.
    pub fn next_wake(&self) -> Time {
        self.wakes.next().min(self.tick).min(self.limit)
    }

    /// Whether the run is over.
    pub fn is_stopped(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether the run is over, or will be as soon as everything commanded is handed over.
    pub fn is_stopping(&self) -> bool {
        self.stopping || self.is_stopped()
    }

    /// Whether the run was ended by its time limit.
    pub fn reached_limit(&self) -> bool {
        self.ended == Some(Ended::Limit)
    }

    /// Who ended the run from outside, if anybody.
    pub fn stopped_by(&self) -> Option<Stop> {
        match self.ended {
            Some(Ended::Stopped(stop)) => Some(stop),
            _ => None,
        }
    }

    /// The time of the latest input.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When the run began; arrivals count from here.
    pub fn began_at(&self) -> Time {
        self.began
    }

    /// When the test started: after the workload's first step.
    pub fn started_at(&self) -> Time {
        self.started
    }

    /// The number of this turn of the loop.
    pub fn turns(&self) -> u64 {
        self.turn
    }

    /// Bytes so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// What this core was made for.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// A connection, until its last event has been handed round.
    #[inline]
    pub fn conn(&self, id: ConnId) -> Option<&Conn> {
        self.conns.get(id)
    }

    /// A call, until its last event has been handed round.
    #[inline]
    pub fn call(&self, id: CallId) -> Option<&Call> {
        self.calls.get(id)
    }

    /// A session, until its last event has been handed round.
    #[inline]
    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// A request, as long as somebody needs it.
    pub fn request(&self, id: RequestId) -> &Request {
        self.requests.get(id)
    }

    /// The bytes of an event that somebody wanted ([`Wants`](crate::Wants)): so many from there. They can be
    /// read until the events of that input are drained. Bytes that nobody wanted are not there.
    pub fn text(&self, scrap: Scrap, bytes: u64) -> &[u8] {
        let from = scrap.0 as usize;
        self.heard.text.get(from..from + bytes as usize).unwrap_or_default()
    }

    /// How many coming bytes of a connection are plain body that nobody wants and may be thrown away unread.
    /// It is permission, never an order.
    pub fn discardable(&self, id: ConnId) -> u64 {
        match self.conns.get(id) {
            Some(conn) if conn.flags.receiving && conn.tls.is_none() && !self.scenario.wants.body => {
                let bytes = conn.machine.discardable();
                if bytes >= DISCARD_FROM { bytes } else { 0 }
            }
            _ => 0,
        }
    }

    // ---- inside ---------------------------------------------------------------------------------------

    /// The connection can carry calls.
    fn open(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        conn.state = State::Open;
        conn.connected = self.now;
        if let Some(session) = self.sessions.get_mut(conn.session) {
            session.connections += 1;
        }
        self.events.push(Event::ConnConnected { conn: id, at: self.now });
        self.renew(id, None);
    }

    /// Removes the object whose last event has been handed round.
    fn bid_farewell(&mut self) {
        match std::mem::replace(&mut self.leaving, Leaving::Nobody) {
            Leaving::Nobody => {}
            Leaving::Call(call) => {
                if let Some(call) = self.calls.remove(call) {
                    self.requests.release(call.request);
                }
            }
            Leaving::Session(session) => {
                if let Some(session) = self.sessions.remove(session) {
                    session.tickets = None;
                }
            }
            Leaving::Conn(conn) => {
                if let Some(conn) = self.conns.remove(conn) {
                    (conn.tls, conn.machine) = (None, H1::default());
                }
            }
        }
    }

    fn end(&mut self, ended: Ended) {
        if self.ended.is_none() {
            self.ended = Some(self.reason(ended));
            self.events.push(Event::Stopped { at: self.now });
        }
    }

    /// The kernel took bytes of the call that heads the send queue.
    fn sent(&mut self, id: ConnId, bytes: usize, at: Time) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let call = conn.queue.unsent;
        let Some(current) = self.calls.get_mut(call) else { return };
        // A write that moved nothing has sent nothing: its stamp would be too early.
        if bytes > 0 && !current.sent.is_set() {
            current.sent = at;
            self.events.push(Event::CallSendStart { call, at });
        }
        current.written += bytes as u32;
        self.traffic.sent += bytes as u64;
        if (current.written as usize) < self.requests.get(current.request).bytes().len() {
            // Only progress renews the limit; a write that moved nothing must have one, though.
            if bytes > 0 || !conn.deadline.is_set() {
                self.renew(id, self.scenario.deadlines.write);
            }
            return;
        }
        let bytes = current.carried + current.written;
        let (next, flags) = (current.next, conn.flags);
        conn.queue.unsent = next;
        self.events.push(Event::CallSendStop { call, bytes, at });
        self.written_out(id, next, flags, at);
    }

    /// The kernel has the last byte of a call; `next` heads the send queue now.
    #[inline(always)]
    fn written_out(&mut self, id: ConnId, next: CallId, flags: Flags, at: Time) {
        if let Some(next) = self.calls.get_mut(next) {
            next.heads_queue = at;
            self.transmits.push_back(Action::Write(id));
            self.renew(id, self.scenario.deadlines.write);
        } else if flags.ended {
            let cause = self.conns.get(id).map_or(Cause::ClosedEarly, Conn::ended_cause);
            self.fail(id, cause, 0);
        } else if !flags.receiving {
            self.renew(id, self.scenario.deadlines.wait);
        }
    }
}
