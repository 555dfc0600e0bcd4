//! Drawn runs of sessions, their shares, and very many at once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use httperf_engine::Share;
use httperf_engine::sim::{Faults, Honest, Random, Server};
use httperf_load::{Cookies, Period, Room};

use super::case::{SessionCase, What};
use crate::case::{Case, MS, Pace, SECOND};
use crate::ledger::Totals;

impl SessionCase {
    /// The run of a seed.
    fn draw(seed: u64) -> Self {
        let mut random = Random::keyed(seed, &[u64::MAX - 1]);
        let random = &mut random;
        let mut world = Case::draw(seed);
        world.conns = world.conns.min(60);
        world.timeout = world.timeout.or(Some(30 * SECOND));
        let think = if random.chance(300) { 0 } else { random.scale(&(1..=SECOND)) };
        let what = match random.below(5) {
            0..=1 => What::Log(
                (0..random.between(&(1..=5)))
                    .map(|_| {
                        let bursts = random.between(&(1..=4));
                        (0..bursts)
                            .map(|_| (random.scale(&(1..=20)) as usize, random.scale(&(0..=SECOND))))
                            .collect()
                    })
                    .collect(),
            ),
            2 => What::Page { pages: random.between(&(1..=4)) as u32, think },
            _ => {
                let (calls, burst) = (random.scale(&(1..=12)) as u32, random.scale(&(1..=12)) as u32);
                What::Wsess { calls, burst, think, uris: None }
            }
        };
        let http_1_0 = random.chance(150);
        let conns = random.between(&(1..=4)) as u32;
        let piped = if http_1_0 { 1 } else { random.scale(&(1..=32)) as u32 };
        Self {
            world,
            what,
            room: if random.chance(500) { Room { conns, piped } } else { Room::classic(0, 0, http_1_0) },
            http_1_0,
            failure_status: random.chance(300).then(|| *random.pick(&[503, 404, 200])),
            retry: random.chance(400),
            cookies: match random.below(4) {
                0 => Some(Cookies::last()),
                1 => Some(Cookies::jar()),
                _ => None,
            },
            targets: random.between(&(1..=3)) as u16,
        }
    }
}

/// What is wrong with the run of a seed, if anything.
fn verdict(case: &SessionCase) -> Result<(), String> {
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let (first, second) = (case.run(Share::WHOLE), case.run(Share::WHOLE));
        case.check(&first)?;
        let (one, other) = (&first.outcome.ledger.events, &second.outcome.ledger.events);
        if let Some(at) = one.iter().zip(other).position(|(one, other)| one != other) {
            return Err(format!("run twice, event {at} was {:?}, then {:?}", one[at], other[at]));
        }
        let same = first.outcome.dialogues == second.outcome.dialogues && one.len() == other.len();
        if same { Ok(()) } else { Err("run twice, it was not the same".into()) }
    }));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?")))
    })
}

#[test]
fn sessions_are_conserved_and_replay_for_200_seeds() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seeds = match number("SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SIM_SEEDS").unwrap_or(200),
    };
    let mut failures = Vec::new();
    for seed in seeds {
        let case = SessionCase::draw(seed);
        if let Err(error) = verdict(&case) {
            println!("seed {seed}: {error}\n  {case:?}");
            failures.push(seed);
        }
    }
    let again = "again: SIM_SEED=N cargo test -p httperf-load --test sim sessions::drawn";
    assert!(failures.is_empty(), "these seeds fail: {failures:?}; {again}");
}

#[test]
fn seeds_reach_every_way_a_session_can_end() {
    let (mut ended, mut overflows, mut again) = ([0; 3], 0, 0);
    for seed in 0..100 {
        let came = SessionCase::draw(seed).run(Share::WHOLE);
        ended.iter_mut().zip(came.outcome.ledger.totals.sessions_ended).for_each(|(all, one)| *all += one);
        overflows += u64::from(came.error.is_some());
        let mut serials: Vec<u64> = came.book.asked.iter().map(|asked| asked.serial).collect();
        serials.sort_unstable();
        again += serials.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
    assert!(ended.iter().all(|ways| *ways > 20), "{ended:?}");
    assert!(overflows > 0 && again > 100, "{overflows} overflows, {again} calls sent again");
}

#[test]
fn four_shares_see_what_one_thread_sees() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let honest = Honest { statuses: vec![200, 200, 200, 200, 503], ..Honest::default() };
        let servers = vec![
            Server::Honest(honest.clone()),
            Server::Honest(honest.clone()),
            Server::Mutant(honest),
            crate::scripts::any(&mut random),
        ];
        let rate = random.scale(&(20..=2000)) as f64;
        let what = match seed % 2 {
            0 => What::Wsess { calls: 5, burst: 3, think: 7 * MS, uris: None },
            _ => What::Log(vec![vec![(4, 3 * MS), (2, 0)], vec![(9, 0)], vec![(1, MS); 3]]),
        };
        let mut case = SessionCase::new(Server::Several(servers), 61, what);
        case.world.setup.seed = seed;
        case.world.pace =
            Pace::Open(random.pick(&[Period::Constant(1.0 / rate), Period::Exponential(1.0 / rate)]).clone());
        case.world.timeout = Some(10 * SECOND);
        case.world.setup.faults =
            Faults { short_write: 100, short_read: 100, late_open: 20, open: 20, ..Faults::default() };
        case.room = Room { conns: 1 + seed as u32 % 4, piped: 8 };
        case.retry = seed % 3 == 0;
        case.failure_status = (seed % 4 == 1).then_some(503);
        let whole = case.whole();
        let mut totals = Totals::default();
        for index in 0..4 {
            let part = case.run(Share { index, of: 4 });
            let complaints = &part.outcome.ledger.complaints;
            assert!(part.outcome.result.is_ok() && complaints.is_empty(), "{complaints:?}");
            totals.add(&part.outcome.ledger.totals);
        }
        assert_eq!(totals, whole.outcome.ledger.totals, "seed {seed}");
    }
}

#[test]
fn ten_thousand_sessions_at_once() {
    let server = Server::Honest(Honest { close: 0, body: 0..=500, ..Honest::default() });
    let mut case = SessionCase::wsess(server, 10_000, 3, 2, SECOND);
    case.world.pace = Pace::Open(Period::Constant(0.000_01));
    let came = case.whole();
    assert_eq!(came.counts(), [10_000, 30_000, 30_000, 10_000, 0]);
    assert_eq!(came.book.going_max, 10_000);
    assert!(came.outcome.lasted() < 3 * SECOND);
}
