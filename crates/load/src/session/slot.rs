//! The connections of a session: slots that are filled when they are needed.

use httperf_engine::{ConnId, Nanos, Time};

/// How much a session may have open at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Connections of a session, at least 1.
    pub conns: u32,
    /// Calls without a reply on each, at least 1.
    pub piped: u32,
}

impl Room {
    /// The limits of the classic tool: 0 stands for 4 connections and for 32 calls, 1 with HTTP/1.0 (manual
    /// `--max-connections`, `--max-piped-calls`).
    pub fn classic(max_connections: u32, max_piped_calls: u32, http_1_0: bool) -> Self {
        let or = |number: u32, default| if number == 0 { default } else { number };
        Self { conns: or(max_connections, 4), piped: or(max_piped_calls, if http_1_0 { 1 } else { 32 }) }
    }

    /// Calls of a session that fit onto its connections.
    pub(super) fn calls(self) -> usize {
        self.conns as usize * self.piped as usize
    }
}

/// A connection of a session, or the place for one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) conn: ConnId,
    pub(super) stage: Stage,
    /// Calls that wait for a reply or for the connection.
    pub(super) pending: u32,
    /// Connections in a row that were lost without a reply.
    pub(super) lost: u32,
    /// The connection has failed, so and not otherwise.
    pub(super) broken: Option<Broken>,
}

/// How a connection has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// A time limit of ours has passed.
    TimedOut,
    /// Anything else.
    Lost,
}

/// How far the connection of a slot has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is none.
    Empty,
    /// There will be one at this moment.
    Paused(Time),
    Connecting,
    Open,
}

/// What the end of a connection means for its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It goes on.
    Goes,
    /// It has failed.
    Hopeless,
}

impl Default for Slot {
    fn default() -> Self {
        Self { conn: ConnId::NONE, stage: Stage::Empty, pending: 0, lost: 0, broken: None }
    }
}

impl Slot {
    /// Its connection is gone.
    pub(super) fn clear(&mut self) {
        (self.conn, self.stage, self.broken) = (ConnId::NONE, Stage::Empty, None);
    }
}

/// After so many attempts without success a session fails. (The original goes on for ever.)
pub(super) const ATTEMPTS: u32 = 10;

/// The pause before an attempt that follows so many failed ones: 1 ms, doubled each time, at most 100 ms.
pub(super) fn back_off(failed: u32) -> Nanos {
    const MS: Nanos = 1_000_000;
    (MS << failed.saturating_sub(1).min(10)).min(100 * MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nought_stands_for_the_limits_of_the_classic_tool() {
        assert_eq!(Room::classic(0, 0, false), Room { conns: 4, piped: 32 });
        assert_eq!(Room::classic(0, 0, true), Room { conns: 4, piped: 1 });
        assert_eq!(Room::classic(2, 5, true), Room { conns: 2, piped: 5 });
        assert_eq!(Room::classic(2, 5, true).calls(), 10);
    }

    #[test]
    fn pauses_double_up_to_a_tenth_of_a_second() {
        let ms: Vec<Nanos> = (1..10).map(|failed| back_off(failed) / 1_000_000).collect();
        assert_eq!(ms, [1, 2, 4, 8, 16, 32, 64, 100, 100]);
        assert_eq!(back_off(u32::MAX), back_off(9));
    }
}
