//! The observer: the thread that gathers what the loops have recorded.
//!
//! ```text
//!   loop 0 --full blocks--> +----------+
//!          <-empty blocks-- | observer | --> Timeline
//!   loop 1 --full blocks--> |          |
//!          <-empty blocks-- +----------+
//! ```
//!
//! A loop never waits and makes no system call for it: the rings are wait-free, and the observer comes by on
//! its own, often enough that an empty block is there whenever one is needed.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use httperf_stat::{Block, Timeline};
use rtrb::{Consumer, Producer, RingBuffer};

/// How often the observer comes by: twice in the 100 ms that fill a block.
const PERIOD: Duration = Duration::from_millis(50);
/// Blocks that lie ready for each loop besides its current one. With two, the observer may be held up for 200
/// ms before a loop has to go on with a full block.
const SPARES: usize = 2;

/// The thread, seen from outside.
#[derive(Debug)]
pub(crate) struct Observer {
    thread: JoinHandle<Timeline>,
}

impl Observer {
    /// Starts the observer of so many loops. Each loop gets one of the exchanges.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(crate) fn start(loops: usize) -> io::Result<(Observer, Vec<Exchange>)> {
        let (exchanges, ends): (Vec<_>, Vec<_>) = (0..loops).map(|_| pair()).unzip();
        let thread = thread::Builder::new().name("observer".into()).spawn(move || observe(ends))?;
        Ok((Observer { thread }, exchanges))
    }

    /// What all loops have recorded. Waits for those that have not ended.
    ///
    /// # Errors
    /// If the observer panicked; the panic hook has said so.
    pub(crate) fn finish(self) -> thread::Result<Timeline> {
        self.thread.thread().unpark();
        self.thread.join()
    }
}

/// A loop's end. Dropping it tells the observer that no more blocks will come.
pub(crate) struct Exchange {
    full: Producer<Box<Block>>,
    empty: Consumer<Box<Block>>,
}

/// The observer's end.
struct End {
    full: Consumer<Box<Block>>,
    empty: Producer<Box<Block>>,
}

/// Both ends, and empty blocks between them.
fn pair() -> (Exchange, End) {
    // Room for every block there is: what is handed over or back always fits.
    let (full_in, full_out) = RingBuffer::new(SPARES + 1);
    let (mut empty_in, empty_out) = RingBuffer::new(SPARES + 1);
    for _ in 0..SPARES {
        give_back(&mut empty_in, Box::default());
    }
    (Exchange { full: full_in, empty: empty_out }, End { full: full_out, empty: empty_in })
}

impl httperf_stat::Exchange for Exchange {
    type Left = ();

    #[inline]
    fn swap(&mut self, block: &mut Box<Block>) -> bool {
        if self.full.is_full() {
            return false;
        }
        let Ok(empty) = self.empty.pop() else { return false };
        let full = std::mem::replace(block, empty);
        self.full.push(full).is_ok()
    }

    fn finish(mut self, block: Box<Block>) {
        // It fits: this is one of `SPARES` + 1 blocks.
        let _ = self.full.push(block);
    }
}

fn observe(mut ends: Vec<End>) -> Timeline {
    let mut timeline = Timeline::default();
    loop {
        // Asked first: what was handed over before the end is still taken below.
        let ended = ends.iter().all(|end| end.full.is_abandoned());
        for End { full, empty } in &mut ends {
            while let Ok(mut block) = full.pop() {
                timeline.add(&block);
                block.clear();
                give_back(empty, block);
            }
        }
        if ended {
            return timeline;
        }
        thread::park_timeout(PERIOD);
    }
}

/// It fits: there are no more blocks than room. After the loop's end nobody wants it.
fn give_back(empty: &mut Producer<Box<Block>>, block: Box<Block>) {
    drop(empty.push(block));
}

#[cfg(test)]
mod tests {
    use super::*;
    use httperf_stat::Exchange as _;

    #[test]
    fn an_empty_block_comes_for_a_full_one_while_there_are_any() {
        let (mut exchange, mut end) = pair();
        let mut block = Box::default();
        assert!((0..SPARES).all(|_| exchange.swap(&mut block)));
        assert!(!exchange.swap(&mut block));
        let full = end.full.pop().expect("a block was handed over");
        give_back(&mut end.empty, full);
        assert!(exchange.swap(&mut block));
        exchange.finish(block);
        assert_eq!(end.full.slots(), SPARES + 1);
    }

    #[test]
    fn what_loops_leave_is_gathered_whether_or_not_they_finish() {
        let (observer, exchanges) = Observer::start(3).expect("a thread");
        let mut exchanges = exchanges.into_iter();
        let loops: Vec<_> = exchanges
            .by_ref()
            .take(2)
            .map(|mut exchange| {
                thread::spawn(move || {
                    let mut block = Box::default();
                    while !exchange.swap(&mut block) {}
                    exchange.finish(block);
                })
            })
            .collect();
        // The third is given up without a word.
        drop(exchanges);
        let timeline = observer.finish().expect("no panic");
        assert_eq!(timeline.intervals().len(), 1);
        assert!(loops.into_iter().all(|each| each.join().is_ok()));
    }
}
