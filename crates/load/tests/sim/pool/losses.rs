//! Connections that end, fail, or cannot be had; time limits.

use std::sync::Arc;

use httperf_engine::sim::{Act, Server};
use httperf_engine::{Cause, Time};

use super::case::{Case, OK, after, answering, refusing, serving};
use crate::case::{MS, SECOND};

#[test]
fn a_connection_that_ends_while_idle_is_replaced_without_an_error() {
    for end in [Act::Shut, Act::Close, Act::Reset { purge: false }] {
        let server = answering([Act::send(OK), Act::Wait(5 * MS), end]);
        let played = Case::open(100.0, 50, server).checked();
        let totals = &played.outcome.ledger.totals;
        assert_eq!((totals.replies(), totals.issued, totals.connecting), (50, 50, 50));
        assert!(played.outcome.ledger.failures.is_empty());
        // It is closed when it ends, not when the next call comes.
        assert_eq!(played.seen.live_most, 1);
    }
}

#[test]
fn a_call_that_was_lost_with_an_idle_connection_is_made_again() {
    for replies in [1, 3] {
        // The end is on its way when the next call is written.
        let played = Case::closed(2, 60, after(replies, &[Act::Shut])).checked();
        let totals = &played.outcome.ledger.totals;
        assert_eq!(totals.replies(), 60);
        assert!(played.outcome.ledger.failures.is_empty(), "{:?}", played.outcome.ledger.failures);
        let again = totals.issued - 60;
        assert_eq!(totals.calls_failed.get(&Cause::ClosedIdle), Some(&again));
        assert!(again > 0 && totals.calls_failed.len() == 1);
    }
    // Due as before: from the first attempt to the reply of the second.
    let played = Case::open(1e6, 2, after(1, &[Act::Shut])).checked();
    assert_eq!(played.outcome.ledger.totals.replies(), 2);
}

#[test]
fn an_announced_end_is_no_error_either() {
    let server = answering([
        Act::send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
        Act::Shut,
    ]);
    for pipeline in [1, 3] {
        let played = Case { pipeline, ..Case::closed(4, 100, server.clone()) }.checked();
        let totals = &played.outcome.ledger.totals;
        assert_eq!((totals.replies(), totals.connecting), (100, 100), "{totals:?}");
        assert!(played.outcome.ledger.failures.is_empty());
        assert_eq!(totals.calls_failed.is_empty(), pipeline == 1);
    }
}

#[test]
fn calls_of_a_broken_connection_fail_and_the_run_goes_on() {
    let server = after(4, &[Act::Wait(MS), Act::send("nonsense\r\n\r\n")]);
    let played = Case::closed(3, 100, server).checked();
    let totals = &played.outcome.ledger.totals;
    assert_eq!(totals.arrivals, 100);
    assert!(totals.replies() >= 80 && !totals.broken.is_empty(), "{totals:?}");
}

#[test]
fn a_run_whose_first_connections_all_fail_is_given_up() {
    let closed = Case::closed(7, 1000, refusing()).checked();
    assert_eq!((closed.gave_up, closed.seen.connects.len()), (Some(7), 7));
    let open = Case::open(1000.0, 100_000, refusing()).checked();
    assert_eq!((open.gave_up, open.seen.connects.len()), (Some(50), 50));
    assert!(open.outcome.lasted() < 2 * SECOND);
    let capped = Case { connections: 3, ..Case::open(1000.0, 100_000, refusing()) }.checked();
    assert_eq!(capped.gave_up, Some(3));
    let mut starved = Case::closed(20, 1000, serving(MS));
    starved.world.setup.faults.open = 1000;
    assert_eq!(starved.checked().gave_up, Some(20));
}

/// Serves one connection in three.
fn moody() -> Server {
    Server::Several(vec![after(1, &[Act::Wait(1), Act::Close]), refusing(), refusing()])
}

#[test]
fn connects_that_fail_are_spaced_and_those_that_wait_keep_their_due_times() {
    let mut longest = 0;
    for seed in 0..20 {
        let mut case = Case { connections: 4, ..Case::open(10.0, 100, moody()) };
        case.world.setup.seed = seed;
        let played = case.checked();
        if played.gave_up.is_some() {
            continue;
        }
        let totals = &played.outcome.ledger.totals;
        assert_eq!(totals.replies(), 100, "seed {seed}");
        let failures: Vec<Time> = played.outcome.ledger.failures.iter().map(|(at, _)| *at).collect();
        assert_eq!(failures.len() as u64, totals.connecting - totals.connected);
        for failed in &failures {
            let next = played.seen.connects.iter().find(|at| *at >= failed);
            let pause = next.map_or(MS, |next| next.since(*failed));
            assert!(pause >= MS, "seed {seed}: {pause} ns");
            longest = longest.max(pause);
        }
    }
    assert!(longest >= 8 * MS, "{longest} ns");
}

#[test]
fn a_shed_arrival_does_not_wait_for_a_connect_that_is_forbidden() {
    let mut case = Case { connections: 4, ..Case::open(2000.0, 2000, moody()) }.shed();
    case.world.setup.seed = 3;
    let played = case.checked();
    let totals = &played.outcome.ledger.totals;
    assert!(totals.shed > 0 && totals.replies() > 0, "{totals:?}");
    assert_eq!(totals.shed + totals.replies(), 2000);
}

#[test]
fn a_call_has_its_time_from_the_hand_over_however_it_is_spent() {
    let slow = Act::Trickle(Arc::from(OK.as_bytes()), 100 * MS);
    let mut case = Case::closed(1, 3, answering([slow]));
    case.timeout = Some(SECOND);
    let played = case.checked();
    let failures = &played.outcome.ledger.failures;
    let expected: Vec<_> = (1..=3)
        .map(|k| (played.outcome.ledger.arrivals[0].0 + k * (SECOND + 2), Cause::ReplyTimeout))
        .collect();
    assert_eq!(*failures, expected);
    assert_eq!(played.outcome.ledger.totals.connecting, 3, "each closes its connection");
}

#[test]
fn each_outstanding_call_has_a_time_limit_of_its_own() {
    // Two at once, answered after 600 ms and after 1200 ms.
    let mut case = Case::closed(1, 2, serving(600 * MS));
    (case.pipeline, case.timeout) = (2, Some(SECOND));
    let played = case.checked();
    let began = played.outcome.ledger.arrivals[0].0;
    assert_eq!(played.outcome.ledger.totals.replies(), 1);
    assert_eq!(played.outcome.ledger.failures, [(began + SECOND + 2, Cause::ReplyTimeout)]);
    // Time between calls is nobody's.
    let mut calm = Case::open(0.5, 5, serving(600 * MS));
    calm.timeout = Some(SECOND);
    assert_eq!(calm.checked().outcome.ledger.totals.replies(), 5);
}

#[test]
fn arrivals_that_wait_do_not_expire() {
    let mut case = Case { connections: 1, ..Case::open(100.0, 100, serving(50 * MS)) };
    case.timeout = Some(60 * MS);
    let played = case.checked();
    assert_eq!(played.outcome.ledger.totals.replies(), 100);
}
