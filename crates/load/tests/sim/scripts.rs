//! The failure matrix of HTTP/1 as scripts: each row with the class it must land in.

use std::sync::Arc;

use httperf_engine::Cause;
use httperf_engine::sim::{Accept, Act, Random, Script, Server};

use crate::case::{MS, SECOND};

/// The time limit under which the rows are written.
pub(crate) const LIMIT: u64 = SECOND;

/// One fault, and where it is counted. One connection with two calls, one after the other, unless it says
/// otherwise.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) script: Script,
    pub(crate) calls: u32,
    pub(crate) burst: u32,
    pub(crate) head: bool,
    /// Complete replies.
    pub(crate) replies: u64,
    /// The error of the connection.
    pub(crate) cause: Option<Cause>,
    /// Calls that fail with it, or behind an announced end.
    pub(crate) failed: u64,
    /// The counters are the same however the bytes are cut.
    pub(crate) cuts: bool,
}

impl Row {
    fn calls(self, calls: u32, burst: u32) -> Self {
        Self { calls, burst, ..self }
    }

    fn head(self) -> Self {
        Self { head: true, ..self }
    }

    fn failed(self, failed: u64) -> Self {
        Self { failed, ..self }
    }

    fn uncut(self) -> Self {
        Self { cuts: false, ..self }
    }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const LENGTH_100: &str = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const RST: Act = Act::Reset { purge: false };
const PURGE: Act = Act::Reset { purge: true };

fn row(name: &'static str, script: Script, replies: u64, cause: impl Into<Option<Cause>>) -> Row {
    let cause = cause.into();
    let failed = u64::from(cause.is_some());
    Row { name, script, calls: 2, burst: 1, head: false, replies, cause, failed, cuts: true }
}

fn accept(accept: Accept) -> Script {
    Script { accept, ..Script::answering([]) }
}

fn greeting<const N: usize>(acts: [Act; N]) -> Script {
    Script { greeting: acts.into(), ..Script::answering([]) }
}

/// For every request these bytes, then this.
fn sends(bytes: impl AsRef<[u8]>, then: Act) -> Script {
    Script::answering([Act::Wait(MS), Act::send(bytes), then])
}

/// For every request these bytes.
fn says(bytes: impl AsRef<[u8]>) -> Script {
    Script::answering([Act::Wait(MS), Act::send(bytes)])
}

fn with(header: &str) -> String {
    format!("{HEAD}{header}\r\n\r\nhello")
}

fn chunks(body: &str) -> String {
    format!("{CHUNKED}{body}")
}

/// All rows.
pub(crate) fn rows() -> Vec<Row> {
    GROUPS.iter().flat_map(|group| group()).collect()
}

const GROUPS: &[fn() -> Vec<Row>] = &[connects, ends, stalls, replies, malformed, limits];

/// A server that behaves like one of the rows, or replies early.
pub(crate) fn any(random: &mut Random) -> Server {
    let rows = match random.below(10) {
        0 => return early(),
        1 | 2 => connects(),
        _ => random.pick(GROUPS)(),
    };
    Server::Scripted(Arc::new(random.pick(&rows).script.clone()))
}

/// A server that does not wait for the end of a request.
pub(crate) fn early() -> Server {
    let reply = Act::send("HTTP/1.1 413 Too large\r\nContent-Length: 0\r\n\r\n");
    Server::Scripted(Arc::new(greeting([Act::Wait(MS), reply])))
}

fn connects() -> Vec<Row> {
    let never = Accept::Unanswered { gives_up: None };
    let gives_up = Accept::Unanswered { gives_up: Some(LIMIT / 2) };
    vec![
        row("refused", accept(Accept::Refused { after: 0 }), 0, Cause::ConnRefused).failed(0),
        row("refused late", accept(Accept::Refused { after: LIMIT / 2 }), 0, Cause::ConnRefused).failed(0),
        row("SYN unanswered", accept(never), 0, Cause::ConnectTimeout).failed(0),
        row("the kernel gives up", accept(gives_up), 0, Cause::SocketTimo).failed(0),
        row("accepted, FIN", greeting([Act::Close]), 0, Cause::ClosedEarly),
        row("accepted, half-closed", greeting([Act::Shut]), 0, Cause::ClosedEarly),
        row("accepted, RST", greeting([PURGE]), 0, Cause::ConnReset),
    ]
}

fn ends() -> Vec<Row> {
    let second = |act: Act| Script {
        turns: vec![vec![Act::send(OK)], vec![Act::Wait(MS), act]],
        ..Script::answering([])
    };
    vec![
        row("RST after the request", Script::answering([PURGE]), 0, Cause::ConnReset),
        row("FIN after the request", Script::answering([Act::Close]), 0, Cause::ClosedEarly),
        row("FIN after the second request", second(Act::Close), 1, Cause::ClosedIdle),
        row("RST after the second request", second(RST), 1, Cause::ConnReset),
        row("FIN after pipelined requests", Script::answering([Act::Close]), 0, Cause::ClosedEarly)
            .calls(3, 3)
            .failed(3),
        row("FIN inside the status line", sends("HTTP/1.1 20", Act::Close), 0, Cause::Truncated),
        row("FIN inside the header", sends(format!("{HEAD}Content-Le"), Act::Close), 0, Cause::Truncated),
        row("FIN before the empty line", sends(format!("{HEAD}A: b\r\n"), Act::Close), 0, Cause::Truncated),
        row("FIN inside the body", sends(LENGTH_100, Act::Close), 0, Cause::Truncated),
        row(
            "FIN inside the second body",
            {
                let turns = vec![vec![Act::send(OK)], vec![Act::send(LENGTH_100), Act::Close]];
                Script { turns, ..Script::answering([]) }
            },
            1,
            Cause::Truncated,
        ),
        row("FIN inside a chunk", sends(chunks("5\r\nhel"), Act::Close), 0, Cause::Truncated),
        row("FIN before the last chunk", sends(chunks("5\r\nhello\r\n"), Act::Close), 0, Cause::Truncated),
        row(
            "FIN before the final CRLF",
            sends(chunks("5\r\nhello\r\n0\r\n"), Act::Close),
            0,
            Cause::Truncated,
        ),
        row("FIN inside a trailer", sends(chunks("0\r\nA: "), Act::Close), 0, Cause::Truncated),
        row("FIN behind an interim reply", sends("HTTP/1.1 103 E\r\n\r\n", Act::Close), 0, Cause::Truncated),
        row(
            "4 GiB announced, FIN",
            sends(with("Content-Length: 4294967296"), Act::Close),
            0,
            Cause::Truncated,
        ),
        row("RST inside the header", sends(format!("{HEAD}Content-Le"), RST), 0, Cause::ConnReset),
        row("RST inside the body", sends(LENGTH_100, RST), 0, Cause::ConnReset),
        row("RST with data pending", sends(LENGTH_100, PURGE), 0, Cause::ConnReset),
        row("RST inside a chunk", sends(chunks("5\r\nhel"), RST), 0, Cause::ConnReset),
        row("body to the end", sends(format!("{HEAD}\r\nhello"), Act::Close), 1, None),
        row("body to the end, pipelined", sends(format!("{HEAD}\r\nhello"), Act::Close), 1, None)
            .calls(2, 2)
            .failed(1),
        row("body to the end, RST", sends(format!("{HEAD}\r\nhello"), RST), 0, Cause::ConnReset),
        row("half-close after a reply", sends(OK, Act::Shut), 1, Cause::ClosedIdle),
        row("half-close after the last reply", sends(OK, Act::Shut), 1, None).calls(1, 1),
        row("close after a reply", sends(OK, Act::Close), 1, Cause::ClosedIdle),
        row("RST after a reply", sends(OK, RST), 1, Cause::ConnReset),
    ]
}

fn stalls() -> Vec<Row> {
    let stops = |bytes: String| says(bytes);
    let late = Act::Trickle(Arc::from(OK.as_bytes()), 40 * MS);
    let in_time = Act::Trickle(Arc::from(OK.as_bytes()), 5 * MS);
    vec![
        row("never replies", Script::answering([]), 0, Cause::ReplyTimeout),
        row(
            "stops reading the request",
            Script { reads: Some(30), ..Script::answering([]) },
            0,
            Cause::ReplyTimeout,
        ),
        row(
            "reads nothing at all",
            Script { reads: Some(0), ..Script::answering([]) },
            0,
            Cause::ReplyTimeout,
        ),
        row(
            "stops reading the second request",
            Script { reads: Some(40), ..Script::answering([Act::send(OK)]) },
            1,
            Cause::ReplyTimeout,
        ),
        row(
            "never replies to the second",
            Script { turns: vec![vec![Act::send(OK)], Vec::new()], ..Script::answering([]) },
            1,
            Cause::ReplyTimeout,
        ),
        row("stops inside the header", stops(format!("{HEAD}Conte")), 0, Cause::ReplyTimeout),
        row("stops inside the body", stops(LENGTH_100.into()), 0, Cause::ReplyTimeout),
        row("stops inside a chunk", stops(chunks("5\r\nhel")), 0, Cause::ReplyTimeout),
        row("stops before the final CRLF", stops(chunks("0\r\n")), 0, Cause::ReplyTimeout),
        row("body to the end without an end", stops(format!("{HEAD}\r\nhello")), 0, Cause::ReplyTimeout),
        row("a call behind one that times out", Script::answering([]), 0, Cause::ReplyTimeout)
            .calls(4, 2)
            .failed(2),
        row("a trickle that takes too long", Script::answering([late]), 0, Cause::ReplyTimeout),
        row("a trickle in time", Script::answering([in_time]), 2, None),
    ]
}

fn replies() -> Vec<Row> {
    let status = |code: u16| says(format!("HTTP/1.1 {code} X\r\nContent-Length: 5\r\n\r\nhello"));
    let bare = |code: u16| says(format!("HTTP/1.1 {code} X\r\n\r\n"));
    let no_body = |code: u16| says(format!("HTTP/1.1 {code} X\r\nContent-Length: 5\r\n\r\n"));
    let close = with("Connection: close\r\nContent-Length: 5");
    let interim = |count: usize| says("HTTP/1.1 100 Continue\r\n\r\n".repeat(count) + OK);
    vec![
        row("a proper reply", says(OK), 2, None),
        row("pipelined replies", says(OK), 7, None).calls(7, 3),
        row("close announced", sends(&close, Act::Close), 1, None),
        row("close announced, pipelined", sends(&close, Act::Close), 1, None).calls(3, 3).failed(2),
        row("close announced, but left open", says(&close), 1, None),
        row("100", interim(1), 2, None),
        row("103", says(format!("HTTP/1.1 103 E\r\nLink: a\r\nContent-Length: 9\r\n\r\n{OK}")), 2, None),
        row("32 interim replies", interim(32), 2, None),
        row("404", status(404), 2, None),
        row("500", status(500), 2, None),
        row("503", status(503), 2, None),
        row("600", status(600), 2, None),
        row("999", status(999), 2, None),
        row("no reason", says("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"), 2, None),
        row("bare LF in the header", says("HTTP/1.1 200 OK\nContent-Length: 0\n\n"), 2, None),
        row("205 with a body", status(205), 2, None),
        row("205 without a length", bare(205), 2, None),
        row("204 with a length", no_body(204), 2, None),
        row("304 with a length", no_body(304), 2, None),
        row("204 chunked", says("HTTP/1.1 204 X\r\nTransfer-Encoding: chunked\r\n\r\n"), 2, None),
        row("HEAD with a length", no_body(200), 2, None).head(),
        row("HTTP/1.0", says("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"), 1, None),
        row(
            "HTTP/1.0 keep-alive",
            says("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"),
            2,
            None,
        ),
        row(
            "chunks with extension and trailer",
            says(chunks("5;a=\"b\"\r\nhello\r\n000;x\r\nA: b\r\n\r\n")),
            2,
            None,
        ),
        row(
            "both framings",
            {
                says(format!(
                    "{HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                ))
            },
            1,
            None,
        ),
        row("bytes behind the reply", says(format!("{OK}X")), 1, Cause::Unsolicited)
            .calls(1, 1)
            .failed(0)
            .uncut(),
        row("bytes behind the first reply", says(format!("{OK}EXTRA")), 1, Cause::Unsolicited)
            .failed(0)
            .uncut(),
        row("a second reply behind the reply", says(format!("{OK}{OK}")), 1, Cause::Unsolicited)
            .failed(0)
            .uncut(),
    ]
}

fn malformed() -> Vec<Row> {
    let bad = |name, bytes: String| row(name, says(bytes), 0, Cause::Malformed);
    let mut all = vec![
        bad("101", format!("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n{OK}")),
        bad("garbage", "GARBAGE\r\n\r\n".into()),
        bad("HTTP/0.9", "<html>hello</html>".into()),
        bad("TLS bytes", "\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{a}".into()),
        bad("HTTP/2 bytes", "\0\0\u{12}\u{4}\0\0\0\0\0".into()),
        bad("HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n".into()),
        bad("lower case", "http/1.1 200 OK\r\n\r\n".into()),
        bad("two blanks", "HTTP/1.1  200 OK\r\n\r\n".into()),
        bad("code below 100", "HTTP/1.1 099 X\r\n\r\n".into()),
        bad("code of four digits", "HTTP/1.1 2000 X\r\n\r\n".into()),
        bad("a blank before the colon", with("Content-Length : 5")),
        bad("no colon", with("Content-Length 5")),
        bad("empty name", with(": 5")),
        bad("NUL in a value", with("A: b\0c")),
    ];
    for length in ["", "-1", "+5", "0x5", "5.0", "5 5", "9223372036854775808", "5\r\nContent-Length: 6"] {
        all.push(bad("bad Content-Length", with(&format!("Content-Length: {length}"))));
    }
    for body in
        ["zz\r\n", "-1\r\n", "0x5\r\n", " 5\r\n", "\r\n", "5_0\r\n", "11112222333344445\r\n", "5\nhello"]
    {
        all.push(bad("bad chunk size", chunks(body)));
    }
    for body in
        ["5\r\nhelloX\r\n", "5\r\nhello\n0\r\n\r\n", "5;a\nhello", "0\r\nA: b\n\n", "0\r\nA b\r\n\r\n"]
    {
        all.push(bad("bad chunk framing", chunks(body)));
    }
    all
}

fn limits() -> Vec<Row> {
    let over = |name, bytes: String| row(name, says(bytes), 0, Cause::Limit);
    let long = "b".repeat(70_000);
    vec![
        over("endless interim replies", "HTTP/1.1 100 Continue\r\n\r\n".repeat(40)),
        over("endless header lines", format!("{HEAD}{}", "A: b\r\n".repeat(1001))),
        over("an endless header", format!("{HEAD}{}", format!("A: {}\r\n", &long[..10_000]).repeat(30))),
        over("an endless header line", format!("{HEAD}A: {long}")),
        over("an endless status line", format!("HTTP/1.1 200 {long}")),
        over("an endless chunk extension", chunks(&format!("5;a={long}"))),
        over("endless trailers", chunks(&format!("0\r\n{}", "A: b\r\n".repeat(1001)))),
    ]
}
