//! When the next thing is due: arrival processes as pure schedules.
//!
//! A schedule counts in nanoseconds from the start of the run and never drifts: constant
//! periods are multiplied, random ones summed without rounding. Every share draws the whole
//! schedule and keeps what is its own.

use std::fmt;
use std::sync::Arc;

use httperf_engine::{Nanos, Share};

use crate::sequence::Sequence;

/// The times between arrivals, in seconds (manual `--rate`, `--period`).
#[derive(Clone, Debug, PartialEq)]
pub enum Period {
    /// Always the same.
    Constant(f64),
    /// Uniform in [min, max).
    Uniform {
        /// The shortest.
        min: f64,
        /// The longest.
        max: f64,
    },
    /// Exponential with this mean: a Poisson process.
    Exponential(f64),
    /// Constant for a while, then another constant, in a cycle: pairs of period and duration.
    Variable(Vec<(f64, f64)>),
}

/// The arrivals of one share, in order.
#[derive(Clone, Debug)]
pub struct Arrivals {
    schedule: Schedule,
    share: Share,
    total: u64,
    /// There are none from here on.
    end: Nanos,
    /// The number, in the whole schedule, of the arrival the schedule yields next.
    next: u64,
}

impl Arrivals {
    /// The first `total` arrivals of a schedule, as far as they belong to `share`; the numbers are drawn from
    /// the sequence of client `client`.
    pub fn new(period: &Period, total: u64, share: Share, client: u32) -> Self {
        Self { schedule: Schedule::new(period, client), share, total, end: Nanos::MAX, next: 0 }
    }

    /// Only those that are due before `end`.
    #[must_use]
    pub fn until(self, end: Nanos) -> Self {
        Self { end, ..self }
    }

    /// Tells every delay that is drawn after the first, in seconds (manual `-vvv`).
    pub fn tap(&mut self, tell: impl Fn(f64) + Send + Sync + 'static) {
        self.schedule.tap = Some(Tap(Arc::new(tell)));
    }

    /// How many of the arrivals still to come are due before `end`.
    pub fn due_before(&self, end: Nanos) -> u64 {
        let end = end.min(self.end);
        if let Period::Constant(period) = self.schedule.period {
            // Not counted one by one: at an infinite rate there are 2^64 of them.
            let (mut low, mut high) = (self.next, self.total.max(self.next));
            while low < high {
                let middle = low + (high - low) / 2;
                let due = nanos(if middle == 0 { 0.0 } else { middle as f64 * period });
                (low, high) = if due < end { (middle + 1, high) } else { (low, middle) };
            }
            return self.share.part_of(low) - self.share.part_of(self.next);
        }
        let mut rest = self.clone();
        rest.schedule.tap = None;
        for count in 0..DRAWN {
            if rest.next().is_none_or(|due| due >= end) {
                return count;
            }
        }
        let left_s = end.saturating_sub(nanos(rest.schedule.elapsed)) as f64 / 1e9;
        let whole = rest.next + ((left_s / self.schedule.period.mean_s()) as u64).min(self.total - rest.next);
        DRAWN + (self.share.part_of(whole) - self.share.part_of(rest.next))
    }
}

/// Arrivals that are drawn to be counted; more of them are reckoned by the mean.
const DRAWN: u64 = 2_000_000;

impl Period {
    /// The mean time between arrivals.
    fn mean_s(&self) -> f64 {
        match self {
            Period::Constant(period) => *period,
            Period::Uniform { min, max } => (min + max) / 2.0,
            Period::Exponential(mean) => *mean,
            Period::Variable(pairs) => {
                let cycle = pairs.iter().map(|(period, duration)| (duration / period).ceil());
                let time: f64 =
                    pairs.iter().zip(cycle.clone()).map(|((period, _), count)| period * count).sum();
                time / cycle.sum::<f64>()
            }
        }
    }
}

/// Yields due times, in nanoseconds from the start of the run.
impl Iterator for Arrivals {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        while self.next < self.total {
            let due = self.schedule.next();
            if due >= self.end {
                return None;
            }
            let mine = self.next % u64::from(self.share.of) == u64::from(self.share.index);
            self.next += 1;
            if mine {
                return Some(due);
            }
        }
        None
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

/// The whole schedule, whoever takes its arrivals.
#[derive(Clone, Debug)]
struct Schedule {
    period: Period,
    sequence: Sequence,
    number: u64,
    /// Seconds from the start to the next arrival.
    elapsed: f64,
    /// Variable: which pair, and how much of it is used.
    pair: usize,
    used: f64,
    tap: Option<Tap>,
}

/// Whoever hears of each delay.
#[derive(Clone)]
struct Tap(Arc<dyn Fn(f64) + Send + Sync>);

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

impl Schedule {
    fn new(period: &Period, client: u32) -> Self {
        Self {
            period: period.clone(),
            sequence: Sequence::new(client),
            number: 0,
            elapsed: 0.0,
            pair: 0,
            used: 0.0,
            tap: None,
        }
    }

    /// The due time of the next arrival. The delay after it is drawn at once, as the classic tool does.
    fn next(&mut self) -> Nanos {
        let due = nanos(self.elapsed);
        let delay = self.delay();
        if let Some(Tap(tell)) = self.tap.as_ref().filter(|_| self.number > 0) {
            tell(delay);
        }
        self.number += 1;
        self.elapsed = match self.period {
            Period::Constant(period) => self.number as f64 * period,
            _ => self.elapsed + delay,
        };
        due
    }

    fn delay(&mut self) -> f64 {
        match &self.period {
            Period::Constant(period) => *period,
            Period::Uniform { min, max } => min + (max - min) * self.sequence.draw(),
            Period::Exponential(mean) => -mean * (1.0 - self.sequence.draw()).ln(),
            Period::Variable(pairs) => {
                let Some(&(period, duration)) = pairs.get(self.pair) else { return 0.0 };
                self.used += period;
                if self.used >= duration {
                    self.used = 0.0;
                    self.pair = (self.pair + 1) % pairs.len();
                }
                period
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(period: Period, n: u64) -> Vec<f64> {
        Arrivals::new(&period, n, Share::WHOLE, 0).map(|due| due as f64 / 1e9).collect()
    }

    #[test]
    fn a_constant_period_does_not_drift() {
        let due: Vec<_> = Arrivals::new(&Period::Constant(1.0 / 3.0), 3_000_001, Share::WHOLE, 0).collect();
        assert_eq!((due[0], due[3], due[3_000_000]), (0, 1_000_000_000, 1_000_000_000_000_000));
    }

    #[test]
    fn exponential_delays_are_those_of_the_original() {
        let due = seconds(Period::Exponential(0.05), 10);
        let delays: Vec<_> = due.windows(2).map(|pair| format!("{:.4}", pair[1] - pair[0])).collect();
        let expected =
            ["0.0825", "0.0161", "0.0046", "0.0283", "0.0511", "0.0157", "0.0086", "0.0194", "0.0616"];
        assert_eq!(delays, expected);
    }

    #[test]
    fn uniform_delays_lie_between_their_bounds() {
        let due = seconds(Period::Uniform { min: 0.01, max: 0.08 }, 1000);
        assert!(due.windows(2).all(|pair| (0.009_999..0.080_001).contains(&(pair[1] - pair[0]))));
        assert!((due[1] - (0.01 + 0.07 * 0.808_007)).abs() < 1e-6);
    }

    #[test]
    fn variable_periods_take_turns_and_wrap_around() {
        let due = seconds(Period::Variable(vec![(0.5, 1.0), (0.25, 0.5)]), 8);
        assert_eq!(due, [0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 2.5, 2.75]);
    }

    #[test]
    fn the_shares_of_a_schedule_are_the_schedule() {
        for period in [Period::Constant(0.001), Period::Exponential(0.002)] {
            let whole: Vec<_> = Arrivals::new(&period, 101, Share::WHOLE, 3).collect();
            let mut parts: Vec<_> =
                (0..4).flat_map(|index| Arrivals::new(&period, 101, Share { index, of: 4 }, 3)).collect();
            parts.sort_unstable();
            assert_eq!(parts, whole);
        }
    }

    #[test]
    fn a_schedule_may_have_an_end() {
        let half = 500_000_000;
        let constant = Arrivals::new(&Period::Constant(0.1), u64::MAX, Share::WHOLE, 0).until(half);
        assert_eq!((constant.due_before(Nanos::MAX), constant.count()), (5, 5), "0.5 s itself is too late");
        for period in [Period::Constant(0.01), Period::Exponential(0.01)] {
            let of = |share| Arrivals::new(&period, u64::MAX, share, 3).until(half);
            let whole: Vec<_> = of(Share::WHOLE).collect();
            let parts = (0..3).map(|index| of(Share { index, of: 3 }));
            assert_eq!(
                parts.clone().map(|part| part.due_before(Nanos::MAX)).sum::<u64>(),
                whole.len() as u64
            );
            let mut parts: Vec<_> = parts.flatten().collect();
            parts.sort_unstable();
            assert_eq!(parts, whole);
        }
    }

    #[test]
    fn overdue_arrivals_are_counted_however_many_there_are() {
        let second = 1_000_000_000;
        let rest =
            |period, total, of| Arrivals::new(&period, total, Share { index: 0, of }, 0).due_before(second);
        assert_eq!(rest(Period::Constant(0.0), u64::MAX, 1), u64::MAX);
        assert_eq!(rest(Period::Constant(1e-9), u64::MAX, 2), 500_000_000);
        assert_eq!(rest(Period::Constant(0.1), 5, 1), 5);
        assert_eq!(rest(Period::Uniform { min: 0.0, max: 1e-300 }, u64::MAX, 1), u64::MAX);
        let poisson = rest(Period::Exponential(1e-9), u64::MAX, 1);
        assert!((990_000_000..1_010_000_000).contains(&poisson), "{poisson}");
        assert!((7_000_000..8_100_000).contains(&rest(
            Period::Variable(vec![(1e-7, 0.5), (2e-7, 0.5)]),
            u64::MAX,
            1
        )));
    }

    #[test]
    fn drawn_delays_can_be_tapped() {
        let (sender, delays) = std::sync::mpsc::channel();
        let mut arrivals = Arrivals::new(&Period::Constant(0.5), 3, Share::WHOLE, 0);
        arrivals.tap(move |delay| sender.send(delay).unwrap());
        assert_eq!(arrivals.due_before(600_000_000), 2);
        assert_eq!(arrivals.by_ref().count(), 3);
        assert_eq!(delays.try_iter().collect::<Vec<_>>(), [0.5, 0.5], "after the second and the third");
    }
}
