//! One session that is going on: its calls, from waiting to replied, and the slots they go through.

use std::collections::VecDeque;

use httperf_engine::{Again, CallId, ConnId, Core, Patch, RequestId, SessionId, Time};

use super::slot::{ATTEMPTS, Broken, Ending, Slot, Stage, back_off};
use super::{Ask, SessionPattern};
use crate::cookie::Cookies;

/// What all sessions of a loop share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) pattern: SessionPattern,
    pub(super) cookies_cut: u64,
    /// Connections opened so far: they go to the targets in turn.
    opened: u64,
    /// A URI and a field line on their way into a request.
    uri: Vec<u8>,
    field: Vec<u8>,
}

impl Shared {
    pub(super) fn new(pattern: SessionPattern) -> Self {
        Self { pattern, cookies_cut: 0, opened: 0, uri: Vec::new(), field: Vec::new() }
    }

    /// An empty place for cookies, if any are kept.
    pub(super) fn cookies(&self) -> Option<&Cookies> {
        self.pattern.cookies.as_ref()
    }

    /// The target of the next connection. Shares count on from each other, so that together they serve all
    /// targets alike.
    fn target(&mut self, core: &Core) -> u32 {
        let scenario = core.scenario();
        let number = u64::from(scenario.share.index) + self.opened * u64::from(scenario.share.of);
        self.opened += 1;
        (number % scenario.targets.len() as u64) as u32
    }
}

/// A session, its buffers used again for others.
#[derive(Debug)]
pub(super) struct Visit<S> {
    /// `NONE` when it is over.
    pub(super) id: SessionId,
    pub(super) state: S,
    slots: Vec<Slot>,
    /// Calls that have a slot, in the order in which they got it.
    placed: Vec<Pending>,
    /// Calls that have none.
    waiting: VecDeque<Pending>,
    /// When the think time is over; `NEVER` outside of one.
    thinks_until: Time,
    cookies: Option<Cookies>,
}

/// A call without a final reply.
#[derive(Clone, Copy, Debug)]
struct Pending {
    ask: Ask,
    /// When it was due first.
    asked: Time,
    /// When the attempt at hand was.
    due: Time,
    /// It does not get a slot before that.
    not_before: Time,
    slot: usize,
    /// Its current attempt, once that is issued.
    call: CallId,
    again: Option<Again>,
    /// Replies of the failure status so far.
    refused: u32,
    /// The request as it goes to one target, cookies included; to be released if it is another one.
    dressed: Option<(u32, RequestId)>,
}

impl Pending {
    /// Its requests are needed no longer.
    fn release(&self, core: &mut Core) {
        core.release(self.ask.request);
        self.undress(core);
    }

    fn undress(&self, core: &mut Core) {
        if let Some((_, dressed)) = self.dressed.filter(|(_, dressed)| *dressed != self.ask.request) {
            core.release(dressed);
        }
    }

    /// The request as it goes to a target. It stays what it was first, as long as the target does.
    fn dress(
        &mut self,
        target: u32,
        cookies: Option<&Cookies>,
        shared: &mut Shared,
        core: &mut Core,
    ) -> RequestId {
        if let Some((_, request)) = self.dressed.filter(|(known, _)| *known == target) {
            return request;
        }
        let Ask { of, request, .. } = self.ask;
        shared.field.clear();
        if let Some(cookies) = cookies {
            cookies.render(&mut shared.field);
        }
        let of_target = RequestId(of.0 + target);
        let own_uri = request != of;
        let dressed = if !shared.field.is_empty() || (own_uri && target > 0) {
            shared.uri.clear();
            shared.uri.extend_from_slice(core.request(request).uri());
            let uri = own_uri.then_some(shared.uri.as_slice());
            core.patch(of_target, Patch { uri, fields: &shared.field })
        } else if own_uri {
            request
        } else {
            of_target
        };
        self.undress(core);
        self.dressed = Some((target, dressed));
        dressed
    }
}

/// What a reply means for its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replied {
    Done {
        /// When the call was due first.
        due: Time,
    },
    /// The call has to be made again.
    Again,
    /// The session has failed.
    Failed,
}

impl<S: Default> Default for Visit<S> {
    fn default() -> Self {
        Self {
            id: SessionId::NONE,
            state: S::default(),
            slots: Vec::new(),
            placed: Vec::new(),
            waiting: VecDeque::new(),
            thinks_until: Time::NEVER,
            cookies: None,
        }
    }
}

impl<S> Visit<S> {
    /// It begins; the place may have been that of another session.
    pub(super) fn begin(&mut self, id: SessionId, cookies: Option<&Cookies>) {
        self.id = id;
        self.thinks_until = Time::NEVER;
        match &mut self.cookies {
            Some(cookies) => cookies.clear(),
            None => self.cookies = cookies.cloned(),
        }
    }

    /// It is over. One connection stays for [`close`](Visit::close). Calls without a final reply are `lost`,
    /// by their tokens.
    pub(super) fn end(&mut self, mut lost: impl FnMut(&mut S, u32), core: &mut Core) {
        self.id = SessionId::NONE;
        self.slots.retain(|slot| !slot.conn.is_none());
        for slot in self.slots.drain(..self.slots.len().saturating_sub(1)) {
            core.close(slot.conn);
        }
        for call in self.placed.drain(..).chain(self.waiting.drain(..)) {
            call.release(core);
            lost(&mut self.state, call.ask.token);
        }
    }

    /// Closes what it still has open.
    pub(super) fn close(&mut self, core: &mut Core) {
        for slot in self.slots.drain(..) {
            core.close(slot.conn);
        }
    }

    /// Opens the connections that it may have and has not, as the original does before it finds that they are
    /// too few.
    pub(super) fn open_all(&mut self, shared: &mut Shared, core: &mut Core) {
        for _ in self.slots.len()..shared.pattern.room.conns as usize {
            self.slots.push(Slot::default());
            self.open(self.slots.len() - 1, core.now(), shared, core);
        }
    }

    /// Whether it has something to wait for.
    pub(super) fn is_busy(&self) -> bool {
        self.calls() > 0 || self.thinks_until.is_set()
    }

    /// Calls without a final reply.
    pub(super) fn calls(&self) -> usize {
        self.placed.len() + self.waiting.len()
    }

    pub(super) fn think(&mut self, until: Time, core: &mut Core) {
        self.thinks_until = until;
        core.schedule(until, self.id.to_bits());
    }

    /// Takes the cookies out of a header section; how many were cut or had no place.
    pub(super) fn see(&mut self, header: &[u8]) -> u64 {
        self.cookies.as_mut().map_or(0, |cookies| cookies.see(header) as u64)
    }

    /// New calls, which may begin at `due`.
    pub(super) fn add(&mut self, asked: &mut Vec<Ask>, due: Time, shared: &mut Shared, core: &mut Core) {
        self.waiting.extend(asked.drain(..).map(|ask| Pending {
            ask,
            asked: due,
            due,
            not_before: due,
            slot: 0,
            call: CallId::NONE,
            again: None,
            refused: 0,
            dressed: None,
        }));
        self.place(shared, core);
    }

    /// Moments it asked to be woken for may have come. The end of its think time, if that has.
    pub(super) fn wake(&mut self, shared: &mut Shared, core: &mut Core) -> Option<Time> {
        let now = core.now();
        for slot in 0..self.slots.len() {
            if let Stage::Paused(until) = self.slots[slot].stage
                && until <= now
            {
                self.open(slot, until, shared, core);
            }
        }
        self.place(shared, core);
        if self.thinks_until > now {
            return None;
        }
        Some(std::mem::replace(&mut self.thinks_until, Time::NEVER))
    }

    /// A connection can carry calls.
    pub(super) fn connected(&mut self, conn: ConnId, slot: usize, shared: &mut Shared, core: &mut Core) {
        let Some(it) = self.slots.get_mut(slot).filter(|slot| slot.conn == conn) else { return };
        it.stage = Stage::Open;
        for call in 0..self.placed.len() {
            if self.placed[call].slot == slot {
                self.issue(call, shared, core);
            }
        }
    }

    /// A reply is complete.
    pub(super) fn replied(
        &mut self,
        call: CallId,
        at: Time,
        shared: &mut Shared,
        core: &mut Core,
    ) -> (Replied, ConnId) {
        let Some(index) = self.placed.iter().position(|pending| pending.call == call) else {
            return (Replied::Done { due: at }, ConnId::NONE);
        };
        let mut pending = self.placed.remove(index);
        self.slots[pending.slot].pending -= 1;
        self.slots[pending.slot].lost = 0;
        let SessionPattern { failure_status, retry, one_reply, .. } = shared.pattern;
        let (status, again) = core.call(call).map_or((0, None), |call| {
            (call.status, Some(Again { header_bytes: call.header, ..call.again() }))
        });
        let mut replied = Replied::Done { due: pending.asked };
        if failure_status == Some(status) {
            pending.refused += 1;
            replied = Replied::Again;
            if !retry || pending.refused >= ATTEMPTS {
                // For `end`, with whatever else has no final reply.
                self.waiting.push_front(pending);
                return (Replied::Failed, ConnId::NONE);
            }
        } else {
            pending.release(core);
        }
        let mut leaving = ConnId::NONE;
        if one_reply {
            let slot = &mut self.slots[pending.slot];
            leaving = slot.conn;
            // Calls behind it move to another connection when this one is gone, new ones need not wait for
            // that.
            if slot.pending == 0 {
                slot.clear();
            }
        }
        if replied == Replied::Again {
            // The first time at once, as the original does each time.
            let pause = if pending.refused > 1 { back_off(pending.refused - 1) } else { 0 };
            (pending.call, pending.again) = (CallId::NONE, again);
            (pending.due, pending.not_before) = (at + pause, at + pause);
            if pause > 0 {
                core.schedule(at + pause, self.id.to_bits());
            }
            self.waiting.push_front(pending);
        }
        self.place(shared, core);
        (replied, leaving)
    }

    /// There will be no reply to an attempt; whether that was one of a call that is still wanted.
    pub(super) fn failed(&mut self, call: CallId, core: &Core) -> bool {
        let Some(pending) = self.placed.iter_mut().find(|pending| pending.call == call) else { return false };
        pending.call = CallId::NONE;
        pending.again = core.call(call).map(httperf_engine::Call::again);
        true
    }

    /// A connection has failed; it is about to be closed.
    pub(super) fn broken(&mut self, conn: ConnId, slot: usize, timed_out: bool) {
        if let Some(slot) = self.slots.get_mut(slot).filter(|slot| slot.conn == conn) {
            slot.broken = Some(if timed_out { Broken::TimedOut } else { Broken::Lost });
        }
    }

    /// A connection is gone.
    pub(super) fn lost(&mut self, conn: ConnId, slot: usize, shared: &mut Shared, core: &mut Core) -> Ending {
        let Some(it) = self.slots.get_mut(slot).filter(|slot| slot.conn == conn) else { return Ending::Goes };
        let broken = it.broken;
        it.clear();
        let now = core.now();
        let productive = core.conn(conn).is_some_and(|conn| conn.replies > 0);
        match broken {
            Some(Broken::TimedOut) => return Ending::Hopeless,
            _ if it.pending == 0 => {}
            Some(Broken::Lost) if !productive => {
                it.lost += 1;
                if !shared.pattern.retry || it.lost >= ATTEMPTS {
                    return Ending::Hopeless;
                }
                let until = now + back_off(it.lost);
                it.stage = Stage::Paused(until);
                core.schedule(until, self.id.to_bits());
            }
            // Lost after a reply, or its end was announced.
            _ => self.open(slot, now, shared, core),
        }
        Ending::Goes
    }

    /// Gives waiting calls a slot, as long as there is room.
    fn place(&mut self, shared: &mut Shared, core: &mut Core) {
        let now = core.now();
        let mut next = 0;
        while let Some(call) = self.waiting.get(next) {
            if call.not_before > now {
                next += 1;
                continue;
            }
            let Some(slot) = self.room(&shared.pattern) else { return };
            let Some(mut call) = self.waiting.remove(next) else { return };
            call.slot = slot;
            self.slots[slot].pending += 1;
            self.placed.push(call);
            match self.slots[slot].stage {
                Stage::Empty => self.open(slot, call.due, shared, core),
                Stage::Open => self.issue(self.placed.len() - 1, shared, core),
                Stage::Paused(_) | Stage::Connecting => {}
            }
        }
    }

    /// The first slot that takes another call.
    fn room(&mut self, pattern: &SessionPattern) -> Option<usize> {
        let free = self.slots.iter().position(|slot| slot.pending < pattern.room.piped);
        if free.is_none() && self.slots.len() < pattern.room.conns as usize {
            self.slots.push(Slot::default());
            return Some(self.slots.len() - 1);
        }
        free
    }

    fn open(&mut self, slot: usize, due: Time, shared: &mut Shared, core: &mut Core) {
        let target = shared.target(core);
        let it = &mut self.slots[slot];
        it.stage = Stage::Connecting;
        it.conn = core.connect_in(self.id, target, due, slot as u32);
    }

    /// Gives a call to its connection.
    fn issue(&mut self, index: usize, shared: &mut Shared, core: &mut Core) {
        let call = &mut self.placed[index];
        let conn = self.slots[call.slot].conn;
        let target = core.conn(conn).map_or(0, |conn| conn.target);
        let request = call.dress(target, self.cookies.as_ref(), shared, core);
        // On a connection that is gone the call stays pending: the event that says why will move it.
        if let Ok(id) = core.issue_again(conn, request, call.due, call.ask.token, call.again) {
            call.call = id;
        }
    }
}
