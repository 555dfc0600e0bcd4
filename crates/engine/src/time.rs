//! Time on the monotonic clock in nanoseconds, and the timers that hang on it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::{Add, Sub};

/// A span of time in nanoseconds.
pub type Nanos = u64;

/// A moment on the monotonic clock, in nanoseconds since an origin that only the driver knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// Later than every moment: "not yet", "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// Whether this moment has been set to something.
    pub fn is_set(self) -> bool {
        self != Time::NEVER
    }

    /// Nanoseconds from `earlier` to this moment; 0 if it is not earlier.
    pub fn since(self, earlier: Time) -> Nanos {
        self.0.saturating_sub(earlier.0)
    }

    /// Seconds from `earlier` to this moment.
    pub fn seconds_since(self, earlier: Time) -> f64 {
        self.since(earlier) as f64 / 1e9
    }
}

impl Add<Nanos> for Time {
    type Output = Time;
    fn add(self, nanos: Nanos) -> Time {
        Time(self.0.saturating_add(nanos))
    }
}

impl Sub<Nanos> for Time {
    type Output = Time;
    fn sub(self, nanos: Nanos) -> Time {
        Time(self.0.saturating_sub(nanos))
    }
}

/// Things that are due at some time, earliest first; equal times in the order they were added.
#[derive(Debug)]
pub(crate) struct Timers<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    added: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Time,
    order: u64,
    what: T,
}

impl<T> Timers<T> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), added: 0 }
    }

    pub(crate) fn add(&mut self, at: Time, what: T) {
        self.added += 1;
        self.heap.push(Reverse(Entry { at, order: self.added, what }));
    }

    /// When the first thing is due; [`Time::NEVER`] if there is none.
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse(entry)| entry.at)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Drops what is wanted no more.
    pub(crate) fn retain(&mut self, mut wanted: impl FnMut(Time, &T) -> bool) {
        self.heap.retain(|Reverse(entry)| wanted(entry.at, &entry.what));
    }

    /// Takes the first thing if it is due at `now`, with the time it was due.
    pub(crate) fn take(&mut self, now: Time) -> Option<(Time, T)> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.what))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_in_order_of_time_then_of_adding() {
        let mut timers = Timers::new();
        for (at, what) in [(5, 'c'), (1, 'a'), (5, 'd'), (3, 'b')] {
            timers.add(Time(at), what);
        }
        assert_eq!(timers.take(Time(0)), None);
        let order: Vec<_> = std::iter::from_fn(|| timers.take(Time(5))).map(|(_, what)| what).collect();
        assert_eq!(order, ['a', 'b', 'c', 'd']);
        assert_eq!(timers.next(), Time::NEVER);
    }

    #[test]
    fn what_is_wanted_no_more_can_be_dropped() {
        let mut timers = Timers::new();
        (0..10).for_each(|at| timers.add(Time(at), at));
        timers.retain(|_, what| what % 3 == 1);
        assert_eq!((timers.len(), timers.take(Time(9))), (3, Some((Time(1), 1))));
    }
}
