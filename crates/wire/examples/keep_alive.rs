//! Reads the reply of a small static file again and again: the cost of the data plane's commonest work.
//!
//! `valgrind --tool=callgrind target/release/examples/keep_alive 1000`, once more with 2000; the difference
//! is the cost of 1,000 replies.

use std::hint::black_box;

use httperf_wire::{Due, Fault, H1, Machine, Memo, Rules, Signal};

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: nginx/1.24.0\r\n\
    Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n\
    Content-Type: application/octet-stream\r\n\
    Content-Length: 60\r\n\
    Connection: keep-alive\r\n\
    Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\
    \r\n\
    012345678901234567890123456789012345678901234567890123456789";

fn main() -> Result<(), Fault> {
    let times = std::env::args().nth(1).and_then(|times| times.parse().ok()).unwrap_or(1000);
    let mut h1 = H1::new(Rules::default());
    let mut memo = Memo::default();
    let mut ends = 0;
    for _ in 0..times {
        ends += read(&mut h1, &mut memo, black_box(REPLY))?;
    }
    assert_eq!(ends, times);
    Ok(())
}

/// Reads one input; how many replies ended in it.
#[inline(never)]
fn read(h1: &mut H1, memo: &mut Memo, input: &[u8]) -> Result<u32, Fault> {
    let mut rest = input;
    let mut ends = 0;
    loop {
        let due = if rest.is_empty() { Due::Nothing } else { Due::Reply };
        let step = h1.receive(rest, due, memo)?;
        rest = &rest[step.used..];
        match step.signal {
            Some(Signal::End { .. }) => ends += 1,
            Some(_) => {}
            None => return Ok(ends),
        }
    }
}
