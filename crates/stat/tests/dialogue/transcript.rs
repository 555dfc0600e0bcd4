//! What goes over the wire as text, and the URIs of calls.

use httperf_engine::{Input, SessionId};
use httperf_stat::{Parts, Printed, Transcript};

use crate::driven::{Driven, GET, POST};

const BOTH: Option<Parts> = Some(Parts { header: true, body: true });
const HEADER: Option<Parts> = Some(Parts { header: true, body: false });
const BODY: Option<Parts> = Some(Parts { header: false, body: true });

/// The text of a run, and the pieces in which it was told.
fn told(
    request: Option<Parts>,
    reply: Option<Parts>,
    run: impl FnOnce(&mut Driven<Transcript<&mut dyn FnMut(&[u8])>>),
) -> Vec<String> {
    let mut told = Vec::new();
    let mut tell = |bytes: &[u8]| told.push(String::from_utf8_lossy(bytes).into_owned());
    let printed = Printed { request, reply };
    let tell: &mut dyn FnMut(&[u8]) = &mut tell;
    run(&mut Driven::new(printed.wants(), Transcript::new(printed, tell)));
    assert!(told.iter().all(|piece| piece.ends_with('\n')), "{told:?}");
    told
}

fn reply(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

const SH0: &str = "SH0:GET /ok HTTP/1.1\r\nSH0:User-Agent: httperf/0.9.0\r\nSH0:Host: 127.0.0.1\r\nSH0:\r\n";

#[test]
fn a_request_is_printed_with_its_carriage_returns() {
    let text = told(BOTH, None, |run| {
        let conn = run.connect(0, SessionId::NONE);
        run.issue(0, conn, GET);
        run.handle(1, conn, Input::Data(&reply("not asked for")));
    });
    assert_eq!(text, [SH0, "SS0: header 64 content 0\n"]);
}

#[test]
fn every_line_of_a_body_is_printed_the_last_one_with_our_line_end() {
    let post = "SH0:POST /ok3 HTTP/1.1\r\nSH0:User-Agent: httperf/0.9.0\r\nSH0:Host: 127.0.0.1\r\n\
                SH0:Content-length: 18\r\nSH0:\r\n";
    let body = "SB0:Multi\nSB0:line\tA\\B 'q'\n";
    let last = "SS0: header 86 content 18\n";
    for (parts, first) in [(BOTH, format!("{post}{body}")), (HEADER, post.into()), (BODY, body.into())] {
        let text = told(parts, None, |run| {
            let conn = run.connect(0, SessionId::NONE);
            run.issue(0, conn, POST);
        });
        assert_eq!(text, [first.as_str(), last]);
    }
}

#[test]
fn a_request_that_is_never_written_is_never_printed_and_one_cut_short_has_no_last_line() {
    let text = told(BOTH, None, |run| {
        run.at_once = 10;
        let conn = run.connect(0, SessionId::NONE);
        run.issue(0, conn, GET);
        run.at_once = 0;
        run.issue(0, conn, POST);
        run.handle(1, conn, Input::Failed(104));
    });
    assert_eq!(text, [SH0]);
}

#[test]
fn another_attempt_prints_again_under_the_same_number() {
    let text = told(BOTH, BOTH, |run| {
        let first = run.connect(0, SessionId::NONE);
        run.issue(0, first, GET);
        run.handle(1, first, Input::Failed(104));
        let second = run.connect(2, SessionId::NONE);
        let again = run.again[0];
        run.issue_again(2, second, GET, again);
        run.handle(3, second, Input::Data(&reply("")));
        run.issue(3, second, GET);
    });
    let once = [SH0, "SS0: header 64 content 0\n"].concat();
    let answer =
        "RH0:HTTP/1.1 200 OK\r\nRH0:Content-Length: 0\r\nRH0:\r\nRS0: header 38 content 0 footer 0\n";
    let next = once.replace("SH0", "SH1").replace("SS0", "SS1");
    assert_eq!(text.concat(), [once.as_str(), &once, answer, &next].concat());
}

#[test]
fn a_reply_is_printed_decoded_whatever_its_pieces() {
    let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n2\r\nc\n\r\n2\r\n\nd\r\n0\r\nX: trail\r\n\r\n";
    let expected = "RH0:HTTP/1.1 200 OK\r\nRH0:Transfer-Encoding: chunked\r\nRH0:\r\nRB0:a\nRB0:bc\nRB0:\nRB0:d\n\
                    RS0: header 47 content 7 footer 12\n";
    for size in 1..=bytes.len() {
        let text = told(None, BOTH, |run| {
            let conn = run.connect(0, SessionId::NONE);
            run.issue(0, conn, GET);
            for piece in bytes.chunks(size) {
                run.handle(1, conn, Input::Data(piece));
            }
        });
        assert_eq!(text.concat(), expected, "pieces of {size}");
    }
}

#[test]
fn the_last_line_of_a_reply_is_printed_whatever_was_asked_for() {
    let run = |reply_parts, chunk: usize| {
        told(None, reply_parts, |run| {
            let conn = run.connect(0, SessionId::NONE);
            run.issue(0, conn, GET);
            for piece in reply("hello").chunks(chunk) {
                run.handle(1, conn, Input::Data(piece));
            }
        })
        .concat()
    };
    let last = "RS0: header 38 content 5 footer 0\n";
    let header = "RH0:HTTP/1.1 200 OK\r\nRH0:Content-Length: 5\r\nRH0:\r\n";
    for chunk in [1, 7, 1_000] {
        assert_eq!(run(HEADER, chunk), format!("{header}{last}"));
        assert_eq!(run(BODY, chunk), format!("RB0:hello\n{last}"));
        assert_eq!(run(BOTH, chunk), format!("{header}RB0:hello\n{last}"));
        assert_eq!(run(None, chunk), "");
    }
}

#[test]
fn pipelined_replies_do_not_run_into_each_other() {
    let text = told(None, BODY, |run| {
        let conn = run.connect(0, SessionId::NONE);
        run.issue(0, conn, GET);
        run.issue(0, conn, GET);
        run.handle(1, conn, Input::Data(&[reply("a\nlast"), reply("b")].concat()));
    });
    let expected =
        "RB0:a\nRB0:last\nRS0: header 38 content 6 footer 0\nRB1:b\nRS1: header 38 content 1 footer 0\n";
    assert_eq!(text.concat(), expected);
}

#[test]
fn lines_of_calls_at_the_same_time_are_not_mixed() {
    let text = told(None, BODY, |run| {
        let conns = [0, 1].map(|_| run.connect(0, SessionId::NONE));
        for conn in conns {
            run.issue(0, conn, GET);
            run.handle(1, conn, Input::Data(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"));
        }
        for (conn, piece) in [(0, "on"), (1, "tw"), (0, "e\n"), (1, "o\nth"), (0, "four")] {
            run.handle(2, conns[conn], Input::Data(piece.as_bytes()));
        }
        run.stop(3);
    });
    let expected = "RB0:one\nRB1:two\nRB0:four\nRS0: header 38 content 8 footer 0\nRB1:th\n";
    assert_eq!(text.concat(), expected);
}

#[test]
fn of_a_reply_that_breaks_off_what_came_is_printed() {
    let text = told(None, BOTH, |run| {
        let conn = run.connect(0, SessionId::NONE);
        run.issue(0, conn, GET);
        run.issue(0, conn, GET);
        run.handle(1, conn, Input::Data(&reply("a\nmore")[..41]));
        run.handle(2, conn, Input::Eof);
    });
    assert_eq!(text.concat(), "RH0:HTTP/1.1 200 OK\r\nRH0:Content-Length: 6\r\nRH0:\r\nRB0:a\nRB0:m\n");
}

#[test]
fn a_line_without_an_end_is_printed_in_pieces() {
    let (piece, pieces) = ([b'x'; 1_000], 200);
    let text = told(None, BODY, |run| {
        let conn = run.connect(0, SessionId::NONE);
        run.issue(0, conn, GET);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", piece.len() * pieces);
        run.handle(1, conn, Input::Data(head.as_bytes()));
        (0..pieces).for_each(|_| run.handle(2, conn, Input::Data(&piece)));
    });
    let lengths: Vec<_> = text.iter().map(|line| line.trim_end().trim_start_matches("RB0:").len()).collect();
    assert_eq!(lengths[..3], [66_000, 66_000, 66_000]);
    assert!(text[3].starts_with("RB0:xx") && text[3].contains("\nRS0: "), "the rest and the last line");
}

#[test]
fn many_lines_without_an_end_are_held_in_bounded_memory() {
    let (line, conns) = ([b'y'; 60_000], 400);
    let text = told(None, BODY, |run| {
        for _ in 0..conns {
            let conn = run.connect(0, SessionId::NONE);
            run.issue(0, conn, GET);
            run.handle(1, conn, Input::Data(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"));
            run.handle(1, conn, Input::Data(&line));
        }
    });
    assert!(text.iter().all(|piece| piece.matches('y').count() == line.len()));
    // 16 MiB of them are held.
    assert_eq!(text.len(), conns - (16 << 20) / line.len());
}
