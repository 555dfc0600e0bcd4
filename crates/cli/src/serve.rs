//! `httperf serve`: the built-in target server.

use std::ffi::OsString;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

use clap::{Arg, Command, value_parser};
use httperf_serve::{Config, Server, paths};
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
    let config = Config { listen: SocketAddr::new(address, port), threads, ..Config::default() };
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
    output.text(format!("serving http://{}/\n", server.address()));
    output.diagnostic(format!("{}stop with Ctrl-C\n", table()));
    signals.forever().next();
    let served = server.stop().served;
    output.diagnostic(format!("httperf serve: stopped after {served} replies\n"));
    0
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
