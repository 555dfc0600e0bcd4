//! Durations as they are written, `250ms` or `1.5s`, in nanoseconds.

use httperf_engine::Nanos;

use super::MixError;
use super::file::{Time, fault};

/// The units, each with its nanoseconds.
const UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// The longest duration, a year: sums of a few of them are far from overflow.
const HOURS_MAX: u64 = 8760;

const HELP: &str = "write a number and ns, us, ms, s, m or h: \"250ms\", \"1.5s\"";

/// The duration of `key`; zero is one.
pub(super) fn nanos(source: &str, key: &str, time: &Time) -> Result<Nanos, MixError> {
    let text = time.get_ref();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = UNITS.iter().find(|(unit, _)| *unit == &text[digits.len()..]);
    // Rust's own grammar has signs, exponents and names besides.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = digits.parse::<f64>().ok().filter(|_| plain);
    let (Some((_, unit)), Some(value)) = (unit, value) else {
        let message = format!("`{key}` is not a duration: `{}`", text.escape_debug());
        return Err(MixError::new(source, time.span(), message).help(HELP));
    };
    let ns = value * unit;
    if ns > HOURS_MAX as f64 * 3600e9 {
        let message = format!("`{key}` is longer than a year ({HOURS_MAX}h)");
        return fault(source, time.span(), message);
    }
    Ok(ns.round() as Nanos)
}

/// The same, but zero is a mistake.
pub(super) fn positive(source: &str, key: &str, time: &Time) -> Result<Nanos, MixError> {
    match nanos(source, key, time)? {
        0 => fault(source, time.span(), format!("`{key}` must be longer than zero")),
        ns => Ok(ns),
    }
}

#[cfg(test)]
mod tests {
    use toml::Spanned;

    use super::*;

    fn read(text: &str) -> Result<Nanos, String> {
        let time = Spanned::new(0..text.len(), text.to_owned());
        nanos(text, "mean", &time).map_err(|error| error.message)
    }

    #[test]
    fn every_unit_has_its_nanoseconds() {
        let texts = ["7ns", "2us", "250ms", "1.5s", "2m", "8760h", "0s", ".5us"];
        let expected =
            [7, 2_000, 250_000_000, 1_500_000_000, 120_000_000_000, 31_536_000_000_000_000, 0, 500];
        assert_eq!(texts.map(|text| read(text).unwrap()), expected);
    }

    #[test]
    fn what_is_no_duration_says_so() {
        for text in
            ["", "5", "s", ".s", "-1s", "+1s", "1e3s", "infs", "nans", "5 s", "1.2.3s", "5d", "5é", "é"]
        {
            assert_eq!(read(text).unwrap_err(), format!("`mean` is not a duration: `{text}`"));
        }
        assert_eq!(read("8761h").unwrap_err(), "`mean` is longer than a year (8760h)");
        assert!(read(&format!("{}s", "9".repeat(400))).is_err());
    }
}
