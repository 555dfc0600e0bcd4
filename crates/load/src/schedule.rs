//! When calls arrive under an open load: constant, Poisson or uniform arrivals at a rate that may change.
//!
//! Arrivals are laid out at a rate of one each unit, and the integral of the rate maps them to time. Nothing
//! drifts: due times are computed from the start of their stage. Every share draws the whole schedule and
//! keeps what is its own.

use std::sync::Arc;

use httperf_engine::{Nanos, Share};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::stages::{Stage, Stages};

/// How arrivals follow each other at a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Process {
    /// At equal distances, the first one at once; a rate of r for a time t makes r t of them exactly.
    Constant,
    /// Independently of each other.
    #[default]
    Poisson,
    /// At distances that are uniform between 0 and twice the mean.
    Uniform,
}

/// One arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number in the whole schedule, from 0.
    pub number: u64,
    /// Nanoseconds from the start of the run.
    pub due: Nanos,
}

/// The arrivals of one share, in order. A clone yields the same ones once more, in constant memory: that is
/// how arrivals wait without being stored.
#[derive(Clone, Debug)]
pub struct Schedule {
    process: Process,
    parts: Arc<[Part]>,
    share: Share,
    total: u64,
    /// The number of the next arrival of the whole schedule.
    next: u64,
    /// Where it lies among the expected arrivals; of a constant process that is its number.
    level: f64,
    random: Xoshiro256PlusPlus,
    /// The part it lies in, or an earlier one.
    part: usize,
}

/// A stage, and what came before it.
#[derive(Clone, Copy, Debug)]
struct Part {
    stage: Stage,
    /// When it begins, and how many arrivals are expected before that.
    begins: Nanos,
    before: f64,
    /// Arrivals expected before its end.
    until: f64,
    /// When it ends.
    ends: Nanos,
}

/// Arrivals that are drawn to be counted; more of them are reckoned by the rate.
const DRAWN: u64 = 2_000_000;

impl Schedule {
    /// The arrivals at the rate of these stages, but at most `total`, as far as they belong to `share`.
    pub fn new(stages: &Stages, process: Process, total: Option<u64>, share: Share, seed: u64) -> Self {
        let (mut begins, mut before) = (0_u64, 0.0);
        let parts = stages.as_slice().iter().map(|stage| {
            let (until, ends) = (before + stage.expected(stage.lasts), begins.saturating_add(stage.lasts));
            let part = Part { stage: *stage, begins, before, until, ends };
            (begins, before) = (ends, until);
            part
        });
        let mut schedule = Self {
            process,
            parts: parts.collect(),
            share,
            total: total.unwrap_or(u64::MAX),
            next: 0,
            level: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            part: 0,
        };
        schedule.level = schedule.gap();
        if process == Process::Constant {
            schedule.level = 0.0;
        }
        schedule
    }

    /// How many of the arrivals still to come are due before `end`, in nanoseconds from the start of the run.
    pub fn due_before(&self, end: Nanos) -> u64 {
        if self.process == Process::Constant {
            // Not counted one by one.
            let (mut low, mut high) = (self.next, self.total.max(self.next));
            while low < high {
                let middle = low + (high - low) / 2;
                let before = place(&self.parts, 0, middle as f64).is_some_and(|(_, due)| due < end);
                (low, high) = if before { (middle + 1, high) } else { (low, middle) };
            }
            return self.share.part_of(low) - self.share.part_of(self.next);
        }
        let mut rest = self.clone();
        for count in 0..DRAWN {
            if rest.next().is_none_or(|arrival| arrival.due >= end) {
                return count;
            }
        }
        let expected: f64 = rest.parts.iter().map(|part| part.expected_before(end)).sum();
        let whole = rest.next.saturating_add((expected - rest.level).max(0.0) as u64).min(rest.total);
        DRAWN + (self.share.part_of(whole) - self.share.part_of(rest.next))
    }

    /// The distance to the next arrival, at a rate of one.
    fn gap(&mut self) -> f64 {
        // 53 bits: a number in [0, 1).
        let mut drawn = || (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        match self.process {
            Process::Constant => 1.0,
            Process::Poisson => -(1.0 - drawn()).ln(),
            Process::Uniform => 2.0 * drawn(),
        }
    }

    /// Goes to the next arrival of the whole schedule.
    fn advance(&mut self) {
        if self.process == Process::Constant {
            // Straight to that of this share.
            let of = u64::from(self.share.of);
            let mine = self.next % of == u64::from(self.share.index);
            self.next = self.next.saturating_add(if mine { of } else { 1 });
            self.level = self.next as f64;
        } else {
            self.next += 1;
            self.level += self.gap();
        }
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        while self.next < self.total {
            let (part, due) = place(&self.parts, self.part, self.level)?;
            self.part = part;
            let arrival = Arrival { number: self.next, due };
            let mine = self.next % u64::from(self.share.of) == u64::from(self.share.index);
            self.advance();
            if mine {
                return Some(arrival);
            }
        }
        None
    }
}

/// When so many arrivals were expected, and in which part, from `first` on; `None` behind the last one.
fn place(parts: &[Part], first: usize, level: f64) -> Option<(usize, Nanos)> {
    let found = parts.iter().enumerate().skip(first).find(|(_, part)| level < part.until);
    let (index, part) = found?;
    let due = part.begins + part.stage.after((level - part.before).max(0.0));
    // An integral that came out a hair too large must not make one arrival more.
    (due < part.ends || index + 1 < parts.len()).then_some((index, due))
}

impl Part {
    /// Arrivals expected in it before `end`.
    fn expected_before(&self, end: Nanos) -> f64 {
        self.stage.expected(end.saturating_sub(self.begins).min(self.stage.lasts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;
    const PROCESSES: [Process; 3] = [Process::Constant, Process::Poisson, Process::Uniform];

    fn whole(text: &str, process: Process) -> Schedule {
        Schedule::new(&Stages::parse(text).unwrap(), process, None, Share::WHOLE, 42)
    }

    #[test]
    fn constant_arrivals_are_as_many_as_the_rate_says_and_do_not_drift() {
        for (text, count) in [
            ("hold 500/s for 10s", 5000),
            ("hold 1.1/s for 10s", 11),
            ("hold 0.7/s for 10s", 7),
            ("hold 3/min for 1m", 3),
            ("hold 1/s for 2500ms", 3),
            ("ramp 0..2000/s over 30s", 30_000),
            ("ramp 2000..0/s over 30s", 30_000),
            ("ramp 0..2000/s over 30s, hold 60s, step 500/s every 10s to 4000/s", 280_000),
            ("hold 10/s for 1s, hold 0/s for 5s, hold 10/s for 1s", 20),
        ] {
            assert_eq!(whole(text, Process::Constant).count(), count, "{text}");
        }
        let third =
            Schedule::new(&Stages::constant(3.0), Process::Constant, Some(3_000_001), Share::WHOLE, 0);
        let due: Vec<_> = third.map(|arrival| arrival.due).collect();
        assert_eq!((due[0], due[1], due[3]), (0, 333_333_333, SECOND));
        assert_eq!((due.len(), due[3_000_000]), (3_000_001, 1_000_000 * SECOND));
    }

    #[test]
    fn a_ramp_is_followed_to_the_nanosecond() {
        let due: Vec<_> = whole("ramp 0..100/s over 10s", Process::Constant).map(|it| it.due).collect();
        // Half the square of the time, times the slope: arrival k is due at sqrt(k / 5) seconds.
        for (k, due) in due.iter().enumerate() {
            let exact = (k as f64 / 5.0).sqrt() * 1e9;
            assert!((*due as f64 - exact).abs() <= 1.0, "{k}: {due}, not {exact}");
        }
        let pause: Vec<_> =
            whole("hold 2/s for 1s, hold 0/s for 5s, hold 2/s for 1s", Process::Constant).collect();
        assert_eq!(
            pause.iter().map(|it| it.due).collect::<Vec<_>>(),
            [0, SECOND / 2, 6 * SECOND, 13 * SECOND / 2]
        );
    }

    #[test]
    fn random_arrivals_have_the_rate_and_the_spread_of_their_process() {
        for (process, spread) in [(Process::Poisson, 1.0), (Process::Uniform, 1.0 / 3.0)] {
            let due: Vec<_> = whole("hold 1000/s for 100s", process).map(|it| it.due as f64 / 1e6).collect();
            assert!((99_000..101_000).contains(&due.len()), "{process:?}: {}", due.len());
            let gaps: Vec<_> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!(
                (mean - 1.0).abs() < 0.01 && (variance - spread).abs() < 0.03,
                "{process:?}: {mean} {variance}"
            );
        }
    }

    #[test]
    fn random_arrivals_follow_a_ramp() {
        let due: Vec<_> = whole("ramp 0..2000/s over 100s", Process::Poisson).map(|it| it.due).collect();
        let first_half = due.iter().filter(|due| **due < 50 * SECOND).count();
        assert!((24_300..25_700).contains(&first_half), "{first_half}");
        assert!((99_000..101_000).contains(&due.len()), "{}", due.len());
        assert!(due.is_sorted());
    }

    #[test]
    fn the_shares_of_a_schedule_are_the_schedule_and_seeds_differ() {
        for process in PROCESSES {
            let text = "ramp 0..300/s over 1s, hold 700ms, step 100/s every 100ms to 0/s";
            let stages = Stages::parse(text).unwrap();
            let part = |index, of, total| Schedule::new(&stages, process, total, Share { index, of }, 7);
            for total in [None, Some(101)] {
                let all: Vec<_> = part(0, 1, total).collect();
                let mut parts: Vec<_> = (0..4).flat_map(|index| part(index, 4, total)).collect();
                parts.sort_unstable_by_key(|arrival| arrival.number);
                assert_eq!(parts, all);
                assert!(all.iter().enumerate().all(|(k, arrival)| arrival.number == k as u64));
            }
            let other: Vec<_> = Schedule::new(&stages, process, None, Share::WHOLE, 8).collect();
            assert_eq!(other == part(0, 1, None).collect::<Vec<_>>(), process == Process::Constant);
        }
    }

    #[test]
    fn a_clone_walks_the_same_way() {
        for process in PROCESSES {
            let mut ahead = whole("ramp 10..900/s over 3s", process);
            let behind = ahead.clone();
            ahead.by_ref().take(500).for_each(drop);
            let rest: Vec<_> = ahead.collect();
            assert_eq!(behind.skip(500).collect::<Vec<_>>(), rest);
        }
    }

    #[test]
    fn overdue_arrivals_are_counted_however_many_there_are() {
        for process in PROCESSES {
            for of in [1, 3] {
                let share = Share { index: of - 1, of };
                let stages = Stages::parse("ramp 0..500/s over 2s, hold 1s").unwrap();
                let mut schedule = Schedule::new(&stages, process, None, share, 5);
                schedule.by_ref().take(20).for_each(drop);
                for end in [0, SECOND, 2_500_000_000, 9 * SECOND] {
                    let one_by_one = schedule.clone().filter(|arrival| arrival.due < end).count() as u64;
                    assert_eq!(schedule.due_before(end), one_by_one, "{process:?} {share:?} {end}");
                }
            }
            let many = Schedule::new(&Stages::constant(1e9), process, None, Share::WHOLE, 5);
            let counted = many.due_before(100 * SECOND) as f64;
            assert!((counted / 1e11 - 1.0).abs() < 1e-3, "{process:?}: {counted}");
        }
    }
}
