//! The conservation laws: whatever went in has come out under exactly one name.
//!
//! Two collectors watch a run, each in its own way: one adds up, the other sorts into intervals. A breach
//! says that one of them, or the engine, is wrong; nothing is ever repaired here.

use httperf_engine::Cause;
use httperf_stat::{BasicSummary, Measure, SessionSummary, Timeline};

use crate::classic::Figures;

/// Every breach of a law, as a sentence with its numbers. Empty: all is conserved.
pub fn breaches(basic: &BasicSummary, timeline: Option<&Timeline>) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut equal = said_to(&mut breaches);
    let sum = |causes: &std::collections::BTreeMap<Cause, u64>| causes.values().sum::<u64>();
    let figures = Figures::of(basic, &[], 0.0, 0.0);

    equal(
        "connections attempted",
        basic.connections,
        "established + failed + aborted at the stop",
        basic.established + sum(&basic.connects_failed) + basic.connects_aborted,
    );
    equal(
        "calls sent",
        basic.calls,
        "replies + failed + aborted at the stop",
        basic.replies() + sum(&basic.calls_failed) + basic.calls_aborted,
    );
    equal(
        "errors",
        figures.errors_total,
        "the sum of their eight counters",
        figures.errors_client_timo
            + figures.errors_socket_timo
            + figures.errors_connrefused
            + figures.errors_connreset
            + figures.errors_fd_unavail
            + figures.errors_addrunavail
            + figures.errors_ftab_full
            + figures.errors_other,
    );
    if let Some(timeline) = timeline {
        columns(basic, timeline, &mut equal);
        histograms(basic, timeline, &mut equal);
    }
    drop(equal);
    breaches.extend(timeline.and_then(littles_law));
    breaches
}

/// Every breach of a law among sessions, likewise.
pub fn session_breaches(sessions: &SessionSummary) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut equal = said_to(&mut breaches);
    equal(
        "sessions begun",
        sessions.began,
        "succeeded + failed + unfinished",
        sessions.finished() + sessions.unfinished,
    );
    equal(
        "session lengths",
        sessions.lengths.sessions(),
        "sessions that succeeded or failed",
        sessions.finished(),
    );
    equal("session lifetimes", sessions.lifetime_s.count, "sessions that succeeded", sessions.succeeded);
    equal("session failtimes", sessions.failtime_s.count, "sessions that failed", sessions.failed);
    drop(equal);
    breaches
}

/// Says of two numbers that should be the same that they are not.
fn said_to(breaches: &mut Vec<String>) -> impl FnMut(&str, u64, &str, u64) {
    |one, is, other, should| {
        if is != should {
            breaches.push(format!("{one} ({is}) and {other} ({should}) are not the same"));
        }
    }
}

/// Each column of the intervals sums to its total.
fn columns(basic: &BasicSummary, timeline: &Timeline, equal: &mut impl FnMut(&str, u64, &str, u64)) {
    let totals = timeline.totals();
    for (what, sum, total) in [
        ("arrivals taken up", totals.scheduled, basic.arrivals),
        ("calls sent", totals.sent, basic.calls),
        ("replies", totals.replies, basic.replies()),
        ("errors", totals.errors, basic.errors.values().sum()),
        ("calls failed", totals.calls_failed, basic.calls_failed.values().sum()),
        ("calls aborted", totals.calls_aborted, basic.calls_aborted),
        ("bytes received", totals.bytes_received, basic.traffic.received),
    ] {
        equal(&format!("{what} in all intervals"), sum, "in all", total);
    }
}

/// A histogram holds as many times as were counted, and every reply has a response time.
fn histograms(basic: &BasicSummary, timeline: &Timeline, equal: &mut impl FnMut(&str, u64, &str, u64)) {
    for measure in Measure::ALL {
        let whole = timeline.whole(measure);
        for times in [&whole.done, &whole.failed, &whole.open] {
            let buckets = times.buckets().map(|bucket| bucket.count).sum();
            equal(&format!("times in the buckets of {measure:?}"), buckets, "their count", times.count);
        }
    }
    equal("response times", timeline.whole(Measure::Response).done.count, "replies", basic.replies());
    equal("connect times", timeline.whole(Measure::Connect).done.count, "established", basic.established);
    equal("generator lags", timeline.whole(Measure::GeneratorLag).done.count, "arrivals", basic.arrivals);
    for class in 0..=5 {
        let replies = basic.replies_in_class(class);
        let times = timeline.response_in_class(class as u8).count;
        equal(&format!("response times of class {class}xx"), times, "replies of that class", replies);
    }
}

/// The mean of the calls in flight is what all calls together have taken, over the length of the run.
fn littles_law(timeline: &Timeline) -> Option<String> {
    let length = timeline.end_ns() as f64;
    let in_flight: u128 = timeline.intervals().iter().map(|interval| interval.in_flight_ns).sum();
    // Calls that failed or were cut off have been in flight as well, as long as they are old.
    let whole = timeline.whole(Measure::Response);
    let taken = whole.done.sum_ns + whole.failed.sum_ns + whole.open.sum_ns;
    if length == 0.0 {
        return None;
    }
    let (mean, law) = (in_flight as f64 / length, taken as f64 / length);
    let slack = 0.05 * law + 3.0 * (law / timeline.intervals().len() as f64).sqrt();
    ((mean - law).abs() > slack).then(|| {
        format!(
            "the mean of the calls in flight ({mean:.3}) breaks Little's law (rate x mean response: {law:.3})"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{run, simulated};

    #[test]
    fn an_honest_run_breaks_no_law() {
        let (basic, timeline) = run();
        assert_eq!(breaches(&basic, Some(&timeline)), [""; 0]);
        assert_eq!(breaches(&BasicSummary::default(), None), [""; 0]);
        assert_eq!(breaches(&BasicSummary::default(), Some(&Timeline::default())), [""; 0]);
    }

    #[test]
    fn whatever_goes_wrong_in_a_run_no_law_is_broken() {
        let mut seen = [0; 3];
        for seed in 0..60 {
            let (basic, timeline) = simulated(seed);
            assert_eq!(breaches(&basic, Some(&timeline)), [""; 0], "seed {seed}");
            seen[0] += basic.calls_aborted;
            seen[1] += basic.connects_failed.values().sum::<u64>();
            seen[2] += basic.calls_failed.values().sum::<u64>();
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }

    #[test]
    fn a_breach_says_which_numbers_differ() {
        let (basic, timeline) = run();
        let lost = BasicSummary { calls: basic.calls + 1, ..basic.clone() };
        let said = breaches(&lost, None);
        let n = basic.calls;
        let expected = format!(
            "calls sent ({}) and replies + failed + aborted at the stop ({n}) are not the same",
            n + 1
        );
        assert_eq!(said, [expected]);
        assert_eq!(breaches(&lost, Some(&timeline)).len(), 2);

        let mut twice = timeline.clone();
        twice.merge(&timeline);
        assert!(breaches(&basic, Some(&twice)).len() > 5);
    }

    #[test]
    fn sessions_begun_have_ended_in_one_way() {
        let sessions = SessionSummary { began: 2, unfinished: 2, ..SessionSummary::default() };
        assert_eq!(session_breaches(&sessions), [""; 0]);
        let lost = SessionSummary { began: 3, ..sessions };
        assert_eq!(
            session_breaches(&lost),
            ["sessions begun (3) and succeeded + failed + unfinished (2) are not the same"]
        );
        let unseen = SessionSummary { began: 3, failed: 1, ..lost };
        assert_eq!(session_breaches(&unseen).len(), 2, "its length and its time are missing");
    }
}
