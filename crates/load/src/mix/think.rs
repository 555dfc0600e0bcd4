//! How long a session thinks between a reply and its next call.

use httperf_engine::Nanos;
use toml::Spanned;

use super::MixError;
use super::draws::Draws;
use super::file::{self, ThinkDistribution, Time, fault};
use super::times::{nanos, positive};

/// The think time where no `max` is written and the distribution has no end: a year.
const FOREVER: f64 = 31_536_000e9;

/// The distribution of think times; all times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) enum Think {
    Constant(f64),
    Uniform {
        min: f64,
        max: f64,
    },
    Exponential {
        mean: f64,
        max: f64,
    },
    /// `sigma` is the standard deviation of the logarithm.
    Lognormal {
        median: f64,
        sigma: f64,
        max: f64,
    },
    /// P(longer than t) = (min / t)^shape.
    Pareto {
        min: f64,
        shape: f64,
        max: f64,
    },
}

/// The keys of a distribution: those it needs, and whether it may have a `max`.
fn keys(distribution: ThinkDistribution) -> (&'static [&'static str], bool) {
    match distribution {
        ThinkDistribution::Constant => (&["mean"], false),
        ThinkDistribution::Uniform => (&["min", "max"], false),
        ThinkDistribution::Exponential => (&["mean"], true),
        ThinkDistribution::Lognormal => (&["median", "sigma"], true),
        ThinkDistribution::Pareto => (&["min", "shape"], true),
    }
}

impl Think {
    /// No think time.
    pub(super) const NONE: Self = Self::Constant(0.0);

    pub(super) fn new(source: &str, think: &Spanned<file::ThinkTime>) -> Result<Self, MixError> {
        let (span, think) = (think.span(), think.get_ref());
        let distribution = think.distribution;
        let name = format!("{distribution:?}").to_lowercase();
        let (needed, max_too) = keys(distribution);
        let places = places(think);
        let fits = |key| needed.contains(&key) || (key == "max" && max_too);
        for (key, place) in places.iter().filter(|(key, _)| !fits(*key)) {
            if let Some(place) = place {
                let known = needed.iter().chain(max_too.then_some(&"max"));
                let known: Vec<_> = known.map(|key| format!("`{key}`")).collect();
                let message = format!("a think time that is {name} has no `{key}`");
                return Err(MixError::new(source, place.clone(), message)
                    .help(format!("it has {}", known.join(", "))));
            }
        }
        if let Some((key, _)) = places.iter().find(|(key, place)| needed.contains(key) && place.is_none()) {
            return fault(source, span, format!("a think time that is {name} needs `{key}`"));
        }
        let optional = |time: &Option<Time>, key, or: f64| {
            time.as_ref().map_or(Ok(or), |time| nanos(source, key, time).map(|ns| ns as f64))
        };
        let longer = |time: &Option<Time>, key| {
            time.as_ref().map_or(Ok(0.0), |time| positive(source, key, time).map(|ns| ns as f64))
        };
        let ordered = |low: f64, key: &str, max: f64| match &think.max {
            Some(time) if max < low => fault(source, time.span(), format!("`max` is shorter than `{key}`")),
            _ => Ok(()),
        };
        let max = optional(&think.max, "max", FOREVER)?;
        Ok(match distribution {
            ThinkDistribution::Constant => Self::Constant(optional(&think.mean, "mean", 0.0)?),
            ThinkDistribution::Uniform => {
                let min = optional(&think.min, "min", 0.0)?;
                ordered(min, "min", max)?;
                Self::Uniform { min, max }
            }
            ThinkDistribution::Exponential => {
                let mean = longer(&think.mean, "mean")?;
                ordered(mean, "mean", max)?;
                Self::Exponential { mean, max }
            }
            ThinkDistribution::Lognormal => {
                let median = longer(&think.median, "median")?;
                ordered(median, "median", max)?;
                let sigma = within(source, "sigma", think.sigma.as_ref(), 0.0, 10.0)?;
                Self::Lognormal { median, sigma, max }
            }
            ThinkDistribution::Pareto => {
                let min = longer(&think.min, "min")?;
                ordered(min, "min", max)?;
                let shape = within(source, "shape", think.shape.as_ref(), 0.0, 100.0)?;
                if let Some(place) = think.shape.as_ref().filter(|_| shape <= 1.0 && think.max.is_none()) {
                    let message = format!("with a shape of {shape} there is no mean think time");
                    return Err(MixError::new(source, place.span(), message)
                        .help("take a shape above 1, or write `max`"));
                }
                Self::Pareto { min, shape, max }
            }
        })
    }

    /// A think time. Longer ones than `max` are cut to it.
    pub(super) fn draw_ns(&self, draws: &mut Draws) -> Nanos {
        let ns = match *self {
            Self::Constant(time) => time,
            Self::Uniform { min, max } => min + (max - min) * draws.unit(),
            Self::Exponential { mean, max } => (-mean * draws.positive().ln()).min(max),
            Self::Lognormal { median, sigma, max } => (median * (sigma * draws.normal()).exp()).min(max),
            Self::Pareto { min, shape, max } => (min * draws.positive().powf(-1.0 / shape)).min(max),
        };
        ns.round() as Nanos
    }
}

/// The keys besides the distribution, each with its place if it is written.
fn places(think: &file::ThinkTime) -> [(&'static str, Option<std::ops::Range<usize>>); 6] {
    let time = |time: &Option<Time>| time.as_ref().map(Spanned::span);
    let number = |number: &Option<Spanned<f64>>| number.as_ref().map(Spanned::span);
    [
        ("mean", time(&think.mean)),
        ("min", time(&think.min)),
        ("max", time(&think.max)),
        ("median", time(&think.median)),
        ("sigma", number(&think.sigma)),
        ("shape", number(&think.shape)),
    ]
}

/// A number above `low` and up to `high`.
fn within(
    source: &str,
    key: &str,
    number: Option<&Spanned<f64>>,
    low: f64,
    high: f64,
) -> Result<f64, MixError> {
    let Some(number) = number else { return Ok(high) };
    let value = *number.get_ref();
    if value > low && value <= high {
        return Ok(value);
    }
    fault(source, number.span(), format!("`{key}` must be more than {low} and at most {high}, not {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: f64 = 1e9;

    /// The mean and the extremes of many draws, in seconds.
    fn look(think: &Think) -> (f64, f64, f64) {
        let mut draws = Draws::new(5, 6);
        let n = 200_000;
        let times: Vec<f64> = (0..n).map(|_| think.draw_ns(&mut draws) as f64 / S).collect();
        let low = times.iter().copied().fold(f64::INFINITY, f64::min);
        let high = times.iter().copied().fold(0.0, f64::max);
        (times.iter().sum::<f64>() / f64::from(n), low, high)
    }

    #[test]
    fn constant_and_uniform_times_keep_their_bounds() {
        assert_eq!(look(&Think::Constant(2.0 * S)), (2.0, 2.0, 2.0));
        let (mean, low, high) = look(&Think::Uniform { min: S, max: 3.0 * S });
        assert!(
            (mean - 2.0).abs() < 0.01 && low >= 1.0 && high <= 3.0 && high - low > 1.99,
            "{mean} {low} {high}"
        );
    }

    #[test]
    fn exponential_times_have_their_mean_and_are_cut() {
        let (mean, _, high) = look(&Think::Exponential { mean: 5.0 * S, max: FOREVER });
        assert!((mean - 5.0).abs() < 0.06 && high > 50.0, "{mean} {high}");
        // Cut at the mean m itself, the mean is m (1 - 1/e).
        let (mean, _, high) = look(&Think::Exponential { mean: 5.0 * S, max: 5.0 * S });
        assert!((mean - 5.0 * (1.0 - (-1.0_f64).exp())).abs() < 0.06 && high == 5.0, "{mean} {high}");
    }

    #[test]
    fn lognormal_times_have_their_mean() {
        // median * exp(sigma^2 / 2)
        let (mean, ..) = look(&Think::Lognormal { median: 2.0 * S, sigma: 0.5, max: FOREVER });
        assert!((mean - 2.0 * 0.125_f64.exp()).abs() < 0.02, "{mean}");
    }

    #[test]
    fn pareto_times_have_their_mean_and_tail() {
        // min * shape / (shape - 1)
        let (mean, low, _) = look(&Think::Pareto { min: S, shape: 3.0, max: FOREVER });
        assert!((mean - 1.5).abs() < 0.02 && low >= 1.0, "{mean} {low}");
        let (_, _, high) = look(&Think::Pareto { min: S, shape: 0.01, max: 60.0 * S });
        assert_eq!(high, 60.0, "also where a power overflows");
    }
}
