//! The `intervals` of the document: columns, a row for each interval.

use httperf_analysis::{Percentile, percentile};
use httperf_stat::{BasicSummary, Counts, Measure, Timeline};
use serde::Serialize;

use super::Unknown;

#[derive(Serialize)]
pub(super) struct Columns {
    width_s: f64,
    t_s: Vec<f64>,
    scheduled: Vec<u64>,
    sent: Vec<u64>,
    replies: Vec<u64>,
    errors: Vec<u64>,
    in_flight: Vec<f64>,
    bytes_received: Vec<u64>,
    response_p50_s: Vec<Option<f64>>,
    response_p99_s: Vec<Option<f64>>,
    response_max_s: Vec<Option<f64>>,
    busy_share: Vec<Unknown>,
}

impl Columns {
    pub(super) fn of(timeline: &Timeline, basic: &BasicSummary) -> Self {
        let width = timeline.width_ns();
        let rows = 0..timeline.intervals().len();
        let column =
            |of: fn(&Counts) -> u64| timeline.intervals().iter().map(|row| of(&row.counts)).collect();
        let mut scheduled: Vec<u64> = column(|counts| counts.scheduled);
        // What was due and not taken up when the run ended is known only at the end.
        if let Some(last) = scheduled.last_mut() {
            *last += basic.arrivals_not_started;
        }
        let responses: Vec<_> =
            rows.clone().map(|row| timeline.distribution(Measure::Response, row..row + 1)).collect();
        let quantile = |which| responses.iter().map(|times| percentile(times, which).value_s()).collect();
        let longest = |done: &httperf_stat::Times| (!done.is_empty()).then_some(done.max_ns as f64 / 1e9);
        Columns {
            width_s: width as f64 / 1e9,
            t_s: rows.clone().map(|row| (row as u64 * width) as f64 / 1e9).collect(),
            scheduled,
            sent: column(|counts| counts.sent),
            replies: column(|counts| counts.replies),
            errors: column(|counts| counts.errors),
            in_flight: rows.clone().map(|row| timeline.in_flight_mean(row)).collect(),
            bytes_received: column(|counts| counts.bytes_received),
            response_p50_s: quantile(Percentile::P50),
            response_p99_s: quantile(Percentile::P99),
            response_max_s: responses.iter().map(|times| longest(&times.done)).collect(),
            busy_share: rows.map(|_| None).collect(),
        }
    }
}
