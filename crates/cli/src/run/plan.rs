//! From the options of `httperf run` to the plan of a run.

use std::ffi::OsString;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use httperf::engine::{Deadlines, RequestId, Scenario, Secure, Share, SocketOptions, Ticks, Wants};
use httperf::load::{Choice, Pool, Stages};
use httperf::report::RunInfo;
use httperf::wire::{Identity, Request, RequestSpec, Rules, TlsClient, TlsSpec, Verify, Version};
use httperf::{Collect, DemandPlan, Plan, PoolPlan, Tell, WorkloadPlan};

use super::options::{Options, Progress};
use super::target::Url;
use crate::redact::redact_run_argv;
use crate::secure::{read, roots};

/// Connections of a closed loop, and seconds of a run that nothing else ends.
const CONNECTIONS: u32 = 50;
const SECONDS: u64 = 10;
/// Nanoseconds between two lines of progress.
const TICK: u64 = 5_000_000_000;

/// The plan. An error is a line for the user.
pub(super) fn plan(argv: &[OsString], options: &Options) -> Result<Plan, String> {
    let urls = options.urls.iter().map(|url| Url::parse(url)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = urls.first() else { return Err("there is no URL".to_owned()) };
    if let Some(other) =
        urls.iter().find(|url| (url.tls, &url.host, url.port) != (first.tls, &first.host, first.port))
    {
        return Err(format!(
            "{} and {} are different servers, and one run loads one server; URLs may differ in their paths",
            first.shown(),
            other.shown()
        ));
    }
    let targets = first.addresses()?;
    let open = options.rate.is_some() || options.stages.is_some();
    let stages = options.stages.clone().or(options.rate.map(Stages::constant));
    let duration = options.duration.or(match (&options.stages, options.calls) {
        (Some(stages), _) => Some(stages.lasts()),
        (None, Some(_)) => None,
        (None, None) => Some(SECONDS * 1_000_000_000),
    });
    let connections = options.connections.unwrap_or(if open { Pool::CONNECTIONS_MAX } else { CONNECTIONS });
    let processors = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let threads = options.threads.unwrap_or(processors).min(connections);
    let requests = requests(options, &urls)?;
    let has_body = requests.iter().any(|request| !request.body().is_empty());
    let weights: Vec<_> = (0..requests.len() as u32).map(|number| (RequestId(number), 1)).collect();
    let demand = match &stages {
        Some(stages) => DemandPlan::Open {
            stages: stages.clone(),
            process: options.process,
            total: options.calls,
            seed: options.seed,
            shed: options.shed,
        },
        None => DemandPlan::Closed { calls: options.calls },
    };
    let workload = PoolPlan {
        demand,
        connections,
        pipeline: options.pipeline,
        calls_per_connection: options.calls_per_connection,
        choice: Choice::new(&weights, options.seed),
    };
    let info = RunInfo {
        mode: "run",
        argv: if options.show_secrets {
            argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
        } else {
            redact_run_argv(argv)
        },
        urls: urls.iter().map(Url::shown).collect(),
        addresses: targets.clone(),
        model: if open { "open" } else { "closed" },
        arrivals: match (&options.stages, open) {
            (Some(_), _) => "stages",
            (None, true) => match options.process {
                httperf::load::Process::Constant => "constant",
                httperf::load::Process::Poisson => "poisson",
                httperf::load::Process::Uniform => "uniform",
            },
            (None, false) => "completion",
        },
        rate_per_s: options.rate,
        concurrency: (!open).then_some(connections),
        seed: options.seed,
        threads,
        verified: first.tls.then_some(!options.insecure),
    };
    let scenario = Scenario {
        targets,
        requests: requests.into(),
        deadlines: if options.timeout > 0 {
            Deadlines::per_call(options.timeout)
        } else {
            Deadlines::default()
        },
        socket: SocketOptions { no_delay: options.pipeline > 1 || has_body, ..SocketOptions::default() },
        secure: secure(options, first)?,
        rules: Rules::default(),
        wants: Wants::default(),
        ticks: Some(Ticks { first: TICK, every: TICK }),
        limit: duration,
        share: Share::WHOLE,
    };
    Ok(Plan {
        info,
        scenario,
        workload: WorkloadPlan::Pool(workload),
        threads,
        collect: Collect::Full,
        tell: Tell { periods: options.progress == Progress::Plain, ..Tell::default() },
    })
}

/// One request for each URL.
fn requests(options: &Options, urls: &[Url]) -> Result<Vec<Request>, String> {
    let mut fields = Vec::new();
    let mut field =
        |name: &str, value: &str| fields.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    let mut host = None;
    let mut has_type = false;
    for line in &options.headers {
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!("-H '{line}' has no colon; a field looks like 'Accept: text/html'"));
        };
        if line.contains(['\r', '\n']) {
            return Err("-H takes one field, without line ends".to_owned());
        }
        match name.trim().to_ascii_lowercase().as_str() {
            "host" => host = Some(value.trim().to_owned()),
            lower => {
                has_type |= lower == "content-type";
                field(name.trim(), value.trim());
            }
        }
    }
    if let Some(cookie) = &options.cookie {
        field("Cookie", cookie);
    }
    let user = options.user.as_ref().or(urls.iter().find_map(|url| url.user.as_ref()));
    if let Some(user) = user {
        field("Authorization", &format!("Basic {}", STANDARD.encode(user)));
    }
    let body = options.data.clone().unwrap_or_default();
    if options.data.is_some() {
        if !has_type {
            let form = "application/x-www-form-urlencoded";
            field("Content-Type", if options.json_body { "application/json" } else { form });
        }
        field("Content-Length", &body.len().to_string());
    }
    let usual = if options.data.is_some() { "POST" } else { "GET" };
    let method = options.method.as_deref().unwrap_or(usual);
    let render = |url: &Url| {
        Request::render(&RequestSpec {
            method: method.as_bytes().to_vec(),
            uri: url.path.clone().into_bytes(),
            version: if options.http_1_0 { Version::Http10 } else { Version::Http11 },
            user_agent: options.user_agent.clone().into_bytes(),
            host: Some(host.clone().unwrap_or_else(|| url.host_field()).into_bytes()),
            fields: fields.clone(),
            body: body.clone(),
        })
    };
    Ok(urls.iter().map(render).collect())
}

/// TLS, verified unless told otherwise.
fn secure(options: &Options, url: &Url) -> Result<Option<Secure>, String> {
    if !url.tls {
        return Ok(None);
    }
    let name = url.host.trim_start_matches('[').trim_end_matches(']');
    let mut spec = TlsSpec::new(name);
    if !options.insecure {
        spec.verify = Verify::Roots(roots("--cacert", options.cacert.as_deref(), None)?);
    }
    if let Some(cert) = &options.cert {
        let key: &Path = options.key.as_deref().unwrap_or(cert);
        spec.identity = Some(Identity { certificates: read("--cert", cert)?, key: read("--key", key)? });
    }
    spec.alpn = vec![b"http/1.1".to_vec()];
    let client = TlsClient::new(&spec).map_err(|error| format!("failed to set up TLS: {error}"))?;
    Ok(Some(Secure { clients: vec![client].into(), resume: false }))
}
