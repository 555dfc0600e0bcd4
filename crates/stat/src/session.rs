//! Sessions: how they ended, how long they took, how far they came.

use std::collections::BTreeMap;

use httperf_engine::{Collector, Core, Event, Outcome};

use crate::moments::Moments;

/// The collector.
#[derive(Debug, Default)]
pub struct Sessions {
    sum: SessionSummary,
}

/// What the collector leaves. A session that was still going on when the run ended is counted as begun and as
/// unfinished, and nowhere else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSummary {
    /// Sessions that were begun.
    pub began: u64,
    /// Those that did everything they had to do.
    pub succeeded: u64,
    /// Those that were given up.
    pub failed: u64,
    /// Those that were still going on when the run ended.
    pub unfinished: u64,
    /// Connections that could carry calls, of sessions that succeeded.
    pub connections: u64,
    /// From the beginning of a session that succeeded to its end, in seconds.
    pub lifetime_s: Moments,
    /// From the beginning of a session that failed to its end, in seconds.
    pub failtime_s: Moments,
    /// Replies in each session that succeeded or failed.
    pub lengths: Lengths,
}

/// How many sessions had so many replies: exact up to [`Lengths::EXACT`] replies, to three digits beyond, so
/// that neither memory nor a line of text grows with the longest session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lengths {
    counts: Vec<u64>,
    longer: BTreeMap<u32, u64>,
    longest: u32,
}

impl Lengths {
    /// The most replies that have a place of their own.
    pub const EXACT: u32 = 10_000;

    fn add(&mut self, replies: u32) {
        self.longest = self.longest.max(replies);
        if replies > Self::EXACT {
            *self.longer.entry(three_digits(replies)).or_default() += 1;
            return;
        }
        let index = replies as usize;
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    fn merge(&mut self, other: &Lengths) {
        self.longest = self.longest.max(other.longest);
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        other.longer.iter().for_each(|(replies, count)| *self.longer.entry(*replies).or_default() += count);
    }

    /// Sessions by their number of replies, from none to the most that has a place of its own.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Sessions with more than [`EXACT`](Lengths::EXACT) replies, by their number of replies, cut to its
    /// first three digits.
    pub fn longer(&self) -> &BTreeMap<u32, u64> {
        &self.longer
    }

    /// The most replies in a session.
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> u64 {
        self.counts.iter().chain(self.longer.values()).sum()
    }
}

fn three_digits(count: u32) -> u32 {
    let unit = 10_u32.pow(count.max(1).ilog10().saturating_sub(2));
    count / unit * unit
}

impl SessionSummary {
    /// Sessions that came to an end of their own.
    pub fn finished(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// Adds the summary of another loop of the same run.
    pub fn merge(&mut self, other: &SessionSummary) {
        self.lifetime_s.merge(&other.lifetime_s);
        self.failtime_s.merge(&other.failtime_s);
        self.lengths.merge(&other.lengths);
        for (mine, theirs) in [
            (&mut self.began, other.began),
            (&mut self.succeeded, other.succeeded),
            (&mut self.failed, other.failed),
            (&mut self.unfinished, other.unfinished),
            (&mut self.connections, other.connections),
        ] {
            *mine += theirs;
        }
    }
}

impl Sessions {
    /// What was seen so far.
    pub fn so_far(&self) -> &SessionSummary {
        &self.sum
    }

    /// What was seen.
    pub fn into_summary(self) -> SessionSummary {
        self.sum
    }
}

impl Collector for Sessions {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        let sum = &mut self.sum;
        match *event {
            Event::SessionBegan { .. } => sum.began += 1,
            Event::SessionEnded { outcome: Outcome::Unfinished, .. } => sum.unfinished += 1,
            Event::SessionEnded { session, outcome, at } => {
                let Some(session) = core.session(session) else { return };
                let seconds = at.seconds_since(session.began);
                sum.lengths.add(session.replies);
                if outcome == Outcome::Succeeded {
                    sum.succeeded += 1;
                    sum.connections += u64::from(session.connections);
                    sum.lifetime_s.add(seconds);
                } else {
                    sum.failed += 1;
                    sum.failtime_s.add(seconds);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_long_sessions_cost_neither_memory_nor_text() {
        let mut lengths = Lengths::default();
        for replies in [2, Lengths::EXACT + 1, 1_234_567, 1_239_999, u32::MAX] {
            lengths.add(replies);
        }
        assert_eq!(lengths.counts(), [0, 0, 1]);
        let longer: Vec<_> = lengths.longer().iter().map(|(replies, count)| (*replies, *count)).collect();
        assert_eq!(longer, [(10_000, 1), (1_230_000, 2), (4_290_000_000, 1)]);
        assert_eq!((lengths.longest(), lengths.sessions()), (u32::MAX, 5));
        lengths.add(Lengths::EXACT);
        assert_eq!(lengths.counts().len(), Lengths::EXACT as usize + 1);
    }

    #[test]
    fn three_digits_are_kept() {
        for (count, kept) in [(0, 0), (7, 7), (999, 999), (1_009, 1_000), (10_099, 10_000), (12_345, 12_300)]
        {
            assert_eq!(three_digits(count), kept);
        }
    }

    #[test]
    fn the_lengths_of_loops_add_up() {
        let of = |replies: &[u32]| {
            let mut lengths = Lengths::default();
            replies.iter().for_each(|replies| lengths.add(*replies));
            lengths
        };
        let mut both = of(&[1, 1, 20_000]);
        both.merge(&of(&[0, 1, 4, 20_050, 90_000]));
        assert_eq!(both, of(&[1, 1, 20_000, 0, 1, 4, 20_050, 90_000]));
    }
}
