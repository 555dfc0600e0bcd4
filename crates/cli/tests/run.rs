//! `httperf run` as a user types it, against the built-in server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::io::{Read, Write};
use std::process::Output;

use common::{Serve, document, httperf};
use serde_json::Value;

/// Runs with these arguments; what it said, and its document.
fn run(arguments: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("result.json");
    let output = httperf()
        .arg("run")
        .args(arguments)
        .args(["--progress", "none", "--json", json.to_str().unwrap()])
        .output()
        .unwrap();
    let document = if json.exists() { document(&json) } else { Value::Null };
    (output, document)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_closed_loop_makes_its_calls_on_its_connections() {
    let serve = Serve::start();
    let (output, document) = run(&[&serve.url("/"), "-n", "200", "-c", "4", "-t", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(document["run"]["mode"], "run");
    assert_eq!(document["load"]["model"], "closed");
    assert_eq!(document["accounting"]["calls"]["replies"], 200);
    assert_eq!(document["accounting"]["connections"]["established"], 4);
    assert_eq!(document["accounting"]["conserved"], true, "{}", document["verdict"]);
    let said = stdout(&output);
    assert!(said.contains("closed loop, 4 at a time") && said.contains("200 sent, 200 replies"), "{said}");
    assert!(said.lines().count() <= 40, "{said}");
}

#[test]
fn an_open_loop_keeps_its_count_and_its_due_times() {
    let serve = Serve::start();
    let (output, document) =
        run(&[&serve.url("/delay/50ms"), "-r", "200", "--arrivals", "constant", "-n", "40", "-c", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let arrivals = &document["accounting"]["arrivals"];
    assert_eq!((&arrivals["scheduled"], &arrivals["started"]), (&40.into(), &40.into()), "{arrivals}");
    // Two connections carry 40 calls a second at most: the last of those due in the first 0.2 s waits 0.8 s.
    let p50 = document["latency"]["response"]["p"]["50"].as_f64().unwrap();
    let service = document["latency"]["service"]["p"]["50"].as_f64().unwrap();
    assert!(p50 > 0.3 && p50 > 4.0 * service, "response {p50}, service {service}");
    assert_eq!(document["accounting"]["conserved"], true, "{}", document["verdict"]);
}

#[test]
fn with_shed_what_finds_no_connection_is_dropped_and_counted() {
    let serve = Serve::start();
    let (_, document) = run(&[
        &serve.url("/delay/100ms"),
        "-r",
        "200",
        "--arrivals",
        "constant",
        "-n",
        "60",
        "-c",
        "1",
        "--shed",
    ]);
    let arrivals = &document["accounting"]["arrivals"];
    let [started, shed] = ["started", "shed"].map(|key| arrivals[key].as_u64().unwrap());
    assert!(shed > 0 && started > 0 && started + shed == 60, "{arrivals}");
    assert_eq!(document["accounting"]["conserved"], true, "{}", document["verdict"]);
}

#[test]
fn the_request_is_shaped_as_with_curl() {
    let serve = Serve::start();
    let url = serve.url("/echo");
    let (output, document) =
        run(&[&url, "-n", "1", "-H", "X-Id: 7", "-A", "me", "-b", "a=b", "--data", "x=1", "-u", "u:p"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(document["status"]["200"], 1);
    // The request comes back as the body: its length says that all of it was sent.
    let sent = document["bytes"]["sent"].as_u64().unwrap();
    assert_eq!(document["bytes"]["content"].as_u64().unwrap(), sent);
    assert!(document["run"]["argv"].to_string().contains("***"), "{}", document["run"]["argv"]);
}

#[test]
fn a_url_alone_is_a_run() {
    let serve = Serve::start();
    let output = httperf().args([&serve.url("/"), "-n", "3", "--progress", "none"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("3 sent, 3 replies"), "{}", stdout(&output));
}

#[test]
fn where_nobody_listens_there_is_nothing_to_measure() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (output, document) = run(&[&format!("http://127.0.0.1:{port}/"), "-d", "30s", "-c", "5"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("0 of 5 connections"), "{}", stderr(&output));
    assert_eq!(document["run"]["stopped_by"], "error");
}

#[test]
fn after_sigint_calls_in_flight_may_end() {
    let serve = Serve::start();
    let mut child = httperf()
        .args(["run", &serve.url("/delay/300ms"), "-c", "4", "-d", "3600s", "--progress", "none"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The handlers are in place before the first call is sent.
    let counts = || {
        let mut stats = std::net::TcpStream::connect(("127.0.0.1", serve.port.parse().unwrap())).unwrap();
        stats.write_all(b"GET /stats HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stats.read_to_string(&mut text).unwrap();
        let body: Value = serde_json::from_str(text.rsplit("\r\n\r\n").next().unwrap()).unwrap();
        body["connections"].as_u64().unwrap()
    };
    let mut asked = 1;
    while counts() < 4 + asked {
        asked += 1;
    }
    common::signal(&child, rustix::process::Signal::INT);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(said.starts_with("interrupted") && said.contains("0 cut off at the end"), "{said}");
}

#[test]
fn bad_usage_is_status_2_and_says_what_to_type() {
    for (arguments, text) in [
        (vec!["http://a/", "-d", "{\"a\":1}"], "did you mean --data?"),
        (vec!["ftp://a/"], "http:// and https:// are"),
        (vec!["http://a/", "http://b/"], "one run loads one server"),
        (vec!["http://a/", "--shed"], "--rate"),
        (vec!["http://127.0.0.1/", "-H", "nonsense"], "has no colon"),
        (vec!["http://a/", "--stages", "hop 5"], "hop"),
        (vec!["http://a/", "--http2"], "--http2"),
    ] {
        let output = httperf().arg("run").args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(text), "{arguments:?}: {}", stderr(&output));
    }
}
