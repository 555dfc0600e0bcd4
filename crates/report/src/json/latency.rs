//! The `latency` of the document: times of the whole run, what never got its time among them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use httperf_analysis::{Percentile, percentile};
use httperf_stat::{BasicSummary, Distribution, Measure, Timeline};
use serde::Serialize;

use super::Unknown;

#[derive(Serialize)]
pub(super) struct Latency {
    response: Times,
    service: Times,
    lag: Times,
    connect: Times,
    /// `null` where no TLS is spoken.
    tls: Option<Times>,
    first_byte: Times,
    transfer: Times,
    by_status: BTreeMap<&'static str, Times>,
}

#[derive(Serialize)]
struct Times {
    count: u64,
    min_s: Option<f64>,
    mean_s: Option<f64>,
    stddev_s: Option<f64>,
    max_s: Option<f64>,
    /// In the order of the numbers, which for these keys is that of the texts.
    p: BTreeMap<&'static str, Option<f64>>,
    at_least_s: BTreeMap<&'static str, f64>,
    ci95: Unknown,
    censored: u64,
    /// HdrHistogram's compressed V2 format, values in nanoseconds, in base64.
    hdr_v2: String,
}

/// Classes of statuses by their number.
const CLASSES: [&str; 6] = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx"];

impl Latency {
    pub(super) fn of(timeline: &Timeline, basic: &BasicSummary, tls: bool) -> Self {
        let of = |measure| Times::of(&timeline.whole(measure), 0);
        // Arrivals that still waited for their turn wait for their reply too. When each fell due is not known
        // here: at age 0 they are counted and change no percentile.
        let waiting = basic.never_begun();
        let class = |class: u8| {
            let times = Distribution { done: timeline.response_in_class(class), ..Distribution::default() };
            (!times.done.is_empty()).then(|| (CLASSES[usize::from(class)], Times::of(&times, 0)))
        };
        Latency {
            response: Times::of(&timeline.whole(Measure::Response), waiting),
            service: of(Measure::Service),
            lag: Times::of(&timeline.whole(Measure::Lag), waiting),
            connect: of(Measure::Connect),
            tls: tls.then(|| of(Measure::Tls)),
            first_byte: of(Measure::FirstByte),
            transfer: of(Measure::Transfer),
            by_status: (0..=5).filter_map(class).collect(),
        }
    }
}

impl Times {
    fn of(times: &Distribution, waiting: u64) -> Self {
        let done = &times.done;
        let seconds = |nanos: u64| (!done.is_empty()).then_some(nanos as f64 / 1e9);
        let estimates = Percentile::ALL.map(|which| (which.key, percentile(times, which)));
        let bounds = estimates.iter().filter_map(|(key, estimate)| Some((*key, estimate.at_least_s()?)));
        Times {
            count: done.count,
            min_s: seconds(done.min_ns),
            mean_s: (!done.is_empty()).then(|| done.mean_s()),
            stddev_s: (done.count > 1).then(|| done.stddev_s()),
            max_s: seconds(done.max_ns),
            p: estimates.iter().map(|(key, estimate)| (*key, estimate.value_s())).collect(),
            at_least_s: bounds.collect(),
            ci95: None,
            censored: times.censored() + waiting,
            hdr_v2: STANDARD.encode(done.to_hdr_v2()),
        }
    }
}
