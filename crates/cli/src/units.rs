//! Values with units, as `httperf run` takes them: `250ms`, `10s`, `20000/s`. Bare numbers are seconds, and
//! per second.

const NANOS_PER_S: f64 = 1e9;

/// A length of time in nanoseconds: `250ms`, `10s`, `1.5m`, `2h`, `100us`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is no unit of time: us, ms, s, m and h are (10s, 250ms)")),
    };
    let nanos = parse(number, text, "a time (10s, 250ms)")? * seconds * NANOS_PER_S;
    // A century.
    if nanos > 3.2e18 { Err(format!("`{text}` is too long")) } else { Ok(nanos.round() as u64) }
}

/// A rate per second: `20000/s`, `3/min`, `5/h`; a bare number is per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text);
    let per_s = match unit {
        "" | "/s" => 1.0,
        "/m" | "/min" => 60.0,
        "/h" => 3600.0,
        _ => return Err(format!("`{unit}` is no unit of a rate: /s, /min and /h are (20000/s)")),
    };
    let rate = parse(number, text, "a rate (20000/s)")? / per_s;
    if rate > 0.0 && rate <= 1e9 {
        Ok(rate)
    } else {
        Err(format!("`{text}` is no rate: more than 0, at most 1e9/s"))
    }
}

/// The number, and what follows it.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !(character.is_ascii_digit() || character == '.'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number, unit.trim_start())
}

fn parse(number: &str, text: &str, what: &str) -> Result<f64, String> {
    number.parse().map_err(|_| format!("`{text}` is not {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_bare_numbers_are_seconds() {
        for (text, nanos) in [
            ("250ms", 250_000_000),
            ("10s", 10_000_000_000),
            ("30", 30_000_000_000),
            ("0.5", 500_000_000),
            ("1.5m", 90_000_000_000),
            ("2h", 7_200_000_000_000),
            ("100us", 100_000),
        ] {
            assert_eq!(duration(text), Ok(nanos), "{text}");
        }
        for text in ["", "s", "10x", "-1s", "1e3", "nan", "1..2", "99999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_have_units_and_bare_numbers_are_per_second() {
        for (text, per_s) in [("20000/s", 20_000.0), ("2000", 2000.0), ("3/min", 0.05), ("36/h", 0.01)] {
            assert_eq!(rate(text), Ok(per_s), "{text}");
        }
        for text in ["0", "-5", "/s", "10s", "1/d", "inf"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
