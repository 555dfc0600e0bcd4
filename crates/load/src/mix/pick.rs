//! What a placeholder stands for: one of a row of numbers or texts, drawn by popularity.

use std::ops::RangeInclusive;

use toml::Spanned;

use super::MixError;
use super::draws::Draws;
use super::file::{self, fault};
use super::template::{RESERVED, fits};
use super::zipf::Zipf;

/// The most picks of one class. What they have drawn is kept on the stack.
pub(super) const PICKS_MAX: usize = 8;

/// The ranks the picks of a class have drawn for one call.
pub(super) type Drawn = [u64; PICKS_MAX];

/// The most numbers to pick from, and the largest of them: doubles can still count them.
const NUMBER_MAX: u64 = 1_000_000_000_000_000;

const EXPONENTS: RangeInclusive<f64> = 0.0..=100.0;

/// The exponent where none is written: that of SPECweb, and near what is seen at web servers.
const EXPONENT: f64 = 1.0;

/// One `pick.NAME` of a class.
#[derive(Clone, Debug)]
pub(super) struct Pick {
    name: Box<str>,
    zipf: Zipf,
    values: Values,
}

/// What the ranks stand for.
#[derive(Clone, Debug)]
enum Values {
    /// Numbers from here on, the first the most popular.
    From(u64),
    Texts(Box<[Box<str>]>),
}

impl Pick {
    pub(super) fn new(
        source: &str,
        name: &Spanned<String>,
        pick: &Spanned<file::Pick>,
        room: &mut u64,
    ) -> Result<Self, MixError> {
        check_name(source, name)?;
        let (span, pick) = (pick.span(), pick.get_ref());
        let exponent = pick.zipf.as_ref().map_or(EXPONENT, |zipf| *zipf.get_ref());
        if let Some(zipf) = pick.zipf.as_ref().filter(|_| !EXPONENTS.contains(&exponent)) {
            let message = format!("`zipf` must be 0 to {}, not {exponent}", EXPONENTS.end());
            return Err(MixError::new(source, zipf.span(), message)
                .help("0 picks all alike, 1 is usual on the web, more is steeper"));
        }
        let (count, values) = match (&pick.count, &pick.values) {
            (Some(count), None) => numbers(source, count, pick.first.as_ref())?,
            (None, Some(values)) => {
                if let Some(first) = &pick.first {
                    return fault(source, first.span(), "`first` belongs to `count`, and there are `values`");
                }
                texts(source, values)?
            }
            (Some(_), Some(values)) => {
                return Err(MixError::new(source, values.span(), "both `count` and `values` are given")
                    .help("leave one of them out"));
            }
            (None, None) => {
                let message = format!("`pick.{}` has nothing to pick from", name.get_ref());
                return Err(MixError::new(source, span, message)
                    .help("write count = 9 for the numbers 0 to 8, or values = [\"a\", \"b\"]"));
            }
        };
        Ok(Self { name: name.get_ref().as_str().into(), zipf: Zipf::new(count, exponent, room), values })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.values, Values::Texts(_))
    }

    /// A rank by popularity.
    pub(super) fn draw(&self, draws: &mut Draws) -> u64 {
        self.zipf.draw(draws)
    }

    /// The number at a rank, or the text.
    pub(super) fn value(&self, rank: u64) -> Result<u64, &str> {
        match &self.values {
            Values::From(first) => Ok(first + rank),
            Values::Texts(texts) => Err(texts.get(rank as usize).map_or("", |text| text)),
        }
    }
}

fn check_name(source: &str, name: &Spanned<String>) -> Result<(), MixError> {
    let text = name.get_ref();
    if RESERVED.contains(&text.as_str()) {
        let message = format!("`{{{text}}}` has a meaning of its own");
        return Err(MixError::new(source, name.span(), message).help("take another name"));
    }
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if text.is_empty() || !text.bytes().all(letter) {
        let message = format!("`{}` cannot be the name of a placeholder", text.escape_debug());
        return Err(MixError::new(source, name.span(), message).help("use a to z, 0 to 9 and _"));
    }
    Ok(())
}

fn numbers(
    source: &str,
    count: &Spanned<u64>,
    first: Option<&Spanned<u64>>,
) -> Result<(u64, Values), MixError> {
    for (key, value, min) in [("count", Some(count), 1), ("first", first, 0)] {
        let Some(value) = value else { continue };
        let given = *value.get_ref();
        if !(min..=NUMBER_MAX).contains(&given) {
            return fault(source, value.span(), format!("`{key}` must be {min} to 10^15, not {given}"));
        }
    }
    Ok((*count.get_ref(), Values::From(first.map_or(0, |first| *first.get_ref()))))
}

fn texts(source: &str, values: &Spanned<Vec<Spanned<String>>>) -> Result<(u64, Values), MixError> {
    if values.get_ref().is_empty() {
        return fault(source, values.span(), "`values` is empty");
    }
    for value in values.get_ref() {
        if let Some(bad) = value.get_ref().chars().find(|&letter| !fits(letter)) {
            let message = format!("a request target cannot contain `{}`", bad.escape_debug());
            return fault(source, value.span(), message);
        }
    }
    let texts: Box<[Box<str>]> =
        values.get_ref().iter().map(|value| value.get_ref().as_str().into()).collect();
    Ok((texts.len() as u64, Values::Texts(texts)))
}
