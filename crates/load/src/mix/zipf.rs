//! Popularity by Zipf's law: of `count` things the one with rank r (from 1) is drawn in proportion to
//! r^-exponent.
//!
//! Few things: the inverse of the distribution function, as a table. Many: rejection-inversion (Hoermann and
//! Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", 1996), which
//! needs no memory and on average less than two tries. Both are exact.

use super::draws::Draws;

/// The most things one table is made for: 800 kB.
const TABLE_MAX: u64 = 100_000;

/// The most entries all tables of a file have together, 8 MB. Whoever comes later draws without one.
pub(super) const TABLES_MAX: u64 = 1_000_000;

/// A law over the ranks 0..count.
#[derive(Clone, Debug)]
pub(super) enum Zipf {
    /// Exponent 0.
    Uniform { count: f64 },
    /// The distribution function at each rank; the last is 1.
    Table(Box<[f64]>),
    /// See [`Rejection`].
    Rejection(Rejection),
}

impl Zipf {
    /// The law of `count` things, 1 to 10^15, with an exponent of 0 to 100. A table is taken out of `room`.
    pub(super) fn new(count: u64, exponent: f64, room: &mut u64) -> Self {
        if exponent == 0.0 || count <= 1 {
            Self::Uniform { count: count.max(1) as f64 }
        } else if count <= TABLE_MAX.min(*room) {
            *room -= count;
            Self::Table(table(count, exponent))
        } else {
            Self::Rejection(Rejection::new(count as f64, exponent))
        }
    }

    /// A rank, from 0, the most popular.
    pub(super) fn draw(&self, draws: &mut Draws) -> u64 {
        match self {
            // Rounding may lift the product to `count` itself.
            Self::Uniform { count } => ((draws.unit() * count) as u64).min(*count as u64 - 1),
            Self::Table(table) => {
                let unit = draws.unit();
                table.partition_point(|&below| below <= unit) as u64
            }
            Self::Rejection(rejection) => rejection.draw(draws),
        }
    }
}

fn table(count: u64, exponent: f64) -> Box<[f64]> {
    let weight = |rank: u64| (rank as f64).powf(-exponent);
    // The small ones first, so that they are not lost in the sum.
    let whole: f64 = (1..=count).rev().map(weight).sum();
    let mut sum = 0.0;
    let mut table: Box<[f64]> = (1..=count)
        .map(|rank| {
            sum += weight(rank);
            sum / whole
        })
        .collect();
    if let Some(last) = table.last_mut() {
        *last = 1.0;
    }
    table
}

/// The hat is x^-exponent over the reals; its integral is inverted, and a point that lies above the bar of
/// its integer is drawn again.
#[derive(Clone, Debug)]
pub(super) struct Rejection {
    count: f64,
    exponent: f64,
    /// The integral of the hat at the left end, lowered so that rank 1 has exactly its bar, and at the right
    /// end.
    left: f64,
    right: f64,
    /// An integer at most this far above its point is accepted without another look.
    near: f64,
}

impl Rejection {
    fn new(count: f64, exponent: f64) -> Self {
        let integral = |x| integral(x, exponent);
        let near = 2.0 - inverse(integral(2.5) - 2_f64.powf(-exponent), exponent);
        Self { count, exponent, left: integral(1.5) - 1.0, right: integral(count + 0.5), near }
    }

    fn draw(&self, draws: &mut Draws) -> u64 {
        loop {
            let area = self.right + draws.unit() * (self.left - self.right);
            let x = inverse(area, self.exponent);
            let rank = x.round().clamp(1.0, self.count);
            let bar = || integral(rank + 0.5, self.exponent) - rank.powf(-self.exponent);
            if rank - x <= self.near || area >= bar() {
                return rank as u64 - 1;
            }
        }
    }
}

/// The integral of x^-exponent from 1 to `x`, also where the exponent is (nearly) 1.
fn integral(x: f64, exponent: f64) -> f64 {
    let log = x.ln();
    let t = (1.0 - exponent) * log;
    log * if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
}

/// The `x` at which the integral has this value.
fn inverse(area: f64, exponent: f64) -> f64 {
    // Rounding may bring it below the pole.
    let t = (area * (1.0 - exponent)).max(-1.0);
    let factor = if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 };
    (factor * area).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pearson's statistic of `n` draws over the first `bins` ranks and the rest, and its degrees of freedom.
    fn chi_square(zipf: &Zipf, count: u64, exponent: f64, bins: usize, n: u32) -> (f64, f64) {
        let mut draws = Draws::new(7, count);
        let mut seen = vec![0.0; bins + 1];
        for _ in 0..n {
            let rank = zipf.draw(&mut draws);
            assert!(rank < count);
            seen[(rank as usize).min(bins)] += 1.0;
        }
        let weight = |rank: u64| (rank as f64).powf(-exponent);
        let whole: f64 = (1..=count).rev().map(weight).sum();
        let mut expected: Vec<f64> = (1..=bins as u64).map(|rank| weight(rank) / whole).collect();
        expected.push(1.0 - expected.iter().sum::<f64>());
        let cells = seen.iter().zip(&expected).filter(|(_, expected)| **expected > 1e-12);
        let cells: Vec<f64> = cells
            .map(|(seen, expected)| {
                let expected = expected * f64::from(n);
                (seen - expected).powi(2) / expected
            })
            .collect();
        (cells.iter().sum(), cells.len() as f64 - 1.0)
    }

    /// Five standard deviations above the mean: the seeds are fixed, so this either holds or does not.
    fn holds(zipf: &Zipf, count: u64, exponent: f64, bins: usize) {
        let (statistic, freedom) = chi_square(zipf, count, exponent, bins, 200_000);
        let bound = freedom + 5.0 * (2.0 * freedom).sqrt();
        assert!(statistic < bound, "{count} things, exponent {exponent}: {statistic} >= {bound}");
    }

    #[test]
    fn tables_and_rejection_draw_the_same_law() {
        for exponent in [0.3, 0.8, 1.0, 1.000_000_001, 1.5, 3.0] {
            for (count, bins) in [(2, 2), (9, 9), (1000, 40)] {
                let tabled = Zipf::new(count, exponent, &mut TABLES_MAX.clone());
                assert!(matches!(tabled, Zipf::Table(_)));
                holds(&tabled, count, exponent, bins);
                holds(&Zipf::new(count, exponent, &mut 0), count, exponent, bins);
            }
        }
    }

    #[test]
    fn exponent_zero_is_uniform() {
        holds(&Zipf::new(50, 0.0, &mut 0), 50, 0.0, 50);
    }

    #[test]
    fn ten_million_things_need_no_table() {
        let mut room = TABLES_MAX;
        let zipf = Zipf::new(10_000_000, 1.0, &mut room);
        assert!(matches!(zipf, Zipf::Rejection(_)));
        assert_eq!(room, TABLES_MAX);
        holds(&zipf, 10_000_000, 1.0, 30);
    }

    #[test]
    fn all_tables_together_are_bounded() {
        let mut room = TABLES_MAX;
        let tables = (0..1000).map(|_| Zipf::new(TABLE_MAX, 1.0, &mut room));
        assert_eq!(tables.filter(|zipf| matches!(zipf, Zipf::Table(_))).count(), 10);
        assert_eq!(room, 0);
    }

    #[test]
    fn extremes_stay_in_range() {
        let mut draws = Draws::new(3, 3);
        for count in [1, 2, 3, TABLE_MAX + 1, 1_000_000_000_000_000] {
            for exponent in [0.0, 1e-300, 1e-9, 0.999_999_999, 1.0, 2.0, 100.0] {
                let zipf = Zipf::new(count, exponent, &mut 0);
                let top = (0..2000).map(|_| zipf.draw(&mut draws)).max().unwrap();
                assert!(top < count, "{count} {exponent}: {top}");
                assert!(exponent < 100.0 || top == 0, "{count} {exponent}: {top}");
            }
        }
    }
}
