//! The work of a pool that waits for a connection, oldest first.
//!
//! ```text
//!   schedule:   ... issued | oldest ......... waiting ......... | ahead (its wake is asked for) ...
//!                            ^ a second cursor, cloned when the     ^ the cursor of the loop
//!                              first arrival had to wait
//! ```
//!
//! Arrivals that wait are not stored: they are the distance of two cursors on one schedule.

use std::collections::VecDeque;

use httperf_engine::{Again, RequestId, Time};

use crate::schedule::{Arrival, Schedule};

/// A call that is to be issued.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// A new one, by its number among all of the run.
    New { number: u64, due: Time },
    /// One that was lost with its connection, through no fault of anybody.
    Again { request: RequestId, due: Time, again: Again },
}

/// Work that waits.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Calls to be made again: at most as many as were outstanding.
    again: VecDeque<Work>,
    /// New calls that wait for a connection that is promised to them: of a closed loop, at most as many as it
    /// has slots; with shedding, at most as many as connections being opened can carry.
    slots: VecDeque<Work>,
    /// Open loop: the oldest arrival that waits, and the cursor behind it.
    oldest: Option<Arrival>,
    behind: Option<Schedule>,
    /// How many arrivals wait.
    arrivals: u64,
}

impl Backlog {
    /// All work that waits.
    pub(super) fn len(&self) -> u64 {
        (self.again.len() + self.slots.len()) as u64 + self.arrivals
    }

    /// The work that waits and was never begun.
    pub(super) fn new_work(&self) -> u64 {
        self.slots.len() as u64 + self.arrivals
    }

    /// A call has to be made again.
    pub(super) fn call_again(&mut self, work: Work) {
        self.again.push_back(work);
    }

    /// A new call has to wait, and may be taken back.
    pub(super) fn add(&mut self, number: u64, due: Time) {
        self.slots.push_back(Work::New { number, due });
    }

    /// An arrival has to wait; `after` yields those that come after it.
    pub(super) fn wait(&mut self, arrival: Arrival, after: &Schedule) {
        if self.arrivals == 0 {
            self.oldest = Some(arrival);
            self.behind = Some(after.clone());
        }
        self.arrivals += 1;
    }

    /// What has waited longest.
    pub(super) fn first(&self, began: Time) -> Option<Work> {
        if let Some(work) = self.again.front().or(self.slots.front()) {
            return Some(*work);
        }
        self.oldest.map(|Arrival { number, due }| Work::New { number, due: began + due })
    }

    /// Takes out what has waited longest.
    pub(super) fn pop(&mut self) {
        let stored = self.again.pop_front().is_some() || self.slots.pop_front().is_some();
        if !stored && self.arrivals > 0 {
            self.arrivals -= 1;
            self.oldest = self.behind.as_mut().filter(|_| self.arrivals > 0).and_then(Iterator::next);
        }
    }

    /// Takes back the newest of the calls that were added; when it was due.
    pub(super) fn take_back(&mut self) -> Option<Time> {
        match self.slots.pop_back()? {
            Work::New { due, .. } | Work::Again { due, .. } => Some(due),
        }
    }

    /// When all new work that waits was due, oldest first. Walks the schedule.
    pub(super) fn dues(&self, began: Time) -> impl Iterator<Item = Time> {
        let slots = self.slots.iter().filter_map(|work| match work {
            Work::New { due, .. } => Some(*due),
            Work::Again { .. } => None,
        });
        let behind = self.behind.clone().into_iter().flatten();
        let arrivals = self.oldest.into_iter().chain(behind).take(self.arrivals as usize);
        slots.chain(arrivals.map(move |arrival| began + arrival.due))
    }
}
