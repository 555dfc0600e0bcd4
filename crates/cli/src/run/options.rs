//! The options of `httperf run`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use httperf::load::{Process, Stages};

use crate::units;

/// What was asked for; times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) urls: Vec<String>,
    pub(super) rate: Option<f64>,
    pub(super) stages: Option<Stages>,
    pub(super) process: Process,
    pub(super) duration: Option<u64>,
    pub(super) calls: Option<u64>,
    pub(super) connections: Option<u32>,
    pub(super) threads: Option<u32>,
    pub(super) timeout: u64,
    pub(super) shed: bool,
    pub(super) calls_per_connection: Option<u32>,
    pub(super) pipeline: u32,
    pub(super) seed: u64,
    pub(super) method: Option<String>,
    pub(super) headers: Vec<String>,
    pub(super) user_agent: String,
    pub(super) cookie: Option<String>,
    pub(super) user: Option<String>,
    pub(super) data: Option<Vec<u8>>,
    pub(super) json_body: bool,
    pub(super) http_1_0: bool,
    pub(super) insecure: bool,
    pub(super) cacert: Option<PathBuf>,
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) json: Option<PathBuf>,
    pub(super) classic: bool,
    pub(super) strict: bool,
    pub(super) show_secrets: bool,
    pub(super) progress: Progress,
}

/// What is said while the run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// A line every five seconds.
    Plain,
    None,
}

/// An option with a value.
fn option(name: &'static str, short: Option<char>, value: &'static str, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name(value).help(help);
    match short {
        Some(short) => arg.short(short),
        None => arg,
    }
}

fn switch(name: &'static str, short: Option<char>, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).help(help).action(ArgAction::SetTrue);
    match short {
        Some(short) => arg.short(short),
        None => arg,
    }
}

pub(crate) fn command() -> Command {
    let number = || value_parser!(u32).range(1..);
    Command::new("run")
        .bin_name("httperf run")
        .about("Loads a server: at a rate (open loop), or with so many connections (closed loop)")
        .arg(
            Arg::new("url")
                .value_name("URL")
                .required(true)
                .num_args(1..)
                .help("One server; a URL given twice is asked for twice as often"),
        )
        .next_help_heading("Load")
        .arg(
            option(
                "rate",
                Some('r'),
                "RATE",
                "Calls begin at this rate, whatever the server does: 2000/s, 3/min",
            )
            .value_parser(units::rate),
        )
        .arg(
            option("arrivals", None, "PROCESS", "How calls follow each other at a rate")
                .value_parser(PossibleValuesParser::new(["poisson", "constant", "uniform"]))
                .default_value("poisson"),
        )
        .arg(
            option("stages", None, "STAGES", "A rate that changes: 'ramp 0..2000/s over 30s, hold 60s'")
                .conflicts_with("rate")
                .value_parser(|text: &str| Stages::parse(text).map_err(|error| error.to_string())),
        )
        .arg(
            option(
                "duration",
                Some('d'),
                "TIME",
                "How long: 10s, 250ms, 5m (10s if nothing else ends the run)",
            )
            .value_parser(duration),
        )
        .arg(option("calls", Some('n'), "N", "How many calls").value_parser(value_parser!(u64).range(1..)))
        .arg(
            option(
                "connections",
                Some('c'),
                "N",
                "Connections at a time (50); with a rate at most so many (16384)",
            )
            .value_parser(number()),
        )
        .arg(
            option("threads", Some('t'), "N", "Loops that share the load (one for each processor)")
                .value_parser(value_parser!(u32).range(1..=1024)),
        )
        .arg(
            option("timeout", None, "TIME", "For connects, and for each call as a whole")
                .default_value("30s")
                .value_parser(units::duration),
        )
        .arg(
            switch(
                "shed",
                None,
                "With a rate: drop a call for which no connection is free, instead of letting it wait",
            )
            .requires("open"),
        )
        .arg(
            switch("no-keepalive", None, "A connection for each call")
                .conflicts_with_all(["calls-per-connection", "pipeline"]),
        )
        .arg(
            option("calls-per-connection", None, "N", "Close a connection after so many calls")
                .value_parser(number()),
        )
        .arg(
            option("pipeline", None, "N", "Calls that may be outstanding on a connection")
                .value_parser(number())
                .default_value("1"),
        )
        .arg(
            option("seed", None, "N", "Of the random arrivals and choices")
                .value_parser(value_parser!(u64))
                .default_value("42"),
        )
        .next_help_heading("Request")
        .arg(option("request", Some('X'), "METHOD", "The method (GET, or POST with a body)"))
        .arg(
            option("header", Some('H'), "LINE", "A header field, 'Name: value'; may be repeated")
                .action(ArgAction::Append),
        )
        .arg(
            option("user-agent", Some('A'), "TEXT", "The User-Agent")
                .default_value(concat!("httperf/", env!("CARGO_PKG_VERSION"))),
        )
        .arg(option("cookie", Some('b'), "TEXT", "The Cookie field"))
        .arg(option("user", Some('u'), "USER:PASSWORD", "Basic authentication"))
        .arg(
            option("data", None, "TEXT", "A body; @FILE reads it from a file")
                .conflicts_with_all(["data-binary", "json-body"]),
        )
        .arg(option("data-binary", None, "TEXT", "The same, line ends kept").conflicts_with("json-body"))
        .arg(option(
            "json-body",
            None,
            "TEXT",
            "A body of JSON, with its Content-Type; @FILE reads it from a file",
        ))
        .arg(switch("http1.0", None, "HTTP/1.0"))
        .arg(switch("http1.1", None, "HTTP/1.1, as it is anyway").conflicts_with("http1.0"))
        .next_help_heading("TLS")
        .arg(switch("insecure", Some('k'), "Do not check the server's certificate"))
        .arg(
            option("cacert", None, "FILE", "Certificates to trust, instead of the system's")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with("insecure"),
        )
        .arg(option("cert", None, "FILE", "The client's certificate").value_parser(value_parser!(PathBuf)))
        .arg(
            option("key", None, "FILE", "Its private key, if it is not in the same file")
                .value_parser(value_parser!(PathBuf))
                .requires("cert"),
        )
        .next_help_heading("Output")
        .arg(
            option("json", None, "FILE", "Write the result document, - is stdout")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(switch("classic", None, "The report of the classic tool instead of the summary"))
        .arg(switch("strict", None, "Exit with status 4 if the result is not valid"))
        .arg(switch("show-secrets", None, "Print credentials as they are instead of ***"))
        .arg(
            option("progress", None, "HOW", "What is said on stderr meanwhile")
                .value_parser(PossibleValuesParser::new(["plain", "none"]))
                .default_value("plain"),
        )
        .group(clap::ArgGroup::new("open").args(["rate", "stages"]))
}

/// curl's `-d` is a body; ours is a time.
fn duration(text: &str) -> Result<u64, String> {
    match units::duration(text) {
        Ok(0) => Err("a run of no time measures nothing".to_owned()),
        Ok(nanos) => Ok(nanos),
        Err(error) => Err(format!("{error}; -d is the duration here, did you mean --data?")),
    }
}

/// The options behind the matches. An error is a line for the user.
pub(super) fn read(matches: &ArgMatches) -> Result<Options, String> {
    let text = |name| matches.get_one::<String>(name).cloned();
    let path = |name| matches.get_one::<PathBuf>(name).cloned();
    let number = |name| matches.get_one::<u32>(name).copied();
    let body = |name: &str| -> Result<Option<Vec<u8>>, String> {
        let Some(value) = matches.get_one::<String>(name) else { return Ok(None) };
        let Some(file) = value.strip_prefix('@') else { return Ok(Some(value.clone().into_bytes())) };
        let mut bytes =
            std::fs::read(file).map_err(|error| format!("--{name}: failed to read {file}: {error}"))?;
        if name == "data" {
            // As curl does.
            bytes.retain(|byte| !matches!(byte, b'\r' | b'\n'));
        }
        Ok(Some(bytes))
    };
    let json_body = body("json-body")?;
    Ok(Options {
        urls: matches.get_many::<String>("url").into_iter().flatten().cloned().collect(),
        rate: matches.get_one("rate").copied(),
        stages: matches.get_one::<Stages>("stages").cloned(),
        process: match text("arrivals").as_deref() {
            Some("constant") => Process::Constant,
            Some("uniform") => Process::Uniform,
            _ => Process::Poisson,
        },
        duration: matches.get_one("duration").copied(),
        calls: matches.get_one("calls").copied(),
        connections: number("connections"),
        threads: number("threads"),
        timeout: matches.get_one("timeout").copied().unwrap_or_default(),
        shed: matches.get_flag("shed"),
        calls_per_connection: if matches.get_flag("no-keepalive") {
            Some(1)
        } else {
            number("calls-per-connection")
        },
        pipeline: number("pipeline").unwrap_or(1),
        seed: matches.get_one("seed").copied().unwrap_or_default(),
        method: text("request"),
        headers: matches.get_many::<String>("header").into_iter().flatten().cloned().collect(),
        user_agent: text("user-agent").unwrap_or_default(),
        cookie: text("cookie"),
        user: text("user"),
        data: body("data")?.or(body("data-binary")?).or(json_body.clone()),
        json_body: json_body.is_some(),
        http_1_0: matches.get_flag("http1.0"),
        insecure: matches.get_flag("insecure"),
        cacert: path("cacert"),
        cert: path("cert"),
        key: path("key"),
        json: path("json"),
        classic: matches.get_flag("classic"),
        strict: matches.get_flag("strict"),
        show_secrets: matches.get_flag("show-secrets"),
        progress: match text("progress").as_deref() {
            Some("none") => Progress::None,
            _ => Progress::Plain,
        },
    })
}
