//! The buckets of HdrHistogram with three significant digits, and what is in those that are not empty.
//!
//! A histogram is kept as the payload of HdrHistogram's V2 format: a row of numbers, one a bucket from the
//! lowest on: a count, or, negative, how many empty buckets to skip; each zigzag-coded and then LEB128. A
//! slice of 100 ms has some hundreds of buckets and takes 1-2 KiB where the row of counters takes 132.

use httperf_engine::Nanos;

/// Longer times count as this: one hour.
pub(crate) const LONGEST: Nanos = 3_600_000_000_000;
/// Buckets for each doubling of the value: 1,024 resolve three digits everywhere.
const HALF: u64 = 1 << HALF_BITS;
const HALF_BITS: u32 = 10;
/// How many buckets there are.
pub(crate) const BUCKETS: usize = bucket(LONGEST) + 1;

/// The bucket of a value.
#[inline]
pub(crate) const fn bucket(value: u64) -> usize {
    let magnitude = (value | HALF).ilog2() - HALF_BITS;
    (((magnitude as u64) << HALF_BITS) + (value >> magnitude)) as usize
}

/// The smallest and the largest value of a bucket.
pub(crate) fn bounds(bucket: u64) -> (u64, u64) {
    let magnitude = (bucket / HALF).saturating_sub(1);
    let low = (bucket - magnitude * HALF) << magnitude;
    (low, low + (1 << magnitude) - 1)
}

/// Counts by bucket, without the empty ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sparse(Box<[u8]>);

impl Sparse {
    /// From buckets in ascending order.
    pub(crate) fn from_buckets(buckets: impl Iterator<Item = (u64, u64)>) -> Sparse {
        let mut bytes = Vec::new();
        let mut next = 0;
        for (bucket, count) in buckets.filter(|(_, count)| *count > 0) {
            match bucket - next {
                0 => {}
                // The format writes a single empty bucket as a count of zero.
                1 => bytes.push(0),
                skipped => put(&mut bytes, skipped * 2 - 1),
            }
            put(&mut bytes, count * 2);
            next = bucket + 1;
        }
        Sparse(bytes.into())
    }

    /// Bucket and count, ascending.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut rest = &self.0[..];
        let mut bucket = 0;
        std::iter::from_fn(move || {
            while let Some(number) = take(&mut rest) {
                if number & 1 == 1 {
                    bucket += number.div_ceil(2);
                    continue;
                }
                bucket += 1;
                if number > 0 {
                    return Some((bucket - 1, number / 2));
                }
            }
            None
        })
    }

    /// The counts of both, bucket by bucket.
    pub(crate) fn merge(&mut self, other: &Sparse) {
        if self.0.is_empty() {
            return self.clone_from(other);
        }
        if other.0.is_empty() {
            return;
        }
        let merged = {
            let (mut mine, mut theirs) = (self.buckets().peekable(), other.buckets().peekable());
            Sparse::from_buckets(std::iter::from_fn(move || {
                match (mine.peek().copied(), theirs.peek().copied()) {
                    (Some(a), Some(b)) if a.0 == b.0 => {
                        mine.next();
                        theirs.next();
                        Some((a.0, a.1 + b.1))
                    }
                    (Some(a), Some(b)) if a.0 > b.0 => theirs.next(),
                    (Some(_), _) => mine.next(),
                    (None, _) => theirs.next(),
                }
            }))
        };
        *self = merged;
    }

    /// Bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2Serializer};
    use proptest::prelude::*;

    /// What precedes the payload in the V2 format.
    const V2_HEADER: usize = 40;

    fn theirs(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, LONGEST, 3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        histogram
    }

    fn ours(values: &[u64]) -> Sparse {
        let mut buckets: Vec<_> = values.iter().map(|value| bucket(*value) as u64).collect();
        buckets.sort_unstable();
        Sparse::from_buckets(buckets.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)))
    }

    #[test]
    fn buckets_are_those_of_hdr_histogram() {
        let histogram = theirs(&[]);
        let mut expected = 0;
        for number in 0..BUCKETS as u64 {
            let (low, high) = bounds(number);
            assert_eq!(low, expected, "bucket {number}");
            assert_eq!((bucket(low), bucket(high)), (number as usize, number as usize));
            assert_eq!((histogram.lowest_equivalent(low), histogram.highest_equivalent(low)), (low, high));
            expected = high + 1;
        }
        assert!(expected > LONGEST);
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_of_the_v2_format(values in prop::collection::vec(0..=LONGEST, 1..200), few in 1..50u64) {
            let values: Vec<u64> = values.iter().map(|value| value % (LONGEST / few)).collect();
            let mut bytes = Vec::new();
            V2Serializer::new().serialize(&theirs(&values), &mut bytes).unwrap();
            prop_assert_eq!(&ours(&values).0[..], &bytes[V2_HEADER..]);
        }

        #[test]
        fn every_count_is_found_again(values in prop::collection::vec(0..=LONGEST, 0..200)) {
            let histogram = theirs(&values);
            let sparse = ours(&values);
            let expected: Vec<_> = histogram.iter_recorded()
                .map(|value| (histogram.lowest_equivalent(value.value_iterated_to()), value.count_at_value()))
                .collect();
            let found: Vec<_> = sparse.buckets().map(|(bucket, count)| (bounds(bucket).0, count)).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn merging_is_recording_both(
            a in prop::collection::vec(0..=LONGEST, 0..100),
            b in prop::collection::vec(0..5_000_000u64, 0..100),
        ) {
            let (mut merged, other) = (ours(&a), ours(&b));
            merged.merge(&other);
            let both: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged, ours(&both));
        }
    }
}
