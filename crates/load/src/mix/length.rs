//! How many calls a session has.

use super::MixError;
use super::draws::Draws;
use super::file::{self, LengthDistribution, fault};

const MEAN_MAX: f64 = 1e9;

/// The distribution of session lengths.
#[derive(Clone, Debug)]
pub(super) enum Length {
    Constant(u64),
    /// Geometric from 1 on: after each call the session ends with the same probability, 1 / mean.
    Geometric {
        /// ln(1 - 1 / mean); infinite for a mean of 1.
        log: f64,
        max: u64,
    },
}

impl Length {
    pub(super) fn new(source: &str, length: &file::Length) -> Result<Self, MixError> {
        let mean = *length.mean.get_ref();
        if !(1.0..=MEAN_MAX).contains(&mean) {
            let message = format!("the mean length must be 1 to {MEAN_MAX} calls, not {mean}");
            return fault(source, length.mean.span(), message);
        }
        let constant = length.distribution == LengthDistribution::Constant;
        match &length.max {
            Some(max) if constant => fault(source, max.span(), "a constant length has no `max`"),
            Some(max) if (*max.get_ref() as f64) < mean => {
                fault(source, max.span(), format!("`max` is less than the mean of {mean}"))
            }
            _ if constant && mean.fract() != 0.0 => {
                fault(source, length.mean.span(), format!("a constant length is a whole number, not {mean}"))
            }
            _ if constant => Ok(Self::Constant(mean as u64)),
            max => {
                let max = max.as_ref().map_or(u64::MAX, |max| *max.get_ref());
                Ok(Self::Geometric { log: (-1.0 / mean).ln_1p(), max })
            }
        }
    }

    /// The number of calls, at least 1.
    pub(super) fn draw(&self, draws: &mut Draws) -> u64 {
        match *self {
            Self::Constant(length) => length,
            // The inverse of the distribution function; at most 37 times the mean, as a draw is 2^-53 or
            // more.
            Self::Geometric { log, max } => (1 + (draws.positive().ln() / log) as u64).min(max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(mean: f64, max: u64, n: u64) -> Vec<u64> {
        let length = Length::Geometric { log: (-1.0 / mean).ln_1p(), max };
        (0..n).map(|number| length.draw(&mut Draws::new(1, number))).collect()
    }

    #[test]
    fn lengths_are_geometric() {
        let (n, mean) = (100_000, 10.0);
        let lengths = lengths(mean, u64::MAX, n);
        let average = lengths.iter().sum::<u64>() as f64 / n as f64;
        // The standard error is sqrt(mean (mean - 1) / n) = 0.03.
        assert!((average - mean).abs() < 0.15, "{average}");
        for k in 1..30 {
            let expected = n as f64 * 0.1 * 0.9_f64.powi(k - 1);
            let seen = lengths.iter().filter(|&&length| length == k as u64).count() as f64;
            assert!((seen - expected).abs() < 5.0 * expected.sqrt(), "{k}: {seen}, not {expected}");
        }
    }

    #[test]
    fn a_mean_of_one_is_one_call() {
        assert!(lengths(1.0, u64::MAX, 1000).iter().all(|&length| length == 1));
    }

    #[test]
    fn no_session_is_longer_than_max() {
        let lengths = lengths(1e9, 2_000_000_000, 1000);
        assert_eq!(lengths.iter().max(), Some(&2_000_000_000));
        assert!(lengths.iter().all(|&length| length >= 1));
    }
}
