//! Each fault of the matrix lands in its class, however its bytes are cut.

use std::ops::RangeInclusive;
use std::sync::Arc;

use httperf_engine::Cause;
use httperf_engine::sim::{ORIGIN, Server};

use crate::case::{Case, Outcome, SECOND};
use crate::laws;
use crate::scripts::{LIMIT, Row, rows};

fn case(row: &Row, seed: u64, segment: RangeInclusive<u64>) -> Case {
    let server = Server::Scripted(Arc::new(row.script.clone()));
    let mut case = Case {
        calls: row.calls,
        burst: row.burst,
        head: row.head,
        timeout: Some(LIMIT),
        ..Case::plain(seed, server)
    };
    case.setup.network.segment = segment;
    case
}

fn judge(row: &Row, case: &Case, outcome: &Outcome) -> Result<(), String> {
    laws::check(case, outcome)?;
    let totals = &outcome.ledger.totals;
    let causes: Vec<Cause> = outcome.ledger.failures.iter().map(|(_, cause)| *cause).collect();
    let failed = totals.calls_failed.values().sum::<u64>();
    let seen = (totals.replies(), causes.as_slice(), failed);
    let expected = (row.replies, row.cause.as_slice(), row.failed);
    if seen != expected {
        return Err(format!("expected {expected:?}, seen {seen:?}"));
    }
    let announced = if row.cause.is_none() { Some(Cause::ClosedIdle) } else { row.cause };
    if totals.calls_failed.keys().any(|cause| Some(*cause) != announced) {
        return Err(format!("calls failed otherwise than their connection: {:?}", totals.calls_failed));
    }
    Ok(())
}

#[test]
fn each_fault_lands_in_its_class() {
    let mut wrong = Vec::new();
    for row in rows() {
        let case = case(&row, 1, 65_536..=65_536);
        if let Err(error) = judge(&row, &case, &case.whole()) {
            wrong.push(format!("{}: {error}", row.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_fault_counts_the_same_however_its_bytes_are_cut() {
    for row in rows().iter().filter(|row| row.cuts) {
        let whole = case(row, 1, 65_536..=65_536).light();
        for segment in [1..=1, 1..=4, 1..=65_536] {
            let case = case(row, 1, segment.clone());
            let cut = case.light();
            let told = format!("{} in segments of {segment:?}", row.name);
            judge(row, &case, &cut).unwrap_or_else(|error| panic!("{told}: {error}"));
            assert_eq!(cut.ledger.totals, whole.ledger.totals, "{told}");
        }
    }
}

#[test]
fn a_time_limit_bites_to_the_nanosecond() {
    for row in rows() {
        let outcome = case(&row, 5, 1..=65_536).light();
        let begun = match row.cause {
            Some(Cause::ConnectTimeout) => ORIGIN,
            Some(Cause::ReplyTimeout) => outcome.ledger.waiting_since(),
            _ => continue,
        };
        let (at, _) = outcome.ledger.failures[0];
        assert_eq!(at.since(begun), LIMIT, "{}", row.name);
    }
}

#[test]
fn a_run_without_any_descriptor_ends_at_once() {
    let mut case = Case::plain(3, Server::Honest(Default::default()));
    (case.conns, case.setup.faults.open) = (500, 1000);
    let outcome = case.whole();
    laws::check(&case, &outcome).unwrap_or_else(|error| panic!("{error}"));
    let totals = &outcome.ledger.totals;
    assert_eq!(totals.no_socket.values().sum::<u64>(), 500);
    for cause in [Cause::FdUnavail, Cause::FtabFull, Cause::NoBuffers, Cause::AddrUnavail, Cause::Unreachable]
    {
        assert!(totals.no_socket.contains_key(&cause), "{cause:?}");
    }
    assert!(outcome.lasted() < SECOND);
}
