//! One run as plain data: what is asked for, of which world, and what came of it.

use std::io;

use httperf_engine::sim::{Dialogue, Faults, Honest, Network, ORIGIN, Random, Server, Setup, Sim, Turns};
use httperf_engine::{
    Collector, Core, Deadlines, Driver, Event, Nanos, RequestId, Scenario, Secure, Share, SocketOptions,
    Stop, Ticks, Time, Traffic, Workload, run,
};
use httperf_load::{Arrivals, ConnRate, Pattern, Period};
use httperf_stat::{Basic, BasicSummary, InPlace, Intervals, Timeline};
use httperf_wire::{Request, RequestSpec, Rules};

use crate::ledger::Ledger;
use crate::scripts;

pub(crate) const MS: Nanos = 1_000_000;
pub(crate) const SECOND: Nanos = 1_000_000_000;

/// What is asked for, and of which world.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) conns: u64,
    pub(crate) calls: u32,
    pub(crate) burst: u32,
    pub(crate) pace: Pace,
    pub(crate) head: bool,
    /// Bytes of the request's body.
    pub(crate) body: usize,
    /// The same time limit for everything.
    pub(crate) timeout: Option<Nanos>,
    pub(crate) limit: Option<Nanos>,
    pub(crate) rules: Rules,
    /// TLS is spoken.
    pub(crate) secure: Option<Secure>,
    pub(crate) reset: bool,
    pub(crate) setup: Setup,
}

/// How connections follow each other.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    Closed(u32),
    Open(Period),
}

/// Collectors by reference, so that they are there after the run.
struct Watch<'a, S>(&'a mut (Ledger, Basic), &'a mut S);

impl<S: Collector> Collector for Watch<'_, S> {
    fn on(&mut self, event: &Event, core: &Core) {
        self.0.on(event, core);
        self.1.on(event, core);
    }
}

/// Does not look.
struct Nobody;

impl Collector for Nobody {
    fn on(&mut self, _: &Event, _: &Core) {}
}

/// What came of a run.
pub(crate) struct Outcome {
    pub(crate) result: io::Result<()>,
    pub(crate) ledger: Ledger,
    pub(crate) basic: BasicSummary,
    /// Of runs with histograms.
    pub(crate) timeline: Option<Timeline>,
    pub(crate) dialogues: Vec<Dialogue>,
    pub(crate) turns: Turns,
    pub(crate) traffic: Traffic,
    pub(crate) ended: Time,
    pub(crate) reached_limit: bool,
    pub(crate) stopped_by: Option<Stop>,
}

impl Case {
    /// One connection after the other, one call each, on a local network without faults.
    pub(crate) fn plain(seed: u64, server: Server) -> Self {
        Self {
            conns: 1,
            calls: 1,
            burst: 1,
            pace: Pace::Closed(1),
            head: false,
            body: 0,
            timeout: None,
            limit: None,
            rules: Rules::default(),
            secure: None,
            reset: false,
            setup: Setup {
                seed,
                network: Network::local(),
                server,
                faults: Faults::default(),
                discard: false,
            },
        }
    }

    /// The run of a seed: most have few faults or none.
    pub(crate) fn draw(seed: u64) -> Self {
        let mut random = Random::keyed(seed, &[u64::MAX]);
        let random = &mut random;
        let longest = random.scale(&(1..=300_000));
        let honest =
            Honest { delay: 1_000..=random.scale(&(MS..=200 * MS)), body: 0..=longest, ..Honest::default() };
        let server = match random.below(10) {
            0..=4 => Server::Honest(honest),
            5..=6 => Server::Several(vec![
                Server::Honest(honest.clone()),
                Server::Honest(honest.clone()),
                Server::Honest(honest),
                scripts::any(random),
            ]),
            7 => Server::Several((0..8).map(|_| scripts::any(random)).collect()),
            8 => Server::Several(vec![Server::Honest(honest.clone()), Server::Mutant(honest)]),
            _ => Server::Several(vec![Server::Honest(honest), Server::Noise]),
        };
        // The original's way of reading takes the body of a 205 for the next reply, and waits for its end.
        let rules = Rules { classic_strict: random.chance(100) };
        let tame = matches!(server, Server::Honest(_)) && !rules.classic_strict;
        let calls = random.scale(&(1..=8)) as u32;
        let rate = random.scale(&(1..=20_000)) as f64;
        let network = Network {
            latency: 1_000..=random.scale(&(1_000..=50 * MS)),
            kib: 0..=random.scale(&(1..=1_000_000)),
            // Long bodies in tiny segments only cost time.
            segment: 1..=random.scale(&(40..=65_536)).max(longest / 50),
        };
        Self {
            conns: random.scale(&(1..=150)),
            calls,
            burst: random.between(&(1..=u64::from(calls))) as u32,
            pace: match random.below(5) {
                0..=1 => Pace::Closed(random.scale(&(1..=20)) as u32),
                2 => Pace::Open(Period::Constant(1.0 / rate)),
                3 => Pace::Open(Period::Exponential(1.0 / rate)),
                _ => Pace::Open(Period::Uniform { min: 0.5 / rate, max: 1.5 / rate }),
            },
            head: random.chance(100),
            body: if random.chance(200) { random.scale(&(1..=100_000)) as usize } else { 0 },
            timeout: (!tame || random.chance(500)).then(|| random.scale(&(5 * MS..=60 * SECOND))),
            limit: random.chance(100).then(|| random.scale(&(MS..=5 * SECOND))),
            rules,
            secure: None,
            reset: false,
            setup: Setup {
                seed,
                network,
                server,
                faults: if random.chance(400) { draw_faults(random) } else { Faults::default() },
                discard: random.chance(500),
            },
        }
    }

    /// Runs a share of it.
    pub(crate) fn run(&self, share: Share) -> Outcome {
        let mut stats = Intervals::new(InPlace::default());
        let (mut outcome, core) = self.watch(share, &mut self.workload(share), &mut stats);
        outcome.timeline = Some(stats.finish(&core));
        outcome
    }

    /// Runs all of it.
    pub(crate) fn whole(&self) -> Outcome {
        self.run(Share::WHOLE)
    }

    /// Runs all of it without histograms, which take most of the time of a small run.
    pub(crate) fn light(&self) -> Outcome {
        self.light_with(&mut self.workload(Share::WHOLE))
    }

    /// Runs another workload in the same world.
    pub(crate) fn light_with(&self, workload: &mut impl Workload) -> Outcome {
        self.watch(Share::WHOLE, workload, &mut Nobody).0
    }

    fn watch(
        &self,
        share: Share,
        workload: &mut impl Workload,
        stats: &mut impl Collector,
    ) -> (Outcome, Core) {
        watch(self.core(share), &self.setup, workload, stats)
    }

    fn workload(&self, share: Share) -> ConnRate {
        let arrivals = match &self.pace {
            Pace::Closed(_) => None,
            Pace::Open(period) => Some(Arrivals::new(period, self.conns, share, 0)),
        };
        ConnRate::new(Pattern {
            conns: share.part_of(self.conns),
            calls: self.calls,
            burst: self.burst,
            arrivals,
            concurrency: if let Pace::Closed(concurrency) = self.pace { concurrency } else { 0 },
            targets: 1,
            request: RequestId(0),
            uris: None,
        })
    }

    fn core(&self, share: Share) -> Core {
        let fields = format!("Content-Length: {}\r\n", self.body);
        let method = if self.head { "HEAD" } else { "" };
        let request = Request::render(&RequestSpec {
            method: method.into(),
            uri: b"/".to_vec(),
            host: Some("model".into()),
            fields: if self.body > 0 { fields.into_bytes() } else { Vec::new() },
            body: vec![b'x'; self.body],
            ..RequestSpec::default()
        });
        Core::new(Scenario {
            deadlines: Deadlines::all(self.timeout),
            rules: self.rules,
            secure: self.secure.clone(),
            socket: SocketOptions { reset: self.reset, ..SocketOptions::default() },
            // Ticks alone would keep a run alive that waits for nothing.
            ticks: self.limit.map(|limit| Ticks { first: limit / 7 + 1, every: limit / 5 + 1 }),
            limit: self.limit,
            share,
            ..Scenario::plain(([127, 0, 0, 1], 80).into(), request)
        })
    }

    /// Nothing but honest servers, time enough, and nobody who ends the run.
    pub(crate) fn is_tame(&self) -> bool {
        let quiet = self.timeout.is_none() && self.limit.is_none() && self.setup.faults.stop.is_none();
        let server = match &self.setup.server {
            Server::Behind(_, server) => server,
            server => server,
        };
        quiet && !self.rules.classic_strict && matches!(server, Server::Honest(_))
    }

    /// Smaller runs that may fail in the same way.
    pub(crate) fn smaller(&self) -> Vec<Case> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut Case)| {
            let mut case = self.clone();
            change(&mut case);
            if format!("{case:?}") != format!("{self:?}") {
                all.push(case);
            }
        };
        add(&|case| case.setup.faults = Faults::default());
        add(&|case| case.conns = case.conns.div_ceil(2));
        add(&|case| case.conns = (case.conns - 1).max(1));
        add(&|case| (case.calls, case.burst) = (1, 1));
        add(&|case| case.calls = case.calls.div_ceil(2).max(case.burst));
        add(&|case| case.burst = case.burst.div_ceil(2));
        add(&|case| case.pace = Pace::Closed(1));
        add(&|case| case.body = 0);
        add(&|case| case.head = false);
        add(&|case| case.limit = None);
        add(&|case| case.setup.discard = false);
        add(&|case| case.setup.network.segment = 65_536..=65_536);
        add(&|case| case.setup.network.kib = 0..=0);
        for fault in 0..10 {
            add(&|case| {
                let faults = &mut case.setup.faults;
                match fault {
                    0 => faults.open = 0,
                    1 => faults.late_open = 0,
                    2 => faults.short_write = 0,
                    3 => faults.short_read = 0,
                    4 => faults.empty_read = 0,
                    5 => faults.stale = 0,
                    6 => faults.early_wake = 0,
                    7 => (faults.late_wake, faults.jump) = (0, 0),
                    8 => faults.small_batch = 0,
                    _ => faults.stop = None,
                }
            });
        }
        if let Server::Several(servers) = &self.setup.server {
            for server in servers {
                add(&|case| case.setup.server = server.clone());
            }
        }
        all
    }
}

/// Runs a core in a world.
pub(crate) fn watch(
    mut core: Core,
    setup: &Setup,
    workload: &mut impl Workload,
    stats: &mut impl Collector,
) -> (Outcome, Core) {
    let mut sim = Sim::new(setup.clone());
    let mut own = (Ledger::default(), Basic::default());
    let result = run(&mut core, &mut sim, workload, &mut Watch(&mut own, stats));
    let (ledger, basic) = own;
    let outcome = Outcome {
        result,
        ledger,
        basic: basic.into_summary(),
        timeline: None,
        dialogues: sim.dialogues().to_vec(),
        turns: sim.turns(),
        traffic: core.traffic(),
        ended: sim.now(),
        reached_limit: core.reached_limit(),
        stopped_by: core.stopped_by(),
    };
    (outcome, core)
}

pub(crate) fn draw_faults(random: &mut Random) -> Faults {
    let mut some = |most: u64| if random.chance(400) { random.scale(&(1..=most)) as u32 } else { 0 };
    let mut faults = Faults {
        open: some(200),
        late_open: some(200),
        short_write: some(500),
        short_read: some(500),
        empty_read: some(300),
        stale: some(300),
        early_wake: some(300),
        late_wake: some(300),
        jump: some(20),
        small_batch: some(500),
        stop: None,
    };
    if random.chance(150) {
        let why = *random.pick(&[Stop::Interrupted, Stop::Terminated, Stop::Error]);
        faults.stop = Some((random.scale(&(1..=10 * SECOND)), why));
    }
    faults
}

impl Outcome {
    /// Whether somebody or the limit ended the run.
    pub(crate) fn cut_short(&self) -> bool {
        self.reached_limit || self.stopped_by.is_some()
    }

    /// How long the run took.
    pub(crate) fn lasted(&self) -> Nanos {
        self.ended.since(ORIGIN)
    }
}
