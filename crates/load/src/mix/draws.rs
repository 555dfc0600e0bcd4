//! The random numbers of one session: they depend on the run's seed and the session's number, on nothing
//! else.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A sequence of xoshiro256++ (Blackman and Vigna).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draws(Xoshiro256PlusPlus);

impl Draws {
    /// The sequence of session `number`. The seed is scrambled first, so that the sessions of seeds 1 and 2
    /// are not each other's neighbours.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let run = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
        Self(Xoshiro256PlusPlus::seed_from_u64(run ^ number))
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in (0, 1]: its logarithm is finite.
    pub(super) fn positive(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Normal with mean 0 and variance 1 (Box and Muller). The second of the pair is not kept: a session's
    /// state is its sequence and no more.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.positive().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_neighbouring_sessions_nor_neighbouring_seeds_share_a_sequence() {
        let mut first: Vec<_> = (0..64)
            .flat_map(|seed| (0..64).map(move |number| Draws::new(seed, number).unit().to_bits()))
            .collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 64 * 64);
    }

    #[test]
    fn numbers_lie_where_they_are_said_to_and_have_their_mean() {
        let mut draws = Draws::new(1, 2);
        let n = 100_000;
        let (mut units, mut normals, mut squares) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let (unit, positive, normal) = (draws.unit(), draws.positive(), draws.normal());
            assert!((0.0..1.0).contains(&unit) && 0.0 < positive && positive <= 1.0 && normal.is_finite());
            units += unit;
            normals += normal;
            squares += normal * normal;
        }
        let mean = |sum: f64| sum / f64::from(n);
        // Five standard errors.
        assert!((mean(units) - 0.5).abs() < 0.0046, "{}", mean(units));
        assert!(mean(normals).abs() < 0.0158, "{}", mean(normals));
        assert!((mean(squares) - 1.0).abs() < 0.0224, "{}", mean(squares));
    }
}
