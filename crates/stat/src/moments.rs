//! Count, mean, spread and extremes of numbers that come one by one.

/// What is known of a set of numbers without keeping them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The smallest; 0 if there are none.
    pub min: f64,
    /// The largest; 0 if there are none.
    pub max: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Moments {
    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        let before = self.mean();
        if self.count == 0 {
            (self.min, self.max) = (value, value);
        }
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.squares += (value - before) * (value - self.mean());
    }

    /// Adds all numbers of another set.
    pub fn merge(&mut self, other: &Moments) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let apart = other.mean() - self.mean();
        self.squares += other.squares + apart * apart * n * m / (n + m);
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The mean; 0 if there are no numbers.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// The standard deviation of the sample (n - 1); 0 for fewer than two numbers.
    pub fn stddev(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).max(0.0).sqrt() }
    }
}

/// The mean of spans of time, for where nothing else is asked: two additions for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeanTime {
    /// How many.
    pub count: u64,
    /// Their sum, in nanoseconds.
    pub sum_ns: u64,
}

impl MeanTime {
    /// Adds a span.
    #[inline]
    pub fn add(&mut self, nanos: u64) {
        self.count += 1;
        self.sum_ns += nanos;
    }

    /// Adds all spans of another set.
    pub fn merge(&mut self, other: MeanTime) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }

    /// The mean in seconds; 0 if there are no spans.
    pub fn mean_s(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 / 1e9 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(*value));
        moments
    }

    #[test]
    fn moments_are_those_of_the_sample() {
        let moments = of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((moments.mean(), moments.min, moments.max), (5.0, 2.0, 9.0));
        assert!((moments.stddev() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((of(&[]).mean(), of(&[3.0]).stddev()), (0.0, 0.0));
    }

    #[test]
    fn merged_moments_are_those_of_the_union() {
        let values: Vec<f64> = (0..100).map(|k| f64::from(k * k % 37)).collect();
        let whole = of(&values);
        for cut in [0, 1, 50, 99, 100] {
            let mut parts = of(&values[..cut]);
            parts.merge(&of(&values[cut..]));
            assert_eq!((parts.count, parts.min, parts.max), (whole.count, whole.min, whole.max));
            assert!((parts.stddev() - whole.stddev()).abs() < 1e-9);
        }
    }
}
