//! Runs over TLS: handshakes that fail, ends of every kind, resumption, and the laws for drawn runs.

mod server;

use std::ops::RangeInclusive;
use std::sync::Arc;

use httperf_engine::sim::{Act, Honest, ORIGIN, Script, Server};
use httperf_engine::{Cause, Stop};

use crate::case::{Case, MS, Outcome, SECOND};
use crate::laws;
use crate::scripts::LIMIT;
use crate::sessions::case::{SessionCase, answers};
use server::{Parrot, Seen, Tls, V12, V13, client};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const TO_END: &str = "HTTP/1.1 200 OK\r\n\r\nhello";
const CLOSE_NOTIFY: &[u8] = &[21, 3, 3, 0, 2, 1, 0];
const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 40];
/// A ServerHello without anything in it.
const EMPTY_HELLO: &[u8] = &[22, 3, 3, 0, 4, 2, 0, 0, 0];

/// One connection of two calls after each other, over TLS.
fn case(server: Server) -> Case {
    Case { calls: 2, timeout: Some(LIMIT), secure: client(false), ..Case::plain(1, server) }
}

fn checked(case: &Case) -> Outcome {
    let outcome = case.whole();
    laws::check(case, &outcome).unwrap_or_else(|error| panic!("{error}\n{case:?}"));
    outcome
}

fn scripted(script: Script) -> Server {
    Server::Scripted(Arc::new(script))
}

fn greets(acts: impl Into<Vec<Act>>) -> Server {
    scripted(Script { greeting: acts.into(), ..Script::answering([]) })
}

/// Replies, and the causes of failed connections.
fn counts(outcome: &Outcome) -> (u64, Vec<Cause>) {
    (outcome.ledger.totals.replies(), outcome.ledger.failures.iter().map(|(_, cause)| *cause).collect())
}

const SEGMENTS: [RangeInclusive<u64>; 3] = [65_536..=65_536, 1..=1, 1..=400];

#[test]
fn a_handshake_that_fails_is_counted_and_the_run_goes_on() {
    let send = |bytes: &[u8]| Act::send(bytes);
    let purge = Act::Reset { purge: true };
    let text = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    for (name, server, cause) in [
        ("stall", greets([]), Cause::HandshakeTimeout),
        ("alert", greets([send(ALERT)]), Cause::TlsHandshake),
        ("alert, end", greets([send(ALERT), Act::Close]), Cause::TlsHandshake),
        ("plain HTTP", greets([send(text)]), Cause::TlsHandshake),
        ("nonsense", greets([send(&[0xff; 64])]), Cause::TlsHandshake),
        ("an empty ServerHello", greets([send(EMPTY_HELLO)]), Cause::TlsHandshake),
        ("FIN", greets([Act::Close]), Cause::ClosedEarly),
        ("half-close", greets([Act::Shut]), Cause::ClosedEarly),
        ("FIN inside a record", greets([send(&[22, 3, 3, 0]), Act::Close]), Cause::ClosedEarly),
        // Anybody can send it so early; rustls waits for an end that is one.
        ("close_notify, open", greets([send(CLOSE_NOTIFY)]), Cause::HandshakeTimeout),
        ("close_notify, FIN", greets([send(CLOSE_NOTIFY), Act::Close]), Cause::ClosedEarly),
        ("RST", greets([purge]), Cause::ConnReset),
        ("stall inside a record", greets([send(&[22, 3, 3, 0])]), Cause::HandshakeTimeout),
        ("trickle", greets([Act::Trickle(Arc::from([22, 3, 3, 1, 0, 2]), LIMIT)]), Cause::HandshakeTimeout),
    ] {
        for segment in SEGMENTS {
            let mut case = Case { conns: 3, ..case(server.clone()) };
            case.setup.network.segment = segment;
            let outcome = checked(&case);
            let totals = &outcome.ledger.totals;
            assert_eq!(counts(&outcome), (0, vec![cause; 3]), "{name}");
            assert_eq!((totals.connected, totals.not_connected.get(&cause)), (0, Some(&3)), "{name}");
            let lasted = outcome.lasted();
            let limit = if cause == Cause::HandshakeTimeout { 3 * LIMIT } else { 0 };
            assert!((limit..limit + LIMIT / 2).contains(&lasted), "{name}: {lasted}");
        }
    }
}

#[test]
fn the_time_limit_of_a_handshake_runs_from_the_connect() {
    let outcome = checked(&case(greets([Act::Trickle(Arc::from([22, 3, 3, 1]), 300 * MS)])));
    assert_eq!(outcome.ledger.failures, [(ORIGIN + LIMIT, Cause::HandshakeTimeout)]);
}

#[test]
fn a_fault_in_the_handshake_is_answered_by_one_alert_and_a_stall_by_none() {
    // What the second connection says last is never heard: the run is over.
    for (answer, records) in [(EMPTY_HELLO, vec![22, 21, 22]), (ALERT, vec![22; 2]), (b"", vec![22; 2])] {
        let parrot = Parrot::new(answer);
        checked(&Case { conns: 2, ..case(parrot.before(greets([]))) });
        assert_eq!(parrot.records(), records, "{answer:?}");
    }
}

#[test]
fn calls_over_tls_are_as_those_without() {
    for version in [V12, V13] {
        for segment in SEGMENTS {
            let tls = Tls::new(version);
            let mut case =
                Case { conns: 2, calls: 5, burst: 2, ..case(tls.before(answers([Act::send(OK)]))) };
            case.setup.network.segment = segment;
            let outcome = checked(&case);
            assert_eq!(counts(&outcome), (10, vec![]));
            // A close_notify, the last one unheard as the run is over, and nothing that could not be read.
            assert_eq!(tls.seen(), Seen { full: 2, polite: 1, ..Seen::default() });
            let basic = &outcome.basic;
            assert_eq!((basic.handshakes.full, basic.handshakes.resumed), (2, 0));
            assert_eq!(basic.no_close_notify, 0);
            assert_eq!(basic.traffic.received, 10 * OK.len() as u64);
            assert_eq!(basic.traffic.sent, basic.request_bytes);
            let times = outcome.timeline.expect("a run with histograms");
            assert_eq!(times.whole(httperf_stat::Measure::Tls).done.count, 2);
        }
    }
}

#[test]
fn a_body_is_cut_where_tls_ends_without_saying_so() {
    for version in [V12, V13] {
        for segment in SEGMENTS {
            let run = |tls: &Tls, text: &str| {
                let acts = [Act::send(text), Act::Close];
                let mut case = Case { calls: 1, ..case(tls.before(answers(acts))) };
                case.setup.network.segment = segment.clone();
                counts(&checked(&case))
            };
            let (polite, bare) = (Tls::new(version), Tls::new(version).bare());
            assert_eq!(run(&polite, TO_END), (1, vec![]));
            assert_eq!(run(&bare, TO_END), (0, vec![Cause::Truncated]));
            for tls in [&polite, &bare] {
                assert_eq!(run(tls, OK), (1, vec![]));
                assert_eq!(run(tls, &OK[..OK.len() - 1]), (0, vec![Cause::Truncated]));
                assert_eq!(run(tls, ""), (0, vec![Cause::ClosedEarly]));
            }
        }
    }
}

#[test]
fn a_bare_end_between_replies_is_noted() {
    for (tls, noted) in [(Tls::new(V13), 0), (Tls::new(V13).bare(), 1)] {
        let server = tls.before(answers([Act::send(OK), Act::Close]));
        let mut case = SessionCase::wsess(server, 1, 2, 1, SECOND);
        case.world.secure = client(true);
        let came = case.whole();
        assert_eq!(came.outcome.basic.no_close_notify, noted);
        assert_eq!(came.counts()[1..], [3, 2, 1, 0]);
    }
}

#[test]
fn connections_of_a_session_resume_and_those_of_others_do_not() {
    for version in [V12, V13] {
        for resume in [true, false] {
            let tls = Tls::new(version);
            let server = tls.before(answers([Act::send(OK)]));
            let mut case = SessionCase { http_1_0: true, ..SessionCase::wsess(server, 3, 4, 1, 0) };
            case.world.secure = client(resume);
            let came = case.whole();
            let (full, resumed) = if resume { (3, 9) } else { (12, 0) };
            let seen = tls.seen();
            assert_eq!((seen.full, seen.resumed, seen.broken), (full, resumed, 0));
            let handshakes = &came.outcome.basic.handshakes;
            assert_eq!((handshakes.full, handshakes.resumed), (full, resumed));
        }
    }
}

#[test]
fn a_server_that_stops_reading_anywhere_ends_in_a_time_limit() {
    let tls = Tls::new(V13);
    for reads in (0..900).step_by(9) {
        let script = Script { reads: Some(reads), ..Script::answering([Act::send(OK)]) };
        let outcome = checked(&case(tls.before(scripted(script))));
        let (replies, causes) = counts(&outcome);
        let totals = &outcome.ledger.totals;
        let cause = if totals.connected == 0 { Cause::HandshakeTimeout } else { Cause::ReplyTimeout };
        assert!(causes == [cause] || (replies == 2 && causes.is_empty()), "{reads}: {replies}, {causes:?}");
    }
}

#[test]
fn a_reset_says_nothing_and_so_does_a_request_that_was_cut() {
    let tls = Tls::new(V13);
    let case = Case { conns: 2, reset: true, ..case(tls.before(answers([Act::send(OK)]))) };
    assert_eq!(counts(&checked(&case)), (4, vec![]));
    assert_eq!(tls.seen(), Seen { full: 2, ..Seen::default() });
    // An early reply: half of the request is with the server.
    let early = Script { reads: Some(20_000), ..Script::answering([]) };
    let greeting = vec![Act::Wait(50 * MS), Act::send("HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n")];
    let tls = Tls::new(V13);
    let server = tls.before(scripted(Script { greeting, ..early }));
    let case = Case { conns: 2, body: 100_000, calls: 1, ..self::case(server) };
    let outcome = checked(&case);
    assert_eq!(counts(&outcome), (2, vec![]));
    assert_eq!(tls.seen(), Seen { full: 2, ..Seen::default() });
}

#[test]
fn a_run_that_is_stopped_anywhere_is_conserved() {
    let tls = Tls::new(V13);
    let mut connecting = 0;
    for at in 1..60 {
        let mut case = Case { conns: 20, ..case(tls.before(answers([Act::send(OK)]))) };
        case.setup.faults.stop = Some((at * MS / 8, Stop::Interrupted));
        let outcome = checked(&case);
        connecting += outcome.ledger.totals.aborted[1];
        assert_eq!(outcome.stopped_by, Some(Stop::Interrupted));
    }
    assert!(connecting > 0, "no handshake was interrupted");
    assert_eq!(tls.seen().broken, 0);
}

#[test]
fn every_law_holds_over_tls_for_50_seeds() {
    let mut handshakes = 0;
    for seed in 0..50 {
        let mut case = Case::draw(seed);
        let tls = Tls::new(if seed % 2 == 0 { V13 } else { V12 });
        let tls = if seed % 5 == 4 { tls.bare() } else { tls };
        (case.conns, case.secure) = (case.conns.min(12), client(false));
        case.body = case.body.min(10_000);
        case.setup.server = tls.before(case.setup.server.clone());
        let bare = seed % 5 == 4;
        let outcome = case.whole();
        if !(bare && case.is_tame()) {
            laws::check(&case, &outcome).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case:?}"));
        }
        assert_eq!(tls.seen().broken, 0, "seed {seed}: {case:?}");
        handshakes += outcome.basic.handshakes.full;
    }
    assert!(handshakes > 100, "{handshakes} handshakes");
}

#[test]
fn an_honest_server_is_honest_over_tls() {
    for seed in 0..10 {
        let tls = Tls::new(V13);
        let mut case =
            Case { conns: 10, calls: 4, ..Case::plain(seed, tls.before(Server::Honest(Honest::default()))) };
        case.secure = client(false);
        let outcome = checked(&case);
        assert!(outcome.ledger.totals.broken.is_empty(), "{:?}", outcome.ledger.totals);
        assert_eq!((tls.seen().full, tls.seen().broken), (10, 0));
    }
}
