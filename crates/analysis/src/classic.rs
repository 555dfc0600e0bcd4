//! The figures of the classic report, as numbers: what httperf 0.9.0 prints, before it is rounded.

use std::collections::BTreeMap;

use httperf_engine::Counter;
use httperf_stat::{BasicSummary, Moments, SessionSummary};
use serde::Serialize;

/// Every figure of the classic report, in its order, under the names of the result document. A run that did
/// nothing has 0 everywhere, never infinity or NaN. Sizes are cut to whole bytes, as the report prints them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the result document and carry their unit")]
pub struct Figures {
    pub max_connect_burst: u64,
    pub connections: u64,
    pub requests: u64,
    pub replies: u64,
    pub test_duration_s: f64,
    pub connection_rate_per_s: f64,
    pub connection_period_ms: f64,
    pub concurrent_connections: u64,
    pub connection_time_min_ms: f64,
    pub connection_time_avg_ms: f64,
    pub connection_time_max_ms: f64,
    pub connection_time_median_ms: f64,
    pub connection_time_stddev_ms: f64,
    pub connect_time_ms: f64,
    pub connection_length_replies: f64,
    pub request_rate_per_s: f64,
    pub request_period_ms: f64,
    pub request_size_bytes: u64,
    pub reply_rate_min_per_s: f64,
    pub reply_rate_avg_per_s: f64,
    pub reply_rate_max_per_s: f64,
    pub reply_rate_stddev_per_s: f64,
    pub reply_rate_samples: u64,
    pub response_time_ms: f64,
    pub transfer_time_ms: f64,
    pub reply_header_bytes: u64,
    pub reply_content_bytes: u64,
    pub reply_footer_bytes: u64,
    pub reply_total_bytes: u64,
    pub status_1xx: u64,
    pub status_2xx: u64,
    pub status_3xx: u64,
    pub status_4xx: u64,
    pub status_5xx: u64,
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    pub cpu_user_percent: f64,
    pub cpu_system_percent: f64,
    pub cpu_total_percent: f64,
    pub net_io_kb_per_s: f64,
    pub net_io_mbit_per_s: f64,
    pub errors_total: u64,
    pub errors_client_timo: u64,
    pub errors_socket_timo: u64,
    pub errors_connrefused: u64,
    pub errors_connreset: u64,
    pub errors_fd_unavail: u64,
    pub errors_addrunavail: u64,
    pub errors_ftab_full: u64,
    pub errors_other: u64,
    /// The figures of the session block; only a session workload has them.
    #[serde(flatten)]
    pub sessions: Option<SessionFigures>,
}

/// The figures of the session block, likewise.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the result document and carry their unit")]
pub struct SessionFigures {
    pub session_rate_min_per_s: f64,
    pub session_rate_avg_per_s: f64,
    pub session_rate_max_per_s: f64,
    pub session_rate_stddev_per_s: f64,
    pub sessions_succeeded: u64,
    pub sessions_finished: u64,
    pub connections_per_session: f64,
    pub session_lifetime_s: f64,
    pub session_failtime_s: f64,
    /// Sessions by their number of replies; those with more than
    /// [`Lengths::EXACT`](httperf_stat::Lengths::EXACT) are not in it.
    pub session_length_histogram: Vec<u64>,
    /// Those, by their number of replies cut to three digits.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub session_length_beyond: BTreeMap<u32, u64>,
}

impl SessionFigures {
    /// The figures of the sessions of a run that took so long, with the session rates of its samples. The
    /// samples make the extremes and the spread; the mean rate is that of the whole run and may lie outside
    /// them.
    pub fn of(sessions: &SessionSummary, session_rates: &[f64], duration_s: f64) -> SessionFigures {
        let mut rates = Moments::default();
        session_rates.iter().for_each(|rate| rates.add(*rate));
        let mut lengths = sessions.lengths.counts().to_vec();
        // The original prints a place for sessions without a reply even when there were no sessions.
        if lengths.is_empty() && sessions.lengths.longer().is_empty() {
            lengths.push(0);
        }
        SessionFigures {
            session_rate_min_per_s: rates.min,
            session_rate_avg_per_s: per(sessions.succeeded as f64, duration_s),
            session_rate_max_per_s: rates.max,
            session_rate_stddev_per_s: rates.stddev(),
            sessions_succeeded: sessions.succeeded,
            sessions_finished: sessions.finished(),
            connections_per_session: per(sessions.connections as f64, sessions.succeeded as f64),
            session_lifetime_s: sessions.lifetime_s.mean(),
            session_failtime_s: sessions.failtime_s.mean(),
            session_length_histogram: lengths,
            session_length_beyond: sessions.lengths.longer().clone(),
        }
    }
}

impl Figures {
    /// The figures of a run: its counters and sums, the reply rates of its samples,
    /// the CPU time of the process.
    pub fn of(basic: &BasicSummary, reply_rates: &[f64], cpu_user_s: f64, cpu_system_s: f64) -> Figures {
        let duration_s = basic.duration_s();
        let lifetimes = &basic.lifetimes.moments_ms;
        let status = |class| basic.replies_in_class(class);
        // A status below 100 (classic-strict) is a reply of no class, and the original counts it nowhere.
        let replies = (1..=5).map(status).sum();
        let header = cut(basic.header_bytes, replies);
        let content = cut(basic.content_bytes, replies);
        let footer = cut(basic.footer_bytes, replies);
        let mut rates = Moments::default();
        reply_rates.iter().for_each(|rate| rates.add(*rate));
        let errors = |counter| {
            let of_counter = basic.errors.iter().filter(|(cause, _)| cause.counter() == counter);
            of_counter.map(|(_, count)| count).sum()
        };
        // Footers, chunk framing and partial replies are left out, as the original does.
        let net_bytes = (basic.request_bytes + basic.header_bytes + basic.content_bytes) as f64;
        Figures {
            max_connect_burst: basic.burst_max,
            connections: basic.connections,
            requests: basic.requests,
            replies,
            test_duration_s: duration_s,
            connection_rate_per_s: per(basic.connections as f64, duration_s),
            connection_period_ms: 1e3 * per(duration_s, basic.connections as f64),
            concurrent_connections: basic.concurrent_max,
            connection_time_min_ms: lifetimes.min,
            connection_time_avg_ms: lifetimes.mean(),
            connection_time_max_ms: lifetimes.max,
            connection_time_median_ms: basic.lifetimes.median_ms(),
            connection_time_stddev_ms: lifetimes.stddev(),
            connect_time_ms: 1e3 * basic.connect_s.mean(),
            connection_length_replies: per(basic.conn_replies as f64, lifetimes.count as f64),
            request_rate_per_s: per(basic.requests as f64, duration_s),
            request_period_ms: 1e3 * per(duration_s, basic.requests as f64),
            request_size_bytes: cut(basic.request_bytes, basic.requests),
            reply_rate_min_per_s: rates.min,
            reply_rate_avg_per_s: rates.mean(),
            reply_rate_max_per_s: rates.max,
            reply_rate_stddev_per_s: rates.stddev(),
            reply_rate_samples: rates.count,
            response_time_ms: 1e3 * basic.response.mean_s(),
            transfer_time_ms: 1e3 * basic.transfer.mean_s(),
            reply_header_bytes: header,
            reply_content_bytes: content,
            reply_footer_bytes: footer,
            reply_total_bytes: header + content + footer,
            status_1xx: status(1),
            status_2xx: status(2),
            status_3xx: status(3),
            status_4xx: status(4),
            status_5xx: status(5),
            cpu_user_s,
            cpu_system_s,
            cpu_user_percent: 100.0 * per(cpu_user_s, duration_s),
            cpu_system_percent: 100.0 * per(cpu_system_s, duration_s),
            cpu_total_percent: 100.0 * per(cpu_user_s + cpu_system_s, duration_s),
            net_io_kb_per_s: per(net_bytes, duration_s) / 1024.0,
            net_io_mbit_per_s: per(net_bytes, duration_s) * 8.0 / 1e6,
            errors_total: basic.errors.values().sum(),
            errors_client_timo: errors(Counter::ClientTimo),
            errors_socket_timo: errors(Counter::SocketTimo),
            errors_connrefused: errors(Counter::ConnRefused),
            errors_connreset: errors(Counter::ConnReset),
            errors_fd_unavail: errors(Counter::FdUnavail),
            errors_addrunavail: errors(Counter::AddrUnavail),
            errors_ftab_full: errors(Counter::FtabFull),
            errors_other: errors(Counter::Other),
            sessions: None,
        }
    }
}

/// A quotient; 0 of nothing.
fn per(amount: f64, of: f64) -> f64 {
    if of > 0.0 { amount / of } else { 0.0 }
}

/// Bytes each, cut; 0 of nothing.
fn cut(bytes: u64, of: u64) -> u64 {
    bytes.checked_div(of).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use httperf_engine::{Cause, Time};

    #[test]
    fn a_run_that_did_nothing_has_zeros() {
        assert_eq!(Figures::of(&BasicSummary::default(), &[], 0.0, 0.0), Figures::default());
    }

    #[test]
    fn sizes_are_cut_and_their_total_is_the_sum_of_the_cut_ones() {
        let mut basic = BasicSummary { requests: 5, request_bytes: 511, ..BasicSummary::default() };
        basic.statuses = [(200, 2), (404, 1)].into();
        (basic.header_bytes, basic.content_bytes, basic.footer_bytes) = (5, 8, 2);
        let figures = Figures::of(&basic, &[], 0.0, 0.0);
        assert_eq!(figures.request_size_bytes, 102);
        assert_eq!(
            (figures.reply_header_bytes, figures.reply_content_bytes, figures.reply_footer_bytes),
            (1, 2, 0)
        );
        assert_eq!(figures.reply_total_bytes, 3);
    }

    #[test]
    fn rates_are_counts_over_the_duration() {
        let basic = BasicSummary {
            started: Some(Time(1_000_000_000)),
            ended: Some(Time(3_000_000_000)),
            connections: 4,
            requests: 8,
            request_bytes: 800,
            header_bytes: 400,
            content_bytes: 848,
            statuses: [(99, 1), (200, 4), (204, 1), (700, 2)].into(),
            errors: [(Cause::ClosedEarly, 1), (Cause::ConnReset, 2), (Cause::Limit, 4)].into(),
            ..BasicSummary::default()
        };
        let figures = Figures::of(&basic, &[3.0, 5.0], 0.5, 1.0);
        assert_eq!((figures.connection_rate_per_s, figures.connection_period_ms), (2.0, 500.0));
        assert_eq!((figures.request_rate_per_s, figures.request_period_ms), (4.0, 250.0));
        assert_eq!((figures.replies, figures.status_2xx, figures.status_5xx), (7, 5, 2));
        assert_eq!((figures.net_io_kb_per_s, figures.net_io_mbit_per_s), (1.0, 0.008_192));
        assert_eq!((figures.cpu_user_percent, figures.cpu_total_percent), (25.0, 75.0));
        assert_eq!((figures.errors_total, figures.errors_connreset, figures.errors_other), (7, 3, 4));
        assert_eq!((figures.reply_rate_avg_per_s, figures.reply_rate_samples), (4.0, 2));
        assert_eq!((figures.reply_rate_min_per_s, figures.reply_rate_max_per_s), (3.0, 5.0));
    }

    #[test]
    fn without_finished_sessions_there_are_zeros_and_a_place_for_none() {
        let figures = SessionFigures::of(&SessionSummary::default(), &[], 0.0);
        let nothing = SessionFigures { session_length_histogram: vec![0], ..SessionFigures::default() };
        assert_eq!(figures, nothing);
        let running = SessionSummary { began: 5, unfinished: 5, ..SessionSummary::default() };
        assert_eq!(SessionFigures::of(&running, &[], 2.0), nothing);
    }

    #[test]
    fn the_mean_session_rate_is_of_the_whole_run_and_the_extremes_are_of_the_samples() {
        let sessions = SessionSummary {
            began: 9,
            succeeded: 6,
            failed: 2,
            unfinished: 1,
            connections: 9,
            ..SessionSummary::default()
        };
        let figures = SessionFigures::of(&sessions, &[1.0, 3.0], 12.0);
        assert_eq!((figures.session_rate_min_per_s, figures.session_rate_max_per_s), (1.0, 3.0));
        assert_eq!(figures.session_rate_avg_per_s, 0.5);
        assert_eq!((figures.sessions_succeeded, figures.sessions_finished), (6, 8));
        assert_eq!(figures.connections_per_session, 1.5);
    }
}
