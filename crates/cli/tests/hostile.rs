//! Nothing makes it hang or spin, or lose its results: shortages, stopped processes, impatient users.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use httperf_serve::{Config, Server};
use serde_json::Value;

/// Long enough for everything that is asked here.
const LIMIT: Duration = Duration::from_secs(20);

fn server() -> Server {
    Server::start(Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() }).unwrap()
}

/// A run that may have so many descriptors.
fn httperf(server: &Server, descriptors: u32, more: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let port = server.address().port().to_string();
    command.args(["-c", &format!("ulimit -n {descriptors}; exec \"$@\""), "sh"]);
    command.arg(assert_cmd::cargo::cargo_bin!("httperf"));
    command.args(["--server", "127.0.0.1", "--port", &port]).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Another process does nothing meanwhile, which nobody can be told of.
fn pause(ms: u64) {
    let (_open, nothing) = std::sync::mpsc::channel::<()>();
    let _ = nothing.recv_timeout(Duration::from_millis(ms));
}

/// Its exit status, in time.
fn ended(child: &mut Child) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begin.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("it hangs");
        }
        pause(10);
    }
}

fn report(child: &mut Child) -> String {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

fn document(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn connections_without_a_descriptor_do_not_shut_out_the_others() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("r.json");
    let more =
        ["--num-conns=-1", "--concurrency", "100", "--runtime", "0.5", "--json", json.to_str().unwrap()];
    let mut child = httperf(&server, 50, &more).spawn().unwrap();
    assert_eq!(ended(&mut child).code(), Some(0));
    let document = document(&json);
    assert!(document["errors"]["fd_unavail"].as_u64().unwrap() > 100, "{}", document["errors"]);
    assert!(document["accounting"]["calls"]["replies"].as_u64().unwrap() > 100, "{}", document["accounting"]);
    assert_eq!(document["accounting"]["conserved"], true);
}

#[test]
fn a_loop_without_descriptors_is_found_before_the_first_packet() {
    let server = server();
    let more = ["--num-conns", "1000", "--rate", "5000", "--threads", "20"];
    let mut child = httperf(&server, 50, &more).spawn().unwrap();
    assert_eq!(ended(&mut child).code(), Some(1));
    assert_eq!(server.stop().arrived, 0);
}

#[test]
fn a_process_that_was_stopped_sleeps_again() {
    let server = server();
    let mut child = httperf(&server, 100, &["--uri", "/delay/4s"]).spawn().unwrap();
    pause(500);
    signal(&child, "STOP");
    pause(100);
    signal(&child, "CONT");
    ended(&mut child);
    let report = report(&mut child);
    let share: f64 = report
        .lines()
        .find_map(|line| line.strip_prefix("CPU time [s]: "))
        .and_then(|line| line.rsplit(' ').next())
        .and_then(|share| share.trim_end_matches("%)").parse().ok())
        .unwrap_or_else(|| panic!("{report}"));
    assert!(share < 20.0, "{report}");
}

/// A run whose reader has stopped reading stderr, two signals, and how it ended.
fn impatient(name: &str) -> (ExitStatus, usize) {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("r.json");
    let more =
        ["-vvv", "--rate", "20000", "--num-calls", "0", "--num-conns=-1", "--json", json.to_str().unwrap()];
    let mut command = httperf(&server, 1000, &more);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // Once a line has come the run goes on; the pipe is full soon after.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut String::new()).unwrap();
    pause(1000);
    signal(&child, name);
    pause(300);
    assert!(child.try_wait().unwrap().is_none(), "its report waits for the reader");
    signal(&child, name);
    let status = ended(&mut child);
    (status, std::fs::read_dir(folder.path()).unwrap().count())
}

#[test]
fn a_second_sigint_ends_what_waits_for_its_reader() {
    let (status, files) = impatient("INT");
    assert_eq!((status.code(), files), (Some(130), 0));
}

#[test]
fn a_second_sigterm_ends_what_waits_for_its_reader() {
    let (status, files) = impatient("TERM");
    assert_eq!((status.signal(), files), (Some(15), 0));
}

#[test]
fn a_reader_that_stands_still_fills_no_memory() {
    let server = server();
    let more = ["--uri", "/bytes/4GiB", "--num-conns", "4", "--concurrency", "4", "--print-reply"];
    let mut child = httperf(&server, 100, &more).spawn().unwrap();
    // Nobody reads its stdout meanwhile.
    pause(1500);
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most: u32 = most.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most < 64 * 1024, "{most} KiB");
    signal(&child, "INT");
    pause(100);
    signal(&child, "INT");
    assert_eq!(ended(&mut child).code(), Some(130));
}
