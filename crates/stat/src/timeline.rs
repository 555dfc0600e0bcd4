//! A run as a sequence of intervals: what all loops have handed over, in bounded memory.

use std::collections::BTreeMap;
use std::ops::Range;

use httperf_engine::Nanos;

use crate::interval::{Block, UNIT};
use crate::latency::{Distribution, Measure, Times};

/// More intervals than these are never kept: neighbours merge.
const INTERVALS: usize = 1_200;
/// More bytes of histograms than these are never kept, whatever the width: neighbours merge.
const BYTES: usize = 48 << 20;

/// Intervals of one width, from the start of the run. They are 100 ms wide at first; whenever there would be
/// too many, neighbours merge by 2 and by 5 in turn (0.2 s, 1 s, 2 s, 10 s, ...).
///
/// Adding blocks and merging timelines comes to the same in any order (the width too, as long as the
/// histograms stay below their limit of 48 MiB, which an unusual run only reaches).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// How often neighbours have merged.
    steps: u32,
    intervals: Vec<Interval>,
    /// Bytes of all histograms.
    bytes: usize,
    end_ns: Nanos,
    /// Blocks that reached over the end of their 100 ms.
    late_blocks: u64,
}

/// What happened in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// What happened how often.
    pub counts: Counts,
    /// Nanoseconds times calls in flight: between due and end, waiting ones included.
    pub in_flight_ns: u128,
    times: BTreeMap<Slot, Times>,
}

/// Counts of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Arrivals that fell due in it and were taken up, then or later.
    pub scheduled: u64,
    /// Requests given to a send queue.
    pub sent: u64,
    /// Complete replies.
    pub replies: u64,
    /// Failures of connections: the errors.
    pub errors: u64,
    /// Calls that failed.
    pub calls_failed: u64,
    /// Calls without a reply when the run ended.
    pub calls_aborted: u64,
    /// Payload bytes that came.
    pub bytes_received: u64,
}

/// A kind of times. Response times are kept apart by the class of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Done(Measure),
    Class(u8),
    Failed(Measure),
    Open(Measure),
}

impl Counts {
    fn merge(&mut self, other: &Counts) {
        self.scheduled += other.scheduled;
        self.sent += other.sent;
        self.replies += other.replies;
        self.errors += other.errors;
        self.calls_failed += other.calls_failed;
        self.calls_aborted += other.calls_aborted;
        self.bytes_received += other.bytes_received;
    }
}

impl Interval {
    fn merge(&mut self, other: &Interval) {
        self.counts.merge(&other.counts);
        self.in_flight_ns += other.in_flight_ns;
        for (slot, times) in &other.times {
            self.times.entry(*slot).or_default().merge(times);
        }
    }

    fn size(&self) -> usize {
        self.times.values().map(Times::size).sum()
    }
}

impl Timeline {
    /// The width of every interval.
    pub fn width_ns(&self) -> Nanos {
        UNIT * self.units()
    }

    /// The intervals, from the start of the run. The last one may end before its width is full.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// When the last loop ended, from the start of its run.
    pub fn end_ns(&self) -> Nanos {
        self.end_ns
    }

    /// How many blocks cover more than 100 ms because no empty one was there in time. What such a block
    /// counts is in the last of its intervals.
    pub fn late_blocks(&self) -> u64 {
        self.late_blocks
    }

    /// The mean of the calls in flight over an interval.
    pub fn in_flight_mean(&self, interval: usize) -> f64 {
        let width = self.width_ns();
        let covered = self.end_ns.saturating_sub(width * interval as u64).min(width);
        let in_flight = self.intervals.get(interval).map_or(0, |interval| interval.in_flight_ns);
        if covered == 0 { 0.0 } else { in_flight as f64 / covered as f64 }
    }

    /// The counts of the whole run.
    pub fn totals(&self) -> Counts {
        let mut totals = Counts::default();
        self.intervals.iter().for_each(|interval| totals.merge(&interval.counts));
        totals
    }

    /// The times of a measure over a range of intervals; a range beyond the end is cut.
    pub fn distribution(&self, measure: Measure, range: Range<usize>) -> Distribution {
        let done = match measure {
            Measure::Response => self.sum(&range, |slot| matches!(slot, Slot::Class(_))),
            _ => self.sum(&range, |slot| slot == Slot::Done(measure)),
        };
        Distribution {
            done,
            failed: self.sum(&range, |slot| slot == Slot::Failed(measure)),
            open: self.sum(&range, |slot| slot == Slot::Open(measure)),
        }
    }

    /// The times of a measure over the whole run.
    pub fn whole(&self, measure: Measure) -> Distribution {
        self.distribution(measure, 0..self.intervals.len())
    }

    /// The response times of replies whose status is in a class: 2 for 200 to 299 and so on, codes from 600
    /// on in the class of 5, codes below 100 in 0.
    pub fn response_in_class(&self, class: u8) -> Times {
        self.sum(&(0..self.intervals.len()), |slot| slot == Slot::Class(class))
    }

    /// Adds a block of one loop.
    pub fn add(&mut self, block: &Block) {
        let last = block.last_unit();
        self.end_ns = self.end_ns.max(block.until_ns());
        self.late_blocks += u64::from(block.first_unit() != last);
        block.in_flight(|unit, nanos| self.interval_of(unit).in_flight_ns += u128::from(nanos));
        block.scheduled(|unit, count| self.interval_of(unit).counts.scheduled += count);
        let interval = self.interval_of(last);
        interval.counts.merge(&block.counts());
        let before = interval.size();
        for (slot, recorder) in block.recorders().filter(|(_, recorder)| !recorder.is_empty()) {
            interval.times.entry(slot).or_default().merge(&recorder.times());
        }
        self.bytes = self.bytes + self.interval_of(last).size() - before;
        self.fit(BYTES);
    }

    /// Adds the timeline of other loops of the same run.
    pub fn merge(&mut self, other: &Timeline) {
        while self.steps < other.steps {
            self.widen();
        }
        self.end_ns = self.end_ns.max(other.end_ns);
        self.late_blocks += other.late_blocks;
        for (index, theirs) in other.intervals.iter().enumerate() {
            let unit = index as u64 * other.units();
            let mine = self.interval_of(unit);
            let before = mine.size();
            mine.merge(theirs);
            self.bytes = self.bytes + self.interval_of(unit).size() - before;
        }
        self.fit(BYTES);
    }

    fn sum(&self, range: &Range<usize>, wanted: impl Fn(Slot) -> bool) -> Times {
        let end = range.end.min(self.intervals.len());
        let intervals = &self.intervals[range.start.min(end)..end];
        let times = intervals.iter().flat_map(|interval| &interval.times);
        Times::sum(times.filter(|(slot, _)| wanted(**slot)).map(|(_, times)| times))
    }

    /// The width in units.
    fn units(&self) -> u64 {
        10u64.pow(self.steps / 2) * if self.steps.is_multiple_of(2) { 1 } else { 2 }
    }

    /// The interval in which a unit lies.
    fn interval_of(&mut self, unit: u64) -> &mut Interval {
        while unit / self.units() >= INTERVALS as u64 {
            self.widen();
        }
        let index = (unit / self.units()) as usize;
        if self.intervals.len() <= index {
            self.intervals.resize_with(index + 1, Interval::default);
        }
        &mut self.intervals[index]
    }

    /// Merges neighbours.
    fn widen(&mut self) {
        let factor = if self.steps.is_multiple_of(2) { 2 } else { 5 };
        self.steps += 1;
        let narrow = std::mem::take(&mut self.intervals);
        for (index, interval) in narrow.into_iter().enumerate() {
            match self.intervals.last_mut() {
                Some(last) if index % factor != 0 => last.merge(&interval),
                _ => self.intervals.push(interval),
            }
        }
        self.bytes = self.intervals.iter().map(Interval::size).sum();
    }

    fn fit(&mut self, limit: usize) {
        while self.bytes > limit && self.intervals.len() > 1 {
            self.widen();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::tests::{block, busy_block};
    use proptest::prelude::*;

    fn timeline(blocks: &[(u64, u64, u64)]) -> Timeline {
        let mut timeline = Timeline::default();
        blocks.iter().for_each(|(unit, units, value)| timeline.add(&block(*unit, *units, *value)));
        timeline
    }

    #[test]
    fn intervals_are_as_wide_as_their_number_allows() {
        for (last, width_ms, number) in [
            (0, 100, 1),
            (1_199, 100, 1_200),
            (1_200, 200, 601),
            (2_399, 200, 1_200),
            (2_400, 1_000, 241),
            (11_999, 1_000, 1_200),
            (12_000, 2_000, 601),
            (24_000, 10_000, 241),
            (120_000, 20_000, 601),
        ] {
            let timeline = timeline(&[(0, 1, 7), (last, 1, 9)]);
            assert_eq!(
                (timeline.width_ns() / 1_000_000, timeline.intervals().len()),
                (width_ms, number),
                "{last}"
            );
            assert_eq!(timeline.totals().replies, 2);
            assert_eq!(timeline.whole(Measure::Response).done.sum_ns, 16);
            assert_eq!(timeline.end_ns(), (last + 1) * UNIT);
        }
    }

    #[test]
    fn a_block_that_covers_more_counts_in_the_last_of_its_slices() {
        let timeline = timeline(&[(2, 3, 7)]);
        assert_eq!(timeline.late_blocks(), 1);
        let replies: Vec<_> = timeline.intervals().iter().map(|interval| interval.counts.replies).collect();
        assert_eq!(replies, [0, 0, 0, 0, 1]);
        // One call was in flight all the time.
        let in_flight: Vec<_> = (0..5).map(|index| timeline.in_flight_mean(index)).collect();
        assert_eq!(in_flight, [0.0, 0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_range_has_the_times_of_its_intervals() {
        let timeline = timeline(&[(0, 1, 7), (1, 1, 8), (2, 1, 9)]);
        let of = |range| timeline.distribution(Measure::Response, range).done;
        assert_eq!((of(1..3).sum_ns, of(0..1).max_ns, of(2..9).count, of(7..9).count), (17, 7, 1, 0));
        assert_eq!((timeline.response_in_class(2).count, timeline.response_in_class(5).count), (3, 0));
    }

    #[test]
    fn an_hour_at_ten_thousand_a_second_stays_small() {
        // Log-normal response times around 1 ms with a long tail, each block with its 1,000 calls.
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut blocks: Vec<Block> = (0..20)
            .map(|_| {
                let values: Vec<u64> = (0..1_000)
                    .map(|_| {
                        let normal =
                            (-2.0 * (1.0 - draw()).ln()).sqrt() * (std::f64::consts::TAU * draw()).cos();
                        (1e6 * (0.8 * normal).exp()) as u64
                    })
                    .collect();
                busy_block(&values)
            })
            .collect();
        let mut timeline = Timeline::default();
        let mut most = 0;
        for unit in 0..36_000u64 {
            // Some slices are enough for the size: later ones find most buckets there already.
            if unit < 1_200 || unit.is_multiple_of(25) {
                timeline.add(blocks[(unit % 20) as usize].move_to(unit));
                most = most.max(timeline.bytes);
            }
        }
        assert_eq!(timeline.width_ns(), 10_000_000_000);
        assert!(most < 32 << 20, "{most} bytes");
        assert_eq!(timeline.bytes, timeline.intervals.iter().map(Interval::size).sum::<usize>());
    }

    #[test]
    fn histograms_never_take_more_than_their_limit() {
        // Every bucket there is.
        let values: Vec<u64> =
            (0..crate::sparse::BUCKETS as u64).map(|bucket| crate::sparse::bounds(bucket).0).collect();
        let mut full = busy_block(&values);
        let mut timeline = Timeline::default();
        (0..20).for_each(|unit| timeline.add(full.move_to(unit)));
        let one = timeline.intervals()[0].size();
        assert_eq!(timeline.bytes, 20 * one);
        timeline.fit(7 * one);
        assert_eq!((timeline.width_ns(), timeline.intervals().len()), (10 * UNIT, 2));
        assert!(timeline.bytes <= 7 * one);
        assert_eq!(timeline.whole(Measure::Response).done.count, 20 * values.len() as u64);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_order_and_grouping_comes_to_the_same(
            blocks in prop::collection::vec((0..5_000u64, 1..4u64, 0..10_000_000u64), 3..12),
            cut in 1..3usize,
        ) {
            let whole = timeline(&blocks);
            let backwards: Vec<_> = blocks.iter().rev().copied().collect();
            prop_assert_eq!(&whole, &timeline(&backwards));
            let (left, right) = blocks.split_at(cut);
            let (mut ab, mut ba) = (timeline(left), timeline(right));
            ab.merge(&timeline(right));
            ba.merge(&timeline(left));
            prop_assert_eq!(&whole, &ab);
            prop_assert_eq!(&whole, &ba);
            let counted: u64 = whole.intervals().iter().map(|interval| interval.counts.replies).sum();
            prop_assert_eq!(counted, blocks.len() as u64);
            prop_assert_eq!(whole.whole(Measure::Response).done.count, counted);
        }
    }
}
