//! The core: a pure state machine over connections, calls and time.
//!
//! Drive it so (see [`run`](crate::run())): hand it one input (`handle`, `handle_wake`, `handle_deadlines`),
//! then drain `poll` and `poll_transmit` until both are empty, then the next input. Commands act in order,
//! only append, and never fail late: on a connection that can take no more, `issue` returns [`Gone`], creates
//! nothing and counts nothing; the event that says why is already queued.

use std::collections::VecDeque;
use std::sync::Arc;

use httperf_wire::{Due, Fault, H1, Machine, Memo, Request, Signal};

use crate::cause::Cause;
use crate::conn::{Call, Conn, Flags, Queue, State};
use crate::driver::{Completion, Input, Stop, Transmit};
use crate::event::Event;
use crate::object::{CallId, ConnId, Slab};
use crate::scenario::{Deadlines, RequestId, Scenario};
use crate::time::{Nanos, Time, Timers};

/// Fewer coming body bytes than this are read, not thrown away: a discard pays only when it is large.
const DISCARD_FROM: u64 = 64 * 1024;

/// The connection takes no more calls; the event that says why is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Payload bytes of all connections so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes the kernel took.
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
    requests: Arc<[Request]>,
    /// Whether there is any time limit to watch.
    limited: bool,
    now: Time,
    began: Time,
    started: Time,
    turn: u64,
    ended: Option<Ended>,
    traffic: Traffic,
    conns: Slab<Conn>,
    calls: Slab<Call>,
    memo: Memo,
    events: Events,
    transmits: VecDeque<Action>,
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
}

impl Core {
    /// A core for this scenario, with nothing in it.
    pub fn new(scenario: Scenario) -> Self {
        Self {
            requests: scenario.requests.clone(),
            limited: scenario.deadlines != Deadlines::default(),
            scenario,
            now: Time::default(),
            began: Time::default(),
            started: Time::default(),
            turn: 0,
            ended: None,
            traffic: Traffic::default(),
            conns: Slab::default(),
            calls: Slab::default(),
            memo: Memo::default(),
            events: Events::default(),
            transmits: VecDeque::with_capacity(64),
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
        if let Input::Stop(stop) = input {
            return self.end(Ended::Stopped(stop));
        }
        let Some(conn) = self.conns.get_mut(id) else { return };
        if conn.state == State::Closed {
            return;
        }
        match input {
            Input::Data(bytes) => self.receive(id, bytes),
            Input::Sent(bytes) => self.sent(id, bytes, at),
            Input::Writable => {
                if !conn.queue.unsent.is_none() {
                    self.transmits.push_back(Action::Write(id));
                }
            }
            Input::Discarded(bytes) => {
                self.traffic.received += bytes;
                let end = conn.machine.discarded(bytes);
                self.signal(id, Signal::Content { bytes });
                if let Some(signal) = end {
                    self.signal(id, signal);
                }
            }
            Input::Opened => {
                conn.state = State::Connecting;
                conn.created = at;
                self.events.push(Event::ConnConnecting { conn: id, at });
                self.renew(id, self.scenario.deadlines.connect);
            }
            Input::Connected => {
                conn.state = State::Open;
                conn.connected = at;
                self.events.push(Event::ConnConnected { conn: id, at });
                self.renew(id, None);
            }
            Input::OpenFailed(errno) | Input::ConnectFailed(errno) | Input::SendFailed(errno) => {
                let cause = if conn.flags.ended { conn.ended_cause() } else { Cause::from_errno(errno) };
                self.fail(id, cause, errno);
            }
            Input::Failed(errno) => {
                if conn.queue.len == 0 {
                    conn.flags.ended = true;
                } else {
                    self.fail(id, Cause::from_errno(errno), errno);
                }
            }
            Input::Eof => self.finish(id),
            Input::Stop(_) => {}
        }
    }

    /// Takes up the end of the run, a tick, or the first wake that was due by `limit`; `now` is what the
    /// clock says. `false` if there was none.
    pub fn handle_wake(&mut self, limit: Time, now: Time) -> bool {
        if self.limit <= limit {
            self.now = self.now.max(now);
            self.limit = Time::NEVER;
            self.end(Ended::Limit);
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
            let cause = if conn.state == State::Open { Cause::ReplyTimeout } else { Cause::ConnectTimeout };
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
    }

    // ---- what the workload does: commands -------------------------------------------------------------

    /// Says that an arrival which was due at `due` is taken up.
    pub fn arrive(&mut self, due: Time) {
        self.events.push(Event::Arrival { due, at: self.now });
    }

    /// Opens a connection to a target (by its number in the scenario). `due` is when it should have been
    /// opened, `token` whatever the workload wants to find in it.
    pub fn connect(&mut self, target: u32, due: Time, token: u32) -> ConnId {
        let id = self.conns.insert(Conn {
            due,
            created: Time::NEVER,
            connected: Time::NEVER,
            replies: 0,
            token,
            target,
            fault: None,
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
    pub fn issue(&mut self, conn: ConnId, request: RequestId, due: Time) -> Result<CallId, Gone> {
        let at = self.now;
        let Some(owner) = self.conns.get_mut(conn).filter(|conn| conn.state == State::Open) else {
            return Err(Gone);
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
            header: 0,
            content: 0,
            request,
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

    /// Closes a connection. Calls that are outstanding on it are aborted.
    pub fn close(&mut self, conn: ConnId) {
        let at = self.now;
        let Some(owner) = self.conns.get_mut(conn).filter(|conn| conn.state != State::Closed) else { return };
        owner.state = State::Closed;
        let mut call = owner.queue.first;
        while let Some(next) = self.calls.get(call).map(|call| call.next) {
            self.events.push(Event::CallAborted { call, at });
            call = next;
        }
        self.depart(conn);
    }

    /// Asks for a [`Wake`](Event::Wake) at a moment; one that has passed comes at once.
    pub fn schedule(&mut self, at: Time, token: u64) {
        self.wakes.add(at, token);
    }

    /// Ends the run: the workload has nothing left to do.
    pub fn stop(&mut self) {
        self.end(Ended::Finished);
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
            _ => {}
        }
        Some(event)
    }

    /// The next thing the driver has to do.
    #[inline(always)]
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        while let Some(action) = self.transmits.pop_front() {
            match action {
                Action::Close(conn) => return Some(Transmit::Close { conn }),
                Action::Open(id) => {
                    let Some(conn) = self.conns.get(id) else { continue };
                    if conn.state == State::Opening {
                        let to = self.scenario.targets[conn.target as usize];
                        let options = &self.scenario.socket;
                        return Some(Transmit::Open { conn: id, key: conn.due.0, to, options });
                    }
                }
                Action::Write(id) => {
                    let Some(conn) = self.conns.get(id) else { continue };
                    let Some(call) = self.calls.get(conn.queue.unsent) else { continue };
                    if conn.state == State::Open {
                        let request = &self.requests[call.request.0 as usize];
                        return Some(Transmit::Write {
                            conn: id,
                            bytes: &request.bytes()[call.written as usize..],
                        });
                    }
                }
            }
        }
        None
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

    /// How many coming bytes of a connection are plain body that nobody wants and may be thrown away unread.
    /// It is permission, never an order.
    pub fn discardable(&self, id: ConnId) -> u64 {
        match self.conns.get(id) {
            Some(conn) if conn.flags.receiving => {
                let bytes = conn.machine.discardable();
                if bytes >= DISCARD_FROM { bytes } else { 0 }
            }
            _ => 0,
        }
    }

    // ---- inside ---------------------------------------------------------------------------------------

    /// Removes the object whose last event has been handed round.
    fn bid_farewell(&mut self) {
        match std::mem::replace(&mut self.leaving, Leaving::Nobody) {
            Leaving::Nobody => {}
            Leaving::Call(call) => drop(self.calls.remove(call)),
            Leaving::Conn(conn) => drop(self.conns.remove(conn)),
        }
    }

    fn end(&mut self, ended: Ended) {
        if self.ended.is_none() {
            self.ended = Some(ended);
            self.events.push(Event::Stopped { at: self.now });
        }
    }

    /// Bytes have come: everything the machine makes of them.
    fn receive(&mut self, id: ConnId, bytes: &[u8]) {
        self.traffic.received += bytes.len() as u64;
        let at = self.now;
        let mut rest = bytes;
        'calls: loop {
            let Some(conn) = self.conns.get_mut(id).filter(|conn| conn.state == State::Open) else { return };
            let call = conn.queue.first;
            let due = due(&self.calls, &self.requests, conn);
            let mut current = self.calls.get_mut(call);
            loop {
                let step = match conn.machine.receive(rest, due, &mut self.memo) {
                    Ok(step) => step,
                    Err(fault) => return self.fault(id, fault),
                };
                rest = &rest[step.used..];
                let (Some(signal), Some(current)) = (step.signal, current.as_deref_mut()) else { return };
                if matches!(signal, Signal::Begin) && !self.limited {
                    current.first_byte = at;
                    conn.flags.receiving = true;
                } else if !hear(call, current, signal, at, &mut self.events) {
                    self.signal(id, signal);
                    if rest.is_empty() && matches!(signal, Signal::End { .. }) {
                        return;
                    }
                    continue 'calls;
                }
            }
        }
    }

    /// The peer has ended its side.
    fn finish(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let due = due(&self.calls, &self.requests, conn);
        match conn.machine.finish(due) {
            Ok(Some(signal)) => {
                self.signal(id, signal);
                // What is behind a reply that the end of the stream completed went unannounced.
                if let Some(conn) = self.conns.get_mut(id).filter(|conn| conn.state == State::Open) {
                    conn.flags.ended = true;
                    if conn.queue.len > 0 {
                        self.fail(id, Cause::ClosedIdle, 0);
                    }
                }
            }
            Ok(None) if conn.queue.len == 0 => conn.flags.ended = true,
            Ok(None) => {
                let cause = conn.ended_cause();
                self.fail(id, cause, 0);
            }
            Err(fault) => self.fault(id, fault),
        }
    }

    /// One signal of the machine that concerns more than the call.
    fn signal(&mut self, id: ConnId, signal: Signal) {
        let at = self.now;
        let Some(conn) = self.conns.get_mut(id) else { return };
        let call = conn.queue.first;
        let Some(current) = self.calls.get_mut(call) else { return };
        match signal {
            Signal::Begin => {
                let first = !current.first_byte.is_set();
                current.first_byte = at;
                conn.flags.receiving = true;
                if first {
                    self.renew(id, self.scenario.deadlines.reply);
                }
            }
            Signal::Interim(status) => self.events.push(Event::Interim { conn: id, status, at }),
            Signal::Note(note) => self.events.push(Event::Noted { conn: id, note, at }),
            Signal::End { footer, last } => {
                // A reply that came before its request was written out stands, but nothing can
                // follow it: the rest of the request would be pointless, without it the next one
                // would be taken for that rest.
                let unfinished = conn.queue.unsent == call;
                conn.queue.first = current.next;
                conn.queue.len -= 1;
                conn.replies += 1;
                conn.flags.receiving = false;
                if conn.queue.len == 0 {
                    conn.deadline = Time::NEVER;
                }
                self.events.push(Event::CallRecvStop { call, footer, at });
                if unfinished || (last && !self.scenario.rules.classic_strict) {
                    self.close_announced(id);
                }
            }
            Signal::Status(_) | Signal::Head { .. } | Signal::Content { .. } => {
                hear(call, current, signal, at, &mut self.events);
            }
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
        if (current.written as usize) < self.requests[current.request.0 as usize].bytes().len() {
            // Only progress renews the limit; a write that moved nothing must have one, though.
            if bytes > 0 || !conn.deadline.is_set() {
                self.renew(id, self.scenario.deadlines.write);
            }
            return;
        }
        let (next, written) = (current.next, current.written);
        conn.queue.unsent = next;
        self.events.push(Event::CallSendStop { call, bytes: written, at });
        if let Some(next) = self.calls.get_mut(next) {
            next.heads_queue = at;
            self.transmits.push_back(Action::Write(id));
            self.renew(id, self.scenario.deadlines.write);
        } else if conn.flags.ended {
            let cause = conn.ended_cause();
            self.fail(id, cause, 0);
        } else if !conn.flags.receiving {
            self.renew(id, self.scenario.deadlines.wait);
        }
    }

    /// Starts the watchdog of a connection anew.
    #[inline]
    fn renew(&mut self, id: ConnId, limit: Option<Nanos>) {
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
    fn close_announced(&mut self, id: ConnId) {
        self.fail_calls(id, Cause::ClosedIdle);
        self.depart(id);
    }

    /// One error: all calls of the connection fail with it.
    fn fail(&mut self, id: ConnId, cause: Cause, errno: i32) {
        self.fail_calls(id, cause);
        self.events.push(Event::ConnFailed { conn: id, cause, errno, at: self.now });
        self.depart(id);
    }

    /// The server broke the protocol.
    fn fault(&mut self, id: ConnId, fault: Fault) {
        if let Some(conn) = self.conns.get_mut(id) {
            conn.fault = Some(fault);
        }
        self.fail(id, cause_of(fault), 0);
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

    fn depart(&mut self, id: ConnId) {
        self.events.push(Event::ConnClosed { conn: id, at: self.now });
        self.transmits.push_back(Action::Close(id));
    }
}

impl Conn {
    /// What an unannounced end of the stream with no reply begun means.
    fn ended_cause(&self) -> Cause {
        if self.replies > 0 { Cause::ClosedIdle } else { Cause::ClosedEarly }
    }
}

/// One signal of the machine that concerns the call alone; `false` if it does not. Three of them for each
/// reply: out of line they cost a twentieth of everything a call costs.
#[inline(always)]
fn hear(call: CallId, current: &mut Call, signal: Signal, at: Time, events: &mut Events) -> bool {
    match signal {
        Signal::Status(status) => {
            current.status = status;
            current.status_at = at;
            events.push(Event::CallRecvStart { call, status, at });
        }
        Signal::Head { bytes } => {
            current.header = bytes;
            events.push(Event::CallRecvHeader { call, bytes, at });
        }
        Signal::Content { bytes } => {
            current.content += bytes;
            events.push(Event::CallRecvData { call, bytes, at });
        }
        Signal::Begin | Signal::Interim(_) | Signal::Note(_) | Signal::End { .. } => return false,
    }
    true
}

/// Which reply a connection waits for: none before the first byte of a request was sent.
fn due(calls: &Slab<Call>, requests: &[Request], conn: &Conn) -> Due {
    match calls.get(conn.queue.first) {
        Some(call) if call.sent.is_set() => requests[call.request.0 as usize].due(),
        _ => Due::Nothing,
    }
}

fn cause_of(fault: Fault) -> Cause {
    match fault {
        Fault::Malformed(_) => Cause::Malformed,
        Fault::Limit(_) => Cause::Limit,
        Fault::Unsolicited => Cause::Unsolicited,
        Fault::Truncated => Cause::Truncated,
    }
}
