//! The file as it is written: its tables and keys, each value with its place. What they mean is checked
//! later.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::MixError;

/// A duration as it is written.
pub(super) type Time = Spanned<String>;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) sessions: Spanned<Sessions>,
    pub(super) calls: Option<Calls>,
    pub(super) quality: Option<QualityLimits>,
    #[serde(rename = "class", default)]
    pub(super) classes: Vec<Spanned<Class>>,
}

/// `[sessions]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sessions {
    pub(super) rate: Spanned<f64>,
    #[serde(default)]
    pub(super) arrivals: ArrivalProcess,
    pub(super) count: Option<Spanned<u64>>,
    pub(super) duration: Option<Time>,
    pub(super) length: Length,
    pub(super) think: Option<Spanned<ThinkTime>>,
}

/// `sessions.arrivals`
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ArrivalProcess {
    #[default]
    Poisson,
    Constant,
}

/// `sessions.length`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Length {
    #[serde(default)]
    pub(super) distribution: LengthDistribution,
    pub(super) mean: Spanned<f64>,
    pub(super) max: Option<Spanned<u64>>,
}

/// `sessions.length.distribution`
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LengthDistribution {
    #[default]
    Geometric,
    Constant,
}

/// `sessions.think`: one table for all distributions, so that a key of another one is found at its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThinkTime {
    pub(super) distribution: ThinkDistribution,
    pub(super) mean: Option<Time>,
    pub(super) min: Option<Time>,
    pub(super) max: Option<Time>,
    pub(super) median: Option<Time>,
    pub(super) sigma: Option<Spanned<f64>>,
    pub(super) shape: Option<Spanned<f64>>,
}

/// `sessions.think.distribution`
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ThinkDistribution {
    Constant,
    Uniform,
    Exponential,
    Lognormal,
    Pareto,
}

/// `[calls]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    pub(super) dynamic_share: Option<Spanned<f64>>,
}

/// `[quality]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QualityLimits {
    pub(super) good: Time,
    pub(super) tolerable: Time,
}

/// `[[class]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Class {
    pub(super) name: Spanned<String>,
    pub(super) weight: Spanned<f64>,
    pub(super) uri: Spanned<String>,
    #[serde(default)]
    pub(super) dynamic: bool,
    pub(super) method: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) headers: Vec<Spanned<String>>,
    pub(super) body: Option<String>,
    #[serde(default)]
    pub(super) pick: BTreeMap<Spanned<String>, Spanned<Pick>>,
}

/// `class.pick.NAME`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pick {
    pub(super) count: Option<Spanned<u64>>,
    pub(super) first: Option<Spanned<u64>>,
    pub(super) values: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) zipf: Option<Spanned<f64>>,
}

impl File {
    /// Reads the tables. The parser's words for types are replaced: a reader of the file need not know
    /// Rust's.
    pub(super) fn parse(source: &str) -> Result<Self, MixError> {
        toml::from_str(source).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().trim().replace('\n', ", ");
            let message = message.replace("expected f64", "expected a number");
            let message = message.replace("expected u64", "expected a whole number, 0 or more");
            MixError::new(source, span, message)
        })
    }
}

/// A mistake at `span`; shortens what the checks write.
pub(super) fn fault<T>(source: &str, span: Range<usize>, message: impl Into<String>) -> Result<T, MixError> {
    Err(MixError::new(source, span, message))
}
