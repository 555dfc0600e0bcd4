//! What happened between one tick and the next, for those who watch a run (`--periodic-stats` of 0.9.1).

use std::mem::take;
use std::ops::AddAssign;

use httperf_engine::{Collector, Core, Event};

use crate::moments::MeanTime;
use crate::sample::{Sample, Sampler, per_s};

/// One period: from a tick to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Period {
    /// When it was over, in seconds from the start of the test.
    pub end_s: f64,
    /// Connects per second that were begun.
    pub connections_per_s: f64,
    /// Requests per second that were sent to the last byte.
    pub requests_per_s: f64,
    /// Replies per second.
    pub replies_per_s: f64,
    /// Connections that failed.
    pub errors: u64,
    /// From connect(2) to the connection, of those that were established.
    pub connect: MeanTime,
    /// From a request heading its queue to the status line of the reply.
    pub response: MeanTime,
}

impl AddAssign for Period {
    /// Adds the same period of another loop.
    fn add_assign(&mut self, other: Self) {
        self.end_s = self.end_s.max(other.end_s);
        self.connections_per_s += other.connections_per_s;
        self.requests_per_s += other.requests_per_s;
        self.replies_per_s += other.replies_per_s;
        self.errors += other.errors;
        self.connect.merge(other.connect);
        self.response.merge(other.response);
    }
}

/// Tells a period at every tick, and what came after the last one at the end
/// (see [`Gathered`](crate::Gathered)).
#[derive(Debug)]
pub struct Periodic<F> {
    tell: F,
    sampler: Sampler,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    connections: u64,
    requests: u64,
    replies: u64,
    errors: u64,
    connect: MeanTime,
    response: MeanTime,
}

impl<F: FnMut(Sample<Period>)> Periodic<F> {
    /// Each period is told at once.
    pub fn new(tell: F) -> Self {
        Self { tell, sampler: Sampler::default(), counts: Counts::default() }
    }
}

impl<F: FnMut(Sample<Period>)> Collector for Periodic<F> {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        let counts = &mut self.counts;
        match *event {
            Event::ConnConnecting { .. } => counts.connections += 1,
            Event::ConnConnected { conn, at } => {
                if let Some(conn) = core.conn(conn) {
                    counts.connect.add(at.since(conn.created));
                }
            }
            Event::ConnFailed { .. } => counts.errors += 1,
            Event::CallSendStop { .. } => counts.requests += 1,
            Event::CallRecvStart { call, at, .. } => {
                if let Some(call) = core.call(call) {
                    counts.response.add(at.since(call.heads_queue));
                }
            }
            Event::CallRecvStop { .. } => counts.replies += 1,
            Event::Tick { at } | Event::Stopped { at } => {
                let counts = take(counts);
                let end_s = at.seconds_since(core.started_at().min(at));
                if let Some(sample) = self.sampler.on(event, core, |seconds| counts.over(seconds, end_s)) {
                    (self.tell)(sample);
                }
            }
            _ => {}
        }
    }
}

impl Counts {
    fn over(self, seconds: f64, end_s: f64) -> Period {
        Period {
            end_s,
            connections_per_s: per_s(self.connections, seconds),
            requests_per_s: per_s(self.requests, seconds),
            replies_per_s: per_s(self.replies, seconds),
            errors: self.errors,
            connect: self.connect,
            response: self.response,
        }
    }
}
