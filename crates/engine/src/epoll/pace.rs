//! How early to ask for a wake-up, so that the loop is awake when something falls due.
//!
//! A timer wakes a thread late: by the latency of the interrupt and of the scheduler, tens of
//! microseconds that vary with the machine. So the timer is armed earlier by a margin, and the rest of
//! the time is polled away. The margin follows a high quantile of the lateness seen: each wake-up that
//! came too late widens it by a step, each that came in time narrows it by a smaller one. Polling is
//! bounded to a share of the loop's time.

use crate::time::Nanos;

/// The quantile of wake-ups that should come in time is `WIDEN / (WIDEN + NARROW)`.
const WIDEN: Nanos = 3_000;
const NARROW: Nanos = 100;
/// No timer is armed earlier than this before its time.
const MARGIN_MAX: Nanos = 200_000;
/// At most one part in so many of the loop's time may be polled away.
const POLL_SHARE: Nanos = 20;
/// A loop that is busy for more than one part in so many of its time does not poll.
const BUSY_SHARE: Nanos = 2;

/// The margin of one loop.
#[derive(Debug)]
pub(super) struct Pace {
    margin: Nanos,
    polled: Nanos,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { margin: 50_000, polled: 0 }
    }

    /// How much earlier than its time the timer should fire. `total` is the life of the loop so far, `busy`
    /// what of it was neither waiting nor polling.
    pub(super) fn margin(&self, total: Nanos, busy: Nanos) -> Nanos {
        let affordable = self.polled <= total / POLL_SHARE && busy <= total / BUSY_SHARE;
        if affordable { self.margin } else { 0 }
    }

    /// A timer armed with a margin has fired; `early` is what was left until its time, 0 if it came too late.
    pub(super) fn woke(&mut self, early: Nanos) {
        self.margin = match early {
            0 => (self.margin + WIDEN).min(MARGIN_MAX),
            _ => self.margin.saturating_sub(NARROW),
        };
    }

    /// So much time was polled away.
    pub(super) fn polled(&mut self, spent: Nanos) {
        self.polled += spent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_settles_above_most_of_the_lateness() {
        let mut pace = Pace::new();
        let mut in_time = 0;
        for k in 0..20_000_u64 {
            let lateness = 20_000 + (k * 7_919) % 60_000;
            let early = pace.margin(u64::MAX, 0).saturating_sub(lateness);
            in_time += u64::from(early > 0);
            pace.woke(early);
        }
        assert!((17_000..19_950).contains(&in_time), "{in_time} of 20000 in time");
    }

    #[test]
    fn a_loop_that_is_busy_or_has_polled_enough_does_not_poll() {
        let mut pace = Pace::new();
        assert_eq!(pace.margin(1_000_000, 600_000), 0);
        assert!(pace.margin(1_000_000, 400_000) > 0);
        pace.polled(50_001);
        assert_eq!(pace.margin(1_000_000, 0), 0);
        assert!(pace.margin(2_000_000, 0) > 0);
    }
}
