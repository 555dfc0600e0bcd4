//! The table of paths, and the function behind each.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{COOKIE, HeaderValue, SET_COOKIE};

use crate::message::{BLOCK, Body, Call, Reply};
use crate::value;

mod ends;
mod page;

/// One path and what answers it. A path is added by one function and one row in [`ROUTES`].
#[derive(Debug)]
pub(crate) struct Route {
    /// The path as documentation. Capitals stand for what the caller fills in (at the end of the
    /// path), `?` begins the query.
    path: &'static str,
    about: &'static str,
    /// Bytes of a request body that the function wants to see. The rest is read and dropped.
    pub(crate) keep: usize,
    answer: fn(&Call<'_>) -> Answer,
}

type Answer = Result<Reply, Refusal>;

/// Why a request does not get what its path promises.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    why: Bytes,
}

static ROUTES: [Route; 15] = [
    row("/", "a line of 65 bytes", home),
    row("/bytes/N", "N bytes with Content-Length; units KiB, MiB, GiB; at most 1024GiB", sized),
    row("/chunked/N?piece=N", "N bytes in chunks of 16KiB, or of the size given, at most 64KiB", chunked),
    row("/delay/TIME", "answers after that time: 500us, 5ms, 2s; at most 86400s", delay),
    row("/stall?on=TIME&every=TIME", "holds what arrives in the first 100ms of every 1s till then", stall),
    row("/status/CODE", "answers with that status, 200 to 999", status),
    row("/close", "answers and closes the connection", ends::close),
    row("/idle-close", "answers as if it kept the connection, then closes it", ends::idle_close),
    row(
        "/lost?every=N",
        "closes without a reply if it is the server's request N, 2N, ...; 10 if not given",
        ends::lost,
    ),
    row("/page", "HTML with objects: img, frame, iframe, one on another host", page::page),
    row("/redirect", "302 to /page", page::redirect),
    row("/wset/PATH.html", "a working set: 256 to 8192 bytes, always the same for one path", working_set),
    row(
        "/cookie?fresh",
        "returns the Cookie field; sets sid if there is none, with fresh a new one each time",
        cookie,
    ),
    Route { keep: ECHO_LIMIT, ..row("/echo", "the request as it came, with a body of at most 1MiB", echo) },
    row("/stats", "what the server has counted so far, as JSON", stats),
];

/// Every path this server answers, with one line about it. Capitals stand for what the caller
/// fills in; what follows a `?` may be left out; parameters that are not named are ignored. Any
/// method will do: `HEAD` gets no body, and the body of any other is read before the reply.
pub fn paths() -> &'static [(&'static str, &'static str)] {
    static PATHS: [(&str, &str); ROUTES.len()] = {
        let mut paths = [("", ""); ROUTES.len()];
        let mut row = 0;
        while row < paths.len() {
            paths[row] = (ROUTES[row].path, ROUTES[row].about);
            row += 1;
        }
        paths
    };
    &PATHS
}

/// The route of a path, and what stands there in place of the capitals.
pub(crate) fn find(path: &str) -> (&'static Route, &str) {
    static UNKNOWN: Route = row("", "", |_| Err(unknown()));
    ROUTES.iter().find_map(|route| Some((route, route.matches(path)?))).unwrap_or((&UNKNOWN, ""))
}

const fn row(path: &'static str, about: &'static str, answer: fn(&Call<'_>) -> Answer) -> Route {
    Route { path, about, keep: 0, answer }
}

impl Route {
    pub(crate) fn answer(&self, call: &Call<'_>) -> Reply {
        (self.answer)(call).unwrap_or_else(|refusal| Reply::text(refusal.status, refusal.why))
    }

    fn matches<'p>(&self, path: &'p str) -> Option<&'p str> {
        let blank = |byte: char| byte == '?' || byte.is_ascii_uppercase();
        let fixed = self.path.split(blank).next().unwrap_or_default();
        let takes_argument = self.path[fixed.len()..].starts_with(|byte: char| byte.is_ascii_uppercase());
        let argument = path.strip_prefix(fixed)?;
        (takes_argument || argument.is_empty()).then_some(argument)
    }
}

fn home(_: &Call<'_>) -> Answer {
    let line = "hello from httperf serve; a path it does not know lists them all\n";
    Ok(Reply::text(StatusCode::OK, line))
}

fn sized(call: &Call<'_>) -> Answer {
    Ok(block(Body::Sized { left: length(call)? }))
}

fn chunked(call: &Call<'_>) -> Answer {
    let piece = match value::parameter(call.query(), "piece") {
        None => 16 * 1024,
        Some(text) => value::size(text)
            .and_then(|piece| usize::try_from(piece).ok())
            .filter(|piece| (1..=BLOCK.len()).contains(piece))
            .ok_or_else(|| bad("a piece of 1 to 64KiB", text))?,
    };
    Ok(block(Body::Chunked { left: length(call)?, piece }))
}

fn delay(call: &Call<'_>) -> Answer {
    let wait = time(call.argument)?;
    Ok(Reply::text(StatusCode::OK, "late\n").not_before(call.arrived + wait))
}

/// The windows begin at the server's start and follow each other without a gap.
fn stall(call: &Call<'_>) -> Answer {
    let parameter = |name, default| match value::parameter(call.query(), name) {
        None => Ok(default),
        Some(text) => time(text),
    };
    let on = parameter("on", Duration::from_millis(100))?;
    let every = parameter("every", Duration::from_secs(1))?;
    if every.is_zero() || on > every {
        return Err(bad("every to be more than 0 and on to be no more than every", call.query()));
    }
    let phase = (call.arrived - call.started).as_nanos() % every.as_nanos();
    let reply = Reply::text(StatusCode::OK, "on time, or held\n");
    match on.as_nanos().checked_sub(phase) {
        None | Some(0) => Ok(reply),
        // Less than a day, by `time`: it fits.
        Some(nanos) => Ok(reply.not_before(call.arrived + Duration::from_nanos(nanos as u64))),
    }
}

fn status(call: &Call<'_>) -> Answer {
    let code = call.argument;
    let status = StatusCode::from_bytes(code.as_bytes())
        .ok()
        .filter(|status| !status.is_informational())
        .ok_or_else(|| bad("a status of 200 to 999", code))?;
    Ok(match status {
        StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED => Reply::empty(status),
        _ => Reply::text(status, format!("{status}\n")),
    })
}

fn working_set(call: &Call<'_>) -> Answer {
    const SMALLEST: u64 = 256;
    const LARGEST: u64 = 8192;
    if !call.argument.ends_with(".html") {
        return Err(unknown());
    }
    let size = SMALLEST + fnv1a(call.head.uri.path()) % (LARGEST - SMALLEST + 1);
    Ok(Reply::empty(StatusCode::OK).body("text/html; charset=utf-8", Body::Sized { left: size }))
}

fn cookie(call: &Call<'_>) -> Answer {
    let fields = || call.head.headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
    let mut pairs = fields().flat_map(|field| field.split(|byte| *byte == b';'));
    let known = pairs.any(|pair| pair.trim_ascii().starts_with(b"sid="));
    let mut body = fields().collect::<Vec<_>>().join(&b"; "[..]);
    body.push(b'\n');
    let reply = Reply::text(StatusCode::OK, body);
    if known && value::parameter(call.query(), "fresh").is_none() {
        return Ok(reply);
    }
    // No two requests have the same number, so no two replies set the same.
    let sid = HeaderValue::try_from(format!("sid=v{}; Path=/", call.serial + 1));
    Ok(reply.field(SET_COOKIE, sid.expect("digits may stand in a field")))
}

const ECHO_LIMIT: usize = 1 << 20;

/// As it came, but for what hyper does not keep: field names are in lower case, fields of one name
/// stand together, chunks and trailers are gone.
fn echo(call: &Call<'_>) -> Answer {
    if call.body_bytes > ECHO_LIMIT as u64 {
        let why = format!("expected a body of at most 1MiB, got {} bytes\n", call.body_bytes).into();
        return Err(Refusal { status: StatusCode::PAYLOAD_TOO_LARGE, why });
    }
    let head = call.head;
    let mut echo = format!("{} {} {:?}\r\n", head.method, head.uri, head.version).into_bytes();
    for (name, value) in &head.headers {
        echo.extend_from_slice(name.as_str().as_bytes());
        echo.extend_from_slice(b": ");
        echo.extend_from_slice(value.as_bytes());
        echo.extend_from_slice(b"\r\n");
    }
    echo.extend_from_slice(b"\r\n");
    echo.extend_from_slice(call.body);
    Ok(Reply::text(StatusCode::OK, echo))
}

fn stats(call: &Call<'_>) -> Answer {
    Ok(Reply::empty(StatusCode::OK).body("application/json", Body::Text(call.counts.to_json().into())))
}

fn unknown() -> Refusal {
    static LIST: LazyLock<Bytes> = LazyLock::new(|| {
        let mut list = String::from("no such path; there are:\n");
        for (path, about) in paths() {
            // Writing to a string cannot fail.
            let _ = writeln!(list, "  {path:26} {about}");
        }
        list.into()
    });
    Refusal { status: StatusCode::NOT_FOUND, why: LIST.clone() }
}

fn bad(expected: &str, got: &str) -> Refusal {
    Refusal { status: StatusCode::BAD_REQUEST, why: format!("expected {expected}, got '{got}'\n").into() }
}

fn block(body: Body) -> Reply {
    Reply::empty(StatusCode::OK).body("application/octet-stream", body)
}

fn length(call: &Call<'_>) -> Result<u64, Refusal> {
    value::size(call.argument)
        .filter(|size| *size <= 1 << 40)
        .ok_or_else(|| bad("a number of bytes such as 4096, 16KiB or 3MiB, at most 1024GiB", call.argument))
}

fn time(text: &str) -> Result<Duration, Refusal> {
    value::time(text)
        .filter(|time| *time <= Duration::from_secs(86_400))
        .ok_or_else(|| bad("a time such as 500us, 5ms or 2s, at most 86400s", text))
}

/// The 64-bit FNV-1a hash: short, and the same on every machine and in every version.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use hyper::Request;
    use hyper::body::Body as _;

    use super::*;
    use crate::counters::Counts;

    /// Asks the table, `after` the server's start, without a network.
    fn ask(target: &str, after: Duration) -> (Reply, Duration) {
        let (head, ()) = Request::get(target).body(()).unwrap().into_parts();
        let started = Instant::now();
        let arrived = started + after;
        let (route, argument) = find(head.uri.path());
        let (serial, counts) = (42, Counts::default());
        let call = Call { head: &head, argument, body: b"", body_bytes: 0, arrived, started, serial, counts };
        let reply = route.answer(&call);
        let held = reply.not_before.map_or(Duration::ZERO, |at| at - arrived);
        (reply, held)
    }

    fn status_of(target: &str) -> u16 {
        ask(target, Duration::ZERO).0.response.status().as_u16()
    }

    #[test]
    fn a_pattern_matches_up_to_its_capitals_and_a_fixed_path_as_a_whole() {
        for (path, pattern, argument) in [
            ("/", "/", ""),
            ("/bytes/10", "/bytes/N", "10"),
            ("/bytes/", "/bytes/N", ""),
            ("/chunked/7", "/chunked/N?piece=N", "7"),
            ("/stall", "/stall?on=TIME&every=TIME", ""),
            ("/wset/0/1.html", "/wset/PATH.html", "0/1.html"),
            ("/bytes", "", ""),
            ("/echo/", "", ""),
            ("/stallion", "", ""),
            ("*", "", ""),
            ("", "", ""),
        ] {
            let (route, rest) = find(path);
            assert_eq!((route.path, rest), (pattern, argument), "{path}");
        }
    }

    #[test]
    fn the_small_body_has_the_size_it_says() {
        let reply = ask("/", Duration::ZERO).0;
        assert_eq!(reply.response.body().size_hint().exact(), Some(65));
    }

    #[test]
    fn bad_parameters_are_refused_and_the_last_good_ones_are_not() {
        for bad in [
            "/bytes/",
            "/bytes/x",
            "/bytes/1025GiB",
            "/bytes/1/2",
            "/chunked/x",
            "/chunked/1?piece=0",
            "/chunked/1?piece=65KiB",
            "/chunked/1?piece=",
            "/delay/",
            "/delay/5",
            "/delay/86401s",
            "/stall?on=1",
            "/stall?on=2s",
            "/stall?on=0s&every=0s",
            "/status/",
            "/status/100",
            "/status/199",
            "/status/1000",
            "/status/99",
            "/status/abc",
        ] {
            assert_eq!(status_of(bad), 400, "{bad}");
        }
        for good in [
            "/bytes/1024GiB",
            "/bytes/0",
            "/chunked/1?piece=64KiB",
            "/chunked/1?x=y",
            "/delay/86400s",
            "/stall?on=1s",
            "/stall?on=0s",
            "/status/200",
        ] {
            assert_eq!(status_of(good), 200, "{good}");
        }
        assert_eq!(status_of("/status/999"), 999);
    }

    #[test]
    fn a_delay_counts_from_the_arrival() {
        assert_eq!(ask("/delay/1500us", Duration::from_secs(7)).1, Duration::from_micros(1500));
    }

    #[test]
    fn a_stall_holds_the_first_part_of_each_window_until_it_ends() {
        let ms = Duration::from_millis;
        for (arrival, held) in [(0, 100), (1, 99), (99, 1), (100, 0), (999, 0), (1000, 100), (7040, 60)] {
            assert_eq!(ask("/stall?on=100ms&every=1s", ms(arrival)).1, ms(held), "{arrival}");
            assert_eq!(ask("/stall", ms(arrival)).1, ms(held), "{arrival}");
        }
        assert_eq!(ask("/stall?on=20ms&every=20ms", ms(55)).1, ms(5));
    }

    #[test]
    fn a_working_set_has_many_sizes_and_each_path_its_own() {
        let size = |page: u32| {
            let reply = ask(&format!("/wset/0/{page}.html"), Duration::ZERO).0;
            reply.response.body().size_hint().exact().unwrap()
        };
        let mut sizes: Vec<u64> = (0..1000).map(size).collect();
        assert_eq!(sizes[7], size(7));
        assert!(sizes.iter().all(|size| (256..=8192).contains(size)));
        sizes.sort_unstable();
        sizes.dedup();
        assert!(sizes.len() > 900);
        assert_eq!(status_of("/wset/0/1.gif"), 404);
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_row_is_documented() {
        for (path, about) in paths() {
            assert!(path.starts_with('/') && !about.is_empty(), "{path}");
        }
    }
}
