//! `httperf demo`: the built-in server under load for ten seconds, and what to make of it.

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::{Arg, Command, value_parser};
use httperf_serve::{Config, Server};

use crate::classic::{self, Judge};
use crate::output::Output;
use crate::serve::usage;

pub(crate) fn command() -> Command {
    Command::new("demo")
        .bin_name("httperf demo")
        .about("Starts the built-in server on a free port and loads it: connections at a fixed rate, five calls on each")
        .arg(
            Arg::new("rate")
                .long("rate")
                .short('r')
                .value_name("N")
                .help("Connections per second")
                .default_value("200")
                .value_parser(value_parser!(u32).range(1..=100_000)),
        )
        .arg(
            Arg::new("duration")
                .long("duration")
                .short('d')
                .value_name("SECONDS")
                .help("How long")
                .default_value("10")
                .value_parser(value_parser!(u32).range(1..=3600)),
        )
}

/// Runs the demonstration.
pub(crate) fn main(arguments: &[OsString], output: &mut Output) -> u8 {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, output),
    };
    let rate = *matches.get_one::<u32>("rate").expect("has a default");
    let seconds = *matches.get_one::<u32>("duration").expect("has a default");
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = match Server::start(Config { listen, ..Config::default() }) {
        Ok(server) => server,
        Err(error) => {
            output.diagnostic(format!("httperf: failed to {:#}\n", anyhow::Error::from(error)));
            return 1;
        }
    };
    let port = server.address().port();
    let conns = u64::from(rate) * u64::from(seconds);
    output.diagnostic(format!(
        "httperf demo: {rate} new connections a second for {seconds} s, 5 calls on each, against the built-in server. The same \
         by hand:\n\n  httperf serve --port {port} &\n  httperf --server 127.0.0.1 --port {port} --rate {rate} --num-conns {conns} \
         --num-calls 5 --timeout 5\n\n"
    ));
    let argv = [
        "httperf",
        "--server",
        "127.0.0.1",
        "--port",
        &port.to_string(),
        "--rate",
        &rate.to_string(),
        "--num-conns",
        &conns.to_string(),
        "--num-calls",
        "5",
        "--timeout",
        "5",
    ]
    .map(OsString::from);
    let status = classic::run(&argv, "demo", Judge::Schedule, output);
    server.stop();
    status
}
