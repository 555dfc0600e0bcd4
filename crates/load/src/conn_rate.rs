//! The connection-rate workload: connections at given times, each carrying a number of calls in bursts, then
//! closed. (The plain workload of the manual: `--num-conns`, `--num-calls`, `--burst-length`, `--rate`.)

use httperf_engine::{ConnId, Core, Event, Patch, RequestId, Share, Table, Time, Workload};

use crate::arrival::Arrivals;
use crate::uri::Uris;

/// What happens on each connection, and how connections follow each other.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Connections this share makes in all.
    pub conns: u64,
    /// Calls on each.
    pub calls: u32,
    /// Calls that are sent together; the next burst follows the last reply of the one before.
    pub burst: u32,
    /// Open loop: when connections are due. `None`: the next one starts when one ends.
    pub arrivals: Option<Arrivals>,
    /// Closed loop: how many at a time.
    pub concurrency: u32,
    /// Connections go to targets 0 to `targets` - 1 in turn, over all shares; at least 1.
    pub targets: u32,
    /// The request of every call to target 0; that of target t has the number behind it by t.
    pub request: RequestId,
    /// Where each call's URI comes from; `None` leaves that of the request. When it has no more the run ends.
    pub uris: Option<Uris>,
}

/// The state of the workload.
#[derive(Debug)]
pub struct ConnRate {
    pattern: Pattern,
    /// Connections that were started.
    started: u64,
    /// Connections that are over.
    ended: u64,
    /// The due time of the arrival that a wake was asked for.
    awaited: Option<Time>,
    progress: Table<ConnId, Progress>,
    /// A URI on its way into a request.
    uri: Vec<u8>,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Calls not yet issued.
    left: u32,
    /// Calls of this burst whose replies are missing.
    burst: u32,
}

/// The only wake this workload asks for.
const NEXT_ARRIVAL: u64 = 0;

impl ConnRate {
    /// The workload for this pattern.
    pub fn new(pattern: Pattern) -> Self {
        let (progress, uri) = (Table::default(), Vec::new());
        Self { pattern, started: 0, ended: 0, awaited: None, progress, uri }
    }

    fn connect(&mut self, due: Time, core: &mut Core) {
        core.arrive(due);
        let target = match self.pattern.targets {
            1 => 0,
            targets => {
                let Share { index, of } = core.scenario().share;
                ((u64::from(index) + self.started * u64::from(of)) % u64::from(targets)) as u32
            }
        };
        let conn = core.connect(target, due, 0);
        self.progress.set(conn, Progress { left: self.pattern.calls, burst: 0 });
        self.started += 1;
    }

    /// Asks to be woken for the next arrival.
    fn await_arrival(&mut self, core: &mut Core) {
        let next = self.pattern.arrivals.as_mut().and_then(Iterator::next);
        self.awaited = next.map(|due| core.began_at() + due);
        if let Some(due) = self.awaited {
            core.schedule(due, NEXT_ARRIVAL);
        }
    }

    /// The next burst, or the end of the connection.
    fn proceed(&mut self, conn: ConnId, due: Time, core: &mut Core) {
        let progress = self.progress.get(conn);
        progress.burst = self.pattern.burst.min(progress.left);
        progress.left -= progress.burst;
        if progress.burst == 0 {
            return core.close(conn);
        }
        let burst = progress.burst;
        let mut request = self.pattern.request;
        if self.pattern.targets > 1 {
            request.0 += core.conn(conn).map_or(0, |conn| conn.target);
        }
        for _ in 0..burst {
            let Some(uris) = &mut self.pattern.uris else {
                if core.issue(conn, request, due).is_err() {
                    break;
                }
                continue;
            };
            self.uri.clear();
            if !uris.next(&mut self.uri) {
                return core.stop();
            }
            let patched = core.patch(request, Patch { uri: Some(&self.uri), fields: b"" });
            let issued = core.issue(conn, patched, due);
            core.release(patched);
            if issued.is_err() {
                break;
            }
        }
    }

    fn conn_ended(&mut self, core: &mut Core) {
        self.ended += 1;
        if self.ended == self.pattern.conns {
            core.stop();
        } else if self.pattern.arrivals.is_none() && self.started < self.pattern.conns {
            self.connect(core.now(), core);
        }
    }
}

impl Workload for ConnRate {
    fn start(&mut self, core: &mut Core) {
        if self.pattern.conns == 0 {
            return core.stop();
        }
        if self.pattern.arrivals.is_none() {
            for _ in 0..u64::from(self.pattern.concurrency).min(self.pattern.conns) {
                self.connect(core.began_at(), core);
            }
            return;
        }
        self.await_arrival(core);
    }

    #[inline(always)]
    fn on(&mut self, event: &Event, core: &mut Core) {
        match *event {
            Event::Wake { due, .. } => {
                self.connect(due, core);
                self.await_arrival(core);
            }
            Event::ConnConnected { conn, .. } => {
                let due = core.conn(conn).map_or(core.now(), |conn| conn.due);
                self.proceed(conn, due, core);
            }
            Event::CallRecvStop { call, at, .. } => {
                let Some(conn) = core.call(call).map(|call| call.conn) else { return };
                let progress = self.progress.get(conn);
                progress.burst = progress.burst.saturating_sub(1);
                if progress.burst == 0 {
                    self.proceed(conn, at, core);
                }
            }
            Event::ConnClosed { .. } => self.conn_ended(core),
            _ => {}
        }
    }

    fn not_started(&self, began: Time, end: Time) -> u64 {
        let awaited = self.awaited.is_some_and(|due| due < end);
        let later = self.pattern.arrivals.as_ref().map_or(0, |rest| rest.due_before(end.since(began)));
        u64::from(awaited) + if awaited { later } else { 0 }
    }
}
