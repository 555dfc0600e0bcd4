//! How fast calls arrive over the time of a run: stages of a constant or a linearly changing rate.
//!
//! Everything hangs on the integral of the rate, the arrivals expected so far: [`Schedule`](crate::Schedule)
//! inverts it, so constant and random arrivals follow a ramp exactly.

mod parse;

use httperf_engine::Nanos;

pub use parse::{StagesError, StagesFault};

/// A stretch of time in which the rate changes linearly, or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Arrivals a second at its beginning; finite, and not negative.
    pub from_per_s: f64,
    /// Arrivals a second at its end, likewise.
    pub to_per_s: f64,
    /// Nanoseconds; [`FOR_EVER`] is the longest there is.
    pub lasts: Nanos,
}

/// The length of a stage that only the end of the run ends: 292 years.
pub const FOR_EVER: Nanos = Nanos::MAX / 2;

/// The rate over time: one stage after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages(Vec<Stage>);

impl Stages {
    /// These stages in turn.
    pub fn new(stages: Vec<Stage>) -> Self {
        Self(stages)
    }

    /// The same rate for ever; a limit of the run or of the number of arrivals ends it.
    pub fn constant(per_s: f64) -> Self {
        Self::new(vec![Stage { from_per_s: per_s, to_per_s: per_s, lasts: FOR_EVER }])
    }

    /// The stages that a text describes, such as
    /// `ramp 0..2000/s over 30s, hold 60s, step 500/s every 10s to 4000/s`.
    ///
    /// - `ramp A..B over D`: from rate A to rate B in the time D.
    /// - `hold D`: the rate as it is, for D; `hold R for D` jumps to the rate R.
    /// - `step S every D to R`: the rate moves by S towards R, stays so for D, and so on until R was held.
    ///
    /// Rates are `/s` or `/min`, times `ms`, `s`, `m` or `h`; bare numbers are per second, and seconds.
    ///
    /// # Errors
    /// What is wrong, and in which column.
    pub fn parse(text: &str) -> Result<Self, StagesError> {
        parse::stages(text).map(Self)
    }

    /// The stages, in turn.
    pub fn as_slice(&self) -> &[Stage] {
        &self.0
    }

    /// How long they last together, in nanoseconds.
    pub fn lasts(&self) -> Nanos {
        self.0.iter().fold(0, |sum, stage| sum.saturating_add(stage.lasts))
    }

    /// The highest rate, per second.
    pub fn peak_per_s(&self) -> f64 {
        self.0.iter().map(|stage| stage.from_per_s.max(stage.to_per_s)).fold(0.0, f64::max)
    }

    /// Arrivals expected in the first `nanos`.
    pub fn expected(&self, nanos: Nanos) -> f64 {
        let (mut sum, mut left) = (0.0, nanos);
        for stage in &self.0 {
            let within = left.min(stage.lasts);
            sum += stage.expected(within);
            left -= within;
        }
        sum
    }
}

impl Stage {
    /// Arrivals expected in its first `nanos`.
    pub(crate) fn expected(&self, nanos: Nanos) -> f64 {
        let (time, whole) = (nanos as f64 / 1e9, self.lasts as f64 / 1e9);
        let change = if whole > 0.0 { (self.to_per_s - self.from_per_s) * (time / whole) } else { 0.0 };
        (self.from_per_s + change / 2.0) * time
    }

    /// Nanoseconds from its beginning until so many arrivals were expected, which must not be more than there
    /// are. In this form of the root nothing is lost to cancellation, and a constant rate is no special case.
    pub(crate) fn after(&self, arrivals: f64) -> Nanos {
        let (from, whole) = (self.from_per_s, self.lasts as f64 / 1e9);
        let slope = if whole > 0.0 { (self.to_per_s - from) / whole } else { 0.0 };
        let root = (from * from + 2.0 * slope * arrivals).max(0.0).sqrt();
        let seconds = if arrivals > 0.0 { 2.0 * arrivals / (from + root) } else { 0.0 };
        ((seconds * 1e9).round() as Nanos).min(self.lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn a_stage_is_the_inverse_of_its_integral() {
        for (from, to) in [(0.0, 2000.0), (2000.0, 0.0), (500.0, 500.0), (1e-3, 1e6), (7.0, 7.5)] {
            let stage = Stage { from_per_s: from, to_per_s: to, lasts: 30 * SECOND };
            let all = stage.expected(stage.lasts);
            assert!((all - (from + to) * 15.0).abs() <= 1e-9 * all, "{stage:?}: {all}");
            for part in [0.0, 1e-6, 0.1, 0.5, 0.999, 1.0] {
                let at = stage.after(all * part);
                let back = stage.expected(at);
                // A nanosecond more or less is what rounding can do.
                let slack = from.max(to) * 1e-9 + all * 1e-9;
                assert!((back - all * part).abs() <= slack, "{stage:?} {part}: {at} ns, {back}");
            }
        }
    }

    #[test]
    fn what_is_expected_adds_up_over_stages() {
        let stages =
            Stages::parse("ramp 0..2000/s over 30s, hold 60s, step 500/s every 10s to 4000/s").unwrap();
        assert_eq!((stages.lasts(), stages.peak_per_s()), (130 * SECOND, 4000.0));
        for (at, expected) in [(0, 0.0), (30, 30_000.0), (90, 150_000.0), (100, 175_000.0), (130, 280_000.0)]
        {
            assert!((stages.expected(at * SECOND) - expected).abs() < 1e-6, "{at} s");
        }
        assert_eq!(stages.expected(1000 * SECOND), stages.expected(130 * SECOND));
        assert_eq!(Stages::constant(3.0).expected(7 * SECOND), 21.0);
    }
}
