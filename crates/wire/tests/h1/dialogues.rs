//! Every rule of HTTP/1 framing as a dialogue: what the server sends, and what the machine makes of it.
//!
//! `|` is the end of the stream; it is missing where a fault or the last reply came before.

use crate::play::{CLASSIC, Caller, ONE, play_all_ways};

const OK: &str = "HTTP/1.1 200 OK\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Plays each stream behind `start` and compares the words.
fn check(caller: Caller<'_>, start: &str, dialogues: &[(&str, &str)]) {
    for (stream, words) in dialogues {
        let stream = [start.as_bytes(), &latin1(stream)].concat();
        let played = play_all_ways(caller, &stream);
        assert_eq!(played.line(), *words, "{}\n{played:?}", stream.escape_ascii());
    }
}

/// One byte a character, so that the tables can hold any byte.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|char| u8::try_from(char).unwrap()).collect()
}

#[test]
fn plain_replies() {
    check(
        ONE,
        "",
        &[
            ("", "|"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "begin 200 head content 5 end 0 |"),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "begin 404 head end 0 |"),
            ("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "begin 200 head content 5 end 0 |"),
            ("HTTP/1.1 200 OK\r\n\r\nhello", "begin 200 head content 5 | end 0 last"),
            ("HTTP/1.1 200 OK\r\n\r\n", "begin 200 head | end 0 last"),
        ],
    );
}

#[test]
fn one_empty_line_before_a_status_line_is_skipped() {
    let reply = "HTTP/1.1 204 \r\n\r\n";
    for (lead, words) in [
        ("\r\n", "begin 204 head end 0 |"),
        ("\n", "begin 204 head end 0 |"),
        ("\r\n\r\n", "begin malformed"),
        ("\n\n", "begin malformed"),
        ("\r", "malformed"),
        ("\r\r\n", "malformed"),
        (" ", "begin malformed"),
    ] {
        check(ONE, "", &[(&format!("{lead}{reply}"), words)]);
    }
    check(ONE, "", &[("\r", "|"), ("\r\n", "|")]);
}

#[test]
fn status_lines() {
    check(
        ONE,
        "",
        &[
            ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "begin 200 head end 0 |"),
            ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "begin 200 head end 0 |"),
            ("HTTP/1.1 200 a \t\u{80}\u{ff}~\r\nContent-Length: 0\r\n\r\n", "begin 200 head end 0 |"),
            ("HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n", "begin 600 head end 0 |"),
            ("HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", "begin 999 head end 0 |"),
            ("HTTP/1.1 099 X\r\n", "begin malformed"),
            ("HTTP/1.1 000 X\r\n", "begin malformed"),
            ("HTTP/1.1 1000 X\r\n", "begin malformed"),
            ("HTTP/1.1 20 X\r\n", "begin malformed"),
            ("HTTP/1.1 2x0 X\r\n", "begin malformed"),
            ("HTTP/1.1 200X\r\n", "begin malformed"),
            ("HTTP/1.1 200\tX\r\n", "begin malformed"),
            ("HTTP/1.1  200 X\r\n", "begin malformed"),
            ("HTTP/1.1\t200 X\r\n", "begin malformed"),
            ("HTTP/1.1 \r\n", "begin malformed"),
            ("HTTP/1.1\r\n", "begin malformed"),
            ("HTTP/1.1 200 O\0K\r\n", "begin malformed"),
            ("HTTP/1.1 200 O\u{7f}K\r\n", "begin malformed"),
            ("HTTP/1.1 200 O\u{1b}K\r\n", "begin malformed"),
            ("HTTP/1.1 200 O\rK\r\n", "begin malformed"),
            ("HTTP/1.1 200\r\r\n", "begin malformed"),
            ("HTTP/1.2 200 OK\r\n", "begin malformed"),
            ("HTTP/2.0 200 OK\r\n", "begin malformed"),
            ("HTTP/1.10 200 OK\r\n", "begin malformed"),
            ("http/1.1 200 OK\r\n", "begin malformed"),
            ("HTTP /1.1 200 OK\r\n", "begin malformed"),
            ("ICY 200 OK\r\n", "begin malformed"),
            ("<html>hello", "begin malformed"),
            ("GARBAGE\r\n\r\nhello", "begin malformed"),
        ],
    );
}

#[test]
fn the_first_bytes_of_another_protocol_are_enough() {
    check(
        ONE,
        "",
        &[
            ("\u{15}\u{3}\u{1}", "begin malformed"),
            ("\0", "begin malformed"),
            ("<", "begin malformed"),
            ("HTX", "begin malformed"),
            ("HTTP/2", "begin malformed"),
        ],
    );
}

#[test]
fn good_fields() {
    let empty = "Content-Length: 0\r\n\r\n";
    for fields in [
        "",
        "A:\r\n",
        "A: \t\r\n",
        "A:b\n",
        "A: b \t\r\n",
        "A: b:c\r\n",
        "!#$%&'*+-.^_`|~09azAZ: x\r\n",
        "A: \u{80}\u{ff}\r\n",
        "A: a\tb\r\nB: c\n",
    ] {
        check(ONE, OK, &[(&format!("{fields}{empty}"), "begin 200 head end 0 |")]);
    }
}

#[test]
fn bad_fields() {
    for field in [
        "A: b\rc\r\n",
        "A: b\r\r\n",
        "A:\rb\r\n",
        "A: b\0c\r\n",
        "A: \0\r\n",
        "A: b\u{1}c\r\n",
        "A: b\u{b}c\r\n",
        "A: b\u{7f}c\r\n",
        "A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\u{7f}c\r\n",
        "A : b\r\n",
        "A\t: b\r\n",
        ": b\r\n",
        " A: b\r\n",
        "A\r\n",
        "A\n",
        "A B: c\r\n",
        "A@: c\r\n",
        "A\u{80}: c\r\n",
        "A\0: c\r\n",
        "(A): c\r\n",
        "\r\r\n",
        "\rA: b\r\n",
        "A: b\r\n c\r\n",
        "A: b\r\n\tc\r\n",
        " c\r\n",
    ] {
        let end = "Content-Length: 0\r\n\r\n";
        check(ONE, OK, &[(&format!("{field}{end}"), "begin 200 malformed")]);
        check(ONE, OK, &[(&format!("Good: 1\r\n{field}{end}"), "begin 200 malformed")]);
        check(ONE, CHUNKED, &[(&format!("0\r\n{field}\r\n"), "begin 200 head malformed")]);
    }
}

#[test]
fn a_field_that_is_broken_already_is_malformed_when_the_stream_ends_in_it() {
    check(
        ONE,
        OK,
        &[
            ("Con", "begin 200 | truncated"),
            ("A: b\r", "begin 200 | truncated"),
            ("A b", "begin 200 malformed"),
            ("A: \0", "begin 200 malformed"),
            (" A", "begin 200 malformed"),
        ],
    );
}

#[test]
fn every_byte_has_its_place_in_names_and_values_or_none() {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let text = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte) || byte >= 0x80;
    // Long enough for any vector code to be at work.
    for at in [0, 1, 7, 8, 17, 33, 63] {
        for byte in 0..=255 {
            let fill = |filler: u8| {
                let mut word = [filler; 70];
                word[at] = byte;
                word
            };
            let name = [OK.as_bytes(), &fill(b'n'), b": v\r\n\r\n"].concat();
            let value = [OK.as_bytes(), b"n: ", &fill(b'v'), b"\r\n\r\n"].concat();
            let good = |stream: &[u8]| crate::play::play(ONE, [stream]).line().ends_with("head | end 0 last");
            assert_eq!(good(&name), token(byte) || (byte == b':' && at > 0), "name, {byte} at {at}");
            // A line feed ends the line: what is behind it is a line without a colon.
            assert_eq!(good(&value), text(byte), "value, {byte} at {at}");
        }
    }
}

#[test]
fn interim_replies_are_skipped_and_have_no_body() {
    check(
        ONE,
        "",
        &[
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                "begin interim 100 begin 200 head content 2 end 0 |",
            ),
            (
                "HTTP/1.1 103 x\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                 HTTP/1.1 199\r\nContent-Length: x\r\n\r\nHTTP/1.1 204 \r\n\r\n",
                "begin interim 103 begin interim 199 begin 204 head end 0 |",
            ),
            ("HTTP/1.1 100 Continue\r\n\r\n", "begin interim 100 | truncated"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP", "begin interim 100 begin | truncated"),
            ("HTTP/1.1 100 Continue\r\nbad\r\n\r\n", "begin malformed"),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", "begin malformed"),
        ],
    );
}

#[test]
fn head_204_and_304_have_no_body() {
    let head = Caller { calls: "H", ..ONE };
    for fields in [
        "",
        "Content-Length: 5\r\n",
        "Content-Length: x\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
    ] {
        let words = |code: u16| format!("begin {code} head end 0 |");
        for code in [204, 304] {
            check(ONE, "", &[(&format!("HTTP/1.1 {code} \r\n{fields}\r\n"), &words(code))]);
        }
        for code in [200, 205, 404] {
            check(head, "", &[(&format!("HTTP/1.1 {code} \r\n{fields}\r\n"), &words(code))]);
        }
    }
    let get_after_head = Caller { calls: "HR", ..ONE };
    let reply = "HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\n";
    check(
        get_after_head,
        "",
        &[(&format!("{reply}{reply}x"), "begin 200 head end 0 begin 200 head content 1 end 0 |")],
    );
}

#[test]
fn a_205_has_the_body_it_declares_or_none() {
    check(
        ONE,
        "HTTP/1.1 205 Reset\r\n",
        &[
            ("\r\n", "begin 205 head end 0 |"),
            ("Content-Length: 5\r\n\r\nhello", "begin 205 head content 5 end 0 |"),
            ("Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "begin 205 head content 1 end 2 |"),
        ],
    );
}

#[test]
fn transfer_encoding_beats_content_length() {
    let chunks = "5\r\nhello\r\n0\r\n\r\n";
    for coding in
        ["chunked", "Chunked", "\t chunked \t", "gzip, chunked", "gzip\r\nTransfer-Encoding: chunked"]
    {
        let fields = format!("Transfer-Encoding: {coding}\r\n\r\n{chunks}");
        check(ONE, OK, &[(&fields, "begin 200 head content 5 end 2 |")]);
    }
    for coding in ["gzip", "identity", "chunked, gzip", "xchunked", "", "chunked\r\nTransfer-Encoding: gzip"]
    {
        let fields = format!("Transfer-Encoding: {coding}\r\n\r\n12345");
        check(ONE, OK, &[(&fields, "begin 200 head unknown content 5 | end 0 last")]);
    }
    check(
        ONE,
        OK,
        &[
            (
                "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                "begin 200 head both content 5 end 2 last",
            ),
            (
                "Transfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nhello",
                "begin 200 head both unknown content 5 | end 0 last",
            ),
        ],
    );
}

#[test]
fn transfer_encoding_in_http_1_0_is_read_but_ends_the_connection() {
    check(
        ONE,
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n",
        &[("1\r\nx\r\n0\r\n\r\n", "begin 200 head content 1 end 2 last")],
    );
}

#[test]
fn content_lengths() {
    for length in ["5", "005", "5, 5", "5\r\nContent-Length: 5", "5\r\ncontent-length:05", "  5\t"] {
        let fields = format!("Content-Length: {length}\r\n\r\nhello");
        check(ONE, OK, &[(&fields, "begin 200 head content 5 end 0 |")]);
    }
    for length in [
        "",
        "+5",
        "-1",
        "0x5",
        "5h",
        "5.0",
        "5 5",
        "5,",
        "5, 6",
        "5\r\nContent-Length: 6",
        "5\r\nContent-Length:",
        "9223372036854775808",
        "18446744073709551616",
        "340282366920938463463374607431768211461",
    ] {
        let fields = format!("Content-Length: {length}\r\n\r\nhello");
        check(ONE, OK, &[(&fields, "begin 200 malformed")]);
    }
    check(
        ONE,
        OK,
        &[
            ("Content-Length: 9223372036854775807\r\n\r\nhello", "begin 200 head content 5 | truncated"),
            ("Content-Length: 4294967296\r\n\r\n", "begin 200 head | truncated"),
        ],
    );
}

#[test]
fn good_chunks() {
    check(
        ONE,
        CHUNKED,
        &[
            ("0\r\n\r\n", "begin 200 head end 2 |"),
            ("5\r\nhello\r\n0\r\n\r\n", "begin 200 head content 5 end 2 |"),
            ("1\r\nx\r\n2\r\nyz\r\n0\r\n\r\n", "begin 200 head content 3 end 2 |"),
            ("A\r\n0123456789\r\n000\r\n\r\n", "begin 200 head content 10 end 2 |"),
            ("00a\r\n0123456789\r\n0\r\n\r\n", "begin 200 head content 10 end 2 |"),
            ("0000000000000001\r\nx\r\n0000000000000000\r\n\r\n", "begin 200 head content 1 end 2 |"),
            ("2\r\n\r\n\r\n0\r\n\r\n", "begin 200 head content 2 end 2 |"),
            ("5;a=b;c=\"d;e\"\r\nhello\r\n0;x\r\nTrailer: v\r\n\r\n", "begin 200 head content 5 end 14 |"),
            ("1 ; a\r\nx\r\n0 \r\n\r\n", "begin 200 head content 1 end 2 |"),
            (
                "1\r\nx\r\n0\r\nContent-Length: 7\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n",
                "begin 200 head content 1 end 65 |",
            ),
        ],
    );
}

#[test]
fn bad_chunks() {
    for size in [
        "",
        " 5",
        "\t5",
        "+5",
        "-5",
        "0x5",
        "5_0",
        "zz",
        "g",
        ";a",
        "5 5",
        "5\n",
        "5;a\n",
        "5;a\rb",
        "5\r5",
        "5\r\r",
        "00000000000000005",
        "10000000000000000",
        "fffffffffffffffff",
    ] {
        check(ONE, CHUNKED, &[(&format!("{size}\r\nhello\r\n0\r\n\r\n"), "begin 200 head malformed")]);
    }
    check(
        ONE,
        CHUNKED,
        &[
            ("5\r\nhello\n", "begin 200 head content 5 malformed"),
            ("5\r\nhello\r\r\n", "begin 200 head content 5 malformed"),
            ("5\r\nhello!\r\n", "begin 200 head content 5 malformed"),
            ("5\r\nhello0\r\n\r\n", "begin 200 head content 5 malformed"),
            ("5\r\nhello\r\n\r\n", "begin 200 head content 5 malformed"),
            ("0\r\n\n", "begin 200 head malformed"),
            ("0\n\r\n", "begin 200 head malformed"),
            ("0\r\nA: b\n\r\n", "begin 200 head malformed"),
            ("0\r\nA: b\r\n\n", "begin 200 head malformed"),
            ("0\r\nA: b\r\n c\r\n\r\n", "begin 200 head malformed"),
        ],
    );
}

#[test]
fn the_end_of_the_stream_inside_a_reply_truncates_it() {
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    for at in 1..whole.len() {
        let words = crate::play::play(ONE, [&whole.as_bytes()[..at]]).line();
        assert!(words.ends_with("| truncated"), "{at}: {words}");
    }
    check(
        ONE,
        CHUNKED,
        &[
            ("", "begin 200 head | truncated"),
            ("5", "begin 200 head | truncated"),
            ("5;a", "begin 200 head | truncated"),
            ("5\r", "begin 200 head | truncated"),
            ("5\r\n", "begin 200 head | truncated"),
            ("5\r\nhell", "begin 200 head content 4 | truncated"),
            ("5\r\nhello", "begin 200 head content 5 | truncated"),
            ("5\r\nhello\r", "begin 200 head content 5 | truncated"),
            ("5\r\nhello\r\n", "begin 200 head content 5 | truncated"),
            ("5\r\nhello\r\n0\r\n", "begin 200 head content 5 | truncated"),
            ("5\r\nhello\r\n0\r\n\r", "begin 200 head content 5 | truncated"),
            ("5\r\nhello\r\n0\r\nA: b\r\n", "begin 200 head content 5 | truncated"),
        ],
    );
}

#[test]
fn bytes_behind_the_last_reply_that_is_due_are_unsolicited() {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    for tail in ["x", "\r\n", "EXTRA", reply] {
        check(ONE, reply, &[(tail, "begin 200 head content 5 end 0 unsolicited")]);
    }
    check(Caller { calls: "", ..ONE }, "", &[("", "|"), ("H", "unsolicited"), ("\r\n", "unsolicited")]);
    check(ONE, "HTTP/1.1 204 \r\nContent-Length: 1\r\n\r\n", &[("x", "begin 204 head end 0 unsolicited")]);
}

#[test]
fn pipelined_replies_come_out_one_by_one() {
    check(
        Caller { calls: "RHRRR", ..ONE },
        "",
        &[(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\
             HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\
             HTTP/1.1 100 \r\n\r\nHTTP/1.1 404 \r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n\
             \r\nHTTP/1.1 204 \r\n\r\n\
             HTTP/1.1 200 OK\r\n\r\nrest",
            "begin 200 head content 2 end 0 begin 200 head end 0 begin interim 100 begin 404 head content 1 end 2 \
             begin 204 head end 0 begin 200 head content 4 | end 0 last",
        )],
    );
}

#[test]
fn persistence() {
    for (fields, last) in [
        ("HTTP/1.1 204 \r\n\r\n", false),
        ("HTTP/1.1 204 \r\nConnection: keep-alive\r\n\r\n", false),
        ("HTTP/1.1 204 \r\nConnection: close\r\n\r\n", true),
        ("HTTP/1.1 204 \r\nconnection: CLOSE\r\n\r\n", true),
        ("HTTP/1.1 204 \r\nConnection: a, close ,b\r\n\r\n", true),
        ("HTTP/1.1 204 \r\nConnection: a\r\nConnection: close\r\n\r\n", true),
        ("HTTP/1.1 204 \r\nConnection: closed\r\n\r\n", false),
        ("HTTP/1.0 204 \r\n\r\n", true),
        ("HTTP/1.0 204 \r\nConnection: Keep-Alive\r\n\r\n", false),
        ("HTTP/1.0 204 \r\nConnection: keep-alive, close\r\n\r\n", true),
    ] {
        let words = if last { "begin 204 head end 0 last" } else { "begin 204 head end 0 |" };
        check(ONE, "", &[(fields, words)]);
    }
}

#[test]
fn long_field_lines_are_noted_once_a_section() {
    let line = |length: usize| format!("A: {}\r\n", "x".repeat(length - 5));
    let empty = "Content-Length: 0\r\n\r\n";
    check(
        ONE,
        OK,
        &[
            (&format!("{}{empty}", line(1023)), "begin 200 head end 0 |"),
            (&format!("B: 1\r\n{}{empty}", line(1024)), "begin 200 head long 1024 end 0 |"),
            (&format!("{}{}{empty}", line(1050), line(1060)), "begin 200 head long 1050 end 0 |"),
        ],
    );
    check(ONE, CHUNKED, &[(&format!("0\r\n{}\r\n", line(1024)), "begin 200 head long 1024 end 1026 |")]);
}

#[test]
fn classic_reading() {
    let classic = Caller { rules: CLASSIC, ..ONE };
    check(
        classic,
        "",
        &[
            ("GARBAGE\r\n\r\nhello", "begin garbage 599 head content 5 | end 0 last"),
            ("GARBAGE\r\nContent-Length: 5\r\n\r\nhello", "begin garbage 599 head content 5 end 0 |"),
            ("HTTP/2.0 200 OK\nContent-Length: 0\n\n", "begin garbage 599 head end 0 |"),
            ("GARBAGE", "begin | truncated"),
            ("GARBAGE\r\n", "begin garbage 599 | truncated"),
            ("GARBAGE\r\nbad\r\n", "begin garbage 599 malformed"),
            ("\r\n\r\n\r\n", "begin garbage 599 head | end 0 last"),
            ("HTTP/1.1 042 X\r\nContent-Length: 1\r\n\r\nx", "begin 42 head content 1 end 0 |"),
            ("HTTP/1.1 42 X\r\nContent-Length: 1\r\n\r\nx", "begin 42 head content 1 end 0 |"),
            ("HTTP/1.1 1000 X\r\nContent-Length: 1\r\n\r\nx", "begin garbage 599 head content 1 end 0 |"),
            ("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nhello", "begin 200 head content 5 | end 0 last"),
            ("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n", "begin 200 head | end 0 last"),
            ("HTTP/1.1 200 X\r\nContent-Length: 9\r\n", "begin 200 | truncated"),
            (
                "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhell",
                "begin 200 head content 4 | truncated",
            ),
            ("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "begin 200 head | truncated"),
            ("HTTP/1.1 204 X\r\nConnection: close\r\n\r\n", "begin 204 head end 0 |"),
            ("HTTP/1.0 204 X\r\n\r\n", "begin 204 head end 0 |"),
            ("HTTP/1.1 205 X\r\nContent-Length: 5\r\n\r\n", "begin 205 head end 0 |"),
            (
                "HTTP/1.1 200 X\r\nTransfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
                "begin 200 head both unknown content 2 end 0 |",
            ),
            ("HTTP/1.1 100 X\r\n\r\nHTTP/1.1 204 X\r\n\r\n", "begin interim 100 begin 204 head end 0 |"),
        ],
    );
}
