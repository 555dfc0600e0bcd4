//! What drifts, warms up or goes round is found; what stays what it is raises no alarm.

use std::f64::consts::TAU;

use httperf_analysis::{Quantity, State, Steady, Warmup, steady};

use crate::models::{Arrivals, Model, Server};
use crate::seeds;

const NOISY: Server = Server::Process { correlation: 0.3, spread: 0.4 };

fn found(model: Model, seeds: u64) -> Vec<Steady> {
    (0..seeds).map(|seed| steady(&model.run(seed), Warmup::Found)).collect()
}

fn with(model: Model, slowness: fn(f64) -> f64) -> Model {
    Model { slowness, ..model }
}

/// At most one alarm in twenty runs, and as few cuts.
fn check_quiet(name: &str, model: Model) {
    let seeds = seeds(200);
    let found = found(model, seeds);
    let alarms: Vec<_> = found.iter().filter(|steady| steady.state != State::Stationary).collect();
    let cuts = found.iter().filter(|steady| steady.from_slice > 0).count();
    println!("{name}: {} alarms and {cuts} cuts in {seeds} runs", alarms.len());
    assert!(alarms.len() as u64 * 20 <= seeds, "{name}: {alarms:?}");
    assert!(cuts as u64 * 20 <= seeds, "{name}: {cuts} cuts");
}

#[test]
fn a_server_that_stays_what_it_is_raises_no_alarm() {
    check_quiet("noise", Model::steady(NOISY, Arrivals::Constant, 100.0, 30.0));
    check_quiet("short", Model::steady(NOISY, Arrivals::Poisson, 100.0, 10.0));
    let lasting = Server::Process { correlation: 0.9, spread: 0.3 };
    check_quiet("AR(1) 0.9", Model::steady(lasting, Arrivals::Poisson, 100.0, 60.0));
}

#[test]
fn a_queue_raises_no_alarm() {
    check_quiet("M/M/1 0.5", Model::steady(Server::Queue { busy: 0.5 }, Arrivals::Poisson, 300.0, 15.0));
    check_quiet("M/M/1 0.8", Model::steady(Server::Queue { busy: 0.8 }, Arrivals::Poisson, 500.0, 30.0));
}

#[test]
fn three_per_cent_a_minute_are_found_in_two_minutes() {
    let model = Model::steady(NOISY, Arrivals::Constant, 400.0, 120.0);
    let seeds = seeds(20);
    let found = found(with(model, |at| 1.0 + 0.03 * at / 60.0), seeds);
    let drifts = found.iter().filter(|steady| {
        matches!(
            steady.state,
            State::Drifting { what: Quantity::Median, percent_per_min, .. } if (1.5..4.5).contains(&percent_per_min)
        )
    });
    let drifts = drifts.count() as u64;
    println!("drift: found in {drifts} of {seeds}");
    assert!(drifts * 10 >= seeds * 9, "{drifts} of {seeds}");
    let note = found[0].note().expect("a drift");
    assert!(note.starts_with("p50 drifting +") && note.contains("%/min"), "{note}");
}

#[test]
fn a_warm_up_is_set_aside_and_not_much_more() {
    // Three times as slow at first, 5 % slower than at last after 8.6 s.
    let model = Model::steady(NOISY, Arrivals::Poisson, 300.0, 60.0);
    for steady in found(with(model, |at| 1.0 + 2.0 * (-at * 3.0 / 7.0).exp()), 10) {
        assert!((5.0..=16.0).contains(&steady.from_s), "{steady:?}");
        assert!(steady.set_aside().is_some_and(|text| text.ends_with(" s set aside (warm-up)")));
    }
    // A cold first second.
    let cold = found(with(model, |at| if at < 1.0 { 2.0 } else { 1.0 }), 10);
    let cut = cold.iter().filter(|steady| steady.from_s == 1.0).count();
    assert!(cut >= 8, "{cut}");
}

#[test]
fn never_more_than_half_is_set_aside() {
    let model = Model::steady(NOISY, Arrivals::Poisson, 300.0, 30.0);
    for late in [10.0, 14.0, 16.0, 20.0, 25.0] {
        let slowness: fn(f64) -> f64 = match late as u32 {
            10 => |at| if at < 10.0 { 2.0 } else { 1.0 },
            14 => |at| if at < 14.0 { 2.0 } else { 1.0 },
            16 => |at| if at < 16.0 { 2.0 } else { 1.0 },
            20 => |at| if at < 20.0 { 2.0 } else { 1.0 },
            _ => |at| if at < 25.0 { 2.0 } else { 1.0 },
        };
        for steady in found(with(model, slowness), 3) {
            if late < 15.0 {
                assert_eq!((steady.from_s, steady.stationary()), (late, Some(true)), "{steady:?}");
            } else {
                let State::LevelChanges { what: Quantity::Median, at_s, percent } = steady.state else {
                    panic!("{late}: {steady:?}")
                };
                assert!(
                    steady.from_s == 0.0 && (at_s - late).abs() < 1.5 && (-60.0..-40.0).contains(&percent)
                );
            }
        }
    }
}

#[test]
fn a_backlog_grows_where_calls_come_faster_than_they_are_done() {
    let model = Model::steady(Server::Queue { busy: 1.1 }, Arrivals::Poisson, 500.0, 20.0);
    for steady in found(model, 5) {
        let State::BacklogGrows { per_s } = steady.state else { panic!("{steady:?}") };
        assert!((20.0..80.0).contains(&per_s), "{per_s}");
        assert_eq!(steady.stationary(), Some(false));
    }
}

#[test]
fn a_server_that_goes_round_is_periodic() {
    let model = Model::steady(NOISY, Arrivals::Constant, 300.0, 60.0);
    let round = found(with(model, |at| 1.0 + 0.3 * (TAU * at / 5.0).sin()), 5);
    for steady in round {
        assert_eq!(steady.note().as_deref(), Some("periodic: a round takes 5 s, the run has 12 of them"));
        assert_eq!(steady.stationary(), Some(true), "whole rounds have one mean");
    }
    let few = found(with(model, |at| 1.0 + 0.3 * (TAU * at / 15.0).sin()), 5);
    assert!(few.iter().all(|steady| steady.stationary() == Some(false)), "{few:?}");
}

#[test]
fn a_half_that_varies_more_is_said() {
    let model = Model::steady(NOISY, Arrivals::Constant, 300.0, 60.0);
    // In the second half another speed every two seconds, in no order.
    let restless = |at: f64| match (at / 2.0) as u32 {
        0..15 => 1.0,
        spell => 0.8 + 0.4 * f64::from(spell * spell * 7 % 11) / 10.0,
    };
    let said = found(with(model, restless), 10);
    let said =
        said.iter().filter(|steady| matches!(steady.state, State::SpreadChanges { ratio } if ratio > 3.0));
    assert!(said.count() >= 8);
}

#[test]
fn a_run_too_short_says_so() {
    let model = Model::steady(NOISY, Arrivals::Poisson, 300.0, 1.5);
    let steady = steady(&model.run(1), Warmup::Found);
    assert_eq!((steady.state, steady.stationary()), (State::TooShort { needed_s: Some(2.0) }, None));
    assert_eq!(steady.note().as_deref(), Some("too short to tell whether it was steady, it takes about 2 s"));
}

#[test]
fn a_given_warm_up_is_kept_to() {
    let run = Model::steady(NOISY, Arrivals::Poisson, 300.0, 15.0).run(1);
    let of = |seconds| steady(&run, Warmup::Given(seconds));
    assert_eq!((of(0.0).from_slice, of(0.0).set_aside()), (0, None));
    assert_eq!(
        (of(2.5).from_slice, of(2.5).set_aside().as_deref()),
        (25, Some("first 2.5 s set aside (warm-up)"))
    );
    assert_eq!(of(99.0).state, State::TooShort { needed_s: None });
    assert_eq!(of(f64::NAN).from_slice, 0);
}
