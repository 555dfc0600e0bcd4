//! The classic tool from its command line to its exit status.

mod mix;
mod plan;
mod secure;
mod sources;

use std::ffi::OsString;

use httperf::analysis::Status;
use httperf::report::{Results, StoppedBy, escape_terminal};
use httperf::{Notice, Plan, Signals};
use signal_hook::consts::SIGINT;

use crate::alarm;
use crate::output::{Document, Output};
use crate::personality::Exit;
use crate::personality::httperf::options::Options;
use crate::personality::httperf::{echo::echo, not_yet, parse, version_error, without_effect};

/// What is said beyond the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// Nothing: wrappers parse it.
    Nothing,
    /// Whether the client kept its schedule.
    Schedule,
}

/// The classic tool.
pub(crate) fn main(argv: &[OsString], output: &mut Output) -> u8 {
    run(argv, "httperf", Judge::Nothing, output)
}

/// Runs a classic command line; the results say they are of `mode`.
pub(crate) fn run(argv: &[OsString], mode: &'static str, judge: Judge, output: &mut Output) -> u8 {
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            output.diagnostic(format!("httperf: failed to listen for signals: {error}\n"));
            return 1;
        }
    };
    match prepare(argv, mode, judge, &signals, output) {
        Ok((options, plan, document)) => load(&options, &plan, document, judge, &signals, output),
        Err(exit) => {
            output.text(exit.stdout);
            output.diagnostic(exit.stderr);
            exit.status as u8
        }
    }
}

/// Everything before the first packet.
fn prepare(
    argv: &[OsString],
    mode: &'static str,
    judge: Judge,
    signals: &Signals,
    output: &mut Output,
) -> Result<(Options, Plan, Option<Document>), Exit> {
    let parsed = parse(argv)?;
    let options = parsed.options;
    let fail = |stderr| Exit { status: 1, stdout: Vec::new(), stderr };
    let say = |text: String| fail(options.message(text.as_bytes()));
    if let Some(message) = not_yet(&options) {
        return Err(fail(message));
    }
    let servers = sources::servers(&options).map_err(say)?;
    let secure = secure::secure(&options, &servers).map_err(say)?;
    let mix = mix::mix(&options, output.has_colours()).map_err(fail)?;
    let (header_file, header_warning) = sources::header_file(&options);
    let document = options.json.as_deref().map(Document::create).transpose();
    let document = document.map_err(|error| say(format!("{error:#}")))?;
    if let Some(partial) = document.as_ref().and_then(Document::partial) {
        signals.remove_at_end(partial.to_owned());
    }
    if document.as_ref().is_some_and(Document::is_stdout) {
        output.leave_stdout();
    }
    output.text(parsed.stdout);
    output.text(echo(&options));
    let descriptors = httperf::raise_descriptor_limit();
    if options.verbose > 0 {
        let text = format!("maximum number of open descriptors = {descriptors}");
        output.text(options.message(text.as_bytes()));
    }
    let uris = sources::uris(&options).map_err(say)?;
    let resolve = |server: &Vec<u8>| {
        sources::resolve(server, options.server_port()).ok_or_else(|| {
            fail(options.message_of("core_addr_intern", &[b"invalid server address ", &**server].concat()))
        })
    };
    let targets = servers.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
    output.diagnostic(parsed.warnings);
    output.diagnostic(without_effect(&options));
    if let Some(warning) = header_warning {
        output.diagnostic(options.message(warning.as_bytes()));
    }
    if let Some(message) = version_error(&options) {
        return Err(fail(message));
    }
    let asked = plan::Asked { argv, mode, judge, servers, targets, secure, uris, mix, header_file };
    let (plan, notes) = plan::plan(&options, asked, document.is_some()).map_err(fail)?;
    for note in notes {
        output.diagnostic(options.message(note.as_bytes()));
    }
    if let Some(warning) = httperf::memory_warning(&plan) {
        output.diagnostic(options.message(warning.as_bytes()));
    }
    if options.debug > 0 {
        crate::trace::subscribe(options.debug);
    }
    Ok((options, plan, document))
}

/// The run itself, and what is said of it.
fn load(
    options: &Options,
    plan: &Plan,
    document: Option<Document>,
    judge: Judge,
    signals: &Signals,
    output: &mut Output,
) -> u8 {
    let is_terminal = output.is_terminal();
    let results = httperf::run(plan, signals, |notice| tell(options, is_terminal, notice, output));
    let results = match results {
        Ok(results) => results,
        Err(error) => {
            output.diagnostic(options.message(error.to_string().as_bytes()));
            return 1;
        }
    };
    if results.cookies_cut > 0 {
        output.diagnostic(options.message_of("sess_cookie", b"truncating cookie to 245 bytes"));
    }
    if let Some(error) = &results.error {
        // The original says this and no more.
        output.diagnostic([&options.program, b".".as_slice(), error.as_bytes(), b"\n"].concat());
    } else {
        output.text(httperf::report::classic(&results, options.verbose > 1));
    }
    if judge == Judge::Schedule {
        output.text(format!("\n{}\n", httperf::report::schedule(&results)));
    }
    if let Some(document) = document
        && let Err(error) = document.write(&httperf::report::json(&results), output)
    {
        output.diagnostic(options.message(format!("{error:#}").as_bytes()));
        return 1;
    }
    if options.strict {
        for reason in httperf::report::verdict(&results).reasons {
            output.diagnostic(options.message(format!("not valid: {reason}").as_bytes()));
        }
    }
    status(&results, options.strict, signals)
}

/// A signal counts also when it came after the end of the run, while the report was written.
fn status(results: &Results, strict: bool, signals: &Signals) -> u8 {
    match signals.first() {
        _ if results.stopped_by == StoppedBy::Error => 101,
        _ if results.error.is_some() => 1,
        SIGINT if signals.repeated() => 128 + SIGINT as u8,
        0 | SIGINT if strict && httperf::report::verdict(results).status != Status::Valid => 4,
        0 | SIGINT => 0,
        signal => {
            httperf::die_by(signal);
            (128 + signal) as u8
        }
    }
}

/// What is said while the run goes on.
fn tell(options: &Options, is_terminal: bool, notice: Notice<'_>, output: &mut Output) {
    match notice {
        Notice::Rates(rates) if options.verbose > 0 => {
            output.text(format!("reply-rate = {:<8}\n", format!("{:.1}", rates.replies)));
            if options.is_of_sessions() {
                output.text(format!("session-rate = {:<8}\n", format!("{:.1}", rates.sessions)));
            }
        }
        Notice::Rates(_) => {}
        Notice::Period(period) => output.text(httperf::report::periodic(&period)),
        Notice::Lines(lines) if is_terminal => output.text(escape_terminal(lines)),
        Notice::Lines(lines) => output.text(lines),
        Notice::Uri(uri) => {
            let uri = if is_terminal { escape_terminal(uri) } else { uri.into() };
            output.text(options.message(&[b"accessing URI `", &*uri, b"'"].concat()));
        }
        Notice::Page { uri, fetched: true } => {
            let uri = if is_terminal { escape_terminal(uri) } else { uri.into() };
            output.text(options.message(&[b"fetching `", &*uri, b"'"].concat()));
        }
        Notice::Page { uri, fetched: false } => {
            output.diagnostic(
                options.message(&[b"ignoring absolute URI `", &*escape_terminal(uri), b"'"].concat()),
            );
        }
        Notice::Snapshot(results) => {
            output.diagnostic(httperf::report::classic(results, options.verbose > 1));
        }
        Notice::Delay(delay) => output.diagnostic(format!("next arrival delay = {delay:.4}\n")),
        Notice::Alarm(what) => output.diagnostic(options.message(alarm::line(&what).as_bytes())),
    }
}
