//! What to do: scenario, workload, threads, and what to keep of it.

use httperf_engine::{Deadlines, Nanos, RequestId, Scenario, Share};
use httperf_load::{Arrivals, Pattern, Period};
use httperf_report::RunInfo;

/// A run, ready to be started.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the engine needs; its share is that of the whole plan.
    pub scenario: Scenario,
    /// What happens when.
    pub workload: ConnRatePlan,
    /// Loops beside each other, each in a thread of its own; at least 1.
    pub threads: u32,
    /// How much is kept.
    pub collect: Collect,
    /// What the results say of the request.
    pub info: RunInfo,
    /// Delays drawn between arrivals are sent as notices.
    pub tell_delays: bool,
}

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collect {
    /// What the classic report needs.
    Classic,
    /// Also histograms and counts per interval.
    Full,
}

/// The connection-rate workload of the whole plan.
#[derive(Clone, Debug)]
pub struct ConnRatePlan {
    /// Connections in all.
    pub conns: u64,
    /// Calls on each.
    pub calls: u32,
    /// Calls sent together.
    pub burst: u32,
    /// Open loop: the times between arrivals. `None`: closed loop.
    pub period: Option<Period>,
    /// Closed loop: connections at a time.
    pub concurrency: u32,
    /// The client number that seeds the random sequence (manual `--client`).
    pub client: u32,
}

impl ConnRatePlan {
    /// The part of the workload that one loop has.
    pub(crate) fn part(&self, share: Share) -> Pattern {
        Pattern {
            conns: share.part_of(self.conns),
            calls: self.calls,
            burst: self.burst,
            arrivals: self
                .period
                .as_ref()
                .map(|period| Arrivals::new(period, self.conns, share, self.client)),
            concurrency: share.part_of(u64::from(self.concurrency)) as u32,
            targets: 1,
            request: RequestId(0),
            uris: None,
        }
    }
}

impl Plan {
    /// The scenario and the workload of loop `index`.
    pub(crate) fn part(&self, index: u32) -> (Scenario, Pattern) {
        let share = Share { index, of: self.threads };
        (Scenario { share, ..self.scenario.clone() }, self.workload.part(share))
    }
}

/// The time limits behind `--timeout` and `--think-timeout` (seconds; not positive means none). Either alone
/// works.
pub fn limits_of_the_classic_tool(timeout_s: f64, think_timeout_s: f64) -> Deadlines {
    let nanos = |seconds: f64| (seconds > 0.0).then_some((seconds * 1e9) as Nanos);
    let reply = nanos(timeout_s.max(0.0) + think_timeout_s.max(0.0));
    Deadlines { connect: nanos(timeout_s), write: nanos(timeout_s), wait: reply, reply }
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
        let plan = ConnRatePlan { conns: 10, calls: 1, burst: 1, period: None, concurrency: 7, client: 0 };
        let parts: Vec<_> = (0..3).map(|index| plan.part(Share { index, of: 3 })).collect();
        assert_eq!(parts.iter().map(|part| part.conns).sum::<u64>(), 10);
        assert_eq!(parts.iter().map(|part| part.concurrency).collect::<Vec<_>>(), [3, 2, 2]);
    }
}
