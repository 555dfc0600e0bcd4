//! The memo of heads saves work and changes nothing else. A stream in single bytes never gets help from it,
//! which is what all is compared with.

use httperf_wire::Memo;

use crate::play::{CLASSIC, Caller, MODERN, ONE, play_with};

/// Heads that begin alike and mean different things.
const STREAMS: &[&str] = &[
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "HTTP/1.1 100 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\n\r\nok",
];

#[test]
fn one_memo_serves_all_callers_and_all_cuts() {
    let callers = [MODERN, CLASSIC]
        .into_iter()
        .flat_map(|rules| ["R", "H", "RR", "RH", "HR"].map(|calls| Caller { rules, calls, discard: false }));
    let mut memo = Memo::default();
    for caller in callers {
        for at in 0..=80 {
            for stream in STREAMS {
                let (one, two) = stream.as_bytes().split_at(at.min(stream.len()));
                let bytes = play_with(&mut Memo::default(), caller, stream.as_bytes().chunks(1));
                for discard in [false, true] {
                    let caller = Caller { discard, ..caller };
                    assert_eq!(play_with(&mut memo, caller, [one, two]), bytes, "cut at {at}: {stream:?}");
                }
            }
        }
    }
}

#[test]
fn the_same_head_means_what_the_caller_asked_for() {
    let stream = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    let mut memo = Memo::default();
    for _ in 0..2 {
        for (rules, calls, words) in [
            (MODERN, "R", "begin 200 head content 2 end 0 last"),
            (MODERN, "H", "begin 200 head end 0 last"),
            (CLASSIC, "R", "begin 200 head content 2 end 0 |"),
            (CLASSIC, "H", "begin 200 head end 0 unsolicited"),
        ] {
            let caller = Caller { rules, calls, ..ONE };
            assert_eq!(play_with(&mut memo, caller, [&stream[..]]).line(), words);
        }
    }
}

#[test]
fn bytes_that_nobody_asked_for_are_unsolicited_however_well_known() {
    let stream = STREAMS[0].as_bytes();
    let mut memo = Memo::default();
    assert_eq!(
        play_with(&mut memo, ONE, [stream, stream]).line(),
        "begin 200 head content 2 end 0 unsolicited"
    );
}
