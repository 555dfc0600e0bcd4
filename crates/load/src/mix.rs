//! A mix of sessions as a file describes it (`--wmix`): the SPECweb-like generator that the httperf paper
//! wished for (section 4.4).
//!
//! ```text
//!   file --> Mix --+--> Period, MixLimit: when sessions begin, and how many
//!                  +--> MixSession (seed, number): class, URI, think time, class, URI, ...
//!                  +--> Quality: the limits of response time
//! ```
//!
//! Nothing here keeps state between sessions: what session k does follows from the seed and k. The file is
//! explained in `docs/wmix.md`; a new key is a field in `file.rs`, its check beside what it feeds, and its
//! line in `docs/wmix.schema.json`.

mod class;
mod draws;
mod error;
mod file;
mod length;
mod limit;
mod pick;
mod session;
mod template;
mod think;
mod times;
mod zipf;

use std::collections::HashMap;

use httperf_engine::Nanos;

use crate::arrival::Period;
use file::{ArrivalProcess, File, fault};
use length::Length;
use think::Think;

pub use class::MixClass;
pub use error::MixError;
pub use limit::MixLimit;
pub use session::{MixCall, MixSession};

/// More sessions a second than a nanosecond clock can tell apart.
const RATE_MAX: f64 = 1e9;

/// The limits of response time, from the due time to the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// The longest response time that is good.
    pub good_ns: Nanos,
    /// The longest that is tolerable; not less than that.
    pub tolerable_ns: Nanos,
}

/// A file that has been read and checked. It does not change: threads share it.
#[derive(Clone, Debug)]
pub struct Mix {
    classes: Box<[MixClass]>,
    /// The shares of the classes up to and with each; the last is 1.
    upto: Box<[f64]>,
    length: Length,
    think: Think,
    period: Period,
    limit: MixLimit,
    quality: Option<Quality>,
}

impl Mix {
    /// What the file may contain, as a JSON Schema: editors check and complete with it.
    pub const SCHEMA: &str = include_str!("../../../docs/wmix.schema.json");

    /// Reads and checks a file.
    ///
    /// # Errors
    /// The first mistake, with its place in `source`.
    pub fn parse(source: &str) -> Result<Self, MixError> {
        let file = File::parse(source)?;
        let sessions = file.sessions.get_ref();
        let rate = *sessions.rate.get_ref();
        if !(rate > 0.0 && rate <= RATE_MAX) {
            let message = format!("`rate` must be more than 0 and at most {RATE_MAX}, not {rate}");
            return fault(source, sessions.rate.span(), message);
        }
        let period = match sessions.arrivals {
            ArrivalProcess::Poisson => Period::Exponential(1.0 / rate),
            ArrivalProcess::Constant => Period::Constant(1.0 / rate),
        };
        let limit = MixLimit::new(source, &file)?;
        let length = Length::new(source, &sessions.length)?;
        let think = sessions.think.as_ref().map_or(Ok(Think::NONE), |think| Think::new(source, think))?;
        let quality = file.quality.as_ref().map(|limits| quality(source, limits)).transpose()?;
        let classes = classes(source, &file)?;
        let mut sum = 0.0;
        let mut upto: Box<[f64]> = classes
            .iter()
            .map(|class| {
                sum += class.share;
                sum
            })
            .collect();
        if let Some(last) = upto.last_mut() {
            *last = 1.0;
        }
        Ok(Self { classes, upto, length, think, period, limit, quality })
    }

    /// The classes, in the order of the file. There is at least one.
    pub fn classes(&self) -> &[MixClass] {
        &self.classes
    }

    /// The limits of response time, if the file has any.
    pub fn quality(&self) -> Option<Quality> {
        self.quality
    }

    /// How many sessions a run has.
    pub fn limit(&self) -> MixLimit {
        self.limit
    }

    /// The times between sessions, in seconds.
    pub fn period(&self) -> &Period {
        &self.period
    }
}

fn quality(source: &str, limits: &file::QualityLimits) -> Result<Quality, MixError> {
    let good_ns = times::positive(source, "good", &limits.good)?;
    let tolerable_ns = times::positive(source, "tolerable", &limits.tolerable)?;
    if tolerable_ns < good_ns {
        return fault(source, limits.tolerable.span(), "`tolerable` is shorter than `good`");
    }
    Ok(Quality { good_ns, tolerable_ns })
}

/// The classes with their shares.
fn classes(source: &str, file: &File) -> Result<Box<[MixClass]>, MixError> {
    let mut room = zipf::TABLES_MAX;
    let mut seen = HashMap::new();
    let mut classes = Vec::with_capacity(file.classes.len());
    for class in &file.classes {
        let name = &class.get_ref().name;
        if let Some(line) = seen.insert(name.get_ref().as_str(), name.span()) {
            let first = MixError::new(source, line, "").line;
            let message = format!("a class is called `{}` already", name.get_ref().escape_debug());
            return Err(MixError::new(source, name.span(), message).help(format!("see line {first}")));
        }
        classes.push(MixClass::new(source, class.get_ref(), &mut room)?);
        if classes.len() > usize::from(u16::MAX) {
            return fault(source, class.span(), format!("there are more than {} classes", u16::MAX));
        }
    }
    if classes.is_empty() {
        return Err(MixError::new(
            source,
            source.len()..source.len(),
            "there is no class: nothing would be called",
        )
        .help("write [[class]] with name, weight and uri"));
    }
    let dynamic_share = file.calls.as_ref().and_then(|calls| calls.dynamic_share.as_ref());
    let sum = |dynamic: Option<bool>| -> f64 {
        let counts = |class: &&MixClass| dynamic.is_none_or(|dynamic| class.dynamic == dynamic);
        classes.iter().filter(counts).map(|class| class.share).sum()
    };
    let Some(dynamic_share) = dynamic_share else {
        let whole = sum(None);
        classes.iter_mut().for_each(|class| class.share /= whole);
        return Ok(classes.into());
    };
    let (share, span) = (*dynamic_share.get_ref(), dynamic_share.span());
    if !(share > 0.0 && share < 1.0) {
        let message = format!("`dynamic_share` must be more than 0 and less than 1, not {share}");
        return Err(MixError::new(source, span, message).help("without it the weights alone decide"));
    }
    let (fixed, dynamic) = (sum(Some(false)), sum(Some(true)));
    if fixed == 0.0 || dynamic == 0.0 {
        let which = if dynamic == 0.0 { "no" } else { "every" };
        let message = format!("`dynamic_share` divides the calls, but {which} class is dynamic");
        return Err(MixError::new(source, span, message).help("write dynamic = true in some of the classes"));
    }
    for class in &mut classes {
        class.share *= if class.dynamic { share / dynamic } else { (1.0 - share) / fixed };
    }
    Ok(classes.into())
}
