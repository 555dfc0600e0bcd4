//! The words of httperf 0.9.0 about command lines that are wrong, and its abbreviations: ours must be the
//! same. Where the original is installed, the expectations are held against it too.
//!
//! No test here opens a connection: every command line ends at its parsing or at the set-up.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stderr, reason = "what is passed over is said")]

mod common;

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use common::httperf;

/// Where distributions install the original.
const ORIGINAL: &str = "/usr/bin/httperf";

/// Whether there is an original to compare with.
fn is_original_here() -> bool {
    let help = Command::new(ORIGINAL).args(["-V", "--help"]).output();
    let version = b"httperf: httperf-0.9.0 compiled without DEBUG";
    let is_here = help.is_ok_and(|output| output.stdout.starts_with(version));
    if !is_here {
        eprintln!("{ORIGINAL} is not httperf 0.9.0: nothing was compared with it");
    }
    is_here
}

/// The original. It can hang, so it gets five seconds.
fn original() -> Command {
    let mut command = Command::new("timeout");
    // getopt names the program by the whole of argv[0], the rest of the original by its last part.
    command.args(["5", "bash", "-c", &format!("exec -a httperf {ORIGINAL} \"$@\""), "httperf"]);
    command
}

/// Our program, by the name under which it is known.
fn ours() -> Command {
    let mut command = httperf();
    command.arg0("httperf");
    command
}

/// Runs a command line; blanks separate words, `'...'` keeps them.
fn run(mut command: Command, line: &str) -> Output {
    let (mut word, mut is_quoted, mut has_begun) = (String::new(), false, false);
    for c in line.chars().chain([' ']) {
        match c {
            '\'' => (is_quoted, has_begun) = (!is_quoted, true),
            ' ' if !is_quoted => {
                if has_begun {
                    command.arg(std::mem::take(&mut word));
                }
                has_begun = false;
            }
            c => {
                word.push(c);
                has_begun = true;
            }
        }
    }
    command.output().unwrap()
}

/// What a command line led to: status, whether the first line was printed, stderr.
fn outcome(command: Command, line: &str) -> (Option<i32>, bool, String) {
    let output = run(command, line);
    let echoed = output.stdout.starts_with(b"httperf --");
    let stderr = String::from_utf8(output.stderr).unwrap();
    // Said by the original on any machine with a high hard limit, and of --debug as it is packaged.
    let is_its_own = |line: &&str| line.contains("limit > FD_SETSIZE") || line.contains("with -DDEBUG on");
    let lines = stderr.split_inclusive('\n').filter(|line| !is_its_own(line));
    (output.status.code(), echoed, lines.collect())
}

/// Errors of the command line, and the text behind `httperf: `.
#[rustfmt::skip]
const ERRORS: &[(&str, &str)] = &[
    ("-rate 5", "invalid option -- 'r'"),
    ("-d", "option requires an argument -- 'd'"),
    ("--num-c 5", "option '--num-c' is ambiguous; possibilities: '--num-calls' '--num-conns'"),
    ("--print", "option '--print' is ambiguous; possibilities: '--print-reply' '--print-request'"),
    ("--bogus", "unrecognized option '--bogus'"),
    ("--server", "option '--server' requires an argument"),
    ("--hog=1", "option '--hog' doesn't allow an argument"),
    ("--burst-length 0", "illegal burst-length 0"),
    ("--burst-length -1", "illegal burst-length -1"),
    ("--burst-length 4294967296", "illegal burst-length 4294967296"),
    ("--client x/2", "bad client id (rest: `x/2')"),
    ("--client ''", "bad client id (rest: `')"),
    ("--client 99999999999999999999/3", "bad client id (rest: `99999999999999999999/3')"),
    ("--client 1", "client id not followed by `/' (rest: `')"),
    ("--client 1x/2", "client id not followed by `/' (rest: `x/2')"),
    ("--client 1/", "bad number of clients (rest: `')"),
    ("--client 1/x", "bad number of clients (rest: `x')"),
    ("--client 2/2", "bad number of clients (rest: `2')"),
    ("--client 1/99999999999999999999", "bad number of clients (rest: `99999999999999999999')"),
    ("--failure-status 0", "illegal failure status 0"),
    ("--failure-status -1", "illegal failure status -1"),
    ("--failure-status x", "illegal failure status x"),
    ("--http-version 2", "illegal version number 2"),
    ("--http-version 1.", "illegal version number 1."),
    ("--http-version ''", "illegal version number "),
    ("--http-version '1 .0'", "illegal version number 1 .0"),
    ("--max-connections x", "illegal max. # of connection x"),
    ("--max-connections -1", "illegal max. # of connection -1"),
    ("--max-piped-calls x", "illegal max. # of piped calls x"),
    ("--num-calls 0x10", "illegal number of calls 0x10"),
    ("--num-conns 1x", "illegal number of connections 1x"),
    ("--num-conns ''", "illegal number of connections "),
    ("--num-conns '3 '", "illegal number of connections 3 "),
    ("--num-conns 99999999999999999999999", "illegal number of connections 99999999999999999999999"),
    ("--period .1", "illegal interarrival distribution '.' in .1"),
    ("--period x1", "illegal interarrival distribution 'x' in x1"),
    ("--period -1", "illegal interarrival distribution '-' in -1"),
    ("--period ''", "illegal interarrival distribution '\0' in "),
    ("--period d", "illegal mean interarrival time "),
    ("--period d0.5x", "illegal mean interarrival time 0.5x"),
    ("--period 5x", "illegal mean interarrival time 5x"),
    ("--period d-1", "illegal mean interarrival time -1"),
    ("--period e5,6", "illegal mean interarrival time 5,6"),
    ("--period 1e-320", "illegal mean interarrival time 1e-320"),
    ("--period u", "illegal minimum interarrival time "),
    ("--period u,2", "illegal minimum interarrival time ,2"),
    ("--period u-1,-2", "illegal minimum interarrival time -1,-2"),
    ("--period u1", "minimum interarrival time not followed by `,MAX_IAT' (rest: `')"),
    ("--period u1x,2", "minimum interarrival time not followed by `,MAX_IAT' (rest: `x,2')"),
    ("--period u1,", "illegal request period "),
    ("--period u1,-2", "illegal request period -2"),
    ("--period u1,2,3", "illegal request period 2,3"),
    ("--port 65536", "illegal port number 65536"),
    ("--port -1", "illegal port number -1"),
    ("--port x", "illegal port number x"),
    ("--rate fast", "illegal request rate fast"),
    ("--rate ''", "illegal request rate "),
    ("--rate 1e400", "illegal request rate 1e400"),
    ("--recv-buffer y", "illegal receive buffer size y"),
    ("--send-buffer y", "illegal send buffer size y"),
    ("--think-timeout 1s", "illegal think timeout value 1s"),
    ("--timeout x", "illegal connect timeout x"),
    ("--wsess x", "bad number of sessions (1st param) in --wsess arg (rest: `x')"),
    ("--wsess 1", "bad number of calls per session (2nd param) in --wsess arg (rest: `')"),
    ("--wsess 1x,2,3", "bad number of calls per session (2nd param) in --wsess arg (rest: `x,2,3')"),
    ("--wsess 1,,3", "bad number of calls per session (2nd param) in --wsess arg (rest: `,3')"),
    ("--wsess 1,2", "bad user think time (3rd param) in --wsess arg (rest: `')"),
    ("--wsess 1,2,x", "bad user think time (3rd param) in --wsess arg (rest: `x')"),
    ("--wsess 1,2x,3", "bad user think time (3rd param) in --wsess arg (rest: `x,3')"),
    ("--wsess 1,2,-1", "bad user think time (3rd param) in --wsess arg (rest: `')"),
    ("--wsess 1,2,3,4", "extraneous parameter in --wsess arg (rest: `,4')"),
    ("--wsess 08,2,3", "bad number of calls per session (2nd param) in --wsess arg (rest: `8,2,3')"),
    (
        "--wsess 99999999999999999999,2,3",
        "bad number of sessions (1st param) in --wsess arg (rest: `,2,3'): Numerical result out of range",
    ),
    (
        "--wsess 1,2,1e400",
        "bad user think time (3rd param) in --wsess arg (rest: `'): Numerical result out of range",
    ),
    ("--wsesspage x", "bad number of sessions (1st param) in --wsesspage arg (rest: `x')"),
    (
        "--wsesspage 1",
        "bad number of user requests per session (2nd param) in --wsesspage arg (rest: `')",
    ),
    ("--wsesspage 1,2,x", "bad user think time (3rd param) in --wsesspage arg (rest: `x')"),
    ("--wsesspage 1,2,3,4", "extraneous parameter in --wsesspage arg (rest: `,4')"),
    ("--wsesslog x", "bad number of sessions (1st param) in --wsesslog arg (rest: `x')"),
    ("--wsesslog 1", "bad user think time (2nd param) in --wsesslog arg (rest: `')"),
    ("--wsesslog 1,-2,f", "bad user think time (2nd param) in --wsesslog arg (rest: `,f')"),
    ("--wsesslog 1,2", "bad session filename (3rd param) in --wsesslog arg (rest: `')"),
    ("--wsesslog 1,2x", "bad session filename (3rd param) in --wsesslog arg (rest: `x')"),
    ("--wsesslog 1,2,f,g,h", "extraneous parameter in --wsesslog arg (rest: `g,h')"),
    ("--wset x", "bad working set size (1st parameter) in --wset arg (rest: `x')"),
    (
        "--wset 99999999999999999999,.5",
        "bad working set size (1st parameter) in --wset arg (rest: `99999999999999999999,.5'): Numerical result out of range",
    ),
    ("--wset 1", "bad target miss rate (2nd parameter) in --wset arg (rest: `1')"),
    ("--wset 5x,2", "bad target miss rate (2nd parameter) in --wset arg (rest: `5x,2')"),
    ("--wset 5,", "bad target miss rate (2nd parameter) in --wset arg (rest: `')"),
    ("--wset 5,2", "bad target miss rate (2nd parameter) in --wset arg (rest: `2')"),
    ("--wset 5,-1", "bad target miss rate (2nd parameter) in --wset arg (rest: `-1')"),
    ("--wset 5,.5,1", "extraneous parameter in --wset arg (rest: `.5,1')"),
];

/// Errors of the set-up, which come behind the first line.
const SETUP: &[(&str, &str)] = &[
    ("--server 'a b'", "httperf.core_addr_intern: invalid server address a b"),
    ("--wlog y,/nonexistent", "httperf: can't open /nonexistent"),
    ("--wlog n,/dev/null", "httperf: file /dev/null is empty"),
    ("--wsesslog 1,0,/nonexistent", "httperf: can't open /nonexistent"),
    ("--max-connections 5 --wsess 1,1,0", "httperf.session_init: --max-conns must be <= 4"),
    ("--max-piped-calls 33 --wsess 1,1,0", "httperf.session_init: --max-piped-calls must be <= 32"),
];

#[test]
fn errors_of_the_command_line_have_the_texts_of_the_original() {
    let is_here = is_original_here();
    for (line, text) in ERRORS {
        let want = (Some(1), false, format!("httperf: {text}\n"));
        assert_eq!(outcome(ours(), line), want, "{line}");
        if is_here {
            assert_eq!(outcome(original(), line), want, "the original: {line}");
        }
    }
    let cookies = "httperf: --session-cookie requires session-oriented workload (e.g., --wsess)\n";
    let want = (Some(255), false, cookies.to_owned());
    assert_eq!(outcome(ours(), "--session-cookie"), want);
    if is_here {
        assert_eq!(outcome(original(), "--session-cookie"), want);
    }
}

#[test]
fn errors_of_the_set_up_have_the_texts_of_the_original() {
    let is_here = is_original_here();
    for (line, text) in SETUP {
        let want = (Some(1), true, format!("{text}\n"));
        let got = outcome(ours(), line);
        if got.2.ends_with(" is not available yet\n") {
            eprintln!("{line}: not available yet, so not compared");
        } else {
            assert_eq!(got, want, "{line}");
        }
        if is_here {
            assert_eq!(outcome(original(), line), want, "the original: {line}");
        }
    }
}

/// The options of the original, as its `--help` lists them: the name, and what stands for the value.
fn listed(help: &str) -> Vec<(&str, &str)> {
    let items = help.split("[--").skip(1).filter_map(|item| item.split_once(']'));
    // The value of an optional one is in brackets of its own.
    items.map(|(item, _)| item.split_at(item.find([' ', '|', '[', '=']).unwrap_or(item.len()))).collect()
}

#[test]
fn every_abbreviation_means_what_it_meant() {
    if !is_original_here() {
        return;
    }
    let help = String::from_utf8(run(original(), "--help").stdout).unwrap();
    let options = listed(&help);
    // The letters -d, -h, -v, -V have their long forms in the list or here.
    let more = ["debug", "help", "verbose", "version", "wsesspage", "session-cookies"];
    let mut names: Vec<_> = options.iter().map(|(name, _)| *name).chain(more).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 39, "{names:?}");
    let mut words: Vec<_> = names.iter().flat_map(|name| (1..=name.len()).map(|end| &name[..end])).collect();
    words.sort_unstable();
    words.dedup();
    for word in words {
        // An option that wants no value names itself when it gets one, and an option that wants one when it
        // gets none. The help, and cookies without sessions, see to it that nothing is ever loaded.
        for line in [format!("--{word}= --help"), format!("--session-cookies --{word}")] {
            assert_eq!(outcome(ours(), &line), outcome(original(), &line), "{line}");
        }
    }
}
