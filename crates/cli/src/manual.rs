//! `httperf man`: the manual page, made from the table of options and the definitions of the subcommands.
//!
//! ```text
//!   FLAGS + OPTIONS (a paragraph each) \
//!   the clap commands of the subcommands > page() -> roff
//!   BEFORE, AFTER (the other sections) /
//! ```

mod options;
mod sections;

use std::ffi::OsString;

use clap::{Arg, Command};
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use crate::completions;
use crate::flags::{FLAGS, Flag, Status, Table, Value};
use crate::output::Output;
use crate::serve::usage;

/// A piece of a section.
enum Block {
    /// A paragraph.
    Text(&'static str),
    /// A term and what it means.
    Item(&'static str, &'static str),
    /// Lines to be typed, or of a file.
    Lines(&'static str),
}

pub(crate) fn command() -> Command {
    Command::new("man")
        .bin_name("httperf man")
        .about("Prints the manual page, for man -l or a file httperf.1")
}

/// Prints the page.
pub(crate) fn main(arguments: &[OsString], output: &mut Output) -> u8 {
    match command().try_get_matches_from(arguments) {
        Ok(_) => {
            output.text(page());
            0
        }
        Err(error) => usage(&error, output),
    }
}

fn page() -> String {
    let mut roff = Roff::new();
    let source = concat!("httperf ", env!("CARGO_PKG_VERSION"));
    // No date: two builds of one source are to print one page. The quotes are the empty argument of roff.
    roff.control("TH", ["HTTPERF", "1", "\"\"", source, "User Commands"]);
    // English words are not to be cut, and short lines not to be stretched: a page full of option names.
    roff.control("nh", []).control("ad", ["l"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman("httperf - load an HTTP server and report how it coped")]);
    synopsis(&mut roff);
    section(&mut roff, sections::BEFORE);
    options(&mut roff);
    subcommands(&mut roff);
    section(&mut roff, sections::AFTER);
    roff.render()
}

/// The options that work, classic ones first.
fn built(table: Table) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(move |flag| flag.table == table && flag.status == Status::Built)
}

fn synopsis(roff: &mut Roff) {
    roff.control("SH", ["SYNOPSIS"]);
    // One line a form; all options would fill a screen that the next section fills better.
    roff.text([bold("httperf"), roman(" ["), italic("options"), roman("]")]);
    for command in completions::subcommands() {
        roff.control("br", []);
        let mut line = vec![bold(format!("httperf {}", command.get_name()))];
        if command.get_opts().next().is_some() {
            line.extend([roman(" ["), italic("options"), roman("]")]);
        }
        for argument in command.get_positionals() {
            line.extend([roman(" "), italic(value_name(argument))]);
        }
        roff.text(line);
    }
}

fn section(roff: &mut Roff, sections: &[(&str, &[Block])]) {
    for (heading, blocks) in sections {
        roff.control("SH", [*heading]);
        for block in *blocks {
            match block {
                Block::Text(text) => {
                    roff.control("PP", []);
                    roff.text(inline(text));
                }
                Block::Item(term, text) => item(roff, inline(term), text),
                Block::Lines(lines) => {
                    roff.control("RS", ["4"]).control("PP", []).control("nf", []);
                    for line in lines.lines() {
                        roff.text([roman(line)]);
                    }
                    roff.control("fi", []).control("RE", []);
                }
            }
        }
    }
}

fn options(roff: &mut Roff) {
    roff.control("SH", ["OPTIONS"]);
    for (heading, table) in
        [("Options of httperf 0.9.0", Table::Classic), ("Later options, and our own", Table::Later)]
    {
        roff.control("SS", [heading]);
        for flag in built(table) {
            item(roff, head(flag), paragraph(flag));
        }
    }
}

/// What an option looks like when it is typed.
fn head(flag: &Flag) -> Vec<Inline> {
    let mut head = Vec::new();
    if let Some(letter) = flag.short {
        head.extend([bold(format!("-{}", char::from(letter))), roman(", ")]);
    }
    head.push(bold(format!("--{}", flag.name)));
    match flag.value {
        Value::None => {}
        Value::Required(name) => head.extend([roman("="), italic(name)]),
        Value::Optional(name) => head.extend([roman("[="), italic(name), roman("]")]),
    }
    head
}

/// The paragraph; for an option that has none, its line in `--help`.
fn paragraph(flag: &Flag) -> &'static str {
    let found = options::OPTIONS.iter().find(|(name, _)| *name == flag.name);
    found.map_or(flag.help, |(_, text)| text)
}

fn subcommands(roff: &mut Roff) {
    roff.control("SH", ["SUBCOMMANDS"]);
    for command in completions::subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        item(roff, vec![bold(format!("httperf {}", command.get_name()))], &format!("{about}."));
        let arguments: Vec<&Arg> = command.get_arguments().collect();
        if arguments.is_empty() {
            continue;
        }
        roff.control("RS", []);
        for argument in arguments {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let defaults = argument.get_default_values().iter().filter_map(|value| value.to_str());
            let default = defaults.fold(String::new(), |text, value| format!("{text} (default {value})"));
            item(roff, argument_head(argument), &format!("{help}{default}."));
        }
        roff.control("RE", []);
    }
}

fn argument_head(argument: &Arg) -> Vec<Inline> {
    let mut head = Vec::new();
    if let Some(letter) = argument.get_short() {
        head.extend([bold(format!("-{letter}")), roman(", ")]);
    }
    if let Some(name) = argument.get_long() {
        head.push(bold(format!("--{name}")));
    }
    if argument.get_action().takes_values() {
        if argument.get_long().is_some() {
            head.push(roman("="));
        }
        head.push(italic(value_name(argument)));
    }
    head
}

fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| argument.get_id().to_string(), ToString::to_string)
}

fn item(roff: &mut Roff, head: Vec<Inline>, text: &str) {
    roff.control("TP", []);
    roff.text(head);
    roff.text(inline(text));
}

/// Text with words in backquotes: these are bold.
fn inline(text: &str) -> Vec<Inline> {
    let pieces = text.split('`').enumerate().filter(|(_, piece)| !piece.is_empty());
    pieces.map(|(at, piece)| if at % 2 == 0 { roman(piece) } else { bold(piece) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_paragraph_in_the_order_of_the_table() {
        let names: Vec<_> = FLAGS.iter().map(|flag| flag.name).collect();
        let with_text: Vec<_> = options::OPTIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(with_text, names);
    }

    #[test]
    fn paragraphs_are_sentences_with_paired_backquotes_and_name_options_that_exist() {
        let texts = sections::BEFORE.iter().chain(sections::AFTER).flat_map(|(_, blocks)| *blocks);
        let texts = texts.filter_map(|block| match block {
            Block::Text(text) | Block::Item(_, text) => Some(*text),
            Block::Lines(_) => None,
        });
        for text in options::OPTIONS.iter().map(|(_, text)| *text).chain(texts) {
            assert!(text.ends_with(['.', ':', ')']) && text.is_ascii(), "{text}");
            assert_eq!(text.matches('`').count() % 2, 0, "{text}");
            for word in text.split('`').skip(1).step_by(2).filter_map(|word| word.strip_prefix("--")) {
                assert!(FLAGS.iter().any(|flag| flag.name == word), "there is no --{word}");
            }
        }
    }

    #[test]
    fn every_option_that_works_has_one_entry_and_no_other_has_any() {
        let page = page();
        for flag in FLAGS {
            let name = format!("\\fB\\-\\-{}\\fR", flag.name.replace('-', "\\-"));
            let is_head = |pair: &[&str]| {
                // An entry begins with the option, or with its letter.
                pair[0] == ".TP" && (pair[1].starts_with(&name) || pair[1].contains(&format!(", {name}")))
            };
            let (classic, _) = page.split_once(".SH SUBCOMMANDS").unwrap();
            let lines: Vec<_> = classic.lines().collect();
            let entries = lines.windows(2).filter(|pair| is_head(pair)).count();
            assert_eq!(entries, usize::from(flag.status == Status::Built), "--{}", flag.name);
        }
    }

    #[test]
    fn an_option_without_a_value_shows_none() {
        let page = page();
        assert!(page.contains("\n\\fB\\-\\-tls\\fR\nHTTPS in place"), "{page}");
        assert!(page.contains("\n\\fB\\-\\-tls\\-cert\\fR=\\fIFILE\\fR\n"), "{page}");
    }

    #[test]
    fn the_sections_come_in_the_usual_order() {
        let page = page();
        let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let want = "NAME,SYNOPSIS,DESCRIPTION,OPTIONS,SUBCOMMANDS,OUTPUT,\"EXIT STATUS\",SIGNALS,ENVIRONMENT,\
                    FILES,EXAMPLES,DIFFERENCES,\"SEE ALSO\"";
        assert_eq!(headings.join(","), want);
    }
}
