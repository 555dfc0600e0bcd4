//! Whether the client kept its schedule: the question to ask before believing anything about the server.

use httperf_engine::Nanos;
use httperf_stat::{BasicSummary, Measure, Timeline};

use crate::percentile::{Estimate, Percentile, percentile};

/// The judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Whether what was measured is the server, not the client.
    pub kept: bool,
    /// Why, in one plain sentence; with what to do if it was not kept.
    pub sentence: String,
}

/// More of the due arrivals than this, in per cent, have to be taken up.
const TAKEN_UP: f64 = 99.0;
/// A lag of less than this does no harm.
const LAG: Nanos = 1_000_000;
/// A loop that is busier than this, in per cent, in an open loop has no room for what comes late.
const BUSY: f64 = 90.0;

/// Judges a run by its arrivals, by the lag of the generator, and by how busy the loops were (0 to 1 each). A
/// closed loop (`open` is false) has no schedule: an arrival falls due when another ends.
pub fn schedule(
    basic: &BasicSummary,
    timeline: Option<&Timeline>,
    busy_shares: &[f64],
    open: bool,
) -> Schedule {
    let busy = 100.0 * busy_shares.iter().copied().fold(0.0, f64::max);
    if !open {
        let sentence = format!(
            "the next arrival waits for the end of another, there is no schedule to keep (busy {busy:.0} %)"
        );
        return Schedule { kept: true, sentence };
    }
    let (arrivals, due) = (basic.arrivals, basic.arrivals + basic.arrivals_not_started);
    let lag = timeline.map(Lag::of).unwrap_or_default();
    let mut faults = Vec::new();
    if (arrivals as f64) * 100.0 < TAKEN_UP * due as f64 {
        faults.push(format!("only {arrivals} of {due} due arrivals were taken up"));
    }
    if let Some((key, nanos)) = lag.known.filter(|(_, nanos)| *nanos > lag.limit) {
        let (nanos, limit) = (time(nanos), time(lag.limit));
        faults.push(format!(
            "{} % of the arrivals were taken up more than {nanos} late (limit {limit})",
            rest(key)
        ));
    }
    if busy > BUSY {
        faults.push(format!("its busiest loop worked {busy:.0} % of the time (limit {BUSY:.0} %)"));
    }
    if !faults.is_empty() {
        let sentence = format!(
            "client did NOT keep its schedule: {}; offer less, or use more threads, a quieter or another machine",
            faults.join(", and ")
        );
        return Schedule { kept: false, sentence };
    }
    let taken_up = if arrivals == due {
        format!("all {due} arrivals taken up")
    } else {
        format!("{arrivals} of {due} arrivals taken up")
    };
    let latest = basic.generator_lag_s.max * 1e9;
    let late = match lag.known {
        Some((key, nanos)) => format!(", {key} % of them within {} of their due time", time(nanos)),
        None if arrivals > 0 => format!(", all within {} of their due time", time(latest as Nanos)),
        None => String::new(),
    };
    Schedule {
        kept: true,
        sentence: format!("client kept its schedule: {taken_up}{late} (busy {busy:.0} %)"),
    }
}

/// How late the generator was.
#[derive(Default)]
struct Lag {
    /// The highest percentile, up to 99, that has enough samples beyond it.
    known: Option<(&'static str, Nanos)>,
    limit: Nanos,
}

impl Lag {
    fn of(timeline: &Timeline) -> Lag {
        let lag = timeline.whole(Measure::GeneratorLag);
        let known = |which| match percentile(&lag, which) {
            Estimate::Is(nanos) => Some((which.key, nanos)),
            _ => None,
        };
        let response = match percentile(&timeline.whole(Measure::Response), Percentile::P50) {
            Estimate::Is(nanos) | Estimate::AtLeast(nanos) => nanos,
            Estimate::Unknown => 0,
        };
        let up_to_99 = Percentile::ALL.into_iter().take_while(|which| !which.key.contains('.'));
        Lag { known: up_to_99.filter_map(known).last(), limit: LAG.max(response / 10) }
    }
}

/// What is beyond a percentile, in per cent.
fn rest(key: &str) -> u32 {
    100 - key.parse::<u32>().unwrap_or(0)
}

/// A span of time with the unit that suits it.
fn time(nanos: Nanos) -> String {
    let value = nanos as f64;
    match nanos {
        0..1_000_000 => format!("{:.0} us", value / 1e3),
        1_000_000..10_000_000 => format!("{:.1} ms", value / 1e6),
        10_000_000..1_000_000_000 => format!("{:.0} ms", value / 1e6),
        _ => format!("{:.1} s", value / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::run_with;

    fn judge(arrivals: u64, lag_us: u64, response_us: u64, not_started: u64, busy: f64) -> Schedule {
        let (mut basic, timeline) = run_with(arrivals, lag_us * 1_000, response_us * 1_000);
        basic.arrivals_not_started = not_started;
        schedule(&basic, Some(&timeline), &[0.1, busy], true)
    }

    #[test]
    fn a_punctual_client_kept_its_schedule() {
        let judged = judge(2_000, 84, 500, 0, 0.23);
        assert_eq!(
            judged.sentence,
            "client kept its schedule: all 2000 arrivals taken up, 99 % of them within 84 us of their due time (busy 23 %)"
        );
        assert!(judged.kept);
    }

    #[test]
    fn few_arrivals_are_judged_by_what_is_known_of_them() {
        let judged = judge(10, 1_500, 500, 0, 0.0);
        assert!(judged.kept);
        assert!(
            judged.sentence.contains("all 10 arrivals taken up, all within 1.5 ms"),
            "{}",
            judged.sentence
        );
        assert!(judge(100, 900, 500, 0, 0.0).sentence.contains("90 % of them within 900 us"));
        assert!(!judge(100, 1_500, 500, 0, 0.0).kept);
    }

    #[test]
    fn a_late_client_did_not() {
        let judged = judge(2_000, 1_500, 500, 0, 0.23);
        assert_eq!(
            judged.sentence,
            "client did NOT keep its schedule: 1 % of the arrivals were taken up more than 1.5 ms late \
             (limit 1.0 ms); offer less, or use more threads, a quieter or another machine"
        );
        // A tenth of the median response is no harm.
        assert!(judge(2_000, 1_500, 16_000, 0, 0.23).kept);
    }

    #[test]
    fn a_client_without_time_did_not() {
        assert!(judge(2_000, 10, 500, 20, 0.9).kept);
        let judged = judge(2_000, 10, 500, 21, 0.91);
        assert!(!judged.kept);
        assert!(
            judged
                .sentence
                .contains("only 2000 of 2021 due arrivals were taken up, and its busiest loop worked 91 %")
        );
    }

    #[test]
    fn a_closed_loop_has_none() {
        let (basic, timeline) = run_with(100, 5_000_000, 500);
        assert!(schedule(&basic, Some(&timeline), &[1.0], false).kept);
    }

    #[test]
    fn a_run_without_arrivals_or_intervals_is_judged_too() {
        let judged = schedule(&BasicSummary::default(), None, &[], true);
        assert_eq!(judged.sentence, "client kept its schedule: all 0 arrivals taken up (busy 0 %)");
    }
}
