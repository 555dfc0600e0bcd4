//! One run: a thread for each loop, and everything put together at the end.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use httperf_engine::{
    Collector, Core, Epoll, EpollError, Event, Load, RequestId, Stop, StopHandle, Workload,
};
use httperf_load::{
    Arrivals, ConnRate, Pool, Reference, Script, SessionPattern, Sessions, Uris, Wmix, WmixNews, WmixSpec,
    Wsess, WsessSpec, Wsesslog, Wsesspage,
};
use httperf_report::{Cpu, Results, StoppedBy};
use httperf_stat::{
    Alarm, Alarms, Basic, BasicSummary, Gathered, Intervals, Limits, Period, Periodic, Printed, Quality,
    Rates, Sample, Samples, SessionSummary, Sessions as SessionStats, Trace, Transcript,
};

use crate::host;
use crate::observer::{Exchange, Observer};
use crate::plan::{Collect, Plan, ScriptPlan, Tell, WorkloadPlan};
use crate::signals::Signals;

/// Something worth telling while the run goes on.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// The rates of the last five seconds, all loops together.
    Rates(Rates),
    /// What happened in the last five seconds, all loops together.
    Period(Period),
    /// Lines of requests and replies, complete.
    Lines(&'a [u8]),
    /// A URI that a working set or a log has given.
    Uri(&'a [u8]),
    /// What a page refers to.
    Page {
        /// As it is fetched, or as it stands there.
        uri: &'a [u8],
        /// Whether it is fetched.
        fetched: bool,
    },
    /// How far the run has come: somebody has asked for it (SIGUSR1).
    Snapshot(&'a Results),
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
    Snapshot(Box<Snapshot>),
    Period(Sample<Period>),
    Lines(Vec<u8>),
    Uri(Vec<u8>),
    Page((Vec<u8>, bool)),
    Delay(f64),
    Alarm(Alarm),
}

impl Message {
    /// Bytes of text in it.
    fn bytes(&self) -> usize {
        match self {
            Self::Lines(text) | Self::Uri(text) | Self::Page((text, _)) => text.len(),
            Self::Sample(_) | Self::Period(_) | Self::Delay(_) | Self::Alarm(_) | Self::Snapshot(_) => 0,
        }
    }
}

/// What a loop leaves.
struct Remains {
    basic: BasicSummary,
    sessions: Option<SessionSummary>,
    quality: Option<Quality>,
    samples: Vec<Sample>,
    load: Load,
    limit: bool,
    stop: Option<Stop>,
    /// Why the workload could not go on.
    error: Option<String>,
    /// So many connections, all there were, have failed, and the loop has given up.
    gave_up: u64,
    cookies_cut: u64,
    failed: bool,
}

/// What loops may have told before somebody listens. More is dropped: a terminal that stands still must
/// neither hold
/// the loops up nor fill the memory.
const UNHEARD: usize = 16_384;

/// So much text may wait to be told. A loop that has more waits itself: text must not be lost.
const UNHEARD_BYTES: usize = 1024 * 1024;

/// Runs a plan; `notice` is called, in this thread, for what is worth telling meanwhile.
///
/// # Errors
/// Only when the run cannot begin. Once it has, there are results, whatever happens.
pub fn run(plan: &Plan, signals: &Signals, mut notice: impl FnMut(Notice<'_>)) -> Result<Results, RunError> {
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
    let unheard = Arc::new(AtomicUsize::new(0));
    let before = host::cpu();
    // No loop begins before all are set up: connections of one could take the descriptors that another
    // one needs.
    let gate = Arc::new(RwLock::new(()));
    let closed = gate.write();
    let (setting_up, all_set_up) = channel::<()>();
    let mut loops: Vec<JoinHandle<Result<Remains, EpollError>>> = Vec::new();
    for (index, exchange) in (0..).zip(exchanges) {
        let (plan, sender, stop) = (plan.clone(), sender.clone(), handles[index as usize].clone());
        let (gate, setting_up, unheard) = (gate.clone(), setting_up.clone(), unheard.clone());
        let others = StopOthers { handles: handles.clone(), armed: true };
        let thread = std::thread::Builder::new().name(format!("loop {index}"));
        loops.push(thread.spawn(move || {
            // Dropped in this order, also by `?` and by a panic: whoever is let through the gate has
            // been stopped.
            let (setting_up, mut others) = (setting_up, others);
            let scenario = plan.scenario(index);
            let driver = Epoll::new(scenario.share, stop.clone())?;
            let insist = Insist { sender: sender.clone(), stop, unheard };
            let talkers = talkers(&plan.tell, &insist);
            drop(setting_up);
            drop(gate.read());
            let this = Loop { core: Core::new(scenario), driver, exchange, talkers, sender, insist };
            let remains = run_loop(&plan, this);
            others.armed = false;
            Ok(remains)
        })?);
    }
    drop(setting_up);
    // Nobody sends: this ends when the last loop is set up or has failed.
    let _ = all_set_up.recv();
    drop(closed);
    drop(sender);
    let so_far = || results(plan, &started_at, before);
    tell(&messages, &unheard, plan.threads, so_far, &mut notice);
    let remains: Vec<_> = loops.into_iter().map(JoinHandle::join).collect();
    let mut results = results(plan, &started_at, before);
    let signal = signals.first();
    let timeline = observer.map(Observer::finish);

    if let Some(Err(_)) = &timeline {
        results.stopped_by = StoppedBy::Error;
    }
    results.timeline = timeline.and_then(Result::ok);
    let mut samples = Gathered::new(remains.iter().flatten().count());
    let mut gave_up = 0;
    for part in remains {
        let Ok(part) = part else {
            results.stopped_by = StoppedBy::Error;
            continue;
        };
        let part = part?;
        add(&mut results, &part.basic, part.sessions.as_ref());
        match (&mut results.quality, part.quality) {
            (Some(whole), Some(part)) => whole.merge(&part),
            (whole, part) => *whole = whole.take().or(part),
        }
        results.error = results.error.or(part.error);
        gave_up += part.gave_up;
        results.cookies_cut += part.cookies_cut;
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
    // A loop may have given up while others had their replies.
    if gave_up > 0 && results.basic.established == 0 {
        results.error = Some(format!(
            "0 of {gave_up} connections came about, there was nothing to measure: is this the right address?"
        ));
        results.stopped_by = StoppedBy::Error;
    }
    let rates = samples.into_samples();
    results.reply_rates = rates.iter().map(|rates| rates.replies).collect();
    results.session_rates = rates.iter().map(|rates| rates.sessions).collect();
    Ok(results)
}

/// The results of a run of which nothing is known but what it has cost so far.
fn results(plan: &Plan, started_at: &str, before: Cpu) -> Results {
    let now = host::cpu();
    Results {
        request: plan.info.clone(),
        started_at: started_at.to_owned(),
        stopped_by: StoppedBy::Finished,
        basic: BasicSummary::default(),
        sessions: None,
        quality: None,
        error: None,
        cookies_cut: 0,
        reply_rates: Vec::new(),
        session_rates: Vec::new(),
        timeline: None,
        cpu: Cpu { user_s: now.user_s - before.user_s, system_s: now.system_s - before.system_s },
        busy_shares: Vec::new(),
        descriptors_limit: crate::raise_descriptor_limit(),
        host: host::facts(),
    }
}

/// Adds what one loop has counted.
fn add(results: &mut Results, basic: &BasicSummary, sessions: Option<&SessionSummary>) {
    results.basic.merge(basic);
    if let Some(sessions) = sessions {
        results.sessions.get_or_insert_default().merge(sessions);
    }
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

/// The thread of one loop.
struct Loop {
    core: Core,
    driver: Epoll,
    exchange: Option<Exchange>,
    /// Collectors that only talk. Where there are any, speed is not the point.
    talkers: Vec<Box<dyn Collector>>,
    sender: SyncSender<Message>,
    insist: Insist,
}

/// Runs the part of a plan that one loop has. Every workload is named here once.
fn run_loop(plan: &Plan, this: Loop) -> Remains {
    let share = this.core.scenario().share;
    match &plan.workload {
        WorkloadPlan::ConnRate(workload) => {
            let targets = plan.scenario.targets.len() as u32;
            let mut pattern = workload.part(share, targets);
            this.tap_delays(plan, pattern.arrivals.as_mut());
            pattern.uris = this.tap_uris(plan, pattern.uris);
            this.play(&mut ConnRate::new(pattern), ()).0
        }
        WorkloadPlan::Pool(workload) => {
            let targets = plan.scenario.targets.len() as u32;
            let mut pool = Pool::new(workload.part(share, targets));
            let (mut remains, ()) = this.play(&mut pool, ());
            remains.basic.arrivals_waiting = pool.waiting();
            remains.gave_up = pool.gave_up().unwrap_or(0);
            remains
        }
        WorkloadPlan::Sessions(workload) => {
            let mut pattern = workload.part(share);
            this.tap_delays(plan, pattern.arrivals.as_mut());
            match &workload.script {
                ScriptPlan::Wsess { calls, burst, think, uris } => {
                    let uris = this.tap_uris(plan, uris.part(share));
                    let (calls, burst, think) = (*calls, *burst, *think);
                    let spec = WsessSpec { calls, burst, think, request: RequestId(0), uris };
                    this.play_sessions(pattern, Wsess::new(spec))
                }
                ScriptPlan::Wsesslog(sessions) => {
                    this.play_sessions(pattern, Wsesslog::new(sessions.clone()))
                }
                ScriptPlan::Wsesspage(spec) => {
                    let script = this.tap_pages(plan, Wsesspage::new(spec.clone()));
                    this.play_sessions(pattern, script)
                }
                ScriptPlan::Wmix(spec) => {
                    let mut quality = no_calls(spec);
                    let script = Wmix::new(spec.clone(), |class, news| grade(&mut quality, class, news));
                    let remains = this.play_sessions(pattern, script);
                    Remains { quality: Some(quality), ..remains }
                }
            }
        }
    }
}

/// The grades of a mix before its first call.
fn no_calls(spec: &WmixSpec) -> Quality {
    let limits = spec
        .mix
        .quality()
        .map(|quality| Limits { good_ns: quality.good_ns, tolerable_ns: quality.tolerable_ns });
    Quality::new(limits, spec.mix.classes().iter().map(|class| class.name.clone()))
}

fn grade(quality: &mut Quality, class: u16, news: WmixNews) {
    match news {
        WmixNews::Called => quality.began(class),
        WmixNews::Answered(answer) => {
            quality.answered(class, answer.response_ns, answer.status, answer.bytes);
        }
        WmixNews::Lost => quality.lost(class),
    }
}

impl Loop {
    fn tap_delays(&self, plan: &Plan, arrivals: Option<&mut Arrivals>) {
        // All loops draw the same delays.
        if let Some(arrivals) = arrivals.filter(|_| plan.tell.delays && self.core.scenario().share.index == 0)
        {
            arrivals.tap(teller(&self.sender, Message::Delay));
        }
    }

    fn tap_uris(&self, plan: &Plan, uris: Option<Uris>) -> Option<Uris> {
        let uris = uris?;
        if !plan.tell.uris {
            return Some(uris);
        }
        let tell = self.insist.teller(Message::Uri);
        Some(uris.tap(move |uri| tell(uri.to_vec())))
    }

    fn tap_pages(&self, plan: &Plan, script: Wsesspage) -> Wsesspage {
        if !plan.tell.pages {
            return script;
        }
        let tell = self.insist.teller(Message::Page);
        script.tap(move |reference| match reference {
            Reference::Fetched(uri) => tell((uri.to_vec(), true)),
            Reference::Ignored(uri) => tell((uri.to_vec(), false)),
        })
    }

    fn play_sessions<S: Script>(self, pattern: SessionPattern, script: S) -> Remains {
        let mut workload = Sessions::new(pattern, script);
        let (mut remains, sessions) = self.play(&mut workload, SessionStats::default());
        remains.sessions = Some(sessions.into_summary());
        remains.error = workload.error().map(|error| error.to_string());
        remains.cookies_cut = workload.cookies_cut();
        remains
    }

    /// The loop itself, with the collectors of the classic report, one that the workload brings, and those of
    /// the plan.
    fn play<W: Workload, C: Own>(self, workload: &mut W, own: C) -> (Remains, C) {
        let Loop { mut core, mut driver, exchange, talkers, sender, insist } = self;
        let classic = (
            Shown { basic: Basic::default(), own, tell: teller(&sender, Message::Snapshot) },
            (Samples::new(teller(&sender, Message::Sample)), Alarms::new(teller(&sender, Message::Alarm))),
        );
        drop((sender, insist));
        let intervals = exchange.map(Intervals::new);
        let (classic, intervals, outcome) = match intervals {
            _ if !talkers.is_empty() => {
                // All that is chosen at run time, the workload too: another copy of the loop would not pay.
                let mut workload: &mut dyn Workload = workload;
                let ((classic, (intervals, _)), outcome) =
                    drive(&mut core, &mut driver, &mut workload, (classic, (intervals, talkers)));
                (classic, intervals, outcome)
            }
            None => {
                let (classic, outcome) = drive(&mut core, &mut driver, workload, classic);
                (classic, None, outcome)
            }
            Some(intervals) => {
                let ((classic, intervals), outcome) =
                    drive(&mut core, &mut driver, workload, (classic, intervals));
                (classic, Some(intervals), outcome)
            }
        };
        if let Some(intervals) = intervals {
            intervals.finish(&core);
        }
        let (Shown { basic, own, .. }, (samples, _)) = classic;
        let mut basic = basic.into_summary();
        if let Some(ended) = basic.ended {
            // A loop that ends a little late owes nothing that is due only behind the end that was asked for.
            let limit = core.scenario().limit;
            let end = limit.map_or(ended, |limit| ended.min(core.began_at() + limit));
            basic.arrivals_not_started = workload.not_started(core.began_at(), end);
        }
        let remains = Remains {
            basic,
            sessions: None,
            quality: None,
            samples: samples.into_samples(),
            load: httperf_engine::Driver::load(&driver),
            limit: core.reached_limit(),
            stop: core.stopped_by(),
            error: None,
            gave_up: 0,
            cookies_cut: 0,
            failed: outcome.is_err(),
        };
        (remains, own)
    }
}

/// What a workload brings to count its own things.
trait Own: Collector {
    /// What sessions it has seen so far, if it counts them.
    fn sessions(&self) -> Option<SessionSummary>;
}

impl Own for () {
    fn sessions(&self) -> Option<SessionSummary> {
        None
    }
}

impl Own for SessionStats {
    fn sessions(&self) -> Option<SessionSummary> {
        Some(self.so_far().clone())
    }
}

/// The counters of the report, which somebody may want to see before the end.
struct Shown<C, F> {
    basic: Basic,
    own: C,
    tell: F,
}

impl<C: Own, F: Fn(Box<Snapshot>)> Shown<C, F> {
    #[cold]
    fn show(&self, core: &Core) {
        let snapshot = Snapshot { basic: self.basic.so_far(core), sessions: self.own.sessions() };
        (self.tell)(Box::new(snapshot));
    }
}

impl<C: Own, F: Fn(Box<Snapshot>)> Collector for Shown<C, F> {
    #[inline(always)]
    fn on(&mut self, event: &Event, core: &Core) {
        match event {
            Event::Snapshot { .. } => self.show(core),
            _ => {
                self.basic.on(event, core);
                self.own.on(event, core);
            }
        }
    }
}

/// How far one loop has come.
struct Snapshot {
    basic: BasicSummary,
    sessions: Option<SessionSummary>,
}

/// Runs the loop with one set of collectors and gives them back.
fn drive<C: Collector>(
    core: &mut Core,
    driver: &mut Epoll,
    workload: &mut impl Workload,
    mut stats: C,
) -> (C, io::Result<()>) {
    let outcome = httperf_engine::run(core, driver, workload, &mut stats);
    (stats, outcome)
}

/// The collectors that only talk.
fn talkers(tell: &Tell, insist: &Insist) -> Vec<Box<dyn Collector>> {
    let mut talkers: Vec<Box<dyn Collector>> = Vec::new();
    if tell.printed != Printed::default() {
        let tell_lines = insist.teller(Message::Lines);
        talkers.push(Box::new(Transcript::new(tell.printed, move |lines: &[u8]| tell_lines(lines.to_vec()))));
    }
    if tell.periods {
        talkers.push(Box::new(Periodic::new(teller(&insist.sender, Message::Period))));
    }
    if tell.trace {
        talkers.push(Box::new(Trace));
    }
    talkers
}

/// How a loop tells what must not be lost: it waits for whoever listens, but not when the run is to end.
#[derive(Clone)]
struct Insist {
    sender: SyncSender<Message>,
    stop: StopHandle,
    /// Bytes of text that all loops have told and nobody has heard yet.
    unheard: Arc<AtomicUsize>,
}

impl Insist {
    fn teller<T: 'static>(&self, kind: fn(T) -> Message) -> impl Fn(T) + Send + Sync + 'static {
        let this = self.clone();
        move |what| {
            let mut message = kind(what);
            let bytes = message.bytes();
            while this.unheard.load(Relaxed) >= UNHEARD_BYTES {
                if this.stop.asked().is_some() {
                    return;
                }
                std::thread::sleep(PAUSE);
            }
            this.unheard.fetch_add(bytes, Relaxed);
            while let Err(TrySendError::Full(back)) = this.sender.try_send(message) {
                if this.stop.asked().is_some() {
                    this.unheard.fetch_sub(bytes, Relaxed);
                    return;
                }
                message = back;
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// Between two attempts to tell something.
const PAUSE: Duration = Duration::from_millis(1);

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
fn tell(
    messages: &Receiver<Message>,
    unheard: &AtomicUsize,
    threads: u32,
    results: impl Fn() -> Results,
    notice: &mut impl FnMut(Notice<'_>),
) {
    let mut shown = Vec::new();
    let mut samples = Gathered::new(threads as usize);
    let mut periods = Gathered::new(threads as usize);
    let mut failed = BTreeSet::new();
    for message in messages {
        unheard.fetch_sub(message.bytes(), Relaxed);
        match message {
            Message::Delay(delay) => notice(Notice::Delay(delay)),
            Message::Alarm(alarm @ Alarm::Failed { cause, .. }) => {
                if failed.insert(cause) {
                    notice(Notice::Alarm(alarm));
                }
            }
            Message::Alarm(alarm) => notice(Notice::Alarm(alarm)),
            Message::Sample(sample) => samples.add(sample, |rates| notice(Notice::Rates(rates))),
            Message::Snapshot(snapshot) => {
                shown.push(snapshot);
                if shown.len() == threads as usize {
                    let mut results = results();
                    shown.drain(..).for_each(|part| add(&mut results, &part.basic, part.sessions.as_ref()));
                    notice(Notice::Snapshot(&results));
                }
            }
            Message::Period(period) => periods.add(period, |period| notice(Notice::Period(period))),
            Message::Lines(lines) => notice(Notice::Lines(&lines)),
            Message::Uri(uri) => notice(Notice::Uri(&uri)),
            Message::Page((uri, fetched)) => notice(Notice::Page { uri: &uri, fetched }),
        }
    }
}
