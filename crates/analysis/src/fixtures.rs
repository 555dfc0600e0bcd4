//! Runs for tests: what both collectors make of them.

use httperf_engine::sim::{Faults, Honest, Network, Random, Server, Setup, Sim};
use httperf_engine::{
    Collector, Completion, ConnId, Core, Deadlines, Input, Nanos, RequestId, Scenario, Share, Stop, Time,
    Transmit,
};
use httperf_load::{Arrivals, ConnRate, Pattern, Period};
use httperf_stat::{Basic, BasicSummary, InPlace, Intervals, Timeline, Times};
use httperf_wire::{Request, RequestSpec};

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const SECOND: Nanos = 1_000_000_000;

type Both = (Basic, Intervals<InPlace>);

pub(crate) fn times(values: &[Nanos]) -> Times {
    values.iter().copied().collect()
}

/// An ordinary run.
pub(crate) fn run() -> (BasicSummary, Timeline) {
    run_with(200, 50_000, 3_000_000)
}

/// Arrivals one after the other, each taken up so late, each with one call that takes
/// so long from its due time.
pub(crate) fn run_with(arrivals: u64, lag: Nanos, response: Nanos) -> (BasicSummary, Timeline) {
    let mut core = Core::new(scenario());
    let mut both: Both = (Basic::default(), Intervals::new(InPlace::default()));
    core.begin(Time(0));
    core.started(Time(0));
    let mut due = Time(0);
    for _ in 0..arrivals {
        let taken_up = due + lag;
        core.schedule(due, 0);
        assert!(core.handle_wake(due, taken_up));
        core.arrive(due);
        let conn = core.connect(0, due, 0);
        handle(&mut core, &mut both, taken_up, conn, Input::Opened);
        handle(&mut core, &mut both, taken_up, conn, Input::Connected);
        assert!(core.issue(conn, RequestId(0), due).is_ok());
        settle(&mut core, &mut both, taken_up);
        let end = (due + response).max(taken_up);
        handle(&mut core, &mut both, end, conn, Input::Data(REPLY));
        core.close(conn);
        settle(&mut core, &mut both, end);
        due = end + 1_000;
    }
    handle(&mut core, &mut both, due, ConnId::NONE, Input::Stop(Stop::Interrupted));
    finish(both, &core)
}

/// A run in which much goes wrong, drawn by its seed; some end early.
pub(crate) fn simulated(seed: u64) -> (BasicSummary, Timeline) {
    let mut random = Random::new(seed);
    let mut rarely = |per_mille| if random.chance(500) { per_mille } else { 0 };
    let mut faults =
        Faults { open: rarely(50), late_open: rarely(50), short_read: rarely(200), ..Faults::default() };
    (faults.late_wake, faults.jump) = (rarely(100), rarely(5));
    faults.stop = seed.is_multiple_of(3).then_some((seed * SECOND / 10, Stop::Interrupted));
    let servers = [
        Server::Honest(Honest::default()),
        Server::Honest(Honest::default()),
        Server::Mutant(Honest::default()),
        Server::Noise,
    ];
    let period = Period::Exponential(0.002);
    let mut driver = Sim::new(Setup {
        seed,
        network: Network::local(),
        server: Server::Several(servers.to_vec()),
        faults,
        discard: seed.is_multiple_of(2),
    });
    let mut workload = ConnRate::new(Pattern {
        conns: 300,
        calls: 3,
        burst: 1 + seed as u32 % 3,
        arrivals: (!seed.is_multiple_of(5)).then(|| Arrivals::new(&period, 300, Share::WHOLE, 0)),
        concurrency: 7,
        targets: 1,
        request: RequestId(0),
        uris: None,
    });
    let mut core = Core::new(scenario());
    let mut both: Both = (Basic::default(), Intervals::new(InPlace::default()));
    let outcome = httperf_engine::run(&mut core, &mut driver, &mut workload, &mut both);
    assert!(outcome.is_ok(), "{outcome:?}");
    finish(both, &core)
}

fn scenario() -> Scenario {
    let request = Request::render(&RequestSpec { uri: "/".into(), ..RequestSpec::default() });
    let deadlines = Deadlines::all(Some(2 * SECOND));
    Scenario { deadlines, ..Scenario::plain(([127, 0, 0, 1], 80).into(), request) }
}

fn handle(core: &mut Core, both: &mut Both, at: Time, conn: ConnId, input: Input<'_>) {
    settle(core, both, at);
    core.handle(Completion { at, conn, input });
    settle(core, both, at);
}

/// Drains everything; writes go out whole and at once.
fn settle(core: &mut Core, both: &mut Both, at: Time) {
    loop {
        while let Some(event) = core.poll() {
            both.on(&event, core);
        }
        match core.poll_transmit() {
            Some(Transmit::Write { conn, bytes }) => {
                let input = Input::Sent(bytes.len());
                core.handle(Completion { at, conn, input });
            }
            Some(_) => {}
            None => return,
        }
    }
}

fn finish((basic, intervals): Both, core: &Core) -> (BasicSummary, Timeline) {
    (basic.into_summary(), intervals.finish(core))
}
