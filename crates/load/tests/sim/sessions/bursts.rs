//! What is sent when: bursts, think times, slots, URIs, one session after the other.

use std::sync::Arc;

use httperf_engine::sim::{Act, Honest, ORIGIN, Server};
use httperf_engine::{Outcome as End, Time};
use httperf_load::{Entries, Period, Room, Uris, Wlog};

use super::case::{OK, SessionCase, What, answers};
use crate::case::{MS, Pace, SECOND};

fn honest() -> Server {
    Server::Honest(Honest { close: 0, statuses: vec![200], ..Honest::default() })
}

#[test]
fn think_times_run_from_the_last_reply_of_a_burst_to_the_nanosecond() {
    let think = 200 * MS + 1;
    let came = SessionCase::wsess(honest(), 2, 4, 2, think).whole();
    let replies = &came.outcome.ledger.replies;
    assert_eq!(came.counts(), [2, 8, 8, 2, 0]);
    for (session, four) in replies.chunks(4).enumerate() {
        let began = if session == 0 { ORIGIN } else { replies[3].last };
        assert_eq!(four[0].due, began);
        assert_eq!((four[1].due, four[1].sent), (four[0].last, four[0].last));
        assert_eq!((four[2].due, four[2].sent), (four[1].last + think, four[1].last + think));
        assert_eq!((four[3].due, four[3].sent), (four[2].last, four[2].last));
        // No think time after the last burst: the session ends, and the next one begins.
        assert_eq!(came.book.seen[session].ended, Some((End::Succeeded, four[3].last)));
    }
    assert_eq!(came.book.seen[1].began, replies[3].last);
}

#[test]
fn a_burst_is_one_call_and_after_its_reply_the_rest_and_the_last_one_may_be_short() {
    let came = SessionCase::wsess(answers([Act::send(OK)]), 1, 7, 3, 0).whole();
    assert_eq!(came.groups(), [1, 2, 1, 2, 1]);
    let all = SessionCase::wsess(answers([Act::send(OK)]), 1, 5, 9, SECOND).whole();
    assert_eq!(all.groups(), [1, 4]);
    assert!(all.outcome.lasted() < 100 * MS, "no think time after the last burst");
    let none = SessionCase::wsess(answers([Act::send(OK)]), 1, 0, 1, SECOND).whole();
    assert_eq!(none.counts(), [1, 1, 1, 1, 0], "no calls act as one");
    assert_eq!(SessionCase::wsess(honest(), 0, 1, 1, 0).whole().counts(), [0; 5]);
}

#[test]
fn bursts_of_a_file_have_their_own_think_times_and_sessions_take_turns() {
    let templates = vec![vec![(3, 200 * MS), (2, 9 * SECOND)], vec![(1, 0), (1, 0)]];
    let came = SessionCase::new(honest(), 3, What::Log(templates)).whole();
    assert_eq!(came.counts(), [3, 12, 12, 3, 0]);
    let uris: Vec<&str> = came.book.asked.iter().filter_map(|asked| asked.text.split(' ').nth(1)).collect();
    let first = ["/log/0", "/log/1", "/log/2", "/log/3", "/log/4"];
    assert_eq!(uris[..5], first);
    assert_eq!(uris[5..7], ["/log/5", "/log/6"]);
    assert_eq!(uris[7..], first);
    let replies = &came.outcome.ledger.replies;
    assert_eq!(replies[3].sent, replies[2].last + 200 * MS);
    assert_eq!(replies[6].sent, replies[5].last);
}

#[test]
fn calls_fill_one_connection_after_the_other_and_then_wait() {
    let room = Room { conns: 2, piped: 3 };
    let what = What::Log(vec![vec![(21, 0)]]);
    let case = SessionCase { room, ..SessionCase::new(answers([Act::send(OK)]), 1, what) };
    let came = case.whole();
    assert_eq!(came.counts(), [2, 21, 21, 1, 0]);
    assert_eq!((came.book.piped_max, came.book.seen[0].open_max), (3, 2));
    // Three at once on the open connection; three more when the other one is there.
    assert_eq!(came.groups()[..3], [1, 3, 3]);
    let released = came.outcome.ledger.replies[0].last;
    assert!(came.book.asked[1..].iter().all(|asked| asked.due == released));
    let wide = SessionCase { room: Room::classic(0, 0, false), ..case };
    assert_eq!(wide.whole().counts(), [1, 21, 21, 1, 0], "one connection holds 32 calls");
}

#[test]
fn more_calls_than_connections_hold_end_a_run_of_wsess() {
    let room = Room { conns: 2, piped: 3 };
    let with = |burst| {
        let case = SessionCase::wsess(answers([Act::send(OK)]), 5, burst, burst, 0);
        SessionCase { room, ..case }.whole()
    };
    let full = with(7);
    assert_eq!((full.error, full.counts()), (None, [10, 35, 35, 5, 0]));
    let over = with(8);
    assert_eq!((over.counts(), over.outcome.ledger.totals.sessions_ended), ([2, 1, 1, 0, 0], [0, 0, 1]));
    let text = over.error.expect("an error").to_string();
    let expected =
        "session_issue_call: too many calls pending!\n\tIncrease --max-connections and/or --max-piped-calls.";
    assert_eq!(text, expected);
    let endless = with(u32::MAX);
    assert!(endless.error.is_some());
}

#[test]
fn a_log_that_ends_stops_the_run() {
    let entries = Arc::new(Entries::parse(b"/a\0/b\0/c\0").expect("a log"));
    let log = |loops| Some(Uris::Wlog(Wlog::new(entries.clone(), loops, 0, 1)));
    let run = |loops, calls| {
        let what = What::Wsess { calls, burst: 1, think: 0, uris: log(loops) };
        SessionCase::new(answers([Act::send(OK)]), 3, what).whole()
    };
    // The call that finds no entry is begun all the same: it is sent where a connection is open,
    let came = run(false, 2);
    assert_eq!(came.counts(), [2, 4, 3, 1, 0]);
    let uris: Vec<&str> = came.book.asked.iter().filter_map(|asked| asked.text.split(' ').nth(1)).collect();
    assert_eq!(uris, ["/a", "/b", "/c", "/a"]);
    // else a connection is opened for it,
    let what = What::Wsess { calls: 3, burst: 1, think: 0, uris: log(false) };
    assert_eq!(SessionCase::new(answers([Act::send(OK)]), 3, what).whole().counts(), [2, 3, 3, 1, 0]);
    // and of a burst there is nothing more.
    let what = What::Wsess { calls: 9, burst: 9, think: 0, uris: log(false) };
    assert_eq!(SessionCase::new(answers([Act::send(OK)]), 3, what).whole().counts(), [1, 1, 1, 0, 0]);
    assert_eq!(run(false, 1).counts(), [3, 3, 3, 3, 0], "enough entries");
    assert_eq!(run(true, 3).counts(), [3, 9, 9, 3, 0]);
}

#[test]
fn so_many_sessions_at_a_time() {
    let mut case = SessionCase::wsess(honest(), 10, 3, 2, 5 * MS);
    case.world.pace = Pace::Closed(3);
    let came = case.whole();
    assert_eq!((came.counts(), came.book.going_max), ([10, 30, 30, 10, 0], 3));
    // The last connection of a session that has ended goes when that of the next one is there.
    assert_eq!(came.outcome.basic.concurrent_max, 4);
    // Each of the others begins when one has ended.
    let mut ends: Vec<Time> = came.book.seen.iter().filter_map(|seen| Some(seen.ended?.1)).collect();
    let mut begins: Vec<Time> = came.book.seen.iter().map(|seen| seen.began).collect();
    begins.sort_unstable();
    ends.sort_unstable();
    assert_eq!(begins[3..], ends[..7]);
}

#[test]
fn sessions_arrive_at_their_times_however_long_the_others_take() {
    let mut case = SessionCase::wsess(honest(), 5, 2, 1, 10 * SECOND);
    case.world.pace = Pace::Open(Period::Constant(0.2));
    let came = case.whole();
    let mut begins: Vec<Time> = came.book.seen.iter().map(|seen| seen.began).collect();
    begins.sort_unstable();
    assert_eq!(begins, [0, 200, 400, 600, 800].map(|ms| ORIGIN + ms * MS));
    assert_eq!((came.book.going_max, came.counts()), (5, [5, 10, 10, 5, 0]));
}

#[test]
fn connections_go_to_the_targets_in_turn() {
    let entries = Arc::new(Entries::parse(b"/a\0/b\0").expect("a log"));
    let log = Uris::Wlog(Wlog::new(entries, true, 0, 1));
    for uris in [None, Some(log)] {
        let with_uris = uris.is_some();
        let what = What::Wsess { calls: 4, burst: 1, think: 0, uris };
        let mut case = SessionCase::new(answers([Act::send(OK), Act::Close]), 2, what);
        case.targets = 3;
        let came = case.whole();
        let targets: Vec<u32> = came.book.seen.iter().flat_map(|seen| seen.targets.clone()).collect();
        assert_eq!(targets, [0, 1, 2, 0, 1, 2, 0, 1]);
        // Each call is tried on the connection before, and then on the one that answers it.
        let names: Vec<_> = came
            .book
            .asked
            .iter()
            .filter_map(|asked| {
                let host = asked.text.split("Host: 127.0.0.").nth(1)?.chars().next()?;
                Some((asked.text.split(' ').nth(1)?, host))
            })
            .collect();
        let uri = |call: usize| if with_uris { ["/a", "/b"][call % 2] } else { "/dir/12bytes" };
        let calls = [(0, '1'), (1, '1'), (1, '2'), (2, '2'), (2, '3'), (3, '3'), (3, '1')];
        assert_eq!(names[..7], calls.map(|(call, host)| (uri(call), host)));
    }
}

#[test]
fn http_1_0_has_one_reply_a_connection_and_spreads_a_burst() {
    let keep = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello";
    for reply in [keep, "HTTP/1.0 200 OK\r\n\r\nhello"] {
        let end = if reply == keep { Act::Wait(0) } else { Act::Close };
        let server = answers([Act::send(reply), end]);
        let case = SessionCase { http_1_0: true, ..SessionCase::wsess(server, 2, 5, 5, 0) };
        let came = SessionCase { room: Room::classic(0, 0, true), ..case.clone() }.whole();
        assert_eq!((came.counts(), came.causes()), ([10, 10, 10, 2, 0], vec![]), "{reply}");
        // Where we close, the next connection is there before; where the server does, it follows.
        let open_max = if reply == keep { 5 } else { 4 };
        assert_eq!((came.book.seen[0].open_max, came.book.piped_max), (open_max, 1), "{reply}");
        // Calls that were piped behind a reply move to a new connection.
        let came = SessionCase { room: Room { conns: 1, piped: 3 }, ..case.clone() };
        let came =
            SessionCase { what: What::Wsess { calls: 4, burst: 4, think: 0, uris: None }, ..came }.whole();
        assert_eq!((&came.counts()[2..], came.causes()), ([8, 2, 0].as_slice(), vec![]), "{reply}");
    }
}
