//! Histograms and counts of one slice of time after the other.
//!
//! ```text
//!   Event --> Intervals --full block--> Exchange --> Timeline      (another thread, or in place)
//!                       <--empty block--
//! ```
//!
//! A loop records into its current block. At the end of a slice, noticed on the first event after it, it
//! swaps the block for an empty one: a pointer moves, nothing is copied, cleared or allocated. If no empty
//! one is there it goes on with the full one: slices merge, nothing is lost.

use std::collections::BTreeMap;

use httperf_engine::{Call, Collector, Conn, Core, Event, Nanos, Time};

use crate::latency::{Measure, Recorder};
use crate::timeline::{Counts, Slot, Timeline};

/// The width of a slice.
pub(crate) const UNIT: Nanos = 100_000_000;

/// So many slices back there is a place ready for what began there; for what lies further back one is made.
const BACK: usize = 64;

/// Where full blocks go and empty ones come from.
pub trait Exchange {
    /// What is left of it after the last block.
    type Left;

    /// Takes the block and leaves an empty one in its place. `false`, and nothing has changed, if there is no
    /// empty one at the moment. Called in the loop: it must not wait.
    fn swap(&mut self, block: &mut Box<Block>) -> bool;

    /// Takes the last block.
    fn finish(self, block: Box<Block>) -> Self::Left;
}

/// Adds blocks to a timeline on the spot: for simulations and tests.
#[derive(Debug, Default)]
pub struct InPlace(Timeline);

impl Exchange for InPlace {
    type Left = Timeline;

    fn swap(&mut self, block: &mut Box<Block>) -> bool {
        self.0.add(block);
        block.clear();
        true
    }

    fn finish(mut self, block: Box<Block>) -> Timeline {
        self.0.add(&block);
        self.0
    }
}

/// The collector.
#[derive(Debug)]
pub struct Intervals<E> {
    exchange: E,
    block: Box<Block>,
    /// When the run began; [`Time::NEVER`] before the first event.
    began: Time,
    /// When the current block is over.
    end: Time,
    now: Time,
    /// Calls in flight.
    level: u64,
    /// Bytes received, up to the latest event.
    received: u64,
    /// Of these, what is in blocks before the current one.
    handed_over: u64,
}

impl<E: Exchange> Intervals<E> {
    /// Blocks go to `exchange`.
    pub fn new(exchange: E) -> Self {
        Self {
            exchange,
            block: Box::default(),
            began: Time::NEVER,
            end: Time(0),
            now: Time(0),
            level: 0,
            received: 0,
            handed_over: 0,
        }
    }

    /// The run is over: hands over the last block.
    pub fn finish(mut self, core: &Core) -> E::Left {
        let now = core.now();
        if now >= self.end {
            self.roll(core, now);
        }
        (self.now, self.received) = (now, core.traffic().received);
        let block = &mut self.block;
        block.in_flight_ns = block.in_flight_ns.saturating_sub(self.level * self.end.since(self.now));
        block.until = block.until.min(self.now.since(self.began));
        block.counts.bytes_received = self.received - self.handed_over;
        self.exchange.finish(self.block)
    }

    /// The current slice is over.
    #[cold]
    fn roll(&mut self, core: &Core, now: Time) {
        let first = !self.began.is_set();
        if first {
            self.began = core.began_at();
        }
        let unit = now.since(self.began) / UNIT;
        self.block.counts.bytes_received = self.received - self.handed_over;
        let next = self.block.until / UNIT;
        if first || self.exchange.swap(&mut self.block) {
            self.handed_over = self.received;
            self.block.begin(unit, self.began + unit * UNIT);
            (self.block.silent, self.block.silent_level) = (unit - next, self.level);
        }
        // An empty block now covers the slice of this moment, one that could not be
        // swapped all slices up to it.
        let until = (unit + 1) * UNIT;
        self.block.in_flight_ns += self.level * (until - self.block.until);
        self.block.until = until;
        self.end = self.began + until;
    }

    /// A call began at `due`: it is in flight from there.
    #[inline]
    fn begin(&mut self, due: Time) {
        self.level += 1;
        let block = &mut self.block;
        if due >= block.start {
            block.in_flight_ns += self.end.since(due);
        } else {
            block.in_flight_ns += self.end.since(block.start);
            block.begin_before(due, self.began);
        }
    }

    /// A call is over.
    #[inline]
    fn end(&mut self) {
        self.level = self.level.saturating_sub(1);
        let left = self.end.since(self.now);
        self.block.in_flight_ns = self.block.in_flight_ns.saturating_sub(left);
    }

    #[inline]
    fn arrived(&mut self, due: Time, at: Time) {
        let block = &mut self.block;
        block.done[Measure::GeneratorLag as usize].record(at.since(due));
        if due >= block.start {
            block.counts.scheduled += 1;
        } else {
            let slices = block.slices_back(due, self.began);
            block.earlier(slices).scheduled += 1;
        }
    }

    fn replied(&mut self, call: &Call, at: Time) {
        let block = &mut self.block;
        block.counts.replies += 1;
        // Codes from 600 on are in the class of 5.
        let class = usize::from(call.status / 100).min(CLASSES - 1);
        block.classes[class].record(at.since(call.due));
        block.done[Measure::Service as usize].record(at.since(call.sent));
        block.done[Measure::Lag as usize].record(call.sent.since(call.due));
        block.done[Measure::FirstByte as usize].record(call.first_byte.since(call.sent));
        block.done[Measure::Transfer as usize].record(at.since(call.status_at));
    }

    /// A call ends without a reply. What it has come to is known, what is missing has an age.
    #[cold]
    fn unanswered(&mut self, call: &Call, at: Time, failed: bool) {
        let block = &mut self.block;
        let ages = if failed { &mut block.failed } else { &mut block.open };
        let done = &mut block.done;
        ages[Measure::Response as usize].record(at.since(call.due));
        if !call.sent.is_set() {
            return ages[Measure::Lag as usize].record(at.since(call.due));
        }
        done[Measure::Lag as usize].record(call.sent.since(call.due));
        ages[Measure::Service as usize].record(at.since(call.sent));
        if !call.first_byte.is_set() {
            return ages[Measure::FirstByte as usize].record(at.since(call.sent));
        }
        done[Measure::FirstByte as usize].record(call.first_byte.since(call.sent));
        if call.status_at.is_set() {
            ages[Measure::Transfer as usize].record(at.since(call.status_at));
        }
    }

    /// A connection ends that never was one: the call it was for never came to be,
    /// but waited since it was due.
    #[cold]
    fn unconnected(&mut self, conn: &Conn, at: Time, failed: bool, pooled: bool) {
        if conn.connected.is_set() {
            return;
        }
        // In a pool no call waits for this connection: the arrival goes on waiting for another one.
        if !pooled {
            self.begin(conn.due);
            self.end();
        }
        let ages = if failed { &mut self.block.failed } else { &mut self.block.open };
        if !pooled {
            ages[Measure::Response as usize].record(at.since(conn.due));
            ages[Measure::Lag as usize].record(at.since(conn.due));
        }
        if conn.created.is_set() {
            ages[Measure::Connect as usize].record(at.since(conn.created));
        }
        // Reached and not connected: in the handshake.
        if conn.reached.is_set() {
            ages[Measure::Tls as usize].record(at.since(conn.reached));
        }
    }
}

impl<E: Exchange> Collector for Intervals<E> {
    #[inline]
    fn on(&mut self, event: &Event, core: &Core) {
        // Nothing is counted by these, and others come with them.
        if let Event::CallSendStart { .. } | Event::CallSendStop { .. } | Event::CallRecvHeader { .. } = event
        {
            return;
        }
        let now = core.now();
        if now >= self.end {
            self.roll(core, now);
        }
        self.now = now;
        self.received = core.traffic().received;
        match *event {
            Event::Arrival { due, at } => self.arrived(due, at),
            Event::Shed { due, at } => {
                self.begin(due);
                self.end();
                self.block.failed[Measure::Response as usize].record(at.since(due));
            }
            Event::ConnConnected { conn, at } => {
                let Some(conn) = core.conn(conn) else { return };
                self.block.done[Measure::Connect as usize].record(at.since(conn.created));
                if conn.tls().is_some() {
                    self.block.done[Measure::Tls as usize].record(at.since(conn.reached));
                }
            }
            Event::CallIssued { call, .. } => {
                let Some(call) = core.call(call) else { return };
                self.block.counts.sent += 1;
                self.begin(call.due);
            }
            Event::CallRecvStop { call, at, .. } => {
                let Some(call) = core.call(call) else { return };
                self.replied(call, at);
                self.end();
            }
            Event::CallFailed { call, at, .. } => {
                let Some(call) = core.call(call) else { return };
                self.block.counts.calls_failed += 1;
                self.unanswered(call, at, true);
                self.end();
            }
            Event::CallAborted { call, at } => {
                let Some(call) = core.call(call) else { return };
                self.block.counts.calls_aborted += 1;
                self.unanswered(call, at, false);
                self.end();
            }
            Event::ConnFailed { conn, at, .. } => {
                self.block.counts.errors += 1;
                let Some(conn) = core.conn(conn) else { return };
                self.unconnected(conn, at, true, core.keeps_pool());
            }
            Event::ConnAborted { conn, at } => {
                let Some(conn) = core.conn(conn) else { return };
                self.unconnected(conn, at, false, core.keeps_pool());
            }
            _ => {}
        }
    }
}

const MEASURES: usize = Measure::ALL.len();
/// Classes of statuses: 0 (below 100) to 5.
const CLASSES: usize = 6;

/// One slice of time of one loop: counts, and what was recorded of the calls that ended in it.
#[derive(Debug)]
pub struct Block {
    /// The slice it begins in, from 0.
    first: u64,
    /// When that begins.
    start: Time,
    /// Nanoseconds from the start of the run to where it ends.
    until: Nanos,
    /// Slices just before it in which nothing happened, and the calls in flight all that time.
    silent: u64,
    silent_level: u64,
    counts: Counts,
    /// Nanoseconds times calls in flight, within the block.
    in_flight_ns: u64,
    /// What began in the slices just before and was heard of in this one, the latest first.
    back: [Back; BACK],
    /// What began before these, by its slice.
    far: BTreeMap<u64, Back>,
    done: [Recorder; MEASURES],
    classes: [Recorder; CLASSES],
    failed: [Recorder; MEASURES],
    open: [Recorder; MEASURES],
}

/// What belongs to an earlier slice.
#[derive(Clone, Copy, Debug, Default)]
struct Back {
    /// Arrivals that fell due in it.
    scheduled: u64,
    /// Calls that began in it.
    calls: u64,
    /// Nanoseconds times calls, from when they began to the end of that slice.
    in_flight_ns: u64,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            first: 0,
            start: Time(0),
            until: 0,
            silent: 0,
            silent_level: 0,
            counts: Counts::default(),
            in_flight_ns: 0,
            back: [Back::default(); BACK],
            far: BTreeMap::new(),
            done: Default::default(),
            classes: Default::default(),
            failed: Default::default(),
            open: Default::default(),
        }
    }
}

impl Block {
    /// Makes it empty again. Not for the loop: this takes some microseconds.
    pub fn clear(&mut self) {
        let recorders = self.done.iter_mut().chain(&mut self.classes).chain(&mut self.failed);
        recorders.chain(&mut self.open).for_each(Recorder::clear);
        self.back = [Back::default(); BACK];
        self.far.clear();
        self.counts = Counts::default();
        (self.silent, self.in_flight_ns) = (0, 0);
    }

    /// An empty block begins with a slice; it covers nothing yet.
    fn begin(&mut self, first: u64, start: Time) {
        (self.first, self.start, self.until) = (first, start, first * UNIT);
    }

    /// How many slices before its first one a moment lies, less one.
    fn slices_back(&self, due: Time, began: Time) -> u64 {
        let slice = due.since(began) / UNIT;
        (self.first - slice).saturating_sub(1)
    }

    /// The place of an earlier slice.
    fn earlier(&mut self, slices_back: u64) -> &mut Back {
        match self.back.get_mut(slices_back as usize) {
            Some(back) => back,
            None => self.far.entry(self.first - slices_back - 1).or_default(),
        }
    }

    /// A call began in an earlier slice.
    #[cold]
    fn begin_before(&mut self, due: Time, began: Time) {
        let slices = self.slices_back(due, began);
        let slice_ends = self.start - slices * UNIT;
        let back = self.earlier(slices);
        back.calls += 1;
        back.in_flight_ns += slice_ends.since(due);
    }

    /// Earlier slices in which something may have begun, the first of them first.
    fn earlier_slices(&self) -> impl Iterator<Item = (u64, Back)> {
        let near = self.first.min(BACK as u64);
        let near = (1..=near).rev().map(|back| (self.first - back, self.back[back as usize - 1]));
        self.far.iter().map(|(slice, back)| (*slice, *back)).chain(near)
    }

    /// The slice it begins in.
    pub(crate) fn first_unit(&self) -> u64 {
        self.first
    }

    /// The slice it ends in.
    pub(crate) fn last_unit(&self) -> u64 {
        (self.until.saturating_sub(1) / UNIT).max(self.first)
    }

    /// Nanoseconds from the start of the run to where it ends.
    pub(crate) fn until_ns(&self) -> Nanos {
        self.until
    }

    /// Its counts. What was scheduled in earlier slices is not among them.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Nanoseconds times calls in flight, slice by slice.
    pub(crate) fn in_flight(&self, mut add: impl FnMut(u64, u64)) {
        let slices = self.last_unit() - self.first + 1;
        for slice in self.first..self.first + slices {
            add(slice, self.in_flight_ns / slices);
        }
        add(self.last_unit(), self.in_flight_ns % slices);
        if self.silent_level > 0 {
            (self.first - self.silent..self.first).for_each(|slice| add(slice, self.silent_level * UNIT));
        }
        // What has begun in one slice is in flight in all of the next ones.
        let (mut calls, mut next) = (0, 0);
        for (slice, back) in self.earlier_slices() {
            if calls > 0 {
                (next..slice).for_each(|between| add(between, calls * UNIT));
            }
            if calls + back.calls > 0 {
                add(slice, calls * UNIT + back.in_flight_ns);
            }
            calls += back.calls;
            next = slice + 1;
        }
    }

    /// Arrivals that fell due in earlier slices.
    pub(crate) fn scheduled(&self, mut add: impl FnMut(u64, u64)) {
        for (slice, back) in self.earlier_slices().filter(|(_, back)| back.scheduled > 0) {
            add(slice, back.scheduled);
        }
    }

    /// All it has recorded.
    pub(crate) fn recorders(&self) -> impl Iterator<Item = (Slot, &Recorder)> {
        let classes = (0..).map(Slot::Class).zip(&self.classes);
        let of = |kind: fn(Measure) -> Slot| Measure::ALL.into_iter().map(kind);
        let done = of(Slot::Done).zip(&self.done);
        done.chain(classes).chain(of(Slot::Failed).zip(&self.failed)).chain(of(Slot::Open).zip(&self.open))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A block over some slices with one reply of status 200, and one call in flight all the time.
    pub(crate) fn block(first: u64, slices: u64, response: Nanos) -> Block {
        let mut block = Block::default();
        block.begin(first, Time(first * UNIT));
        block.until = (first + slices) * UNIT;
        block.in_flight_ns = slices * UNIT;
        block.counts.replies = 1;
        block.classes[2].record(response);
        block
    }

    /// A block with times of every kind a reply has.
    pub(crate) fn busy_block(values: &[Nanos]) -> Block {
        let mut block = Block::default();
        block.counts.replies = values.len() as u64;
        for value in values {
            block.classes[2].record(*value);
            for measure in [Measure::Service, Measure::Lag, Measure::FirstByte, Measure::Transfer] {
                block.done[measure as usize].record(*value);
            }
        }
        block
    }

    impl Block {
        /// The same in another slice.
        pub(crate) fn move_to(&mut self, slice: u64) -> &Block {
            self.begin(slice, Time(slice * UNIT));
            self.until = (slice + 1) * UNIT;
            self
        }
    }
}
