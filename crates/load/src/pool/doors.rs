//! When a pool may open connections: as many as are needed, and slowly where connects fail.

use httperf_engine::{Nanos, Time};

/// How many connections there are, and what became of connects.
#[derive(Debug)]
pub(super) struct Doors {
    /// Connections there may be at once.
    cap: u32,
    /// When so many of the first connections have failed, and none was established, there is no point.
    patience: u64,
    /// Connections there are, those that are being opened among them.
    live: u32,
    /// Those that are being opened.
    opening: u32,
    /// Connects that failed before any was established.
    failed: u64,
    established: bool,
    /// The latest connect failed.
    failing: bool,
    /// No connect before this time.
    until: Time,
    pause: Nanos,
    /// Connections that were asked for.
    asked: u64,
}

/// The first pause after a failed connect; it doubles from there.
const PAUSE: Nanos = 1_000_000;
/// The longest.
const PAUSE_MAX: Nanos = 100_000_000;

impl Doors {
    pub(super) fn new(cap: u32, patience: u64) -> Self {
        Self {
            cap,
            patience,
            live: 0,
            opening: 0,
            failed: 0,
            established: false,
            failing: false,
            until: Time::default(),
            pause: 0,
            asked: 0,
        }
    }

    /// Whether another connection may be opened now.
    pub(super) fn may_open(&self, now: Time) -> bool {
        let room = if !self.failing {
            u64::from(self.cap)
        } else if self.established {
            // One at a time finds out whether it works again.
            1
        } else {
            self.patience.saturating_sub(self.failed)
        };
        self.live < self.cap && now >= self.until && u64::from(self.opening) < room
    }

    /// When a connect is allowed again, if it is a pause that forbids it.
    pub(super) fn paused_until(&self, now: Time) -> Option<Time> {
        (now < self.until && self.live < self.cap).then_some(self.until)
    }

    /// Connections that are being opened.
    pub(super) fn opening(&self) -> u32 {
        self.opening
    }

    /// One is opened; the number of it, from 0.
    pub(super) fn open(&mut self) -> u64 {
        self.live += 1;
        self.opening += 1;
        self.asked += 1;
        self.asked - 1
    }

    /// One can carry calls.
    pub(super) fn connected(&mut self) {
        self.opening -= 1;
        (self.established, self.failing, self.pause) = (true, false, 0);
    }

    /// One failed before it could.
    pub(super) fn failed(&mut self, now: Time) {
        self.opening -= 1;
        self.failing = true;
        self.failed += u64::from(!self.established);
        // Those that fail together are one failure.
        if now >= self.until {
            self.pause = (2 * self.pause).clamp(PAUSE, PAUSE_MAX);
            self.until = now + self.pause;
        }
    }

    /// One is gone.
    pub(super) fn closed(&mut self) {
        self.live -= 1;
    }

    /// How many connections failed in vain, if those were the first ones and enough of them.
    pub(super) fn hopeless(&self) -> Option<u64> {
        (!self.established && self.failed >= self.patience).then_some(self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn pauses_double_up_to_a_tenth_of_a_second_and_a_success_ends_them() {
        let mut doors = Doors::new(10, 1000);
        let mut now = Time(5 * MS);
        let mut pauses = Vec::new();
        for _ in 0..10 {
            assert!(doors.may_open(now));
            doors.open();
            doors.failed(now);
            doors.closed();
            assert!(!doors.may_open(now));
            let until = doors.paused_until(now).unwrap();
            pauses.push(until.since(now) / MS);
            now = until;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 100, 100, 100]);
        doors.open();
        doors.connected();
        assert!(doors.may_open(now) && doors.paused_until(now).is_none());
        doors.open();
        doors.failed(now);
        assert_eq!(doors.paused_until(now), Some(now + MS));
    }

    #[test]
    fn what_fails_together_is_one_failure_and_one_tries_again() {
        let mut doors = Doors::new(4, 100);
        doors.open();
        doors.connected();
        assert_eq!((1..4).map(|_| doors.open()).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(!doors.may_open(Time(0)), "the cap");
        for _ in 0..3 {
            doors.failed(Time(0));
            doors.closed();
        }
        assert_eq!(doors.paused_until(Time(0)), Some(Time(MS)));
        assert!(doors.may_open(Time(MS)));
        doors.open();
        assert!(!doors.may_open(Time(MS)), "one at a time");
        assert_eq!(doors.hopeless(), None);
    }

    #[test]
    fn it_is_hopeless_when_the_first_connections_all_fail() {
        let mut doors = Doors::new(50, 3);
        for failed in 1..=3 {
            doors.open();
            doors.failed(Time(failed * 1000 * MS));
            assert_eq!(doors.hopeless(), (failed == 3).then_some(3));
        }
    }
}
