//! What reports say of sessions.

use httperf_engine::{Collector, Completion, Core, Input, Outcome, RequestId, Scenario, Time, Transmit};
use httperf_report::{Cpu, Host, Results, RunInfo, StoppedBy, classic, json};
use httperf_stat::{BasicSummary, SessionSummary, Sessions};
use httperf_wire::{Request, RequestSpec};
use serde_json::{Value, json};

use Outcome::{Failed, Succeeded, Unfinished};

const MS: u64 = 1_000_000;

/// Sessions of so many milliseconds, connections and replies.
fn sessions(lives: &[(u64, u32, u32, Outcome)]) -> SessionSummary {
    let request = Request::render(&RequestSpec { uri: "/".into(), ..RequestSpec::default() });
    let mut core = Core::new(Scenario::plain(([127, 0, 0, 1], 80).into(), request));
    let mut collector = Sessions::default();
    core.begin(Time(0));
    for (ms, connections, replies, outcome) in lives {
        let session = core.begin_session(core.now(), 0);
        for left in (0..*connections).rev() {
            let conn = core.connect_in(session, 0, core.now(), 0);
            for input in [Input::Opened, Input::Connected] {
                core.handle(Completion { at: core.now(), conn, input });
            }
            for _ in 0..if left == 0 { *replies } else { 0 } {
                core.issue(conn, RequestId(0), core.now()).expect("the connection is open");
                settle(&mut core, &mut collector);
                let input = Input::Data(b"HTTP/1.1 204 None\r\n\r\n");
                core.handle(Completion { at: core.now(), conn, input });
            }
            core.close(conn);
        }
        let end = core.now() + ms * MS;
        core.schedule(end, 0);
        assert!(core.handle_wake(end, end));
        if *outcome != Unfinished {
            core.end_session(session, *outcome);
        }
        settle(&mut core, &mut collector);
    }
    core.abort(core.now());
    settle(&mut core, &mut collector);
    collector.into_summary()
}

/// Drains everything; writes go out whole and at once.
fn settle(core: &mut Core, collector: &mut Sessions) {
    loop {
        while let Some(event) = core.poll() {
            collector.on(&event, core);
        }
        match core.poll_transmit() {
            Some(Transmit::Write { conn, bytes }) => {
                let input = Input::Sent(bytes.len());
                core.handle(Completion { at: core.now(), conn, input });
            }
            Some(_) => {}
            None => return,
        }
    }
}

/// A run of so many milliseconds of which nothing else is known.
fn results(ms: u64, sessions: Option<SessionSummary>, session_rates: &[f64]) -> Results {
    Results {
        request: RunInfo {
            mode: "httperf",
            argv: Vec::new(),
            urls: Vec::new(),
            addresses: Vec::new(),
            verified: None,
            model: "sessions",
            arrivals: "constant",
            rate_per_s: Some(5.0),
            concurrency: None,
            seed: 0,
            threads: 1,
        },
        started_at: "2024-01-01T00:00:00.000Z".into(),
        stopped_by: StoppedBy::Finished,
        basic: BasicSummary { started: Some(Time(0)), ended: Some(Time(ms * MS)), ..BasicSummary::default() },
        reply_rates: Vec::new(),
        sessions,
        quality: None,
        error: None,
        cookies_cut: 0,
        session_rates: session_rates.to_vec(),
        timeline: None,
        cpu: Cpu::default(),
        busy_shares: Vec::new(),
        descriptors_limit: 1024,
        host: Host::default(),
    }
}

/// What stands behind the last line of errors.
fn block(results: &Results) -> String {
    let text = classic(results, false);
    let (_, block) = text.split_once("ftab-full 0 other 0\n").expect("a report");
    block.to_owned()
}

fn document(results: &Results) -> Value {
    serde_json::from_slice(&json(results)).expect("valid JSON")
}

#[test]
fn only_session_workloads_have_the_block() {
    assert_eq!(block(&results(809, None, &[])), "");
    let plain = document(&results(809, None, &[]));
    assert_eq!((&plain["sessions"], &plain["accounting"]["sessions"]), (&Value::Null, &Value::Null));
    assert!(plain["classic"].get("sessions_succeeded").is_none());
}

#[test]
fn the_block_is_that_of_the_original() {
    // --wsess 3,4,0.2 --rate 5
    let three = sessions(&[(409, 1, 4, Succeeded), (410, 1, 4, Succeeded), (413, 1, 4, Succeeded)]);
    assert_eq!(
        block(&results(809, Some(three), &[])),
        "\nSession rate [sess/s]: min 0.00 avg 3.71 max 0.00 stddev 0.00 (3/3)\n\
         Session: avg 1.00 connections/session\n\
         Session lifetime [s]: 0.4\n\
         Session failtime [s]: 0.0\n\
         Session length histogram: 0 0 0 0 3\n"
    );
    // --wsesslog 2,0.05 --rate 3
    let two = sessions(&[(258, 1, 5, Succeeded), (274, 1, 5, Succeeded)]);
    assert_eq!(
        block(&results(608, Some(two), &[])),
        "\nSession rate [sess/s]: min 0.00 avg 3.29 max 0.00 stddev 0.00 (2/2)\n\
         Session: avg 1.00 connections/session\n\
         Session lifetime [s]: 0.3\n\
         Session failtime [s]: 0.0\n\
         Session length histogram: 0 0 0 0 0 2\n"
    );
    // --wsess 12,1,0 --rate 2 --failure-status 404: half of them fail; one sample.
    let half = sessions(&[[(2, 1, 1, Succeeded), (2, 1, 1, Failed)]; 6].concat());
    assert_eq!(
        block(&results(5_510, Some(half), &[1.0])),
        "\nSession rate [sess/s]: min 1.00 avg 1.09 max 1.00 stddev 0.00 (6/12)\n\
         Session: avg 1.00 connections/session\n\
         Session lifetime [s]: 0.0\n\
         Session failtime [s]: 0.0\n\
         Session length histogram: 0 12\n"
    );
}

#[test]
fn without_a_finished_session_there_are_zeros() {
    let nothing = "\nSession rate [sess/s]: min 0.00 avg 0.00 max 0.00 stddev 0.00 (0/0)\n\
                   Session: avg 0.00 connections/session\n\
                   Session lifetime [s]: 0.0\n\
                   Session failtime [s]: 0.0\n\
                   Session length histogram: 0\n";
    assert_eq!(block(&results(0, Some(SessionSummary::default()), &[])), nothing);
    // Interrupted: sessions that are still going on stand nowhere.
    let running = sessions(&[(300, 1, 2, Unfinished), (200, 1, 1, Unfinished)]);
    assert_eq!(block(&results(1_000, Some(running), &[])), nothing);
}

#[test]
fn failed_sessions_count_by_their_length_and_not_by_their_connections() {
    let mixed = sessions(&[(1_000, 2, 3, Succeeded), (4_000, 3, 0, Failed), (9_000, 1, 1, Unfinished)]);
    assert_eq!(
        block(&results(10_000, Some(mixed), &[0.2, 0.0])),
        "\nSession rate [sess/s]: min 0.00 avg 0.10 max 0.20 stddev 0.14 (1/2)\n\
         Session: avg 2.00 connections/session\n\
         Session lifetime [s]: 1.0\n\
         Session failtime [s]: 4.0\n\
         Session length histogram: 1 0 0 1\n"
    );
}

#[test]
fn a_very_long_session_does_not_make_a_very_long_line() {
    let long = sessions(&[(1_000, 1, 12_345, Succeeded), (1_000, 1, 2, Succeeded)]);
    let results = results(2_000, Some(long), &[]);
    let text = block(&results);
    assert_eq!(text.lines().last(), Some("Session length histogram: 0 0 1 12300:1"));
    let document = document(&results);
    assert_eq!(document["classic"]["session_length_histogram"], json!([0, 0, 1]));
    assert_eq!(document["classic"]["session_length_beyond"], json!({"12300": 1}));
    assert_eq!(document["sessions"]["replies"]["longest"], 12_345);
}

#[test]
fn the_document_has_the_sessions_three_times() {
    let mixed = sessions(&[
        (1_000, 2, 3, Succeeded),
        (3_000, 1, 3, Succeeded),
        (4_000, 3, 0, Failed),
        (9_000, 1, 1, Unfinished),
    ]);
    let mut results = results(10_000, Some(mixed), &[0.5]);
    let whole = document(&results);
    assert_eq!(
        whole["accounting"]["sessions"].to_string(),
        r#"{"started":4,"succeeded":2,"failed":1,"unfinished":1}"#
    );
    assert_eq!(whole["accounting"]["conserved"], true);
    assert_eq!(
        whole["sessions"].to_string(),
        r#"{"started_per_s":0.4,"succeeded_per_s":0.2,"connections_mean":1.5,"#.to_owned()
            + r#""lifetime":{"count":2,"min_s":1.0,"mean_s":2.0,"stddev_s":1.4142135623730951,"max_s":3.0},"#
            + r#""failtime":{"count":1,"min_s":4.0,"mean_s":4.0,"stddev_s":null,"max_s":4.0},"#
            + r#""replies":{"longest":3,"histogram":[1,0,0,2],"beyond":{}}}"#
    );
    let keys: Vec<_> = whole["classic"].as_object().expect("an object").keys().skip(50).cloned().collect();
    assert_eq!(
        keys.join(" "),
        "session_rate_min_per_s session_rate_avg_per_s session_rate_max_per_s session_rate_stddev_per_s \
         sessions_succeeded sessions_finished connections_per_session session_lifetime_s session_failtime_s \
         session_length_histogram"
    );
    assert_eq!(whole["classic"]["session_rate_avg_per_s"], 0.2);

    // A session that is lost is said and not mended.
    results.sessions.as_mut().expect("sessions").began += 1;
    let broken = document(&results);
    assert_eq!(broken["accounting"]["conserved"], false);
    assert_eq!(broken["accounting"]["sessions"]["started"], 5);
    assert_eq!(broken["verdict"]["status"], "inconsistent");
    let reason = broken["verdict"]["reasons"][0].as_str().expect("a sentence");
    let breach = "sessions begun (5) and succeeded + failed + unfinished (4) are not the same";
    assert!(reason.contains(breach), "{reason}");
}
