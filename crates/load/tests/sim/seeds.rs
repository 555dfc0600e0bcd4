//! Drawn runs: whatever the seed brings, the laws hold and the same seed gives the same run.

use httperf_engine::Cause;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::case::Case;
use crate::laws;

/// What is wrong with a case, if anything.
fn verdict(case: &Case) -> Result<(), String> {
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let first = case.whole();
        laws::check(case, &first)?;
        // The second time without histograms: collectors only watch.
        let second = case.light();
        let (one, other) = (&first.ledger.events, &second.ledger.events);
        if let Some(at) = one.iter().zip(other).position(|(one, other)| one != other) {
            return Err(format!("run twice, event {at} was {:?}, then {:?}", one[at], other[at]));
        }
        let same = first.dialogues == second.dialogues && first.turns == second.turns;
        if same && one.len() == other.len() { Ok(()) } else { Err("run twice, it was not the same".into()) }
    }));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?")))
    })
}

/// So many cases that fail are made smaller.
const SHRUNK: usize = 3;

/// A smaller case that fails as well.
fn shrink(case: &Case) -> Case {
    let mut smallest = case.clone();
    while let Some(smaller) = smallest.smaller().into_iter().find(|case| verdict(case).is_err()) {
        smallest = smaller;
    }
    smallest
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

#[test]
fn every_law_holds_and_every_run_replays_for_200_seeds() {
    let seeds = match number("SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SIM_SEEDS").unwrap_or(200),
    };
    let mut failures = Vec::new();
    for seed in seeds {
        let case = Case::draw(seed);
        if let Err(error) = verdict(&case) {
            println!("seed {seed}: {error}\n  {case:?}");
            // Each takes its time, and they are often one.
            if failures.len() < SHRUNK {
                let small = shrink(&case);
                let why = verdict(&small).expect_err("a case that fails");
                println!("shrunk: {why}\n  {small:?}\n");
            }
            failures.push(seed);
        }
    }
    let again = "again: SIM_SEED=N cargo test -p httperf-load --test sim seeds";
    assert!(failures.is_empty(), "these seeds fail: {failures:?}; {again}");
}

#[test]
fn seeds_reach_the_rare_branches() {
    let mut marks = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..200 {
        let case = Case::draw(seed);
        let outcome = case.light();
        let (totals, turns) = (&outcome.ledger.totals, outcome.turns);
        let failed = |cause| {
            [&totals.no_socket, &totals.not_connected, &totals.broken, &totals.calls_failed]
                .iter()
                .any(|causes| causes.contains_key(&cause))
        };
        let mut mark = |name, reached: bool| *marks.entry(name).or_default() += u64::from(reached);
        mark("a stale event", turns.stale > 0);
        mark("a discard", turns.discarded > 0);
        mark("woken for nothing", turns.early > 0);
        mark("a stop", outcome.stopped_by.is_some());
        mark("the time limit", outcome.reached_limit);
        mark("aborted calls", totals.calls_aborted > 0);
        mark("aborted connects", totals.aborted[1] > 0);
        mark("recovery from EMFILE", {
            totals.no_socket.contains_key(&Cause::FdUnavail) && totals.replies() > 0
        });
        mark("a connect that fails late", !totals.not_connected.is_empty());
        mark("an early reply", totals.statuses.contains_key(&413));
        mark("interim replies", totals.interims > 0);
        mark("a run without any error", totals.broken.is_empty() && totals.calls_failed.is_empty());
        for cause in Cause::ALL {
            mark(cause.key(), failed(*cause));
        }
    }
    // The draws are of plain text; TLS has its own dialogues.
    for cause in [Cause::Other, Cause::HandshakeTimeout, Cause::TlsHandshake, Cause::TlsCertificate] {
        marks.remove(cause.key());
    }
    assert!(marks.values().all(|reached| *reached > 0), "{marks:#?}");
    println!("{marks:#?}");
}
