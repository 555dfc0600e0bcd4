//! The command line of httperf: one binary, two manners.
//!
//! ```text
//!   httperf --server .. | httperf     the classic tool
//!   httperf SUBCOMMAND ..             run, serve, demo, man, completions
//!   httperf URL ..                    run
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
mod run;
mod secure;
mod serve;
mod trace;
mod units;

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
        "run" => run::main(argv, arguments, output),
        _ if word.contains("://") => {
            let words: Vec<OsString> =
                [OsString::from("run")].into_iter().chain(arguments.iter().cloned()).collect();
            run::main(argv, &words, output)
        }
        _ if personality::httperf::SUBCOMMANDS.contains(&word) => {
            output.diagnostic(format!("httperf: {word} is not available yet\n"));
            2
        }
        _ => {
            output.diagnostic(format!(
                "httperf: there is no subcommand `{word}`; try `httperf demo`, `httperf run URL`, `httperf serve` or `httperf --help`\n"
            ));
            2
        }
    }
}
