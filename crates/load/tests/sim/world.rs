//! What must not matter: how a run is shared out, how bytes are cut, whether they are thrown away unread,
//! and how late our own clock is.

use std::sync::Arc;

use httperf_engine::sim::{Act, Faults, Honest, Random, Script, Server};
use httperf_engine::{Cause, Share, Stop};
use httperf_load::Period;
use httperf_stat::{Measure, Timeline};

use crate::case::{Case, MS, Outcome, Pace, SECOND};
use crate::laws;
use crate::ledger::{Replied, Totals};
use crate::scripts;

fn checked(case: &Case) -> Outcome {
    let outcome = case.whole();
    laws::check(case, &outcome).unwrap_or_else(|error| panic!("{error}\n{case:?}"));
    outcome
}

/// Replies without the numbers of their connections, in a fixed order.
fn replies(outcome: &Outcome) -> Vec<Replied> {
    let mut all = outcome.ledger.replies.clone();
    all.iter_mut().for_each(|reply| reply.conn = 0);
    all
}

#[test]
fn four_threads_see_what_one_sees() {
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let honest = Server::Honest(Honest::default());
        let servers = vec![
            honest.clone(),
            honest.clone(),
            honest,
            Server::Mutant(Honest::default()),
            Server::Noise,
            scripts::any(&mut random),
        ];
        let rate = random.scale(&(20..=5000)) as f64;
        let periods = [
            Period::Constant(1.0 / rate),
            Period::Exponential(1.0 / rate),
            Period::Variable(vec![(1.0 / rate, 0.05), (0.1 / rate, 0.01)]),
        ];
        let calls = random.between(&(1..=5)) as u32;
        let mut case = Case {
            conns: 101,
            calls,
            burst: random.between(&(1..=u64::from(calls))) as u32,
            pace: Pace::Open(random.pick(&periods).clone()),
            timeout: Some(10 * SECOND),
            ..Case::plain(seed, Server::Several(servers))
        };
        case.setup.faults =
            Faults { short_write: 100, short_read: 100, late_open: 20, open: 20, ..Faults::default() };
        let whole = checked(&case);
        let (mut totals, mut parts, mut timeline) = (Totals::default(), Vec::new(), Timeline::default());
        for index in 0..4 {
            let part = case.run(Share { index, of: 4 });
            assert!(part.result.is_ok() && part.ledger.complaints.is_empty(), "{:?}", part.ledger.complaints);
            totals.add(&part.ledger.totals);
            timeline.merge(part.timeline.as_ref().expect("histograms"));
            parts.extend(replies(&part));
        }
        assert_eq!(totals, whole.ledger.totals, "seed {seed}");
        let mut all = replies(&whole);
        all.sort_unstable();
        parts.sort_unstable();
        assert_eq!(parts, all, "seed {seed}");
        let expected = whole.timeline.as_ref().expect("histograms");
        assert_eq!(timeline.totals(), expected.totals(), "seed {seed}");
        for measure in Measure::ALL {
            assert_eq!(timeline.whole(measure), expected.whole(measure), "seed {seed}: {measure:?}");
        }
    }
}

#[test]
fn discarding_changes_no_result() {
    let large = Honest { body: 0..=3_000_000, ..Honest::default() };
    let broken = |end: Act| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
        Server::Scripted(Arc::new(Script::answering([Act::send(head), Act::Fill(500_000), end])))
    };
    let mut discarded = 0;
    for seed in 0..20 {
        let server = Server::Several(vec![
            Server::Honest(large.clone()),
            Server::Honest(large.clone()),
            Server::Honest(large.clone()),
            broken(Act::Close),
            broken(Act::Reset { purge: false }),
            broken(Act::Wait(0)),
        ]);
        let mut case = Case {
            conns: 10,
            calls: 3,
            burst: 1 + seed as u32 % 3,
            pace: Pace::Closed(3),
            timeout: Some(20 * SECOND),
            ..Case::plain(seed, server)
        };
        case.setup.network.segment = 1000..=65_536;
        case.setup.faults.short_read = 100 * (seed as u32 % 3);
        let read = checked(&case);
        case.setup.discard = true;
        let thrown = checked(&case);
        discarded += thrown.turns.discarded;
        assert_eq!(thrown.ledger.totals, read.ledger.totals, "seed {seed}");
        assert_eq!(replies(&thrown), replies(&read), "seed {seed}");
        assert_eq!((thrown.traffic, thrown.ended), (read.traffic, read.ended), "seed {seed}");
        assert_eq!(thrown.ledger.failures, read.ledger.failures, "seed {seed}");
    }
    assert!(discarded > 50_000_000, "only {discarded} bytes were thrown away");
}

#[test]
fn cuts_change_neither_counts_nor_times() {
    for seed in 0..20 {
        let honest = Honest { body: 0..=5_000, ..Honest::default() };
        let mut case = Case {
            conns: 20,
            calls: 4,
            burst: 1 + seed as u32 % 4,
            pace: Pace::Open(Period::Exponential(0.001)),
            ..Case::plain(seed, Server::Honest(honest))
        };
        case.setup.network.segment = 65_536..=65_536;
        let whole = checked(&case);
        for segment in [1..=1, 1..=50, 1460..=1460] {
            case.setup.network.segment = segment;
            let cut = case.light();
            laws::check(&case, &cut).unwrap_or_else(|error| panic!("{error}\n{case:?}"));
            assert_eq!(cut.ledger.totals, whole.ledger.totals, "seed {seed}");
            let last = |outcome: &Outcome| -> Vec<_> {
                outcome.ledger.replies.iter().map(|reply| (reply.due, reply.last)).collect()
            };
            assert_eq!(last(&cut), last(&whole), "seed {seed}");
        }
    }
}

#[test]
fn our_own_lateness_is_never_taken_for_a_timeout() {
    let mut late = 0;
    for seed in 0..20 {
        let honest = Honest { delay: MS..=20 * MS, body: 0..=2_000, close: 0, ..Honest::default() };
        let mut case = Case {
            conns: 60,
            calls: 3,
            pace: Pace::Open(Period::Constant(0.01)),
            timeout: Some(100 * MS),
            ..Case::plain(seed, Server::Honest(honest))
        };
        case.setup.faults =
            Faults { jump: 30, late_wake: 300, early_wake: 100, small_batch: 600, ..Faults::default() };
        let outcome = checked(&case);
        late += outcome.ledger.arrivals.iter().filter(|(due, at)| at.since(*due) > 100 * MS).count();
        assert_eq!(outcome.ledger.totals.replies(), 180, "seed {seed}: {:?}", outcome.ledger.totals);
        assert!(outcome.ledger.failures.is_empty(), "seed {seed}");
    }
    assert!(late > 100, "only {late} arrivals were late");
}

#[test]
fn ten_thousand_connections_keep_their_schedule() {
    let case = Case {
        conns: 10_000,
        pace: Pace::Open(Period::Constant(0.000_1)),
        ..Case::plain(1, Server::Honest(Honest { body: 0..=1_000, ..Honest::default() }))
    };
    let outcome = checked(&case);
    assert_eq!(outcome.ledger.totals.replies(), 10_000);
    assert!(outcome.lasted() < SECOND + 200 * MS);
}

#[test]
fn a_reply_before_its_request_is_written_out_stands_and_ends_the_connection() {
    for calls in [1, 3] {
        let mut early_replies = 0;
        for seed in 0..50 {
            let mut case =
                Case { calls, body: 10_000, timeout: Some(SECOND), ..Case::plain(seed, scripts::early()) };
            case.setup.faults.short_write = 900;
            let outcome = case.whole();
            assert!(outcome.result.is_ok(), "seed {seed}: {:?}", outcome.result);
            assert!(outcome.ledger.complaints.is_empty(), "seed {seed}: {:?}", outcome.ledger.complaints);
            let totals = &outcome.ledger.totals;
            assert_eq!(totals.statuses.get(&413), Some(&1), "seed {seed}");
            if totals.request_bytes == 0 {
                early_replies += 1;
                assert_eq!(totals.issued, 1, "seed {seed}");
                assert!(outcome.ledger.failures.is_empty(), "seed {seed}: {:?}", outcome.ledger.failures);
            } else if calls > 1 {
                assert_eq!(outcome.ledger.failures[0].1, Cause::ReplyTimeout, "seed {seed}");
            }
        }
        assert!(early_replies > 5, "{early_replies} replies came early");
    }
}

#[test]
fn nothing_but_aborts_follows_the_end_of_a_run() {
    let silent = Server::Scripted(Arc::new(Script::answering([])));
    let mut case = Case { timeout: Some(SECOND), ..Case::plain(1, silent) };
    case.setup.network.latency = 5..=5;
    // The time limit bites in the same instant in which somebody, or the limit, ends the run.
    let tie = 10 + SECOND;
    case.limit = Some(tie);
    let limited = checked(&case);
    assert!(limited.reached_limit);
    case.limit = None;
    case.setup.faults.stop = Some((tie, Stop::Interrupted));
    let stopped = checked(&case);
    let mut full = case.clone();
    (full.setup.faults.stop, full.limit) = (None, Some(SECOND));
    (full.conns, full.timeout, full.pace) = (5, None, Pace::Open(Period::Constant(0.5)));
    assert_eq!(checked(&full).ledger.totals.arrivals, 2, "an arrival was taken up after the end");
    assert_eq!(stopped.stopped_by, Some(Stop::Interrupted));
    for outcome in [limited, stopped] {
        assert_eq!(outcome.ledger.totals.aborted, [0, 0, 1], "{:?}", outcome.ledger.events);
        assert_eq!(outcome.ledger.totals.calls_aborted, 1);
    }
}
