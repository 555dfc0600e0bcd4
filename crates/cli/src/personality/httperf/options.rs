//! What a classic command line can say, and the meaning of each option.

use std::net::IpAddr;
use std::path::PathBuf;

use super::values::{self, Text, illegal, int, int_if, real, timeout};
use crate::flags::Flag;
use crate::number::strtoul;

/// Everything a classic command line says. Times are in seconds. Texts are bytes, as given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// Basename of argv[0]: every message begins with it.
    pub(crate) program: Vec<u8>,
    /// The options given, by their full names, in order, with repetitions.
    pub(crate) given: Vec<&'static str>,
    /// `--add-header`, with its escapes as typed.
    pub(crate) add_header: Option<Vec<u8>>,
    /// The bytes `--add-header` stands for, appended to every request; empty without it.
    pub(crate) extra_header: Vec<u8>,
    /// `--add-header-file`; not read yet.
    pub(crate) add_header_file: Option<PathBuf>,
    /// Calls sent at once, at least 1.
    pub(crate) burst_length: u32,
    /// `--client`: which of how many.
    pub(crate) client: Client,
    /// Close with a RST.
    pub(crate) close_with_reset: bool,
    /// `-d`: as C's `atoi` reads it; 0 is none.
    pub(crate) debug: u32,
    /// A reply of this status fails its session.
    pub(crate) failure_status: Option<u32>,
    /// Choose local ports from 1024 on.
    pub(crate) hog: bool,
    /// Major and minor, (1, 1) by default. Others than 1.0 and 1.1 are an error: [`super::version_error`].
    pub(crate) http_version: (u32, u32),
    /// Connections of a session; 0 is the default of 4. More is an error of session workloads only.
    pub(crate) max_connections: u32,
    /// Pending calls of a connection in a session; 0 is the default of 32. More is an
    /// error of session workloads only.
    pub(crate) max_piped_calls: u32,
    /// The method, if one was given; GET otherwise.
    pub(crate) method: Option<Vec<u8>>,
    /// Send no Host header.
    pub(crate) no_host_hdr: bool,
    /// Calls on a connection; `-1` has become `u32::MAX`, practically infinite.
    pub(crate) num_calls: u32,
    /// Connections in all; `-1` as above.
    pub(crate) num_conns: u32,
    /// When connections or sessions begin: `--rate` or `--period`, whichever came last.
    pub(crate) arrival: Arrival,
    /// The port, if one was given; see [`Options::server_port`].
    pub(crate) port: Option<u16>,
    /// What to print of replies.
    pub(crate) print_reply: Print,
    /// What to print of requests.
    pub(crate) print_request: Print,
    /// `SO_RCVBUF`.
    pub(crate) recv_buffer: Buffer,
    /// `SO_SNDBUF`.
    pub(crate) send_buffer: Buffer,
    /// Sessions: try again.
    pub(crate) retry_on_failure: bool,
    /// Name or address.
    pub(crate) server: Vec<u8>,
    /// Text of the Host header, if it is not the server.
    pub(crate) server_name: Option<Vec<u8>>,
    /// File of servers; not read yet.
    pub(crate) servers: Option<PathBuf>,
    /// Sessions send cookies back.
    pub(crate) session_cookies: bool,
    /// Sessions keep several cookies, by name.
    pub(crate) cookie_jar: bool,
    /// What the TLS options say.
    pub(crate) ssl: Ssl,
    /// Time the server may think, added to `timeout` while waiting; 0 is none. May be infinite.
    pub(crate) think_timeout: f64,
    /// Limit of a connection without progress; 0 is none. May be infinite.
    pub(crate) timeout: f64,
    /// Length of the test, if limited. May be infinite.
    pub(crate) runtime: Option<f64>,
    /// Sent as it is.
    pub(crate) uri: Vec<u8>,
    /// How often `-v` was given.
    pub(crate) verbose: u32,
    /// URIs from a file.
    pub(crate) wlog: Option<Wlog>,
    /// Sessions of equal calls.
    pub(crate) wsess: Option<Sessions>,
    /// Sessions from a file.
    pub(crate) wsesslog: Option<Wsesslog>,
    /// Sessions of pages; `calls` counts the user's requests.
    pub(crate) wsesspage: Option<Sessions>,
    /// A set of URIs.
    pub(crate) wset: Option<Wset>,
    /// Sessions of a mix; not read yet.
    pub(crate) wmix: Option<PathBuf>,
    /// Source addresses, for the connections in turn; empty: the kernel chooses.
    pub(crate) myaddr: Vec<IpAddr>,
    /// Print statistics at every sample.
    pub(crate) periodic_stats: bool,
    /// No effect.
    pub(crate) use_timer_cache: bool,
    /// Write the result here; `-` is stdout.
    pub(crate) json: Option<PathBuf>,
    /// Count as the original does where we mended it.
    pub(crate) classic_strict: bool,
    /// Print credentials as they are.
    pub(crate) show_secrets: bool,
    /// Connections or sessions at a time with rate 0, if not one.
    pub(crate) concurrency: Option<u32>,
    /// Threads, at least 1.
    pub(crate) threads: u32,
    /// An invalid result changes the exit status.
    pub(crate) strict: bool,
    /// Live view.
    pub(crate) live: bool,
}

/// `--client I/N`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Client {
    /// I, less than N.
    pub(crate) id: u32,
    /// N.
    pub(crate) of: u32,
}

/// When things begin; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arrival {
    /// One when the one before has ended (or `--concurrency` at a time).
    Sequential,
    /// Equal distances; 0 for an infinite rate.
    Deterministic { period: f64 },
    /// Between two limits, in either order.
    Uniform { min: f64, max: f64 },
    /// Poisson arrivals.
    Exponential { mean: f64 },
    /// (period, how long it holds), over and over; all above 0.
    Variable(Vec<(f64, f64)>),
}

/// What to print of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Print {
    Off,
    Both,
    Header,
    Body,
}

/// A socket buffer: its size in bytes as C's `int` (it is not checked), and whether the user gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Buffer {
    pub(crate) bytes: i32,
    pub(crate) given: bool,
}

/// `--wsess`, `--wsesspage`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sessions {
    pub(crate) sessions: u32,
    pub(crate) calls: u32,
    /// Seconds between bursts.
    pub(crate) think: f64,
}

/// `--wsesslog`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wsesslog {
    pub(crate) sessions: u32,
    /// Seconds after a burst that says nothing else.
    pub(crate) think: f64,
    pub(crate) file: PathBuf,
}

/// `--wset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wset {
    pub(crate) files: u32,
    /// 0 to 1.
    pub(crate) miss: f64,
}

/// `--wlog`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wlog {
    /// Begin again at the end of the file.
    pub(crate) again: bool,
    pub(crate) file: PathBuf,
}

/// The TLS options.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ssl {
    /// Use TLS.
    pub(crate) on: bool,
    pub(crate) ciphers: Option<Vec<u8>>,
    pub(crate) no_reuse: bool,
    pub(crate) server_name: Option<Vec<u8>>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) ca_path: Option<PathBuf>,
    pub(crate) verify: bool,
    pub(crate) protocol: Option<SslProtocol>,
    /// Write the secrets to the file that SSLKEYLOGFILE names.
    pub(crate) keylog: bool,
}

/// `--ssl-protocol`. Those below TLS 1.2 have a name only to be refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SslProtocol {
    Auto,
    Ssl2,
    Ssl3,
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

impl Options {
    pub(super) fn new(program: &[u8]) -> Self {
        Options {
            program: program.to_vec(),
            given: Vec::new(),
            add_header: None,
            extra_header: Vec::new(),
            add_header_file: None,
            burst_length: 1,
            client: Client { id: 0, of: 1 },
            close_with_reset: false,
            debug: 0,
            failure_status: None,
            hog: false,
            http_version: (1, 1),
            max_connections: 0,
            max_piped_calls: 0,
            method: None,
            no_host_hdr: false,
            num_calls: 1,
            num_conns: 1,
            arrival: Arrival::Sequential,
            port: None,
            print_reply: Print::Off,
            print_request: Print::Off,
            recv_buffer: Buffer { bytes: 16384, given: false },
            send_buffer: Buffer { bytes: 4096, given: false },
            retry_on_failure: false,
            server: b"localhost".to_vec(),
            server_name: None,
            servers: None,
            session_cookies: false,
            cookie_jar: false,
            ssl: Ssl::default(),
            think_timeout: 0.0,
            timeout: 0.0,
            runtime: None,
            uri: b"/".to_vec(),
            verbose: 0,
            wlog: None,
            wsess: None,
            wsesslog: None,
            wsesspage: None,
            wset: None,
            wmix: None,
            myaddr: Vec::new(),
            periodic_stats: false,
            use_timer_cache: false,
            json: None,
            classic_strict: false,
            show_secrets: false,
            concurrency: None,
            threads: 1,
            strict: false,
            live: false,
        }
    }

    /// The port to connect to.
    pub(crate) fn server_port(&self) -> u16 {
        self.port.unwrap_or(if self.ssl.on { 443 } else { 80 })
    }

    /// A message of this program: a line of stderr.
    pub(crate) fn message(&self, text: &[u8]) -> Vec<u8> {
        [&self.program, b": ".as_slice(), text, b"\n"].concat()
    }

    /// A message that names a part of the program, as some of the original's do.
    pub(crate) fn message_of(&self, part: &str, text: &[u8]) -> Vec<u8> {
        [&self.program, b".".as_slice(), part.as_bytes(), b": ", text, b"\n"].concat()
    }

    /// Whether the workload is one of sessions.
    pub(crate) fn is_of_sessions(&self) -> bool {
        self.wsess.is_some() || self.wsesslog.is_some() || self.wsesspage.is_some() || self.wmix.is_some()
    }

    pub(super) fn was_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Takes one option. `--help` and `--version`, which print, are not among them.
    pub(super) fn set(&mut self, flag: &'static Flag, given: Option<&[u8]>) -> Result<(), Text> {
        let value = given.unwrap_or_default();
        let text = || Some(value.to_vec());
        let path = || Some(values::path(value));
        match flag.name {
            "add-header" => self.add_header = text(),
            "add-header-file" => self.add_header_file = path(),
            "burst-length" => self.burst_length = int_if("burst-length", value, |n| n > 0)?,
            "classic-strict" => self.classic_strict = true,
            "client" => self.client = values::client(value)?,
            "close-with-reset" => self.close_with_reset = true,
            "concurrency" => self.concurrency = Some(int_if("concurrency", value, |n| n > 0)?),
            "debug" => self.debug = strtoul(value, 10).value as u32,
            "failure-status" => self.failure_status = Some(int_if("failure status", value, |n| n > 0)?),
            "hog" => self.hog = true,
            "http-version" => self.http_version = values::http_version(value)?,
            "json" => self.json = path(),
            "live" => self.live = true,
            "max-connections" => self.max_connections = int_if("max. # of connection", value, |n| n >= 0)?,
            "max-piped-calls" => self.max_piped_calls = int_if("max. # of piped calls", value, |n| n >= 0)?,
            "method" => self.method = text(),
            "myaddr" => self.myaddr.extend(values::source_addresses(value)?),
            "no-host-hdr" => self.no_host_hdr = true,
            "num-calls" => self.num_calls = int("number of calls", value)?,
            "num-conns" => self.num_conns = int("number of connections", value)?,
            "period" => self.arrival = values::period(value)?,
            "periodic-stats" => self.periodic_stats = true,
            "port" => {
                let port = u16::try_from(int("port number", value)?);
                self.port = Some(port.map_err(|_| illegal("port number", value))?);
            }
            "print-reply" => self.print_reply = values::print(given),
            "print-request" => self.print_request = values::print(given),
            "rate" => self.arrival = values::rate(value)?,
            "recv-buffer" => self.recv_buffer = buffer("receive buffer size", value)?,
            "retry-on-failure" => self.retry_on_failure = true,
            "runtime" => {
                let seconds = Some(real("runtime value", value)?).filter(|seconds| *seconds > 0.0);
                self.runtime = Some(seconds.ok_or_else(|| illegal("runtime value", value))?);
            }
            "send-buffer" => self.send_buffer = buffer("send buffer size", value)?,
            "server" => self.server = value.to_vec(),
            "server-name" => self.server_name = text(),
            "servers" => self.servers = path(),
            "session-cookies" => self.session_cookies = true,
            "show-secrets" => self.show_secrets = true,
            "cookie-jar" => (self.session_cookies, self.cookie_jar) = (true, true),
            "ssl" => self.ssl.on = true,
            "ssl-ca-file" => self.ssl.ca_file = path(),
            "ssl-ca-path" => self.ssl.ca_path = path(),
            "ssl-certificate" => self.ssl.certificate = path(),
            "ssl-ciphers" => self.ssl.ciphers = text(),
            "ssl-key" => self.ssl.key = path(),
            "ssl-keylog" => self.ssl.keylog = true,
            "ssl-no-reuse" => self.ssl.no_reuse = true,
            "ssl-protocol" => {
                self.ssl.protocol = Some(values::ssl_protocol(value)?);
                self.ssl.on = true;
            }
            "ssl-verify" => self.ssl.verify = values::ssl_verify(given)?,
            "strict" => self.strict = true,
            "think-timeout" => self.think_timeout = timeout("think timeout value", value)?,
            "threads" => self.threads = int_if("number of threads", value, |n| n > 0)?,
            "timeout" => self.timeout = timeout("connect timeout", value)?,
            "tls-server-name" => self.ssl.server_name = text(),
            "uri" => self.uri = value.to_vec(),
            "use-timer-cache" => self.use_timer_cache = true,
            "verbose" => self.verbose += 1,
            "wlog" => self.wlog = Some(values::wlog(value)),
            "wmix" => self.wmix = path(),
            "wsess" => self.wsess = Some(values::sessions("wsess", "calls", value)?),
            "wsesslog" => self.wsesslog = Some(values::wsesslog(value)?),
            "wsesspage" => self.wsesspage = Some(values::sessions("wsesspage", "user requests", value)?),
            "wset" => self.wset = Some(values::wset(value)?),
            name => return Err(format!("option '--{name}' has no meaning here").into_bytes()),
        }
        self.given.push(flag.name);
        Ok(())
    }
}

fn buffer(what: &str, value: &[u8]) -> Result<Buffer, Text> {
    int(what, value).map(|bytes| Buffer { bytes: bytes as i32, given: true })
}
