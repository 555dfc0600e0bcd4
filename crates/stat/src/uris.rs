//! The URIs of calls, in the order in which the calls are made.

use httperf_engine::{Collector, Core, Event};

/// Tells the URI of each call when it is issued. Another attempt at a call is no other call and is not told.
#[derive(Debug)]
pub struct Uris<F> {
    tell: F,
    /// The number of the next call.
    next: u64,
}

impl<F: FnMut(&[u8])> Uris<F> {
    /// Each URI is told at once, as it is sent.
    pub fn new(tell: F) -> Self {
        Self { tell, next: 0 }
    }
}

impl<F: FnMut(&[u8])> Collector for Uris<F> {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        let Event::CallIssued { call, .. } = *event else { return };
        if let Some(call) = core.call(call).filter(|call| call.serial >= self.next) {
            self.next = call.serial + 1;
            (self.tell)(core.request(call.request).uri());
        }
    }
}
