//! Counters and sums behind the classic report.

use std::collections::BTreeMap;

use httperf_engine::{Cause, Collector, Core, Event, Time, Traffic};
use httperf_wire::Note;

use crate::handshake::Handshakes;
use crate::moments::{MeanTime, Moments};

/// The collector.
#[derive(Debug)]
pub struct Basic {
    sum: BasicSummary,
    /// Replies by status; faster than a map, and a reply is the one thing that happens often.
    statuses: Box<[u64; STATUSES]>,
    /// Connections alive.
    live: u64,
    /// Connects in the current pass of the loop.
    burst: u64,
    pass: u64,
}

/// What the collector leaves. Times are seconds, sizes bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BasicSummary {
    /// When the test started and ended, on the clock of the driver.
    pub started: Option<Time>,
    /// See `started`.
    pub ended: Option<Time>,
    /// Arrivals taken up.
    pub arrivals: u64,
    /// Arrivals that were due and had not been taken up when the run ended.
    pub arrivals_not_started: u64,
    /// Arrivals that were taken up and still waited for a connection when the run ended.
    pub arrivals_waiting: u64,
    /// Arrivals that were taken up and dropped, because no connection was to be had.
    pub arrivals_shed: u64,
    /// The moment the loop took an arrival up - its due time.
    pub generator_lag_s: Moments,
    /// Connects that were begun.
    pub connections: u64,
    /// Connections that could carry calls.
    pub established: u64,
    /// Connections that failed before they could, by cause (those without a socket are not among them).
    pub connects_failed: BTreeMap<Cause, u64>,
    /// Connects that were pending when the run ended.
    pub connects_aborted: u64,
    /// Failures of connections by cause: the errors.
    pub errors: BTreeMap<Cause, u64>,
    /// The most connections that lived at once.
    pub concurrent_max: u64,
    /// The most connects in one pass of the loop.
    pub burst_max: u64,
    /// Lifetimes of connections that had a reply.
    pub lifetimes: Lifetimes,
    /// From the connect to its outcome, of connections that came to one.
    pub connect_s: Moments,
    /// Replies on the connections among `lifetimes`.
    pub conn_replies: u64,
    /// Requests given to a send queue.
    pub calls: u64,
    /// Requests sent to the last byte.
    pub requests: u64,
    /// Their bytes.
    pub request_bytes: u64,
    /// Replies by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Calls that failed, by cause.
    pub calls_failed: BTreeMap<Cause, u64>,
    /// Calls without a reply when the run ended.
    pub calls_aborted: u64,
    /// From the call heading its send queue to its status line.
    pub response: MeanTime,
    /// From the status line to the end of the reply.
    pub transfer: MeanTime,
    /// Header bytes of replies.
    pub header_bytes: u64,
    /// Decoded body bytes of replies.
    pub content_bytes: u64,
    /// Trailer bytes of replies.
    pub footer_bytes: u64,
    /// Payload bytes of all connections.
    pub traffic: Traffic,
    /// Interim replies that were skipped.
    pub interim: u64,
    /// Replies with both framings.
    pub length_and_chunked: u64,
    /// Replies with a transfer coding that is not known.
    pub unknown_coding: u64,
    /// TLS connections that the server ended between replies without announcing it (close_notify).
    pub no_close_notify: u64,
    /// TLS handshakes that were done.
    pub handshakes: Handshakes,
}

/// Lifetimes of connections with at least one reply, in bins of 1 ms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lifetimes {
    /// In milliseconds.
    pub moments_ms: Moments,
    bins: Vec<u32>,
}

/// One more than the largest status.
const STATUSES: usize = 1000;

impl Default for Basic {
    fn default() -> Self {
        Self { sum: BasicSummary::default(), statuses: Box::new([0; STATUSES]), live: 0, burst: 0, pass: 0 }
    }
}

/// Longer lifetimes are in no bin.
const BINS: usize = 100_000;

impl Lifetimes {
    fn add(&mut self, ms: f64) {
        self.moments_ms.add(ms);
        let bin = ms as usize;
        if bin < BINS {
            if self.bins.len() <= bin {
                self.bins.resize(bin + 1, 0);
            }
            self.bins[bin] += 1;
        }
    }

    fn merge(&mut self, other: &Lifetimes) {
        self.moments_ms.merge(&other.moments_ms);
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *mine += theirs;
        }
    }

    /// The centre, in milliseconds, of the first bin where the running count reaches half of all; 0
    /// if that lies beyond the bins.
    pub fn median_ms(&self) -> f64 {
        let half = self.moments_ms.count.div_ceil(2).max(1);
        let mut running = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            running += u64::from(*count);
            if running >= half {
                return bin as f64 + 0.5;
            }
        }
        0.0
    }

    /// Bins that are not empty: centre in milliseconds and count.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u32)> {
        self.bins
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(bin, count)| (bin as f64 + 0.5, *count))
    }
}

impl BasicSummary {
    /// Complete replies.
    pub fn replies(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Arrivals that were due and were not begun when the run ended.
    pub fn never_begun(&self) -> u64 {
        self.arrivals_not_started + self.arrivals_waiting
    }

    /// Replies of status class 1 to 5; codes from 600 on are in the class of 5.
    pub fn replies_in_class(&self, class: u16) -> u64 {
        let in_class = |status: u16| (status / 100).min(5) == class;
        self.statuses.iter().filter(|(status, _)| in_class(**status)).map(|(_, count)| count).sum()
    }

    /// How long the test lasted, in seconds.
    pub fn duration_s(&self) -> f64 {
        match (self.started, self.ended) {
            (Some(started), Some(ended)) => ended.seconds_since(started),
            _ => 0.0,
        }
    }

    /// Adds the summary of another loop of the same run.
    pub fn merge(&mut self, other: &BasicSummary) {
        self.started = [self.started, other.started].into_iter().flatten().min();
        self.ended = self.ended.max(other.ended);
        self.generator_lag_s.merge(&other.generator_lag_s);
        self.lifetimes.merge(&other.lifetimes);
        self.connect_s.merge(&other.connect_s);
        self.response.merge(other.response);
        self.transfer.merge(other.transfer);
        self.burst_max = self.burst_max.max(other.burst_max);
        self.traffic.sent += other.traffic.sent;
        self.traffic.received += other.traffic.received;
        for (mine, theirs) in [
            (&mut self.connects_failed, &other.connects_failed),
            (&mut self.errors, &other.errors),
            (&mut self.calls_failed, &other.calls_failed),
        ] {
            theirs.iter().for_each(|(cause, count)| *mine.entry(*cause).or_default() += count);
        }
        self.handshakes.merge(&other.handshakes);
        other.statuses.iter().for_each(|(status, count)| *self.statuses.entry(*status).or_default() += count);
        for (mine, theirs) in [
            (&mut self.arrivals, other.arrivals),
            (&mut self.arrivals_not_started, other.arrivals_not_started),
            (&mut self.arrivals_waiting, other.arrivals_waiting),
            (&mut self.arrivals_shed, other.arrivals_shed),
            (&mut self.connections, other.connections),
            (&mut self.established, other.established),
            (&mut self.connects_aborted, other.connects_aborted),
            (&mut self.concurrent_max, other.concurrent_max),
            (&mut self.conn_replies, other.conn_replies),
            (&mut self.calls, other.calls),
            (&mut self.requests, other.requests),
            (&mut self.request_bytes, other.request_bytes),
            (&mut self.calls_aborted, other.calls_aborted),
            (&mut self.header_bytes, other.header_bytes),
            (&mut self.content_bytes, other.content_bytes),
            (&mut self.footer_bytes, other.footer_bytes),
            (&mut self.interim, other.interim),
            (&mut self.length_and_chunked, other.length_and_chunked),
            (&mut self.unknown_coding, other.unknown_coding),
            (&mut self.no_close_notify, other.no_close_notify),
        ] {
            *mine += theirs;
        }
    }
}

impl Basic {
    /// What was seen.
    pub fn into_summary(self) -> BasicSummary {
        let seen = (0..).zip(*self.statuses).filter(|(_, count)| *count > 0);
        BasicSummary { statuses: seen.collect(), ..self.sum }
    }

    /// What was seen so far.
    pub fn so_far(&self, core: &Core) -> BasicSummary {
        let seen = (0..).zip(*self.statuses).filter(|(_, count)| *count > 0);
        BasicSummary {
            statuses: seen.collect(),
            started: Some(core.started_at()),
            ended: Some(core.now()),
            traffic: core.traffic(),
            ..self.sum.clone()
        }
    }

    /// A connect is begun, in this pass of the loop. The burst of a pass counts when a later one begins.
    fn connecting(&mut self, pass: u64) {
        self.sum.connections += 1;
        self.live += 1;
        self.sum.concurrent_max = self.sum.concurrent_max.max(self.live);
        if pass != self.pass {
            self.sum.burst_max = self.sum.burst_max.max(self.burst);
            self.burst = 0;
            self.pass = pass;
        }
        self.burst += 1;
    }
}

impl Collector for Basic {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        let sum = &mut self.sum;
        match *event {
            Event::Arrival { due, at } => {
                sum.arrivals += 1;
                sum.generator_lag_s.add(at.seconds_since(due));
            }
            Event::Shed { .. } => sum.arrivals_shed += 1,
            Event::ConnConnecting { .. } => self.connecting(core.turns()),
            Event::ConnConnected { conn, at } => {
                sum.established += 1;
                if let Some(conn) = core.conn(conn) {
                    sum.connect_s.add(at.seconds_since(conn.created));
                    if let Some(facts) = conn.tls() {
                        sum.handshakes.add(facts);
                    }
                }
            }
            Event::ConnFailed { conn, cause, errno, at } => {
                *sum.errors.entry(cause).or_default() += 1;
                let Some(conn) = core.conn(conn) else { return };
                if conn.created.is_set() && !conn.connected.is_set() {
                    *sum.connects_failed.entry(cause).or_default() += 1;
                    // A refused connection becomes writable too: its time belongs to the mean.
                    if errno != 0 {
                        sum.connect_s.add(at.seconds_since(conn.created));
                    }
                }
            }
            Event::ConnClosed { conn, at } => {
                let Some(conn) = core.conn(conn) else { return };
                if conn.created.is_set() {
                    self.live -= 1;
                }
                if conn.replies > 0 {
                    sum.lifetimes.add(at.seconds_since(conn.created) * 1e3);
                    sum.conn_replies += u64::from(conn.replies);
                }
            }
            Event::ConnAborted { conn, .. } => {
                let Some(conn) = core.conn(conn).filter(|conn| conn.created.is_set()) else { return };
                self.live -= 1;
                sum.connects_aborted += u64::from(!conn.connected.is_set());
            }
            Event::CallIssued { .. } => sum.calls += 1,
            Event::CallSendStop { bytes, .. } => {
                sum.requests += 1;
                sum.request_bytes += u64::from(bytes);
            }
            Event::CallRecvStart { call, at, .. } => {
                if let Some(call) = core.call(call) {
                    sum.response.add(at.since(call.heads_queue));
                }
            }
            Event::CallRecvStop { call, footer, at } => {
                let Some(call) = core.call(call) else { return };
                if let Some(count) = self.statuses.get_mut(usize::from(call.status)) {
                    *count += 1;
                }
                sum.transfer.add(at.since(call.status_at));
                sum.header_bytes += u64::from(call.header);
                sum.content_bytes += call.content;
                sum.footer_bytes += u64::from(footer);
            }
            Event::CallFailed { cause, .. } => *sum.calls_failed.entry(cause).or_default() += 1,
            Event::CallAborted { .. } => sum.calls_aborted += 1,
            Event::Interim { .. } => sum.interim += 1,
            Event::Noted { note: Note::LengthAndChunked, .. } => sum.length_and_chunked += 1,
            Event::Noted { note: Note::UnknownCoding, .. } => sum.unknown_coding += 1,
            Event::Noted { note: Note::NoCloseNotify, .. } => sum.no_close_notify += 1,
            Event::Stopped { at } => {
                sum.started = Some(core.started_at().min(at));
                sum.ended = Some(at);
                sum.traffic = core.traffic();
            }
            _ => {}
        }
    }
}
