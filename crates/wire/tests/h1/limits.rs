//! What a peer can make the machine hold or count. That the memory is flat follows from what
//! it takes: no more than a line is ever held (`h1/fields.rs` has the test), so here it is
//! enough that the floods end in time.

use httperf_wire::{Due, Fault, H1, Machine, Memo, Rules, Signal, limits};

use crate::play::{ONE, play};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// How many bytes of an endless flood behind `start` are taken, in pieces of `size`
/// bytes; it must end in `Limit`.
fn flood(start: &[u8], unit: &[u8], size: usize) -> usize {
    let mut h1 = H1::new(Rules::default());
    let mut memo = Memo::default();
    let mut taken = 0;
    let endless: Vec<u8> = unit.iter().copied().cycle().take(unit.len() * size).collect();
    let mut pieces = std::iter::once(start).chain(endless.chunks(size).cycle());
    loop {
        let mut rest = pieces.next().unwrap();
        loop {
            match h1.receive(rest, Due::Reply, &mut memo) {
                Ok(step) => {
                    rest = &rest[step.used..];
                    taken += step.used;
                    if step.signal.is_none() {
                        break;
                    }
                }
                Err(fault) => {
                    assert!(matches!(fault, Fault::Limit(_)), "{fault:?}");
                    return taken;
                }
            }
        }
    }
}

#[test]
fn floods_end_at_their_limits() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    for size in [1, 1460, 100_000] {
        let taken = |start, unit| flood(start, unit, size);
        assert!(taken(b"", interim) <= (limits::INTERIM as usize + 1) * interim.len());
        assert!(taken(OK, b"X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n") <= OK.len() + limits::SECTION);
        assert!(taken(OK, b"a:\n") <= OK.len() + (limits::FIELDS + 1) * 3);
        assert!(taken(b"HTTP/1.1 200 ", b"reason") <= limits::LINE);
        assert!(taken(OK, b"name") <= OK.len() + limits::LINE);
        assert!(taken(b"HTTP/1.1 200 OK\r\nA: ", b"value") <= OK.len() + limits::LINE);
        assert!(taken(CHUNKED, b"0000;extension") <= CHUNKED.len() + limits::CHUNK_LINE);
        let trailers = [CHUNKED, b"0\r\n"].concat();
        assert!(taken(&trailers, b"a:\r\n") <= trailers.len() + limits::FIELDS * 4 + 4);
        assert!(taken(&trailers, b"trailer") <= trailers.len() + limits::LINE);
    }
}

/// Words of a stream, that must be the same whole and in pieces of some sizes.
fn words(stream: &[u8]) -> String {
    let whole = play(ONE, [stream]);
    for size in [1, 1000, limits::LINE - 1, limits::LINE, limits::LINE + 1] {
        assert_eq!(play(ONE, stream.chunks(size)), whole, "in pieces of {size}");
    }
    whole.line()
}

/// A field line of so many bytes.
fn line(length: usize) -> Vec<u8> {
    format!("A: {}\r\n", "x".repeat(length - 5)).into()
}

#[test]
fn a_line_may_have_64_kib() {
    let head = |length: usize| [OK, &line(length)[..], b"Content-Length: 0\r\n\r\n"].concat();
    assert_eq!(words(&head(limits::LINE)), "begin 200 head long 65536 end 0 |");
    assert_eq!(words(&head(limits::LINE + 1)), "begin 200 limit");
}

#[test]
fn a_section_may_have_256_kib() {
    let fields = line(1000).repeat(limits::SECTION / 1000);
    let section = |rest: usize| [OK, &fields[..], &line(rest - 2)[..], b"\r\n"].concat();
    let rest = limits::SECTION - fields.len();
    assert_eq!(words(&section(rest)), "begin 200 head | end 0 last");
    assert_eq!(words(&section(rest + 1)), "begin 200 limit");
    let trailers = |rest: usize| [CHUNKED, b"0\r\n", &section(rest)[OK.len()..]].concat();
    assert_eq!(words(&trailers(rest)), format!("begin 200 head end {} |", limits::SECTION));
    assert_eq!(words(&trailers(rest + 1)), "begin 200 head limit");
}

#[test]
fn a_section_may_have_1000_fields() {
    for start in [OK.to_vec(), [CHUNKED, b"0\r\n"].concat()] {
        let section = |fields: usize| [&start[..], &b"a:\r\n".repeat(fields), b"\r\n"].concat();
        assert!(!words(&section(limits::FIELDS)).contains("limit"));
        assert!(words(&section(limits::FIELDS + 1)).ends_with("limit"));
    }
}

#[test]
fn a_call_may_have_32_interim_replies() {
    let stream = |interim: usize| {
        let mut stream = b"HTTP/1.1 102 \r\n\r\n".repeat(interim);
        stream.extend_from_slice(b"HTTP/1.1 204 \r\n\r\n");
        stream
    };
    assert!(words(&stream(limits::INTERIM as usize)).ends_with("204 head end 0 |"));
    assert!(words(&stream(limits::INTERIM as usize + 1)).ends_with("interim 102 begin limit"));
}

#[test]
fn what_is_malformed_before_the_limit_is_malformed() {
    let mut long = line(2 * limits::LINE);
    long[limits::LINE - 1] = 0;
    assert_eq!(words(&[OK, &long[..]].concat()), "begin 200 malformed");
    long[limits::LINE - 1] = b'x';
    long[limits::LINE] = 0;
    assert_eq!(words(&[OK, &long[..]].concat()), "begin 200 limit");
}

#[test]
fn a_huge_head_may_trickle_in() {
    let fields = line(limits::LINE).repeat(3);
    let stream = [OK, &fields[..], b"Content-Length: 0\r\n\r\n"].concat();
    assert_eq!(play(ONE, stream.chunks(1)).line(), "begin 200 head long 65536 end 0 |");
}

#[test]
fn heads_and_footers_are_counted_in_full() {
    let stream = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\ny\r\n0\r\nA: b\r\n\r\n";
    for size in 1..=stream.len() {
        let mut h1 = H1::new(Rules::default());
        let mut memo = Memo::default();
        let mut seen = Vec::new();
        for piece in stream.chunks(size) {
            let mut rest = piece;
            loop {
                let step = h1.receive(rest, Due::Reply, &mut memo).unwrap();
                rest = &rest[step.used..];
                match step.signal {
                    Some(signal @ (Signal::Head { .. } | Signal::End { .. })) => seen.push(signal),
                    Some(_) => {}
                    None => break,
                }
            }
        }
        assert_eq!(seen, [Signal::Head { bytes: 47 }, Signal::End { footer: 8, last: false }]);
    }
}
