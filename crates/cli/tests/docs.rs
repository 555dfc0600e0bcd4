//! The command lines of the README and the docs work as they stand, and what the docs show of their output is
//! what they print.
//!
//! ```text
//!   ```console          `$ COMMAND` and its output; the test runs it and compares
//!   ```text NAME        a file for the commands of its page
//!   ```                 other lines: `httperf --server 127.0.0.1 --port 8080 ...` is run, no output is shown
//! ```
//!
//! Ports 8080 and 8443 of an example are `httperf serve` and `httperf serve --tls`. Figures that differ from
//! run to run are masked; connections, requests, replies, sizes, errors and sessions are not. A line `...`
//! stands for any lines.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Serve, httperf};

/// README.md and everything in docs/.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    docs.filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .chain([root.join("README.md")])
        .collect()
}

/// The code blocks of a page: what stands behind the backquotes, and the lines.
fn blocks(page: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(page).unwrap();
    let pieces = text.split("```").skip(1).step_by(2);
    pieces.filter_map(|piece| piece.split_once('\n')).map(|(kind, text)| (kind.into(), text.into())).collect()
}

/// The loads in a page's code blocks: their words, without comments.
fn loads(page: &Path) -> Vec<Vec<String>> {
    let text: String = blocks(page).into_iter().map(|(_, text)| text).collect();
    let lines = text.lines().filter(|line| line.starts_with("httperf --server 127.0.0.1 --port 8080"));
    lines
        .map(|line| line.split('#').next().unwrap().split_whitespace().skip(1).map(str::to_owned).collect())
        .collect()
}

#[test]
fn every_load_of_the_documentation_runs_without_an_error() {
    let serve = Serve::start();
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<_> = pages().iter().flat_map(|page| loads(page)).collect();
    assert!(all.len() >= 5, "the README shows some");
    for words in all {
        // A port that is free, and files where they are.
        let words = words.iter().map(|word| match word.as_str() {
            "8080" => serve.port.clone(),
            name if name.starts_with("docs/") => format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR")),
            _ => word.clone(),
        });
        // As they stand, but not for as long.
        let output =
            httperf().args(words.clone()).args(["--runtime", "0.3"]).current_dir(&folder).output().unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{words:?}");
        assert!(report.contains("\nErrors: total 0 "), "{words:?}\n{report}");
    }
}

/// A command of an example, and what is said to come of it.
struct Step {
    command: String,
    output: Vec<String>,
}

/// The steps of a block of the kind `console`.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continued = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), output: Vec::new() });
        } else {
            let step = steps.last_mut().expect("an example begins with a command");
            if continued {
                step.command += &format!("\n{line}");
            } else {
                step.output.push(line.to_owned());
                continue;
            }
        }
        continued = line.ends_with('\\');
    }
    steps
}

/// A line without what differs from run to run.
fn skeleton(line: &str) -> String {
    const EXACT: [&str; 8] = [
        "httperf --",
        "Connection length",
        "Request size",
        "Reply size",
        "Reply status",
        "Errors:",
        "Session:",
        "Session length",
    ];
    let line = line.trim_end();
    if EXACT.iter().any(|start| line.starts_with(start)) {
        return line.to_owned();
    }
    let line = line.split_once("date: ").map_or(line, |(before, _)| before);
    let all = line.starts_with("Maximum connect burst") || line.starts_with("next arrival");
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let len = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (number, after) = number.split_at(len);
        let is_measured = number.trim_end_matches('.').matches('.').count() == 1 && !before.ends_with('/');
        let varies = is_measured || all || before.ends_with("<=") || after.starts_with(" samples");
        out.push_str(before);
        out.push_str(if varies { "#" } else { number });
        rest = after;
    }
    out + rest
}

/// Whether `lines` are what `shown` says, where `...` is any number of lines.
fn is_as_shown(shown: &[String], lines: &[String]) -> bool {
    match shown {
        [] => lines.is_empty(),
        [gap, rest @ ..] if gap == "..." => (0..=lines.len()).any(|at| is_as_shown(rest, &lines[at..])),
        [first, rest @ ..] => {
            lines.first().is_some_and(|line| skeleton(line) == skeleton(first))
                && is_as_shown(rest, &lines[1..])
        }
    }
}

/// Runs the steps of an example, one after the other, with servers of its own; what is not as shown.
fn play(page: &Path, text: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    for (kind, text) in blocks(page) {
        if let Some(name) = kind.strip_prefix("text ") {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
    }
    let serves = [("8080", &[] as &[&str]), ("8443", &["--tls"])]
        .map(|(port, options)| text.contains(port).then(|| (port, Serve::start_with(options))));
    let with_port = |text: &str| {
        let replace = |text: String, (port, serve): &(&str, Serve)| text.replace(port, &serve.port);
        serves.iter().flatten().fold(text.to_owned(), replace)
    };
    let program = Path::new(assert_cmd::cargo::cargo_bin!("httperf")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for step in steps(text) {
        let output = Command::new("timeout")
            .args(["60", "sh", "-c", &with_port(&step.command)])
            .env("PATH", &path)
            .current_dir(&folder)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        let shown: Vec<String> = step.output.iter().map(|line| with_port(line)).collect();
        if !is_as_shown(&shown, &lines) {
            let errors = String::from_utf8_lossy(&output.stderr);
            let shown = step.output.join("\n");
            let command = step.command;
            return Some(format!("{}: $ {command}\n{shown}\n--- is:\n{printed}{errors}", page.display()));
        }
    }
    None
}

#[test]
fn every_example_of_the_documentation_prints_what_is_shown() {
    let of_page =
        |page: &PathBuf| blocks(page).into_iter().map(|block| (page.clone(), block)).collect::<Vec<_>>();
    let all: Vec<_> = pages().iter().flat_map(of_page).filter(|(_, (kind, _))| kind == "console").collect();
    assert!(all.len() >= 15, "there are {}", all.len());
    // They wait more than they work, so all go at once.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = all.iter().map(|(page, (_, text))| scope.spawn(|| play(page, text))).collect();
        runs.into_iter().filter_map(|run| run.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reports_of_the_original_beside_ours_have_the_same_lines_and_counts() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/seeds.md");
    let blocks = blocks(&page);
    let mut compared = 0;
    for pair in blocks.windows(2) {
        let [(kind, ours), (original_kind, original)] = pair else { continue };
        if kind != "console" || original_kind != "text" {
            continue;
        }
        let ours = &steps(ours)[0].output;
        // The first line is the command line as it was understood: nothing is masked in it.
        let original: Vec<String> = original.lines().map(str::to_owned).collect();
        let skeletons = |lines: &[String]| lines.iter().map(|line| skeleton(line)).collect::<Vec<_>>();
        assert_eq!(skeletons(ours), skeletons(&original));
        compared += 1;
    }
    assert!(compared >= 7, "only {compared}");
}

#[test]
fn what_varies_is_masked_and_what_counts_is_not() {
    for (line, want) in [
        (
            "Total: connections 10 requests 50 replies 50 test-duration 17.004 s",
            "Total: connections 10 requests 50 replies 50 test-duration # s",
        ),
        (
            "Connection rate: 0.6 conn/s (1700.4 ms/conn, <=9 concurrent connections)",
            "Connection rate: # conn/s (# ms/conn, <=# concurrent connections)",
        ),
        ("Maximum connect burst length: 3", "Maximum connect burst length: #"),
        ("Net I/O: 0.7 KB/s (0.0*10^6 bps)", "Net I/O: # KB/s (#*10^6 bps)"),
        ("reply-rate = 10.0    ", "reply-rate = #"),
        ("Session: avg 5.00 connections/session", "Session: avg 5.00 connections/session"),
        ("httperf: 127.0.0.1:80: refused", "httperf: 127.0.0.1:80: refused"),
        ("SH0:GET / HTTP/1.1\r", "SH0:GET / HTTP/1.1"),
    ] {
        assert_eq!(skeleton(line), want);
    }
}

#[test]
fn the_documentation_links_to_files_that_exist() {
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap();
            if !path.is_empty() && !path.contains("://") {
                assert!(page.parent().unwrap().join(path).exists(), "{} links to {link}", page.display());
            }
        }
    }
}
