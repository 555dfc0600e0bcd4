//! One run: a thread for each loop, and everything put together at the end.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;

use httperf_engine::{Collector, Core, Epoll, EpollError, Load, Scenario, Stop, StopHandle, Workload};
use httperf_load::{ConnRate, Pattern};
use httperf_report::{Cpu, Results, StoppedBy};
use httperf_stat::{Alarm, Alarms, Basic, BasicSummary, Gathered, Intervals, Sample, Samples};

use crate::host;
use crate::observer::{Exchange, Observer};
use crate::plan::{Collect, Plan};
use crate::signals::Signals;

/// Something worth telling while the run goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice {
    /// The reply rate of the last five seconds, all loops together.
    ReplyRate(f64),
    /// A delay that was drawn between two arrivals, in seconds.
    Delay(f64),
    /// The first failure of its kind.
    Alarm(Alarm),
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A loop could not be set up.
    #[error(transparent)]
    Setup(#[from] EpollError),
    /// A thread or a signal handler could not be set up.
    #[error("failed to start the run: {0}")]
    Start(#[from] io::Error),
}

/// What a loop tells while it runs.
enum Message {
    Sample(Sample),
    Delay(f64),
    Alarm(Alarm),
}

/// What a loop leaves.
struct Remains {
    basic: BasicSummary,
    samples: Vec<Sample>,
    load: Load,
    limit: bool,
    stop: Option<Stop>,
    failed: bool,
}

/// What loops may have told before somebody listens. More is dropped: a terminal that stands still must
/// neither hold
/// the loops up nor fill the memory.
const UNHEARD: usize = 16_384;

/// Runs a plan; `notice` is called, in this thread, for what is worth telling meanwhile.
///
/// # Errors
/// Only when the run cannot begin. Once it has, there are results, whatever happens.
pub fn run(plan: &Plan, signals: &Signals, mut notice: impl FnMut(Notice)) -> Result<Results, RunError> {
    let started_at = host::utc_now();
    let handles = (0..plan.threads).map(|_| StopHandle::new()).collect::<Result<Vec<_>, _>>()?;
    signals.govern(handles.clone());
    let (observer, exchanges) = match plan.collect {
        Collect::Classic => (None, handles.iter().map(|_| None).collect()),
        Collect::Full => {
            let (observer, exchanges) = Observer::start(handles.len())?;
            (Some(observer), exchanges.into_iter().map(Some).collect::<Vec<_>>())
        }
    };
    let (sender, messages) = sync_channel(UNHEARD);
    let before = host::cpu();
    // No loop begins before all are set up: connections of one could take the descriptors that another
    // one needs.
    let gate = Arc::new(RwLock::new(()));
    let closed = gate.write();
    let (setting_up, all_set_up) = channel::<()>();
    let mut loops: Vec<JoinHandle<Result<Remains, EpollError>>> = Vec::new();
    for (index, exchange) in (0..).zip(exchanges) {
        let (plan, sender, stop) = (plan.clone(), sender.clone(), handles[index as usize].clone());
        let (gate, setting_up) = (gate.clone(), setting_up.clone());
        let others = StopOthers { handles: handles.clone(), armed: true };
        let thread = std::thread::Builder::new().name(format!("loop {index}"));
        loops.push(thread.spawn(move || {
            // Dropped in this order, also by `?` and by a panic: whoever is let through the gate has
            // been stopped.
            let (setting_up, mut others) = (setting_up, others);
            let (scenario, pattern) = plan.part(index);
            let driver = Epoll::new(scenario.share, stop)?;
            drop(setting_up);
            drop(gate.read());
            let remains = run_loop(&plan, scenario, pattern, driver, exchange, sender);
            others.armed = false;
            Ok(remains)
        })?);
    }
    drop(setting_up);
    // Nobody sends: this ends when the last loop is set up or has failed.
    let _ = all_set_up.recv();
    drop(closed);
    drop(sender);
    tell(&messages, plan.threads, &mut notice);
    let remains: Vec<_> = loops.into_iter().map(JoinHandle::join).collect();
    let after = host::cpu();
    let signal = signals.first();
    let timeline = observer.map(Observer::finish);

    let mut results = Results {
        request: plan.info.clone(),
        started_at,
        stopped_by: match &timeline {
            Some(Err(_)) => StoppedBy::Error,
            _ => StoppedBy::Finished,
        },
        basic: BasicSummary::default(),
        reply_rates: Vec::new(),
        timeline: timeline.and_then(Result::ok),
        cpu: Cpu { user_s: after.user_s - before.user_s, system_s: after.system_s - before.system_s },
        busy_shares: Vec::new(),
        descriptors_limit: crate::raise_descriptor_limit(),
        host: host::facts(),
    };
    let mut samples = Gathered::new(remains.iter().flatten().count());
    for part in remains {
        let Ok(part) = part else {
            results.stopped_by = StoppedBy::Error;
            continue;
        };
        let part = part?;
        results.basic.merge(&part.basic);
        part.samples.iter().for_each(|sample| samples.add(*sample, |_| ()));
        let busy = part.load.total.saturating_sub(part.load.idle);
        results.busy_shares.push(busy as f64 / part.load.total.max(1) as f64);
        let why = match part.stop {
            _ if part.failed => StoppedBy::Error,
            Some(Stop::Interrupted) => StoppedBy::Interrupted,
            Some(Stop::Terminated) => StoppedBy::Terminated(signal),
            Some(Stop::Error) => StoppedBy::Error,
            None if part.limit => StoppedBy::Duration,
            None => StoppedBy::Finished,
        };
        if results.stopped_by == StoppedBy::Finished {
            results.stopped_by = why;
        }
    }
    results.reply_rates = samples.into_rates();
    Ok(results)
}

/// When a loop panics or cannot start, the others end.
struct StopOthers {
    handles: Vec<StopHandle>,
    armed: bool,
}

impl Drop for StopOthers {
    fn drop(&mut self) {
        if self.armed {
            self.handles.iter().for_each(|each| each.stop(Stop::Error));
        }
    }
}

fn run_loop(
    plan: &Plan,
    scenario: Scenario,
    mut pattern: Pattern,
    mut driver: Epoll,
    exchange: Option<Exchange>,
    sender: SyncSender<Message>,
) -> Remains {
    let index = scenario.share.index;
    if let Some(arrivals) = pattern.arrivals.as_mut().filter(|_| plan.tell_delays && index == 0) {
        arrivals.tap(teller(&sender, Message::Delay));
    }
    let mut workload = ConnRate::new(pattern);
    let mut core = Core::new(scenario);
    let classic = (
        Basic::default(),
        (Samples::new(teller(&sender, Message::Sample)), Alarms::new(teller(&sender, Message::Alarm))),
    );
    drop(sender);
    let (classic, outcome) = match exchange {
        None => drive(&mut core, &mut driver, &mut workload, classic),
        Some(exchange) => {
            let ((classic, intervals), outcome) =
                drive(&mut core, &mut driver, &mut workload, (classic, Intervals::new(exchange)));
            intervals.finish(&core);
            (classic, outcome)
        }
    };
    let (basic, (samples, _)) = classic;
    let mut basic = basic.into_summary();
    if let Some(ended) = basic.ended {
        // A loop that ends a little late owes nothing that is due only behind the end that was asked for.
        let end = plan.scenario.limit.map_or(ended, |limit| ended.min(core.began_at() + limit));
        basic.arrivals_not_started = workload.not_started(core.began_at(), end);
    }
    Remains {
        basic,
        samples: samples.into_samples(),
        load: httperf_engine::Driver::load(&driver),
        limit: core.reached_limit(),
        stop: core.stopped_by(),
        failed: outcome.is_err(),
    }
}

/// Runs the loop with one set of collectors and gives them back.
fn drive<C: Collector>(
    core: &mut Core,
    driver: &mut Epoll,
    workload: &mut ConnRate,
    mut stats: C,
) -> (C, io::Result<()>) {
    let outcome = httperf_engine::run(core, driver, workload, &mut stats);
    (stats, outcome)
}

/// How a loop tells something of one kind.
fn teller<T: 'static>(
    sender: &SyncSender<Message>,
    kind: fn(T) -> Message,
) -> impl Fn(T) + Send + Sync + 'static {
    let sender = sender.clone();
    // Nobody listens any more when the program is on its way out, or nobody reads what it prints.
    move |what| drop(sender.try_send(kind(what)))
}

/// Passes on what the loops tell, until the last of them has ended.
fn tell(messages: &Receiver<Message>, threads: u32, notice: &mut impl FnMut(Notice)) {
    let mut samples = Gathered::new(threads as usize);
    let mut failed = BTreeSet::new();
    for message in messages {
        match message {
            Message::Delay(delay) => notice(Notice::Delay(delay)),
            Message::Alarm(alarm @ Alarm::Failed { cause, .. }) => {
                if failed.insert(cause) {
                    notice(Notice::Alarm(alarm));
                }
            }
            Message::Alarm(alarm) => notice(Notice::Alarm(alarm)),
            Message::Sample(sample) => samples.add(sample, |rate| notice(Notice::ReplyRate(rate))),
        }
    }
}
