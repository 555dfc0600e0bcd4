//! Where the warm-up ends: what a run does before it has settled is set aside by evidence, not by habit.
//!
//! White's rule (MSER-5, 1997): leave out so much of the beginning that the mean of the rest is known best;
//! the batches of five are batches of one second here. It is asked of the rate and of the logarithm of the
//! times. On a row without a warm-up it still finds some place now and then. So a cut is made only where
//! the level changes there by more than chance: the median and the 99th percentile are asked about the
//! times, the rate about itself.

use crate::percentile::{Percentile, Reached, reached};
use crate::series::{Series, Slice};
use crate::trend::{CHANGE, inflation, trend};

/// With fewer batches there is no beginning and no rest.
const BATCHES: usize = 10;
/// The length of a batch in seconds; a slice that is longer is a batch.
const BATCH_S: f64 = 1.0;
/// What still changes behind the cut is less than this part of what changed at it.
const SETTLED: f64 = 0.5;
/// No row is so quiet that less than a change of half a per cent from one batch to the next is looked at.
const QUIET: f64 = 0.005;

/// How many slices at the beginning are warm-up: less than half of them.
pub(crate) fn warmup(series: &Series) -> usize {
    let by = ((BATCH_S / series.slice_s()).round() as usize).max(1);
    let count = series.slices().len() / by;
    if count < BATCHES {
        return 0;
    }
    let batches: Vec<Slice> = (0..count).map(|batch| series.sum(batch * by..(batch + 1) * by)).collect();
    let rates = rates(&batches);
    let row = |of: fn(&Slice) -> Option<f64>| filled(&batches.iter().map(of).collect::<Vec<_>>());
    let (times, p50, p99) =
        (row(mean_log), row(|batch| log(batch, Percentile::P50)), row(|batch| log(batch, Percentile::P99)));
    let confirmed = |cut: Option<usize>, rows: &[&[f64]]| {
        cut.filter(|cut| rows.iter().any(|row| changes(row, *cut))).unwrap_or(0)
    };
    by * confirmed(mser(&rates), &[&rates]).max(confirmed(mser(&times), &[&p50, &p99]))
}

/// The earliest cut after which the mean is known as well as it can be: what a later one gains must be more
/// than chance makes of a variance. `None` if that is the last one asked: then the row has settled later or
/// not at all, and no cut mends that.
fn mser(row: &[f64]) -> Option<usize> {
    let last = row.len() / 2;
    let error = |cut: usize| {
        let rest = &row[cut..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        rest.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
    };
    let errors: Vec<f64> = (0..=last).map(error).collect();
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let as_good = |cut: &usize| errors[*cut] <= least * (1.0 + (2.0 / (row.len() - cut) as f64).sqrt());
    (0..=last).find(as_good).filter(|cut| *cut < last)
}

/// Whether the level before a cut is another one than behind it, and stays there: what goes on changing is no
/// warm-up but a drift.
fn changes(row: &[f64], cut: usize) -> bool {
    if cut == 0 {
        return false;
    }
    let (before, rest) = row.split_at(cut);
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let (level, apart) = (mean(rest), mean(before) - mean(rest));
    let squares: f64 = rest.iter().map(|value| (value - level).powi(2)).sum();
    let variance = (squares / (rest.len() - 1) as f64).max(QUIET * QUIET) * inflation(rest);
    let goes_on = trend(rest).slope * rest.len() as f64;
    let settled = goes_on.abs() < SETTLED * apart.abs();
    settled
        && apart.abs() > CHANGE * (variance * (1.0 / before.len() as f64 + 1.0 / rest.len() as f64)).sqrt()
}

/// Rates as parts of their mean.
fn rates(batches: &[Slice]) -> Vec<f64> {
    let mean = batches.iter().map(|batch| batch.replies as f64).sum::<f64>() / batches.len() as f64;
    batches.iter().map(|batch| if mean > 0.0 { batch.replies as f64 / mean } else { 0.0 }).collect()
}

/// The mean of the logarithms of the times.
pub(crate) fn mean_log(batch: &Slice) -> Option<f64> {
    let done = &batch.times.done;
    let logs: f64 =
        done.buckets().map(|bucket| (bucket.high_ns.max(1) as f64).ln() * bucket.count as f64).sum();
    (done.count > 0).then(|| logs / done.count as f64)
}

/// The logarithm of a percentile of a batch, or of its bound.
pub(crate) fn log(batch: &Slice, which: Percentile) -> Option<f64> {
    let nanos = match reached(&batch.times, which.beyond())? {
        Reached::Done(bucket) => bucket.high_ns,
        Reached::Failed(age) => age,
    };
    (batch.times.done.count + batch.times.failed.count > 0).then(|| (nanos.max(1) as f64).ln())
}

/// Where nothing is known the value before stands, at the beginning the first one.
pub(crate) fn filled(row: &[Option<f64>]) -> Vec<f64> {
    let mut last = row.iter().flatten().next().copied().unwrap_or(0.0);
    row.iter()
        .map(|value| {
            last = value.unwrap_or(last);
            last
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_the_earliest_that_is_as_good_as_any() {
        let noise = |at: i32| f64::from(at * 7 % 5) / 10.0;
        let row =
            |warm: i32| (0..30).map(|at| if at < warm { 5.0 } else { 1.0 } + noise(at)).collect::<Vec<f64>>();
        for warm in [0, 1, 7, 14] {
            assert_eq!(mser(&row(warm)), Some(warm as usize));
            assert_eq!(changes(&row(warm), warm as usize), warm > 0);
        }
        assert_eq!(mser(&row(15)), None, "half of the row is not cut");
        assert_eq!(mser(&[3.0; 20]), Some(0));
    }

    #[test]
    fn what_goes_on_changing_is_no_warm_up() {
        let line: Vec<f64> = (0..40).map(|at| f64::from(at) / 10.0).collect();
        assert!((1..20).all(|cut| !changes(&line, cut)));
    }

    #[test]
    fn batches_without_a_time_take_that_of_a_neighbour() {
        assert_eq!(filled(&[None, Some(2.0), None, Some(3.0)]), [2.0, 2.0, 2.0, 3.0]);
        assert_eq!(filled(&[None, None]), [0.0, 0.0]);
        assert_eq!((mean_log(&Slice::default()), log(&Slice::default(), Percentile::P50)), (None, None));
    }
}
