//! When sessions begin: at given times, or when others have ended.

use httperf_engine::{Core, Time};

use crate::arrival::Arrivals;

/// Counts sessions, and knows when the next one begins.
#[derive(Debug)]
pub(super) struct Pace {
    /// Closed loop: sessions in all.
    total: u64,
    /// Open loop: those to come.
    arrivals: Option<Arrivals>,
    concurrency: u32,
    /// Sessions that were begun.
    begun: u64,
    /// Sessions that are over.
    ended: u64,
    /// The due time of the arrival that a wake was asked for.
    awaited: Option<Time>,
}

impl Pace {
    pub(super) fn new(total: u64, arrivals: Option<Arrivals>, concurrency: u32) -> Self {
        Self { total, arrivals, concurrency, begun: 0, ended: 0, awaited: None }
    }

    /// One more begins: the how many-th of this share, from 0.
    pub(super) fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun - 1
    }

    /// One more is over; whether it was the last.
    pub(super) fn end(&mut self) -> bool {
        self.ended += 1;
        self.is_over()
    }

    /// Whether all there were are over.
    pub(super) fn is_over(&self) -> bool {
        let none_to_come = match self.arrivals {
            Some(_) => self.awaited.is_none(),
            None => self.begun == self.total,
        };
        none_to_come && self.ended == self.begun
    }

    /// How many begin at the start.
    pub(super) fn at_once(&self) -> u64 {
        if self.arrivals.is_some() { 0 } else { self.total.min(self.concurrency.into()) }
    }

    /// Whether another one begins now that one has ended.
    pub(super) fn follows(&self) -> bool {
        self.arrivals.is_none() && self.begun < self.total
    }

    /// Asks to be woken for the next arrival.
    pub(super) fn await_arrival(&mut self, token: u64, core: &mut Core) {
        let next = self.arrivals.as_mut().and_then(Iterator::next);
        self.awaited = next.map(|due| core.began_at() + due);
        if let Some(due) = self.awaited {
            core.schedule(due, token);
        }
    }

    /// Arrivals that were due before `end` and have not been taken up.
    pub(super) fn not_started(&self, began: Time, end: Time) -> u64 {
        let awaited = self.awaited.is_some_and(|due| due < end);
        let later = self.arrivals.as_ref().map_or(0, |rest| rest.due_before(end.since(began)));
        u64::from(awaited) + if awaited { later } else { 0 }
    }
}
