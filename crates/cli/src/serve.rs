//! `httperf serve`: the built-in target server.

use std::ffi::OsString;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use httperf_serve::{Config, Counts, Identity, Server, Tls, TlsVersion, paths};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::output::Output;

pub(crate) fn command() -> Command {
    Command::new("serve")
        .bin_name("httperf serve")
        .about("A server to practise on: bodies, delays, stalls, statuses")
        .after_help(format!("Paths:\n{}", table()))
        .arg(
            Arg::new("address")
                .long("address")
                .value_name("IP")
                .help("Address to listen on")
                .default_value("127.0.0.1")
                .value_parser(value_parser!(IpAddr)),
        )
        .arg(
            Arg::new("port")
                .long("port")
                .short('p')
                .value_name("PORT")
                .help("Port to listen on; 0 takes a free one")
                .default_value("8080")
                .value_parser(value_parser!(u16)),
        )
        .arg(
            Arg::new("threads")
                .long("threads")
                .short('t')
                .value_name("N")
                .help("Threads that serve connections")
                .default_value("1")
                .value_parser(value_parser!(u32).range(1..=1024)),
        )
        .arg(
            Arg::new("tls")
                .long("tls")
                .help("HTTPS in place of HTTP; unless files are given, with a certificate made at the start for localhost")
                .action(ArgAction::SetTrue),
        )
        .arg(file("tls-cert", "tls-key").help("Certificate to show, and those up to its root (PEM); with --tls"))
        .arg(file("tls-key", "tls-cert").help("Its private key, not encrypted (PEM)"))
        .arg(
            Arg::new("tls-max-version")
                .long("tls-max-version")
                .value_name("VERSION")
                .help("Newest version of TLS; the oldest is 1.2")
                .value_parser(PossibleValuesParser::new(["1.2", "1.3"]))
                .requires("tls"),
        )
}

/// An option for a file, which goes with another.
fn file(name: &'static str, other: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .requires("tls")
        .requires(other)
}

/// Serves until SIGINT or SIGTERM.
pub(crate) fn main(arguments: &[OsString], output: &mut Output) -> u8 {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, output),
    };
    let address = *matches.get_one::<IpAddr>("address").expect("has a default");
    let port = *matches.get_one::<u16>("port").expect("has a default");
    let threads = *matches.get_one::<u32>("threads").expect("has a default") as usize;
    httperf::raise_descriptor_limit();
    let tls = tls(&matches);
    let scheme = if tls.is_some() { "https" } else { "http" };
    let config = Config { listen: SocketAddr::new(address, port), threads, tls, ..Config::default() };
    let started = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(anyhow::Error::from)
        .and_then(|signals| Ok((signals, Server::start(config)?)));
    let (mut signals, server) = match started {
        Ok(started) => started,
        Err(error) => {
            output.diagnostic(format!("httperf: failed to {error:#}\n"));
            return 1;
        }
    };
    output.text(format!("serving {scheme}://{}/\n", server.address()));
    output.diagnostic(format!("{}stop with Ctrl-C\n", table()));
    signals.forever().next();
    output
        .diagnostic(format!("httperf serve: stopped after {}\n", closing(&server.stop(), scheme == "https")));
    0
}

fn tls(matches: &ArgMatches) -> Option<Tls> {
    let file = |name| matches.get_one::<PathBuf>(name).cloned();
    let identity = match (file("tls-cert"), file("tls-key")) {
        (Some(certificate), Some(key)) => Identity::Files { certificate, key },
        _ => Identity::SelfSigned,
    };
    let max_version = match matches.get_one::<String>("tls-max-version").map(String::as_str) {
        Some("1.2") => TlsVersion::V1_2,
        _ => TlsVersion::V1_3,
    };
    matches.get_flag("tls").then(|| Tls { identity, max_version, ..Tls::default() })
}

/// What was done, as the last line has it.
fn closing(counts: &Counts, tls: bool) -> String {
    let mut line = format!("{} replies on {} connections", counts.served, counts.connections);
    if tls {
        let Counts { handshakes_full, handshakes_resumed, handshakes_failed, .. } = counts;
        let _ = write!(
            line,
            "; handshakes: {handshakes_full} full, {handshakes_resumed} resumed, {handshakes_failed} failed"
        );
    }
    line
}

/// The paths and what they do.
fn table() -> String {
    let width = paths().iter().map(|(path, _)| path.len()).max().unwrap_or(0);
    paths().iter().fold(String::new(), |mut text, (path, what)| {
        let _ = writeln!(text, "  {path:width$}  {what}");
        text
    })
}

/// A command line that was not understood, or a question that clap answers: the text, and the exit status.
pub(crate) fn usage(error: &clap::Error, output: &mut Output) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        output.diagnostic(text);
        2
    } else {
        output.text(text);
        0
    }
}
