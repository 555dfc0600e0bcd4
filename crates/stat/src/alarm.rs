//! The first failure of each cause, said at once.

use std::net::SocketAddr;

use httperf_engine::{Broken, Cause, Collector, Core, Event};
use httperf_wire::Note;

/// Something a user should hear of when it happens first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    /// A connection failed for this cause.
    Failed {
        /// Why.
        cause: Cause,
        /// The kernel's error number; 0 if it had no say.
        errno: i32,
        /// How the server broke a protocol, if it did.
        fault: Option<Broken>,
        /// Where the connection went.
        target: SocketAddr,
    },
    /// The server did something odd.
    Noted(Note),
}

/// Tells the first alarm of each kind.
#[derive(Debug)]
pub struct Alarms<F> {
    tell: F,
    failed: [bool; Cause::COUNT],
    garbage: bool,
}

impl<F: FnMut(Alarm)> Alarms<F> {
    /// Each alarm is told at once.
    pub fn new(tell: F) -> Self {
        Self { tell, failed: [false; Cause::COUNT], garbage: false }
    }
}

impl<F: FnMut(Alarm)> Collector for Alarms<F> {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        match *event {
            Event::ConnFailed { conn, cause, errno, .. } if !self.failed[cause as usize] => {
                self.failed[cause as usize] = true;
                let Some(conn) = core.conn(conn) else { return };
                let target = core.scenario().targets[conn.target as usize];
                (self.tell)(Alarm::Failed { cause, errno, fault: conn.fault, target });
            }
            Event::Noted { note, .. } => match note {
                Note::LongField(_) | Note::UnknownCoding => (self.tell)(Alarm::Noted(note)),
                Note::GarbageStatus if !self.garbage => {
                    self.garbage = true;
                    (self.tell)(Alarm::Noted(note));
                }
                _ => {}
            },
            _ => {}
        }
    }
}
