//! How sure a figure is: intervals that hold the truth in 95 of 100 runs, though one reply is like the
//! next.
//!
//! ```text
//!   slices --> what each adds to the error of the figure --> 20 batches or a few more --> t interval
//! ```
//!
//! Replies of one moment resemble each other: they have waited in the same queue. So the unit of chance is
//! not the reply but the *batch*, a stretch of the run so long that one batch says nothing of the next
//! (Conway 1963; Schmeiser 1982 on why 20 to 30 of them are enough).
//!
//! Every figure is that of the whole run; no figure is ever averaged over batches. Each figure is a ratio
//! of two sums over the run, and a batch's share in its error is `numerator - ratio * denominator`:
//!
//! | figure | numerator | denominator |
//! |---|---|---|
//! | rate | replies | seconds |
//! | mean | sum of the times | their number |
//! | percentile | times beyond the whole run's percentile | their number |
//!
//! For a percentile this gives an interval for the share of the sample that lies beyond it; the merged
//! histogram of the whole run is read at both ends of that (Woodruff 1952). It stays right where the
//! histogram has gaps or steps, and needs no more of a batch than two counts.

use httperf_stat::Distribution;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::percentile::{Estimate, Percentile, Reached, percentile, reached};
use crate::series::{Series, Slice};

/// With fewer batches nothing is said.
const BATCHES: usize = 20;
/// A percentile needs so many samples on its thinner side: 20,000 in all for the 99th.
const THIN_SIDE: f64 = 200.0;
/// What is measured (for a percentile: the share beyond it) must be known to this part of itself, or there
/// was too little of it, however many samples there are.
const LIMIT: f64 = 0.4;
/// Close to the limit those runs pass whose error came out too small by chance: there the interval is wider
/// by this part, and less so further away. Chosen by simulation.
const WIDENED: f64 = 0.4;
/// How much what is left of the correlation adds to the variance. Chosen by simulation.
const RESEMBLANCE: f64 = 1.5;
/// One-sided 5 % of a correlation that is not there is beyond this many of its standard deviations.
const CORRELATED: f64 = 1.645;

/// What is known of a figure, in its own unit: seconds, or replies per second.
#[derive(Clone, Debug, PartialEq)]
pub enum Confidence {
    /// The truth is between `low` and `high` in 95 of 100 runs.
    Known {
        /// The figure of the whole run.
        estimate: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// From how many batches.
        batches: usize,
    },
    /// The run is too short to say.
    Underpowered {
        /// The figure of the whole run, if there is one.
        estimate: Option<f64>,
        /// Why.
        reason: String,
        /// How long the run would have to be, in seconds, as far as this one tells; `None` if length is not
        /// what is missing.
        needed_s: Option<f64>,
    },
}

impl Confidence {
    /// Both ends: `ci95` of the result document.
    pub fn ci95(&self) -> Option<[f64; 2]> {
        match *self {
            Confidence::Known { low, high, .. } => Some([low, high]),
            Confidence::Underpowered { .. } => None,
        }
    }

    /// Half the width of the interval as a part of the figure: 0.05 is what `ci(p99)<5%` asks for.
    pub fn relative_half_width(&self) -> Option<f64> {
        match *self {
            Confidence::Known { estimate, low, high, .. } if estimate > 0.0 => {
                Some((high - low) / 2.0 / estimate)
            }
            _ => None,
        }
    }
}

/// What is known of the figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Confidences {
    /// Replies per second.
    pub rate: Confidence,
    /// The mean of the times that are complete, in seconds.
    pub mean: Confidence,
    /// Percentiles, in seconds, in the order of the result document.
    pub percentiles: Vec<(Percentile, Confidence)>,
}

/// How sure the rate, the mean and the percentiles of a run are.
pub fn confidence(series: &Series) -> Confidences {
    let whole = series.whole();
    let length_s = series.length_s();
    let rate = if length_s > 0.0 { whole.replies as f64 / length_s } else { 0.0 };
    let rates = series.slices().iter().map(|slice| Share::new(slice.replies as f64, series.slice_s()));
    let mean = whole.times.done.mean_s();
    let means = series.slices().iter().map(|slice| {
        let done = &slice.times.done;
        Share::new(done.sum_ns as f64 / 1e9, done.count as f64)
    });
    Confidences {
        rate: symmetric((whole.replies > 0).then_some(rate), &rates.collect::<Vec<_>>(), length_s),
        mean: symmetric((!whole.times.done.is_empty()).then_some(mean), &means.collect::<Vec<_>>(), length_s),
        percentiles: Percentile::ALL
            .into_iter()
            .map(|which| (which, of_percentile(series, &whole.times, which)))
            .collect(),
    }
}

/// What a slice adds to numerator and denominator of a figure.
#[derive(Clone, Copy, Debug)]
struct Share {
    part: f64,
    of: f64,
}

impl Share {
    fn new(part: f64, of: f64) -> Share {
        Share { part, of }
    }
}

/// An interval of the same width on both sides.
fn symmetric(ratio: Option<f64>, shares: &[Share], length_s: f64) -> Confidence {
    let Some(estimate) = ratio else {
        return Confidence::Underpowered {
            estimate: None,
            reason: "there is no reply".into(),
            needed_s: None,
        };
    };
    match Error::of(estimate, estimate, shares) {
        Ok(Error { known_to, .. }) if known_to > LIMIT => Confidence::Underpowered {
            estimate: Some(estimate),
            reason: "it is another one in every batch".into(),
            needed_s: Some(length_s * (known_to / LIMIT).powi(2)),
        },
        Ok(Error { half, batches, .. }) => {
            Confidence::Known { estimate, low: (estimate - half).max(0.0), high: estimate + half, batches }
        }
        Err(short) => short.confidence(Some(estimate), length_s),
    }
}

fn of_percentile(series: &Series, whole: &Distribution, which: Percentile) -> Confidence {
    let length_s = series.length_s();
    let wanted = which.beyond();
    let samples = (whole.done.count + whole.censored()) as f64;
    let unknown =
        |reason: &str| Confidence::Underpowered { estimate: None, reason: reason.into(), needed_s: None };
    let estimate = match percentile(whole, which) {
        Estimate::Is(nanos) => Some(nanos as f64 / 1e9),
        Estimate::AtLeast(_) => return unknown("it falls among calls that failed or never ended"),
        Estimate::Unknown if samples == 0.0 => return unknown("there is no reply"),
        Estimate::Unknown => None,
    };
    let thin_side = samples * wanted.min(1.0 - wanted);
    if thin_side < THIN_SIDE {
        let reason =
            format!("{samples:.0} samples are too few, it needs {:.0}", THIN_SIDE / wanted.min(1.0 - wanted));
        let needed_s = Some(length_s * THIN_SIDE / thin_side);
        return Confidence::Underpowered { estimate, reason, needed_s };
    }
    let (Some(estimate), Some(Reached::Done(at))) = (estimate, reached(whole, wanted)) else {
        return unknown("it falls among calls that failed or never ended");
    };
    // What lies beyond it. Of equal times in its own bucket the part counts that makes it the percentile.
    let mut all = split(whole, at.high_ns);
    all.of = all.of.max(1.0);
    let tied = at.count as f64;
    let part = ((wanted * all.of - all.part) / tied).clamp(0.0, 1.0);
    let share = |slice: &Slice| {
        let above = split(&slice.times, at.high_ns);
        let tied = slice
            .times
            .done
            .buckets()
            .filter(|bucket| at.low_ns <= bucket.high_ns && bucket.low_ns <= at.high_ns);
        let tied: u64 = tied.map(|bucket| bucket.count).sum();
        Share::new(above.part + part * tied as f64, above.of)
    };
    let shares: Vec<Share> = series.slices().iter().map(share).collect();
    let error = match Error::of(wanted, wanted.min(1.0 - wanted), &shares) {
        Ok(error) => error,
        Err(short) => return short.confidence(Some(estimate), length_s),
    };
    if error.known_to > LIMIT {
        let reason = "the samples beyond it came in too few bursts".to_owned();
        let needed_s = Some(length_s * (error.known_to / LIMIT).powi(2));
        return Confidence::Underpowered { estimate: Some(estimate), reason, needed_s };
    }
    match (reached(whole, wanted + error.half), reached(whole, wanted - error.half)) {
        (Some(Reached::Done(low)), Some(Reached::Done(high))) => {
            let (low, high) = (low.low_ns as f64 / 1e9, high.high_ns as f64 / 1e9);
            Confidence::Known { estimate, low, high, batches: error.batches }
        }
        _ => Confidence::Underpowered {
            estimate: Some(estimate),
            reason: "the upper end of its interval falls among calls that failed or never ended".into(),
            needed_s: None,
        },
    }
}

/// How many times are longer, of how many of which that is known. Failures are longer than everything.
fn split(times: &Distribution, than: u64) -> Share {
    let longer = |times: &httperf_stat::Times| -> u64 {
        times.buckets().filter(|bucket| bucket.low_ns > than).map(|bucket| bucket.count).sum()
    };
    let open = longer(&times.open);
    let part = longer(&times.done) + times.failed.count + open;
    Share::new(part as f64, (times.done.count + times.failed.count + open) as f64)
}

/// Half the width of the interval of a ratio.
struct Error {
    half: f64,
    /// The same before it is widened, as a part of what is measured.
    known_to: f64,
    batches: usize,
}

/// Why there is no interval.
enum Short {
    /// So many slices are there.
    Slices(usize),
    /// Neighbouring batches still resemble each other, by this correlation.
    Correlated(f64),
    /// Nothing was counted.
    Empty,
}

impl Short {
    fn confidence(self, estimate: Option<f64>, length_s: f64) -> Confidence {
        let (reason, factor) = match self {
            Short::Slices(slices) => (
                format!("{slices} intervals are too few for {BATCHES} batches"),
                (slices > 0).then(|| BATCHES as f64 / slices as f64),
            ),
            // The correlation of neighbours halves when batches are twice as long.
            Short::Correlated(by) => (
                format!("{BATCHES} batches are not independent of each other (correlation {by:.2})"),
                Some(2.0f64.max(by * 8.0)),
            ),
            Short::Empty => ("there is no reply".into(), None),
        };
        Confidence::Underpowered { estimate, reason, needed_s: factor.map(|factor| length_s * factor) }
    }
}

impl Error {
    /// Of a ratio, over slices; `scale` is what the error is compared with.
    fn of(ratio: f64, scale: f64, shares: &[Share]) -> Result<Error, Short> {
        if shares.len() < BATCHES {
            return Err(Short::Slices(shares.len()));
        }
        // Half the length of the batches that count: there are more of them to tell a correlation by.
        let halves = merged(shares, (shares.len() / (2 * BATCHES)).max(1));
        let batches = merged(shares, shares.len() / BATCHES);
        let of: f64 = batches.iter().map(|batch| batch.of).sum();
        if of <= 0.0 {
            return Err(Short::Empty);
        }
        let correlation = neighbours(&errors(ratio, &halves));
        if significant(correlation, halves.len()) {
            let correlation = neighbours(&errors(ratio, &batches));
            if significant(correlation, batches.len()) {
                return Err(Short::Correlated(correlation));
            }
        }
        let count = batches.len() as f64;
        let errors = errors(ratio, &batches);
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        // What is left of the correlation at the batches' own length is half of that at half of it.
        let variance = squares * count / (count - 1.0) * (1.0 + RESEMBLANCE * correlation.max(0.0));
        let half = quantile(batches.len() - 1) * variance.sqrt() / of;
        let known_to = half / scale;
        Ok(Error {
            half: half * (1.0 + WIDENED * (known_to / LIMIT).powi(2)),
            known_to,
            batches: batches.len(),
        })
    }
}

/// Whether a correlation of neighbours is more than chance makes of none.
fn significant(correlation: f64, batches: usize) -> bool {
    correlation * (batches as f64).sqrt() > CORRELATED
}

/// What each batch adds to the error of the ratio, less what all of them have in common.
fn errors(ratio: f64, batches: &[Share]) -> Vec<f64> {
    let errors = batches.iter().map(|batch| batch.part - ratio * batch.of);
    let mean = errors.clone().sum::<f64>() / batches.len() as f64;
    errors.map(|error| error - mean).collect()
}

/// So many made one. Those at the beginning that do not fill one are left out.
fn merged(shares: &[Share], by: usize) -> Vec<Share> {
    let sum = |some: &[Share]| {
        some.iter()
            .fold(Share::new(0.0, 0.0), |sum, share| Share::new(sum.part + share.part, sum.of + share.of))
    };
    shares[shares.len() % by..].chunks_exact(by).map(sum).collect()
}

/// The correlation of each with the next; 0 if all are the same.
pub(crate) fn neighbours(errors: &[f64]) -> f64 {
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    let products: f64 = errors.windows(2).map(|two| two[0] * two[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// The t quantile that leaves 2.5 % on either side.
fn quantile(freedom: usize) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom as f64) {
        Ok(t) => t.inverse_cdf(0.975),
        Err(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::times;

    fn series(slices: usize, slice: impl Fn(u64) -> (Vec<u64>, usize)) -> Series {
        let slices = (0..slices as u64).map(|at| {
            let (done, failed) = slice(at);
            let replies = done.len() as u64;
            let times = Distribution {
                done: times(&done),
                failed: times(&vec![1; failed]),
                ..Distribution::default()
            };
            Slice { replies, in_flight: 0.0, times }
        });
        Series::new(0.1, slices.collect())
    }

    #[test]
    fn the_t_quantiles_are_those_of_the_tables() {
        for (freedom, table) in [(19, 2.093_024), (29, 2.045_230), (1, 12.706_205)] {
            assert!((quantile(freedom) - table).abs() < 1e-5);
        }
    }

    #[test]
    fn what_never_changes_is_known_for_sure() {
        let found = confidence(&series(40, |_| (vec![5_000_000; 1_000], 0)));
        assert_eq!(found.rate.ci95(), Some([10_000.0, 10_000.0]));
        assert_eq!(found.rate.relative_half_width(), Some(0.0));
        let p99 = &found.percentiles[4].1;
        assert_eq!(p99.ci95(), Some([0.005, 0.005]));
    }

    #[test]
    fn the_rate_has_the_interval_of_its_batches() {
        // 20 batches of one slice: 90 and 110 replies in turn, which resemble each other less than chance.
        let found = confidence(&series(20, |at| (vec![1_000; if at % 2 == 0 { 90 } else { 110 }], 0)));
        let deviation = 100.0 * (20.0f64 / 19.0).sqrt();
        let half = quantile(19) * deviation / 20.0f64.sqrt();
        let Some([low, high]) = found.rate.ci95() else { panic!("{:?}", found.rate) };
        // A twentieth of the limit widens hardly.
        assert!((1_000.0 - low - half).abs() < 0.01 * half && (high + low - 2_000.0).abs() < 1e-6);
    }

    #[test]
    fn batches_that_resemble_each_other_are_not_enough() {
        let found = confidence(&series(40, |at| (vec![1_000 * (at / 10 + 1); 100], 0)));
        let Confidence::Underpowered { estimate: Some(_), reason, needed_s: Some(needed_s) } = found.mean
        else {
            panic!("{:?}", found.mean)
        };
        assert!(reason.contains("not independent of each other"), "{reason}");
        assert!(needed_s >= 8.0);
    }

    #[test]
    fn a_percentile_among_failures_has_no_interval() {
        let some: Vec<u64> = (1..=600).map(|us| us * 1_000).collect();
        let found = confidence(&series(40, |_| (some.clone(), 12)));
        let [p95, p99] = [&found.percentiles[3].1, &found.percentiles[4].1];
        assert!(p95.ci95().is_some_and(|[low, high]| low <= high), "{p95:?}");
        let Confidence::Underpowered { estimate: None, reason, needed_s: None } = p99 else {
            panic!("{p99:?}")
        };
        assert_eq!(reason, "it falls among calls that failed or never ended");
        // Failures count: without them the 95th is a shorter one.
        let clean = confidence(&series(40, |_| (some.clone(), 0)));
        let [with, without] = [p95, &clean.percentiles[3].1].map(|found| found.ci95().unwrap_or_default()[0]);
        assert!(with > without);
    }

    #[test]
    fn a_run_without_replies_knows_nothing() {
        for slices in [0, 1, 50] {
            let found = confidence(&series(slices, |_| (Vec::new(), 0)));
            let all = [&found.rate, &found.mean]
                .into_iter()
                .chain(found.percentiles.iter().map(|(_, found)| found));
            for figure in all {
                assert!(
                    matches!(figure, Confidence::Underpowered { estimate: None, needed_s: None, .. }),
                    "{figure:?}"
                );
            }
        }
    }
}
