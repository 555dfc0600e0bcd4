//! Signals: before a run SIGINT, SIGTERM and SIGHUP end the program. During a run the first of them ends the
//! run, whatever its loops are waiting for, and the second one the program, whatever its report is waiting
//! for. SIGUSR1 asks for a snapshot of a run, and otherwise does nothing.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use httperf_engine::{Stop, StopHandle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::{Handle, Signals as Incoming};

/// How long the report has from the second signal on.
const PATIENCE: Duration = Duration::from_secs(1);

/// Listens until it is dropped.
#[derive(Debug)]
pub struct Signals {
    handle: Handle,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The run's loops, once there is one.
    loops: Option<Vec<StopHandle>>,
    /// The first signal during the run; 0 if there was none.
    first: i32,
    /// Whether there was a second one.
    repeated: bool,
    /// A file that must not be left behind.
    partial: Option<PathBuf>,
}

impl Signals {
    /// Handlers are in place when this returns.
    ///
    /// # Errors
    /// When the system refuses a thread or the descriptors it needs.
    pub fn listen() -> io::Result<Self> {
        let mut incoming = Incoming::new([SIGINT, SIGTERM, SIGHUP, SIGUSR1])?;
        let handle = incoming.handle();
        let state = Arc::new(Mutex::new(State::default()));
        let theirs = state.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in incoming.forever() {
                take(signal, &theirs);
            }
        })?;
        Ok(Self { handle, state })
    }

    /// A file that is removed when a signal ends the program.
    pub fn remove_at_end(&self, partial: PathBuf) {
        lock(&self.state).partial = Some(partial);
    }

    /// The first signal ends the run of these loops.
    pub(crate) fn govern(&self, loops: Vec<StopHandle>) {
        lock(&self.state).loops = Some(loops);
    }

    /// The number of the first signal during the run; 0 if there was none.
    pub fn first(&self) -> i32 {
        lock(&self.state).first
    }

    /// Whether there was a second signal.
    pub fn repeated(&self) -> bool {
        lock(&self.state).repeated
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take(signal: i32, state: &Mutex<State>) {
    let mut now = lock(state);
    if signal == SIGUSR1 {
        now.loops.iter().flatten().for_each(StopHandle::snapshot);
        return;
    }
    let running = now.loops.is_some();
    match &now.loops {
        Some(loops) if now.first == 0 => {
            let why = if signal == SIGINT { Stop::Interrupted } else { Stop::Terminated };
            loops.iter().for_each(|each| each.stop(why));
            now.first = signal;
            return;
        }
        _ => now.repeated = true,
    }
    if running {
        drop(now);
        std::thread::sleep(PATIENCE);
        now = lock(state);
    }
    if let Some(partial) = &now.partial {
        // It may be there no more, or not yet.
        let _ = std::fs::remove_file(partial);
    }
    if running && signal == SIGINT {
        std::process::exit(128 + SIGINT);
    }
    die_by(signal);
}

/// Ends this process by a signal's default action, so that its parent sees how it ended. Returns only if that
/// fails.
pub fn die_by(signal: i32) {
    // When even that fails the caller's exit status says it.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}
