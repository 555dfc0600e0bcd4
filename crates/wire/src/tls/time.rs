//! The time of day as TLS sees it, where somebody else has the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

/// A time of day that stands still until it is set: for simulations and tests. Clones show the same time.
#[derive(Clone, Debug)]
pub struct TlsTime(Arc<AtomicU64>);

impl TlsTime {
    /// So many seconds after 1970-01-01 00:00 UTC.
    #[must_use]
    pub fn at(seconds: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seconds)))
    }

    /// Sets it for all clones.
    pub fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::Relaxed);
    }
}

impl TimeProvider for TlsTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(self.0.load(Ordering::Relaxed))))
    }
}
