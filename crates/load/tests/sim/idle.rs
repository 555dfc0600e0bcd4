//! Connections that lie idle between calls: what a server does meanwhile is noticed when it comes, and
//! counted when the next call is written.

use std::sync::Arc;

use httperf_engine::sim::{Act, Honest, Script, Server};
use httperf_engine::{Cause, ConnId, Core, Event, Nanos, RequestId, Time, Workload};
use httperf_wire::Rules;

use crate::case::{Case, MS, Outcome, SECOND};
use crate::laws;
use crate::scripts::LIMIT;

/// One connection: a call, a pause, the next call, and after the last one a pause again.
struct Thinker {
    calls: u32,
    pause: Nanos,
}

impl Thinker {
    fn call(&mut self, conn: ConnId, due: Time, core: &mut Core) {
        match self.calls.checked_sub(1) {
            None => core.close(conn),
            Some(left) => {
                self.calls = left;
                let _ = core.issue(conn, RequestId(0), due);
            }
        }
    }
}

impl Workload for Thinker {
    fn start(&mut self, core: &mut Core) {
        core.arrive(core.began_at());
        core.connect(0, core.began_at(), 0);
    }

    fn on(&mut self, event: &Event, core: &mut Core) {
        match *event {
            Event::ConnConnected { conn, .. } => self.call(conn, core.began_at(), core),
            Event::CallRecvStop { call, at, .. } => {
                let conn = core.call(call).map_or(ConnId::NONE, |call| call.conn);
                core.schedule(at + self.pause, conn.to_bits());
            }
            Event::Wake { token, due, .. } => self.call(ConnId::from_bits(token), due, core),
            Event::ConnClosed { .. } => core.stop(),
            _ => {}
        }
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A run of so many calls against a server that replies and, 100 ms later, does this.
fn run(calls: u32, pause: Nanos, then: &[Act]) -> Outcome {
    let mut turn = vec![Act::send(OK), Act::Wait(100 * MS)];
    turn.extend_from_slice(then);
    think(calls, pause, Server::Scripted(Arc::new(Script::answering(turn))))
}

fn think(calls: u32, pause: Nanos, server: Server) -> Outcome {
    let case = Case { calls, timeout: Some(LIMIT), ..Case::plain(1, server) };
    let outcome = case.light_with(&mut Thinker { calls, pause });
    if pause < LIMIT {
        laws::check(&case, &outcome).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(outcome.ledger.complaints.is_empty(), "{:?}", outcome.ledger.complaints);
    outcome
}

/// Calls issued, replies, errors.
fn counts(outcome: &Outcome) -> (u64, u64, Vec<Cause>) {
    let causes = outcome.ledger.failures.iter().map(|(_, cause)| *cause).collect();
    (outcome.ledger.totals.issued, outcome.ledger.totals.replies(), causes)
}

#[test]
fn an_end_while_idle_is_no_error_unless_another_call_follows() {
    for end in [Act::Shut, Act::Close, Act::Reset { purge: false }] {
        let last = run(1, 500 * MS, std::slice::from_ref(&end));
        assert_eq!(counts(&last), (1, 1, vec![]), "{end:?}");
        let more = run(2, 500 * MS, std::slice::from_ref(&end));
        assert_eq!(counts(&more), (2, 1, vec![Cause::ClosedIdle]), "{end:?}");
        assert_eq!(more.ledger.totals.calls_failed.get(&Cause::ClosedIdle), Some(&1));
        // It fails when it is written, not later.
        assert!(more.lasted() < 510 * MS, "{end:?}");
    }
}

#[test]
fn bytes_while_idle_are_unsolicited_and_never_answer_the_next_call() {
    let outcome = run(2, 500 * MS, &[Act::send(OK)]);
    assert_eq!(counts(&outcome), (1, 1, vec![Cause::Unsolicited]));
    assert!(outcome.lasted() < 200 * MS);
}

#[test]
fn time_limits_sleep_while_nothing_is_due_and_wake_with_the_next_call() {
    let patient = think(3, 10 * LIMIT, Server::Honest(Honest { close: 0, ..Honest::default() }));
    assert_eq!(counts(&patient), (3, 3, vec![]));
    let turns = vec![vec![Act::send(OK)], vec![]];
    let silent = Script { turns, ..Script::answering([]) };
    let outcome = think(2, 10 * LIMIT, Server::Scripted(Arc::new(silent)));
    assert_eq!(counts(&outcome), (2, 1, vec![Cause::ReplyTimeout]));
    assert_eq!(outcome.ledger.failures[0].0.since(outcome.ledger.waiting_since()), LIMIT);
}

#[test]
fn a_call_after_a_pause_is_due_at_its_end() {
    let outcome = think(4, SECOND / 2, Server::Honest(Honest { close: 0, ..Honest::default() }));
    let replies = &outcome.ledger.replies;
    assert_eq!(replies.len(), 4);
    for pair in replies.windows(2) {
        assert_eq!((pair[1].due, pair[1].sent), (pair[0].last + SECOND / 2, pair[0].last + SECOND / 2));
    }
}

#[test]
fn classic_reading_finds_the_end_of_a_connection_at_the_next_call() {
    let end =
        Server::Scripted(Arc::new(Script::answering([Act::send("HTTP/1.1 200 OK\r\n\r\nx"), Act::Shut])));
    let strict = Rules { classic_strict: true };
    for (calls, burst, issued) in [(1, 1, 1), (3, 1, 2), (3, 3, 3)] {
        let case = Case { calls, burst, rules: strict, timeout: Some(LIMIT), ..Case::plain(1, end.clone()) };
        let outcome = case.whole();
        laws::check(&case, &outcome).unwrap_or_else(|error| panic!("{error}"));
        let causes = if calls == 1 { vec![] } else { vec![Cause::ClosedIdle] };
        assert_eq!(counts(&outcome), (issued, 1, causes), "{calls} calls, {burst} at a time");
    }
}
