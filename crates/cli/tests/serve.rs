//! `httperf serve` as its user sees it: the line it begins with, the one it ends with, what it refuses.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Stdio;

use common::{httperf, signal};
use rustix::process::Signal;

/// Starts a server, sends it `bytes`, reads to the end and stops it. Returns its first line, without the
/// port, and its last one.
fn story(arguments: &[&str], bytes: &[u8]) -> (String, String) {
    let mut command = httperf();
    command.args(["serve", "--port", "0"]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let (before, port) = first.trim_end().trim_end_matches('/').rsplit_once(':').unwrap();

    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    stream.write_all(bytes).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();

    signal(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    (before.to_owned(), said.lines().last().unwrap().to_owned())
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";

#[test]
fn it_says_where_it_is_and_in_the_end_what_it_did() {
    let (first, last) = story(&[], REQUEST);
    assert_eq!(first, "serving http://127.0.0.1");
    assert_eq!(last, "httperf serve: stopped after 1 replies on 1 connections");
}

#[test]
fn with_tls_it_is_https_and_handshakes_are_counted() {
    for arguments in [&["--tls"][..], &["--tls", "--tls-max-version", "1.2"]] {
        let (first, last) = story(arguments, REQUEST);
        assert_eq!(first, "serving https://127.0.0.1");
        let counts = "0 replies on 1 connections; handshakes: 0 full, 0 resumed, 1 failed";
        assert_eq!(last, format!("httperf serve: stopped after {counts}"));
    }
}

#[test]
fn options_of_tls_come_together() {
    for arguments in [
        &["--tls", "--tls-cert", "c.pem"][..],
        &["--tls", "--tls-key", "k.pem"],
        &["--tls-cert", "c.pem", "--tls-key", "k.pem"],
        &["--tls-max-version", "1.2"],
        &["--tls", "--tls-max-version", "1.1"],
    ] {
        let output = httperf().args(["serve", "--port", "0"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_certificate_that_cannot_be_read_is_named() {
    let arguments = ["serve", "--port", "0", "--tls", "--tls-cert", "no-such.pem", "--tls-key", "k.pem"];
    let output = httperf().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected = "httperf: failed to read no-such.pem: No such file or directory (os error 2)\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}
