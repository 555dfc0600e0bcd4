//! The values people write in a path or a query: sizes, times, parameters.

use std::time::Duration;

/// A number of bytes, `4096` or with a unit: `16KiB`, `3MiB`, `1GiB`. `None` if it is not one or
/// does not fit.
pub(crate) fn size(text: &str) -> Option<u64> {
    let (digits, unit) = split(text);
    let factor = match unit {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// A time with its unit, `50us`, `5ms` or `2s`. `None` if it is not one or does not fit.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let (digits, unit) = split(text);
    let number = digits.parse().ok()?;
    match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

/// The value of the first parameter `name` of a query; empty if it stands there without one.
pub(crate) fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    })
}

/// Digits in front, the rest behind. Splitting first keeps out the `+` that `parse` would take.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_numbers_with_a_binary_unit() {
        assert_eq!(size("0"), Some(0));
        assert_eq!(size("4096"), Some(4096));
        assert_eq!(size("16KiB"), Some(16 * 1024));
        assert_eq!(size("3MiB"), Some(3 * 1024 * 1024));
        assert_eq!(size("1GiB"), Some(1 << 30));
        for bad in ["", "KiB", "+1", "-1", "1.5", "1k", "1kib", "1 KiB", "0x10", "99999999999999999999"] {
            assert_eq!(size(bad), None, "{bad}");
        }
        assert_eq!(size("18446744073709551615GiB"), None);
    }

    #[test]
    fn times_need_their_unit() {
        assert_eq!(time("50us"), Some(Duration::from_micros(50)));
        assert_eq!(time("5ms"), Some(Duration::from_millis(5)));
        assert_eq!(time("2s"), Some(Duration::from_secs(2)));
        for bad in ["", "5", "ms", "1.5s", "-1s", "+1s", "1m", "5 ms", "99999999999999999999s"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }

    #[test]
    fn parameters_are_found_by_their_whole_name() {
        let query = "piece=100&on=1ms&flag&on=2ms";
        assert_eq!(parameter(query, "piece"), Some("100"));
        assert_eq!(parameter(query, "on"), Some("1ms"));
        assert_eq!(parameter(query, "flag"), Some(""));
        assert_eq!(parameter(query, "pie"), None);
        assert_eq!(parameter("", "on"), None);
    }
}
