//! A small blocking client that reads one reply at a time and believes nothing it has not read.

#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use httperf_serve::{Config, Server};

/// A server on a free port of the loopback.
pub(crate) fn server() -> Server {
    Server::start(config()).unwrap()
}

pub(crate) fn config() -> Config {
    Config { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..Config::default() }
}

/// Waits for a fact. The limit is only there to end a test that has failed.
pub(crate) fn until(fact: impl Fn() -> bool) {
    let start = Instant::now();
    while !fact() {
        assert!(start.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client<S = TcpStream>(BufReader<S>);

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The length of each chunk, without the last one; `None` if the body did not come in chunks.
    pub(crate) chunks: Option<Vec<usize>>,
}

/// A plain connection to a server.
pub(crate) fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

impl Client {
    pub(crate) fn connect(server: &Server) -> Client {
        Client::over(connect(server))
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn over(stream: S) -> Client<S> {
        Client(BufReader::new(stream))
    }

    pub(crate) fn stream(&self) -> &S {
        self.0.get_ref()
    }

    pub(crate) fn into_stream(self) -> S {
        self.0.into_inner()
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.get_mut().write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn get(&mut self, target: &str) -> Reply {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: t\r\n\r\n"));
        self.reply()
    }

    /// Reads a reply with its body.
    pub(crate) fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        if reply.field("transfer-encoding") == Some("chunked") {
            let mut lengths = Vec::new();
            loop {
                let length = usize::from_str_radix(self.line().trim_end(), 16).unwrap();
                let body = self.exactly(length);
                assert_eq!(self.line(), "\r\n");
                if length == 0 {
                    break;
                }
                lengths.push(length);
                reply.body.extend(body);
            }
            reply.chunks = Some(lengths);
        } else if let Some(length) = reply.field("content-length") {
            reply.body = self.exactly(length.parse().unwrap());
        } else if !matches!(reply.status, 204 | 304) {
            reply.body = self.rest();
        }
        reply
    }

    /// Reads a reply that has no body whatever its fields say, as the one to `HEAD`.
    pub(crate) fn head(&mut self) -> Reply {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            head += &self.line();
        }
        let status = head.strip_prefix("HTTP/1.").unwrap()[2..5].parse().unwrap();
        Reply { status, head, body: Vec::new(), chunks: None }
    }

    /// All that comes until the server closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).unwrap();
        rest
    }

    /// The server has closed, and said nothing more before.
    pub(crate) fn assert_closed(&mut self) {
        assert_eq!(self.rest(), b"");
    }

    pub(crate) fn exactly(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "closed after '{line}'");
        line
    }
}

impl Reply {
    /// The value of a field, its name in lower case.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}
