//! Drawn runs, each twice; shares; weights; constant memory.

use httperf_engine::sim::{Honest, Server};
use httperf_engine::{Cause, Share};
use httperf_load::{Process, Stages};

use super::case::{Case, Drive, serving};
use crate::case::{MS, SECOND};
use crate::ledger::Totals;

#[test]
fn pools_are_conserved_and_replay_for_200_seeds() {
    let (mut lost, mut shed, mut waited, mut gave_up, mut timeouts, mut broken) = (0, 0, 0, 0, 0, 0);
    for seed in 0..200 {
        let case = Case::draw(seed);
        let first = case.play_with(Share::WHOLE, &mut case.pool(Share::WHOLE), true);
        case.check(&first).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case:?}"));
        let second = case.play(Share::WHOLE);
        assert_eq!(first.outcome.ledger.events, second.outcome.ledger.events, "seed {seed}");
        assert!(first.outcome.dialogues == second.outcome.dialogues, "seed {seed}");
        let totals = &first.outcome.ledger.totals;
        lost += totals.calls_failed.get(&Cause::ClosedIdle).copied().unwrap_or(0);
        timeouts += totals.calls_failed.get(&Cause::ReplyTimeout).copied().unwrap_or(0);
        broken += totals.broken.len();
        shed += totals.shed;
        waited += first.waiting;
        gave_up += u64::from(first.gave_up.is_some());
    }
    let reached = [lost, shed, waited, gave_up, timeouts, broken as u64];
    assert!(reached.iter().all(|count| *count > 0), "rare things that never happened: {reached:?}");
}

#[test]
fn four_shares_count_what_one_thread_counts() {
    for process in [Process::Constant, Process::Poisson, Process::Uniform] {
        let honest = Honest { statuses: vec![200], close: 0, ..Honest::default() };
        let stages = Stages::parse("ramp 0..2000/s over 500ms, hold 200ms").expect("stages");
        let mut case = Case::open(1.0, 0, Server::Honest(honest));
        case.drive = Drive::Open { stages, process, total: None, shed: false };
        (case.weights, case.connections) = (vec![5, 0, 2, 1], 400);
        let whole = case.checked();
        let mut totals = Totals::default();
        let mut requests = std::collections::BTreeMap::<u32, u64>::new();
        for index in 0..4 {
            let part = case.play(Share { index, of: 4 });
            totals.add(&part.outcome.ledger.totals);
            for (request, count) in part.seen.requests {
                *requests.entry(request).or_default() += count;
            }
        }
        let expected = &whole.outcome.ledger.totals;
        assert_eq!((totals.arrivals, totals.replies()), (expected.arrivals, expected.replies()));
        assert_eq!(requests, whole.seen.requests, "call k makes the same request, whoever makes it");
        if process == Process::Constant {
            assert_eq!(totals.arrivals, 900);
        }
    }
}

#[test]
fn requests_are_made_by_weight_and_connections_go_to_all_addresses_in_turn() {
    let mut case = Case::closed(30, 8000, serving(MS));
    (case.weights, case.targets) = (vec![5, 0, 2, 1], 3);
    let played = case.checked();
    let counts = |request| played.seen.requests.get(&request).copied().unwrap_or(0);
    assert!(
        counts(0).abs_diff(5000) < 200 && counts(2).abs_diff(2000) < 200 && counts(3).abs_diff(1000) < 200
    );
    assert_eq!(counts(1), 0);
    assert_eq!(played.seen.targets.values().copied().collect::<Vec<_>>(), [10, 10, 10]);
}

#[test]
fn an_hour_of_overload_takes_the_memory_of_a_minute() {
    // All a pool holds is in its debug text.
    let size = |limit| {
        let mut case = Case { connections: 2, ..Case::open(50.0, 1 << 40, serving(SECOND)) }.limit(limit);
        if let Drive::Open { process, .. } = &mut case.drive {
            *process = Process::Poisson;
        }
        let mut pool = case.pool(Share::WHOLE);
        let played = case.play_with(Share::WHOLE, &mut pool, false);
        (played.waiting, format!("{pool:?}").len())
    };
    let (few, small) = size(60 * SECOND);
    let (many, large) = size(3600 * SECOND);
    assert!(few > 2_000 && many > 150_000, "{few} and {many} waited");
    assert!(large < small + 500, "{small} bytes of text, then {large}");
}
