//! Bytes of replies that somebody wants: the same however the stream is cut.

use httperf_engine::{Completion, ConnId, Core, Event, Input, RequestId, Scenario, Time, Transmit, Wants};
use httperf_wire::{Request, RequestSpec};

/// A core with one connection that has so many calls outstanding.
struct Client {
    core: Core,
    conn: ConnId,
    /// What each reply said: its header section, its body.
    heard: Vec<(String, String)>,
    /// Connections that failed.
    failed: usize,
}

impl Client {
    fn new(wants: Wants, calls: usize) -> Self {
        let request = Request::render(&RequestSpec { uri: b"/".to_vec(), ..RequestSpec::default() });
        let mut core = Core::new(Scenario { wants, ..Scenario::plain(([127, 0, 0, 1], 80).into(), request) });
        let conn = core.connect(0, Time(0), 0);
        let mut client = Self { core, conn, heard: Vec::new(), failed: 0 };
        client.input(Input::Opened);
        client.input(Input::Connected);
        for _ in 0..calls {
            client.core.issue(conn, RequestId(0), Time(0)).expect("an open connection");
        }
        client.settle();
        client
    }

    fn input(&mut self, input: Input<'_>) {
        let conn = self.conn;
        self.core.handle(Completion { at: Time(1), conn, input });
        self.settle();
    }

    fn settle(&mut self) {
        loop {
            while let Some(event) = self.core.poll() {
                let last = self.heard.len().checked_sub(1);
                match event {
                    Event::CallRecvStart { .. } => self.heard.push(Default::default()),
                    Event::CallRecvHeader { text, bytes, .. } => {
                        self.heard[last.expect("a start")].0 += text_of(self.core.text(text, bytes.into()));
                    }
                    Event::CallRecvData { text, bytes, .. } => {
                        self.heard[last.expect("a start")].1 += text_of(self.core.text(text, bytes));
                    }
                    Event::ConnFailed { .. } => self.failed += 1,
                    _ => {}
                }
            }
            let sent = match self.core.poll_transmit() {
                Some(Transmit::Write { bytes, .. }) => bytes.len(),
                Some(_) => continue,
                None => return,
            };
            let conn = self.conn;
            self.core.handle(Completion { at: Time(1), conn, input: Input::Sent(sent) });
        }
    }
}

fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// What is heard of a stream in these pieces.
fn hear<'a>(wants: Wants, calls: usize, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<(String, String)> {
    let mut client = Client::new(wants, calls);
    pieces.for_each(|piece| client.input(Input::Data(piece)));
    assert_eq!(client.failed, 0);
    client.heard
}

const BOTH: Wants = Wants { header: true, body: true };

/// Streams of replies: what they say, how many there are, and what is to be heard.
fn streams() -> Vec<(String, Vec<(&'static str, &'static str)>)> {
    const PLAIN: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: a=1\r\n\r\n";
    const BARE: &str = "HTTP/1.1 204 No Content\nA: b\n\n";
    const CHUNKED: &str = "HTTP/1.1 404 Nope\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = "5;x=y\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nTrailer: t\r\n\r\n";
    let interim = "HTTP/1.1 103 Early\r\nLink: </s>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    vec![
        (format!("{PLAIN}hello"), vec![(PLAIN, "hello")]),
        (BARE.into(), vec![(BARE, "")]),
        (format!("{CHUNKED}{chunks}"), vec![(CHUNKED, "hello world")]),
        (format!("{interim}{PLAIN}hello"), vec![(PLAIN, "hello")]),
        (
            format!("{PLAIN}hello{interim}{CHUNKED}{chunks}{BARE}{interim}{PLAIN}again"),
            vec![(PLAIN, "hello"), (CHUNKED, "hello world"), (BARE, ""), (PLAIN, "again")],
        ),
    ]
}

fn same(heard: &[(String, String)], expected: &[(&str, &str)], how: &str) {
    let heard: Vec<(&str, &str)> =
        heard.iter().map(|(header, body)| (header.as_str(), body.as_str())).collect();
    assert_eq!(heard, expected, "{how}");
}

#[test]
fn wanted_bytes_are_the_same_for_every_cut() {
    for (stream, expected) in streams() {
        let stream = stream.as_bytes();
        same(&hear(BOTH, expected.len(), [stream].into_iter()), &expected, "in one piece");
        same(&hear(BOTH, expected.len(), stream.chunks(1)), &expected, "byte by byte");
        for cut in 1..stream.len() {
            let (one, other) = stream.split_at(cut);
            same(&hear(BOTH, expected.len(), [one, other].into_iter()), &expected, &format!("cut at {cut}"));
        }
        for length in 2..40 {
            same(&hear(BOTH, expected.len(), stream.chunks(length)), &expected, &format!("by {length}"));
        }
    }
}

#[test]
fn only_what_is_wanted_is_kept() {
    for (header, body) in [(true, false), (false, true), (false, false)] {
        for (stream, expected) in streams() {
            let kept: Vec<_> = expected
                .iter()
                .map(|(h, b)| (if header { *h } else { "" }, if body { *b } else { "" }))
                .collect();
            for length in [1, 7, stream.len()] {
                let pieces = stream.as_bytes().chunks(length);
                same(&hear(Wants { header, body }, kept.len(), pieces), &kept, &format!("by {length}"));
            }
        }
    }
}

#[test]
fn a_body_to_the_end_of_the_stream_is_heard() {
    let mut client = Client::new(BOTH, 1);
    client.input(Input::Data(b"HTTP/1.1 200 OK\r\n\r"));
    client.input(Input::Data(b"\nhel"));
    client.input(Input::Data(b"lo"));
    client.input(Input::Eof);
    same(&client.heard, &[("HTTP/1.1 200 OK\r\n\r\n", "hello")], "to the end");
}

#[test]
fn a_section_that_breaks_off_leaves_nothing_to_the_next_connection() {
    let mut client = Client::new(BOTH, 1);
    client.input(Input::Data(b"HTTP/1.1 200 OK\r\nX-Half: a"));
    client.input(Input::Eof);
    assert_eq!(client.failed, 1);
    client.conn = client.core.connect(0, Time(1), 0);
    client.input(Input::Opened);
    client.input(Input::Connected);
    client.core.issue(client.conn, RequestId(0), Time(1)).expect("an open connection");
    client.settle();
    client.input(Input::Data(b"HTTP/1.1 204 No\r\n\r"));
    client.input(Input::Data(b"\n"));
    assert_eq!(client.heard.last().map(|(header, _)| header.as_str()), Some("HTTP/1.1 204 No\r\n\r\n"));
}
