//! Whether a result can be believed: what analysis says of it, from the results of a run.

use httperf_analysis::{Verdict, breaches, session_breaches};

use crate::schedule::judge;
use crate::{Results, StoppedBy};

/// The verdict on a run, with its reasons.
pub fn verdict(results: &Results) -> Verdict {
    let ended_by = match results.stopped_by {
        StoppedBy::Finished | StoppedBy::Duration => None,
        StoppedBy::Interrupted => Some("SIGINT"),
        StoppedBy::Terminated(1) => Some("SIGHUP"),
        StoppedBy::Terminated(_) => Some("SIGTERM"),
        StoppedBy::Error if results.error.is_some() => Some("its first connections, which all failed"),
        StoppedBy::Error => Some("a failure of the program itself"),
    };
    httperf_analysis::verdict(&broken(results), &judge(results), ended_by)
}

/// Every breach of a conservation law.
pub(crate) fn broken(results: &Results) -> Vec<String> {
    let mut broken = breaches(&results.basic, results.timeline.as_ref());
    broken.extend(results.sessions.iter().flat_map(session_breaches));
    broken
}
