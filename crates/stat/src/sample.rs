//! The periodic samples of the classic report: the reply rate every five seconds.

use httperf_engine::{Collector, Core, Event, Time};

/// Replies of one loop since its sample before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The number of the sample, from 0.
    pub index: usize,
    /// Replies per second over the time that has really passed.
    pub reply_rate: f64,
}

/// Takes a sample at every tick. No partial sample is taken at the end.
#[derive(Debug)]
pub struct Samples<F> {
    tell: F,
    rates: Vec<f64>,
    replies: u64,
    since: Time,
}

impl<F: FnMut(Sample)> Samples<F> {
    /// Each sample is told at once.
    pub fn new(tell: F) -> Self {
        Self { tell, rates: Vec::new(), replies: 0, since: Time::NEVER }
    }

    /// The reply rates sampled so far.
    pub fn into_rates(self) -> Vec<f64> {
        self.rates
    }
}

impl<F: FnMut(Sample)> Collector for Samples<F> {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        match *event {
            Event::CallRecvStop { .. } => self.replies += 1,
            Event::Tick { at } => {
                let since = if self.since.is_set() { self.since } else { core.started_at() };
                let seconds = at.seconds_since(since);
                let reply_rate = if seconds > 0.0 { self.replies as f64 / seconds } else { 0.0 };
                (self.tell)(Sample { index: self.rates.len(), reply_rate });
                self.rates.push(reply_rate);
                (self.replies, self.since) = (0, at);
            }
            _ => {}
        }
    }
}
