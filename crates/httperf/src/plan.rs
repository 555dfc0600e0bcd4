//! What to do: scenario, workload, threads, and what to keep of it.

use std::sync::Arc;

use httperf_engine::{Deadlines, Nanos, RequestId, Scenario, Share};
use httperf_load::{
    Arrivals, Choice, Cookies, Demand, Entries, LogSession, Pattern, Period, PoolSpec, Process, Room,
    Schedule, SessionPattern, Stages, Uris, Wlog, WmixSpec, WsesspageSpec, Wset, WsetSpec,
};
use httperf_report::RunInfo;
use httperf_stat::Printed;

/// A run, ready to be started.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the engine needs; its share is that of the whole plan.
    pub scenario: Scenario,
    /// What happens when.
    pub workload: WorkloadPlan,
    /// Loops beside each other, each in a thread of its own; at least 1.
    pub threads: u32,
    /// How much is kept.
    pub collect: Collect,
    /// What is told while the run goes on.
    pub tell: Tell,
    /// What the results say of the request.
    pub info: RunInfo,
}

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collect {
    /// What the classic report needs.
    Classic,
    /// Also histograms and counts per interval.
    Full,
}

/// The workload of the whole plan.
#[derive(Clone, Debug)]
pub enum WorkloadPlan {
    /// Connections, each with a number of calls.
    ConnRate(ConnRatePlan),
    /// Sessions.
    Sessions(SessionsPlan),
    /// Calls on a pool of connections.
    Pool(PoolPlan),
}

impl WorkloadPlan {
    /// When its connections or sessions begin; a pool has none of these.
    pub fn pace(&self) -> Option<&PacePlan> {
        match self {
            WorkloadPlan::ConnRate(plan) => Some(&plan.pace),
            WorkloadPlan::Sessions(plan) => Some(&plan.pace),
            WorkloadPlan::Pool(_) => None,
        }
    }
}

/// The connection-rate workload of the whole plan.
#[derive(Clone, Debug)]
pub struct ConnRatePlan {
    /// When connections begin, and how many in all.
    pub pace: PacePlan,
    /// Calls on each.
    pub calls: u32,
    /// Calls sent together.
    pub burst: u32,
    /// Where URIs come from.
    pub uris: UrisPlan,
}

/// The pool workload of the whole plan: calls arrive, connections are kept open.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    /// What makes calls due.
    pub demand: DemandPlan,
    /// Connections there may be at once; in a closed loop there are so many all the time.
    pub connections: u32,
    /// Calls that may be outstanding on a connection.
    pub pipeline: u32,
    /// A connection is closed after so many calls; `None`: never.
    pub calls_per_connection: Option<u32>,
    /// What the calls are.
    pub choice: Choice,
}

/// What makes calls due.
#[derive(Clone, Debug)]
pub enum DemandPlan {
    /// Open loop.
    Open {
        /// The rate, as it goes.
        stages: Stages,
        /// How arrivals follow each other.
        process: Process,
        /// At most so many.
        total: Option<u64>,
        /// Of random arrivals.
        seed: u64,
        /// An arrival for which there is no connection is dropped.
        shed: bool,
    },
    /// Closed loop: so many calls, or until the run is ended.
    Closed {
        /// How many.
        calls: Option<u64>,
    },
}

/// The session workload of the whole plan.
#[derive(Clone, Debug)]
pub struct SessionsPlan {
    /// When sessions begin, and how many in all.
    pub pace: PacePlan,
    /// Open loop: sessions that would be due at this time, or later, do not begin.
    pub until: Option<Nanos>,
    /// Connections of a session, and calls on each.
    pub room: Room,
    /// A connection is closed after each reply (HTTP/1.0).
    pub one_reply: bool,
    /// A reply of this status fails its session.
    pub failure_status: Option<u16>,
    /// What failed is tried again.
    pub retry: bool,
    /// What cookies a session keeps, empty; `None`: none.
    pub cookies: Option<Cookies>,
    /// What each session does.
    pub script: ScriptPlan,
}

/// What each session does.
#[derive(Clone, Debug)]
pub enum ScriptPlan {
    /// Bursts of calls with think times between them.
    Wsess {
        /// Calls of a session.
        calls: u32,
        /// Calls of a burst.
        burst: u32,
        /// From the last reply of a burst to the next burst.
        think: Nanos,
        /// Where URIs come from.
        uris: UrisPlan,
    },
    /// One of these sessions, in turn.
    Wsesslog(Arc<[LogSession]>),
    /// Pages with what they embed.
    Wsesspage(WsesspageSpec),
    /// What a mix says.
    Wmix(WmixSpec),
}

/// When the things of a workload begin: connections, or sessions.
#[derive(Clone, Debug)]
pub struct PacePlan {
    /// How many in all.
    pub total: u64,
    /// Open loop: the times between them. `None`: closed loop.
    pub period: Option<Period>,
    /// Closed loop: how many at a time.
    pub concurrency: u32,
    /// The client number that seeds the random sequence (manual `--client`).
    pub client: u32,
}

/// Where the URIs of calls come from.
#[derive(Clone, Debug)]
pub enum UrisPlan {
    /// Each request has its own.
    Fixed,
    /// A working set.
    Wset(WsetSpec),
    /// A log, read again and again or once.
    Wlog(Arc<Entries>, bool),
}

/// What is told while a run goes on, besides samples and alarms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tell {
    /// Delays drawn between arrivals.
    pub delays: bool,
    /// URIs that a working set or a log has given.
    pub uris: bool,
    /// What pages refer to.
    pub pages: bool,
    /// Requests and replies.
    pub printed: Printed,
    /// What happened in each five seconds.
    pub periods: bool,
    /// Every event, to whoever subscribes to `tracing`.
    pub trace: bool,
}

impl PacePlan {
    fn arrivals(&self, share: Share) -> Option<Arrivals> {
        self.period.as_ref().map(|period| Arrivals::new(period, self.total, share, self.client))
    }

    fn concurrency(&self, share: Share) -> u32 {
        share.part_of(u64::from(self.concurrency)) as u32
    }
}

impl UrisPlan {
    /// The part of one loop; `None` if each request has its own.
    pub(crate) fn part(&self, share: Share) -> Option<Uris> {
        match self {
            UrisPlan::Fixed => None,
            UrisPlan::Wset(spec) => Some(Uris::Wset(Wset::new(spec, share.index, share.of))),
            UrisPlan::Wlog(entries, again) => {
                Some(Uris::Wlog(Wlog::new(entries.clone(), *again, share.index, share.of)))
            }
        }
    }
}

impl ConnRatePlan {
    /// The part of the workload that one loop has.
    pub(crate) fn part(&self, share: Share, targets: u32) -> Pattern {
        Pattern {
            conns: share.part_of(self.pace.total),
            calls: self.calls,
            burst: self.burst,
            arrivals: self.pace.arrivals(share),
            concurrency: self.pace.concurrency(share),
            targets,
            request: RequestId(0),
            uris: self.uris.part(share),
        }
    }
}

impl PoolPlan {
    /// The part of the workload that one loop has.
    pub(crate) fn part(&self, share: Share, targets: u32) -> PoolSpec {
        let demand = match &self.demand {
            DemandPlan::Open { stages, process, total, seed, shed } => {
                Demand::Open { arrivals: Schedule::new(stages, *process, *total, share, *seed), shed: *shed }
            }
            DemandPlan::Closed { calls } => Demand::Closed { calls: calls.map(|calls| share.part_of(calls)) },
        };
        PoolSpec {
            demand,
            connections: share.part_of(u64::from(self.connections)) as u32,
            pipeline: self.pipeline,
            calls_per_connection: self.calls_per_connection,
            targets,
            choice: self.choice.clone(),
        }
    }
}

impl SessionsPlan {
    /// The part of the workload that one loop has.
    pub(crate) fn part(&self, share: Share) -> SessionPattern {
        SessionPattern {
            sessions: share.part_of(self.pace.total),
            arrivals: self.pace.arrivals(share).map(|all| all.until(self.until.unwrap_or(Nanos::MAX))),
            concurrency: self.pace.concurrency(share),
            room: self.room,
            one_reply: self.one_reply,
            failure_status: self.failure_status,
            retry: self.retry,
            cookies: self.cookies.clone(),
        }
    }
}

impl Plan {
    /// The scenario of loop `index`.
    pub(crate) fn scenario(&self, index: u32) -> Scenario {
        Scenario { share: Share { index, of: self.threads }, ..self.scenario.clone() }
    }
}

/// The time limits behind `--timeout` and `--think-timeout` (seconds; not positive means none). Either alone
/// works.
pub fn limits_of_the_classic_tool(timeout_s: f64, think_timeout_s: f64) -> Deadlines {
    let nanos = |seconds: f64| (seconds > 0.0).then_some((seconds * 1e9) as Nanos);
    let reply = nanos(timeout_s.max(0.0) + think_timeout_s.max(0.0));
    Deadlines { connect: nanos(timeout_s), write: nanos(timeout_s), wait: reply, reply, call: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_timeout_works_alone() {
        let limits = |timeout, think| limits_of_the_classic_tool(timeout, think);
        assert_eq!(limits(0.0, 0.0), Deadlines::default());
        assert_eq!(limits(1.0, 0.5).connect, Some(1_000_000_000));
        assert_eq!(limits(1.0, 0.5).wait, Some(1_500_000_000));
        assert_eq!((limits(-1.0, 0.5).connect, limits(-1.0, 0.5).reply), (None, Some(500_000_000)));
    }

    #[test]
    fn the_parts_of_a_workload_add_up() {
        let pace = PacePlan { total: 10, period: None, concurrency: 7, client: 0 };
        let plan = ConnRatePlan { pace, calls: 1, burst: 1, uris: UrisPlan::Fixed };
        let parts: Vec<_> = (0..3).map(|index| plan.part(Share { index, of: 3 }, 1)).collect();
        assert_eq!(parts.iter().map(|part| part.conns).sum::<u64>(), 10);
        assert_eq!(parts.iter().map(|part| part.concurrency).collect::<Vec<_>>(), [3, 2, 2]);
    }
}
