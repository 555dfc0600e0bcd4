//! Sessions: what all session workloads have in common.
//!
//! ```text
//!   Pace --begin--> Sessions --next burst, think time, end--> Script (wsess, wsesslog, wsesspage, wmix)
//!                      |  ^
//!     calls, by slot   |  |  replies, losses, ends of waits
//!                      v  |
//!                     Visit (one a session): waiting calls -> slots of connections -> Core
//! ```
//!
//! A [`Script`] says what the calls of a session are and when; this machinery brings them to a reply. A call
//! goes to the first connection that has room; connections are opened when one is needed and stay until the
//! session ends. What was pending on a connection that is lost is sent again on a new one, if there is hope:
//! the old one had delivered a reply, or the user wants it so (manual `--retry-on-failure`). No loop of
//! attempts is without a bound or a pause.

mod pace;
mod slot;
mod visit;

use std::fmt;

use httperf_engine::{
    CallId, ConnId, Core, Counter, Event, Nanos, Outcome, Patch, RequestId, SessionId, Time, Workload,
};

use crate::arrival::Arrivals;
use crate::cookie::Cookies;
use pace::Pace;
use slot::Ending;
use visit::{Replied, Shared, Visit};

pub use slot::Room;

/// How sessions follow each other and how their calls are carried out.
///
/// Connections go to the targets of the scenario in turn, over all shares. A request that a script names is
/// that for target 0; the one for target t has the number behind it by t.
#[derive(Clone, Debug)]
pub struct SessionPattern {
    /// Closed loop: sessions this share begins in all.
    pub sessions: u64,
    /// Open loop: when sessions are due, which says how many there are. `None`: the next one begins when one
    /// ends.
    pub arrivals: Option<Arrivals>,
    /// Closed loop: how many at a time.
    pub concurrency: u32,
    /// Connections of a session, and calls on each.
    pub room: Room,
    /// A connection is closed after each reply (HTTP/1.0).
    pub one_reply: bool,
    /// A reply of this status fails its session (manual `--failure-status`).
    pub failure_status: Option<u16>,
    /// What failed is tried again (manual `--retry-on-failure`).
    pub retry: bool,
    /// What cookies a session keeps, empty; `None`: none. The scenario must want header sections.
    pub cookies: Option<Cookies>,
}

/// What the sessions of a workload do. It is asked [`next`](Script::next) whenever a session has nothing left
/// to wait for, and told what comes.
pub trait Script {
    /// What is remembered of one session. It is used again for another one; [`begin`](Script::begin) must set
    /// all of it.
    type State: Default + fmt::Debug;

    /// Calls that find no connection with room wait for one. If not, they end the run, as in the original.
    const WAITS: bool = true;

    /// Session `number` begins: its number in the whole run, from 0, over all shares.
    fn begin(&mut self, number: u64, state: &mut Self::State);

    /// What the session does next: all its calls have their replies, the think time is over.
    fn next(&mut self, state: &mut Self::State, calls: &mut Calls<'_>) -> Next;

    /// Something was heard of the call with this token. Bytes come only if the scenario wants them.
    fn hear(&mut self, state: &mut Self::State, token: u32, heard: Heard<'_>) {
        let _ = (state, token, heard);
    }

    /// Calls that follow at once from what was heard, before the burst is over.
    fn more(&mut self, state: &mut Self::State, calls: &mut Calls<'_>) {
        let _ = (state, calls);
    }
}

/// What a session does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The calls that were [added](Calls::add), at least one.
    Burst,
    /// Nothing for so many nanoseconds.
    Think(u64),
    /// Nothing any more: it has succeeded.
    End,
    /// The run ends here: there is no call to be had (manual `--wlog`, `n`). A call that was added all the
    /// same is only begun, as in the original: a connection is opened for it, or it is sent on one that is
    /// open.
    Stop,
}

/// What is heard of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    /// The header section of its reply.
    Header(&'a [u8]),
    /// A piece of its reply's body.
    Body(&'a [u8]),
    /// The reply is complete.
    End(Answer),
    /// It is sent again: its reply starts afresh.
    Again,
    /// Its session has failed, and it has no reply.
    Lost,
}

/// The final reply to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// From the moment the call was due, in its first attempt, to the last byte.
    pub response_ns: Nanos,
    /// Its status.
    pub status: u16,
    /// Its size: header section, body, and what follows the last chunk.
    pub bytes: u64,
}

/// Takes the calls of a burst.
pub struct Calls<'a> {
    core: &'a mut Core,
    asked: &'a mut Vec<Ask>,
    /// How many there is room for, where calls do not wait.
    most: usize,
    too_many: bool,
}

impl Calls<'_> {
    /// One more call: a request of the scenario, with a URI of its own if there is one, and a token for
    /// [`Script::hear`]. `false`: there is no room, the run will end.
    pub fn add(&mut self, of: RequestId, uri: Option<&[u8]>, token: u32) -> bool {
        if self.asked.len() >= self.most {
            self.too_many = true;
            return false;
        }
        let request = match uri {
            Some(_) => self.core.patch(of, Patch { uri, fields: b"" }),
            None => of,
        };
        self.asked.push(Ask { of, request, token });
        true
    }

    /// None of these calls.
    pub fn clear(&mut self) {
        self.asked.drain(..).for_each(|ask| self.core.release(ask.request));
    }
}

/// A call that a script has asked for.
#[derive(Clone, Copy, Debug)]
struct Ask {
    /// The request of the scenario that it was made from.
    of: RequestId,
    /// With its URI; to be released.
    request: RequestId,
    token: u32,
}

/// A session had more calls than its connections hold, in a workload whose calls do not wait. The run was
/// ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyCalls;

/// The text of the original, without the name of the program and the dot behind it.
impl fmt::Display for TooManyCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("session_issue_call: too many calls pending!\n\tIncrease --max-connections and/or --max-piped-calls.")
    }
}

impl std::error::Error for TooManyCalls {}

/// A session workload.
#[derive(Debug)]
pub struct Sessions<S: Script> {
    script: S,
    pace: Pace,
    shared: Shared,
    /// By the slot of the session's id; used again.
    visits: Vec<Visit<S::State>>,
    /// What a script has asked for; empty in between.
    asked: Vec<Ask>,
    error: Option<TooManyCalls>,
}

/// The wake for the next arrival; all others carry the id of a session.
fn next_arrival() -> u64 {
    SessionId::NONE.to_bits()
}

impl<S: Script> Sessions<S> {
    /// The workload for this pattern, in which each session follows the script.
    pub fn new(pattern: SessionPattern, script: S) -> Self {
        Self {
            script,
            pace: Pace::new(pattern.sessions, pattern.arrivals.clone(), pattern.concurrency),
            shared: Shared::new(pattern),
            visits: Vec::new(),
            asked: Vec::new(),
            error: None,
        }
    }

    /// Why the workload ended the run, if that was not its proper end.
    pub fn error(&self) -> Option<TooManyCalls> {
        self.error
    }

    /// Cookies that were cut or had no place so far (the original warns of each).
    pub fn cookies_cut(&self) -> u64 {
        self.shared.cookies_cut
    }

    /// The script, with what it remembers of all sessions.
    pub fn script(&self) -> &S {
        &self.script
    }

    /// A session begins.
    fn begin(&mut self, due: Time, core: &mut Core) {
        let share = core.scenario().share;
        let number = u64::from(share.index) + self.pace.begin() * u64::from(share.of);
        core.arrive(due);
        let id = core.begin_session(due, number as u32);
        if self.visits.len() <= id.index() {
            self.visits.resize_with(id.index() + 1, Visit::default);
        }
        let visit = &mut self.visits[id.index()];
        visit.begin(id, self.shared.cookies());
        self.script.begin(number, &mut visit.state);
        self.proceed(id, due, core);
    }

    /// If there is nothing left to wait for, what comes next. `due` is since when.
    fn proceed(&mut self, id: SessionId, mut due: Time, core: &mut Core) {
        loop {
            let Some(visit) = going(&mut self.visits, id) else { return };
            if visit.is_busy() {
                return;
            }
            let most = if S::WAITS { usize::MAX } else { self.shared.pattern.room.calls() };
            let mut calls = Calls { core, asked: &mut self.asked, most, too_many: false };
            let next = self.script.next(&mut visit.state, &mut calls);
            if calls.too_many {
                self.error = Some(TooManyCalls);
                visit.open_all(&mut self.shared, core);
                return core.stop();
            }
            match next {
                Next::Burst => visit.add(&mut self.asked, due, &mut self.shared, core),
                Next::Think(0) => {}
                Next::Think(nanos) => {
                    due = due + nanos;
                    visit.think(due, core);
                }
                Next::End => return self.end(id, Outcome::Succeeded, core),
                Next::Stop => {
                    visit.add(&mut self.asked, due, &mut self.shared, core);
                    return core.stop();
                }
            }
        }
    }

    /// The session is over; what it has pending is dropped, what it has open is closed.
    fn end(&mut self, id: SessionId, outcome: Outcome, core: &mut Core) {
        let Self { script, visits, .. } = self;
        if let Some(visit) = going(visits, id) {
            visit.end(|state, token| script.hear(state, token, Heard::Lost), core);
            core.end_session(id, outcome);
        }
    }

    /// Something was heard of a call; it may call for more calls.
    fn heard(&mut self, id: SessionId, token: u32, heard: Heard<'_>) {
        if let Some(visit) = going(&mut self.visits, id) {
            self.script.hear(&mut visit.state, token, heard);
        }
    }

    /// Calls that follow from what was heard.
    fn add_more(&mut self, id: SessionId, core: &mut Core) {
        let Some(visit) = going(&mut self.visits, id) else { return };
        let room = self.shared.pattern.room.calls().saturating_sub(visit.calls());
        let most = if S::WAITS { usize::MAX } else { room };
        let mut calls = Calls { core, asked: &mut self.asked, most, too_many: false };
        self.script.more(&mut visit.state, &mut calls);
        if calls.too_many {
            self.error = Some(TooManyCalls);
            return core.stop();
        }
        let now = core.now();
        if !self.asked.is_empty() {
            visit.add(&mut self.asked, now, &mut self.shared, core);
        }
    }

    fn replied(&mut self, call: CallId, footer: u32, at: Time, core: &mut Core) {
        let Some((id, token)) = owner(call, core) else { return };
        let Some(visit) = going(&mut self.visits, id) else { return };
        let (replied, leaving) = visit.replied(call, at, &mut self.shared, core);
        match replied {
            Replied::Done { due } => {
                let Some(reply) = core.call(call) else { return };
                self.heard(
                    id,
                    token,
                    Heard::End(Answer {
                        response_ns: at.since(due),
                        status: reply.status,
                        bytes: u64::from(reply.header) + reply.content + u64::from(footer),
                    }),
                );
            }
            Replied::Again => self.heard(id, token, Heard::Again),
            Replied::Failed => self.end(id, Outcome::Failed, core),
        }
        self.add_more(id, core);
        if !core.is_stopping() {
            self.proceed(id, at, core);
        }
        core.close(leaving);
    }

    fn conn_ended(&mut self, conn: ConnId, core: &mut Core) {
        let Some((id, slot)) = place(conn, core) else { return };
        let Some(visit) = going(&mut self.visits, id) else { return };
        if visit.lost(conn, slot, &mut self.shared, core) == Ending::Hopeless {
            self.end(id, Outcome::Failed, core);
        }
    }

    fn wake(&mut self, id: SessionId, core: &mut Core) {
        let Some(visit) = going(&mut self.visits, id) else { return };
        if let Some(due) = visit.wake(&mut self.shared, core) {
            self.proceed(id, due, core);
        }
    }
}

/// The visit of a session that is going on.
fn going<S>(visits: &mut [Visit<S>], id: SessionId) -> Option<&mut Visit<S>> {
    visits.get_mut(id.index()).filter(|visit| visit.id == id)
}

/// The session a call belongs to, and what the script calls it.
fn owner(call: CallId, core: &Core) -> Option<(SessionId, u32)> {
    let call = core.call(call)?;
    Some((core.conn(call.conn)?.session, call.token))
}

/// Whose connection it is, and in which slot.
fn place(conn: ConnId, core: &Core) -> Option<(SessionId, usize)> {
    core.conn(conn).map(|conn| (conn.session, conn.token as usize))
}

impl<S: Script> Workload for Sessions<S> {
    fn start(&mut self, core: &mut Core) {
        self.pace.await_arrival(next_arrival(), core);
        if self.pace.is_over() {
            return core.stop();
        }
        for _ in 0..self.pace.at_once() {
            self.begin(core.began_at(), core);
            if core.is_stopping() {
                return;
            }
        }
    }

    fn on(&mut self, event: &Event, core: &mut Core) {
        if core.is_stopping() {
            return;
        }
        match *event {
            Event::Wake { token, due, .. } if token == next_arrival() => {
                self.begin(due, core);
                if !core.is_stopping() {
                    self.pace.await_arrival(next_arrival(), core);
                }
            }
            Event::Wake { token, .. } => self.wake(SessionId::from_bits(token), core),
            Event::ConnConnected { conn, .. } => {
                let Some((id, slot)) = place(conn, core) else { return };
                if let Some(visit) = going(&mut self.visits, id) {
                    visit.connected(conn, slot, &mut self.shared, core);
                }
            }
            Event::CallRecvHeader { call, text, bytes, .. } => {
                let Some((id, token)) = owner(call, core) else { return };
                let text = core.text(text, bytes.into());
                if text.is_empty() {
                    return;
                }
                if let Some(visit) = going(&mut self.visits, id) {
                    self.shared.cookies_cut += visit.see(text);
                    self.script.hear(&mut visit.state, token, Heard::Header(text));
                }
                self.add_more(id, core);
            }
            Event::CallRecvData { call, text, bytes, .. } => {
                let text = core.text(text, bytes);
                let Some((id, token)) = owner(call, core).filter(|_| !text.is_empty()) else { return };
                self.heard(id, token, Heard::Body(text));
                self.add_more(id, core);
            }
            Event::CallRecvStop { call, footer, at } => self.replied(call, footer, at, core),
            Event::CallFailed { call, .. } | Event::CallAborted { call, .. } => {
                let Some((id, token)) = owner(call, core) else { return };
                if going(&mut self.visits, id).is_some_and(|visit| visit.failed(call, core)) {
                    self.heard(id, token, Heard::Again);
                }
            }
            Event::ConnFailed { conn, cause, .. } => {
                let Some((id, slot)) = place(conn, core) else { return };
                if let Some(visit) = going(&mut self.visits, id) {
                    visit.broken(conn, slot, cause.counter() == Counter::ClientTimo);
                }
            }
            Event::ConnClosed { conn, .. } => self.conn_ended(conn, core),
            Event::SessionEnded { session, at, .. } => {
                if self.pace.end() {
                    core.stop();
                } else if self.pace.follows() {
                    self.begin(at, core);
                }
                // The last connection goes after the next one has begun, as in the original: there they
                // overlap.
                if let Some(visit) = self.visits.get_mut(session.index()) {
                    visit.close(core);
                }
            }
            _ => {}
        }
    }

    fn not_started(&self, began: Time, end: Time) -> u64 {
        self.pace.not_started(began, end)
    }
}
