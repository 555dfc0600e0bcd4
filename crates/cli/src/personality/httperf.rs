//! The classic tool: what its options mean, how they are checked, what is said about errors (manual, section
//! OPTIONS; where that is silent, what httperf 0.9.0 does).
//!
//! ```text
//!   argv -> parse -> Parsed { options, texts to print } -> not_yet, version_error -> a run
//!                 \> Exit { status, texts }                echo -> line 1
//! ```

pub(crate) mod echo;
pub(crate) mod escape;
pub(crate) mod options;
mod values;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Exit;
use crate::flags::{FLAGS, Getopt, Item, Status, usage};
use crate::redact::redact_uri;
use options::{Arrival, Options, SslProtocol};
use values::Text;

/// The words that begin a command line of the other manner; among classic options they are a mistake.
pub(crate) const SUBCOMMANDS: [&str; 15] = [
    "demo",
    "run",
    "sweep",
    "capacity",
    "compare",
    "report",
    "serve",
    "ab",
    "http_load",
    "autobench",
    "selftest",
    "install-links",
    "schema",
    "completions",
    "man",
];

/// A command line that was understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) options: Options,
    /// For stdout, before anything else: what `-V` says.
    pub(crate) stdout: Vec<u8>,
    /// For stderr, after the echo line and once the server's address is known (the original is silent about
    /// them if it is not): warnings about `--add-header`.
    pub(crate) warnings: Vec<u8>,
}

/// Reads a classic command line, argv[0] included. Options act in order: `--help` or an error ends it there.
pub(crate) fn parse(argv: &[OsString]) -> Result<Parsed, Exit> {
    let mut options = Options::new(basename(argv));
    let mut stdout = Vec::new();
    let words: Vec<&[u8]> = argv.iter().skip(1).map(|word| word.as_bytes()).collect();
    let mut stray = Vec::new();
    for item in Getopt::new(&words) {
        let done = match item {
            Ok(Item::Flag(flag, _)) if flag.name == "help" => {
                stdout.extend_from_slice(&usage(&options.program));
                return Err(Exit { status: 0, stdout, stderr: Vec::new() });
            }
            Ok(Item::Flag(flag, _)) if flag.name == "version" => {
                stdout.extend_from_slice(&options.message(VERSION.as_bytes()));
                Ok(())
            }
            Ok(Item::Flag(flag, value)) => options.set(flag, value),
            Ok(Item::Word(word)) => {
                stray.push(word);
                Ok(())
            }
            Err(text) => Err(text),
        };
        if let Err(text) = done {
            return Err(Exit { status: 1, stdout, stderr: options.message(&text) });
        }
    }
    if let Err((status, text)) = check(&options, &stray) {
        return Err(Exit { status, stdout, stderr: options.message(&text) });
    }
    let mut warnings = Vec::new();
    if let Some(text) = &options.add_header {
        warnings = header_warnings(&options, text);
        options.extra_header = escape::unescape(text);
    }
    Ok(Parsed { options, stdout, warnings })
}

/// What `-V` says: the beginning is the original's, so that wrappers find it.
const VERSION: &str =
    concat!("httperf-0.9.0 command line and report, by httperf ", env!("CARGO_PKG_VERSION"), ".");

fn basename(argv: &[OsString]) -> &[u8] {
    let name = argv.first().and_then(|word| Path::new(word).file_name());
    name.map_or(b"httperf", |name| name.as_bytes())
}

/// What a mix says itself.
const MIX_SAYS_WHEN: [&str; 4] = ["rate", "period", "num-conns", "concurrency"];
const MIX_SAYS_WHAT: [&str; 6] = ["num-calls", "burst-length", "uri", "method", "wset", "wlog"];

/// What can be wrong with options that are right one by one.
fn check(options: &Options, stray: &[&[u8]]) -> Result<(), (i32, Text)> {
    let fail = |status, text: &str| Err((status, text.as_bytes().to_vec()));
    let is_url = |word: &[u8]| word.windows(3).any(|part| part == b"://");
    let is_subcommand = |word: &[u8]| SUBCOMMANDS.iter().any(|name| name.as_bytes() == word);
    if stray.iter().any(|word| is_url(word) || is_subcommand(word)) {
        let url = stray.iter().find(|word| is_url(word)).copied().unwrap_or(b"http://host/");
        let url = if options.show_secrets { url.to_vec() } else { redact_uri(url) };
        return Err((1, [b"options of `run` come after the URL: httperf run -d 10s ", &*url].concat()));
    }
    let sessions = ["wsess", "wsesslog", "wsesspage", "wmix"];
    let sessions: Vec<&str> = sessions.into_iter().filter(|name| options.was_given(name)).collect();
    if options.session_cookies && sessions.is_empty() {
        return fail(255, "--session-cookie requires session-oriented workload (e.g., --wsess)");
    }
    if options.was_given("server") && options.servers.is_some() {
        return fail(255, "--server S or --servers file");
    }
    if let [first, second, ..] = sessions[..] {
        return fail(1, &format!("--{first} and --{second} cannot be used together"));
    }
    if options.wmix.is_some() {
        let given = |names: &[&'static str]| names.iter().copied().find(|name| options.was_given(name));
        if let Some(name) = given(&MIX_SAYS_WHEN) {
            return fail(
                1,
                &format!("--{name} and --wmix cannot be used together: the mix says when sessions begin"),
            );
        }
        if let Some(name) = given(&MIX_SAYS_WHAT) {
            return fail(
                1,
                &format!("--{name} and --wmix cannot be used together: the mix says what they call"),
            );
        }
    }
    let old = match options.ssl.protocol {
        Some(SslProtocol::Ssl2) => Some("SSL 2.0"),
        Some(SslProtocol::Ssl3) => Some("SSL 3.0"),
        Some(SslProtocol::Tls10) => Some("TLS 1.0"),
        Some(SslProtocol::Tls11) => Some("TLS 1.1"),
        _ => None,
    };
    if let Some(old) = old {
        return fail(1, &format!("{old} is not supported (rustls: 1.2 and 1.3)"));
    }
    let sequential = options.arrival == Arrival::Sequential && options.wmix.is_none();
    if options.concurrency.is_some() && !sequential {
        return fail(1, "--concurrency is for rate 0 and cannot be used with --rate or --period");
    }
    let at_a_time = options.concurrency.unwrap_or(1);
    if sequential && options.threads > at_a_time {
        let threads = options.threads;
        return fail(
            1,
            &format!("--threads {threads} needs a --rate, or a --concurrency of at least {threads}"),
        );
    }
    Ok(())
}

/// Escapes nobody knows, and the line end that is the user's duty.
fn header_warnings(options: &Options, text: &[u8]) -> Vec<u8> {
    let mut warnings = Vec::new();
    for piece in escape::pieces(text).filter(|piece| piece.unknown) {
        // Of a character of several bytes the original names the first alone.
        let escape = &piece.raw[..piece.raw.len().min(2)];
        let text = [b"ignoring unknown escape sequence `", escape, b"' in --add-header"].concat();
        warnings.extend_from_slice(&options.message(&text));
    }
    let bytes = escape::unescape(text);
    if !bytes.is_empty() && !bytes.ends_with(b"\r\n") {
        let text =
            b"warning: the text of --add-header does not end in \\n: the request may never be complete";
        warnings.extend_from_slice(&options.message(text));
    }
    warnings
}

/// Options given that do nothing beside the others, with the reason: warnings, a line each. The original is
/// silent about them.
pub(crate) fn without_effect(options: &Options) -> Vec<u8> {
    let sessions = options.is_of_sessions();
    let own_uris = options.wsesslog.is_some() || options.wsesspage.is_some();
    let rows: [(bool, &str, &[&str]); 7] = [
        (
            !sessions,
            "it is for session workloads (e.g., --wsess)",
            &["failure-status", "retry-on-failure", "max-connections", "max-piped-calls"],
        ),
        (sessions, "sessions say how many calls they make", &["num-conns", "num-calls"]),
        (
            own_uris,
            "--wsesslog and --wsesspage have URIs and bursts of their own",
            &["wset", "wlog", "burst-length"],
        ),
        (options.wlog.is_some(), "--wlog gives the URIs", &["wset"]),
        (options.wsesslog.is_some() || options.wlog.is_some(), "every URI comes from the log", &["uri"]),
        (
            !options.ssl.on,
            "it needs --ssl",
            &["ssl-ciphers", "ssl-no-reuse", "ssl-verify", "ssl-certificate", "ssl-key", "ssl-keylog"],
        ),
        (!(options.ssl.on && options.ssl.verify), "it needs --ssl-verify", &["ssl-ca-file", "ssl-ca-path"]),
    ];
    let mut lines = Vec::new();
    let mut said: Vec<&str> = Vec::new();
    for (_, why, names) in rows.into_iter().filter(|(idle, ..)| *idle) {
        for name in options.given.iter().filter(|name| names.contains(name)) {
            if !said.contains(name) {
                said.push(name);
                let text = format!("warning: --{name} has no effect: {why}");
                lines.extend_from_slice(&options.message(text.as_bytes()));
            }
        }
    }
    lines
}

/// The line of stderr for the first option given that is not built yet; the exit status is 1.
pub(crate) fn not_yet(options: &Options) -> Option<Vec<u8>> {
    let is_not_yet = |name: &str| FLAGS.iter().any(|flag| flag.name == name && flag.status == Status::NotYet);
    let name = options.given.iter().find(|name| is_not_yet(name))?;
    Some(options.message(format!("--{name} is not available yet").as_bytes()))
}

/// The line of stderr with which a version other than 1.0 and 1.1 ends the program, after the echo line and
/// once the server's address is known; the exit status is 1.
pub(crate) fn version_error(options: &Options) -> Option<Vec<u8>> {
    let (major, minor) = options.http_version;
    if matches!((major, minor), (1, 0 | 1)) {
        return None;
    }
    Some(options.message(format!("unexpected version code {:x}", major << 16 | minor).as_bytes()))
}

#[cfg(test)]
mod tests;
