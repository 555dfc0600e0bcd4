//! Chores of the repository, run as `cargo xtask NAME`.
//!
//! ```text
//! tidy   what a machine can hold of the house's rules     tidy.rs, one file a rule below tidy/
//! fmt    rustfmt over every crate                          fmt.rs
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who runs it")]

mod fmt;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy [--list] [--verbose]\n       cargo xtask fmt [--check]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["tidy"] => tidy::run(false),
        ["tidy", "--verbose"] => tidy::run(true),
        ["tidy", "--list"] => {
            print!("{}", tidy::list());
            Ok(true)
        }
        ["fmt"] => fmt::run(false),
        ["fmt", "--check"] => fmt::run(true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}
