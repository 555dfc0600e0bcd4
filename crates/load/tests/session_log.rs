//! Session files: the grammar, and what is said of files that do not keep it.

use std::io;
use std::path::Path;

use httperf_load::{CallTemplate, LogError, SessionLog, SessionTemplate};
use proptest::prelude::*;

/// Bodies that the tests' files name.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    match path.to_str() {
        Some("logs/body.bin" | "/abs/my body") => Ok(b"\0from file\n".to_vec()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
    }
}

fn parse(text: impl AsRef<[u8]>) -> Result<SessionLog, LogError> {
    SessionLog::parse(Path::new("logs/s.log"), text.as_ref(), &mut read)
}

/// The log, which must read without notes.
fn clean(text: &str) -> Vec<SessionTemplate> {
    let log = parse(text).expect("a log");
    assert_eq!(log.notes, Vec::<String>::new(), "{text:?}");
    log.templates
}

/// The only call of a log of one line.
fn call(line: &str) -> CallTemplate {
    let mut sessions = parse(line).expect("a log").templates;
    assert_eq!(
        (sessions.len(), sessions[0].bursts.len(), sessions[0].bursts[0].calls.len()),
        (1, 1, 1),
        "{line:?}"
    );
    sessions.remove(0).bursts.remove(0).calls.remove(0)
}

fn body(line: &str) -> String {
    String::from_utf8(call(line).body).expect("text")
}

fn think(line: &str) -> Option<f64> {
    parse(line).expect("a log").templates[0].bursts[0].think
}

fn error(text: impl AsRef<[u8]>) -> String {
    parse(text).expect_err("no log").to_string()
}

/// `[0.2: GET /a, HEAD /b] [GET /c]`, a session a line.
fn shape(sessions: &[SessionTemplate]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut out = String::new();
    for session in sessions {
        for burst in &session.bursts {
            let call = |call: &CallTemplate| format!("{} {}", text(&call.method), text(&call.uri));
            let calls: Vec<_> = burst.calls.iter().map(call).collect();
            let think = burst.think.map(|seconds| format!("{seconds}: ")).unwrap_or_default();
            out += &format!("[{think}{}]", calls.join(", "));
        }
        out += "\n";
    }
    out
}

/// Quotes, escapes, continued lines; tabs before the indented lines.
const EXAMPLE: &str = r#"# comment line
/ok think=0.2
	/size/5
	/size/6
/ok2 method=POST contents='Post data'
	/size/7 method=HEAD

# session 2


/ok3 method=POST contents="Multi\nline\tA\\B 'q'"
/ok4 method=HEAD think=0.1
/ok5 method=PUT contents=a'b c'"d e"f
/ok6 method=PUT contents=abc\ def
/ok7 method=POST contents="cont\
inued" think=0.3
"#;

#[test]
fn the_example_reads_as_the_original_reads_it() {
    let expected = "[0.2: GET /ok, GET /size/5, GET /size/6][POST /ok2, HEAD /size/7]\n\
        [POST /ok3][0.1: HEAD /ok4][PUT /ok5][PUT /ok6][0.3: POST /ok7]\n";
    for text in [EXAMPLE.to_owned(), EXAMPLE.replace('\n', "\r\n"), format!("\u{feff}{EXAMPLE}")] {
        let sessions = clean(&text);
        assert_eq!(shape(&sessions), expected);
        let bodies: Vec<_> = sessions
            .iter()
            .flat_map(|session| &session.bursts)
            .flat_map(|burst| &burst.calls)
            .map(|call| String::from_utf8_lossy(&call.body).into_owned())
            .collect();
        let long = ["Multi\nline\tA\\B 'q'", "", "ab cd ef", "abc def", "cont\ninued"];
        assert_eq!(bodies, [["", "", "", "Post data", ""].as_slice(), &long].concat());
    }
}

#[test]
fn blank_lines_end_sessions_and_columns_make_bursts() {
    assert_eq!(shape(&clean("/a\n\n/b\n\n\n/c method=HEAD\n")), "[GET /a]\n[GET /b]\n[HEAD /c]\n");
    assert_eq!(shape(&clean("\n \t\r\n\t/a\n\t/b\n/c")), "[GET /a, GET /b][GET /c]\n");
    assert_eq!(shape(&clean("/a\n#c\n\t/b\n")), "[GET /a, GET /b]\n");
    assert_eq!(shape(&clean("/a\n \t \x0c\n /b\n")), "[GET /a]\n[GET /b]\n");
    assert_eq!(shape(&clean("foo\x0bmethod=HEAD\n#")), "[HEAD foo]\n");
}

#[test]
fn the_last_think_time_of_a_burst_counts() {
    assert_eq!(
        shape(&clean("/a think=1\n\t/b\n\t/c think=2.5\n\t/d\n")),
        "[2.5: GET /a, GET /b, GET /c, GET /d]\n"
    );
    assert_eq!(think("/a think=1 think=.25"), Some(0.25));
    assert_eq!(think("/a think=-1"), Some(0.0));
    assert_eq!(think("/a"), None);
    let log = parse("/a\n/b think=100ms\n").unwrap();
    assert_eq!(log.templates[0].bursts[1].think, Some(100.0));
    assert_eq!(log.notes, ["logs/s.log:2:13: 'ms' after the seconds is ignored"]);
}

#[test]
fn methods_are_read_by_prefix_or_as_they_stand() {
    for (given, method) in [
        ("GET", "GET"),
        ("GETX", "GET"),
        ("POSTER", "POST"),
        ("TRACE", "TRACE"),
        ("PROPFIND", "PROPFIND"),
        ("REPORTS", "REPORT"),
        ("PROPPATCH", "PROPPATCH"),
        ("PATCH", "PATCH"),
        ("VERSION-CONTROL", "VERSION-CONTROL"),
        ("M2_X", "M2_X"),
    ] {
        assert_eq!(call(&format!("/a method={given}\n")).method, method.as_bytes());
    }
    assert_eq!(call("/a method=HEAD method=PUT").method, b"PUT");
    assert_eq!(call("/a contents=x").method, b"GET");
}

#[test]
fn texts_are_quoted_joined_and_escaped() {
    for (given, text) in [
        ("''", ""),
        ("abc", "abc"),
        ("a#b=c", "a#b=c"),
        (r"'a\nb\'c'", "a\nb'c"),
        (r#""it's" method=HEAD"#, "it's"),
        (r#"'ab'cd"ef""#, "abcdef"),
        (r"\x\ \'\t\r\n", "x '\t\r\n"),
        ("ab\\\ncd\\\r\nef think=1", "ab\ncd\nef"),
        ("abc\\", "abc"),
        ("abc\r\n", "abc"),
        ("a\rb", "a\rb"),
        ("'a b' contents=xyz", "xyz"),
    ] {
        assert_eq!(body(&format!("/a contents={given}")), text, "{given:?}");
    }
}

#[test]
fn a_quote_open_at_the_end_of_its_line_ends_there_with_a_note() {
    for end in ["\n", "\r\n"] {
        let log = parse(format!("/a contents='abc{end}/b{end}")).unwrap();
        assert_eq!(shape(&log.templates), "[GET /a][GET /b]\n");
        assert_eq!(log.templates[0].bursts[0].calls[0].body, b"abc\n");
        let note =
            "logs/s.log:1:13: the quote is not closed on its line: the text ends there, line end included";
        assert_eq!(log.notes, [note]);
    }
    assert_eq!(parse("/a contents='x\n".repeat(50) + "/b\n").unwrap().notes.len(), 8);
}

#[test]
fn header_lines_are_taken_over_with_their_ends() {
    assert_eq!(call(r"/a headers='A: b\nC: d'").fields, b"A: b\r\nC: d\r\n");
    assert_eq!(call(r"/a headers='A: b\r\n\n\n' headers=C:d").fields, b"A: b\r\nC:d\r\n");
    let both = call("/a headers=\"X: 1\" method=POST contents=x\n");
    assert_eq!((both.fields.as_slice(), both.body.as_slice()), (b"X: 1\r\n".as_slice(), b"x".as_slice()));
    assert_eq!(call("/a headers=''").fields, b"");
}

#[test]
fn bodies_come_from_files_beside_the_log() {
    assert_eq!(call("/a contents=@body.bin\n").body, b"\0from file\n");
    assert_eq!(call("/a contents=@'/abs/my body' method=PUT\n").body, b"\0from file\n");
    assert_eq!(body(r"/a contents=\@body.bin"), "@body.bin");
    assert_eq!(body("/a contents='@body.bin'"), "@body.bin");
    assert_eq!(body("/a contents=x@y"), "x@y");
    assert_eq!(
        error("/a\n/b contents=@none\n"),
        "can't open logs/none, named in logs/s.log:2:13: no such file"
    );
    assert!(
        error("/a contents=@\n")
            .starts_with("did not recognize arg 'contents=@' in logs/s.log:1:13: expected")
    );
}

#[test]
fn errors_begin_with_the_text_of_the_original_and_name_the_place() {
    for (text, begins) in [
        (
            "/a\n/b methods=get\n",
            "did not recognize arg 'methods=get' in logs/s.log:2:4: expected method=M, ",
        ),
        (
            "/a\r\n/b method=get\r\n",
            "did not recognize method 'get' in logs/s.log:2:11: expected a method in capitals",
        ),
        ("/a method='HEAD'\n", "did not recognize method ''HEAD'' in logs/s.log:1:11: "),
        ("/a method=Get\n", "did not recognize method 'Get' in logs/s.log:1:11: "),
        ("/a METHOD=GET\n", "did not recognize arg 'METHOD=GET' in logs/s.log:1:4: "),
        ("/a method=\n", "did not recognize arg 'method=' in logs/s.log:1:4: "),
        ("/a contents= think=1\n", "did not recognize arg 'contents=' in logs/s.log:1:4: "),
        ("/a headers=", "did not recognize arg 'headers=' in logs/s.log:1:4: "),
        ("/a think=\n", "did not recognize arg 'think=' in logs/s.log:1:4: "),
        ("/a think=abc\n", "did not recognize arg 'think=abc' in logs/s.log:1:4: expected think=SECONDS"),
        ("/a think=inf\n", "did not recognize arg 'think=inf' in logs/s.log:1:4: "),
        ("/a think=1e999\n", "did not recognize arg 'think=1e999' in logs/s.log:1:4: "),
        ("/a think=0x1\n", "did not recognize arg 'think=0x1' in logs/s.log:1:4: "),
        ("/a # x\n", "did not recognize arg '#' in logs/s.log:1:4: "),
        ("/a\n  # x\n", "did not recognize arg 'x' in logs/s.log:2:5: "),
        ("/a \\\n method=HEAD\n", "did not recognize arg '\\' in logs/s.log:1:4: "),
        ("/a \x1b[31m\n", "did not recognize arg '\\u{1b}[31m' in logs/s.log:1:4: "),
        ("/a contents=abc\\\n", "premature EOF seen in 'logs/s.log', logs/s.log:1:16: expected the line"),
        ("/a contents=\"a\\\r\n", "premature EOF seen in 'logs/s.log', logs/s.log:1:15: "),
    ] {
        assert!(error(text).starts_with(begins), "{text:?} gives {}", error(text));
    }
}

#[test]
fn a_quote_open_at_the_end_of_the_file_is_an_error() {
    for text in [
        "/a\n/b contents='abc",
        "/a\n/b contents='abc\n",
        "/a\n/b contents='abc\r\n \r\n\n",
        "/a\n/b contents='",
    ] {
        let expected =
            "unterminated quote in logs/s.log:2:13: expected a closing ' before the end of the file";
        assert_eq!(error(text), expected, "{text:?}");
    }
    assert!(
        error("/b headers=x'y'\"z")
            .starts_with("unterminated quote in logs/s.log:1:16: expected a closing \" ")
    );
}

#[test]
fn files_without_sessions_and_files_with_nul_are_errors() {
    for text in ["", "\n\n", "# x\n#y\n", "\u{feff}", " \t\r\n"] {
        assert!(error(text).starts_with("no session in logs/s.log:1:1: expected a line `URI"), "{text:?}");
    }
    assert!(error("/a\n/b\0c\n").starts_with("NUL byte in logs/s.log:2:3: expected a text file"));
    assert!(error("# \0\n/a\n").starts_with("NUL byte in logs/s.log:1:3: "));
    assert!(error(b"\xff\xfe/\0a\0\n\0").starts_with("NUL byte in logs/s.log:1:4: "));
}

#[test]
fn nothing_has_a_limit_but_what_errors_repeat() {
    let long = "x".repeat(10_000_000);
    assert_eq!(call(&format!("/{long} contents={long}")).body.len(), long.len());
    let huge = error(format!("/a {long}\n"));
    assert_eq!(huge.find("x...' in logs/s.log:1:4: "), Some("did not recognize arg '".len() + 79));
    assert_eq!(parse(format!("/a method={long}")).unwrap_err().line_column(), (1, 11));
    assert_eq!(clean(&"/a\n\n".repeat(2001)).len(), 2001);
}

proptest! {
    #[test]
    fn any_bytes_give_a_log_or_a_place_in_it(bytes in prop::collection::vec(
        prop::sample::select(b"/a \t\r\n\\'\"#=@\0xmethod=GETthink=1contents=headers=\xff".to_vec()), 0..80)
    ) {
        match parse(&bytes) {
            Ok(log) => {
                let bursts = log.templates.iter().map(|session| session.bursts.len()).min();
                prop_assert!(bursts > Some(0));
                let mut bursts = log.templates.iter().flat_map(|session| &session.bursts);
                prop_assert!(bursts.all(|burst| !burst.calls.is_empty()));
            }
            Err(error) => {
                let (line, column) = error.line_column();
                let text = bytes.split(|&byte| byte == b'\n').nth(line - 1);
                prop_assert!(text.is_some_and(|text| column <= text.len() + 1), "{error}");
            }
        }
    }
}
