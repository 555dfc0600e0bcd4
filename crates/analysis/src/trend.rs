//! Whether a row of numbers goes up or down: Mann and Kendall's test with Sen's slope.
//!
//! Every pair of numbers says up or down; how often they agree is the test (Mann 1945, Kendall 1975), the
//! median of their slopes is the slope (Sen 1968). Neither cares for the size of outliers. Numbers that
//! resemble their neighbours make trends by chance; the test allows for that by their correlation (Hamed
//! and Rao 1998): that of what is left when the line is taken away, or one step where that fits much
//! better.

use crate::confidence::neighbours;

/// A row that goes up or down by chance alone does so beyond this in 1 of 100 cases.
const SIGNIFICANT: f64 = 2.58;

/// A change of level at a place that was picked because of it is more than chance beyond this.
pub(crate) const CHANGE: f64 = 5.0;
/// A step is what it is if it leaves less than this part of what the line leaves.
const STEP: f64 = 0.75;

/// How a row of numbers moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trend {
    /// Change from one number to the next.
    pub(crate) slope: f64,
    /// How far that is beyond chance, in standard deviations.
    pub(crate) score: f64,
    /// The step that it is rather than a line, if it is.
    pub(crate) step: Option<Step>,
}

/// One change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// The first number behind it.
    pub(crate) at: usize,
    /// By how much the mean changes.
    pub(crate) height: f64,
    /// How far that is beyond chance, in standard deviations.
    score: f64,
}

impl Trend {
    /// Whether it is more than chance.
    pub(crate) fn is_significant(self) -> bool {
        self.score.abs() > SIGNIFICANT || self.step.is_some_and(|step| step.score > CHANGE)
    }
}

/// The trend in a row of numbers; none in fewer than three.
pub(crate) fn trend(row: &[f64]) -> Trend {
    let count = row.len();
    if count < 3 {
        return Trend { slope: 0.0, score: 0.0, step: None };
    }
    let mut slopes = Vec::with_capacity(count * (count - 1) / 2);
    let mut agree = 0.0;
    for (first, one) in row.iter().enumerate() {
        for (apart, other) in row[first + 1..].iter().enumerate() {
            let up = other - one;
            agree += if up == 0.0 { 0.0 } else { up.signum() };
            slopes.push(up / (apart + 1) as f64);
        }
    }
    let slope = median(&mut slopes);
    let line: Vec<f64> = row.iter().enumerate().map(|(at, value)| value - slope * at as f64).collect();
    let (step, behind) = step(row);
    let step = (squares(&behind) < STEP * squares(&line)).then(|| {
        let (before, after) = (step.at as f64, (count - step.at) as f64);
        let variance = squares(&behind) / (count - 2) as f64 * inflation(&behind);
        let error = (variance * (1.0 / before + 1.0 / after)).sqrt();
        Step { score: step.height.abs() / error.max(f64::MIN_POSITIVE), ..step }
    });
    let rest = if step.is_some() { behind } else { line };
    let variance = (pairs(count) - ties(row)) / 18.0 * inflation(&rest);
    let score =
        if variance > 0.0 { (agree.abs() - 1.0).max(0.0) / variance.sqrt() * agree.signum() } else { 0.0 };
    Trend { slope, score, step }
}

/// The step that fits best, and what is left without it.
fn step(row: &[f64]) -> (Step, Vec<f64>) {
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let without = |at: usize| {
        let (before, behind) = row.split_at(at);
        let (low, high) = (mean(before), mean(behind));
        let rest = before.iter().map(|value| value - low).chain(behind.iter().map(|value| value - high));
        (Step { at, height: high - low, score: 0.0 }, rest.collect::<Vec<f64>>())
    };
    let all = (2..row.len() - 1).map(without);
    let best = all.min_by(|a, b| squares(&a.1).total_cmp(&squares(&b.1)));
    best.unwrap_or_else(|| without(1))
}

/// The sum of the squared distances from the mean.
fn squares(row: &[f64]) -> f64 {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    row.iter().map(|value| (value - mean).powi(2)).sum()
}

/// By how much the variance of a mean grows because neighbours resemble each other: that of a first-order
/// process with the same correlation. Never less than 1.
pub(crate) fn inflation(row: &[f64]) -> f64 {
    let count = row.len() as f64;
    let mean = row.iter().sum::<f64>() / count.max(1.0);
    let apart: Vec<f64> = row.iter().map(|value| value - mean).collect();
    let seen = neighbours(&apart);
    // A short row shows less correlation than there is (Kendall 1954).
    let correlation = (seen + (1.0 + 4.0 * seen) / count.max(1.0)).clamp(0.0, 0.9);
    (1.0 + correlation) / (1.0 - correlation)
}

/// The middle of some numbers, which get sorted; 0 if there are none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => 0.0,
        (count, middle) if count % 2 == 1 => values[middle],
        (_, middle) => (values[middle - 1] + values[middle]) / 2.0,
    }
}

/// 18 times the variance of the test over so many numbers.
fn pairs(count: usize) -> f64 {
    let count = count as f64;
    count * (count - 1.0) * (2.0 * count + 5.0)
}

/// What equal numbers take away from it.
fn ties(row: &[f64]) -> f64 {
    let mut sorted = row.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|same| pairs(same.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_that_of_the_test_by_hand() {
        // Nine of ten pairs go up: S = 8, variance 5 * 4 * 15 / 18; the residuals alternate, so nothing is
        // added.
        let found = trend(&[1.0, 3.0, 2.0, 4.0, 5.0]);
        assert!((found.score - 7.0 / (300.0f64 / 18.0 * 1.0).sqrt()).abs() < 1e-9, "{found:?}");
        assert_eq!(found.slope, 1.0);
    }

    #[test]
    fn equal_numbers_have_no_trend() {
        assert_eq!(trend(&[7.0; 30]), Trend { slope: 0.0, score: 0.0, step: None });
        assert_eq!(trend(&[1.0, 2.0]).score, 0.0);
    }

    #[test]
    fn a_line_is_a_trend_whatever_one_outlier_says() {
        let mut row: Vec<f64> = (0..40).map(|at| f64::from(at) * 0.5 + f64::from(at * 7 % 5)).collect();
        row[3] = 1e9;
        let found = trend(&row);
        assert!(found.is_significant() && (found.slope - 0.5).abs() < 0.05, "{found:?}");
        row.reverse();
        assert!(trend(&row).score < -2.81);
    }

    #[test]
    fn one_change_of_level_is_a_step() {
        let row: Vec<f64> =
            (0..30).map(|at| if at < 16 { 2.0 } else { 1.0 } + f64::from(at * 7 % 5) / 20.0).collect();
        let found = trend(&row);
        let step = found.step.expect("a step");
        assert!(found.score < -2.58 && step.at == 16 && (step.height + 1.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn neighbours_that_resemble_each_other_count_less() {
        assert_eq!(inflation(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), 1.0);
        let waves: Vec<f64> = (0..60).map(|at| (f64::from(at) / 6.0).sin()).collect();
        assert!(inflation(&waves) > 10.0);
    }
}
