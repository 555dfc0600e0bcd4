//! Sessions of a mix: each follows the draws of its number (`--wmix`).
//!
//! ```text
//!   call .. reply, think, call .. reply, and so on: classes, URIs and think times from MixSession
//!     |         |
//!     +-- news -+--> whoever grades the calls
//! ```
//!
//! What a user waited for is a call, however many attempts it took, and whether or not there ever was a
//! connection for it. No event says that, so the script tells.

use std::fmt;
use std::sync::Arc;

use httperf_engine::RequestId;

use crate::mix::{Mix, MixSession};
use crate::session::{Answer, Calls, Heard, Next, Script};

/// What the sessions do.
#[derive(Clone, Debug)]
pub struct WmixSpec {
    /// The file.
    pub mix: Arc<Mix>,
    /// With the number of a session it decides all its draws.
    pub seed: u64,
    /// The request of each class of the mix; each call has its own URI in it.
    pub requests: Arc<[RequestId]>,
}

/// What becomes of a call. Each is told of when it begins, and once more when it is over; those that are
/// going on when the run ends are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WmixNews {
    /// It has begun.
    Called,
    /// It has its reply.
    Answered(Answer),
    /// Its session has failed, and it has no reply.
    Lost,
}

/// The script; `tell` hears of each call by its class, an index into [`Mix::classes`].
pub struct Wmix<T> {
    spec: WmixSpec,
    tell: T,
    /// A URI on its way into a request.
    uri: Vec<u8>,
}

/// How far a session has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Its draws; `None` before the first use of the place.
    session: Option<MixSession>,
    /// The pause before the next call, if it has not been taken.
    think_ns: Option<u64>,
}

impl<T: FnMut(u16, WmixNews)> Wmix<T> {
    /// The script for this.
    pub fn new(spec: WmixSpec, tell: T) -> Self {
        Self { spec, tell, uri: Vec::new() }
    }
}

impl<T> fmt::Debug for Wmix<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl<T: FnMut(u16, WmixNews)> Script for Wmix<T> {
    type State = Progress;

    fn begin(&mut self, number: u64, state: &mut Progress) {
        let session = MixSession::new(&self.spec.mix, self.spec.seed, number);
        *state = Progress { session: Some(session), think_ns: None };
    }

    fn next(&mut self, state: &mut Progress, calls: &mut Calls<'_>) -> Next {
        if let Some(think_ns) = state.think_ns.take() {
            return Next::Think(think_ns);
        }
        let Self { spec, tell, uri } = self;
        let Some(call) = state.session.as_mut().and_then(|session| session.next(&spec.mix, uri)) else {
            return Next::End;
        };
        let Some(request) = spec.requests.get(usize::from(call.class)) else { return Next::Stop };
        state.think_ns = (!call.last).then_some(call.think_ns);
        tell(call.class, WmixNews::Called);
        calls.add(*request, Some(uri), u32::from(call.class));
        Next::Burst
    }

    fn hear(&mut self, _: &mut Progress, token: u32, heard: Heard<'_>) {
        match heard {
            Heard::End(answer) => (self.tell)(token as u16, WmixNews::Answered(answer)),
            Heard::Lost => (self.tell)(token as u16, WmixNews::Lost),
            Heard::Header(_) | Heard::Body(_) | Heard::Again => {}
        }
    }
}
