//! When the sessions of a mix arrive, and which is which.

use httperf_engine::{Nanos, Share};

use crate::arrival::{Arrivals, Period};

/// How many sessions a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixLimit {
    /// So many.
    Count(u64),
    /// All that are due earlier than this, counted from the start.
    Duration(Nanos),
}

/// The sessions of one share in order: each with its number in the run and its due time, in nanoseconds from
/// the start. The number makes the session's calls ([`MixSession::new`](super::MixSession::new)).
#[derive(Clone, Debug)]
pub struct MixArrivals {
    arrivals: Arrivals,
    /// The number of the next, and from one of this share to the following.
    number: u64,
    step: u64,
    end: Nanos,
}

impl MixArrivals {
    pub(super) fn new(period: &Period, limit: MixLimit, share: Share, client: u32) -> Self {
        let (total, end) = match limit {
            MixLimit::Count(count) => (count, Nanos::MAX),
            MixLimit::Duration(end) => (u64::MAX, end),
        };
        let arrivals = Arrivals::new(period, total, share, client);
        Self { arrivals, number: share.index.into(), step: share.of.into(), end }
    }

    /// How many of those still to come are due before `end`.
    pub fn due_before(&self, end: Nanos) -> u64 {
        self.arrivals.due_before(end.min(self.end))
    }
}

impl Iterator for MixArrivals {
    type Item = (u64, Nanos);

    fn next(&mut self) -> Option<(u64, Nanos)> {
        let due = self.arrivals.next().filter(|&due| due < self.end)?;
        let number = self.number;
        self.number += self.step;
        Some((number, due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_a_mix_are_the_mix() {
        let period = Period::Exponential(0.01);
        for limit in [MixLimit::Count(101), MixLimit::Duration(1_000_000_000)] {
            let whole: Vec<_> = MixArrivals::new(&period, limit, Share::WHOLE, 3).collect();
            let shares = (0..3).map(|index| MixArrivals::new(&period, limit, Share { index, of: 3 }, 3));
            let mut parts: Vec<_> = shares.flatten().collect();
            parts.sort_unstable();
            assert_eq!(parts, whole);
            assert!(whole.iter().map(|(number, _)| *number).eq(0..whole.len() as u64));
        }
    }

    #[test]
    fn a_duration_ends_the_arrivals() {
        let limit = MixLimit::Duration(500_000_000);
        let arrivals = MixArrivals::new(&Period::Constant(0.1), limit, Share::WHOLE, 0);
        assert_eq!(arrivals.due_before(Nanos::MAX), 5, "0.5 s itself is too late");
        assert_eq!(arrivals.count(), 5);
    }
}
