//! Sessions from a file: each follows one of its templates (manual `--wsesslog`).

use std::sync::Arc;

use httperf_engine::{Nanos, RequestId};

use crate::session::{Calls, Next, Script};

/// What one session does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSession {
    /// One burst after the other.
    pub bursts: Vec<LogBurst>,
}

/// Calls that belong together: the first alone, after its reply all others at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogBurst {
    /// Their requests.
    pub calls: Vec<RequestId>,
    /// From the last reply to the next burst, in nanoseconds.
    pub think: Nanos,
}

/// The script.
#[derive(Clone, Debug)]
pub struct Wsesslog {
    sessions: Arc<[LogSession]>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    session: usize,
    burst: usize,
    stage: Stage,
}

/// What comes next in a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    First,
    Rest,
    Think,
}

impl Wsesslog {
    /// Sessions take these in turn, from the first on.
    pub fn new(sessions: Arc<[LogSession]>) -> Self {
        Self { sessions }
    }
}

impl Script for Wsesslog {
    type State = Progress;

    fn begin(&mut self, number: u64, state: &mut Progress) {
        let session = number.checked_rem(self.sessions.len() as u64).unwrap_or(0);
        *state = Progress { session: session as usize, ..Progress::default() };
    }

    fn next(&mut self, state: &mut Progress, calls: &mut Calls<'_>) -> Next {
        let Some(session) = self.sessions.get(state.session) else { return Next::End };
        while let Some(burst) = session.bursts.get(state.burst) {
            let (stage, some) = match state.stage {
                Stage::First => (Stage::Rest, burst.calls.get(..1)),
                Stage::Rest => (Stage::Think, burst.calls.get(1..)),
                Stage::Think => {
                    (state.stage, state.burst) = (Stage::First, state.burst + 1);
                    if state.burst == session.bursts.len() {
                        break;
                    }
                    return Next::Think(burst.think);
                }
            };
            state.stage = stage;
            let some = some.unwrap_or_default();
            some.iter().all(|request| calls.add(*request, None, 0));
            if !some.is_empty() {
                return Next::Burst;
            }
        }
        Next::End
    }
}
