//! The first line of the output: the options as they were understood, in the order
//! and the forms of httperf 0.9.0.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::options::{Arrival, Options, Print, Sessions, SslProtocol};
use crate::number::{format_3f, format_g};
use crate::redact::{redact_header, redact_uri};

/// The echo line with its newline. Nothing is quoted, so it cannot be run again as it is. Secrets are hidden
/// unless `--show-secrets` was given. Our own options never appear in it.
pub(crate) fn echo(options: &Options) -> Vec<u8> {
    let mut line = Line { out: options.program.clone(), show_secrets: options.show_secrets };
    client(options, &mut line);
    server(options, &mut line);
    requests(options, &mut line);
    workload(options, &mut line);
    line.flag(options.periodic_stats, "periodic-stats");
    line.out.push(b'\n');
    line.out
}

/// A line that grows by ` --name` and ` --name=value`.
struct Line {
    out: Vec<u8>,
    show_secrets: bool,
}

impl Line {
    fn flag(&mut self, set: bool, name: &str) {
        if set {
            self.out.extend_from_slice(format!(" --{name}").as_bytes());
        }
    }

    fn bytes(&mut self, name: &str, value: &[u8]) {
        self.out.extend_from_slice(format!(" --{name}=").as_bytes());
        self.out.extend_from_slice(value);
    }

    fn value(&mut self, name: &str, value: impl ToString) {
        self.bytes(name, value.to_string().as_bytes());
    }

    /// A text that may hold secrets.
    fn text(&mut self, name: &str, value: &[u8], redact: fn(&[u8]) -> Vec<u8>) {
        self.bytes(name, &self.shown(value, redact));
    }

    fn shown(&self, value: &[u8], redact: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
        if self.show_secrets { value.to_vec() } else { redact(value) }
    }

    fn path(&mut self, name: &str, path: Option<&Path>) {
        if let Some(path) = path {
            self.bytes(name, path.as_os_str().as_bytes());
        }
    }

    fn print(&mut self, name: &str, print: Print) {
        match print {
            Print::Off => {}
            Print::Both => self.flag(true, name),
            Print::Header => self.value(name, "header"),
            Print::Body => self.value(name, "body"),
        }
    }

    fn seconds(&mut self, name: &str, seconds: f64) {
        if seconds > 0.0 {
            self.value(name, format_g(seconds));
        }
    }
}

fn client(options: &Options, line: &mut Line) {
    line.flag(options.verbose > 0, "verbose");
    line.print("print-reply", options.print_reply);
    line.print("print-request", options.print_request);
    line.flag(options.hog, "hog");
    line.flag(options.close_with_reset, "close-with-reset");
    line.seconds("think-timeout", options.think_timeout);
    line.seconds("timeout", options.timeout);
    line.seconds("runtime", options.runtime.unwrap_or(0.0));
    line.value("client", format!("{}/{}", options.client.id, options.client.of));
}

fn server(options: &Options, line: &mut Line) {
    if options.servers.is_none() {
        line.text("server", &options.server, redact_uri);
    }
    if let Some(name) = &options.server_name {
        // The underscore is the original's.
        line.text("server_name", name, redact_uri);
    }
    line.path("servers", options.servers.as_deref());
    if options.server_port() != 0 {
        line.value("port", options.server_port());
    }
    line.text("uri", &options.uri, redact_uri);
    if let Some(status) = options.failure_status {
        line.value("failure-status", status);
    }
    if options.http_version != (1, 1) {
        line.value("http-version", format!("{}.{}", options.http_version.0, options.http_version.1));
    }
    for (name, count) in
        [("max-connections", options.max_connections), ("max-piped-calls", options.max_piped_calls)]
    {
        if count > 0 {
            line.value(name, count);
        }
    }
    match &options.arrival {
        Arrival::Sequential => {}
        Arrival::Deterministic { period } => line.value("rate", format_g(1.0 / period)),
        Arrival::Uniform { min, max } => {
            line.value("period", format!("u{},{}", format_g(*min), format_g(*max)))
        }
        Arrival::Exponential { mean } => line.value("period", format!("e{}", format_g(*mean))),
        Arrival::Variable(pairs) => {
            let pairs: Vec<_> =
                pairs.iter().map(|(t, d)| format!("{},{}", format_g(*t), format_g(*d))).collect();
            line.value("period", format!("v{}", pairs.join(",")));
        }
    }
}

fn requests(options: &Options, line: &mut Line) {
    line.value("send-buffer", options.send_buffer.bytes);
    line.flag(options.retry_on_failure, "retry-on-failure");
    line.value("recv-buffer", options.recv_buffer.bytes);
    line.flag(options.session_cookies, "session-cookies");
    line.flag(options.ssl.on, "ssl");
    if let Some(ciphers) = &options.ssl.ciphers {
        line.bytes("ssl-ciphers", ciphers);
    }
    if let Some(name) = &options.ssl.server_name {
        line.bytes("tls-server-name", name);
    }
    line.flag(options.ssl.no_reuse, "ssl-no-reuse");
    line.path("ssl-cert", options.ssl.certificate.as_deref());
    line.path("ssl-key", options.ssl.key.as_deref());
    line.path("ssl-ca-file", options.ssl.ca_file.as_deref());
    line.path("ssl-ca-path", options.ssl.ca_path.as_deref());
    line.flag(options.ssl.verify, "ssl-verify");
    if let Some(protocol) = options.ssl.protocol {
        line.value("ssl-protocol", protocol_name(protocol));
    }
    if let Some(header) = &options.add_header {
        let header = line.shown(header, redact_header);
        line.bytes("add-header", &[b"'", &*header, b"'"].concat());
    }
    if let Some(method) = &options.method {
        line.bytes("method", method);
    }
    line.flag(options.use_timer_cache, "use-timer-cache");
}

/// Without a session or a file there is nothing to echo: the original tests the counts.
fn workload(options: &Options, line: &mut Line) {
    let counts = |sessions: &&Sessions| sessions.sessions > 0;
    let numbers = |s: &Sessions| format!("{},{},{}", s.sessions, s.calls, format_3f(s.think));
    if let Some(log) = options.wsesslog.as_ref().filter(|log| log.sessions > 0) {
        let head = format!("{},{},", log.sessions, format_3f(log.think));
        line.bytes("wsesslog", &[head.as_bytes(), log.file.as_os_str().as_bytes()].concat());
        return;
    }
    if let Some(page) = options.wsesspage.as_ref().filter(counts) {
        line.value("wsesspage", numbers(page));
        return;
    }
    if let Some(wsess) = options.wsess.as_ref().filter(counts) {
        line.value("wsess", numbers(wsess));
    } else if options.wmix.is_none() {
        for (name, count) in [("num-conns", options.num_conns), ("num-calls", options.num_calls)] {
            if count != 0 {
                line.value(name, count as i32);
            }
        }
    }
    if options.burst_length != 1 {
        line.value("burst-length", options.burst_length);
    }
    if let Some(wset) = options.wset.filter(|wset| wset.files > 0) {
        line.value("wset", format!("{},{}", wset.files, format_3f(wset.miss)));
    }
}

fn protocol_name(protocol: SslProtocol) -> &'static str {
    match protocol {
        SslProtocol::Auto => "auto",
        SslProtocol::Ssl2 => "SSLv2",
        SslProtocol::Ssl3 => "SSLv3",
        SslProtocol::Tls10 => "TLSv1.0",
        SslProtocol::Tls11 => "TLSv1.1",
        SslProtocol::Tls12 => "TLSv1.2",
        SslProtocol::Tls13 => "TLSv1.3",
    }
}
