//! Whether a row of numbers goes round in a circle: a line in its spectrum that is more than chance.
//!
//! Fisher's test (1929) asks whether the strongest line holds more than chance gives one of so many. Rows in
//! which neighbours resemble each other have strong slow lines by chance, so each is first divided by what a
//! first-order process with the correlation of the rest has there.

use std::f64::consts::TAU;

use crate::confidence::neighbours;

/// By chance a line is found in fewer than this part of all rows.
const CHANCE: f64 = 0.001;
/// The line holds at least this part of what moves: less is not what a reader would call periodic.
const SHARE: f64 = 0.3;
/// And its swing, from the middle up, is at least this: 2 % of a row of logarithms.
const SWING: f64 = 0.02;

/// How many numbers one round takes, if the row goes round at least three times and less often than every
/// third number.
pub(crate) fn period(row: &[f64]) -> Option<f64> {
    let count = row.len();
    let mean = row.iter().sum::<f64>() / count.max(1) as f64;
    let row: Vec<f64> = row.iter().map(|value| value - mean).collect();
    let lines: Vec<Line> = (1..count.div_ceil(2)).map(|rounds| Line::of(&row, rounds)).collect();
    let all: f64 = lines.iter().map(Line::power).sum();
    let strongest = lines.iter().max_by(|a, b| a.power().total_cmp(&b.power()))?;
    let rest: Vec<f64> = row.iter().enumerate().map(|(at, value)| value - strongest.at(at, count)).collect();
    let correlation = neighbours(&rest).clamp(0.0, 0.95);
    let expected = |line: &Line| {
        let angle = TAU * line.rounds as f64 / count as f64;
        (1.0 - correlation * correlation)
            / (1.0 + correlation * correlation - 2.0 * correlation * angle.cos())
    };
    let whitened: f64 = lines.iter().map(|line| line.power() / expected(line)).sum();
    let share = strongest.power() / expected(strongest) / whitened;
    let chance = lines.len() as f64 * (1.0 - share).powi(lines.len() as i32 - 1);
    let found = chance < CHANCE
        && strongest.power() > SHARE * all
        && strongest.power().sqrt() > SWING
        && (3..=count / 3).contains(&strongest.rounds);
    found.then(|| count as f64 / strongest.rounds as f64)
}

/// A wave that fits a row a whole number of times.
struct Line {
    rounds: usize,
    cos: f64,
    sin: f64,
}

impl Line {
    fn of(row: &[f64], rounds: usize) -> Line {
        let count = row.len();
        let (mut cos, mut sin) = (0.0, 0.0);
        for (at, value) in row.iter().enumerate() {
            let (s, c) = angle(rounds, at, count).sin_cos();
            cos += value * c;
            sin += value * s;
        }
        let scale = 2.0 / count as f64;
        Line { rounds, cos: cos * scale, sin: sin * scale }
    }

    /// The square of its swing.
    fn power(&self) -> f64 {
        self.cos * self.cos + self.sin * self.sin
    }

    fn at(&self, at: usize, count: usize) -> f64 {
        let (sin, cos) = angle(self.rounds, at, count).sin_cos();
        self.cos * cos + self.sin * sin
    }
}

fn angle(rounds: usize, at: usize, count: usize) -> f64 {
    TAU * (rounds * at % count) as f64 / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use httperf_engine::sim::Random;

    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut random = Random::new(seed);
        move || (0..12).map(|_| random.below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
    }

    #[test]
    fn a_wave_in_noise_is_found_with_its_length() {
        let mut noise = noise(1);
        let row: Vec<f64> = (0..120).map(|at| 1.5 * (TAU * f64::from(at) / 12.0).sin() + noise()).collect();
        assert_eq!(period(&row), Some(12.0));
    }

    #[test]
    fn noise_has_none_even_where_neighbours_resemble_each_other() {
        for correlation in [0.0, 0.5, 0.9] {
            let found = (0..200).filter(|seed| {
                let (mut noise, mut value) = (noise(*seed), 0.0);
                let row: Vec<f64> = (0..120)
                    .map(|_| {
                        value = correlation * value + noise();
                        value
                    })
                    .collect();
                period(&row).is_some()
            });
            assert!(found.count() <= 2, "{correlation}");
        }
    }

    #[test]
    fn short_or_constant_rows_have_none() {
        for count in 0..12 {
            assert_eq!(period(&vec![1.0; count]), None);
        }
        assert_eq!(period(&[5.0; 100]), None);
    }
}
