//! The random numbers of a simulation: SplitMix64 (Steele, Lea, Flood 2014), one stream for each purpose.
//!
//! A connection draws from streams of its own, found by its key: what happens on it does not depend on what
//! else is going on, so one thread and four see the same.

use std::ops::RangeInclusive;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// The odd number next to 2^64 divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A stream of its own below a seed, found by what it is for.
    pub fn keyed(seed: u64, parts: &[u64]) -> Self {
        Self { state: parts.iter().fold(seed, |state, part| mix(state ^ mix(part.wrapping_add(STEP)))) }
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(limit)) >> 64) as u64
    }

    /// A number of this range, all alike.
    pub fn between(&mut self, range: &RangeInclusive<u64>) -> u64 {
        let (low, high) = (*range.start(), *range.end());
        low + self.below((high - low).saturating_add(1))
    }

    /// A number of this range, all orders of magnitude alike.
    pub fn scale(&mut self, range: &RangeInclusive<u64>) -> u64 {
        let (low, high) = (*range.start(), *range.end());
        let bits = |number: u64| u64::from(64 - number.leading_zeros());
        let bits = self.between(&(bits(low)..=bits(high)));
        let most = 1_u64.checked_shl(bits as u32).map_or(u64::MAX, |power| power - 1);
        self.between(&(low.max(most / 2 + u64::from(bits > 0))..=high.min(most)))
    }

    /// True so many times in a thousand.
    pub fn chance(&mut self, per_mille: u32) -> bool {
        per_mille > 0 && self.below(1000) < u64::from(per_mille)
    }

    /// One of these; they must not be none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.draw()).collect();
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn every_number_of_a_range_is_drawn_and_no_other() {
        let mut random = Random::new(7);
        for range in [0..=0, 1..=1, 1..=2, 3..=9, 0..=5, 200..=203] {
            let numbers: Vec<u64> = range.clone().collect();
            let mut uniform: Vec<u64> = (0..500).map(|_| random.between(&range)).collect();
            let mut scaled: Vec<u64> = (0..500).map(|_| random.scale(&range)).collect();
            for drawn in [&mut uniform, &mut scaled] {
                drawn.sort_unstable();
                drawn.dedup();
                assert_eq!(*drawn, numbers);
            }
        }
        assert!((0..100).all(|_| !random.chance(0) && random.chance(1000)));
    }

    #[test]
    fn streams_differ_in_every_part_of_their_name() {
        let first = |seed, parts: &[u64]| Random::keyed(seed, parts).draw();
        let drawn =
            [first(1, &[2, 3]), first(1, &[3, 2]), first(2, &[2, 3]), first(1, &[2, 4]), first(1, &[2])];
        for (at, one) in drawn.iter().enumerate() {
            assert!(!drawn[..at].contains(one));
        }
        assert_eq!(first(1, &[2, 3]), drawn[0]);
    }
}
