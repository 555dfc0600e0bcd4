//! The command line of httperf: one binary, two manners.
//!
//! ```text
//!   httperf --server .. | httperf     the classic tool
//!   httperf SUBCOMMAND ..             serve, demo, man, completions
//! ```

mod alarm;
mod classic;
mod completions;
mod demo;
mod flags;
mod manual;
mod number;
mod output;
mod personality;
mod redact;
mod serve;
mod trace;

use std::ffi::OsString;
use std::process::ExitCode;

use output::Output;

fn main() -> ExitCode {
    let argv: Vec<OsString> = std::env::args_os().collect();
    let mut output = Output::new();
    let status = match argv.get(1).map(|word| word.to_string_lossy()) {
        None => classic::main(&argv, &mut output),
        Some(word) if word.starts_with('-') => classic::main(&argv, &mut output),
        Some(word) => subcommand(&word, &argv, &mut output),
    };
    ExitCode::from(status)
}

/// Everything whose first word is no option.
fn subcommand(word: &str, argv: &[OsString], output: &mut Output) -> u8 {
    let arguments = &argv[1..];
    match word {
        "completions" => completions::main(arguments, output),
        "demo" => demo::main(arguments, output),
        "man" => manual::main(arguments, output),
        "serve" => serve::main(arguments, output),
        _ if word.contains("://") => {
            output.diagnostic(format!(
                "httperf: `httperf {word}` is not available yet; the classic form is:\n  {}\n",
                classic_form(word)
            ));
            2
        }
        _ if personality::httperf::SUBCOMMANDS.contains(&word) => {
            output.diagnostic(format!("httperf: {word} is not available yet\n"));
            2
        }
        _ => {
            output.diagnostic(format!(
                "httperf: there is no subcommand `{word}`; try `httperf demo`, `httperf serve` or `httperf --help`\n"
            ));
            2
        }
    }
}

/// The classic options for a URL.
fn classic_form(url: &str) -> String {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() => {
            (host, port)
        }
        _ => (authority, "80"),
    };
    format!("httperf --server {host} --port {port} --uri /{path} --rate 100 --num-conns 1000")
}
