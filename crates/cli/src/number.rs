//! Numbers as C reads and prints them: `strtoul`, `strtod`, `%g`, `%.3f`.
//!
//! The classic tools promise the C forms (leading blanks, signs, hexadecimal, `inf`, wrapped `-1`), which
//! [`str::parse`] does not read and `Display` does not print.

/// What a scan found at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scan<T> {
    /// The value; meaningless if nothing was read.
    pub(crate) value: T,
    /// How many bytes were read, leading blanks included; 0 if there was no number.
    pub(crate) len: usize,
    /// The number does not fit (`ERANGE`).
    pub(crate) out_of_range: bool,
}

impl<T> Scan<T> {
    /// The value, if `text` is this number and nothing else.
    pub(crate) fn whole(self, text: &[u8]) -> Option<T> {
        (self.len > 0 && self.len == text.len() && !self.out_of_range).then_some(self.value)
    }

    /// The value, if there was a number that fits; more text may follow it.
    pub(crate) fn begun(self) -> Option<T> {
        (self.len > 0 && !self.out_of_range).then_some(self.value)
    }
}

/// `strtoul`: blanks, a sign, digits of `base` (8, 10, or 0: told by a prefix `0x` or `0`). A minus negates
/// modulo 2^64, so `-1` is the largest value.
pub(crate) fn strtoul(text: &[u8], base: u64) -> Scan<u64> {
    let (negative, mut at) = sign(text);
    let digit = |at: usize, base: u64| {
        let digit = u64::from(char::from(*text.get(at)?).to_digit(16)?);
        (digit < base).then_some(digit)
    };
    let prefixed =
        |at: usize| text.get(at + 1).is_some_and(|b| b | 0x20 == b'x') && digit(at + 2, 16).is_some();
    let base = match (base, text.get(at)) {
        (0, Some(b'0')) if prefixed(at) => {
            at += 2;
            16
        }
        (0, Some(b'0')) => 8,
        (0, _) => 10,
        (base, _) => base,
    };
    let (mut value, mut out_of_range, start) = (0_u64, false, at);
    while let Some(digit) = digit(at, base) {
        match value.checked_mul(base).and_then(|v| v.checked_add(digit)) {
            Some(sum) if !out_of_range => value = sum,
            _ => (value, out_of_range) = (u64::MAX, true),
        }
        at += 1;
    }
    if at == start {
        return Scan { value: 0, len: 0, out_of_range: false };
    }
    if negative && !out_of_range {
        value = value.wrapping_neg();
    }
    Scan { value, len: at, out_of_range }
}

/// `strtod`: blanks, a sign, then a decimal or hexadecimal fraction with exponent, `inf`, `infinity`, `nan`
/// or `nan(...)` in any case. Like glibc it calls overflow and every subnormal result out of range.
pub(crate) fn strtod(text: &[u8]) -> Scan<f64> {
    let (negative, start) = sign(text);
    let body = &text[start..];
    let (value, len, out_of_range) = if starts(body, b"infinity") {
        (f64::INFINITY, 8, false)
    } else if starts(body, b"inf") {
        (f64::INFINITY, 3, false)
    } else if starts(body, b"nan") {
        (f64::NAN, 3 + nan_payload(&body[3..]), false)
    } else {
        let (value, len, zero) = if starts(body, b"0x") { hexadecimal(body) } else { decimal(body) };
        (value, len, value.is_infinite() || (value < f64::MIN_POSITIVE && !zero))
    };
    if len == 0 {
        return Scan { value: 0.0, len: 0, out_of_range: false };
    }
    Scan { value: value.copysign(if negative { -1.0 } else { 1.0 }), len: start + len, out_of_range }
}

/// `%g`: six significant digits, no trailing zeros, an exponent below 1e-4 and from 1e6 on.
pub(crate) fn format_g(value: f64) -> String {
    if let Some(text) = format_special(value) {
        return text;
    }
    let text = format!("{value:.5e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let places = usize::try_from(5 - exponent).unwrap_or(0);
        trim_zeros(&format!("{value:.places$}")).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.unsigned_abs())
    }
}

/// `%.3f`.
pub(crate) fn format_3f(value: f64) -> String {
    format_special(value).unwrap_or_else(|| format!("{value:.3}"))
}

/// `inf` and `nan` as C writes them.
fn format_special(value: f64) -> Option<String> {
    let name = if value.is_nan() {
        "nan"
    } else if value.is_infinite() {
        "inf"
    } else {
        return None;
    };
    Some(format!("{}{name}", if value.is_sign_negative() { "-" } else { "" }))
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Is there a minus, and where does the number begin after blanks and sign?
fn sign(text: &[u8]) -> (bool, usize) {
    let blanks = text.iter().take_while(|b| matches!(b, b' ' | b'\t'..=b'\r')).count();
    match text.get(blanks) {
        Some(b'-') => (true, blanks + 1),
        Some(b'+') => (false, blanks + 1),
        _ => (false, blanks),
    }
}

fn starts(text: &[u8], name: &[u8]) -> bool {
    text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
}

/// The length of `(letters, digits, underscores)`, or 0.
fn nan_payload(text: &[u8]) -> usize {
    let inner = text.iter().skip(1).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    if text.first() == Some(&b'(') && text.get(1 + inner) == Some(&b')') { inner + 2 } else { 0 }
}

/// The number of digits from `at` on for which `is_digit` holds.
fn run(text: &[u8], at: usize, is_digit: fn(&u8) -> bool) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|b| is_digit(b)).count()
}

/// An exponent that begins with `letter` at `at`: its value (held within what a
/// double can tell apart) and length.
fn exponent(text: &[u8], at: usize, letter: u8) -> (i32, usize) {
    let signed = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
    let digits = run(text, at + 1 + signed, u8::is_ascii_digit);
    if text.get(at).is_none_or(|b| b | 0x20 != letter) || digits == 0 {
        return (0, 0);
    }
    let held = text[at + 1 + signed..][..digits].iter().fold(0, |value: i32, digit| {
        (value.saturating_mul(10).saturating_add(i32::from(digit - b'0'))).min(100_000)
    });
    (if text[at + 1] == b'-' { -held } else { held }, 1 + signed + digits)
}

/// A decimal fraction: its value, its length (0 if there is none), whether all its digits are zeros.
fn decimal(text: &[u8]) -> (f64, usize, bool) {
    let whole = run(text, 0, u8::is_ascii_digit);
    let point = usize::from(text.get(whole) == Some(&b'.'));
    let fraction = if point == 1 { run(text, whole + 1, u8::is_ascii_digit) } else { 0 };
    if whole + fraction == 0 {
        return (0.0, 0, true);
    }
    let digits = whole + point + fraction;
    let len = digits + exponent(text, digits, b'e').1;
    let value = std::str::from_utf8(&text[..len]).ok().and_then(|s| s.parse().ok()).unwrap_or(0.0);
    (value, len, text[..digits].iter().all(|b| matches!(b, b'0' | b'.')))
}

/// The same for `0x1.8p3`. Without a digit after the `0x` it is the number 0 followed by an x.
fn hexadecimal(text: &[u8]) -> (f64, usize, bool) {
    let whole = run(text, 2, u8::is_ascii_hexdigit);
    let point = usize::from(text.get(2 + whole) == Some(&b'.'));
    let fraction = if point == 1 { run(text, 3 + whole, u8::is_ascii_hexdigit) } else { 0 };
    if whole + fraction == 0 {
        return (0.0, 1, true);
    }
    let digits = 2 + whole + point + fraction;
    // 64 bits of mantissa; what does not fit moves the exponent and leaves a sticky
    // last bit for the rounding.
    let (mut mantissa, mut scale) = (0_u64, 0_i32);
    for (index, byte) in text[2..digits].iter().enumerate() {
        let Some(digit) = char::from(*byte).to_digit(16) else { continue };
        let after_point = i32::from(index > whole);
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            scale -= 4 * after_point;
        } else {
            mantissa |= u64::from(digit != 0);
            scale += 4 * (1 - after_point);
        }
    }
    let (power, more) = exponent(text, digits, b'p');
    let mut value = mantissa as f64;
    let mut left = scale.saturating_add(power).clamp(-5000, 5000);
    while left != 0 && value != 0.0 && value.is_finite() {
        let step = left.clamp(-512, 512);
        value *= 2_f64.powi(step);
        left -= step;
    }
    (value, digits + more, mantissa == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Option<f64> {
        strtod(text.as_bytes()).whole(text.as_bytes())
    }

    #[test]
    fn g_prints_as_c_does() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (0.1, "0.1"),
            (100.0, "100"),
            (7.777_777_77, "7.77778"),
            (3.333_333_333, "3.33333"),
            (0.0001, "0.0001"),
            (0.000_012_345_67, "1.23457e-05"),
            (1e-5, "1e-05"),
            (99_999.95, "99999.9"),
            (123_456.7, "123457"),
            (999_999.4, "999999"),
            (999_999.5, "1e+06"),
            (1e6, "1e+06"),
            (1_234_567.0, "1.23457e+06"),
            (1e10, "1e+10"),
            (1e100, "1e+100"),
            (1e-307, "1e-307"),
            (-2.5, "-2.5"),
            (0.000_099_999_95, "0.0001"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN.copysign(1.0), "nan"),
            (f64::NAN.copysign(-1.0), "-nan"),
        ] {
            assert_eq!(format_g(value), text, "{value:e}");
        }
    }

    #[test]
    fn three_places_round_as_c_does() {
        for (value, text) in [
            (0.0005, "0.001"),
            (0.0015, "0.002"),
            (0.0625, "0.062"),
            (0.1875, "0.188"),
            (-0.0, "-0.000"),
            (2.0, "2.000"),
        ] {
            assert_eq!(format_3f(value), text);
        }
        assert_eq!(format_3f(f64::NAN.copysign(1.0)), "nan");
    }

    #[test]
    fn strtod_reads_the_c_forms() {
        for (text, value) in [
            ("5", 5.0),
            (" 5", 5.0),
            ("+5.", 5.0),
            (".5", 0.5),
            ("-1", -1.0),
            ("1e2", 100.0),
            ("1E+2", 100.0),
            ("0x10", 16.0),
            ("0x1.8p1", 3.0),
            ("0X.8", 0.5),
            ("0x123456789abcdef01", f64::from_bits(0x43f2_3456_789a_bcdf)),
            ("1e-307", 1e-307),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("0e-999", 0.0),
        ] {
            assert_eq!(whole(text), Some(value), "{text}");
        }
        assert!(whole("nan").is_some_and(f64::is_nan));
        assert!(whole("NAN(a_1)").is_some_and(f64::is_nan));
    }

    #[test]
    fn strtod_refuses_junk_and_what_does_not_fit() {
        for text in
            ["", "x", ".", "e5", "5x", "5 ", "1e", "0x", "1e400", "1e-400", "1e-308", "-", "nan(", "0x1p5000"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
        assert_eq!(strtod(b"1e").len, 1);
        assert_eq!(strtod(b"0x,").len, 1);
        assert!(strtod(b"1e400,").out_of_range);
    }

    #[test]
    fn strtoul_wraps_and_knows_its_base() {
        let read = |text: &str, base| strtoul(text.as_bytes(), base).whole(text.as_bytes());
        assert_eq!(read(" 3", 10), Some(3));
        assert_eq!(read("+3", 10), Some(3));
        assert_eq!(read("010", 10), Some(10));
        assert_eq!(read("010", 0), Some(8));
        assert_eq!(read("0x20", 0), Some(32));
        assert_eq!(read("-1", 10), Some(u64::MAX));
        assert_eq!(read("18446744073709551615", 10), Some(u64::MAX));
        for text in ["", "x", "3 ", "0x10", "18446744073709551616", "- 1"] {
            assert_eq!(read(text, 10), None, "{text}");
        }
        assert_eq!(strtoul(b"0x,2", 0).len, 1);
        assert_eq!(strtoul(b"08", 0).len, 1);
        assert_eq!(strtoul(b"99999999999999999999999", 8).value, 0);
        assert_eq!(strtoul(b"1111111111111111111111111111", 8).value, u64::MAX);
    }
}
