//! The result document of simulated runs.

use crate::StoppedBy;
use httperf_engine::sim::{Faults, Honest, Network, Server, Setup, Sim};
use httperf_engine::{Core, Deadlines, RequestId, Scenario, Share, Stop, Workload};
use httperf_load::{Arrivals, ConnRate, Pattern, Period};
use httperf_stat::{Basic, InPlace, Intervals};
use httperf_wire::{Request, RequestSpec};
use serde_json::Value;

use super::*;
use crate::{Cpu, Host, RunInfo};

const SECOND: u64 = 1_000_000_000;

/// A run of 200 connections at 500/s against this server.
fn run(seed: u64, server: Server, faults: Faults) -> Results {
    let stopped = faults.stop.is_some();
    let request = Request::render(&RequestSpec { uri: "/".into(), ..RequestSpec::default() });
    let deadlines = Deadlines::all(Some(2 * SECOND));
    let plain = Scenario::plain(([127, 0, 0, 1], 80).into(), request);
    let mut core = Core::new(Scenario { deadlines, ..plain });
    let mut workload = ConnRate::new(Pattern {
        conns: 200,
        calls: 2,
        burst: 1,
        arrivals: Some(Arrivals::new(&Period::Constant(0.002), 200, Share::WHOLE, 0)),
        concurrency: 1,
        targets: 1,
        request: RequestId(0),
        uris: None,
    });
    let mut driver = Sim::new(Setup { seed, network: Network::local(), server, faults, discard: false });
    let mut stats = (Basic::default(), Intervals::new(InPlace::default()));
    let outcome = httperf_engine::run(&mut core, &mut driver, &mut workload, &mut stats);
    assert!(outcome.is_ok(), "{outcome:?}");
    let timeline = stats.1.finish(&core);
    let mut basic = stats.0.into_summary();
    basic.arrivals_not_started = basic.ended.map_or(0, |ended| workload.not_started(core.began_at(), ended));
    Results {
        stopped_by: if stopped { StoppedBy::Interrupted } else { StoppedBy::Finished },
        basic,
        timeline: Some(timeline),
        busy_shares: vec![0.25],
        ..nothing()
    }
}

/// A run that did nothing.
fn nothing() -> Results {
    Results {
        request: RunInfo {
            mode: "httperf",
            argv: vec!["httperf".into(), "--add-header=Authorization: ***".into()],
            urls: vec!["http://127.0.0.1:80/".into()],
            addresses: vec![([127, 0, 0, 1], 80).into()],
            verified: None,
            model: "open",
            arrivals: "constant",
            rate_per_s: Some(500.0),
            concurrency: None,
            seed: 0,
            threads: 1,
        },
        started_at: "2024-01-01T00:00:00.000Z".into(),
        stopped_by: StoppedBy::Finished,
        basic: BasicSummary::default(),
        reply_rates: Vec::new(),
        sessions: None,
        quality: None,
        error: None,
        cookies_cut: 0,
        session_rates: Vec::new(),
        timeline: None,
        cpu: Cpu { user_s: 0.1, system_s: 0.2 },
        busy_shares: Vec::new(),
        descriptors_limit: 1024,
        host: Host { os: "Linux".into(), kernel: "6.0".into(), cpus: Some(2), memory_bytes: Some(1 << 30) },
    }
}

fn honest() -> Server {
    Server::Honest(Honest::default())
}

fn read(results: &Results) -> Value {
    let bytes = json(results);
    assert!(bytes.ends_with(b"}\n"));
    serde_json::from_slice(&bytes).expect("valid JSON")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn sum(column: &Value) -> u64 {
    column.as_array().expect("a column").iter().map(|row| row.as_u64().expect("a count")).sum()
}

#[test]
fn keys_come_in_a_fixed_order() {
    let document = read(&run(1, honest(), Faults::default()));
    let expected = "schema tool run host target load accounting status bytes errors rate latency steady generator \
                    verdict thresholds intervals targets agents sessions quality classic notes";
    assert_eq!(keys(&document).join(" "), expected);
    for (path, expected) in [
        ("/tool", "name version commit"),
        ("/run", "id mode argv started_at duration_s stopped_by seed threads share"),
        ("/host", "os kernel cpus memory_bytes"),
        ("/target", "urls addresses protocol tls"),
        ("/load", "model arrivals rate_per_s concurrency"),
        ("/accounting", "arrivals connections calls sessions conserved"),
        ("/accounting/arrivals", "scheduled started shed not_started"),
        ("/accounting/connections", "attempted established failed aborted_at_stop"),
        ("/accounting/calls", "sent replies failed aborted_at_stop"),
        ("/bytes", "sent received header content footer"),
        (
            "/errors",
            "total client_timo socket_timo connrefused connreset fd_unavail addrunavail ftab_full other classes",
        ),
        ("/rate", "offered_per_s sent_per_s replies_per_s goodput_per_s ci95"),
        ("/latency", "response service lag connect tls first_byte transfer by_status"),
        ("/latency/response", "count min_s mean_s stddev_s max_s p at_least_s ci95 censored hdr_v2"),
        ("/latency/response/p", "50 75 90 95 99 99.9 99.99"),
        (
            "/generator",
            "busy_share lag_p99_s lag_max_s cpu_user_s cpu_system_s steal_share run_queue_wait_s retransmits \
             throttled_s ports descriptors",
        ),
        ("/verdict", "status reasons"),
        (
            "/intervals",
            "width_s t_s scheduled sent replies errors in_flight bytes_received response_p50_s response_p99_s \
             response_max_s busy_share",
        ),
    ] {
        assert_eq!(keys(document.pointer(path).expect(path)).join(" "), expected, "{path}");
    }
    assert_eq!(keys(&document["classic"]).len(), 50);
    assert_eq!(keys(&document["classic"])[0], "max_connect_burst");
}

#[test]
fn an_honest_run_is_valid_and_adds_up() {
    let results = run(2, honest(), Faults::default());
    let document = read(&results);
    assert_eq!(document["verdict"], serde_json::json!({"status": "valid", "reasons": []}));
    assert_eq!(document["accounting"]["conserved"], true);
    assert_eq!(document["accounting"]["arrivals"]["scheduled"], 200);
    assert_eq!(document["load"]["rate_per_s"], 500.0);
    assert_eq!(document["latency"]["response"]["count"], document["accounting"]["calls"]["replies"]);
    let intervals = &document["intervals"];
    for (column, total) in [
        ("scheduled", &document["accounting"]["arrivals"]["scheduled"]),
        ("sent", &document["accounting"]["calls"]["sent"]),
        ("replies", &document["accounting"]["calls"]["replies"]),
        ("errors", &document["errors"]["total"]),
        ("bytes_received", &document["bytes"]["received"]),
    ] {
        assert_eq!(sum(&intervals[column]), total.as_u64().expect("a count"), "{column}");
    }
    let rows = intervals["t_s"].as_array().expect("a column").len();
    assert!(rows >= 4);
    for (name, column) in intervals.as_object().expect("an object").iter().skip(1) {
        assert_eq!(column.as_array().expect("a column").len(), rows, "{name}");
    }
    assert_eq!(intervals["t_s"][3], 0.3);
    let by_status = document["latency"]["by_status"].as_object().expect("an object");
    let counted: u64 = by_status.values().map(|times| times["count"].as_u64().expect("a count")).sum();
    assert_eq!(counted, document["accounting"]["calls"]["replies"].as_u64().expect("a count"));
    assert!(document["run"]["id"].as_str().is_some_and(|id| id.len() == 16));
}

#[test]
fn what_is_not_known_is_null() {
    let document = read(&nothing());
    for path in [
        "/rate/offered_per_s",
        "/rate/replies_per_s",
        "/latency",
        "/intervals",
        "/steady",
        "/sessions",
        "/accounting/sessions",
        "/target/tls",
        "/load/concurrency",
        "/generator/lag_p99_s",
        "/generator/lag_max_s",
        "/generator/steal_share",
    ] {
        assert_eq!(document.pointer(path), Some(&Value::Null), "{path}");
    }
    assert_eq!(document["classic"]["connection_rate_per_s"], 0.0);
    let empty = read(&Results { timeline: Some(httperf_stat::Timeline::default()), ..nothing() });
    let response = &empty["latency"]["response"];
    assert_eq!(
        (&response["count"], &response["min_s"], &response["mean_s"]),
        (&0.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(response["p"]["50"], Value::Null);
    assert_eq!(empty["verdict"]["status"], "valid");
}

#[test]
fn tls_that_never_came_about_is_empty_but_there() {
    let mut results = run(1, honest(), Faults::default());
    results.request.verified = Some(false);
    let document = read(&results);
    let tls = serde_json::json!({
        "version": null, "suite": null, "group": null, "verified": false, "resumed": 0, "full": 0, "settled": []
    });
    assert_eq!(document["target"]["tls"], tls);
    assert_eq!(document["latency"]["tls"]["count"], 0);
    let plain = read(&run(1, honest(), Faults::default()));
    assert_eq!((&plain["target"]["tls"], &plain["latency"]["tls"]), (&Value::Null, &Value::Null));
}

#[test]
fn whatever_happens_in_a_run_its_document_is_sound() {
    let mut interrupted = 0;
    for seed in 0..40 {
        let servers = vec![honest(), honest(), Server::Mutant(Honest::default()), Server::Noise];
        let mut faults = Faults { open: 30, late_open: 30, late_wake: 20, ..Faults::default() };
        faults.stop = (seed % 2 == 1).then_some((seed * SECOND / 100, Stop::Interrupted));
        let results = run(seed, Server::Several(servers), faults);
        let document = read(&results);
        assert_eq!(document["accounting"]["conserved"], true, "{}", document["verdict"]);
        let arrivals = &document["accounting"]["arrivals"];
        assert_eq!(
            sum(&document["intervals"]["scheduled"]),
            arrivals["scheduled"].as_u64().expect("a count")
        );
        let verdict = document["verdict"]["status"].as_str().expect("a word");
        assert!(["valid", "client-bound", "interrupted"].contains(&verdict), "{verdict}");
        interrupted += u32::from(verdict == "interrupted");
        let p50 = &document["latency"]["response"]["p"]["50"];
        assert!(p50.is_null() || p50.as_f64().is_some_and(|p50| p50 > 0.0));
        assert!(
            document["errors"]["classes"].as_object().expect("an object").values().all(|count| *count != 0)
        );
    }
    assert_eq!(interrupted, 20);
}

#[test]
fn a_broken_law_is_said_and_not_mended() {
    let mut results = run(3, honest(), Faults::default());
    results.basic.established += 1;
    let document = read(&results);
    assert_eq!(document["accounting"]["conserved"], false);
    assert_eq!(document["verdict"]["status"], "inconsistent");
    assert_eq!(document["accounting"]["connections"]["established"], results.basic.established);
    let reasons = document["verdict"]["reasons"].as_array().expect("a list");
    assert!(
        reasons[0].as_str().is_some_and(|reason| reason.contains("connections attempted (200)")),
        "{reasons:?}"
    );
}

#[test]
fn the_same_run_has_the_same_document() {
    let twice = [0, 1].map(|_| json(&run(5, honest(), Faults::default())));
    assert_eq!(twice[0], twice[1]);
}
