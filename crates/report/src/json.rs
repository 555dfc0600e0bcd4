//! The result document: everything a run learned, for programs (schema `httperf.result/1`).
//!
//! Keys come in a fixed order and carry their unit. What is not known is `null`, never 0.

mod format;
mod interval;
mod latency;
mod quality;
mod session;
mod tls;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use httperf_analysis::{Estimate, Figures, Percentile, percentile};
use httperf_stat::{BasicSummary, Measure};
use serde::Serialize;

use crate::Results;
use crate::verdict::{broken, verdict};

/// The document, ready to be written to a file.
pub fn json(results: &Results) -> Vec<u8> {
    format::pretty(&Document::of(results))
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tool: Tool,
    run: Run<'a>,
    host: Host<'a>,
    target: Target<'a>,
    load: Load,
    accounting: Accounting,
    status: &'a BTreeMap<u16, u64>,
    bytes: Bytes,
    errors: Errors,
    rate: Rate,
    latency: Option<latency::Latency>,
    steady: Unknown,
    generator: Generator<'a>,
    verdict: Judgement,
    thresholds: [Unknown; 0],
    intervals: Option<interval::Columns>,
    targets: [Unknown; 0],
    agents: [Unknown; 0],
    sessions: Option<session::Sessions>,
    quality: Option<quality::Graded<'a>>,
    classic: Figures,
    notes: Notes,
}

/// What is not measured yet, or is not there to be measured: `null`.
type Unknown = Option<()>;

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
    commit: Option<&'static str>,
}

#[derive(Serialize)]
struct Run<'a> {
    id: String,
    mode: &'a str,
    argv: &'a [String],
    started_at: &'a str,
    duration_s: f64,
    stopped_by: &'static str,
    seed: u64,
    threads: u32,
    share: [u32; 2],
}

#[derive(Serialize)]
struct Host<'a> {
    os: &'a str,
    kernel: &'a str,
    cpus: Option<u64>,
    memory_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Target<'a> {
    urls: &'a [String],
    addresses: Vec<String>,
    protocol: &'static str,
    /// `null` where no TLS is spoken.
    tls: Option<tls::Tls>,
}

#[derive(Serialize)]
struct Load {
    model: &'static str,
    arrivals: &'static str,
    rate_per_s: Option<f64>,
    concurrency: Option<u32>,
}

#[derive(Serialize)]
struct Accounting {
    arrivals: Arrivals,
    connections: Connections,
    calls: Calls,
    sessions: Option<session::Accounted>,
    conserved: bool,
}

#[derive(Serialize)]
struct Arrivals {
    scheduled: u64,
    started: u64,
    shed: u64,
    not_started: u64,
}

#[derive(Serialize)]
struct Connections {
    attempted: u64,
    established: u64,
    failed: Causes,
    aborted_at_stop: u64,
}

#[derive(Serialize)]
struct Calls {
    sent: u64,
    replies: u64,
    failed: Causes,
    aborted_at_stop: u64,
}

/// Counts by cause; only causes that occurred.
type Causes = BTreeMap<&'static str, u64>;

#[derive(Serialize)]
struct Bytes {
    sent: u64,
    received: u64,
    header: u64,
    content: u64,
    footer: u64,
}

#[derive(Serialize)]
struct Errors {
    total: u64,
    client_timo: u64,
    socket_timo: u64,
    connrefused: u64,
    connreset: u64,
    fd_unavail: u64,
    addrunavail: u64,
    ftab_full: u64,
    other: u64,
    classes: Causes,
}

#[derive(Serialize)]
struct Rate {
    offered_per_s: Option<f64>,
    sent_per_s: Option<f64>,
    replies_per_s: Option<f64>,
    goodput_per_s: Option<f64>,
    ci95: Unknown,
}

#[derive(Serialize)]
struct Generator<'a> {
    busy_share: &'a [f64],
    lag_p99_s: Option<f64>,
    lag_max_s: Option<f64>,
    cpu_user_s: f64,
    cpu_system_s: f64,
    steal_share: Unknown,
    run_queue_wait_s: Unknown,
    retransmits: Unknown,
    throttled_s: Unknown,
    ports: Ports,
    descriptors: Descriptors,
}

#[derive(Serialize)]
struct Ports {
    used: Unknown,
    available: Unknown,
}

#[derive(Serialize)]
struct Descriptors {
    used: Unknown,
    limit: u64,
}

#[derive(Serialize)]
struct Judgement {
    status: &'static str,
    reasons: Vec<String>,
}

/// Oddities that are no errors.
#[derive(Serialize)]
struct Notes {
    informational: u64,
    length_and_chunked: u64,
    unknown_coding: u64,
    /// TLS connections that ended between replies without close_notify.
    no_close_notify: u64,
    /// Slices of a loop that could not be told apart.
    late_interval_blocks: u64,
}

impl<'a> Document<'a> {
    fn of(results: &'a Results) -> Self {
        let Results { request, basic, timeline, host, sessions, .. } = results;
        let timeline = timeline.as_ref();
        let figures = results.figures();
        let broken = broken(results);
        let verdict = verdict(results);
        Document {
            schema: "httperf.result/1",
            tool: Tool {
                name: "httperf",
                version: env!("CARGO_PKG_VERSION"),
                commit: option_env!("HTTPERF_COMMIT"),
            },
            run: Run {
                id: id(results),
                mode: request.mode,
                argv: &request.argv,
                started_at: &results.started_at,
                duration_s: basic.duration_s(),
                stopped_by: results.stopped_by.key(),
                seed: request.seed,
                threads: request.threads,
                share: [0, 1],
            },
            host: Host {
                os: &host.os,
                kernel: &host.kernel,
                cpus: host.cpus,
                memory_bytes: host.memory_bytes,
            },
            target: Target {
                urls: &request.urls,
                addresses: request.addresses.iter().map(ToString::to_string).collect(),
                protocol: "http/1.1",
                tls: request.verified.map(|verified| tls::Tls::of(basic, verified)),
            },
            load: Load {
                model: request.model,
                arrivals: request.arrivals,
                rate_per_s: request.rate_per_s,
                concurrency: request.concurrency,
            },
            accounting: Accounting {
                sessions: sessions.as_ref().map(session::Accounted::of),
                ..Accounting::of(basic, broken.is_empty())
            },
            status: &basic.statuses,
            bytes: Bytes {
                sent: basic.traffic.sent,
                received: basic.traffic.received,
                header: basic.header_bytes,
                content: basic.content_bytes,
                footer: basic.footer_bytes,
            },
            errors: Errors::of(basic, &figures),
            rate: Rate::of(basic),
            latency: timeline
                .map(|timeline| latency::Latency::of(timeline, basic, request.verified.is_some())),
            steady: None,
            generator: Generator::of(results),
            verdict: Judgement { status: verdict.status.key(), reasons: verdict.reasons },
            thresholds: [],
            intervals: timeline.map(|timeline| interval::Columns::of(timeline, basic)),
            targets: [],
            agents: [],
            sessions: sessions.as_ref().map(|sessions| session::Sessions::of(sessions, basic.duration_s())),
            quality: results.quality.as_ref().map(quality::Graded::of),
            classic: figures,
            notes: Notes {
                informational: basic.interim,
                length_and_chunked: basic.length_and_chunked,
                unknown_coding: basic.unknown_coding,
                no_close_notify: basic.no_close_notify,
                late_interval_blocks: timeline.map_or(0, httperf_stat::Timeline::late_blocks),
            },
        }
    }
}

impl Accounting {
    fn of(basic: &BasicSummary, conserved: bool) -> Self {
        Accounting {
            arrivals: Arrivals {
                scheduled: basic.arrivals + basic.arrivals_not_started,
                started: basic.arrivals - basic.arrivals_shed - basic.arrivals_waiting,
                shed: basic.arrivals_shed,
                not_started: basic.never_begun(),
            },
            connections: Connections {
                attempted: basic.connections,
                established: basic.established,
                failed: basic.connects_failed.iter().map(|(cause, count)| (cause.key(), *count)).collect(),
                aborted_at_stop: basic.connects_aborted,
            },
            calls: Calls {
                sent: basic.calls,
                replies: basic.replies(),
                failed: basic.calls_failed.iter().map(|(cause, count)| (cause.key(), *count)).collect(),
                aborted_at_stop: basic.calls_aborted,
            },
            sessions: None,
            conserved,
        }
    }
}

impl Errors {
    fn of(basic: &BasicSummary, figures: &Figures) -> Self {
        Errors {
            total: figures.errors_total,
            client_timo: figures.errors_client_timo,
            socket_timo: figures.errors_socket_timo,
            connrefused: figures.errors_connrefused,
            connreset: figures.errors_connreset,
            fd_unavail: figures.errors_fd_unavail,
            addrunavail: figures.errors_addrunavail,
            ftab_full: figures.errors_ftab_full,
            other: figures.errors_other,
            classes: basic.errors.iter().map(|(cause, count)| (cause.key(), *count)).collect(),
        }
    }
}

impl Rate {
    fn of(basic: &BasicSummary) -> Self {
        let duration_s = basic.duration_s();
        let per_s = |count: u64| (duration_s > 0.0).then(|| count as f64 / duration_s);
        Rate {
            offered_per_s: per_s(basic.arrivals + basic.arrivals_not_started),
            sent_per_s: per_s(basic.calls),
            replies_per_s: per_s(basic.replies()),
            goodput_per_s: per_s(basic.replies_in_class(2) + basic.replies_in_class(3)),
            ci95: None,
        }
    }
}

impl<'a> Generator<'a> {
    fn of(results: &'a Results) -> Self {
        let lag = results.timeline.as_ref().map(|timeline| timeline.whole(Measure::GeneratorLag));
        let lag_p99 = lag.map_or(Estimate::Unknown, |lag| percentile(&lag, Percentile::P99));
        let lags = &results.basic.generator_lag_s;
        Generator {
            busy_share: &results.busy_shares,
            lag_p99_s: lag_p99.value_s(),
            lag_max_s: (lags.count > 0).then_some(lags.max),
            cpu_user_s: results.cpu.user_s,
            cpu_system_s: results.cpu.system_s,
            steal_share: None,
            run_queue_wait_s: None,
            retransmits: None,
            throttled_s: None,
            ports: Ports { used: None, available: None },
            descriptors: Descriptors { used: None, limit: results.descriptors_limit },
        }
    }
}

/// A name for this run that others hardly have: from when it began, by the day and by the
/// machine's clock, and from what it did.
fn id(results: &Results) -> String {
    let mut hasher = DefaultHasher::new();
    let Results { started_at, request, basic, host, .. } = results;
    (started_at, &request.argv, &host.kernel).hash(&mut hasher);
    (basic.started, basic.ended, basic.calls).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests;
