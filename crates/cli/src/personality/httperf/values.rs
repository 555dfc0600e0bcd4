//! Values with an inner structure: how each is read, and its error texts. An error is
//! the text after `httperf: `.

use std::net::{IpAddr, ToSocketAddrs};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::{ffi::OsStr, str};

use super::options::{Arrival, Client, Print, Sessions, SslProtocol, Wlog, Wsesslog, Wset};
use crate::number::{Scan, strtod, strtoul};

/// The text of an error, without the program's name.
pub(super) type Text = Vec<u8>;

/// `illegal port number X`.
pub(super) fn illegal(what: &str, value: &[u8]) -> Text {
    [b"illegal ", what.as_bytes(), b" ", value].concat()
}

/// `bad client id (rest: ...)` and the like.
fn rest(what: &str, rest: &[u8]) -> Text {
    [what.as_bytes(), b" (rest: `", rest, b"')"].concat()
}

/// A decimal integer, cut to the 32 bits of C's `int`: `-1` becomes the largest, 2^32 becomes 0.
pub(super) fn int(what: &str, value: &[u8]) -> Result<u32, Text> {
    strtoul(value, 10).whole(value).map(|n| n as u32).ok_or_else(|| illegal(what, value))
}

/// The same, where `allowed` must hold of the signed value.
pub(super) fn int_if(what: &str, value: &[u8], allowed: fn(i32) -> bool) -> Result<u32, Text> {
    int(what, value).and_then(|n| if allowed(n as i32) { Ok(n) } else { Err(illegal(what, value)) })
}

/// A fraction.
pub(super) fn real(what: &str, value: &[u8]) -> Result<f64, Text> {
    strtod(value).whole(value).ok_or_else(|| illegal(what, value))
}

/// Seconds of a timeout; negative and not-a-number mean none, which is 0.
pub(super) fn timeout(what: &str, value: &[u8]) -> Result<f64, Text> {
    real(what, value).map(|seconds| if seconds > 0.0 { seconds } else { 0.0 })
}

/// `--client I/N`; text after N is ignored.
pub(super) fn client(value: &[u8]) -> Result<Client, Text> {
    let scan = strtoul(value, 0);
    let id = scan.begun().ok_or_else(|| rest("bad client id", value))? as u32;
    let after = &value[scan.len..];
    let count = after.strip_prefix(b"/").ok_or_else(|| rest("client id not followed by `/'", after))?;
    let of = strtoul(count, 0).begun().map(|n| n as u32).filter(|of| id < *of);
    Ok(Client { id, of: of.ok_or_else(|| rest("bad number of clients", count))? })
}

/// `--http-version A.B`, with the arithmetic of the original: both numbers live in one int, 16 bits each.
pub(super) fn http_version(value: &[u8]) -> Result<(u32, u32), Text> {
    // `sscanf` does not fail on a number that is too large.
    let number = |text: &[u8]| Some(strtoul(text, 10)).filter(|scan| scan.len > 0);
    let version = || {
        let major = number(value)?;
        let minor = number(value[major.len..].strip_prefix(b".")?)?;
        let major = ((major.value as i32) << 16) >> 16;
        Some((major as u32, minor.value as u32 & 0xffff))
    };
    version().ok_or_else(|| illegal("version number", value))
}

/// `--rate X`: as an arrival process.
pub(super) fn rate(value: &[u8]) -> Result<Arrival, Text> {
    let rate = real("request rate", value)?;
    Ok(if rate > 0.0 { Arrival::Deterministic { period: 1.0 / rate } } else { Arrival::Sequential })
}

/// `--period [d|u|e]T1[,T2]` or `vT1,D1,...`. A mean that gives no rate above 0 is a sequential test.
pub(super) fn period(value: &[u8]) -> Result<Arrival, Text> {
    const MEAN: &str = "mean interarrival time";
    let (kind, times) = match value {
        [b'0'..=b'9', ..] => (b'd', value),
        [kind, times @ ..] => (kind.to_ascii_lowercase(), times),
        [] => (0, value),
    };
    let whole = |what, text: &[u8]| {
        let seconds = real(what, text)?;
        if seconds < 0.0 { Err(illegal(what, text)) } else { Ok(seconds) }
    };
    let (arrival, mean) = match kind {
        b'd' => whole(MEAN, times).map(|period| (Arrival::Deterministic { period }, period))?,
        b'e' => whole(MEAN, times).map(|mean| (Arrival::Exponential { mean }, mean))?,
        b'u' => {
            let scan = strtod(times);
            let min = scan.begun().filter(|seconds| seconds.is_nan() || *seconds >= 0.0);
            let min = min.ok_or_else(|| illegal("minimum interarrival time", times))?;
            let after = &times[scan.len..];
            let missing = || rest("minimum interarrival time not followed by `,MAX_IAT'", after);
            let max = whole("request period", after.strip_prefix(b",").ok_or_else(missing)?)?;
            (Arrival::Uniform { min, max }, 0.5 * (min + max))
        }
        b'v' => return variable(times).map(Arrival::Variable),
        _ => {
            let first = [value.first().copied().unwrap_or(0)];
            return Err([b"illegal interarrival distribution '".as_slice(), &first, b"' in ", value].concat());
        }
    };
    Ok(if mean > 0.0 && mean.is_finite() { arrival } else { Arrival::Sequential })
}

/// Up to 16 pairs of period and duration, both above 0: otherwise a test would stand still or never end.
fn variable(mut text: &[u8]) -> Result<Vec<(f64, f64)>, Text> {
    let mut pairs = Vec::new();
    let positive = |scan: Scan<f64>| scan.begun().filter(|seconds| *seconds > 0.0 && seconds.is_finite());
    loop {
        if pairs.len() == 16 {
            return Err(b"too many rates".to_vec());
        }
        let scan = strtod(text);
        let period = positive(scan).ok_or_else(|| illegal("mean interarrival time", text))?;
        let after = &text[scan.len..];
        let missing = || rest("interarrival time not followed by `,duration'", after);
        let field = after.strip_prefix(b",").ok_or_else(missing)?;
        let scan = strtod(field);
        let duration = positive(scan).ok_or_else(|| illegal("duration", field))?;
        pairs.push((period, duration));
        text = match &field[scan.len..] {
            [] => return Ok(pairs),
            [b',', more @ ..] => more,
            _ => return Err(illegal("duration", field)),
        };
    }
}

/// Only the first letter counts; without one, or with another, both parts are printed.
pub(super) fn print(value: Option<&[u8]>) -> Print {
    match value.and_then(<[u8]>::first).map(u8::to_ascii_lowercase) {
        Some(b'h') => Print::Header,
        Some(b'b') => Print::Body,
        _ => Print::Both,
    }
}

/// Reads the fields of the session options one by one.
struct Fields<'a> {
    option: &'static str,
    text: &'a [u8],
}

impl<'a> Fields<'a> {
    fn error(&self, what: &str, out_of_range: bool) -> Text {
        let mut text = rest(&format!("{what} in --{} arg", self.option), self.text);
        if out_of_range {
            // What perror() adds.
            text.extend_from_slice(b": Numerical result out of range");
        }
        text
    }

    fn take<T>(&mut self, what: &str, scan: Scan<T>) -> Result<T, Text> {
        self.text = &self.text[scan.len..];
        let out_of_range = scan.out_of_range;
        scan.begun().ok_or_else(|| self.error(what, out_of_range))
    }

    fn count(&mut self, what: &str) -> Result<u32, Text> {
        self.take(what, strtoul(self.text, 0)).map(|count| count as u32)
    }

    fn seconds(&mut self, what: &str) -> Result<f64, Text> {
        let seconds = self.take(what, strtod(self.text))?;
        if seconds < 0.0 { Err(self.error(what, false)) } else { Ok(seconds) }
    }

    /// Goes on to the next field; a missing comma is the error of that field.
    fn comma(&mut self, next: &str) -> Result<(), Text> {
        self.text = self.text.strip_prefix(b",").ok_or_else(|| self.error(next, false))?;
        Ok(())
    }

    fn end(&self) -> Result<(), Text> {
        if self.text.is_empty() { Ok(()) } else { Err(self.error("extraneous parameter", false)) }
    }
}

/// `--wsess N1,N2,X` and `--wsesspage N1,N2,X`, where `calls` is what the second counts.
pub(super) fn sessions(option: &'static str, calls: &str, value: &[u8]) -> Result<Sessions, Text> {
    let mut fields = Fields { option, text: value };
    let sessions = fields.count("bad number of sessions (1st param)")?;
    let what = format!("bad number of {calls} per session (2nd param)");
    fields.comma(&what)?;
    let calls = fields.count(&what)?;
    let what = "bad user think time (3rd param)";
    fields.comma(what)?;
    let think = fields.seconds(what)?;
    fields.end()?;
    Ok(Sessions { sessions, calls, think })
}

/// `--wsesslog N,X,F`. A comma that ends F is dropped, as in the original.
pub(super) fn wsesslog(value: &[u8]) -> Result<Wsesslog, Text> {
    let mut fields = Fields { option: "wsesslog", text: value };
    let sessions = fields.count("bad number of sessions (1st param)")?;
    let what = "bad user think time (2nd param)";
    fields.comma(what)?;
    let think = fields.seconds(what)?;
    fields.comma("bad session filename (3rd param)")?;
    let name = fields.text;
    let len = name.iter().position(|b| *b == b',').unwrap_or(name.len());
    fields.text = name.get(len + 1..).unwrap_or_default();
    fields.end()?;
    Ok(Wsesslog { sessions, think, file: path(&name[..len]) })
}

/// `--wset N,X`. The rest in its errors is the last field from its beginning.
pub(super) fn wset(value: &[u8]) -> Result<Wset, Text> {
    let mut field = Fields { option: "wset", text: value };
    let scan = strtoul(value, 0);
    let what = "bad working set size (1st parameter)";
    let files = scan.begun().ok_or_else(|| field.error(what, scan.out_of_range))? as u32;
    let what = "bad target miss rate (2nd parameter)";
    field.text = value[scan.len..].strip_prefix(b",").ok_or_else(|| field.error(what, false))?;
    let scan = strtod(field.text);
    let miss = scan.begun().filter(|miss| miss.is_nan() || (0.0..=1.0).contains(miss));
    let miss = miss.ok_or_else(|| field.error(what, scan.out_of_range))?;
    if scan.len < field.text.len() {
        return Err(field.error("extraneous parameter", false));
    }
    Ok(Wset { files, miss })
}

/// `--wlog B,F`: the original takes whatever follows the second character for the name.
pub(super) fn wlog(value: &[u8]) -> Wlog {
    let again = value.first().is_some_and(|b| b.eq_ignore_ascii_case(&b'y'));
    Wlog { again, file: path(value.get(2..).unwrap_or_default()) }
}

/// `--ssl-protocol`: `.` and `_` are equal, and so are upper and lower case.
pub(super) fn ssl_protocol(value: &[u8]) -> Result<SslProtocol, Text> {
    let name = String::from_utf8_lossy(value).to_ascii_lowercase().replace('_', ".");
    Ok(match name.as_str() {
        "auto" => SslProtocol::Auto,
        "sslv2" => SslProtocol::Ssl2,
        "sslv3" => SslProtocol::Ssl3,
        "tlsv1" | "tlsv1.0" => SslProtocol::Tls10,
        "tlsv1.1" => SslProtocol::Tls11,
        "tlsv1.2" => SslProtocol::Tls12,
        "tlsv1.3" => SslProtocol::Tls13,
        _ => return Err(illegal("SSL protocol", value)),
    })
}

/// `--ssl-verify[=yes|no]`.
pub(super) fn ssl_verify(value: Option<&[u8]>) -> Result<bool, Text> {
    match value.unwrap_or(b"yes").to_ascii_lowercase().as_slice() {
        b"yes" => Ok(true),
        b"no" => Ok(false),
        other => Err(illegal("value of --ssl-verify", other)),
    }
}

/// `--myaddr`: an address (an IPv6 one may stand in brackets), a range `A-B` of at most 65,536, or a name, of
/// which the first address is taken, as of a server's.
pub(super) fn source_addresses(value: &[u8]) -> Result<Vec<IpAddr>, Text> {
    let illegal = || illegal("source address", value);
    let text = str::from_utf8(value).map_err(|_| illegal())?;
    let address = |text: &str| {
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        inner.unwrap_or(text).parse::<IpAddr>().ok()
    };
    if let Some(address) = address(text) {
        return Ok(vec![address]);
    }
    let range = text.split_once('-').map(|(first, last)| (address(first), address(last)));
    match range {
        Some((Some(first), Some(last))) => addresses_between(first, last).ok_or_else(illegal),
        // A name may contain a dash, but not begin with an address.
        Some((Some(_), None)) => Err(illegal()),
        _ => {
            let first = (text, 0).to_socket_addrs().ok().and_then(|mut all| all.next());
            Ok(vec![first.ok_or_else(illegal)?.ip()])
        }
    }
}

fn addresses_between(first: IpAddr, last: IpAddr) -> Option<Vec<IpAddr>> {
    let (first, last, v4) = match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => (first.to_bits().into(), last.to_bits().into(), true),
        (IpAddr::V6(first), IpAddr::V6(last)) => (first.to_bits(), last.to_bits(), false),
        _ => return None,
    };
    let make = |bits: u128| match u32::try_from(bits) {
        Ok(bits) if v4 => IpAddr::V4(bits.into()),
        _ => IpAddr::V6(bits.into()),
    };
    (first <= last && last - first < 1 << 16).then(|| (first..=last).map(make).collect())
}

pub(super) fn path(value: &[u8]) -> PathBuf {
    OsStr::from_bytes(value).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_become_arrivals() {
        use Arrival::*;
        for (text, arrival) in [
            ("0.5", Deterministic { period: 0.5 }),
            ("D0.5", Deterministic { period: 0.5 }),
            ("0x10", Deterministic { period: 16.0 }),
            ("d.5", Deterministic { period: 0.5 }),
            ("u3,1", Uniform { min: 3.0, max: 1.0 }),
            ("U 1, 2", Uniform { min: 1.0, max: 2.0 }),
            ("E0.5", Exponential { mean: 0.5 }),
            ("v0.5,10,0.2,20", Variable(vec![(0.5, 10.0), (0.2, 20.0)])),
            ("0", Sequential),
            ("e0", Sequential),
            ("u0,0", Sequential),
            ("dinf", Sequential),
            ("dnan", Sequential),
            ("unan,1", Sequential),
        ] {
            assert_eq!(period(text.as_bytes()), Ok(arrival), "{text}");
        }
        assert_eq!(rate(b"4"), Ok(Deterministic { period: 0.25 }));
        assert_eq!(rate(b"inf"), Ok(Deterministic { period: 0.0 }));
        for text in ["0", "-5", "nan"] {
            assert_eq!(rate(text.as_bytes()), Ok(Sequential));
        }
    }

    #[test]
    fn counts_are_base_zero_and_wrap() {
        assert_eq!(client(b"0x1/0x20"), Ok(Client { id: 1, of: 32 }));
        assert_eq!(client(b"010/020x"), Ok(Client { id: 8, of: 16 }));
        assert_eq!(client(b"-2/-1"), Ok(Client { id: u32::MAX - 1, of: u32::MAX }));
        let read = |text: &[u8]| sessions("wsess", "calls", text).ok();
        assert_eq!(read(b"0x10,010,0x10"), Some(Sessions { sessions: 16, calls: 8, think: 16.0 }));
        assert_eq!(read(b"-1, 2, 3"), Some(Sessions { sessions: u32::MAX, calls: 2, think: 3.0 }));
        assert_eq!(wset(b"0x10,.25"), Ok(Wset { files: 16, miss: 0.25 }));
        assert_eq!(wsesslog(b"1,2,f,").map(|log| log.file), Ok(PathBuf::from("f")));
        assert_eq!(wlog(b"Yes,f"), Wlog { again: true, file: "s,f".into() });
        assert_eq!(wlog(b"n"), Wlog { again: false, file: "".into() });
    }

    #[test]
    fn versions_are_two_halves_of_an_int() {
        for (text, version) in [
            ("1.1", (1, 1)),
            ("1.0x", (1, 0)),
            (" +1. 0", (1, 0)),
            ("-1.0", (u32::MAX, 0)),
            ("1.-1", (1, 65535)),
            ("65536.1", (0, 1)),
            ("99999999999.1", (4_294_961_151, 1)),
            ("99999999999999999999.1", (u32::MAX, 1)),
        ] {
            assert_eq!(http_version(text.as_bytes()), Ok(version), "{text}");
        }
    }

    #[test]
    fn source_addresses_are_single_or_ranges() {
        let read = |text: &str| {
            let all = source_addresses(text.as_bytes()).map_err(|error| String::from_utf8(error).unwrap())?;
            Ok::<_, String>(all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(read("127.0.0.2"), Ok("127.0.0.2".into()));
        assert_eq!(read("10.0.0.254-10.0.1.1"), Ok("10.0.0.254 10.0.0.255 10.0.1.0 10.0.1.1".into()));
        assert_eq!(read("[::1]"), Ok("::1".into()));
        assert_eq!(read("::1-::3"), Ok("::1 ::2 ::3".into()));
        for text in [
            "",
            "10.0.0.2-10.0.0.1",
            "10.0.0.1-5",
            "10.0.0.1-::1",
            "10.0.0.0-11.0.0.0",
            "no.such.host.invalid",
        ] {
            assert_eq!(read(text), Err(format!("illegal source address {text}")));
        }
    }

    #[test]
    fn protocols_are_known_in_any_spelling() {
        for (text, protocol) in [
            ("auto", SslProtocol::Auto),
            ("tlsv1", SslProtocol::Tls10),
            ("TLSV1_2", SslProtocol::Tls12),
            ("SSLv3", SslProtocol::Ssl3),
        ] {
            assert_eq!(ssl_protocol(text.as_bytes()), Ok(protocol));
        }
        assert_eq!(ssl_protocol(b"TLSv1.4"), Err(b"illegal SSL protocol TLSv1.4".to_vec()));
    }
}
