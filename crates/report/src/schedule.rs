//! Whether the client kept its schedule, in one sentence.

use httperf_analysis::Schedule;

use crate::Results;

/// One plain sentence, without a line end; what to do is in it if the schedule was not kept.
pub fn schedule(results: &Results) -> String {
    judge(results).sentence
}

pub(crate) fn judge(results: &Results) -> Schedule {
    let open = results.request.concurrency.is_none();
    httperf_analysis::schedule(&results.basic, results.timeline.as_ref(), &results.busy_shares, open)
}
