//! Which request a call makes: drawn by weight, from the number of the call alone.

use httperf_engine::RequestId;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A weighted choice of requests. What call k makes follows from k and the seed, whoever asks: shares add up
/// to the whole.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Each request, and the sum of the weights up to and with its own.
    requests: Vec<(RequestId, u64)>,
    seed: u64,
}

impl Choice {
    /// Requests and their weights; one with weight 0 is never made. Without any weight it is always the
    /// request number 0.
    pub fn new(weights: &[(RequestId, u32)], seed: u64) -> Self {
        let mut sum = 0;
        let requests = weights.iter().filter(|(_, weight)| *weight > 0).map(|(request, weight)| {
            sum += u64::from(*weight);
            (*request, sum)
        });
        Self { requests: requests.collect(), seed }
    }

    /// Always the same request.
    pub fn only(request: RequestId) -> Self {
        Self::new(&[(request, 1)], 0)
    }

    /// The request of the call with this number.
    #[inline]
    pub fn of(&self, number: u64) -> RequestId {
        match self.requests.as_slice() {
            [] => RequestId(0),
            [(request, _)] => *request,
            several => self.draw(several, number),
        }
    }

    fn draw(&self, several: &[(RequestId, u64)], number: u64) -> RequestId {
        // Two rounds: the seeds of neighbours must not be neighbours.
        let start = SplitMix64::seed_from_u64(number).next_u64() ^ self.seed;
        let drawn = SplitMix64::seed_from_u64(start).next_u64();
        let sum = several[several.len() - 1].1;
        let at = ((u128::from(drawn) * u128::from(sum)) >> 64) as u64;
        several[several.partition_point(|(_, until)| *until <= at)].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_chosen_by_weight_and_by_number() {
        let weights = [(RequestId(4), 1), (RequestId(0), 0), (RequestId(2), 7), (RequestId(1), 2)];
        let choice = Choice::new(&weights, 9);
        let mut counts = [0_u32; 5];
        (0..100_000).for_each(|number| counts[choice.of(number).0 as usize] += 1);
        assert_eq!((counts[0], counts[3]), (0, 0));
        for (request, share) in [(4, 10_000), (2, 70_000), (1, 20_000)] {
            assert!(counts[request].abs_diff(share) < 600, "{counts:?}");
        }
        let other = Choice::new(&weights, 10);
        assert!((0..100).any(|number| other.of(number) != choice.of(number)));
        assert!((0..100).all(|number| choice.clone().of(number) == choice.of(number)));
    }

    #[test]
    fn one_request_is_no_choice() {
        assert_eq!(Choice::only(RequestId(3)).of(17), RequestId(3));
        assert_eq!(Choice::new(&[], 1).of(5), RequestId(0));
    }
}
