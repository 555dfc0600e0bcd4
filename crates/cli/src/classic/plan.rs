//! From the options of the classic tool to the plan of a run.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::Arc;

use httperf::engine::{Nanos, Scenario, Secure, Share, SocketOptions, Source, Ticks};
use httperf::load::{
    Cookies, LogBurst, LogSession, Mix, MixLimit, Period, Room, SessionLog, WmixSpec, WsesspageSpec,
};
use httperf::report::RunInfo;
use httperf::stat::{Parts, Printed};
use httperf::wire::{Request, RequestSpec, Rules, Version};
use httperf::{
    Collect, ConnRatePlan, PacePlan, Plan, ScriptPlan, SessionsPlan, Tell, UrisPlan, WorkloadPlan,
};

use super::{Judge, sources};
use crate::personality::httperf::options::{Arrival, Buffer, Options, Print};
use crate::redact::{redact_argv, redact_uri};

/// The User-Agent: its length is part of the request size.
const USER_AGENT: &[u8] = b"httperf/0.9.0";
/// Seconds between samples.
const SAMPLE_S: f64 = 5.0;
/// What the original has room for.
const CONNECTIONS_MAX: u32 = 4;
const PIPED_MAX: u32 = 32;

/// What was made of the command line on the way.
pub(super) struct Asked<'a> {
    pub(super) argv: &'a [OsString],
    pub(super) mode: &'static str,
    pub(super) judge: Judge,
    /// By name, and their addresses.
    pub(super) servers: Vec<Vec<u8>>,
    pub(super) targets: Vec<SocketAddr>,
    pub(super) secure: Option<Secure>,
    pub(super) uris: UrisPlan,
    /// What `--wmix` says.
    pub(super) mix: Option<Arc<Mix>>,
    /// The bytes of `--add-header-file`.
    pub(super) header_file: Vec<u8>,
}

/// What a plan came to, and notes for the user; or a message.
type Planned = Result<(Plan, Vec<String>), Vec<u8>>;

/// The plan. `with_document`: everything is kept.
pub(super) fn plan(options: &Options, asked: Asked<'_>, with_document: bool) -> Planned {
    let mut requests = Requests { options, asked: &asked, rendered: Vec::new() };
    let (workload, notes) = workload(options, &asked, &mut requests)?;
    let requests: Arc<[Request]> = requests.rendered.into();
    let sessions = matches!(workload, WorkloadPlan::Sessions(_));
    let has_body = requests.iter().any(|request| !request.body().is_empty());
    let printed = printed(options);
    let mut wants = printed.wants();
    wants.header |= options.session_cookies || options.wsesspage.is_some();
    wants.body |= options.wsesspage.is_some();
    let buffer = |buffer: Buffer| buffer.given.then_some(buffer.bytes.max(0) as usize);
    let info = info(options, &asked, &workload);
    let scenario = Scenario {
        targets: asked.targets,
        requests,
        deadlines: httperf::limits_of_the_classic_tool(options.timeout, options.think_timeout),
        socket: SocketOptions {
            send_buffer: buffer(options.send_buffer),
            recv_buffer: buffer(options.recv_buffer),
            no_delay: sessions || has_body || options.burst_length.min(options.num_calls) > 1,
            reset: options.close_with_reset,
            source: Source { addresses: options.myaddr.clone(), hog: options.hog },
        },
        secure: asked.secure,
        rules: Rules { classic_strict: options.classic_strict },
        wants,
        ticks: Some(ticks(options)),
        limit: options.runtime.map(|seconds| (seconds * 1e9) as Nanos),
        share: Share::WHOLE,
    };
    let full = with_document || options.strict || asked.judge == Judge::Schedule;
    let tell = Tell {
        delays: options.verbose > 2,
        uris: options.verbose > 0,
        pages: options.verbose > 1,
        printed,
        periods: options.periodic_stats,
        trace: options.debug > 0,
    };
    let collect = if full { Collect::Full } else { Collect::Classic };
    Ok((Plan { info, scenario, workload, threads: options.threads, collect, tell }, notes))
}

/// The requests of a plan: each in one rendering a target, one behind the other, because of the Host header.
struct Requests<'a> {
    options: &'a Options,
    asked: &'a Asked<'a>,
    rendered: Vec<Request>,
}

impl Requests<'_> {
    /// Adds a request; the number of the first of its renderings. `fields` are behind all others; the one
    /// that says how long the body is must be among them.
    fn add(&mut self, method: &[u8], uri: &[u8], fields: &[u8], body: &[u8]) -> u32 {
        let Self { options, asked, rendered } = self;
        let number = rendered.len() as u32;
        let fields = [&options.extra_header, &*asked.header_file, fields].concat();
        for server in &asked.servers {
            rendered.push(Request::render(&RequestSpec {
                method: method.to_vec(),
                uri: uri.to_vec(),
                version: if options.http_version == (1, 0) { Version::Http10 } else { Version::Http11 },
                user_agent: USER_AGENT.to_vec(),
                host: (!options.no_host_hdr).then(|| sources::host(options, server)),
                fields: fields.clone(),
                body: body.to_vec(),
            }));
        }
        number
    }
}

/// What happens when, with the requests it needs.
fn workload(
    options: &Options,
    asked: &Asked<'_>,
    requests: &mut Requests<'_>,
) -> Result<(WorkloadPlan, Vec<String>), Vec<u8>> {
    let method = options.method.clone().unwrap_or_default();
    let mut notes = Vec::new();
    let mut until = None;
    let (pace, script) = if let Some(mix) = &asked.mix {
        let total = match mix.limit() {
            MixLimit::Count(count) => count,
            MixLimit::Duration(end) => {
                until = Some(end);
                u64::MAX
            }
        };
        let pace = PacePlan { period: Some(mix.period().clone()), ..pace(options, total) };
        (pace, sessions_of_mix(options, mix, requests))
    } else if let Some(wsess) = options.wsess {
        requests.add(&method, &options.uri, b"", b"");
        let script = ScriptPlan::Wsess {
            calls: wsess.calls,
            burst: options.burst_length,
            think: nanos(wsess.think),
            uris: asked.uris.clone(),
        };
        (pace(options, wsess.sessions.into()), script)
    } else if let Some(wsesslog) = &options.wsesslog {
        let log = sources::session_log(&wsesslog.file);
        let log = log.map_err(|text| options.message(text.as_bytes()))?;
        let script = sessions_of_log(&log, wsesslog.think, requests);
        notes = log.notes;
        (pace(options, wsesslog.sessions.into()), script)
    } else if let Some(page) = options.wsesspage {
        if !options.uri.starts_with(b"/") {
            return Err(options.message(b"URI specified with --uri must be absolute"));
        }
        requests.add(&method, &options.uri, b"", b"");
        let script = ScriptPlan::Wsesspage(WsesspageSpec {
            pages: page.calls,
            think: nanos(page.think),
            request: httperf::engine::RequestId(0),
            uri: options.uri.clone(),
            server: options.server.clone(),
            tls: options.ssl.on,
        });
        (pace(options, page.sessions.into()), script)
    } else {
        requests.add(&method, &options.uri, b"", b"");
        // With a time limit alone the time decides how many connections there are.
        let endless = options.runtime.is_some() && !options.given.contains(&"num-conns");
        let total = if endless { u64::MAX } else { u64::from(options.num_conns) };
        return Ok((
            WorkloadPlan::ConnRate(ConnRatePlan {
                pace: pace(options, total),
                calls: options.num_calls,
                burst: options.burst_length,
                uris: asked.uris.clone(),
            }),
            notes,
        ));
    };
    if options.max_connections > CONNECTIONS_MAX {
        let text = format!("--max-conns must be <= {CONNECTIONS_MAX}");
        return Err(options.message_of("session_init", text.as_bytes()));
    }
    if options.max_piped_calls > PIPED_MAX {
        let text = format!("--max-piped-calls must be <= {PIPED_MAX}");
        return Err(options.message_of("session_init", text.as_bytes()));
    }
    let http_1_0 = options.http_version == (1, 0);
    let sessions = SessionsPlan {
        pace,
        until,
        room: Room::classic(options.max_connections, options.max_piped_calls, http_1_0),
        one_reply: http_1_0,
        failure_status: options.failure_status.and_then(|status| u16::try_from(status).ok()),
        retry: options.retry_on_failure,
        cookies: options
            .session_cookies
            .then(|| if options.cookie_jar { Cookies::jar() } else { Cookies::last() }),
        script,
    };
    Ok((WorkloadPlan::Sessions(sessions), notes))
}

/// The sessions of a file, with their requests.
fn sessions_of_log(log: &SessionLog, think_s: f64, requests: &mut Requests<'_>) -> ScriptPlan {
    let mut sessions = Vec::with_capacity(log.templates.len());
    for template in &log.templates {
        let bursts = template.bursts.iter().map(|burst| LogBurst {
            calls: burst
                .calls
                .iter()
                .map(|call| {
                    let length = match call.body.len() {
                        0 => String::new(),
                        // The small l is the original's.
                        length => format!("Content-length: {length}\r\n"),
                    };
                    let fields = [&call.fields, length.as_bytes()].concat();
                    requests.add(&call.method, &call.uri, &fields, &call.body)
                })
                .map(httperf::engine::RequestId)
                .collect(),
            think: nanos(burst.think.unwrap_or(think_s)),
        });
        sessions.push(LogSession { bursts: bursts.collect() });
    }
    ScriptPlan::Wsesslog(sessions.into())
}

/// The sessions of a mix, with a request for each class.
fn sessions_of_mix(options: &Options, mix: &Arc<Mix>, requests: &mut Requests<'_>) -> ScriptPlan {
    let classes = mix.classes().iter();
    let requests = classes
        .map(|class| requests.add(class.method.as_bytes(), &options.uri, &class.fields, &class.body))
        .map(httperf::engine::RequestId)
        .collect();
    ScriptPlan::Wmix(WmixSpec { mix: mix.clone(), seed: options.client.id.into(), requests })
}

fn nanos(seconds: f64) -> Nanos {
    (seconds.max(0.0) * 1e9) as Nanos
}

fn printed(options: &Options) -> Printed {
    let parts = |print| match print {
        Print::Off => None,
        Print::Both => Some(Parts { header: true, body: true }),
        Print::Header => Some(Parts { header: true, body: false }),
        Print::Body => Some(Parts { header: false, body: true }),
    };
    Printed { request: parts(options.print_request), reply: parts(options.print_reply) }
}

fn pace(options: &Options, total: u64) -> PacePlan {
    PacePlan {
        total,
        period: period(options),
        concurrency: options.concurrency.unwrap_or(1),
        client: options.client.id,
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

/// What the results say of the request.
fn info(options: &Options, asked: &Asked<'_>, workload: &WorkloadPlan) -> RunInfo {
    let pace = workload.pace();
    let (arrivals, mean_s) = match pace.and_then(|pace| pace.period.as_ref()) {
        None => ("completion", None),
        Some(Period::Constant(period)) => ("constant", Some(*period)),
        Some(Period::Uniform { min, max }) => ("uniform", Some((min + max) / 2.0)),
        Some(Period::Exponential(mean)) => ("poisson", Some(*mean)),
        Some(Period::Variable(pairs)) => {
            let counts = || pairs.iter().map(|(period, length)| (period, (length / period).ceil()));
            let (time, count) =
                counts().fold((0.0, 0.0), |(time, sum), (period, n)| (time + period * n, sum + n));
            ("stages", Some(time / count))
        }
    };
    let uri = if options.show_secrets { options.uri.clone() } else { redact_uri(&options.uri) };
    let scheme = if options.ssl.on { "https" } else { "http" };
    let url = |server: &Vec<u8>| {
        let host = sources::host(options, server);
        let [host, uri] = [&*host, &*uri].map(String::from_utf8_lossy);
        format!("{scheme}://{host}:{}{uri}", options.server_port())
    };
    RunInfo {
        mode: asked.mode,
        argv: if options.show_secrets {
            asked.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
        } else {
            redact_argv(asked.argv)
        },
        urls: asked.servers.iter().map(url).collect(),
        addresses: asked.targets.clone(),
        verified: options.ssl.on.then_some(options.ssl.verify),
        model: match workload {
            WorkloadPlan::Sessions(_) => "sessions",
            _ if arrivals == "completion" => "closed",
            _ => "open",
        },
        arrivals,
        rate_per_s: mean_s.filter(|mean| *mean > 0.0).map(|mean| 1.0 / mean),
        concurrency: pace.filter(|pace| pace.period.is_none()).map(|pace| pace.concurrency),
        seed: u64::from(options.client.id),
        threads: options.threads,
    }
}
