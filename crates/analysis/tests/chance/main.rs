//! Tests of chance: runs drawn from fixed seeds whose truth is known, and how often the methods are right.
//!
//! `SEEDS=1000 cargo test --release -p httperf-analysis --test chance -- --nocapture` is the long version; it
//! takes some minutes and prints its figures.

#![allow(clippy::print_stdout, reason = "the figures are for the documentation")]

mod coverage;
mod models;
mod steadiness;

/// How many runs of each kind: a few by default, so that every test run can afford them.
fn seeds(by_default: u64) -> u64 {
    std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(by_default)
}
