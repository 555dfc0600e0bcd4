//! Connections that are lost, replies that fail, time limits.

use std::sync::Arc;

use httperf_engine::sim::{Accept, Act, Faults, ORIGIN, Script as Course, Server};
use httperf_engine::{Cause, Nanos, Outcome as End};

use super::case::{OK, SessionCase, What, answers, in_turn};
use crate::case::{MS, SECOND};

/// The pauses before the second attempt to the tenth.
const PAUSES: Nanos = (1 + 2 + 4 + 8 + 16 + 32 + 64 + 100 + 100) * MS;

fn refusing() -> Server {
    let accept = Accept::Refused { after: 0 };
    Server::Scripted(Arc::new(Course { accept, ..Course::answering([]) }))
}

fn says(reply: &str) -> Server {
    answers([Act::send(reply)])
}

#[test]
fn a_server_that_closes_after_each_reply_costs_a_reset_for_each_call_sent_into_the_void() {
    let server = answers([Act::send(OK), Act::Close]);
    let case = SessionCase::wsess(server, 1, 3, 1, 0);
    let came = case.whole();
    assert_eq!(came.counts(), [3, 5, 3, 1, 0]);
    assert_eq!(came.causes(), [Cause::ClosedIdle; 2]);
    assert_eq!(came.book.sizes, [73, 73, 146, 73, 146]);
    assert_eq!(came.outcome.basic.request_bytes / came.outcome.basic.requests, 102);
    let serials: Vec<u64> = came.book.asked.iter().map(|asked| asked.serial).collect();
    assert_eq!(serials, [0, 1, 1, 2, 2]);
    // The end is noticed while the user thinks, and counts all the same.
    let thinking = SessionCase::wsess(answers([Act::send(OK), Act::Close]), 1, 3, 1, SECOND).whole();
    assert_eq!((thinking.counts(), thinking.causes()), ([3, 5, 3, 1, 0], vec![Cause::ClosedIdle; 2]));
    // With a burst, all pending calls of the connection are sent again.
    let burst = SessionCase::wsess(answers([Act::send(OK), Act::Close]), 1, 3, 3, 0).whole();
    assert_eq!((burst.counts(), burst.causes()), ([3, 6, 3, 1, 0], vec![Cause::ClosedIdle; 2]));
}

#[test]
fn an_announced_end_is_no_error_and_pending_calls_move_on() {
    let close = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
    for burst in [1, 4] {
        let came = SessionCase::wsess(answers([Act::send(close), Act::Close]), 2, 4, burst, 0).whole();
        assert_eq!((came.counts()[0], &came.counts()[2..]), (8, [8, 2, 0].as_slice()), "{burst}");
        assert!(came.causes().is_empty());
    }
    // With the original's reading it is an end like any other.
    let mut strict = SessionCase::wsess(answers([Act::send(close), Act::Close]), 1, 3, 1, 0);
    strict.world.rules.classic_strict = true;
    let came = strict.whole();
    assert_eq!((came.counts(), came.causes()), ([3, 5, 3, 1, 0], vec![Cause::ClosedIdle; 2]));
}

#[test]
fn a_dead_server_fails_a_session_at_once_or_after_ten_attempts() {
    let fin = Server::Scripted(Arc::new(Course { greeting: vec![Act::Close], ..Course::answering([]) }));
    for (server, cause) in [(refusing(), Cause::ConnRefused), (fin, Cause::ClosedEarly)] {
        let case = SessionCase::wsess(server, 3, 2, 1, 0);
        let came = case.whole();
        assert_eq!((came.counts()[0], came.causes()), (3, vec![cause; 3]));
        assert_eq!(came.outcome.ledger.totals.sessions_ended, [0, 3, 0]);
        let stubborn = SessionCase { retry: true, ..case }.whole();
        assert_eq!((stubborn.counts()[0], stubborn.causes()), (30, vec![cause; 30]));
        assert_eq!(stubborn.outcome.ledger.totals.sessions_ended, [0, 3, 0]);
        for seen in &stubborn.book.seen {
            let lasted = seen.ended.map_or(0, |(_, at)| at.since(seen.began));
            assert!((PAUSES..PAUSES + 20 * MS).contains(&lasted), "{lasted}");
        }
    }
}

#[test]
fn without_descriptors_sessions_fail_and_with_patience_they_get_through() {
    let mut case = SessionCase::wsess(says(OK), 100, 2, 1, 0);
    case.world.setup.faults = Faults { open: 400, ..Faults::default() };
    let came = case.whole();
    let [ok, failed, _] = came.outcome.ledger.totals.sessions_ended;
    assert!(ok > 30 && failed > 20, "{ok} and {failed}");
    assert_eq!(came.causes().len() as u64, failed);
    let patient = SessionCase { retry: true, ..case }.whole();
    assert_eq!(patient.outcome.ledger.totals.sessions_ended, [100, 0, 0]);
    assert!(patient.causes().contains(&Cause::FdUnavail));
    // Attempts count from the last reply: a long session may lose any number of them.
    let server = answers([Act::send(OK), Act::Close]);
    let mut long = SessionCase { retry: true, ..SessionCase::wsess(server, 1, 60, 1, 0) };
    long.world.setup.faults = Faults { open: 400, ..Faults::default() };
    let came = long.whole();
    assert_eq!(came.outcome.ledger.totals.sessions_ended, [1, 0, 0]);
    let no_socket: u64 = came.outcome.ledger.totals.no_socket.values().sum();
    assert!(no_socket > 20, "{no_socket}");
}

#[test]
fn a_connection_lost_after_a_reply_gets_another_chance_and_only_one() {
    // Two replies, then a reply that breaks off: it is sent again on a new connection and starts afresh.
    let half = &OK[..40];
    let server = in_turn(vec![vec![Act::send(OK)], vec![Act::send(OK)], vec![Act::send(half), Act::Close]]);
    let came = SessionCase::wsess(server, 1, 5, 1, 0).whole();
    assert_eq!((came.counts(), came.causes()), ([3, 7, 5, 1, 0], vec![Cause::Truncated; 2]));
    // A connection that never delivers anything is the end.
    let once = vec![vec![Act::send(OK)], vec![Act::Reset { purge: false }]];
    let mute = vec![vec![Act::Reset { purge: false }]];
    let server = Server::Several(vec![in_turn(once), in_turn(mute)]);
    let mut outcomes = [0; 3];
    for seed in 0..20 {
        let mut case = SessionCase::wsess(server.clone(), 1, 3, 1, 0);
        case.world.setup.seed = seed;
        let came = case.whole();
        let ended = came.outcome.ledger.totals.sessions_ended;
        outcomes.iter_mut().zip(ended).for_each(|(all, one)| *all += one);
        // Each connection that delivered a reply is followed by another one; the first that did not is the
        // last.
        assert_eq!(came.counts()[0], came.counts()[2] + ended[1], "seed {seed}");
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}

const BUSY: &str = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy";

#[test]
fn a_reply_of_the_failure_status_counts_and_fails_its_session() {
    let server = in_turn(vec![vec![Act::send(OK)], vec![Act::send(BUSY)], vec![Act::send(OK)]]);
    let case = SessionCase { failure_status: Some(503), ..SessionCase::wsess(server, 2, 4, 4, 0) };
    let came = case.whole();
    assert_eq!(came.counts(), [2, 8, 4, 0, 2]);
    assert_eq!(came.outcome.ledger.totals.statuses.get(&503), Some(&2));
    assert_eq!((came.outcome.ledger.totals.calls_aborted, came.causes()), (4, vec![]));
    assert!(came.book.seen.iter().all(|seen| matches!(seen.ended, Some((End::Failed, _)))));
    let indifferent = SessionCase { failure_status: Some(404), ..case }.whole();
    assert_eq!(indifferent.counts(), [2, 8, 8, 2, 0]);
}

#[test]
fn with_retry_a_call_is_made_again_and_its_sizes_add_up() {
    let server = in_turn(vec![vec![Act::send(BUSY)], vec![Act::send(BUSY)], vec![Act::send(OK)]]);
    let case =
        SessionCase { failure_status: Some(503), retry: true, ..SessionCase::wsess(server, 1, 2, 1, 0) };
    let came = case.whole();
    assert_eq!(came.counts(), [1, 4, 4, 1, 0]);
    assert_eq!(came.book.sizes, [73, 146, 219, 73]);
    let (busy, ok) = ((BUSY.len() - 4) as u32, (OK.len() - 5) as u32);
    assert_eq!(came.book.headers, [busy, 2 * busy, 2 * busy + ok, ok]);
    let serials: Vec<u64> = came.book.asked.iter().map(|asked| asked.serial).collect();
    assert_eq!(serials, [0, 0, 0, 1]);
    // The first time at once, then after a pause.
    let replies = &came.outcome.ledger.replies;
    assert_eq!(replies[1].sent, replies[0].last);
    assert_eq!((replies[2].sent, replies[2].due), (replies[1].last + MS, replies[1].last + MS));
    let never = SessionCase {
        world: crate::case::Case { conns: 2, ..crate::case::Case::plain(1, says(BUSY)) },
        ..case
    };
    assert_eq!(never.whole().counts(), [2, 20, 20, 0, 2]);
}

#[test]
fn a_time_limit_fails_its_session_and_the_next_one_begins() {
    let mut case = SessionCase::wsess(in_turn(vec![vec![Act::send(OK)], vec![]]), 3, 4, 4, 0);
    case.world.timeout = Some(SECOND);
    for retry in [false, true] {
        let came = SessionCase { retry, ..case.clone() }.whole();
        assert_eq!((came.counts(), came.causes()), ([3, 12, 3, 0, 3], vec![Cause::ReplyTimeout; 3]));
        let ended: Vec<_> = came.book.seen.iter().filter_map(|seen| Some(seen.ended?.1)).collect();
        assert_eq!((came.book.seen[1].began, came.book.seen[2].began), (ended[0], ended[1]));
    }
    let mut unanswered = SessionCase::wsess(
        Server::Scripted(Arc::new(Course {
            accept: Accept::Unanswered { gives_up: None },
            ..Course::answering([])
        })),
        2,
        1,
        1,
        0,
    );
    unanswered.world.timeout = Some(SECOND);
    let came = unanswered.whole();
    assert_eq!(came.causes(), [Cause::ConnectTimeout; 2]);
    assert_eq!(came.outcome.ended, ORIGIN + 2 * SECOND);
    // Users may think longer than servers may.
    let mut thinking = SessionCase::wsess(says(OK), 1, 3, 1, 60 * SECOND);
    thinking.world.timeout = Some(SECOND);
    assert_eq!(thinking.whole().counts(), [1, 3, 3, 1, 0]);
}

#[test]
fn connections_that_were_not_needed_are_given_up_with_their_session() {
    // While the second connection is being opened, a reply on the first fails the session.
    let server = in_turn(vec![vec![Act::send(OK)], vec![Act::send(BUSY)]]);
    let what = What::Log(vec![vec![(3, 0)]]);
    let mut case = SessionCase { failure_status: Some(503), ..SessionCase::new(server, 40, what) };
    case.room = httperf_load::Room { conns: 4, piped: 1 };
    case.world.setup.network.latency = 100_000..=5_000_000;
    let came = case.whole();
    assert_eq!(came.outcome.ledger.totals.sessions_ended, [0, 40, 0]);
    let given_up = came.outcome.ledger.totals.aborted[1];
    assert!(given_up > 0, "every connection came about");
    assert_eq!(came.outcome.basic.connects_aborted, given_up);
}

#[test]
fn unsolicited_bytes_while_the_user_thinks_cost_an_error_and_a_connection() {
    let server = answers([Act::send(OK), Act::Wait(MS), Act::send("HTTP/1.1 200 OK\r\n\r\n")]);
    let came = SessionCase::wsess(server, 1, 3, 1, SECOND).whole();
    assert_eq!((came.counts(), came.causes()[..2].to_vec()), ([3, 3, 3, 1, 0], vec![Cause::Unsolicited; 2]));
}
