//! Waiting to the microsecond.
//!
//! tokio rounds its timers up to the next millisecond, which is the size of the very delays a
//! truth test measures. So all waits of a server share one `timerfd` in the runtime's own epoll
//! set, armed for the earliest of them: the kernel fires it from a high-resolution timer, without
//! timer slack and without a thread to switch to. A wait costs one map entry of some 40 bytes,
//! and is forgotten as soon as its future is dropped.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Wakes any number of tasks, each at its own time. [`run`](Timer::run) must be running as a task
/// of its own for [`until`](Timer::until) to end.
#[derive(Debug)]
pub(crate) struct Timer {
    fd: AsyncFd<OwnedFd>,
    waits: Mutex<Waits>,
}

#[derive(Debug, Default)]
struct Waits {
    /// Sorted by time; the number keeps apart waits that end at the same instant.
    wakers: BTreeMap<Key, Waker>,
    last: u64,
}

type Key = (Instant, u64);

impl Timer {
    /// Creates the descriptor and registers it with the tokio runtime it is called in. Fails if
    /// there are no descriptors left.
    pub(crate) fn new() -> io::Result<Timer> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[allow(
            deprecated,
            reason = "its successor makes the caller promise that the descriptor stays the same; an OwnedFd keeps it"
        )]
        let fd = AsyncFd::with_interest(fd, Interest::READABLE)?;
        Ok(Timer { fd, waits: Mutex::default() })
    }

    /// Ends at `at`, never before. Behind it by what the kernel and the runtime need, tens of
    /// microseconds on a quiet machine.
    pub(crate) fn until(&self, at: Instant) -> Until<'_> {
        Until { timer: self, at, key: None }
    }

    /// Wakes what is due, for ever.
    pub(crate) async fn run(&self) {
        let fired = || self.fd.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut [0_u8; 8])?));
        while fired().await.is_ok() {
            let now = Instant::now();
            // One lock for each: a waker runs code of the runtime, which must not meet our lock.
            while let Some(waker) = self.pop_due(now) {
                waker.wake();
            }
        }
    }

    /// Takes out one wait that has ended by `now`; if there is none, arms the timer for the next.
    fn pop_due(&self, now: Instant) -> Option<Waker> {
        let mut waits = self.lock();
        let first = waits.wakers.first_entry()?;
        let at = first.key().0;
        if at <= now {
            return Some(first.remove());
        }
        self.arm(at - now);
        None
    }

    /// Lets the descriptor become readable in `wait`. Called with the lock held, so that the last
    /// setting is the one for the earliest wait.
    fn arm(&self, wait: Duration) {
        // Zero would disarm it.
        let wait = wait.max(Duration::from_nanos(1));
        let at = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        let set = timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once);
        debug_assert!(set.is_ok(), "an open timerfd takes every valid time");
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait that [`Timer::until`] began.
#[derive(Debug)]
pub(crate) struct Until<'t> {
    timer: &'t Timer,
    at: Instant,
    key: Option<Key>,
}

impl Future for Until<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if self.at <= now {
            return Poll::Ready(());
        }
        let at = self.at;
        let mut waits = self.timer.lock();
        let key = *self.key.get_or_insert_with(|| {
            waits.last += 1;
            (at, waits.last)
        });
        let known = waits.wakers.insert(key, context.waker().clone()).is_some();
        if !known && waits.wakers.first_key_value().is_some_and(|(first, _)| *first == key) {
            self.timer.arm(at - now);
        }
        Poll::Pending
    }
}

impl Drop for Until<'_> {
    fn drop(&mut self) {
        // The timer stays armed; if it fires for nobody, it is armed for the next.
        if let Some(key) = self.key {
            self.timer.lock().wakers.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn with_timer<F: Future<Output = ()>>(test: impl FnOnce(Arc<Timer>) -> F) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let timer = Arc::new(Timer::new().unwrap());
            let runner = Arc::clone(&timer);
            tokio::spawn(async move { runner.run().await });
            test(timer).await;
        });
    }

    fn poll_once(wait: Pin<&mut Until<'_>>) -> Poll<()> {
        wait.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn every_wait_ends_and_none_too_early() {
        with_timer(|timer| async move {
            let start = Instant::now();
            let (sender, mut ended) = tokio::sync::mpsc::unbounded_channel();
            for micros in [9_000, 300, 4_000, 301, 0, 4_000] {
                let (timer, sender) = (Arc::clone(&timer), sender.clone());
                tokio::spawn(async move {
                    let at = start + Duration::from_micros(micros);
                    timer.until(at).await;
                    assert!(Instant::now() >= at);
                    sender.send(micros).unwrap();
                });
            }
            drop(sender);
            let mut order = Vec::new();
            while let Some(micros) = ended.recv().await {
                order.push(micros);
            }
            order.sort_unstable();
            assert_eq!(order, [0, 300, 301, 4_000, 4_000, 9_000]);
            assert!(timer.lock().wakers.is_empty());
        });
    }

    #[test]
    fn a_wait_that_is_dropped_is_forgotten_and_the_next_still_ends() {
        with_timer(|timer| async move {
            let start = Instant::now();
            let mut dropped = Box::pin(timer.until(start + Duration::from_millis(2)));
            assert!(poll_once(dropped.as_mut()).is_pending());
            let mut later = Box::pin(timer.until(start + Duration::from_millis(5)));
            assert!(poll_once(later.as_mut()).is_pending());
            assert_eq!(timer.lock().wakers.len(), 2);
            drop(dropped);
            assert_eq!(timer.lock().wakers.len(), 1);
            later.await;
            assert!(timer.lock().wakers.is_empty());
        });
    }

    #[test]
    fn a_wait_until_the_past_ends_at_once() {
        with_timer(|timer| async move {
            let mut wait = Box::pin(timer.until(Instant::now()));
            assert!(poll_once(wait.as_mut()).is_ready());
        });
    }
}
