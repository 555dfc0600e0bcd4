//! One run of a pool as plain data, and what must hold after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use httperf_engine::sim::{Accept, Act, Honest, Network, ORIGIN, Random, Script, Server};
use httperf_engine::{
    Cause, Collector, Core, Deadlines, Event, Nanos, RequestId, Scenario, Share, Time, Workload,
};
use httperf_load::{Choice, Demand, Pool, PoolSpec, Process, Schedule, Stages};
use httperf_stat::{InPlace, Intervals};
use httperf_wire::{Request, RequestSpec};

use crate::case::{self, MS, Outcome, SECOND, draw_faults};
use crate::laws::{check_common, demand, sum};
use crate::scripts;

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// What makes calls due.
#[derive(Clone, Debug)]
pub(crate) enum Drive {
    Open { stages: Stages, process: Process, total: Option<u64>, shed: bool },
    Closed { calls: Option<u64> },
}

/// What is asked for, and of which world.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) drive: Drive,
    pub(crate) connections: u32,
    pub(crate) pipeline: u32,
    pub(crate) calls_per_connection: Option<u32>,
    pub(crate) targets: u32,
    pub(crate) weights: Vec<u32>,
    /// For connects, and for each call.
    pub(crate) timeout: Option<Nanos>,
    /// The world, and the time of the run.
    pub(crate) world: case::Case,
}

/// What came of a run.
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    pub(crate) seen: Seen,
    pub(crate) waiting: u64,
    pub(crate) waiting_since: Vec<Time>,
    pub(crate) not_started: u64,
    pub(crate) gave_up: Option<u64>,
}

/// What the ledger does not book.
#[derive(Default)]
pub(crate) struct Seen {
    /// Calls by the number of their request; those that were made again count again.
    pub(crate) requests: BTreeMap<u32, u64>,
    /// Connections by target.
    pub(crate) targets: BTreeMap<u32, u64>,
    /// Serial numbers of calls.
    pub(crate) serials: Vec<u64>,
    /// When connects were begun.
    pub(crate) connects: Vec<Time>,
    live: u32,
    pub(crate) live_most: u32,
    in_flight: u64,
    pub(crate) in_flight_most: u64,
}

impl Collector for Seen {
    fn on(&mut self, event: &Event, core: &Core) {
        match *event {
            Event::CallIssued { call, .. } => {
                let call = core.call(call).expect("a call in its slot");
                *self.requests.entry(call.request.0).or_default() += 1;
                self.serials.push(call.serial);
                self.in_flight += 1;
                self.in_flight_most = self.in_flight_most.max(self.in_flight);
            }
            Event::CallRecvStop { .. } | Event::CallFailed { .. } | Event::CallAborted { .. } => {
                self.in_flight -= 1;
            }
            Event::ConnConnecting { conn, at } => {
                let conn = core.conn(conn).expect("a connection in its slot");
                *self.targets.entry(conn.target).or_default() += 1;
                self.connects.push(at);
                self.live += 1;
                self.live_most = self.live_most.max(self.live);
            }
            Event::ConnClosed { conn, .. } | Event::ConnAborted { conn, .. } => {
                self.live -= u32::from(core.conn(conn).is_some_and(|conn| conn.created.is_set()));
            }
            _ => {}
        }
    }
}

/// The collector of a run with histograms, and of one without.
struct Both<'a, S>(&'a mut Seen, &'a mut S);

impl<S: Collector> Collector for Both<'_, S> {
    fn on(&mut self, event: &Event, core: &Core) {
        self.0.on(event, core);
        self.1.on(event, core);
    }
}

/// A server that refuses every connection.
pub(crate) fn refusing() -> Server {
    Server::Scripted(Arc::new(Script { accept: Accept::Refused { after: 0 }, ..Script::answering([]) }))
}

/// A server that answers every request after so long.
pub(crate) fn serving(delay: Nanos) -> Server {
    answering([Act::Wait(delay), Act::send(OK)])
}

/// A server that does this for every request.
pub(crate) fn answering<const N: usize>(acts: [Act; N]) -> Server {
    Server::Scripted(Arc::new(Script::answering(acts)))
}

/// A server that answers so many requests at once, and does this then.
pub(crate) fn after(replies: usize, acts: &[Act]) -> Server {
    let mut turns = vec![vec![Act::send(OK)]; replies - 1];
    turns.push([&[Act::send(OK)], acts].concat());
    turns.push(vec![]);
    Server::Scripted(Arc::new(Script { turns, ..Script::answering([]) }))
}

impl Case {
    /// Constant arrivals at this rate, so many, each way a nanosecond.
    pub(crate) fn open(per_s: f64, total: u64, server: Server) -> Self {
        let drive = Drive::Open {
            stages: Stages::constant(per_s),
            process: Process::Constant,
            total: Some(total),
            shed: false,
        };
        Self::new(drive, Pool::CONNECTIONS_MAX, server)
    }

    /// So many calls on so many connections, each way a nanosecond.
    pub(crate) fn closed(connections: u32, calls: u64, server: Server) -> Self {
        Self::new(Drive::Closed { calls: Some(calls) }, connections, server)
    }

    fn new(drive: Drive, connections: u32, server: Server) -> Self {
        let mut world = case::Case::plain(1, server);
        world.setup.network = Network { latency: 1..=1, kib: 0..=0, segment: 65_536..=65_536 };
        Self {
            drive,
            connections,
            pipeline: 1,
            calls_per_connection: None,
            targets: 1,
            weights: vec![1],
            timeout: None,
            world,
        }
    }

    pub(crate) fn shed(mut self) -> Self {
        if let Drive::Open { shed, .. } = &mut self.drive {
            *shed = true;
        }
        self
    }

    pub(crate) fn limit(mut self, limit: Nanos) -> Self {
        self.world.limit = Some(limit);
        self
    }

    pub(crate) fn draw(seed: u64) -> Self {
        let mut random = Random::keyed(seed, &[4711]);
        let random = &mut random;
        let honest =
            Honest { delay: 1_000..=random.scale(&(MS..=100 * MS)), body: 0..=2_000, ..Honest::default() };
        let server = match random.below(9) {
            0..=3 => Server::Honest(honest),
            8 if random.chance(500) => refusing(),
            4 => after(1 + random.below(4) as usize, &[Act::Shut]),
            5 => Server::Several(vec![Server::Honest(honest.clone()), Server::Mutant(honest)]),
            _ => Server::Several(vec![
                Server::Honest(honest.clone()),
                Server::Honest(honest),
                scripts::any(random),
            ]),
        };
        let drive = if random.chance(350) {
            Drive::Closed { calls: random.chance(700).then(|| random.scale(&(1..=400))) }
        } else {
            let rate = random.scale(&(20..=5_000));
            let text =
                format!("ramp 0..{rate} over 200ms, hold 100ms, step {rate} every 50ms to {}", 3 * rate);
            Drive::Open {
                stages: Stages::parse(&text).expect("stages"),
                process: *random.pick(&[Process::Constant, Process::Poisson, Process::Uniform]),
                total: Some(random.scale(&(1..=600))),
                shed: random.chance(300),
            }
        };
        let endless = matches!(drive, Drive::Closed { calls: None });
        let mut case = Self {
            connections: random.scale(&(1..=60)) as u32,
            pipeline: if random.chance(300) { random.between(&(1..=4)) as u32 } else { 1 },
            calls_per_connection: random.chance(250).then(|| random.scale(&(1..=20)) as u32),
            targets: random.between(&(1..=3)) as u32,
            weights: vec![1, 3],
            timeout: Some(random.scale(&(20 * MS..=2 * SECOND))),
            ..Self::new(drive, 1, server)
        };
        case.world.setup.seed = seed;
        case.world.setup.network =
            Network { latency: 1_000..=random.scale(&(1_000..=5 * MS)), ..Network::local() };
        if random.chance(400) {
            case.world.setup.faults = draw_faults(random);
        }
        // A server that breaks every connection can keep a run going for as long as it is asked for.
        let limit = if endless { 50 * MS..=SECOND } else { SECOND..=20 * SECOND };
        case.world.limit = Some(random.scale(&limit));
        case
    }

    pub(crate) fn schedule(&self, share: Share) -> Option<Schedule> {
        let Drive::Open { stages, process, total, .. } = &self.drive else { return None };
        Some(Schedule::new(stages, *process, *total, share, self.world.setup.seed))
    }

    pub(crate) fn pool(&self, share: Share) -> Pool {
        let demand = match &self.drive {
            Drive::Open { shed, .. } => {
                Demand::Open { arrivals: self.schedule(share).expect("an open loop"), shed: *shed }
            }
            Drive::Closed { calls } => Demand::Closed { calls: calls.map(|calls| share.part_of(calls)) },
        };
        let weights: Vec<_> =
            (0..).zip(&self.weights).map(|(request, weight)| (RequestId(request), *weight)).collect();
        Pool::new(PoolSpec {
            demand,
            connections: share.part_of(self.connections.into()) as u32,
            pipeline: self.pipeline,
            calls_per_connection: self.calls_per_connection,
            targets: self.targets,
            choice: Choice::new(&weights, self.world.setup.seed),
        })
    }

    fn core(&self, share: Share) -> Core {
        let spec = RequestSpec { uri: b"/".to_vec(), host: Some("model".into()), ..RequestSpec::default() };
        let request = Request::render(&spec);
        let deadlines = self.timeout.map_or(Deadlines::default(), Deadlines::per_call);
        Core::new(Scenario {
            targets: vec![([127, 0, 0, 1], 80).into(); self.targets as usize],
            requests: vec![request.clone(); self.weights.len()].into(),
            deadlines,
            limit: self.world.limit,
            share,
            ..Scenario::plain(([127, 0, 0, 1], 80).into(), request)
        })
    }

    /// Runs a share with this workload, which can be looked at afterwards.
    pub(crate) fn play_with(&self, share: Share, pool: &mut Pool, histograms: bool) -> Played {
        let mut seen = Seen::default();
        let core = self.core(share);
        let setup = &self.world.setup;
        let mut stats = Intervals::new(InPlace::default());
        let (mut outcome, core) = if histograms {
            case::watch(core, setup, pool, &mut Both(&mut seen, &mut stats))
        } else {
            case::watch(core, setup, pool, &mut Both(&mut seen, &mut ()))
        };
        outcome.timeline = histograms.then(|| stats.finish(&core));
        Played {
            seen,
            waiting: pool.waiting(),
            waiting_since: pool.waiting_since().collect(),
            not_started: pool.not_started(core.began_at(), outcome.ended),
            gave_up: pool.gave_up(),
            outcome,
        }
    }

    pub(crate) fn play(&self, share: Share) -> Played {
        self.play_with(share, &mut self.pool(share), false)
    }

    /// Runs all of it, and demands what must hold.
    pub(crate) fn checked(&self) -> Played {
        let played = self.play_with(Share::WHOLE, &mut self.pool(Share::WHOLE), true);
        self.check(&played).unwrap_or_else(|error| panic!("{error}\n{self:?}"));
        played
    }

    /// The first law that is broken.
    pub(crate) fn check(&self, played: &Played) -> Result<(), String> {
        let outcome = &played.outcome;
        check_common(&self.world, outcome)?;
        self.connections_stay_below_the_cap(played)?;
        self.calls_are_conserved(played)?;
        self.arrivals_are_those_of_the_schedule(played)
    }

    fn connections_stay_below_the_cap(&self, played: &Played) -> Result<(), String> {
        let totals = &played.outcome.ledger.totals;
        let begun = totals.connected + sum(&totals.not_connected) + totals.aborted[1];
        demand(totals.connecting == begun, || format!("{} connects: {totals:?}", totals.connecting))?;
        let (live, calls) = (played.seen.live_most, played.seen.in_flight_most);
        demand(live <= self.connections, || format!("{live} connections at once"))?;
        let room = u64::from(self.connections) * u64::from(self.pipeline);
        demand(calls <= room, || format!("{calls} calls at once"))?;
        let most = self.calls_per_connection.map_or(u32::MAX, |calls| calls);
        let longest = played.outcome.dialogues.iter().map(|it| it.requests).max().unwrap_or(0);
        demand(longest <= most, || format!("{longest} calls on one connection"))
    }

    fn calls_are_conserved(&self, played: &Played) -> Result<(), String> {
        let totals = &played.outcome.ledger.totals;
        let failed = sum(&totals.calls_failed);
        let known = totals.replies() + failed + totals.calls_aborted;
        demand(totals.issued == known, || format!("{} calls, {known} known", totals.issued))?;
        // What was lost with an idle connection was made again, unless the run ended first.
        let lost = totals.calls_failed.get(&Cause::ClosedIdle).copied().unwrap_or(0);
        let settled = totals.replies() + totals.calls_aborted + failed - lost;
        let begun = (totals.arrivals).checked_sub(totals.shed + played.waiting);
        let cut = played.outcome.cut_short() || played.gave_up.is_some();
        let fits = begun.is_some_and(|begun| {
            if cut { settled <= begun && begun <= settled + lost } else { settled == begun }
        });
        demand(fits, || format!("{} waited, {} lost: {totals:?}", played.waiting, lost))?;
        let mut serials = played.seen.serials.clone();
        serials.sort_unstable();
        serials.dedup();
        let calls = serials.len() as u64;
        demand(Some(calls) == begun, || format!("{calls} calls are no {begun:?} arrivals"))?;
        let none = !totals.broken.contains_key(&Cause::ClosedIdle);
        demand(none, || format!("an end between calls was an error: {totals:?}"))?;
        let dues = played.waiting_since.len() as u64;
        demand(dues == played.waiting, || format!("{dues} due times of {} calls", played.waiting))
    }

    fn arrivals_are_those_of_the_schedule(&self, played: &Played) -> Result<(), String> {
        let totals = &played.outcome.ledger.totals;
        let cut = played.outcome.cut_short() || played.gave_up.is_some();
        let Some(schedule) = self.schedule(Share::WHOLE) else {
            let Drive::Closed { calls } = self.drive else { return Ok(()) };
            let all = cut || calls == Some(totals.arrivals);
            return demand(all && totals.shed == 0, || format!("of {calls:?} calls {}", totals.arrivals));
        };
        let came: Vec<Time> = played.outcome.ledger.arrivals.iter().map(|(due, _)| *due).collect();
        let planned: Vec<Time> = schedule.map(|arrival| ORIGIN + arrival.due).collect();
        demand(planned.starts_with(&came), || "arrivals that nobody planned".into())?;
        let end = match self.world.limit {
            Some(limit) if played.outcome.reached_limit => ORIGIN + limit,
            _ => played.outcome.ended,
        };
        if !cut || played.outcome.reached_limit && !self.world.setup.faults.delay() {
            let due = planned.iter().filter(|due| **due < end).count() as u64;
            let known = totals.arrivals + played.not_started;
            demand(!cut || due == known, || format!("{due} were due, {known} known"))?;
            demand(cut || came.len() == planned.len(), || format!("{} of {}", came.len(), planned.len()))?;
        }
        Ok(())
    }
}
