//! The session workload: bursts of calls with think times between them (manual `--wsess`).
//!
//! ```text
//!   call 1 .. reply, calls 2 to L at once .. replies, think X, call L + 1 .. and so on, N2 calls in all
//! ```

use httperf_engine::{Nanos, RequestId};

use crate::session::{Calls, Next, Script};
use crate::uri::Uris;

/// What each session does.
#[derive(Clone, Debug)]
pub struct WsessSpec {
    /// Calls of a session; 0 acts as 1.
    pub calls: u32,
    /// Calls of a burst, at least 1: the first alone, the others after its reply. The last burst may be
    /// shorter.
    pub burst: u32,
    /// From the last reply of a burst to the next burst, in nanoseconds.
    pub think: Nanos,
    /// The request of every call.
    pub request: RequestId,
    /// Where each call's URI comes from; `None` leaves that of the request.
    pub uris: Option<Uris>,
}

/// The script.
#[derive(Debug)]
pub struct Wsess {
    spec: WsessSpec,
    /// A URI on its way into a request.
    uri: Vec<u8>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Calls still to be made.
    left: u32,
    /// Of these, calls of the burst at hand.
    rest: u32,
    /// The next burst may begin.
    ready: bool,
}

impl Wsess {
    /// The script for this.
    pub fn new(spec: WsessSpec) -> Self {
        Self { spec, uri: Vec::new() }
    }

    /// Asks for the next call; `None`: there is no URI for it, so it asks for the first one again.
    fn call(&mut self, calls: &mut Calls<'_>) -> Option<bool> {
        let Some(uris) = &mut self.spec.uris else { return Some(calls.add(self.spec.request, None, 0)) };
        self.uri.clear();
        let is_there = uris.next(&mut self.uri);
        let added = calls.add(self.spec.request, Some(&self.uri), 0);
        is_there.then_some(added)
    }
}

impl Script for Wsess {
    type State = Progress;

    const WAITS: bool = false;

    fn begin(&mut self, _: u64, state: &mut Progress) {
        *state = Progress { left: self.spec.calls.max(1), rest: 0, ready: true };
    }

    fn next(&mut self, state: &mut Progress, calls: &mut Calls<'_>) -> Next {
        if state.left == 0 {
            return Next::End;
        }
        if state.rest == 0 && !std::mem::replace(&mut state.ready, true) {
            return Next::Think(self.spec.think);
        }
        let count = if state.rest > 0 {
            std::mem::take(&mut state.rest)
        } else {
            state.rest = self.spec.burst.min(state.left).saturating_sub(1);
            1
        };
        state.left -= count;
        state.ready = state.rest > 0;
        for _ in 0..count {
            match self.call(calls) {
                Some(true) => {}
                Some(false) => break,
                None => {
                    // Of a burst the original begins nothing any more.
                    if count > 1 {
                        calls.clear();
                    }
                    return Next::Stop;
                }
            }
        }
        Next::Burst
    }
}
