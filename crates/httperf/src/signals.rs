//! Signals: SIGINT, SIGTERM and SIGHUP end the loops, whatever they are waiting for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::JoinHandle;

use httperf_engine::{Stop, StopHandle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Listens until it is dropped.
pub(crate) struct Listener {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    first: Arc<AtomicI32>,
}

impl Listener {
    /// Ends the run of these loops at the first signal. Handlers are in place when this returns.
    pub(crate) fn start(loops: Vec<StopHandle>) -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let first = Arc::new(AtomicI32::new(0));
        let seen = first.clone();
        let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                let _ = seen.compare_exchange(0, signal, Ordering::AcqRel, Ordering::Acquire);
                let why = if signal == SIGINT { Stop::Interrupted } else { Stop::Terminated };
                loops.iter().for_each(|each| each.stop(why));
            }
        })?;
        Ok(Self { handle, thread: Some(thread), first })
    }

    /// The number of the first signal; 0 if there was none.
    pub(crate) fn first(&self) -> i32 {
        self.first.load(Ordering::Acquire)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Ends this process by a signal's default action, so that its parent sees how it ended. Returns only if that
/// fails.
pub fn die_by(signal: i32) {
    // When even that fails the caller's exit status says it.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}
