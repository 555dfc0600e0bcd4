//! The random sequence of the classic tool: that of the drand48 family (POSIX), seeded by the client number.

/// A 48-bit linear congruential generator: X' = (0x5DEECE66D X + 0xB) mod 2^48, U = X' / 2^48. The same
/// client number always gives the same sequence, here and in httperf 0.9.0.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    state: u64,
}

const BITS: u32 = 48;
const MASK: u64 = (1 << BITS) - 1;

impl Sequence {
    /// The sequence of client `id` (manual `--client`).
    pub(crate) fn new(id: u32) -> Self {
        let word = |value: u32| u64::from(value & 0xffff);
        let low = word(0x1234 ^ id);
        let middle = word(0x5678 ^ (id << 8));
        let high = word(0x9abc ^ !id);
        Self { state: high << 32 | middle << 16 | low }
    }

    /// The next number in [0, 1).
    pub(crate) fn draw(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & MASK;
        self.state as f64 / (1_u64 << BITS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_the_sequences_of_the_original() {
        let first = |id, n| {
            let mut sequence = Sequence::new(id);
            (0..n).map(|_| format!("{:.6}", sequence.draw())).collect::<Vec<_>>()
        };
        assert_eq!(
            first(0, 7),
            ["0.808007", "0.275682", "0.087791", "0.432084", "0.640398", "0.269947", "0.158260"]
        );
        assert_eq!(first(1, 4), ["0.833387", "0.341144", "0.191924", "0.432962"]);
    }
}
