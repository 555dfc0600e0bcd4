//! Percentiles that do not flatter: what never got its reply counts too.
//!
//! A time that failed ranks above every complete one: it never came. One that was still going on when the run
//! ended is longer than its age, no more is known: it leaves the sample there (Kaplan and Meier's estimate,
//! 1958, over the buckets of the histogram). A percentile that falls among failures, or beyond what is known,
//! has only a lower bound.

use httperf_engine::Nanos;
use httperf_stat::{Bucket, Distribution};

/// A percentile with fewer samples than this beyond it says more about chance than about the server.
const BEYOND: u64 = 10;

/// Which percentile: its key in the result document, and its rank in a sample of 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// As it is written: `99.9`.
    pub key: &'static str,
    rank: u64,
}

impl Percentile {
    /// The median.
    pub const P50: Percentile = Percentile { key: "50", rank: 5_000 };
    /// The 99th.
    pub const P99: Percentile = Percentile { key: "99", rank: 9_900 };

    /// Those of the result document, in its order.
    pub const ALL: [Percentile; 7] = [
        Percentile::P50,
        Percentile { key: "75", rank: 7_500 },
        Percentile { key: "90", rank: 9_000 },
        Percentile { key: "95", rank: 9_500 },
        Percentile::P99,
        Percentile { key: "99.9", rank: 9_990 },
        Percentile { key: "99.99", rank: 9_999 },
    ];

    /// The share of the sample that is longer.
    pub(crate) fn beyond(self) -> f64 {
        (10_000 - self.rank) as f64 / 10_000.0
    }
}

/// What is known of a percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// It is this, to the three digits of the histogram; never beyond the longest time.
    Is(Nanos),
    /// It is no less than this: it falls among failures, or beyond what is known.
    AtLeast(Nanos),
    /// Too few samples lie beyond it.
    Unknown,
}

impl Estimate {
    /// The value in seconds, if it is known.
    pub fn value_s(self) -> Option<f64> {
        match self {
            Estimate::Is(nanos) => Some(nanos as f64 / 1e9),
            _ => None,
        }
    }

    /// The lower bound in seconds, if that is all there is.
    pub fn at_least_s(self) -> Option<f64> {
        match self {
            Estimate::AtLeast(nanos) => Some(nanos as f64 / 1e9),
            _ => None,
        }
    }
}

/// The estimate of a percentile.
pub fn percentile(times: &Distribution, which: Percentile) -> Estimate {
    let samples = times.done.count + times.censored();
    if samples == 0 {
        return Estimate::Unknown;
    }
    let beyond = samples - (u128::from(samples) * u128::from(which.rank)).div_ceil(10_000) as u64;
    match reached(times, which.beyond()) {
        Some(Reached::Done(bucket)) if beyond >= BEYOND => Estimate::Is(bucket.high_ns),
        Some(Reached::Done(_)) => Estimate::Unknown,
        Some(Reached::Failed(age)) => Estimate::AtLeast(age),
        None => Estimate::AtLeast(times.done.max_ns.max(times.failed.max_ns).max(times.open.max_ns)),
    }
}

/// Where no more than a share of the sample is left.
pub(crate) enum Reached {
    /// Among the complete times.
    Done(Bucket),
    /// Among the failures, of which this is the age, and never below the longest complete time.
    Failed(Nanos),
}

/// Where no more than a share of the sample (0 to 1) is longer; nowhere, if too much of it is unknown.
pub(crate) fn reached(times: &Distribution, wanted: f64) -> Option<Reached> {
    let samples = times.done.count + times.censored();
    let mut survival =
        Survival { open: times.open.buckets().peekable(), at_risk: samples, share: 1.0, of: samples, wanted };
    for bucket in times.done.buckets() {
        if survival.lose(bucket.low_ns, bucket.count) {
            return Some(Reached::Done(bucket));
        }
    }
    // The failures, in order of their age; none of them would have been shorter than the longest reply.
    let longest = times.done.max_ns;
    for bucket in times.failed.buckets() {
        let age = bucket.low_ns.max(longest);
        if survival.lose(age, bucket.count) {
            return Some(Reached::Failed(age));
        }
    }
    None
}

/// How much of the sample is longer than the times so far.
struct Survival<I: Iterator<Item = Bucket>> {
    /// Ages at which something leaves the sample without having ended.
    open: std::iter::Peekable<I>,
    /// How many have neither ended nor left.
    at_risk: u64,
    /// The share that was longer when something left last, and how many were at risk from there.
    share: f64,
    of: u64,
    /// The share that is longer than the percentile.
    wanted: f64,
}

impl<I: Iterator<Item = Bucket>> Survival<I> {
    /// So many end at a time. Whether the percentile is reached there.
    fn lose(&mut self, at: Nanos, count: u64) -> bool {
        while let Some(left) = self.open.next_if(|open| open.low_ns < at) {
            self.share = self.now();
            self.at_risk = self.at_risk.saturating_sub(left.count);
            self.of = self.at_risk;
        }
        self.at_risk = self.at_risk.saturating_sub(count);
        // The slack is for rounding only: it is far less than one of the largest sample.
        self.now() <= self.wanted + 1e-12
    }

    fn now(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.share * self.at_risk as f64 / self.of as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::times;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn of(done: &[u64], failed: &[u64], open: &[u64]) -> Distribution {
        Distribution { done: times(done), failed: times(failed), open: times(open) }
    }

    fn estimate(times: &Distribution, key: &str) -> Estimate {
        percentile(times, *Percentile::ALL.iter().find(|which| which.key == key).expect("a known percentile"))
    }

    fn near(estimate: Estimate, ms: u64) -> bool {
        matches!(estimate, Estimate::Is(nanos) if nanos.abs_diff(ms * MS) <= ms * MS / 1_000)
    }

    #[test]
    fn ten_samples_lie_beyond_a_percentile_or_it_is_not_known() {
        let numbers = |n: u64| of(&(1..=n).map(|ms| ms * MS).collect::<Vec<_>>(), &[], &[]);
        assert!(near(estimate(&numbers(20), "50"), 10));
        assert_eq!(estimate(&numbers(19), "50"), Estimate::Unknown);
        assert!(near(estimate(&numbers(1_000), "99"), 990));
        assert_eq!(estimate(&numbers(999), "99"), Estimate::Unknown);
        assert!(near(estimate(&numbers(10_000), "99.9"), 9_990));
        assert_eq!(estimate(&numbers(10_000), "99.99"), Estimate::Unknown);
        assert_eq!(estimate(&of(&[], &[], &[]), "50"), Estimate::Unknown);
        // Equal samples have a rank all the same.
        assert_eq!(estimate(&of(&[5_000_001; 1_000], &[], &[]), "99"), Estimate::Is(5_000_001));
    }

    #[test]
    fn failures_rank_above_every_reply() {
        let replies: Vec<u64> = (1..=980).map(|ms| ms * MS).collect();
        let times = of(&replies, &[2 * MS; 20], &[]);
        assert!(near(estimate(&times, "95"), 950));
        // The 990th of 1,000 failed at an age of 2 ms, but it would have been longer than the longest reply.
        assert_eq!(estimate(&times, "99"), Estimate::AtLeast(980 * MS));
    }

    #[test]
    fn the_bound_is_the_age_of_the_failure_that_has_the_rank() {
        let mut ages = vec![1_000 * MS; 30];
        ages.extend([3_000 * MS; 20]);
        let times = of(&[MS; 50], &ages, &[]);
        assert_eq!(estimate(&times, "50"), Estimate::Is(MS));
        assert_eq!(estimate(&times, "75"), Estimate::AtLeast(1_000 * MS));
        assert!(
            matches!(estimate(&times, "90"), Estimate::AtLeast(age) if age.abs_diff(3_000 * MS) < 3 * MS)
        );
        // A bound needs no crowd beyond it.
        assert!(matches!(estimate(&of(&[], &[MS; 3], &[]), "99"), Estimate::AtLeast(MS)));
    }

    #[test]
    fn what_was_going_on_at_the_end_is_censored_at_its_age() {
        // Ten of age 0 say nothing, and change nothing.
        let replies: Vec<u64> = (1..=1_000).map(|ms| ms * MS).collect();
        assert!(near(estimate(&of(&replies, &[], &[0; 10]), "50"), 500));
        // A hundred that have waited for 600 ms take part in the ranks up to there: 1,100 at risk, the median
        // is the 550th.
        assert!(near(estimate(&of(&replies, &[], &[600 * MS; 100]), "50"), 550));
        // Behind 600 ms the others stand for them: half of the 500 that are left is
        // 500/1,100 * (1000 - x)/400.
        let late = estimate(&of(&replies, &[], &[600 * MS; 100]), "90");
        assert!(near(late, 912), "{late:?}");
        // More are going on than have ended: beyond the oldest nothing is known.
        assert_eq!(estimate(&of(&[MS; 10], &[], &[7 * MS; 90]), "50"), Estimate::AtLeast(7 * MS));
    }

    proptest! {
        #[test]
        fn without_censored_ones_it_is_the_nearest_rank(mut values in prop::collection::vec(1..10_000_000_000u64, 1..3_000)) {
            let times = of(&values, &[], &[]);
            values.sort_unstable();
            for which in Percentile::ALL {
                let rank = (values.len() as u64 * which.rank).div_ceil(10_000) as usize;
                let expected = values[rank - 1];
                match percentile(&times, which) {
                    Estimate::Is(nanos) => {
                        prop_assert!(nanos >= expected && nanos - expected <= expected / 1_000 + 1);
                        prop_assert!(values.len() - rank >= 10);
                    }
                    Estimate::Unknown => prop_assert!(values.len() - rank < 10),
                    Estimate::AtLeast(_) => prop_assert!(false, "a bound without failures"),
                }
            }
        }

        #[test]
        fn a_higher_percentile_is_no_shorter(
            done in prop::collection::vec(1..1_000_000_000u64, 0..500),
            failed in prop::collection::vec(1..1_000_000_000u64, 0..50),
            open in prop::collection::vec(0..1_000_000_000u64, 0..50),
        ) {
            let times = of(&done, &failed, &open);
            let known = Percentile::ALL.map(|which| match percentile(&times, which) {
                Estimate::Is(nanos) | Estimate::AtLeast(nanos) => Some(nanos),
                Estimate::Unknown => None,
            });
            prop_assert!(known.iter().flatten().is_sorted());
        }
    }
}
