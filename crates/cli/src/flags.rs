//! The options of the classic command line: one table, and the rules of GNU `getopt_long` over it.
//!
//! ```text
//!   argv -> Getopt (words, clusters, `=`) -> resolve (prefixes) -> Item -> the personality: its meaning
//!                                               FLAGS
//! ```
//!
//! Help, the manual page and shell completions are generated from [`FLAGS`]; a new option is one row here, a
//! paragraph in `manual/options.rs`, and a field with its meaning in the personality.
//!
//! `lexopt` is not used: it takes `-d=3` for `-d 3`, decodes short options as characters, and hands over the
//! name of a long option without the word it stood in, where `getopt_long` reads `=3`, takes bytes and quotes
//! the whole word.

use crate::redact::redact_word;

/// One option.
#[derive(Debug, PartialEq)]
pub(crate) struct Flag {
    /// The long name, without the dashes.
    pub(crate) name: &'static str,
    /// The letter of the short form.
    pub(crate) short: Option<u8>,
    /// Whether it takes a value, and what the value is called.
    pub(crate) value: Value,
    /// Where it is looked up.
    pub(crate) table: Table,
    /// What it does, in one line.
    pub(crate) help: &'static str,
    /// Whether it works already.
    pub(crate) status: Status,
}

/// The value of an option, with its placeholder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// None, and `=...` is an error.
    None,
    /// `--name V`, `--name=V`, `-nV` or `-n V`.
    Required(&'static str),
    /// Only `--name=V`.
    Optional(&'static str),
}

/// Names are looked up in the first table; in the second only if none of the first begins with the word. So
/// no abbreviation of 0.9.0 ever becomes ambiguous.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Table {
    /// The options of httperf 0.9.0.
    Classic,
    /// Those of 0.9.1, and our own.
    Later,
}

/// Whether an option has an effect, or is only understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Status {
    /// It works.
    Built,
    /// Its value is checked; then the program says that it is not available yet.
    NotYet,
}

const fn classic(name: &'static str, value: Value, help: &'static str) -> Flag {
    Flag { name, short: None, value, table: Table::Classic, help, status: Status::Built }
}

const fn later(name: &'static str, value: Value, help: &'static str) -> Flag {
    Flag { name, short: None, value, table: Table::Later, help, status: Status::Built }
}

impl Flag {
    const fn short(self, letter: u8) -> Flag {
        Flag { short: Some(letter), ..self }
    }

    const fn not_yet(self) -> Flag {
        Flag { status: Status::NotYet, ..self }
    }
}

use Value::{Optional, Required};

/// Every option, each table in alphabetical order: the order of the candidates in an error text.
#[rustfmt::skip]
pub(crate) const FLAGS: &[Flag] = &[
    classic("add-header", Required("S"), "append S to every request; \\n ends a line (CRLF), \\r \\a \\\\ \\NNN as in C"),
    classic("burst-length", Required("N"), "send N calls at once, then wait for their replies (default 1)"),
    classic("client", Required("N/N"), "be client I of N: seeds the random sequences and shifts the samples"),
    classic("close-with-reset", Value::None, "close connections with a TCP reset"),
    classic("debug", Required("N"), "trace on stderr, level N").short(b'd'),
    classic("failure-status", Required("N"), "a reply with status N fails its session"),
    classic("help", Value::None, "print this summary and exit").short(b'h'),
    classic("hog", Value::None, "choose local ports itself, from 1024 on"),
    classic("http-version", Required("S"), "1.0 or 1.1 (default 1.1)"),
    classic("max-connections", Required("N"), "connections a session may have open (default and most: 4)"),
    classic("max-piped-calls", Required("N"), "calls pending on a connection of a session (default and most: 32)"),
    classic("method", Required("S"), "the request method (default GET)"),
    classic("no-host-hdr", Value::None, "send no Host header"),
    classic("num-calls", Required("N"), "calls on each connection (default 1)"),
    classic("num-conns", Required("N"), "connections in all (default 1)"),
    classic("period", Required("[d|u|e]T1[,T2]"), "seconds between arrivals: fixed, uniform or exponential"),
    classic("port", Required("N"), "the server's port (default 80, with --ssl 443)"),
    classic("print-reply", Optional("header|body"), "print replies"),
    classic("print-request", Optional("header|body"), "print requests"),
    classic("rate", Required("X"), "arrivals per second; 0: one after the other (default)"),
    classic("recv-buffer", Required("N"), "size of the receive buffer of a socket, in bytes"),
    classic("retry-on-failure", Value::None, "sessions: try a failed call again"),
    classic("send-buffer", Required("N"), "size of the send buffer of a socket, in bytes"),
    classic("server", Required("S"), "the server's name or address (default localhost)"),
    classic("server-name", Required("S"), "text of the Host header (default: the server)"),
    classic("session-cookies", Value::None, "sessions: send cookies back"),
    classic("ssl", Value::None, "use TLS"),
    classic("ssl-ciphers", Required("L"), "cipher suites of TLS 1.2, OpenSSL names, colons between"),
    classic("ssl-no-reuse", Value::None, "no resumption of TLS sessions"),
    classic("think-timeout", Required("X"), "seconds the server may think, added to --timeout"),
    classic("timeout", Required("X"), "seconds a connection may make no progress (default: no limit)"),
    classic("uri", Required("S"), "the URI to ask for (default /)"),
    classic("verbose", Value::None, "say more; repeat for still more").short(b'v'),
    classic("version", Value::None, "print the version and go on").short(b'V'),
    classic("wlog", Required("y|n,file"), "take the URIs from a file; y: over and over"),
    classic("wsess", Required("N,N,X"), "N sessions of N calls, X seconds of thought between bursts"),
    classic("wsesslog", Required("N,X,file"), "N sessions as described in a file, X seconds of thought"),
    classic("wsesspage", Required("N,N,X"), "N sessions of N pages with their images and frames"),
    classic("wset", Required("N,X"), "walk over a set of N files, going on with probability X"),

    later("add-header-file", Required("F"), "append the bytes of file F to every request"),
    later("classic-strict", Value::None, "count as 0.9.0 does where we mended it"),
    later("concurrency", Required("N"), "keep N connections or sessions going instead of one"),
    later("cookie-jar", Value::None, "sessions keep several cookies, by name"),
    later("json", Required("F"), "write the result as JSON to file F, - is stdout"),
    later("live", Value::None, "show the run as it goes").not_yet(),
    later("myaddr", Required("S"), "source address: name, address or range A-B; may be repeated"),
    later("periodic-stats", Value::None, "print statistics at every sample").short(b'n'),
    later("runtime", Required("X"), "end the test after X seconds"),
    later("servers", Required("F"), "take servers in turn from file F, NUL between them"),
    later("show-secrets", Value::None, "print credentials as they are instead of ***"),
    later("ssl-ca-file", Required("F"), "certificates to trust"),
    later("ssl-ca-path", Required("D"), "directory of certificates to trust"),
    later("ssl-certificate", Required("F"), "the client's certificate"),
    later("ssl-key", Required("F"), "the client's private key"),
    later("ssl-keylog", Value::None, "write TLS secrets to the file named by SSLKEYLOGFILE"),
    later("ssl-protocol", Required("S"), "auto, TLSv1.2 or TLSv1.3"),
    later("ssl-verify", Optional("yes|no"), "check the server's certificate (default no)"),
    later("strict", Value::None, "exit with status 4 if the result is not valid"),
    later("threads", Required("N"), "share the load among N threads (default 1)"),
    later("tls-server-name", Required("S"), "the name to ask for in the TLS handshake"),
    later("use-timer-cache", Value::None, "no effect"),
    later("wmix", Required("F"), "sessions as the mix in file F says: classes, popularity, think times"),
];

/// What a word names.
#[derive(Debug, PartialEq)]
enum Lookup {
    Found(&'static Flag),
    Unknown,
    /// More than one, in table order.
    Ambiguous(Vec<&'static Flag>),
}

/// The option that `word` names or abbreviates: an exact name beats a prefix, the first table the second.
fn resolve(word: &[u8]) -> Lookup {
    for table in [Table::Classic, Table::Later] {
        let all = FLAGS.iter().filter(|flag| flag.table == table);
        let mut found: Vec<_> = all.filter(|flag| flag.name.as_bytes().starts_with(word)).collect();
        match (found.iter().find(|flag| flag.name.as_bytes() == word), found.len()) {
            (Some(exact), _) => return Lookup::Found(exact),
            (None, 0) => {}
            (None, 1) => return found.pop().map_or(Lookup::Unknown, Lookup::Found),
            (None, _) => return Lookup::Ambiguous(found),
        }
    }
    Lookup::Unknown
}

/// What a command line consists of.
#[derive(Debug, PartialEq)]
pub(crate) enum Item<'a> {
    /// An option with its value, if it has one.
    Flag(&'static Flag, Option<&'a [u8]>),
    /// A word that is neither option nor value.
    Word(&'a [u8]),
}

/// Walks over the words of a command line (without argv[0]) as `getopt_long` does: options and other words
/// may be mixed, `--` ends the options. An error is the text of the message, without the program's name.
pub(crate) struct Getopt<'a> {
    words: std::slice::Iter<'a, &'a [u8]>,
    /// What is left of a word of short options.
    cluster: &'a [u8],
    only_words: bool,
}

impl<'a> Getopt<'a> {
    pub(crate) fn new(words: &'a [&'a [u8]]) -> Self {
        Getopt { words: words.iter(), cluster: b"", only_words: false }
    }

    fn long(&mut self, word: &'a [u8]) -> Result<Item<'a>, Vec<u8>> {
        let name = word.split(|b| *b == b'=').next().unwrap_or_default();
        let attached = word.get(name.len() + 1..);
        let option = |name: &[u8], what: &str| [b"option '--", name, b"' ", what.as_bytes()].concat();
        let quoted = || redact_word(&[b"--", word].concat());
        let flag = match resolve(name) {
            Lookup::Found(flag) => flag,
            Lookup::Unknown => {
                return Err([b"unrecognized option '", &*quoted(), b"'"].concat());
            }
            Lookup::Ambiguous(flags) => {
                let names: String = flags.iter().map(|flag| format!(" '--{}'", flag.name)).collect();
                let what = format!("' is ambiguous; possibilities:{names}");
                return Err([b"option '", &*quoted(), what.as_bytes()].concat());
            }
        };
        match (flag.value, attached) {
            (Value::None, Some(_)) => Err(option(flag.name.as_bytes(), "doesn't allow an argument")),
            (Required(_), None) => match self.words.next() {
                Some(value) => Ok(Item::Flag(flag, Some(value))),
                None => Err(option(flag.name.as_bytes(), "requires an argument")),
            },
            (_, attached) => Ok(Item::Flag(flag, attached)),
        }
    }

    fn short(&mut self, letter: u8) -> Result<Item<'a>, Vec<u8>> {
        let Some(flag) = FLAGS.iter().find(|flag| flag.short == Some(letter)) else {
            return Err([b"invalid option -- '".as_slice(), &[letter], b"'"].concat());
        };
        if flag.value == Value::None {
            return Ok(Item::Flag(flag, None));
        }
        let rest = std::mem::take(&mut self.cluster);
        let value = if rest.is_empty() { self.words.next().copied() } else { Some(rest) };
        match value {
            Some(value) => Ok(Item::Flag(flag, Some(value))),
            None => Err([b"option requires an argument -- '".as_slice(), &[letter], b"'"].concat()),
        }
    }
}

impl<'a> Iterator for Getopt<'a> {
    type Item = Result<Item<'a>, Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let [letter, rest @ ..] = self.cluster {
                self.cluster = rest;
                return Some(self.short(*letter));
            }
            match *self.words.next()? {
                word if self.only_words => return Some(Ok(Item::Word(word))),
                b"--" => self.only_words = true,
                [b'-', b'-', long @ ..] => return Some(self.long(long)),
                [b'-', cluster @ ..] if !cluster.is_empty() => self.cluster = cluster,
                word => return Some(Ok(Item::Word(word))),
            }
        }
    }
}

/// The answer to `--help`: the options that there are, in lines of at most 79 columns.
pub(crate) fn usage(program: &[u8]) -> Vec<u8> {
    // The original begins with -h; the other letters follow in the order of the table.
    let letters = FLAGS.iter().filter(|flag| flag.table == Table::Classic).filter_map(|flag| flag.short);
    let letters: Vec<u8> = [b'h'].into_iter().chain(letters.filter(|letter| *letter != b'h')).collect();
    let mut out = [b"Usage: ", program, b" [-", &*letters, b"]"].concat();
    let mut column = out.len();
    for flag in FLAGS.iter().filter(|flag| flag.table == Table::Classic || flag.status == Status::Built) {
        let value = match flag.value {
            Value::None => String::new(),
            Required(name) => format!(" {name}"),
            Optional(name) => format!("[={name}]"),
        };
        let text = format!("[--{}{value}]", flag.name);
        let (gap, start) = if column + 1 + text.len() > 79 { ("\n\t", 8) } else { (" ", column + 1) };
        out.extend_from_slice(gap.as_bytes());
        out.extend_from_slice(text.as_bytes());
        column = start + text.len();
    }
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(word: &str) -> Option<&'static str> {
        match resolve(word.as_bytes()) {
            Lookup::Found(flag) => Some(flag.name),
            _ => None,
        }
    }

    fn items(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<_> = words.iter().map(|word| word.as_bytes()).collect();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Getopt::new(&words)
            .map(|item| match item {
                Ok(Item::Flag(flag, None)) => Ok(flag.name.to_owned()),
                Ok(Item::Flag(flag, Some(value))) => Ok(format!("{}={}", flag.name, text(value))),
                Ok(Item::Word(word)) => Ok(format!("<{}>", text(word))),
                Err(error) => Err(text(&error)),
            })
            .collect()
    }

    #[test]
    fn tables_are_alphabetical_and_names_unique() {
        for pair in FLAGS.windows(2) {
            assert!(pair[0].table != pair[1].table || pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        for (at, flag) in FLAGS.iter().enumerate() {
            assert!(FLAGS[..at].iter().all(|other| other.name != flag.name), "{}", flag.name);
            assert!(!flag.help.is_empty() && flag.help.len() < 80, "{}", flag.name);
        }
    }

    #[test]
    fn every_prefix_of_a_classic_option_resolves_as_in_the_original() {
        let classic: Vec<_> = FLAGS.iter().filter(|f| f.table == Table::Classic).map(|f| f.name).collect();
        assert_eq!(classic.len(), 39);
        for full in &classic {
            for end in 1..=full.len() {
                let word = &full[..end];
                let candidates: Vec<_> = classic.iter().filter(|name| name.starts_with(word)).collect();
                let want = match candidates[..] {
                    _ if classic.contains(&word) => Some(word),
                    [one] => Some(*one),
                    _ => None,
                };
                assert_eq!(name(word), want, "--{word}");
            }
        }
    }

    #[test]
    fn shortest_abbreviations_are_those_seen_in_the_original() {
        for (word, full) in [
            ("a", "add-header"),
            ("b", "burst-length"),
            ("cli", "client"),
            ("clo", "close-with-reset"),
            ("d", "debug"),
            ("f", "failure-status"),
            ("he", "help"),
            ("ho", "hog"),
            ("ht", "http-version"),
            ("max-c", "max-connections"),
            ("max-p", "max-piped-calls"),
            ("me", "method"),
            ("no", "no-host-hdr"),
            ("num-ca", "num-calls"),
            ("num-co", "num-conns"),
            ("pe", "period"),
            ("po", "port"),
            ("print-rep", "print-reply"),
            ("print-req", "print-request"),
            ("ra", "rate"),
            ("rec", "recv-buffer"),
            ("ret", "retry-on-failure"),
            ("sen", "send-buffer"),
            ("server", "server"),
            ("server-", "server-name"),
            ("ses", "session-cookies"),
            ("ssl", "ssl"),
            ("ssl-c", "ssl-ciphers"),
            ("ssl-n", "ssl-no-reuse"),
            ("th", "think-timeout"),
            ("ti", "timeout"),
            ("u", "uri"),
            ("verb", "verbose"),
            ("vers", "version"),
            ("wl", "wlog"),
            ("wsess", "wsess"),
            ("wsessl", "wsesslog"),
            ("wsessp", "wsesspage"),
            ("wset", "wset"),
        ] {
            assert_eq!(name(word), Some(full));
            assert!(word == full || word.len() == 1 || name(&word[..word.len() - 1]) != Some(full), "{word}");
        }
    }

    #[test]
    fn later_options_are_found_only_when_no_classic_name_fits() {
        for (word, full) in [
            ("add-header-", "add-header-file"),
            ("ru", "runtime"),
            ("servers", "servers"),
            ("ssl-ce", "ssl-certificate"),
            ("ssl-key", "ssl-key"),
            ("thr", "threads"),
            ("j", "json"),
            ("my", "myaddr"),
        ] {
            assert_eq!(name(word), Some(full));
        }
        for flag in FLAGS {
            assert_eq!(name(flag.name), Some(flag.name), "an exact name is never hidden by an abbreviation");
        }
    }

    #[test]
    fn words_values_and_clusters_are_cut_as_getopt_does() {
        for (words, want) in [
            (vec!["--rate", "5", "--ra=6"], vec!["rate=5", "rate=6"]),
            (vec!["a", "--server", "--", "b", "-"], vec!["<a>", "server=--", "<b>", "<->"]),
            (vec!["--", "--hog", "-v"], vec!["<--hog>", "<-v>"]),
            (
                vec!["-vvd3", "-d", "-v", "-nV"],
                vec!["verbose", "verbose", "debug=3", "debug=-v", "periodic-stats", "version"],
            ),
            (vec!["-d=3"], vec!["debug==3"]),
            (
                vec!["--print-reply", "body", "--print-reply=", "--print-rep=b=c"],
                vec!["print-reply", "<body>", "print-reply=", "print-reply=b=c"],
            ),
        ] {
            assert_eq!(items(&words), Ok(want.into_iter().map(str::to_owned).collect()), "{words:?}");
        }
    }

    #[test]
    fn misuse_is_named_as_getopt_does() {
        for (word, text) in [
            ("-rate", "invalid option -- 'r'"),
            ("-vx", "invalid option -- 'x'"),
            ("-d", "option requires an argument -- 'd'"),
            ("--serve", "option '--serve' is ambiguous; possibilities: '--server' '--server-name'"),
            ("--num-c=5", "option '--num-c=5' is ambiguous; possibilities: '--num-calls' '--num-conns'"),
            (
                "--ws",
                "option '--ws' is ambiguous; possibilities: '--wsess' '--wsesslog' '--wsesspage' '--wset'",
            ),
            ("--ssl-ca", "option '--ssl-ca' is ambiguous; possibilities: '--ssl-ca-file' '--ssl-ca-path'"),
            ("--bogus=5", "unrecognized option '--bogus=5'"),
            ("--header=Cookie: a", "unrecognized option '--header=Cookie: ***'"),
            ("--server", "option '--server' requires an argument"),
            ("--ra", "option '--rate' requires an argument"),
            ("--ho=1", "option '--hog' doesn't allow an argument"),
            ("--verb=", "option '--verbose' doesn't allow an argument"),
        ] {
            assert_eq!(items(&[word]), Err(text.to_owned()));
        }
        let words = [b"-\xc3\xa9".as_slice()];
        assert_eq!(Getopt::new(&words).next(), Some(Err(b"invalid option -- '\xc3'".to_vec())));
        assert!(items(&["--=3"]).is_err_and(|text| {
            text.starts_with("option '--=3' is ambiguous; possibilities: '--add-header' ")
        }));
    }

    #[test]
    fn usage_begins_as_in_the_original() {
        let text = String::from_utf8(usage(b"httperf")).unwrap();
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("Usage: httperf [-hdvV] [--add-header S] [--burst-length N] [--client N/N]")
        );
        assert!(lines.all(|line| line.starts_with("\t[--") && line.len() < 73), "{text}");
    }
}
