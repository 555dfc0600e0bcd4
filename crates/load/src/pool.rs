//! The workload of `httperf run`: calls arrive, not connections; connections are kept open in a pool.
//!
//! ```text
//!   Schedule --arrival--> a connection with room? --yes--> issue --> reply --> room again
//!   (open loop)             | no: open one, up to the cap                         |
//!                           v                                                     v
//!                        Backlog (or shed) <------------- the oldest goes first --+
//!   (closed loop)  a call is over --> the next one is due
//! ```
//!
//! An arrival is due when the schedule says so, however long it waits for a connection. A connection that the
//! server ends between calls is no error: the next call takes another one, and a call that was lost with it
//! is made again, due as before.

mod backlog;
mod choice;
mod doors;
mod shelf;

use httperf_engine::{Call, CallId, Cause, ConnId, Core, Event, Nanos, Share, Table, Time, Workload};

use crate::schedule::{Arrival, Schedule};
use backlog::{Backlog, Work};
use doors::Doors;
use shelf::Shelf;

pub use choice::Choice;

/// What a pool has to do. Numbers are those of this share.
#[derive(Clone, Debug)]
pub struct PoolSpec {
    /// What makes calls due.
    pub demand: Demand,
    /// Connections there may be at once, at least 1; in a closed loop there are so many all the time.
    pub connections: u32,
    /// Calls that may be outstanding on a connection, at least 1.
    pub pipeline: u32,
    /// A connection is closed after so many calls; with 1 none is kept open. `None`: never.
    pub calls_per_connection: Option<u32>,
    /// Connections go to targets 0 to `targets` - 1 in turn, over all shares; at least 1. Any call can go to
    /// any of them: they are the addresses of one server.
    pub targets: u32,
    /// What the calls are.
    pub choice: Choice,
}

/// What makes calls due.
#[derive(Clone, Debug)]
pub enum Demand {
    /// Open loop: a schedule.
    Open {
        /// The arrivals of this share.
        arrivals: Schedule,
        /// An arrival for which there is no connection, and none being opened, is dropped.
        shed: bool,
    },
    /// Closed loop: a call is due when one before it is over, on as many slots as all connections have.
    Closed {
        /// So many calls in all; `None`: until the run is ended.
        calls: Option<u64>,
    },
}

/// The state of the workload. The time of the run is the scenario's `limit`; once it is up, or somebody ends
/// the run, nothing new is begun, and calls in flight get [`GRACE`](Pool::GRACE).
#[derive(Debug)]
pub struct Pool {
    spec: PoolSpec,
    share: Share,
    began: Time,
    /// Calls that can be outstanding on one connection in its life.
    room: u64,
    /// Open loop: the arrival that a wake was asked for; the schedule stands behind it.
    awaited: Option<Arrival>,
    /// Closed loop: calls that have become due.
    claimed: u64,
    backlog: Backlog,
    shelf: Shelf,
    doors: Doors,
    rows: Table<ConnId, Row>,
    /// Calls in flight.
    outstanding: u64,
    /// The pause for whose end a wake was asked for.
    retry: Time,
    /// Since when nothing new is begun.
    stopping: Option<Time>,
    /// The run is over.
    over: bool,
}

/// What is known of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Calls in flight on it.
    calls: u32,
    /// Calls it may still be given; `u32::MAX` is no limit.
    left: u32,
    connected: bool,
    /// It takes no more calls.
    gone: bool,
}

/// The wakes this workload asks for.
const NEXT_ARRIVAL: u64 = 0;
const RETRY: u64 = 1;

/// In an open loop so many of the first connections must fail before the run is given up.
const FIRST: u32 = 50;

impl Pool {
    /// What calls in flight get at the end of a run, in nanoseconds.
    pub const GRACE: Nanos = 1_000_000_000;

    /// The connections an open loop may have unless it is told otherwise.
    pub const CONNECTIONS_MAX: u32 = 16_384;

    /// The workload for this specification.
    pub fn new(mut spec: PoolSpec) -> Self {
        spec.connections = spec.connections.max(1);
        spec.pipeline = spec.pipeline.max(1);
        spec.calls_per_connection = spec.calls_per_connection.map(|calls| calls.max(1));
        let first = match spec.demand {
            Demand::Open { .. } => spec.connections.min(FIRST),
            Demand::Closed { .. } => spec.connections,
        };
        Self {
            share: Share::WHOLE,
            began: Time::default(),
            room: u64::from(spec.pipeline.min(spec.calls_per_connection.unwrap_or(u32::MAX))),
            awaited: None,
            claimed: 0,
            backlog: Backlog::default(),
            shelf: Shelf::default(),
            doors: Doors::new(spec.connections, u64::from(first)),
            rows: Table::default(),
            outstanding: 0,
            retry: Time::default(),
            stopping: None,
            over: false,
            spec,
        }
    }

    /// How many calls wait for a connection: taken up in time (each has had its [`Event::Arrival`]), and not
    /// started. At the end of a run `not_started` of the result is these and
    /// [`not_started`](Workload::not_started), and `started` is arrivals - shed - these.
    pub fn waiting(&self) -> u64 {
        self.backlog.new_work()
    }

    /// When those that wait were due, oldest first: their ages censor the response times. Takes as long as
    /// they are many, and no memory.
    pub fn waiting_since(&self) -> impl Iterator<Item = Time> {
        self.backlog.dues(self.began)
    }

    /// The run was given up: the first connections, so many, have all failed (`0 of 50 connections`).
    pub fn gave_up(&self) -> Option<u64> {
        self.doors.hopeless()
    }

    /// Asks to be woken for the next arrival.
    fn await_arrival(&mut self, core: &mut Core) {
        let Demand::Open { arrivals, .. } = &mut self.spec.demand else { return };
        self.awaited = arrivals.next();
        if let Some(arrival) = self.awaited {
            core.schedule(self.began + arrival.due, NEXT_ARRIVAL);
        }
    }

    /// The arrival that was waited for is due.
    fn arrived(&mut self, core: &mut Core) {
        let Some(arrival) = self.awaited.filter(|_| self.stopping.is_none()) else { return };
        let due = self.began + arrival.due;
        core.arrive(due);
        let work = Work::New { number: arrival.number, due };
        if self.backlog.len() > 0 || !self.begin(work, core) {
            match &self.spec.demand {
                Demand::Open { arrivals, shed: false } => self.backlog.wait(arrival, arrivals),
                _ => self.backlog.add(arrival.number, due),
            }
        }
        self.await_arrival(core);
        self.proceed(core);
    }

    /// A slot of a closed loop is free: its next call is due.
    fn claim(&mut self, due: Time, core: &mut Core) {
        let Demand::Closed { calls } = self.spec.demand else { return };
        if self.stopping.is_none() && calls.is_none_or(|calls| self.claimed < calls) {
            core.arrive(due);
            let Share { index, of } = self.share;
            self.backlog.add(u64::from(index) + self.claimed * u64::from(of), due);
            self.claimed += 1;
        }
    }

    /// Does what can be done now.
    fn proceed(&mut self, core: &mut Core) {
        if self.stopping.is_none() {
            while let Some(work) = self.backlog.first(self.began)
                && self.begin(work, core)
            {
                self.backlog.pop();
            }
            self.open(core);
        }
        let exhausted = match self.spec.demand {
            Demand::Open { .. } => self.awaited.is_none(),
            Demand::Closed { calls } => calls == Some(self.claimed),
        };
        let done = self.stopping.is_some() || (exhausted && self.backlog.len() == 0);
        if done && self.outstanding == 0 {
            self.finish(core);
        }
    }

    /// Issues a call, if any connection has room.
    fn begin(&mut self, work: Work, core: &mut Core) -> bool {
        let (request, due, again) = match work {
            Work::New { number, due } => (self.spec.choice.of(number), due, None),
            Work::Again { request, due, again } => (request, due, Some(again)),
        };
        while let Some(conn) = self.shelf.first() {
            if core.issue_again(conn, request, due, 0, again).is_err() {
                // Its end is announced; the event that says so is under way.
                self.give_up(conn);
                continue;
            }
            let row = self.rows.get(conn);
            row.calls += 1;
            row.left -= u32::from(row.left != u32::MAX);
            self.outstanding += 1;
            self.shelve(conn);
            return true;
        }
        false
    }

    /// Opens as many connections as waiting calls need.
    fn open(&mut self, core: &mut Core) {
        let now = core.now();
        while self.wanting() && self.doors.may_open(now) {
            let Share { index, of } = self.share;
            let number = u64::from(index) + self.doors.open() * u64::from(of);
            let target = (number % u64::from(self.spec.targets.max(1))) as u32;
            let conn = core.connect(target, now, 0);
            let left = self.spec.calls_per_connection.unwrap_or(u32::MAX);
            self.rows.set(conn, Row { left, ..Row::default() });
        }
        if !self.wanting() {
            return;
        }
        if let Demand::Open { shed: true, .. } = self.spec.demand {
            while self.wanting()
                && let Some(due) = self.backlog.take_back()
            {
                core.shed(due);
            }
        }
        if let Some(until) =
            self.doors.paused_until(now).filter(|until| self.wanting() && *until != self.retry)
        {
            self.retry = until;
            core.schedule(until, RETRY);
        }
    }

    /// More calls wait than the connections that are being opened can take.
    fn wanting(&self) -> bool {
        self.backlog.len() > u64::from(self.doors.opening()) * self.room
    }

    /// Puts a connection where the next call finds it, if it has room.
    fn shelve(&mut self, conn: ConnId) {
        let Row { calls, left, gone, .. } = *self.rows.get(conn);
        if gone || left == 0 || calls >= self.spec.pipeline {
            self.shelf.remove(conn);
        } else {
            self.shelf.put(conn, calls);
        }
    }

    /// A connection takes no more calls.
    fn give_up(&mut self, conn: ConnId) -> Row {
        self.shelf.remove(conn);
        let row = self.rows.get(conn);
        row.gone = true;
        *row
    }

    /// A call has its reply.
    #[inline]
    fn replied(&mut self, call: CallId, at: Time, core: &mut Core) {
        let Some(conn) = core.call(call).map(|call| call.conn) else { return };
        self.outstanding -= 1;
        let row = self.rows.get(conn);
        row.calls -= 1;
        if row.calls == 0 && row.left == 0 {
            self.give_up(conn);
            core.close(conn);
        } else {
            self.shelve(conn);
        }
        self.claim(at, core);
        self.proceed(core);
    }

    /// A call has failed, and its connection with it.
    fn call_failed(&mut self, call: CallId, cause: Cause, at: Time, core: &mut Core) {
        let Some(&Call { conn, due, request, .. }) = core.call(call) else { return };
        let again = core.call(call).map(Call::again);
        self.outstanding -= 1;
        self.give_up(conn);
        self.rows.get(conn).calls -= 1;
        match again {
            // Every connection has had a reply before it ends so: this comes to an end.
            Some(again) if cause == Cause::ClosedIdle && self.stopping.is_none() => {
                self.backlog.call_again(Work::Again { request, due, again });
            }
            _ => self.claim(at, core),
        }
        self.proceed(core);
    }

    /// The server has ended a connection that lay idle.
    fn conn_ended(&mut self, conn: ConnId, core: &mut Core) {
        if self.give_up(conn).calls == 0 {
            core.close(conn);
        }
    }

    fn conn_failed(&mut self, conn: ConnId, core: &mut Core) {
        if !self.give_up(conn).connected {
            self.doors.failed(core.now());
            if self.doors.hopeless().is_some() {
                self.over = true;
                return core.stop();
            }
        }
        self.proceed(core);
    }

    /// Everything is done: connections are closed, not aborted.
    fn finish(&mut self, core: &mut Core) {
        self.over = true;
        while let Some(conn) = self.shelf.first() {
            self.shelf.remove(conn);
            core.close(conn);
        }
        core.stop();
    }
}

impl Workload for Pool {
    fn start(&mut self, core: &mut Core) {
        core.keep_pool(Self::GRACE);
        self.share = core.scenario().share;
        self.began = core.began_at();
        if let Demand::Closed { .. } = self.spec.demand {
            for _ in 0..u64::from(self.spec.connections) * u64::from(self.spec.pipeline) {
                self.claim(self.began, core);
            }
        }
        self.await_arrival(core);
        self.proceed(core);
    }

    #[inline(always)]
    fn on(&mut self, event: &Event, core: &mut Core) {
        if self.over {
            return;
        }
        match *event {
            Event::Wake { token: NEXT_ARRIVAL, .. } => self.arrived(core),
            Event::Wake { .. } => self.proceed(core),
            Event::CallRecvStop { call, at, .. } => self.replied(call, at, core),
            Event::CallFailed { call, cause, at } => self.call_failed(call, cause, at, core),
            Event::ConnConnected { conn, .. } => {
                self.doors.connected();
                self.rows.get(conn).connected = true;
                self.shelve(conn);
                self.proceed(core);
            }
            Event::ConnEnded { conn, .. } => self.conn_ended(conn, core),
            Event::ConnFailed { conn, .. } => self.conn_failed(conn, core),
            Event::ConnClosed { conn, .. } => {
                self.give_up(conn);
                self.doors.closed();
                self.proceed(core);
            }
            Event::Stopping { at } => {
                self.stopping = Some(at);
                self.proceed(core);
            }
            Event::Stopped { .. } => self.over = true,
            _ => {}
        }
    }

    /// Arrivals that were due and that the loop did not come to; those that [wait](Pool::waiting) are not
    /// among them.
    fn not_started(&self, began: Time, end: Time) -> u64 {
        let Demand::Open { arrivals, .. } = &self.spec.demand else { return 0 };
        let end = self.stopping.map_or(end, |at| at.min(end));
        let overdue = self.awaited.is_some_and(|awaited| began + awaited.due < end);
        if overdue { 1 + arrivals.due_before(end.since(began)) } else { 0 }
    }
}
