//! The classic tool from its command line to its exit status.

mod secure;

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use httperf::engine::{Nanos, Scenario, Secure, Share, SocketOptions, Source, Ticks, Wants};
use httperf::load::Period;
use httperf::report::{Results, RunInfo, StoppedBy};
use httperf::wire::{Request, RequestSpec, Rules, Version};
use httperf::{Collect, ConnRatePlan, Notice, Plan, Signals};
use signal_hook::consts::SIGINT;

use crate::alarm;
use crate::output::{Document, Output};
use crate::personality::Exit;
use crate::personality::httperf::options::{Arrival, Options};
use crate::personality::httperf::{echo::echo, not_yet, parse, version_error};
use crate::redact::{redact_argv, redact_uri};

/// The User-Agent: its length is part of the request size.
const USER_AGENT: &[u8] = b"httperf/0.9.0";
/// Seconds between samples.
const SAMPLE_S: f64 = 5.0;

/// What is said beyond the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// Nothing: wrappers parse it.
    Nothing,
    /// Whether the client kept its schedule.
    Schedule,
}

/// The classic tool.
pub(crate) fn main(argv: &[OsString], output: &mut Output) -> u8 {
    run(argv, "httperf", Judge::Nothing, output)
}

/// Runs a classic command line; the results say they are of `mode`.
pub(crate) fn run(argv: &[OsString], mode: &'static str, judge: Judge, output: &mut Output) -> u8 {
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            output.diagnostic(format!("httperf: failed to listen for signals: {error}\n"));
            return 1;
        }
    };
    match prepare(argv, mode, judge, &signals, output) {
        Ok((options, plan, document)) => load(&options, &plan, document, judge, &signals, output),
        Err(exit) => {
            output.text(exit.stdout);
            output.diagnostic(exit.stderr);
            exit.status as u8
        }
    }
}

/// Everything before the first packet.
fn prepare(
    argv: &[OsString],
    mode: &'static str,
    judge: Judge,
    signals: &Signals,
    output: &mut Output,
) -> Result<(Options, Plan, Option<Document>), Exit> {
    let parsed = parse(argv)?;
    let options = parsed.options;
    let fail = |stderr| Err(Exit { status: 1, stdout: Vec::new(), stderr });
    if let Some(message) = not_yet(&options) {
        return fail(message);
    }
    let secure = match secure::secure(&options, std::slice::from_ref(&options.server)) {
        Ok(secure) => secure,
        Err(text) => return fail(options.message(text.as_bytes())),
    };
    let document = match options.json.as_deref().map(Document::create).transpose() {
        Ok(document) => document,
        Err(error) => return fail(options.message(format!("{error:#}").as_bytes())),
    };
    if let Some(partial) = document.as_ref().and_then(Document::partial) {
        signals.remove_at_end(partial.to_owned());
    }
    if document.as_ref().is_some_and(Document::is_stdout) {
        output.leave_stdout();
    }
    output.text(parsed.stdout);
    output.text(echo(&options));
    let descriptors = httperf::raise_descriptor_limit();
    if options.verbose > 0 {
        let text = format!("maximum number of open descriptors = {descriptors}");
        output.text(options.message(text.as_bytes()));
    }
    let Some(target) = resolve(&options) else {
        let mut message = options.program.clone();
        message.extend_from_slice(b".core_addr_intern: invalid server address ");
        message.extend_from_slice(&options.server);
        message.push(b'\n');
        return fail(message);
    };
    output.diagnostic(parsed.warnings);
    if let Some(message) = version_error(&options) {
        return fail(message);
    }
    let collect =
        if document.is_some() || judge == Judge::Schedule { Collect::Full } else { Collect::Classic };
    let plan = plan(&options, target, secure, argv, mode, collect);
    Ok((options, plan, document))
}

/// The run itself, and what is said of it.
fn load(
    options: &Options,
    plan: &Plan,
    document: Option<Document>,
    judge: Judge,
    signals: &Signals,
    output: &mut Output,
) -> u8 {
    let results = httperf::run(plan, signals, |notice| tell(options, notice, output));
    let results = match results {
        Ok(results) => results,
        Err(error) => {
            output.diagnostic(options.message(error.to_string().as_bytes()));
            return 1;
        }
    };
    output.text(httperf::report::classic(&results, options.verbose > 1));
    if judge == Judge::Schedule {
        output.text(format!("\n{}\n", httperf::report::schedule(&results)));
    }
    if let Some(document) = document
        && let Err(error) = document.write(&httperf::report::json(&results), output)
    {
        output.diagnostic(options.message(format!("{error:#}").as_bytes()));
        return 1;
    }
    status(&results, signals)
}

/// A signal counts also when it came after the end of the run, while the report was written.
fn status(results: &Results, signals: &Signals) -> u8 {
    match signals.first() {
        _ if results.stopped_by == StoppedBy::Error => 101,
        0 => 0,
        SIGINT if signals.repeated() => 128 + SIGINT as u8,
        SIGINT => 0,
        signal => {
            httperf::die_by(signal);
            (128 + signal) as u8
        }
    }
}

/// What is said while the run goes on.
fn tell(options: &Options, notice: Notice, output: &mut Output) {
    match notice {
        Notice::ReplyRate(rate) if options.verbose > 0 => {
            output.text(format!("reply-rate = {:<8}\n", format!("{rate:.1}")));
        }
        Notice::ReplyRate(_) => {}
        Notice::Delay(delay) => output.diagnostic(format!("next arrival delay = {delay:.4}\n")),
        Notice::Alarm(what) => output.diagnostic(options.message(alarm::line(&what).as_bytes())),
    }
}

/// The address of the server: the first of IPv4, else the first of IPv6. A literal may stand in brackets.
fn resolve(options: &Options) -> Option<SocketAddr> {
    let port = options.server_port();
    let name = std::str::from_utf8(&options.server).ok()?;
    let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = literal.parse::<IpAddr>() {
        return Some(SocketAddr::new(address, port));
    }
    let addresses: Vec<_> = (name, port).to_socket_addrs().ok()?.collect();
    addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()).copied()
}

/// The text of the Host header: the name as it was given, a bare IPv6 address in brackets, never the port.
fn host(options: &Options) -> Vec<u8> {
    if let Some(name) = &options.server_name {
        return name.clone();
    }
    let is_ipv6 =
        std::str::from_utf8(&options.server).is_ok_and(|name| name.parse::<std::net::Ipv6Addr>().is_ok());
    if is_ipv6 { [b"[", options.server.as_slice(), b"]"].concat() } else { options.server.clone() }
}

fn plan(
    options: &Options,
    target: SocketAddr,
    secure: Option<Secure>,
    argv: &[OsString],
    mode: &'static str,
    collect: Collect,
) -> Plan {
    let request = Request::render(&RequestSpec {
        method: options.method.clone().unwrap_or_default(),
        uri: options.uri.clone(),
        version: if options.http_version == (1, 0) { Version::Http10 } else { Version::Http11 },
        user_agent: USER_AGENT.to_vec(),
        host: (!options.no_host_hdr).then(|| host(options)),
        fields: options.extra_header.clone(),
        body: Vec::new(),
    });
    let buffer = |buffer: crate::personality::httperf::options::Buffer| {
        buffer.given.then_some(buffer.bytes.max(0) as usize)
    };
    let scenario = Scenario {
        targets: vec![target],
        requests: vec![request].into(),
        deadlines: httperf::limits_of_the_classic_tool(options.timeout, options.think_timeout),
        socket: SocketOptions {
            send_buffer: buffer(options.send_buffer),
            recv_buffer: buffer(options.recv_buffer),
            no_delay: options.burst_length.min(options.num_calls) > 1,
            reset: options.close_with_reset,
            source: Source { addresses: options.myaddr.clone(), hog: options.hog },
        },
        secure,
        rules: Rules { classic_strict: options.classic_strict },
        wants: Wants::default(),
        ticks: Some(ticks(options)),
        limit: options.runtime.map(|seconds| (seconds * 1e9) as Nanos),
        share: Share::WHOLE,
    };
    // With a time limit alone the time decides how many connections there are.
    let endless = options.runtime.is_some() && !options.given.contains(&"num-conns");
    let workload = ConnRatePlan {
        conns: if endless { u64::MAX } else { u64::from(options.num_conns) },
        calls: options.num_calls,
        burst: options.burst_length,
        period: period(options),
        concurrency: options.concurrency.unwrap_or(1),
        client: options.client.id,
    };
    let tell_delays = options.verbose > 2;
    Plan {
        info: info(options, target, argv, mode, &workload),
        scenario,
        workload,
        threads: options.threads,
        collect,
        tell_delays,
    }
}

/// The first sample at (I + 1) * 5 / N seconds: clients take them at different times.
fn ticks(options: &Options) -> Ticks {
    let first = f64::from(options.client.id + 1) * SAMPLE_S / f64::from(options.client.of);
    Ticks { first: (first * 1e9) as Nanos, every: (SAMPLE_S * 1e9) as Nanos }
}

fn period(options: &Options) -> Option<Period> {
    Some(match &options.arrival {
        Arrival::Sequential => return None,
        Arrival::Deterministic { period } => Period::Constant(*period),
        Arrival::Uniform { min, max } => Period::Uniform { min: *min, max: *max },
        Arrival::Exponential { mean } => Period::Exponential(*mean),
        Arrival::Variable(pairs) => Period::Variable(pairs.clone()),
    })
}

fn info(
    options: &Options,
    target: SocketAddr,
    argv: &[OsString],
    mode: &'static str,
    workload: &ConnRatePlan,
) -> RunInfo {
    let (arrivals, mean_s) = match &options.arrival {
        Arrival::Sequential => ("completion", None),
        Arrival::Deterministic { period } => ("constant", Some(*period)),
        Arrival::Uniform { min, max } => ("uniform", Some((min + max) / 2.0)),
        Arrival::Exponential { mean } => ("poisson", Some(*mean)),
        Arrival::Variable(pairs) => {
            let counts = || pairs.iter().map(|(period, length)| (period, (length / period).ceil()));
            let (time, count) =
                counts().fold((0.0, 0.0), |(time, sum), (period, n)| (time + period * n, sum + n));
            ("stages", Some(time / count))
        }
    };
    let uri = if options.show_secrets { options.uri.clone() } else { redact_uri(&options.uri) };
    let host = host(options);
    RunInfo {
        mode,
        argv: if options.show_secrets {
            argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
        } else {
            redact_argv(argv)
        },
        urls: vec![format!(
            "{}://{}:{}{}",
            if options.ssl.on { "https" } else { "http" },
            String::from_utf8_lossy(&host),
            target.port(),
            String::from_utf8_lossy(&uri)
        )],
        addresses: vec![target],
        model: if workload.period.is_some() { "open" } else { "closed" },
        arrivals,
        rate_per_s: mean_s.filter(|mean| *mean > 0.0).map(|mean| 1.0 / mean),
        concurrency: workload.period.is_none().then_some(workload.concurrency),
        seed: u64::from(options.client.id),
        threads: options.threads,
    }
}
