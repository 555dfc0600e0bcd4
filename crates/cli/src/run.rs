//! `httperf run`: a load test of one server from its URL, open or closed loop, and what to make of it.
//!
//! ```text
//!   arguments -> options (clap, units) -> plan -> a run -> summary, document, exit status
//! ```

mod options;
mod plan;
mod target;

use std::ffi::OsString;

use httperf::analysis::Status;
use httperf::report::{Results, StoppedBy};
use httperf::{Notice, Signals};
use signal_hook::consts::SIGINT;

use crate::alarm;
use crate::output::{Document, Output};
use crate::serve::usage;
use options::{Options, Progress};

pub(crate) use options::command;

/// Bad usage.
const USAGE: u8 = 2;

/// Runs a load test. `words` begins with the word `run`.
pub(crate) fn main(argv: &[OsString], words: &[OsString], output: &mut Output) -> u8 {
    let matches = match command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            let status = usage(&error, output);
            return if status == 0 { 0 } else { USAGE };
        }
    };
    match options::read(&matches).and_then(|options| start(argv, &options, output)) {
        Ok(status) => status,
        Err(text) => {
            output.diagnostic(format!("error: {text}\n"));
            USAGE
        }
    }
}

/// Everything from the plan on. An error is one of usage.
fn start(argv: &[OsString], options: &Options, output: &mut Output) -> Result<u8, String> {
    let signals = Signals::listen().map_err(|error| format!("failed to listen for signals: {error}"))?;
    let plan = plan::plan(argv, options)?;
    let document = options.json.as_deref().map(Document::create).transpose();
    let document = document.map_err(|error| format!("{error:#}"))?;
    if let Some(partial) = document.as_ref().and_then(Document::partial) {
        signals.remove_at_end(partial.to_owned());
    }
    if document.as_ref().is_some_and(Document::is_stdout) {
        output.leave_stdout();
    }
    httperf::raise_descriptor_limit();
    if let Some(warning) = httperf::memory_warning(&plan) {
        output.diagnostic(format!("{warning}\n"));
    }
    let results = match httperf::run(&plan, &signals, |notice| tell(options, notice, output)) {
        Ok(results) => results,
        Err(error) => {
            output.diagnostic(format!("error: {error}\n"));
            return Ok(1);
        }
    };
    let text = if options.classic {
        httperf::report::classic
    } else {
        |results: &_, _| httperf::report::summary(results)
    };
    output.text(text(&results, false));
    if let Some(error) = &results.error {
        output.diagnostic(format!("error: {error}\n"));
    }
    if let Some(document) = document
        && let Err(error) = document.write(&httperf::report::json(&results), output)
    {
        output.diagnostic(format!("error: {error:#}\n"));
        return Ok(1);
    }
    Ok(status(&results, options, &signals))
}

fn status(results: &Results, options: &Options, signals: &Signals) -> u8 {
    match signals.first() {
        _ if results.error.is_some() => 1,
        _ if results.stopped_by == StoppedBy::Error => 101,
        0 if options.strict && httperf::report::verdict(results).status != Status::Valid => 4,
        0 => 0,
        SIGINT => 128 + SIGINT as u8,
        signal => {
            httperf::die_by(signal);
            (128 + signal) as u8
        }
    }
}

/// What is said on stderr while the run goes on.
fn tell(options: &Options, notice: Notice<'_>, output: &mut Output) {
    match notice {
        Notice::Period(period) if options.progress == Progress::Plain => {
            let httperf::stat::Period { end_s, replies_per_s, errors, response, .. } = period;
            output.diagnostic(format!(
                "{end_s:>6.0} s  {replies_per_s:>9.1} replies/s  mean {:>8.3} ms  {errors} errors\n",
                1e3 * response.mean_s()
            ));
        }
        Notice::Snapshot(results) => output.diagnostic(httperf::report::summary(results)),
        Notice::Alarm(what) => output.diagnostic(format!("{}\n", alarm::line(&what))),
        _ => {}
    }
}
