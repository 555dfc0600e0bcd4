//! What peers say: from bytes to signals to events, and the bytes that somebody wants to look at.

use std::collections::HashMap;

use httperf_wire::{Due, Machine, Signal};

use super::{Core, Events};
use crate::cause::Cause;
use crate::conn::{Call, Conn, State};
use crate::event::Event;
use crate::object::{CallId, ConnId, Slab};
use crate::request::Requests;
use crate::scenario::{Scrap, Wants};
use crate::time::Time;

/// Bytes that somebody wants.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Those of the events of this input.
    pub(super) text: Vec<u8>,
    /// Header sections that are not complete, by connection.
    sections: HashMap<ConnId, Vec<u8>>,
}

impl Heard {
    /// Keeps what is wanted of the bytes that a step used, and says where it lies.
    fn take(&mut self, id: ConnId, used: &[u8], headed: bool, signal: Option<Signal>, wants: Wants) -> Scrap {
        let from = Scrap(self.text.len() as u32);
        match signal {
            Some(Signal::Content { bytes }) => {
                if !wants.body {
                    return Scrap::NONE;
                }
                self.text.extend_from_slice(&used[used.len() - bytes as usize..]);
            }
            // A section ends with an empty line; what stood before its status line is no part of it.
            Some(Signal::Head { bytes }) => {
                if !wants.header {
                    return Scrap::NONE;
                }
                let mut section = self.sections.remove(&id).unwrap_or_default();
                section.extend_from_slice(used);
                self.text.extend_from_slice(&section[section.len().saturating_sub(bytes as usize)..]);
            }
            Some(Signal::End { .. } | Signal::Interim(_)) => self.forget(id),
            _ if wants.header && !headed && !used.is_empty() => {
                self.sections.entry(id).or_default().extend_from_slice(used);
            }
            _ => {}
        }
        from
    }

    /// The connection is gone, or what came of a section is not wanted.
    pub(super) fn forget(&mut self, id: ConnId) {
        if !self.sections.is_empty() {
            self.sections.remove(&id);
        }
    }
}

impl Core {
    /// Bytes have come.
    #[inline]
    pub(super) fn receive(&mut self, id: ConnId, bytes: &[u8]) {
        if self.scenario.wants == Wants::default() {
            self.read(id, bytes);
        } else {
            self.listen(id, bytes);
        }
    }

    /// Everything the machine makes of bytes that nobody wants to look at.
    fn read(&mut self, id: ConnId, bytes: &[u8]) {
        let at = self.now;
        let mut rest = bytes;
        'calls: loop {
            let Some(conn) = self.conns.get_mut(id).filter(|conn| conn.state == State::Open) else { return };
            let call = conn.queue.first;
            let due = due(&self.calls, &self.requests, conn);
            let mut current = self.calls.get_mut(call);
            loop {
                let step = match conn.machine.receive(rest, due, &mut self.memo) {
                    Ok(step) => step,
                    Err(fault) => return self.fault(id, fault),
                };
                rest = &rest[step.used..];
                let (Some(signal), Some(current)) = (step.signal, current.as_deref_mut()) else { return };
                if matches!(signal, Signal::Begin) && !self.limited {
                    current.first_byte = at;
                    conn.flags.receiving = true;
                } else if !hear(call, current, signal, Scrap::NONE, at, &mut self.events) {
                    self.signal(id, signal, Scrap::NONE);
                    if rest.is_empty() && matches!(signal, Signal::End { .. }) {
                        return;
                    }
                    continue 'calls;
                }
            }
        }
    }

    /// As [`read`](Core::read), and keeps what somebody wants.
    fn listen(&mut self, id: ConnId, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(conn) = self.conns.get_mut(id).filter(|conn| conn.state == State::Open) {
            let due = due(&self.calls, &self.requests, conn);
            let step = match conn.machine.receive(rest, due, &mut self.memo) {
                Ok(step) => step,
                Err(fault) => {
                    self.fault(id, fault);
                    break;
                }
            };
            let used;
            (used, rest) = rest.split_at(step.used);
            let headed = conn.flags.headed;
            if let Some(Signal::Head { .. }) = step.signal {
                conn.flags.headed = true;
            }
            let text = self.heard.take(id, used, headed, step.signal, self.scenario.wants);
            let Some(signal) = step.signal else { return };
            self.signal(id, signal, text);
            if rest.is_empty() && matches!(signal, Signal::End { .. }) {
                break;
            }
        }
    }

    /// The peer has ended its side.
    pub(super) fn finish(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let due = due(&self.calls, &self.requests, conn);
        match conn.machine.finish(due) {
            Ok(Some(signal)) => {
                self.signal(id, signal, Scrap::NONE);
                // What is behind a reply that the end of the stream completed went unannounced.
                if let Some(conn) = self.conns.get_mut(id).filter(|conn| conn.state == State::Open) {
                    conn.flags.ended = true;
                    if conn.queue.len > 0 {
                        self.fail(id, Cause::ClosedIdle, 0);
                    } else {
                        self.ended_idle(id);
                    }
                }
            }
            Ok(None) if conn.queue.len == 0 => self.ended_idle(id),
            Ok(None) => {
                let cause = conn.ended_cause();
                self.fail(id, cause, 0);
            }
            Err(fault) => self.fault(id, fault),
        }
    }

    /// One signal of the machine that concerns more than the call.
    pub(super) fn signal(&mut self, id: ConnId, signal: Signal, text: Scrap) {
        let at = self.now;
        let Some(conn) = self.conns.get_mut(id) else { return };
        let call = conn.queue.first;
        let Some(current) = self.calls.get_mut(call) else { return };
        match signal {
            Signal::Begin => {
                let first = !current.first_byte.is_set();
                current.first_byte = at;
                conn.flags.receiving = true;
                if first {
                    self.renew(id, self.scenario.deadlines.reply);
                }
            }
            Signal::Interim(status) => self.events.push(Event::Interim { conn: id, status, at }),
            Signal::Note(note) => self.events.push(Event::Noted { conn: id, note, at }),
            Signal::End { footer, last } => {
                // A reply that came before its request was written out stands, but nothing can
                // follow it: the rest of the request would be pointless, without it the next one
                // would be taken for that rest.
                let unfinished = conn.queue.unsent == call;
                conn.queue.first = current.next;
                conn.queue.len -= 1;
                conn.replies += 1;
                if let Some(session) = self.sessions.get_mut(conn.session) {
                    session.replies += 1;
                }
                conn.flags.receiving = false;
                conn.flags.headed = false;
                if conn.queue.len == 0 {
                    conn.deadline = Time::NEVER;
                } else if self.scenario.deadlines.call.is_some() {
                    self.renew(id, None);
                }
                self.events.push(Event::CallRecvStop { call, footer, at });
                if unfinished || (last && !self.scenario.rules.classic_strict) {
                    self.close_announced(id);
                }
            }
            Signal::Status(_) | Signal::Head { .. } | Signal::Content { .. } => {
                hear(call, current, signal, text, at, &mut self.events);
            }
        }
    }
}

/// One signal of the machine that concerns the call alone; `false` if it does not. Three of them for each
/// reply: out of line they cost a twentieth of everything a call costs.
#[inline(always)]
fn hear(
    call: CallId,
    current: &mut Call,
    signal: Signal,
    text: Scrap,
    at: Time,
    events: &mut Events,
) -> bool {
    match signal {
        Signal::Status(status) => {
            current.status = status;
            current.status_at = at;
            events.push(Event::CallRecvStart { call, status, at });
        }
        Signal::Head { bytes } => {
            current.header += bytes;
            events.push(Event::CallRecvHeader { call, bytes, text, at });
        }
        Signal::Content { bytes } => {
            current.content += bytes;
            events.push(Event::CallRecvData { call, bytes, text, at });
        }
        Signal::Begin | Signal::Interim(_) | Signal::Note(_) | Signal::End { .. } => return false,
    }
    true
}

/// Which reply a connection waits for: none before the first byte of a request was sent.
fn due(calls: &Slab<Call>, requests: &Requests, conn: &Conn) -> Due {
    match calls.get(conn.queue.first) {
        Some(call) if call.sent.is_set() => requests.get(call.request).due(),
        _ => Due::Nothing,
    }
}
