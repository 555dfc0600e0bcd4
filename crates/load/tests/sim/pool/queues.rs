//! Arrivals that wait, or are shed: times to the nanosecond.

use httperf_engine::sim::{Act, ORIGIN, Script, Server};
use httperf_engine::{Nanos, Stop};

use super::case::{Case, Drive, OK, Played, serving};
use crate::case::{MS, SECOND};

/// Response times, in the order of the replies.
fn responses(played: &Played) -> Vec<Nanos> {
    played.outcome.ledger.replies.iter().map(|reply| reply.last.since(reply.due)).collect()
}

/// 125 calls a second where 100 can be served.
fn overload(calls: u64) -> Case {
    Case { connections: 1, ..Case::open(125.0, calls, serving(10 * MS)) }
}

#[test]
fn in_overload_every_call_has_waited_since_it_was_due() {
    let played = overload(1000).checked();
    let times = responses(&played);
    assert_eq!(times.len(), 1000);
    for (k, time) in (0..).zip(times) {
        // 2 ns for the connect, and 2 ns to and fro for each call so far.
        assert_eq!(time, 10 * MS + 2 * MS * k + 2 + 2 * (k + 1), "call {k}");
    }
    // The loop itself was never late.
    assert!(played.outcome.ledger.arrivals.iter().all(|(due, at)| due == at));
    assert_eq!((played.waiting, played.seen.live_most), (0, 1));
}

#[test]
fn what_waits_at_the_end_is_known_with_its_age() {
    let played = overload(10_000).limit(8 * SECOND).checked();
    let totals = &played.outcome.ledger.totals;
    // 1000 were due; the one in flight was allowed to end.
    assert_eq!((totals.arrivals, totals.replies(), played.waiting), (1000, 800, 200));
    assert_eq!((played.not_started, totals.calls_aborted), (0, 0));
    assert!(played.outcome.reached_limit);
    for (k, due) in (800..).zip(&played.waiting_since) {
        assert_eq!(*due, ORIGIN + 8 * MS * k);
    }
}

#[test]
fn a_server_that_stalls_is_charged_for_everyone_it_kept_waiting() {
    // Every 1000th call stops it for 100 ms; calls come every millisecond, on one connection.
    let turn = |k| if k % 1000 == 0 { vec![Act::Wait(100 * MS), Act::send(OK)] } else { vec![Act::send(OK)] };
    let script = Script { turns: (0..5000).map(turn).collect(), ..Script::answering([]) };
    let case = Case { connections: 1, ..Case::open(1000.0, 5000, Server::Scripted(script.into())) };
    let mut times = responses(&case.checked());
    times.sort_unstable();
    let at = |q: f64| times[(q * 5000.0) as usize - 1] as f64 / 1e6;
    // p_q = S - (1 - q) T
    for (q, expected) in [(0.5, 0.0), (0.95, 50.0), (0.99, 90.0), (1.0, 100.0)] {
        assert!((at(q) - expected).abs() <= 1.001, "p{q}: {} ms", at(q));
    }
    let mean = times.iter().sum::<u64>() as f64 / 5000.0 / 1e6;
    assert!((mean - 5.05).abs() < 0.01, "{mean} ms");
}

#[test]
fn connections_are_as_many_as_the_rate_needs_and_no_more_than_the_cap() {
    // Little's law: 1000/s times 100 ms.
    let free = Case::open(1000.0, 2000, serving(100 * MS)).checked();
    assert_eq!(free.seen.live_most, 101);
    assert!(responses(&free).iter().all(|time| *time <= 100 * MS + 4));
    let capped = Case { connections: 50, ..Case::open(1000.0, 2000, serving(100 * MS)) }.checked();
    assert_eq!(capped.seen.live_most, 50);
    assert_eq!(capped.outcome.ledger.totals.replies(), 2000);
    assert!(responses(&capped)[1999] > 1900 * MS);
    // The most recently used one is taken: a load that needs one keeps using one.
    let slow = Case::open(10.0, 100, serving(10 * MS)).checked();
    assert_eq!((slow.seen.live_most, slow.seen.connects.len()), (1, 1));
}

#[test]
fn shed_arrivals_are_counted_and_nobody_waits() {
    let played = overload(1000).shed().checked();
    let totals = &played.outcome.ledger.totals;
    assert_eq!(totals.arrivals, 1000);
    assert_eq!(totals.shed + totals.replies(), 1000);
    // 10 ms of service at one each 8 ms: every other one.
    assert_eq!(totals.shed, 500);
    assert!(responses(&played).iter().all(|time| *time <= 10 * MS + 4));
    let free = Case::open(125.0, 1000, serving(10 * MS)).shed().checked();
    assert_eq!(free.outcome.ledger.totals.shed, 0, "those that wait for a connect of their own are not shed");
}

#[test]
fn in_a_closed_loop_a_call_is_due_when_a_slot_is_free() {
    let played = Case::closed(5, 500, serving(10 * MS)).checked();
    assert_eq!((played.seen.live_most, played.seen.connects.len()), (5, 5));
    let times = responses(&played);
    assert!(times[..5].iter().all(|time| *time == 10 * MS + 4), "the connect belongs to the first");
    assert!(times[5..].iter().all(|time| *time == 10 * MS + 2));
    assert_eq!(played.outcome.lasted(), 100 * (10 * MS + 2) + 2);
    let timed = Case { drive: Drive::Closed { calls: None }, ..Case::closed(5, 0, serving(10 * MS)) };
    let timed = timed.limit(SECOND).checked();
    assert_eq!(timed.outcome.ledger.totals.replies(), 500, "those in flight may end");
}

#[test]
fn calls_in_flight_get_a_second_at_the_end() {
    let patient = Case::open(100.0, 1000, serving(500 * MS)).limit(SECOND).checked();
    let totals = &patient.outcome.ledger.totals;
    assert_eq!((totals.arrivals, totals.replies(), totals.calls_aborted), (100, 100, 0));
    assert_eq!(patient.outcome.lasted(), 990 * MS + 500 * MS + 4 - 2);
    let slow = Case::open(100.0, 1000, serving(5 * SECOND)).limit(SECOND).checked();
    let totals = &slow.outcome.ledger.totals;
    assert_eq!((totals.arrivals, totals.replies(), totals.calls_aborted), (100, 0, 100));
    assert_eq!(slow.outcome.lasted(), 2 * SECOND);
    let mut stopped = Case::open(100.0, 1000, serving(500 * MS));
    stopped.world.setup.faults.stop = Some((SECOND, Stop::Interrupted));
    let stopped = stopped.checked();
    assert_eq!(stopped.outcome.stopped_by, Some(Stop::Interrupted));
    let totals = &stopped.outcome.ledger.totals;
    assert_eq!((totals.replies(), totals.calls_aborted, stopped.outcome.reached_limit), (100, 0, false));
}

#[test]
fn several_calls_share_a_connection_where_it_is_allowed() {
    let mut case = Case::closed(2, 400, serving(10 * MS));
    case.pipeline = 4;
    let played = case.checked();
    assert_eq!((played.seen.live_most, played.seen.in_flight_most), (2, 8));
    // They are answered one after the other.
    assert_eq!(responses(&played)[100], 40 * MS);
    let open = Case { connections: 3, pipeline: 2, ..Case::open(1000.0, 6, serving(SECOND)) };
    let open = open.checked();
    assert_eq!((open.seen.live_most, open.seen.in_flight_most), (3, 6));
}

#[test]
fn connections_are_closed_after_their_calls() {
    for (calls, expected) in [(1, 100), (7, 15), (100, 1)] {
        let case = Case { calls_per_connection: Some(calls), ..Case::closed(1, 100, serving(MS)) };
        let played = case.checked();
        assert_eq!(played.seen.connects.len(), expected);
        assert_eq!(played.outcome.ledger.totals.replies(), 100);
    }
}
