//! Every way out of a run prints its report and leaves whole files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};

use common::{Serve, document, httperf, signal};
use rustix::process::Signal;
use serde_json::Value;

/// Starts a run that would take an hour and returns it when its first sample has been printed: handlers are
/// in place before the first packet, and the sample proves that packets flow.
fn endless(serve: &Serve, json: &str) -> (Child, BufReader<ChildStdout>) {
    let mut child = serve
        .load()
        .args(["--rate", "100", "--num-conns", "360000", "-v"])
        .args(["--client", "0/50", "--json", json])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("reply-rate") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the run ended before its first sample");
    }
    (child, lines)
}

/// Stops an endless run with a signal and returns how it ended, its report, and its document.
fn stopped_by(name: Signal) -> (ExitStatus, String, Value) {
    let serve = Serve::start();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let (mut child, mut lines) = endless(&serve, json.to_str().unwrap());
    signal(&child, name);
    let mut report = String::new();
    lines.read_to_string(&mut report).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no partial file is left");
    (status, report, document(&json))
}

#[test]
fn sigint_ends_with_the_report_and_status_0() {
    let (status, report, document) = stopped_by(Signal::INT);
    assert_eq!(status.code(), Some(0));
    assert!(report.contains("\nErrors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0\n"), "{report}");
    assert_eq!(document["run"]["stopped_by"], "interrupted");
    assert_eq!(document["accounting"]["conserved"], true, "{}", document["accounting"]);
}

#[test]
fn sigterm_ends_with_the_report_and_by_the_signal() {
    let (status, report, document) = stopped_by(Signal::TERM);
    assert_eq!(status.signal(), Some(15));
    assert!(report.contains("\nErrors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0\n"), "{report}");
    assert_eq!(document["run"]["stopped_by"], "terminated");
    assert_eq!(document["accounting"]["conserved"], true);
}

#[test]
fn sigusr1_shows_the_report_so_far_and_the_run_goes_on() {
    let serve = Serve::start();
    let mut child = serve
        .load()
        .args(["--wsess", "1000000,2,0.01", "--rate", "200", "-v", "--client", "0/50"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let until = |from: &mut dyn BufRead, start: &str| {
        let mut line = String::new();
        while !line.starts_with(start) {
            line.clear();
            assert!(from.read_line(&mut line).unwrap() > 0, "the run ended before `{start}`");
        }
    };
    until(&mut out, "session-rate");
    for _ in 0..2 {
        signal(&child, Signal::USR1);
        until(&mut err, "Total: connections");
        until(&mut err, "Session length histogram:");
    }
    signal(&child, Signal::INT);
    until(&mut out, "Session length histogram:");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn too_small_a_memory_limit_is_said_before_the_start() {
    let serve = Serve::start();
    let limited = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 150000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_httperf")])
        .args(serve.load().get_args())
        .args(["--num-conns", "2", "--rate", "100"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&limited.stderr).into_owned();
    assert!(said.contains("RLIMIT_AS allows 147 MiB"), "{said}");
}

#[test]
fn a_closed_stdout_loses_no_file_and_is_no_error() {
    let serve = Serve::start();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let (mut child, lines) = endless(&serve, json.to_str().unwrap());
    drop(lines);
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(document(&json)["run"]["stopped_by"], "interrupted");
}

#[test]
fn a_full_stdout_is_said_once_and_loses_no_file() {
    let serve = Serve::start();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = serve.load().args(["--json", json.to_str().unwrap()]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "as the original");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "httperf: failed to write to stdout: No space left on device (os error 28)\n");
    assert_eq!(document(&json)["accounting"]["calls"]["replies"], 1);
}

#[test]
fn a_document_on_stdout_sends_the_text_to_stderr() {
    let serve = Serve::start();
    let output = serve.load().args(["--json", "-"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "httperf.result/1");
    assert!(String::from_utf8(output.stderr).unwrap().contains("Total: connections 1 requests 1 replies 1 "));
}

#[test]
fn a_file_that_cannot_be_made_is_found_before_the_run() {
    let output = httperf().args(["--port", "1", "--json", "/nonexistent/r.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("httperf: failed to write /nonexistent/r.json: "), "{stderr}");
}

#[test]
fn a_time_limit_alone_decides_how_many_connections_there_are() {
    let serve = Serve::start();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let output = serve
        .load()
        .args(["--rate", "100", "--runtime", "0.5"])
        .args(["--json", json.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let document = document(&json);
    assert_eq!(document["run"]["stopped_by"], "duration");
    let scheduled = document["accounting"]["arrivals"]["scheduled"].as_u64().unwrap();
    assert!((49..=51).contains(&scheduled), "{scheduled} arrivals in half a second at 100/s");
}

#[test]
fn threads_share_one_schedule() {
    let serve = Serve::start();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let output = serve
        .load()
        .args(["--rate", "500", "--num-conns", "101"])
        .args(["--num-calls", "3", "--threads", "4", "--json", json.to_str().unwrap()])
        .output()
        .unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("Total: connections 101 requests 303 replies 303 "), "{report}");
    let document = document(&json);
    assert_eq!(document["accounting"]["conserved"], true);
    assert_eq!(document["generator"]["busy_share"].as_array().unwrap().len(), 4);
}
