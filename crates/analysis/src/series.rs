//! A run as a row of equal slices of time: what confidence and steady state are found from.

use std::ops::Range;

use httperf_stat::{Distribution, Measure, Timeline};

/// What happened in one slice of time: an interval, or several of them added up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// Complete replies.
    pub replies: u64,
    /// The mean of the calls in flight.
    pub in_flight: f64,
    /// The times of one measure that ended here.
    pub times: Distribution,
}

/// Slices of one width from some moment of a run to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    slice_s: f64,
    slices: Vec<Slice>,
    /// The rest behind the last full slice, and how long it is.
    rest: Slice,
    rest_s: f64,
}

impl Series {
    /// From slices of a width in seconds, all of them full.
    pub fn new(slice_s: f64, slices: Vec<Slice>) -> Series {
        Series { slice_s, slices, rest: Slice::default(), rest_s: 0.0 }
    }

    /// The intervals of a run, with the times of one measure. The last one counts as a slice only if it is
    /// full; what is in it counts in the whole all the same.
    pub fn of(timeline: &Timeline, measure: Measure) -> Series {
        let width = timeline.width_ns();
        let full = (timeline.end_ns() / width) as usize;
        let slice = |index: usize| Slice {
            replies: timeline.intervals()[index].counts.replies,
            in_flight: timeline.in_flight_mean(index),
            times: timeline.distribution(measure, index..index + 1),
        };
        let mut slices: Vec<Slice> = (0..timeline.intervals().len()).map(slice).collect();
        let rest = slices.split_off(full.min(slices.len()));
        // A run may have been silent in its last intervals: they are slices all the same.
        slices.resize_with(full, Slice::default);
        Series {
            slice_s: width as f64 / 1e9,
            slices,
            rest: sum(&rest),
            rest_s: (timeline.end_ns() % width) as f64 / 1e9,
        }
    }

    /// The width of a slice in seconds.
    pub fn slice_s(&self) -> f64 {
        self.slice_s
    }

    /// The slices, without what lies behind the last full one.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// How long it is in seconds, with what lies behind the last full slice.
    pub fn length_s(&self) -> f64 {
        self.slice_s * self.slices.len() as f64 + self.rest_s
    }

    /// All of it in one, with what lies behind the last full slice.
    pub fn whole(&self) -> Slice {
        let mut whole = sum(&self.slices);
        add(&mut whole, &self.rest);
        let in_flight: f64 = self.slices.iter().map(|slice| slice.in_flight).sum();
        let total = in_flight * self.slice_s + self.rest.in_flight * self.rest_s;
        whole.in_flight = if self.length_s() > 0.0 { total / self.length_s() } else { 0.0 };
        whole
    }

    /// What is left behind the first slices.
    pub fn behind(&self, slices: usize) -> Series {
        let slices = self.slices[slices.min(self.slices.len())..].to_vec();
        Series { slices, rest: self.rest.clone(), ..*self }
    }

    /// The same with so many slices made one. Slices at the beginning that do not fill one are left out.
    pub fn coarser(&self, by: usize) -> Series {
        let by = by.max(1);
        let first = self.slices.len() % by;
        let slices = self.slices[first..].chunks_exact(by).map(sum).collect();
        Series { slice_s: self.slice_s * by as f64, slices, rest: self.rest.clone(), rest_s: self.rest_s }
    }

    /// The slices of a range added up.
    pub(crate) fn sum(&self, range: Range<usize>) -> Slice {
        sum(&self.slices[range])
    }
}

/// Adds slices up, halves first: a sum that grows by one slice after the other would be gone through each
/// time.
fn sum(slices: &[Slice]) -> Slice {
    match slices {
        [] => Slice::default(),
        [one] => one.clone(),
        _ => {
            let (left, right) = slices.split_at(slices.len() / 2);
            let (mut both, right) = (sum(left), sum(right));
            add(&mut both, &right);
            both.in_flight = slices.iter().map(|slice| slice.in_flight).sum::<f64>() / slices.len() as f64;
            both
        }
    }
}

fn add(to: &mut Slice, other: &Slice) {
    to.replies += other.replies;
    to.times.done.merge(&other.times.done);
    to.times.failed.merge(&other.times.failed);
    to.times.open.merge(&other.times.open);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{run_with, simulated, times};

    #[test]
    fn what_lies_behind_the_last_full_interval_counts_in_the_whole_only() {
        // 40 arrivals of 6 ms each: two full intervals and four tenths of one.
        let (basic, timeline) = run_with(40, 0, 6_000_000);
        let series = Series::of(&timeline, Measure::Response);
        assert_eq!((series.slice_s(), series.slices().len()), (0.1, 2));
        assert!((series.length_s() - 0.24).abs() < 1e-3);
        assert_eq!((series.whole().replies, series.whole().times.done.count), (basic.replies(), 40));
        assert!(series.slices().iter().all(|slice| (slice.in_flight - 1.0).abs() < 0.01));
        assert!((series.whole().in_flight - 1.0).abs() < 0.01);
        assert_eq!(series.behind(1).whole().replies, 40 - series.slices()[0].replies);
    }

    #[test]
    fn the_whole_is_that_of_the_timeline_whatever_went_wrong() {
        for seed in 0..3 {
            let (basic, timeline) = simulated(seed);
            for measure in [Measure::Response, Measure::Connect] {
                let whole = Series::of(&timeline, measure).whole();
                assert_eq!((whole.replies, whole.times), (basic.replies(), timeline.whole(measure)));
            }
        }
    }

    #[test]
    fn coarser_slices_end_where_the_fine_ones_do() {
        let slice = |replies| Slice {
            replies,
            in_flight: replies as f64,
            times: Distribution { done: times(&[replies]), ..Distribution::default() },
        };
        let series = Series::new(0.5, (1..=7).map(slice).collect()).coarser(3);
        let slices: Vec<_> = series
            .slices()
            .iter()
            .map(|slice| (slice.replies, slice.in_flight, slice.times.done.sum_ns))
            .collect();
        assert_eq!((series.slice_s(), slices), (1.5, vec![(9, 3.0, 9), (18, 6.0, 18)]));
        assert_eq!(Series::new(0.1, Vec::new()).whole(), Slice::default());
    }
}
