//! Servers that misbehave: each fault lands in its counter, and the report is always printed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Output;

use serde_json::Value;

/// A server that does `script` on each connection, in a thread of its own.
fn server(script: fn(&mut TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || script(&mut stream));
        }
    });
    port
}

/// Reads one request.
fn request(stream: &mut TcpStream) {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        seen.push(byte[0]);
    }
}

fn reply(stream: &mut TcpStream, bytes: &[u8]) {
    request(stream);
    // The client may have gone: that is what some tests are about.
    let _ = stream.write_all(bytes);
}

/// Closes with RST: unread data makes the kernel reset.
fn reset(stream: &mut TcpStream) {
    let mut one = [0];
    let _ = stream.read(&mut one);
    let _ = stream.shutdown(Shutdown::Read);
}

fn hold(stream: &mut TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

fn httperf(port: u16, more: &[&str]) -> Output {
    common::load(&port.to_string()).args(more).output().unwrap()
}

/// Runs two connections of two calls and returns the report and the document.
fn load(port: u16) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let more = ["--num-conns", "2", "--num-calls", "2", "--timeout", "0.5", "--json", file.to_str().unwrap()];
    let output = httperf(port, &more);
    assert!(output.status.success(), "{output:?}");
    (String::from_utf8(output.stdout).unwrap(), common::document(&file))
}

/// What a fault must come to: replies, classic error counters that are not zero, classes.
#[track_caller]
fn expect(script: fn(&mut TcpStream), replies: u64, counter: &str, classes: &[&str]) {
    let (report, document) = load(server(script));
    assert!(report.contains(&format!(" replies {replies} test-duration ")), "{report}");
    let errors = document["errors"].as_object().unwrap();
    let total = errors["total"].as_u64().unwrap();
    let nonzero: Vec<_> = errors
        .iter()
        .filter(|(name, count)| *name != "total" && count.as_u64().is_some_and(|count| count > 0))
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(nonzero, Vec::from_iter((!counter.is_empty()).then_some(counter)), "{errors:?}");
    for class in errors["classes"].as_object().unwrap().keys() {
        assert!(classes.contains(&class.as_str()), "{class} is none of {classes:?}");
    }
    let sum: u64 = errors["classes"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(sum, total);
    assert!(report.contains(&format!("Errors: total {total} ")), "{report}");
    assert_eq!(document["accounting"]["conserved"], true, "{}", document["accounting"]);
    assert_eq!(document["accounting"]["calls"]["replies"], replies);
}

#[test]
fn a_port_where_nobody_listens_refuses() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (report, document) = load(port);
    assert!(report.contains("Total: connections 2 requests 0 replies 0 "), "{report}");
    assert_eq!(document["errors"]["classes"], serde_json::json!({"connrefused": 2}));
    assert_eq!(document["accounting"]["connections"]["failed"], serde_json::json!({"connrefused": 2}));
}

#[test]
fn an_end_before_any_byte_is_closed_early() {
    expect(request, 0, "connreset", &["closed_early", "connreset"]);
}

#[test]
fn a_reset_is_connreset() {
    expect(reset, 0, "connreset", &["connreset"]);
}

#[test]
fn an_end_inside_the_status_line_is_truncated() {
    expect(|stream| reply(stream, b"HTTP/1."), 0, "connreset", &["truncated"]);
}

#[test]
fn an_end_inside_the_header_is_truncated() {
    expect(|stream| reply(stream, b"HTTP/1.1 200 OK\r\nContent-Le"), 0, "connreset", &["truncated"]);
}

#[test]
fn an_end_inside_the_body_is_truncated() {
    expect(
        |stream| reply(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
        0,
        "connreset",
        &["truncated"],
    );
}

#[test]
fn an_end_inside_a_chunk_is_truncated() {
    let script = |stream: &mut TcpStream| {
        reply(stream, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
    };
    expect(script, 0, "connreset", &["truncated"]);
}

#[test]
fn a_stall_before_the_reply_is_a_reply_timeout() {
    expect(hold, 0, "client_timo", &["reply_timeout"]);
}

#[test]
fn a_stall_inside_the_body_is_a_reply_timeout() {
    let script = |stream: &mut TcpStream| {
        reply(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        hold(stream);
    };
    expect(script, 0, "client_timo", &["reply_timeout"]);
}

#[test]
fn an_unannounced_end_after_a_reply_is_closed_idle() {
    let script = |stream: &mut TcpStream| reply(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab");
    expect(script, 2, "connreset", &["closed_idle", "connreset"]);
}

#[test]
fn an_announced_end_is_no_error() {
    let script = |stream: &mut TcpStream| {
        reply(stream, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab");
    };
    expect(script, 2, "", &[]);
}

#[test]
fn garbage_is_malformed() {
    expect(|stream| reply(stream, b"SSH-2.0-OpenSSH_9.2\r\n"), 0, "other", &["malformed"]);
}

#[test]
fn a_second_reply_behind_the_reply_is_unsolicited() {
    let script = |stream: &mut TcpStream| {
        reply(
            stream,
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        );
        hold(stream);
    };
    expect(script, 2, "other", &["unsolicited"]);
}

#[test]
fn a_header_without_end_reaches_the_limit() {
    let script = |stream: &mut TcpStream| {
        reply(stream, b"HTTP/1.1 200 OK\r\n");
        while stream
            .write_all(b"A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n")
            .is_ok()
        {}
    };
    expect(script, 0, "other", &["limit"]);
}

#[test]
fn the_first_failure_of_a_class_is_one_line_with_advice() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = httperf(port, &["--num-conns", "5"]);
    let expected = format!(
        "httperf: 127.0.0.1:{port}: connection refused (connrefused); is the server running, and on this port?\n"
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}
