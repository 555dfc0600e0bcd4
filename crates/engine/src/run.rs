//! The program on one screen: the loop that ties core, driver, workload and collectors together.

use std::io;

use crate::core::Core;
use crate::driver::Driver;
use crate::event::Event;
use crate::time::Time;

/// Decides what happens when. Commands go to the core; their effects come back as events.
pub trait Workload {
    /// The run begins: the first commands.
    fn start(&mut self, core: &mut Core);

    /// Something happened.
    fn on(&mut self, event: &Event, core: &mut Core);

    /// Arrivals that were due before `end` and have not been taken up. `began` is the start of the run.
    fn not_started(&self, began: Time, end: Time) -> u64 {
        let _ = (began, end);
        0
    }
}

impl<W: Workload + ?Sized> Workload for &mut W {
    fn start(&mut self, core: &mut Core) {
        (**self).start(core);
    }

    fn on(&mut self, event: &Event, core: &mut Core) {
        (**self).on(event, core);
    }

    fn not_started(&self, began: Time, end: Time) -> u64 {
        (**self).not_started(began, end)
    }
}

/// Watches. It looks at the core and touches nothing. What is called for every event is best inlined whatever
/// it weighs (`#[inline(always)]`): then one jump serves all collectors.
pub trait Collector {
    /// Something happened.
    fn on(&mut self, event: &Event, core: &Core);
}

impl<A: Collector, B: Collector> Collector for (A, B) {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        self.0.on(event, core);
        self.1.on(event, core);
    }
}

/// Nobody watches.
impl Collector for () {
    #[inline(always)]
    fn on(&mut self, _: &Event, _: &Core) {}
}

impl<C: Collector> Collector for Option<C> {
    fn on(&mut self, event: &Event, core: &Core) {
        if let Some(collector) = self {
            collector.on(event, core);
        }
    }
}

/// Collectors that are chosen when the program runs.
impl Collector for Vec<Box<dyn Collector>> {
    fn on(&mut self, event: &Event, core: &Core) {
        for collector in self {
            collector.on(event, core);
        }
    }
}

/// How often in a row deadlines may be put off because input is known to be waiting.
const PUT_OFF: u32 = 16;

/// Runs until the workload or a limit ends it.
///
/// One input at a time: after each, all events are drained and all transmits submitted before the next one is
/// looked at. Wakes are looked at after every input whose stamp has passed the next one; deadlines after all
/// inputs of a turn, and not while input is known to be waiting: a reply that has reached us is never turned
/// into a timeout by our own lateness.
///
/// # Errors
/// When the driver cannot wait. The core is aborted and its events handed round all the same.
pub fn run(
    core: &mut Core,
    driver: &mut impl Driver,
    workload: &mut impl Workload,
    stats: &mut impl Collector,
) -> io::Result<()> {
    let began = driver.now();
    core.begin(began);
    workload.start(core);
    wake(core, driver, workload, stats, began, &mut { WAKES });
    settle(core, driver, workload, stats);
    core.started(driver.now());
    let mut put_off = 0;
    let outcome = loop {
        if core.is_stopped() {
            break Ok(());
        }
        if let Err(error) = driver.wait(core.poll_timeout()) {
            break Err(error);
        }
        core.turn();
        let mut budget = WAKES;
        while let Some(completion) = driver.next(core) {
            let at = completion.at;
            core.handle(completion);
            settle(core, driver, workload, stats);
            if at >= core.next_wake() {
                wake(core, driver, workload, stats, at, &mut budget);
            }
            if core.is_stopped() {
                break;
            }
        }
        let now = driver.now();
        wake(core, driver, workload, stats, now, &mut budget);
        put_off = if driver.behind() && put_off < PUT_OFF { put_off + 1 } else { 0 };
        if put_off == 0 && !core.is_stopped() {
            core.handle_deadlines(now);
            settle(core, driver, workload, stats);
        }
    };
    core.abort(driver.now());
    settle(core, driver, workload, stats);
    outcome
}

/// How many wakes are taken up in one turn: a schedule nobody can keep must not shut inputs out.
const WAKES: u32 = 1024;

/// Takes up what was due by `limit`, one at a time, as far as the budget of the turn reaches.
fn wake(
    core: &mut Core,
    driver: &mut impl Driver,
    workload: &mut impl Workload,
    stats: &mut impl Collector,
    limit: Time,
    budget: &mut u32,
) {
    let mut now = limit;
    while *budget > 0 && !core.is_stopped() && core.handle_wake(limit, now) {
        *budget -= 1;
        settle(core, driver, workload, stats);
        now = driver.now();
    }
}

/// Drains all events and submits all transmits, until there are none. Once in the program, so that the
/// compiler sees one hot loop with collectors and workload inside.
#[inline(never)]
fn settle(
    core: &mut Core,
    driver: &mut impl Driver,
    workload: &mut impl Workload,
    stats: &mut impl Collector,
) {
    loop {
        while let Some(event) = core.poll() {
            stats.on(&event, core);
            workload.on(&event, core);
        }
        let Some(transmit) = core.poll_transmit() else {
            if core.is_settled() {
                break;
            }
            continue;
        };
        if let Some(completion) = driver.submit(transmit) {
            core.handle(completion);
        }
    }
}
