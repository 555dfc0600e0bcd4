//! The sessions of a run: what became of them, how long they took, how far they came.

use std::collections::BTreeMap;

use httperf_stat::{Moments, SessionSummary};
use serde::Serialize;

/// Every session that was started, under exactly one name.
#[derive(Serialize)]
pub(super) struct Accounted {
    started: u64,
    succeeded: u64,
    failed: u64,
    unfinished: u64,
}

impl Accounted {
    pub(super) fn of(sessions: &SessionSummary) -> Self {
        let SessionSummary { began, succeeded, failed, unfinished, .. } = *sessions;
        Self { started: began, succeeded, failed, unfinished }
    }
}

#[derive(Serialize)]
pub(super) struct Sessions {
    started_per_s: Option<f64>,
    succeeded_per_s: Option<f64>,
    /// Connections that could carry calls, for each session that succeeded.
    connections_mean: Option<f64>,
    /// Of sessions that succeeded, from their beginning to their end.
    lifetime: Spans,
    /// Likewise of sessions that failed.
    failtime: Spans,
    replies: Replies,
}

#[derive(Serialize)]
struct Spans {
    count: u64,
    min_s: Option<f64>,
    mean_s: Option<f64>,
    stddev_s: Option<f64>,
    max_s: Option<f64>,
}

/// How many replies sessions had that succeeded or failed.
#[derive(Serialize)]
struct Replies {
    longest: Option<u32>,
    /// Sessions by their number of replies, from 0.
    histogram: Vec<u64>,
    /// Those with too many replies to have a place in it, by their number cut to three digits.
    beyond: BTreeMap<u32, u64>,
}

impl Sessions {
    pub(super) fn of(sessions: &SessionSummary, duration_s: f64) -> Self {
        let per_s = |count: u64| (duration_s > 0.0).then(|| count as f64 / duration_s);
        let succeeded = sessions.succeeded;
        Self {
            started_per_s: per_s(sessions.began),
            succeeded_per_s: per_s(succeeded),
            connections_mean: (succeeded > 0).then(|| sessions.connections as f64 / succeeded as f64),
            lifetime: Spans::of(&sessions.lifetime_s),
            failtime: Spans::of(&sessions.failtime_s),
            replies: Replies {
                longest: (sessions.lengths.sessions() > 0).then(|| sessions.lengths.longest()),
                histogram: sessions.lengths.counts().to_vec(),
                beyond: sessions.lengths.longer().clone(),
            },
        }
    }
}

impl Spans {
    fn of(spans: &Moments) -> Self {
        let known = |value| (spans.count > 0).then_some(value);
        Self {
            count: spans.count,
            min_s: known(spans.min),
            mean_s: known(spans.mean()),
            stddev_s: (spans.count > 1).then(|| spans.stddev()),
            max_s: known(spans.max),
        }
    }
}
