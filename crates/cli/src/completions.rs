//! `httperf completions SHELL`: a completion script, made from the table of options and the definitions of
//! the subcommands.
//!
//! The classic command line is read by [`crate::flags`]; here it is only described to clap, which knows how
//! to write such scripts.

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::{Shell, generate};

use crate::flags::{FLAGS, Flag, Status, Value};
use crate::output::Output;
use crate::serve::usage;
use crate::{demo, manual, run, serve};

/// The shells whose scripts are tested.
const SHELLS: [(&str, Shell); 3] = [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];

pub(crate) fn command() -> Command {
    Command::new("completions")
        .bin_name("httperf completions")
        .about("Prints a completion script for a shell, to be read by it at its start")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .help("bash, zsh or fish")
                .required(true)
                .value_parser(PossibleValuesParser::new(SHELLS.map(|(name, _)| name))),
        )
}

/// Prints the script.
pub(crate) fn main(arguments: &[OsString], output: &mut Output) -> u8 {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, output),
    };
    let name = matches.get_one::<String>("shell").expect("is required");
    let (_, shell) = SHELLS.into_iter().find(|(of, _)| of == name).expect("is one of them");
    output.text(script(shell));
    0
}

/// The subcommands, in the order of the manual.
pub(crate) fn subcommands() -> [Command; 5] {
    [run::command(), serve::command(), demo::command(), manual::command(), command()]
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut whole(), "httperf", &mut script);
    script
}

/// The whole command line: the classic options that work, and the subcommands.
fn whole() -> Command {
    Command::new("httperf")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args(FLAGS.iter().filter(|flag| flag.status == Status::Built).map(argument))
        .subcommands(subcommands())
}

fn argument(flag: &Flag) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name).help(flag.help);
    let argument = match flag.short {
        Some(letter) => argument.short(char::from(letter)),
        None => argument,
    };
    match flag.value {
        Value::None => argument.action(ArgAction::SetTrue),
        Value::Required(name) => with_value(argument, name),
        Value::Optional(name) => with_value(argument, name).num_args(0..=1).require_equals(true),
    }
}

/// What the placeholder says of the value: words to choose from, a file, a directory, or none of these.
fn with_value(argument: Arg, name: &'static str) -> Arg {
    let argument = argument.value_name(name);
    let is_choice = name.contains('|') && name.bytes().all(|byte| byte == b'|' || byte.is_ascii_lowercase());
    match name {
        "F" => argument.value_hint(ValueHint::FilePath),
        "D" => argument.value_hint(ValueHint::DirPath),
        _ if is_choice => argument.value_parser(PossibleValuesParser::new(name.split('|'))),
        // Not a file: without a hint, shells offer files.
        _ => argument.value_hint(ValueHint::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `script` holds `word` as a word of its own.
    fn has(script: &str, word: &str) -> bool {
        let is_part = |c: Option<char>| c.is_some_and(|c| c == '-' || c.is_ascii_alphanumeric());
        script.match_indices(word).any(|(at, _)| {
            let (before, after) = (&script[..at], &script[at + word.len()..]);
            let is_cut = is_part(word.chars().next_back()) && is_part(after.chars().next());
            !is_part(before.chars().next_back()) && !is_cut
        })
    }

    #[test]
    fn clap_finds_no_fault_with_the_description() {
        whole().debug_assert();
    }

    #[test]
    fn scripts_know_every_option_that_works_and_no_other() {
        for (name, shell) in SHELLS {
            let script = String::from_utf8(script(shell)).unwrap();
            for flag in FLAGS {
                // How an entry begins; texts of help name other options too.
                let entries = match shell {
                    Shell::Fish => vec![format!("-l {}", flag.name)],
                    Shell::Zsh => vec![format!("'--{}[", flag.name), format!("'--{}=", flag.name)],
                    _ => vec![format!("--{}", flag.name)],
                };
                // The options of the subcommands are beside the point.
                let of_a_subcommand = subcommands().iter_mut().any(|command| {
                    command.build();
                    command.get_arguments().any(|argument| argument.get_long() == Some(flag.name))
                });
                if !of_a_subcommand {
                    let works = flag.status == Status::Built;
                    let is_there = entries.iter().any(|entry| has(&script, entry));
                    assert_eq!(is_there, works, "{name}: --{}", flag.name);
                }
            }
        }
    }

    #[test]
    fn the_description_has_every_option_that_works_once() {
        let whole = whole();
        let names: Vec<_> = whole.get_arguments().filter_map(Arg::get_long).collect();
        let built = FLAGS.iter().filter(|flag| flag.status == Status::Built);
        assert_eq!(names, built.map(|flag| flag.name).collect::<Vec<_>>());
    }
}
