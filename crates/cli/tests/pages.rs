//! The manual page and the completion scripts, as the programs that read them see them. What is not
//! installed here is said on stderr and passed over.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stderr, reason = "what is passed over is said")]

mod common;

use std::process::Command;

use common::httperf;

/// What the program prints for these words.
fn printed(words: &[&str]) -> String {
    let output = httperf().args(words).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs another program on a file with `text`, whose path stands in place of `FILE`, and returns what it
/// printed; nothing if it is not installed. It must neither fail nor complain.
fn read_by(program: &str, arguments: &[&str], text: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let arguments = arguments.iter().map(|argument| argument.replace("FILE", file));
    let output = match Command::new(program).args(arguments).env("MANWIDTH", "80").output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("{program} is not installed: nothing was tested with it");
            return None;
        }
        output => output.unwrap(),
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{program}");
    assert!(output.status.success(), "{program}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_manual_page_is_rendered_without_a_warning() {
    let page = printed(&["man"]);
    read_by("groff", &["-man", "-ww", "-z", "FILE"], &page);
    // Escape sequences for bold and the like are switched off.
    let Some(text) = read_by("groff", &["-man", "-ww", "-Tascii", "-P-cbou", "FILE"], &page) else {
        return;
    };
    for line in
        ["SYNOPSIS", "       --burst-length=N", "       -h, --help", "   httperf serve", "EXIT STATUS"]
    {
        assert!(text.lines().any(|shown| shown.contains(line)), "{line}\n{text}");
    }
    // Backslashes and leading dots and quotes are text.
    assert!(text.contains(r"written \n; several"), "{text}");
}

#[test]
fn bash_completes_options_values_and_subcommands() {
    let script = printed(&["completions", "bash"]);
    read_by("bash", &["-n", "FILE"], &script);
    for (words, want) in [
        (vec!["--num-c"], "--num-calls --num-conns"),
        (vec!["--server", "h", "--burst"], "--burst-length"),
        (vec!["se"], "serve"),
        (vec!["serve", "--add"], "--address"),
        (vec!["completions", "f"], "fish"),
        // No file: the word stays as it is.
        (vec!["--rate", "/etc/host"], "/etc/host"),
        (vec!["--json", "/etc/host"], "/etc/hosts"),
    ] {
        let line = words.join(" ");
        // compopt is for bash itself to call.
        let body = format!(
            "source FILE; compopt() {{ :; }}; COMP_WORDS=(httperf {line}); COMP_CWORD={}; COMP_LINE='httperf {line}'; \
             COMP_POINT=${{#COMP_LINE}}; _httperf httperf '{}' '{}' || true; echo \"${{COMPREPLY[*]}}\"",
            words.len(),
            words[words.len() - 1],
            if words.len() > 1 { words[words.len() - 2] } else { "httperf" },
        );
        let Some(found) = read_by("bash", &["--norc", "--noprofile", "-c", &body], &script) else {
            return;
        };
        // There may be other files that begin so.
        let right = if want == "/etc/hosts" {
            found.split_whitespace().any(|word| word == want)
        } else {
            found.trim_end() == want
        };
        assert!(right, "{line}: {found:?} instead of {want:?}");
    }
}

#[test]
fn zsh_and_fish_read_their_scripts() {
    read_by("zsh", &["-n", "FILE"], &printed(&["completions", "zsh"]));
    let script = printed(&["completions", "fish"]);
    read_by("fish", &["-n", "FILE"], &script);
    let body = "source FILE; complete -C 'httperf --num-c'";
    if let Some(found) = read_by("fish", &["--no-config", "-c", body], &script) {
        // Later versions of fish put a `=` behind them.
        let names = found.lines().filter_map(|line| line.split(['\t', '=']).next());
        assert_eq!(names.collect::<Vec<_>>(), ["--num-calls", "--num-conns"]);
    }
}

#[test]
fn a_shell_nobody_knows_is_refused() {
    let output = httperf().args(["completions", "csh"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), b"".as_slice()));
    assert!(String::from_utf8(output.stderr).unwrap().contains("[possible values: bash, zsh, fish]"));
}
