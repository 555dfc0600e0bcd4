//! What makes the original crash, or hang for ever, has an outcome here. Each of its ways to do so has a test
//! of its own: the name says what happens instead.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use common::{httperf, signal};
use httperf_serve::{Config, Server};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A guard against hanging; nothing here takes nearly as long.
const LIMIT: Duration = Duration::from_secs(60);

/// The server to practise on, for all tests of this program.
static SERVER: LazyLock<Server> = LazyLock::new(|| {
    Server::start(Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() }).unwrap()
});

fn practice() -> u16 {
    SERVER.address().port()
}

/// A server that does `script` with each connection and its number, in a thread of its own.
fn scripted(script: impl Fn(&mut TcpStream, usize) + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (mut stream, script) = (stream.unwrap(), script.clone());
            std::thread::spawn(move || script(&mut stream, number));
        }
    });
    port
}

/// A port where nobody listens: this one is never given out, and only root could take it.
const REFUSING: u16 = 1;

/// Reads one request; whether there was one.
fn request(stream: &mut TcpStream) -> bool {
    let (mut seen, mut byte) = (Vec::new(), [0]);
    while !seen.ends_with(b"\r\n\r\n") {
        if !stream.read(&mut byte).is_ok_and(|read| read > 0) {
            return false;
        }
        seen.push(byte[0]);
    }
    true
}

/// Answers one request; whether there was one.
fn answer(stream: &mut TcpStream, reply: &str) -> bool {
    // The client may have gone: that is what some tests are about.
    request(stream) && stream.write_all(reply.as_bytes()).is_ok()
}

/// Answers all requests alike.
fn answering(reply: &'static str) -> u16 {
    scripted(move |stream, _| while answer(stream, reply) {})
}

/// Takes all there is and says nothing, until the client goes.
fn hold(stream: &mut TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

/// What a run left.
#[derive(Debug)]
struct Ran {
    status: ExitStatus,
    stdout: String,
    stderr: String,
    /// The result document; null if there is none.
    document: Value,
}

impl Ran {
    /// The figures of the report's line that begins so, without what stands around them.
    #[track_caller]
    fn figures(&self, begin: &str) -> Vec<f64> {
        let line = self.stdout.lines().find(|line| line.starts_with(begin));
        let line = line.unwrap_or_else(|| panic!("no line {begin}\n{}\n{}", self.stdout, self.stderr));
        let words = line[begin.len()..].split(|c: char| !(c.is_ascii_digit() || ".-".contains(c)));
        words.filter_map(|word| word.parse().ok()).collect()
    }

    /// Connections, requests, replies; errors; exit status 0; every connection and call accounted for.
    #[track_caller]
    fn is(&self, total: [u32; 3], errors: &[(&str, u32)]) -> &Self {
        assert_eq!(self.status.code(), Some(0), "{self:#?}");
        let came = self.figures("Total: connections ");
        assert_eq!(came[..3], total.map(f64::from), "{self:#?}");
        let found = self.document["errors"].as_object().unwrap().iter();
        let found: Vec<_> = found
            .filter(|(name, count)| *name != "total" && count.as_u64().is_some_and(|count| count > 0))
            .map(|(name, count)| (name.as_str(), count.as_u64().unwrap() as u32))
            .collect();
        assert_eq!(found, errors, "{self:#?}");
        let sum: u32 = errors.iter().map(|(_, count)| count).sum();
        assert_eq!(self.figures("Errors: total ")[0], f64::from(sum));
        assert_eq!(self.document["accounting"]["conserved"], true, "{self:#?}");
        assert!(!self.stdout.contains("nan") && !self.stdout.contains("inf"), "{self:#?}");
        self
    }

    /// Sessions that succeeded and that ended, and how many had 0, 1, ... replies.
    #[track_caller]
    fn sessions(&self, ended: [u32; 2], lengths: &[u32]) -> &Self {
        let rates = self.figures("Session rate [sess/s]: ");
        assert_eq!(rates[rates.len() - 2..], ended.map(f64::from), "{self:#?}");
        let lengths: Vec<_> = lengths.iter().map(|count| f64::from(*count)).collect();
        assert_eq!(self.figures("Session length histogram: "), lengths, "{self:#?}");
        self
    }

    /// An error of our own wording, nothing sent.
    #[track_caller]
    fn is_refused(&self, text: &str) {
        assert_eq!(self.status.code(), Some(1), "{self:#?}");
        assert!(self.stderr.starts_with("httperf: ") && self.stderr.contains(text), "{self:#?}");
        assert!(!self.stdout.contains("Total:"), "{self:#?}");
    }
}

/// A run that is going on, its output in files: a pipe that nobody reads could fill.
struct Running {
    child: Child,
    folder: tempfile::TempDir,
}

impl Running {
    fn start(port: u16, line: &str, file: Option<&[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        if let Some(bytes) = file {
            std::fs::write(path("file"), bytes).unwrap();
        }
        let mut command: Command = httperf();
        command.args(["--server", "127.0.0.1", "--port", &port.to_string(), "--json", "result.json"]);
        command.args(line.split_whitespace()).current_dir(&folder).stdin(Stdio::null());
        command.stdout(File::create(path("stdout")).unwrap()).stderr(File::create(path("stderr")).unwrap());
        Self { child: command.spawn().unwrap(), folder }
    }

    #[track_caller]
    fn ended(mut self) -> Ran {
        let (begin, (_open, never)) = (Instant::now(), channel::<()>());
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > LIMIT {
                self.child.kill().unwrap();
                panic!("it hangs");
            }
            let _ = never.recv_timeout(Duration::from_millis(5));
        };
        let read = |name: &str| {
            let bytes = std::fs::read(self.folder.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let document = serde_json::from_str(&read("result.json")).unwrap_or(Value::Null);
        Ran { status, stdout: read("stdout"), stderr: read("stderr"), document }
    }
}

#[track_caller]
fn run(port: u16, line: &str) -> Ran {
    Running::start(port, line, None).ended()
}

/// A run that may read `file`.
#[track_caller]
fn run_with(port: u16, line: &str, file: impl AsRef<[u8]>) -> Ran {
    Running::start(port, line, Some(file.as_ref())).ended()
}

#[test]
fn a_burst_that_does_not_divide_the_calls_ends_with_a_short_one() {
    run(practice(), "--num-calls 5 --burst-length 2 --num-conns 2").is([2, 10, 10], &[]);
}

#[test]
fn a_burst_that_does_not_divide_the_calls_of_a_session_ends_with_a_short_one() {
    let ran = run(practice(), "--wsess 2,5,0.01 --burst-length 2");
    ran.is([2, 10, 10], &[]).sessions([2, 2], &[0, 0, 0, 0, 0, 2]);
}

#[test]
fn no_connections_are_an_empty_report() {
    let ran = run(practice(), "--num-conns 0");
    ran.is([0, 0, 0], &[]);
    assert_eq!(ran.figures("Connection rate: "), [0.0; 3], "{ran:#?}");
    run(practice(), "--num-conns 0 --rate 10").is([0, 0, 0], &[]);
}

#[test]
fn no_calls_are_a_connect_and_a_close() {
    run(practice(), "--num-conns 3 --num-calls 0").is([3, 0, 0], &[]);
    run(practice(), "--num-conns 3 --num-calls 0 --rate 100").is([3, 0, 0], &[]);
}

#[test]
fn no_sessions_are_an_empty_report() {
    for line in ["--wsess 0,3,1", "--wsess 0,3,1 --rate 5", "--wsesspage 0,1,1", "--wsesslog 0,1,file"] {
        let ran = run_with(practice(), line, "/\n");
        ran.is([0, 0, 0], &[]).sessions([0, 0], &[0]);
    }
}

#[test]
fn a_session_that_times_out_is_followed_by_the_next() {
    let port = scripted(|stream, _| hold(stream));
    let ran = run(port, "--wsess 3,2,0 --timeout 0.05");
    ran.is([3, 3, 0], &[("client_timo", 3)]).sessions([0, 3], &[3]);
}

#[test]
fn a_reply_that_broke_off_is_received_afresh() {
    // Two replies on the first connection, the second of them cut; all there is on the second one.
    let port = scripted(|stream, number| {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
        if number == 0 {
            answer(stream, whole);
            answer(stream, &whole[..45]);
            return;
        }
        while answer(stream, whole) {}
    });
    let ran = run(port, "--wsess 1,3,0");
    ran.is([2, 4, 3], &[("connreset", 1)]).sessions([1, 1], &[0, 0, 0, 1]);
    assert_eq!(ran.document["errors"]["classes"], json!({"truncated": 1}));
    // 39 bytes of a header are in each reply, and 10 of content.
    assert_eq!(ran.figures("Reply size [B]: "), [39.0, 10.0, 0.0, 49.0]);
}

#[test]
fn retries_on_a_dead_server_come_to_an_end() {
    let ran = run(REFUSING, "--wsess 2,2,0 --retry-on-failure");
    ran.is([20, 0, 0], &[("connrefused", 20)]).sessions([0, 2], &[2]);
}

#[test]
fn a_failure_status_with_a_body_fails_its_session() {
    let port = answering("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
    let ran = run(port, "--wsess 2,3,0 --failure-status 503");
    ran.is([2, 2, 2], &[]).sessions([0, 2], &[0, 2]);
    assert_eq!(ran.figures("Reply status: 1xx="), [0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0, 2.0], "{ran:#?}");
}

#[test]
fn a_failure_status_with_a_body_is_tried_again_if_wanted() {
    let port = scripted(|stream, _| {
        answer(stream, "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
        while answer(stream, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine") {}
    });
    let ran = run(port, "--wsess 2,3,0 --failure-status 503 --retry-on-failure");
    ran.is([2, 8, 8], &[]).sessions([2, 2], &[0, 0, 0, 0, 2]);
}

#[test]
fn pages_with_objects_are_fetched_more_than_once() {
    let ran = run(practice(), "--uri /page --wsesspage 2,3,0.01");
    let objects = 5;
    let replies = 2 * 3 * (1 + objects);
    let ran = ran.is([2, replies, replies], &[]);
    assert_eq!(ran.figures("Session length histogram: ").last(), Some(&2.0), "{ran:#?}");
}

#[test]
fn a_frame_that_contains_itself_has_an_end() {
    let port = answering(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<frame src=\"/\">",
    );
    let ran = run(port, "--wsesspage 1,1,0");
    assert_eq!(ran.figures("Session rate [sess/s]: ")[4..], [1.0, 1.0], "{ran:#?}");
    assert_eq!(ran.document["accounting"]["conserved"], true);
}

#[test]
fn a_session_file_without_sessions_is_an_error_that_names_it() {
    for bytes in ["", "\n\n", "# nothing\n"] {
        run_with(practice(), "--wsesslog 1,0,file", bytes).is_refused("file");
    }
}

#[test]
fn a_status_of_600_and_more_is_counted_with_5xx() {
    for status in ["600", "999"] {
        let port = scripted(move |stream, _| {
            let reply = format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nab");
            while answer(stream, &reply) {}
        });
        let ran = run(port, "--num-conns 2 --num-calls 2");
        ran.is([2, 4, 4], &[]);
        assert!(ran.stdout.contains("Reply status: 1xx=0 2xx=0 3xx=0 4xx=0 5xx=4\n"), "{ran:#?}");
        assert_eq!(ran.document["status"][status], 4, "{ran:#?}");
        let ran = run(port, "--wsess 2,2,0");
        ran.is([2, 4, 4], &[]).sessions([2, 2], &[0, 0, 2]);
    }
}

#[test]
fn bytes_behind_the_last_reply_close_the_connection() {
    let port = scripted(|stream, _| {
        answer(stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab and more");
        hold(stream);
    });
    run(port, "--num-conns 2 --num-calls 2").is([2, 2, 2], &[("other", 2)]);
    // In a session that is the loss of a connection after a reply: the next call goes to a new one.
    let ran = run(port, "--wsess 1,3,0");
    assert_eq!(ran.document["errors"]["classes"], json!({"unsolicited": 3}), "{ran:#?}");
    ran.is([3, 3, 3], &[("other", 3)]).sessions([1, 1], &[0, 0, 0, 1]);
}

#[test]
fn more_than_1024_connections_live_at_once() {
    let ran = run(practice(), "--uri /delay/1s --num-conns 1300 --concurrency 1300");
    ran.is([1300, 1300, 1300], &[]);
    assert_eq!(ran.figures("Connection rate: ")[2], 1300.0, "{ran:#?}");
}

#[test]
fn more_than_1024_sessions_live_at_once() {
    let ran = run(practice(), "--wsess 1300,2,1 --concurrency 1300");
    ran.is([1300, 2600, 2600], &[]).sessions([1300, 1300], &[0, 0, 1300]);
    assert_eq!(ran.figures("Connection rate: ")[2], 1300.0, "{ran:#?}");
}

#[test]
fn two_session_workloads_are_an_error() {
    for line in [
        "--wsess 1,1,0 --wsesslog 1,0,file",
        "--wsess 1,1,0 --wsesspage 1,1,0",
        "--wsesspage 1,1,0 --wsesslog 1,0,file",
    ] {
        run_with(practice(), line, "/\n").is_refused("--ws");
    }
}

/// Starts a run, and interrupts it as soon as the server has heard of it so many times.
fn interrupted(line: &str, after: usize, with: Signal) -> Ran {
    let (sender, heard): (Sender<()>, Receiver<()>) = channel();
    let port = scripted(move |stream, _| {
        while request(stream) {
            let _ = sender.send(());
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        }
    });
    let running = Running::start(port, line, None);
    for _ in 0..after {
        heard.recv_timeout(LIMIT).unwrap();
    }
    signal(&running.child, with);
    running.ended()
}

#[test]
fn sigint_at_once_is_a_report() {
    let ran = interrupted("--num-conns 5", 1, Signal::INT);
    ran.is([1, 1, 0], &[]);
    assert_eq!(ran.document["run"]["stopped_by"], "interrupted");
}

#[test]
fn sigint_in_the_middle_of_sessions_counts_them_as_unfinished() {
    let ran = interrupted("--wsess 5,3,60 --concurrency 3", 3, Signal::INT);
    ran.is([3, 3, 0], &[]).sessions([0, 0], &[0]);
    let sessions = &ran.document["accounting"]["sessions"];
    assert_eq!((&sessions["started"], &sessions["unfinished"]), (&json!(3), &json!(3)), "{sessions}");
}

#[test]
fn sigterm_in_the_middle_of_sessions_prints_the_report_first() {
    let ran = interrupted("--wsess 5,3,60 --concurrency 3", 3, Signal::TERM);
    assert_eq!(ran.status.signal(), Some(15), "{ran:#?}");
    assert_eq!(ran.figures("Total: connections ")[..3], [3.0, 3.0, 0.0]);
    ran.sessions([0, 0], &[0]);
    assert_eq!(ran.document["accounting"]["conserved"], true, "{ran:#?}");
}

#[test]
fn refused_connections_one_after_the_other_come_to_an_end() {
    run(REFUSING, "--num-conns 2000").is([2000, 0, 0], &[("connrefused", 2000)]);
    let ran = run(REFUSING, "--wsess 2000,3,0");
    ran.is([2000, 0, 0], &[("connrefused", 2000)]).sessions([0, 2000], &[2000]);
}

#[test]
fn a_failed_tls_handshake_is_counted_and_the_run_goes_on() {
    let classes = |ran: &Ran| ran.document["errors"]["classes"].clone();
    let ran = run(practice(), "--ssl --num-conns 3 --timeout 20");
    ran.is([3, 0, 0], &[("other", 3)]);
    assert_eq!(classes(&ran), json!({"tls_handshake": 3}));
    let ran = run(practice(), "--ssl --wsess 3,2,0 --timeout 20");
    ran.is([3, 0, 0], &[("other", 3)]).sessions([0, 3], &[3]);
    run(REFUSING, "--ssl --num-conns 3").is([3, 0, 0], &[("connrefused", 3)]);
    let closing = scripted(|stream, _| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.shutdown(Shutdown::Both);
    });
    run(closing, "--ssl --num-conns 3").is([3, 0, 0], &[("connreset", 3)]);
}

#[test]
fn a_tls_handshake_that_stalls_times_out() {
    let port = scripted(|stream, _| hold(stream));
    let ran = run(port, "--ssl --num-conns 2 --timeout 0.05");
    ran.is([2, 0, 0], &[("client_timo", 2)]);
    assert_eq!(ran.document["errors"]["classes"], json!({"handshake_timeout": 2}));
    run(port, "--ssl --wsess 2,2,0 --timeout 0.05").is([2, 0, 0], &[("client_timo", 2)]);
}

#[test]
fn the_uris_of_a_working_set_may_be_long() {
    let prefix = format!("/bytes/1?{}", "p".repeat(300));
    let ran = run(practice(), &format!("--uri {prefix} --wset 11,1 --num-conns 2 -v"));
    ran.is([2, 2, 2], &[]);
    for file in ["0/1", "0/2"] {
        assert!(ran.stdout.contains(&format!("accessing URI `{prefix}/{file}.html'\n")), "{ran:#?}");
    }
}

#[test]
fn the_lines_of_a_session_file_may_be_long() {
    let body = "x".repeat(20_000);
    let ran = run_with(practice(), "--wsesslog 1,0,file", format!("/echo method=POST contents='{body}'\n"));
    ran.is([1, 1, 1], &[]).sessions([1, 1], &[0, 1]);
    assert!(ran.figures("Reply size [B]: header ")[1] > 20_000.0, "{ran:#?}");
}

#[test]
fn a_session_file_may_have_more_than_1000_sessions() {
    let file = "/\n\n".repeat(1500);
    let ran = run_with(practice(), "--wsesslog 1500,0,file --concurrency 20", file);
    ran.is([1500, 1500, 1500], &[]).sessions([1500, 1500], &[0, 1500]);
}

#[test]
fn long_header_lines_are_read_whole() {
    let port = scripted(|stream, _| {
        let reply = format!("HTTP/1.1 200 OK\r\nA: {}\r\nContent-Length: 2\r\n\r\nab", "v".repeat(3000));
        while answer(stream, &reply) {}
    });
    let ran = run(port, "--num-conns 2 --num-calls 2");
    ran.is([2, 4, 4], &[]);
    assert_eq!(ran.figures("Reply size [B]: "), [3043.0, 2.0, 0.0, 3045.0]);
}

#[test]
fn interim_replies_are_skipped() {
    let port = answering(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
    );
    run(port, "--num-conns 2 --num-calls 3").is([2, 6, 6], &[]);
    run(port, "--wsess 2,3,0").is([2, 6, 6], &[]).sessions([2, 2], &[0, 0, 0, 2]);
}

#[test]
fn hog_comes_to_an_end() {
    run(practice(), "--hog --num-conns 20").is([20, 20, 20], &[]);
}
