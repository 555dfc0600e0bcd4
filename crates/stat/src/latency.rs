//! Times of calls: which there are, how a loop records them, what is kept of them.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use httperf_engine::Nanos;

use crate::sparse::{self, BUCKETS, LONGEST, Sparse};

/// A time of a call, of its connection, or of the arrival it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Last byte - due: what a user of an open system feels.
    Response,
    /// Last byte - just before the first byte was handed to the kernel.
    Service,
    /// First byte handed to the kernel - due: all delay before it, waiting and connecting included.
    Lag,
    /// Connection established - just before connect(2).
    Connect,
    /// TLS handshake: connection established - TCP established. Plain connections have none.
    Tls,
    /// First byte of the reply - first byte handed to the kernel.
    FirstByte,
    /// Last byte of the reply - its status line complete.
    Transfer,
    /// Arrival taken up - due: the lateness of the generator itself.
    GeneratorLag,
}

impl Measure {
    /// Every measure, in the order of the result document.
    pub const ALL: [Measure; 8] = [
        Measure::Response,
        Measure::Service,
        Measure::Lag,
        Measure::Connect,
        Measure::Tls,
        Measure::FirstByte,
        Measure::Transfer,
        Measure::GeneratorLag,
    ];
}

/// Records times where it must be cheap: in a loop.
///
/// The counters are in HdrHistogram's buckets but not in its type: that one touches all its 132 KiB when it
/// is made and whenever it is cleared. Here only the pages are touched that a time ever fell on.
#[derive(Debug)]
pub(crate) struct Recorder {
    counts: Box<[u32]>,
    sum: u64,
    min: u64,
    max: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into(), sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Recorder {
    /// Records one time; more than an hour counts as an hour.
    #[inline]
    pub(crate) fn record(&mut self, nanos: Nanos) {
        let nanos = nanos.min(LONGEST);
        let count = &mut self.counts[sparse::bucket(nanos)];
        *count = count.saturating_add(1);
        self.sum = self.sum.saturating_add(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.min > self.max
    }

    /// What was recorded, in little space.
    pub(crate) fn times(&self) -> Times {
        if self.is_empty() {
            return Times::default();
        }
        let used = self.used();
        let counts = self.counts[used.clone()].iter().map(|count| u64::from(*count));
        Times {
            count: counts.clone().sum(),
            buckets: Sparse::from_buckets((used.start as u64..).zip(counts)),
            sum_ns: self.sum.into(),
            min_ns: self.min,
            max_ns: self.max,
        }
    }

    pub(crate) fn clear(&mut self) {
        if !self.is_empty() {
            let used = self.used();
            self.counts[used].fill(0);
            (self.sum, self.min, self.max) = (0, u64::MAX, 0);
        }
    }

    /// The buckets that may hold something, of one that is not empty.
    fn used(&self) -> std::ops::Range<usize> {
        sparse::bucket(self.min)..sparse::bucket(self.max) + 1
    }
}

/// Times of one kind: a histogram of three significant digits, kept sparse, with the exact sum and extremes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    buckets: Sparse,
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u128,
    /// The shortest; 0 if there are none.
    pub min_ns: Nanos,
    /// The longest; 0 if there are none.
    pub max_ns: Nanos,
}

/// Times that lie so close together that the histogram does not tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The shortest that is counted here.
    pub low_ns: Nanos,
    /// The longest that is counted here.
    pub high_ns: Nanos,
    /// How many were counted.
    pub count: u64,
}

impl Times {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The mean in seconds; 0 if there are none.
    pub fn mean_s(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 / 1e9 }
    }

    /// The standard deviation of the sample (n - 1) in seconds, from the middles of the
    /// buckets; 0 for fewer than two times.
    pub fn stddev_s(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let mean = self.mean_s();
        let squares = self.buckets().map(|bucket| {
            let apart = bucket.middle_s() - mean;
            apart * apart * bucket.count as f64
        });
        (squares.sum::<f64>() / (self.count - 1) as f64).sqrt()
    }

    /// The buckets that are not empty, shortest times first, their ends no further than the extremes.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.buckets.buckets().map(|(bucket, count)| {
            let (low, high) = sparse::bounds(bucket);
            Bucket { low_ns: low.max(self.min_ns), high_ns: high.min(self.max_ns), count }
        })
    }

    /// Adds other times of the same kind.
    pub fn merge(&mut self, other: &Times) {
        if other.is_empty() {
            return;
        }
        self.buckets.merge(&other.buckets);
        self.add_extremes(other);
    }

    /// The sum of many, for which merging one after the other would be slow.
    pub(crate) fn sum<'a>(all: impl Iterator<Item = &'a Times>) -> Times {
        let mut sum = Times::default();
        let mut counts = Vec::new();
        for times in all.filter(|times| !times.is_empty()) {
            counts.resize(BUCKETS, 0);
            times.buckets.buckets().for_each(|(bucket, count)| counts[bucket as usize] += count);
            sum.add_extremes(times);
        }
        sum.buckets = Sparse::from_buckets((0..).zip(counts));
        sum
    }

    fn add_extremes(&mut self, other: &Times) {
        self.min_ns = if self.is_empty() { other.min_ns } else { self.min_ns.min(other.min_ns) };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }

    /// The histogram in HdrHistogram's compressed V2 format, values in nanoseconds: what its
    /// tools read, once it is in base64.
    pub fn to_hdr_v2(&self) -> Vec<u8> {
        let mut histogram =
            Histogram::<u64>::new_with_bounds(1, LONGEST, 3).expect("constant bounds, in order");
        for (bucket, count) in self.buckets.buckets() {
            histogram.record_n(sparse::bounds(bucket).0, count).expect("every bucket is in range");
        }
        let mut bytes = Vec::new();
        let written = V2DeflateSerializer::new().serialize(&histogram, &mut bytes);
        written.expect("memory can be written, and no count is beyond 2^63");
        bytes
    }

    /// Bytes its buckets take.
    pub(crate) fn size(&self) -> usize {
        self.buckets.size()
    }
}

/// The times of a list; more than an hour counts as an hour.
impl FromIterator<Nanos> for Times {
    fn from_iter<I: IntoIterator<Item = Nanos>>(all: I) -> Times {
        let mut recorder = Recorder::default();
        all.into_iter().for_each(|nanos| recorder.record(nanos));
        recorder.times()
    }
}

impl Bucket {
    fn middle_s(&self) -> f64 {
        (self.low_ns as f64 + self.high_ns as f64) / 2e9
    }
}

/// The times of one kind, those that never came to an end among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Complete ones.
    pub done: Times,
    /// Ages of those that failed: they would have been longer than any that is complete.
    pub failed: Times,
    /// Ages of those still going on when the run ended: they would have been longer than that.
    pub open: Times,
}

impl Distribution {
    /// How many have no time.
    pub fn censored(&self) -> u64 {
        self.failed.count + self.open.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    fn times(values: &[u64]) -> Times {
        values.iter().copied().collect()
    }

    #[test]
    fn sum_and_extremes_are_exact() {
        let times = times(&[5_000_001, 7_000_003, 3_000_007]);
        assert_eq!(
            (times.count, times.sum_ns, times.min_ns, times.max_ns),
            (3, 15_000_011, 3_000_007, 7_000_003)
        );
        assert!((times.mean_s() - 0.005_000_003_667).abs() < 1e-12);
        assert!((times.stddev_s() - 0.002).abs() < 1e-5);
        assert_eq!(times.buckets().next().map(|bucket| bucket.low_ns), Some(3_000_007));
        assert_eq!(times.buckets().last().map(|bucket| bucket.high_ns), Some(7_000_003));
    }

    #[test]
    fn more_than_an_hour_counts_as_an_hour() {
        let times = times(&[u64::MAX, LONGEST]);
        assert_eq!((times.count, times.min_ns, times.max_ns), (2, LONGEST, LONGEST));
        assert_eq!(times.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_recorder_that_was_cleared_is_as_new() {
        let mut recorder = Recorder::default();
        recorder.record(7);
        recorder.clear();
        assert_eq!(recorder.times(), Times::default());
        recorder.record(9);
        assert_eq!(recorder.times(), times(&[9]));
    }

    #[test]
    fn tools_can_read_the_histogram() {
        let times = times(&[1_000, 2_000_000, 2_000_000, 3_000_000_000]);
        let bytes = times.to_hdr_v2();
        let mut reader = Deserializer::new();
        let read: Histogram<u64> = reader.deserialize(&mut &bytes[..]).unwrap();
        assert_eq!((read.len(), read.value_at_quantile(0.5), read.max()), (4, 2_000_895, 3_001_024_511));
    }

    proptest! {
        #[test]
        fn merging_is_associative_commutative_and_the_same_as_summing(
            a in prop::collection::vec(0..LONGEST, 0..50),
            b in prop::collection::vec(0..9_000_000u64, 0..50),
            c in prop::collection::vec(0..9_000_000u64, 0..50),
        ) {
            let parts = [times(&a), times(&b), times(&c)];
            let merged = |order: [usize; 3]| {
                let mut all = parts[order[0]].clone();
                all.merge(&parts[order[1]]);
                all.merge(&parts[order[2]]);
                all
            };
            let mut right = parts[1].clone();
            right.merge(&parts[2]);
            let mut grouped = parts[0].clone();
            grouped.merge(&right);
            prop_assert_eq!(&merged([0, 1, 2]), &merged([2, 1, 0]));
            prop_assert_eq!(&merged([0, 1, 2]), &grouped);
            prop_assert_eq!(&Times::sum(parts.iter()), &grouped);
            let counted: u64 = grouped.buckets().map(|bucket| bucket.count).sum();
            prop_assert_eq!(counted, grouped.count);
        }
    }
}
