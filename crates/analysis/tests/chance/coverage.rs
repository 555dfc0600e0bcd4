//! An interval of 95 % holds the truth in 95 of 100 runs, or the run says that it is too short to tell.

use httperf_analysis::{Confidence, Confidences, confidence};

use crate::models::{Arrivals, Model, Server};
use crate::seeds;

const FIGURES: [&str; 7] = ["rate", "mean", "p50", "p75", "p90", "p95", "p99"];

fn figures(all: &Confidences) -> impl Iterator<Item = &Confidence> {
    [&all.rate, &all.mean].into_iter().chain(all.percentiles[..5].iter().map(|(_, confidence)| confidence))
}

/// Of how many runs a figure had an interval, and of how many of these it held the truth.
fn count(model: Model, seeds: u64) -> [(u64, u64); 7] {
    let truth = model.truth();
    let mut counts = [(0, 0); 7];
    for seed in 0..seeds {
        let found = confidence(&model.run(seed));
        for (figure, confidence) in figures(&found).enumerate() {
            if let Some([low, high]) = confidence.ci95() {
                counts[figure].0 += 1;
                counts[figure].1 += u64::from((low..=high).contains(&truth[figure]));
            }
        }
    }
    counts
}

/// Whether it holds the truth often enough, and not by being wider than it has to. Of 1,000 runs 920 to 980
/// do; of fewer as many more or less as three standard deviations are.
fn check(name: &str, model: Model, from: usize) {
    let seeds = seeds(100);
    let slack = if seeds >= 1_000 { 0.0 } else { 3.0 * (0.95 * 0.05 / seeds as f64).sqrt() - 0.02 };
    let counts = count(model, seeds);
    for (figure, (known, held)) in FIGURES.into_iter().zip(counts) {
        println!("{name}: {figure} {held} of {known} known");
    }
    for (figure, (known, held)) in FIGURES.into_iter().zip(counts).skip(from) {
        // What is hardly ever known is not told apart from what is known by luck.
        if known * 10 < seeds {
            continue;
        }
        let part = held as f64 / known as f64;
        assert!(part >= 0.92 - slack && part <= 0.98 + slack, "{name}: {figure} {held} of {known}");
    }
    // An interval is there for what most ask for.
    assert!(counts[..4].iter().all(|(known, _)| known * 10 >= seeds * 9), "{name}: {counts:?}");
}

#[test]
fn calls_that_resemble_the_one_before() {
    let server = Server::Process { correlation: 0.9, spread: 0.3 };
    // The rate is constant: there is nothing to be unsure of.
    check("AR(1) 0.9", Model::steady(server, Arrivals::Constant, 500.0, 60.0), 1);
}

#[test]
fn two_kinds_of_calls() {
    check("bimodal", Model::steady(Server::Bimodal, Arrivals::Poisson, 1_200.0, 20.0), 0);
}

#[test]
fn a_queue_that_is_half_busy() {
    check("M/M/1 0.5", Model::steady(Server::Queue { busy: 0.5 }, Arrivals::Poisson, 500.0, 60.0), 0);
}

#[test]
fn a_queue_that_is_busy() {
    let (rate, seconds) = if seeds(100) >= 1_000 { (2_000.0, 100.0) } else { (1_000.0, 25.0) };
    check("M/M/1 0.8", Model::steady(Server::Queue { busy: 0.8 }, Arrivals::Poisson, rate, seconds), 0);
}

#[test]
fn a_run_that_is_too_short_says_so_and_how_long_it_should_be() {
    let short = Model::steady(Server::Bimodal, Arrivals::Poisson, 1_000.0, 10.0).run(1);
    let found = confidence(&short);
    let Confidence::Underpowered { estimate: Some(_), reason, needed_s: Some(needed_s) } =
        &found.percentiles[4].1
    else {
        panic!("{:?}", found.percentiles[4]);
    };
    assert!(reason.ends_with("samples are too few, it needs 20000"), "{reason}");
    assert!((19.0..21.0).contains(needed_s), "{needed_s}");
    // So long a run knows it.
    let long = Model::steady(Server::Bimodal, Arrivals::Poisson, 1_000.0, 21.0).run(1);
    assert!(confidence(&long).percentiles[4].1.ci95().is_some());
    let few = Model::steady(Server::Bimodal, Arrivals::Poisson, 1_000.0, 1.9).run(1);
    assert!(matches!(
        confidence(&few).rate,
        Confidence::Underpowered { needed_s: Some(needed_s), .. } if (needed_s - 2.0).abs() < 1e-9
    ));
}

#[test]
fn a_queue_that_hardly_moves_in_a_run_is_underpowered() {
    let queue = Server::Queue { busy: 0.98 };
    let known = (0..5).filter(|seed| {
        let run = Model::steady(queue, Arrivals::Poisson, 200.0, 30.0).run(*seed);
        confidence(&run).percentiles[4].1.ci95().is_some()
    });
    assert_eq!(known.count(), 0);
}
