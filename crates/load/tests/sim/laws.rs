//! What must hold after any run, whatever the server did.

use std::collections::BTreeMap;

use httperf_engine::sim::{Dialogue, ORIGIN};
use httperf_engine::{Cause, Event, Nanos};
use httperf_stat::Measure;

use crate::case::{Case, Outcome, Pace, SECOND};

/// A law, and what it says when it is broken.
type Law = fn(&Case, &Outcome) -> Result<(), String>;

/// What holds whatever the workload.
const COMMON: &[Law] = &[
    the_run_ends_by_itself,
    every_event_is_in_order,
    what_began_has_ended,
    bytes_are_conserved,
    the_collectors_agree,
    arrivals_are_taken_up_when_due,
    replies_are_those_the_servers_gave,
    the_loop_turns_only_for_a_reason,
];

const LAWS: &[Law] = &[
    connections_are_conserved,
    calls_are_conserved,
    an_honest_server_is_never_at_fault,
    the_run_ends_soon_after_the_last_progress,
];

/// The first law that is broken.
pub(crate) fn check(case: &Case, outcome: &Outcome) -> Result<(), String> {
    check_common(case, outcome)?;
    LAWS.iter().try_for_each(|law| law(case, outcome))
}

/// The first law that is broken of those that hold for every workload.
pub(crate) fn check_common(case: &Case, outcome: &Outcome) -> Result<(), String> {
    COMMON.iter().try_for_each(|law| law(case, outcome))
}

pub(crate) fn demand(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

pub(crate) fn sum(counts: &BTreeMap<Cause, u64>) -> u64 {
    counts.values().sum()
}

fn the_run_ends_by_itself(_: &Case, outcome: &Outcome) -> Result<(), String> {
    outcome.result.as_ref().map(|_| ()).map_err(|error| format!("the run failed: {error}"))
}

fn every_event_is_in_order(_: &Case, outcome: &Outcome) -> Result<(), String> {
    let complaints = &outcome.ledger.complaints;
    demand(complaints.is_empty(), || complaints.join("\n"))?;
    let stops = outcome.ledger.events.iter().filter(|event| matches!(event, Event::Stopped { .. })).count();
    demand(stops == 1, || format!("{stops} ends of one run"))
}

fn what_began_has_ended(_: &Case, outcome: &Outcome) -> Result<(), String> {
    let left = outcome.ledger.left_over();
    demand(left == (0, 0), || format!("connections and calls without a last event: {left:?}"))?;
    let open = outcome.dialogues.iter().filter(|dialogue| dialogue.closed.is_none()).count();
    demand(open == 0, || format!("{open} sockets were never closed"))
}

fn connections_are_conserved(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let totals = &outcome.ledger.totals;
    let [never_begun, connecting, connected] = totals.aborted;
    let begun = totals.connected + sum(&totals.not_connected) + connecting;
    demand(totals.connecting == begun, || {
        format!("{} connects, {begun} known: {totals:?}", totals.connecting)
    })?;
    demand(totals.connecting == outcome.dialogues.len() as u64, || {
        "the driver opened another number".into()
    })?;
    let taken = totals.connecting + sum(&totals.no_socket) + never_begun;
    demand(totals.arrivals == taken, || format!("{} arrivals, {taken} known", totals.arrivals))?;
    let ended = totals.closed + never_begun + connecting + connected;
    demand(totals.arrivals == ended, || format!("{} arrivals, {ended} ended", totals.arrivals))?;
    let all = totals.arrivals == case.conns && totals.aborted == [0; 3];
    demand(outcome.cut_short() || all, || {
        format!("{} of {} arrivals, none may be missing", totals.arrivals, case.conns)
    })
}

fn calls_are_conserved(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let totals = &outcome.ledger.totals;
    let known = totals.replies() + sum(&totals.calls_failed) + totals.calls_aborted;
    demand(totals.issued == known, || format!("{} calls, {known} known", totals.issued))?;
    demand(totals.issued <= case.conns * u64::from(case.calls), || "calls nobody asked for".into())?;
    let asked: u64 = outcome.dialogues.iter().map(|dialogue| u64::from(dialogue.requests)).sum();
    demand(asked <= totals.issued, || "requests without a call reached the server".into())?;
    demand(totals.replies() == outcome.ledger.replies.len() as u64, || "replies do not add up".into())
}

fn bytes_are_conserved(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let (traffic, turns) = (outcome.traffic, outcome.turns);
    let replies = &outcome.ledger.totals;
    demand(replies.sections + replies.content <= traffic.received, || "more was read than came".into())?;
    if case.secure.is_some() {
        // The network carries records and handshakes; what is counted is inside.
        let inside = traffic.received <= turns.received && traffic.sent <= turns.sent;
        return demand(inside, || format!("{traffic:?}, but {turns:?}"));
    }
    demand(traffic.received == turns.received, || format!("{traffic:?}, but {turns:?}"))?;
    demand(traffic.sent == turns.sent, || format!("{traffic:?}, but {turns:?}"))?;
    let came: u64 = outcome.dialogues.iter().map(|dialogue| dialogue.received).sum();
    demand(came <= traffic.sent, || "more request bytes came than were sent".into())
}

fn the_collectors_agree(_: &Case, outcome: &Outcome) -> Result<(), String> {
    let (basic, totals) = (&outcome.basic, &outcome.ledger.totals);
    let mut errors = totals.no_socket.clone();
    for (cause, count) in totals.not_connected.iter().chain(&totals.broken) {
        *errors.entry(*cause).or_default() += count;
    }
    let maps = [
        ("connects", &basic.connects_failed, &totals.not_connected),
        ("errors", &basic.errors, &errors),
        ("calls", &basic.calls_failed, &totals.calls_failed),
    ];
    for (what, one, other) in maps {
        demand(one == other, || format!("failures of {what}: {one:?}, in the ledger {other:?}"))?;
    }
    let (one, other) = (&basic.statuses, &totals.statuses);
    demand(one == other, || format!("statuses: {one:?}, in the ledger {other:?}"))?;
    for (what, one, other) in [
        ("arrivals", basic.arrivals, totals.arrivals),
        ("connections", basic.connections, totals.connecting),
        ("established", basic.established, totals.connected),
        ("connects aborted", basic.connects_aborted, totals.aborted[1]),
        ("calls", basic.calls, totals.issued),
        ("calls aborted", basic.calls_aborted, totals.calls_aborted),
        ("request bytes", basic.request_bytes, totals.request_bytes),
        ("header bytes", basic.header_bytes, totals.header),
        ("content bytes", basic.content_bytes, totals.content),
        ("footer bytes", basic.footer_bytes, totals.footer),
        ("interim replies", basic.interim, totals.interims),
        ("bytes received", basic.traffic.received, outcome.traffic.received),
        ("bytes sent", basic.traffic.sent, outcome.traffic.sent),
    ] {
        demand(one == other, || format!("{what}: {one}, in the ledger {other}"))?;
    }
    let Some(timeline) = &outcome.timeline else { return Ok(()) };
    let response = timeline.whole(Measure::Response).done;
    let sum: u128 = outcome.ledger.replies.iter().map(|reply| u128::from(reply.last.since(reply.due))).sum();
    demand(response.sum_ns == sum, || format!("response times add up to {sum} ns, not {}", response.sum_ns))?;
    let breaches = httperf_analysis::breaches(basic, Some(timeline));
    demand(breaches.is_empty(), || breaches.join("\n"))
}

fn arrivals_are_taken_up_when_due(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let arrivals = &outcome.ledger.arrivals;
    if !case.setup.faults.delay() {
        let late = arrivals.iter().find(|(due, at)| due != at);
        demand(late.is_none(), || format!("an arrival was taken up late, or early: {late:?}"))?;
    }
    let Pace::Open(period) = &case.pace else { return Ok(()) };
    let schedule = httperf_load::Arrivals::new(period, case.conns, httperf_engine::Share::WHOLE, 0);
    let drift = arrivals.iter().zip(schedule).find(|((due, _), scheduled)| *due != ORIGIN + *scheduled);
    demand(drift.is_none(), || format!("the schedule drifted: {drift:?}"))
}

fn replies_are_those_the_servers_gave(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let by_conn: BTreeMap<u64, &Dialogue> =
        outcome.dialogues.iter().map(|dialogue| (dialogue.conn.to_bits(), dialogue)).collect();
    for reply in &outcome.ledger.replies {
        let Some(dialogue) = by_conn.get(&reply.conn) else {
            return Err(format!("a reply on a connection nobody knows: {reply:?}"));
        };
        // Only honest servers give one reply for each request.
        let Some(answer) = dialogue.answers.get(reply.number) else { continue };
        let Some(truth) = answer.reply else { continue };
        // The original's way of reading finds other replies in the same bytes.
        if case.rules.classic_strict {
            continue;
        }
        let said = (reply.status, reply.content) == (truth.status, truth.content);
        let on_time = if case.setup.faults.delay() {
            reply.last >= answer.last
        } else if case.secure.is_some() {
            // The first byte can be read when its record is there, a body to the end ends with close_notify.
            reply.last == answer.last || (truth.last && reply.last > answer.last)
        } else {
            // The first byte of an interim reply is not that of the reply.
            reply.last == answer.last && (reply.first == answer.first || truth.interim)
        };
        demand(said && on_time && reply.sent < answer.asked, || format!("{reply:?}, in truth {answer:?}"))?;
    }
    Ok(())
}

fn an_honest_server_is_never_at_fault(case: &Case, outcome: &Outcome) -> Result<(), String> {
    // A write that comes late can find the connection reset behind a reply that announced its end.
    let faults = &case.setup.faults;
    if !case.is_tame() || (faults.delay() && faults.short_write > 0) {
        return Ok(());
    }
    let totals = &outcome.ledger.totals;
    demand(totals.broken.is_empty(), || format!("connections to an honest server broke: {totals:?}"))?;
    // Calls behind an announced end are lost, no others.
    let announced = totals.calls_failed.keys().all(|cause| *cause == Cause::ClosedIdle);
    demand(announced, || format!("calls to an honest server failed: {totals:?}"))
}

fn the_loop_turns_only_for_a_reason(_: &Case, outcome: &Outcome) -> Result<(), String> {
    let turns = outcome.turns;
    let wakes = outcome.ledger.events.iter();
    let wakes = wakes.filter(|event| matches!(event, Event::Wake { .. } | Event::Tick { .. })).count() as u64;
    // A watchdog that was renewed wakes the loop once in vain for each renewal.
    let reasons = turns.happenings + turns.completions + turns.transmits + turns.early + wakes;
    demand(turns.waits <= reasons + 20, || format!("{turns:?}, {wakes} wakes"))
}

fn the_run_ends_soon_after_the_last_progress(case: &Case, outcome: &Outcome) -> Result<(), String> {
    /// What one oversleeping of a fault can add.
    const PAUSE: Nanos = 4 * SECOND;
    let (Some(timeout), false) = (case.timeout, outcome.cut_short()) else { return Ok(()) };
    let pause = if case.setup.faults.delay() { PAUSE } else { 0 };
    let silent = outcome.ended.since(outcome.ledger.progress);
    demand(silent <= timeout + SECOND + pause, || {
        format!("the run went on for {silent} ns after the last progress, with a timeout of {timeout} ns")
    })
}
