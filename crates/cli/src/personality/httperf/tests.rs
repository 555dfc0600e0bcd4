//! Command lines and what the original says about them; the texts were taken from it, ours are marked.

use std::os::unix::ffi::OsStringExt;

use super::echo::echo;
use super::options::{Arrival, Buffer, Print};
use super::*;
use crate::flags::Value;

/// Splits at blanks; `'...'` keeps them.
fn argv(line: &str) -> Vec<OsString> {
    let mut words = vec![OsString::from("/usr/bin/httperf")];
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for c in line.chars().chain([' ']) {
        match c {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word).into());
                }
                begun = false;
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    words
}

fn options(line: &str) -> Options {
    parse(&argv(line)).unwrap_or_else(|exit| panic!("{line}: {exit:?}")).options
}

fn exit(line: &str) -> Exit {
    parse(&argv(line)).map(|_| ()).expect_err(line)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn echoed(line: &str) -> String {
    text(&echo(&options(line)))
}

// The texts of 0.9.0 are held by `tests/as_the_original.rs`.
#[test]
fn errors_of_later_options_have_their_texts() {
    for (line, error) in [
        // 0.9.1
        ("--runtime 0", "illegal runtime value 0"),
        ("--runtime nan", "illegal runtime value nan"),
        ("--period v0.5", "interarrival time not followed by `,duration' (rest: `')"),
        ("--period v0.5x,2", "interarrival time not followed by `,duration' (rest: `x,2')"),
        ("--period v0.5,x", "illegal duration x"),
        ("--period v0.5,2x", "illegal duration 2x"),
        ("--period v0,2", "illegal mean interarrival time 0,2"),
        ("--period v1,1,2,2,", "illegal mean interarrival time "),
        ("--period v1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "too many rates"),
        ("--ssl-protocol TLSv9", "illegal SSL protocol TLSv9"),
        // ours
        ("--ssl-protocol tlsv1_0", "TLS 1.0 is not supported (rustls: 1.2 and 1.3)"),
        ("--ssl-protocol SSLv3", "SSL 3.0 is not supported (rustls: 1.2 and 1.3)"),
        ("--ssl-verify=maybe", "illegal value of --ssl-verify maybe"),
        ("--concurrency 0", "illegal concurrency 0"),
        ("--threads 0", "illegal number of threads 0"),
        ("--myaddr 10.0.0.1-9", "illegal source address 10.0.0.1-9"),
        (
            "--concurrency 2 --rate 5",
            "--concurrency is for rate 0 and cannot be used with --rate or --period",
        ),
        ("--threads 2", "--threads 2 needs a --rate, or a --concurrency of at least 2"),
        ("--threads 4 --concurrency 3", "--threads 4 needs a --rate, or a --concurrency of at least 4"),
        ("--wsess 1,1,0 --wsesslog 1,1,f", "--wsess and --wsesslog cannot be used together"),
    ] {
        let want = Exit { status: 1, stdout: Vec::new(), stderr: format!("httperf: {error}\n").into_bytes() };
        let got = exit(line);
        assert_eq!(got, want, "{line}: {}", text(&got.stderr));
    }
}

#[test]
fn cookies_without_sessions_and_two_lists_of_servers_exit_with_255() {
    for (line, error) in [
        (
            "--session-cookie --wset 5,1",
            "httperf: --session-cookie requires session-oriented workload (e.g., --wsess)\n",
        ),
        ("--servers f --server s", "httperf: --server S or --servers file\n"),
    ] {
        let want = Exit { status: 255, stdout: Vec::new(), stderr: error.into() };
        assert_eq!(exit(line), want);
    }
    assert!(options("--session-cookies --wsess 0,1,1").session_cookies);
}

#[test]
fn options_act_in_order() {
    let help = exit("-V --num-conns 2 --help --bogus");
    assert_eq!((help.status, help.stderr.as_slice()), (0, b"".as_slice()));
    let out = text(&help.stdout);
    assert!(out.starts_with("httperf: httperf-0.9.0 "), "{out}");
    assert!(out.contains("\nUsage: httperf [-hdvV] [--add-header S] "), "{out}");

    let error = exit("-VV --num-conns x --help");
    assert_eq!((error.status, text(&error.stdout).lines().count()), (1, 2));
    assert_eq!(text(&error.stderr), "httperf: illegal number of connections x\n");
}

#[test]
fn messages_begin_with_the_name_of_the_program() {
    let words = |name: &str| [OsString::from(name), "--bogus".into()];
    assert!(parse(&words("/x/foo")).is_err_and(|exit| exit.stderr.starts_with(b"foo: unrecognized")));
    assert!(parse(&words("")).is_err_and(|exit| exit.stderr.starts_with(b"httperf: unrecognized")));
    assert_eq!(parse(&[]).map(|parsed| parsed.options.program), Ok(b"httperf".to_vec()));
}

#[test]
fn stray_words_are_ignored_unless_they_belong_to_the_other_manner() {
    assert_eq!(options("stray --rate 5 word - -- -v runs").verbose, 0);
    for (line, url) in [
        ("-d 10s http://host/a", "http://host/a"),
        ("--rate 5 run", "http://host/"),
        ("-v serve https://u:p@h/?token=1", "https://***@h/?token=***"),
        ("--show-secrets https://u:p@h/", "https://u:p@h/"),
        ("-- x sweep", "http://host/"),
    ] {
        let want = format!("httperf: options of `run` come after the URL: httperf run -d 10s {url}\n");
        assert_eq!(exit(line), Exit { status: 1, stdout: Vec::new(), stderr: want.into() });
    }
    assert_eq!(options("--uri http://host/run").uri, b"http://host/run");
}

#[test]
fn every_option_has_a_meaning() {
    for flag in FLAGS.iter().filter(|flag| !matches!(flag.name, "help" | "version")) {
        let value = match flag.name {
            "client" => "0/2",
            "http-version" => "1.0",
            "myaddr" => "127.0.0.1",
            "ssl-protocol" => "auto",
            "wsess" | "wsesspage" => "1,2,3",
            "wsesslog" => "1,2,f",
            "wset" => "5,1",
            _ => "1",
        };
        let line = match flag.value {
            Value::None => vec![format!("--{}", flag.name)],
            Value::Required(_) => vec![format!("--{}", flag.name), value.into()],
            Value::Optional(_) => vec![format!("--{}=no", flag.name)],
        };
        let words: Vec<OsString> = ["httperf", "--wsess=1,1,0"]
            [..if ["session-cookies", "cookie-jar"].contains(&flag.name) { 2 } else { 1 }]
            .iter()
            .map(OsString::from)
            .chain(line.into_iter().map(OsString::from))
            .collect();
        let parsed = parse(&words).unwrap_or_else(|exit| panic!("--{}: {}", flag.name, text(&exit.stderr)));
        let not_yet = not_yet(&parsed.options);
        assert_eq!(not_yet.is_some(), flag.status == Status::NotYet, "{}", flag.name);
    }
}

#[test]
fn options_not_built_are_named_in_the_order_given() {
    let said = |line: &str| not_yet(&options(line)).map(|line| text(&line));
    assert_eq!(said("--rate 5 --hog -v --json f --failure-status 500"), None);
    assert_eq!(said("--live --wsess 1,1,0"), Some("httperf: --live is not available yet\n".into()));
}

#[test]
fn options_that_do_nothing_are_named_with_the_reason() {
    let said = |line: &str| text(&without_effect(&options(line)));
    assert_eq!(said("--rate 5 --num-calls 2 --uri /a --ssl --ssl-no-reuse --wset 5,1"), "");
    assert_eq!(said("--wsess 1,1,0 --failure-status 500 --wset 5,1 --uri /a --burst-length 2"), "");
    assert_eq!(
        said("--failure-status 500 --ssl-verify"),
        "httperf: warning: --failure-status has no effect: it is for session workloads (e.g., --wsess)\n\
         httperf: warning: --ssl-verify has no effect: it needs --ssl\n"
    );
    assert_eq!(
        said("--wsesslog 1,0,f --wlog y,f --wlog y,f --uri /a"),
        "httperf: warning: --wlog has no effect: --wsesslog and --wsesspage have URIs and bursts of their own\n\
         httperf: warning: --uri has no effect: every URI comes from the log\n"
    );
}

#[test]
fn values_arrive() {
    let o = options(
        "--num-conns -1 --num-calls 4294967296 --recv-buffer 3000000000 --max-connections 5 --timeout -1",
    );
    assert_eq!((o.num_conns, o.num_calls), (u32::MAX, 0));
    assert_eq!(o.recv_buffer, Buffer { bytes: -1_294_967_296, given: true });
    assert_eq!(o.send_buffer, Buffer { bytes: 4096, given: false });
    assert_eq!((o.max_connections, o.timeout), (5, 0.0));
    let o = options(
        "--port 4294967376 --rate 5 --period e2 --myaddr 127.0.0.1-127.0.0.2 --myaddr ::1 --json - --threads 2",
    );
    assert_eq!((o.port, o.server_port(), o.arrival), (Some(80), 80, Arrival::Exponential { mean: 2.0 }));
    assert_eq!(
        o.myaddr.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["127.0.0.1", "127.0.0.2", "::1"]
    );
    assert_eq!((o.json, o.threads), (Some("-".into()), 2));
    let o = options("--threads 4 --concurrency 4 --print-reply=HEAD --print-request=x -vv --verbose --ssl");
    assert_eq!((o.threads, o.concurrency, o.verbose, o.server_port()), (4, Some(4), 3, 443));
    assert_eq!((o.print_reply, o.print_request), (Print::Header, Print::Both));
}

#[test]
fn header_text_is_unescaped_with_warnings() {
    let parsed =
        |line: &str| parse(&argv(line)).map(|p| (p.options.extra_header, text(&p.warnings))).unwrap();
    assert_eq!(parsed(""), (b"".to_vec(), String::new()));
    assert_eq!(parsed(r"--add-header ''"), (b"".to_vec(), String::new()));
    let unknown = "httperf: ignoring unknown escape sequence `\\q' in --add-header\n";
    assert_eq!(parsed(r"--add-header '\z' --add 'B: \q2\n'"), (b"B: q2\r\n".to_vec(), unknown.into()));
    let (bytes, warnings) = parsed("--add-header 'A: 1'");
    assert_eq!(bytes, b"A: 1");
    assert!(
        warnings.starts_with("httperf: warning: the text of --add-header does not end in \\n"),
        "{warnings}"
    );
}

#[test]
fn versions_nobody_speaks_end_the_program_later() {
    let code = |line: &str| version_error(&options(line)).map(|line| text(&line));
    assert_eq!(code("--http-version 1.0"), None);
    assert_eq!(code("--http-version 2.0"), Some("httperf: unexpected version code 20000\n".into()));
    assert_eq!(code("--http-version 17.3"), Some("httperf: unexpected version code 110003\n".into()));
    assert_eq!(code("--http-version -1.0"), Some("httperf: unexpected version code ffff0000\n".into()));
}

#[test]
fn echo_lines_are_those_recorded_from_the_original() {
    const PRE: &str = "httperf --client=0/1 --server=127.0.0.1 --port=18080";
    const BUF: &str = "--send-buffer=4096 --recv-buffer=16384";
    const ONE: &str = "--num-conns=1 --num-calls=1";
    let to = |line: &str| echoed(&format!("--server 127.0.0.1 --port 18080 {line}"));
    for (line, want) in [
        (
            "--uri /size/1024 --num-conns 10 --num-calls 3",
            format!("{PRE} --uri=/size/1024 {BUF} --num-conns=10 --num-calls=3\n"),
        ),
        (
            "--uri /size/1024 --num-conns 110 --rate 10 -v",
            format!(
                "httperf --verbose{} --uri=/size/1024 --rate=10 {BUF} --num-conns=110 --num-calls=1\n",
                &PRE[7..]
            ),
        ),
        (
            "--uri /sleep/0.05 --wsess 3,4,0.2 --burst-length 2 --rate 5",
            format!("{PRE} --uri=/sleep/0.05 --rate=5 {BUF} --wsess=3,4,0.200 --burst-length=2\n"),
        ),
        (
            "--wsesslog 2,0.05,sess1.log --print-request --rate 3",
            format!(
                "httperf --print-request{} --uri=/ --rate=3 {BUF} --wsesslog=2,0.050,sess1.log\n",
                &PRE[7..]
            ),
        ),
        (
            "--uri /sleep/2 --num-conns 3 --rate 10 --timeout 0.5",
            format!(
                "httperf --timeout=0.5{} --uri=/sleep/2 --rate=10 {BUF} --num-conns=3 --num-calls=1\n",
                &PRE[7..]
            ),
        ),
        (
            "--uri /cookie --wsess 1,3,0.1 --session-cookies --print-request=header",
            format!(
                "httperf --print-request=header{} --uri=/cookie {BUF} --session-cookies --wsess=1,3,0.100\n",
                &PRE[7..]
            ),
        ),
        (
            "--wlog n,wl.bin --num-conns 5 --rate 20 -v",
            format!("httperf --verbose{} --uri=/ --rate=20 {BUF} --num-conns=5 --num-calls=1\n", &PRE[7..]),
        ),
        (
            "--wset 1000,0.5 --num-conns 4 -v --uri /w",
            format!(
                "httperf --verbose{} --uri=/w {BUF} --num-conns=4 --num-calls=1 --wset=1000,0.500\n",
                &PRE[7..]
            ),
        ),
        (
            "--uri /chunktr --print-request --print-reply=header",
            format!("httperf --print-reply=header --print-request{} --uri=/chunktr {BUF} {ONE}\n", &PRE[7..]),
        ),
    ] {
        assert_eq!(to(line), want, "{line}");
    }
}

#[test]
fn echo_has_the_order_and_formats_of_the_original() {
    const TO: &str = "--client=0/1 --server=localhost --port=80 --uri=/";
    const BUF: &str = "--send-buffer=4096 --recv-buffer=16384";
    const ONE: &str = "--num-conns=1 --num-calls=1";
    for (line, want) in [
        ("", format!("{TO} {BUF} {ONE}")),
        ("--ssl", format!("--client=0/1 --server=localhost --port=443 --uri=/ {BUF} --ssl {ONE}")),
        ("--port 0 --ssl", format!("--client=0/1 --server=localhost --uri=/ {BUF} --ssl {ONE}")),
        (
            "--hog --close-with-reset --no-host-hdr --retry-on-failure --ssl --ssl-no-reuse --ssl-ciphers foo \
             --server-name n --method PUT",
            "--hog --close-with-reset --client=0/1 --server=localhost --server_name=n --port=443 \
             --uri=/ --send-buffer=4096 --retry-on-failure --recv-buffer=16384 --ssl --ssl-ciphers=foo --ssl-no-reuse \
             --method=PUT --num-conns=1 --num-calls=1"
                .into(),
        ),
        (
            "--failure-status 500 --http-version 1.0 --max-connections 3 --max-piped-calls 4 --period 0.5 --client 3/10",
            format!("--client=3/10 --server=localhost --port=80 --uri=/ --failure-status=500 \
                 --http-version=1.0 --max-connections=3 --max-piped-calls=4 --rate=2 {BUF} {ONE}"),
        ),
        (
            "--timeout 1.23456789 --think-timeout 1000000 --period u0.123456789,1e10",
            format!("--think-timeout=1e+06 --timeout=1.23457 {TO} --period=u0.123457,1e+10 \
                 {BUF} {ONE}"),
        ),
        ("--rate inf", format!("{TO} --rate=inf {BUF} {ONE}")),
        ("--rate 5 --period 0", format!("{TO} {BUF} {ONE}")),
        ("--num-conns -1 --num-calls 0", format!("{TO} {BUF} --num-conns=-1")),
        (r"--add-header A:1\n", format!(r"{TO} {BUF} --add-header='A:1\n' {ONE}")),
        (
            "--wsess 0,1,0 --num-conns 3 --burst-length 2 --wset 0,1",
            format!("{TO} {BUF} --num-conns=3 --num-calls=1 --burst-length=2"),
        ),
        (
            "--wsess 1,1,0 --wset 5,.5",
            format!("{TO} {BUF} --wsess=1,1,0.000 --wset=5,0.500"),
        ),
        (
            "--wsesspage 1,1,0 --num-conns 3 --burst-length 2 --wset 1,.5",
            format!("{TO} {BUF} --wsesspage=1,1,0.000"),
        ),
        ("--wset 5,-nan", format!("{TO} {BUF} {ONE} --wset=5,-nan")),
        // 0.9.1; our own options are not echoed
        (
            "--runtime 2.5 --servers f --period v0.5,10,0.2,20 --tls-server-name s --ssl-certificate c --ssl-key k \
             --ssl-ca-file a --ssl-ca-path p --ssl-verify --ssl-protocol TLSv1_2 --use-timer-cache -n --json j \
             --classic-strict",
            format!("--runtime=2.5 --client=0/1 --servers=f --port=443 --uri=/ --period=v0.5,10,0.2,20 \
                 {BUF} --ssl --tls-server-name=s --ssl-cert=c --ssl-key=k --ssl-ca-file=a --ssl-ca-path=p \
                 --ssl-verify --ssl-protocol=TLSv1.2 --use-timer-cache {ONE} --periodic-stats"),
        ),
    ] {
        assert_eq!(echoed(line), format!("httperf {want}\n"), "{line}");
    }
}

#[test]
fn echo_hides_secrets_unless_told_otherwise() {
    let line =
        r"--add-header 'Authorization: Basic eDp5\nA: 1\n' --uri /a?token=x&b=1 --server-name http://u:p@h/";
    let hidden = echoed(line);
    assert!(hidden.contains(r" --add-header='Authorization: ***\nA: 1\n' "), "{hidden}");
    assert!(hidden.contains(" --uri=/a?token=***&b=1 "), "{hidden}");
    assert!(hidden.contains(" --server_name=http://***@h/ "), "{hidden}");
    let shown = echoed(&format!("{line} --show-secrets"));
    assert!(shown.contains(r" --add-header='Authorization: Basic eDp5\nA: 1\n' "), "{shown}");
    assert!(shown.contains(" --uri=/a?token=x&b=1 "), "{shown}");
}

#[test]
fn bytes_that_are_no_utf8_survive() {
    let words = [OsString::from("httperf"), "--uri".into(), OsString::from_vec(b"/\xff\xfe".to_vec())];
    let parsed = parse(&words).unwrap();
    assert_eq!(parsed.options.uri, b"/\xff\xfe");
    assert!(echo(&parsed.options).windows(10).any(|part| part == b" --uri=/\xff\xfe"));
}
