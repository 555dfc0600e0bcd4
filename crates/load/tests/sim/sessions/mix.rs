//! Sessions of a mix: when they come, what they call, and how it went for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use httperf_engine::sim::{Accept, Act, Honest, ORIGIN, Random, Script as Course, Server};
use httperf_engine::{Nanos, RequestId, Share};
use httperf_load::{Mix, MixClass, Wmix, WmixNews, WmixSpec};
use httperf_stat::{Limits, Quality};
use httperf_wire::RequestSpec;

use super::case::{Came, OK, SessionCase, What, answers, in_turn};
use crate::case::{Case, MS, Pace, SECOND};
use crate::ledger::Totals;
use crate::scripts;

/// Two classes; the beginning of `[sessions]` is given.
fn mix(sessions: &str) -> Arc<Mix> {
    let text = format!(
        "[sessions]\n{sessions}\n[quality]\ngood = '20ms'\ntolerable = '50ms'\n\
         [[class]]\nname = 'files'\nweight = 70\nuri = '/files/{{file:02}}'\npick.file = {{ count = 40 }}\n\
         [[class]]\nname = 'forms'\nweight = 30\nuri = '/form?{{session}}.{{call}}'\nbody = 'a=b'\n"
    );
    Arc::new(Mix::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// The request of a class, but for its URI.
pub(super) fn request(class: &MixClass) -> RequestSpec {
    RequestSpec {
        method: class.method.clone().into(),
        uri: "/".into(),
        fields: class.fields.clone(),
        body: class.body.clone(),
        ..RequestSpec::default()
    }
}

impl SessionCase {
    /// Sessions as a mix says, in a world.
    fn of_mix(world: Case, mix: Arc<Mix>, seed: u64) -> Self {
        let pace = Pace::Open(mix.period().clone());
        let what = What::Mix { mix, seed };
        Self { world: Case { pace, ..world.clone() }, ..Self::new(world.setup.server, 0, what) }
    }

    /// A mix with the seed of client 0.
    fn mix(server: Server, sessions: &str) -> Self {
        let mut case = Self::of_mix(Case::plain(1, server), mix(sessions), 0);
        case.world.conns = case.run(Share::WHOLE).outcome.ledger.totals.sessions;
        case
    }

    pub(super) fn run_mix(&self, share: Share, mix: Arc<Mix>, seed: u64) -> Came {
        let limits =
            mix.quality().map(|limits| Limits { good_ns: limits.good_ns, tolerable_ns: limits.tolerable_ns });
        let mut quality = Quality::new(limits, mix.classes().iter().map(|class| class.name.clone()));
        let requests =
            (1..=mix.classes().len() as u32).map(|class| RequestId(class * u32::from(self.targets)));
        let spec = WmixSpec { seed, requests: requests.collect(), mix };
        let came = self.follow(
            share,
            Wmix::new(spec, |class, news| match news {
                WmixNews::Called => quality.began(class),
                WmixNews::Answered(answer) => {
                    quality.answered(class, answer.response_ns, answer.status, answer.bytes);
                }
                WmixNews::Lost => quality.lost(class),
            }),
        );
        Came { quality: Some(quality), ..came }
    }
}

/// The quality that a run's users saw.
fn quality(came: &Came) -> &Quality {
    came.quality.as_ref().expect("of a mix")
}

/// Calls, replies, lost ones, unfinished ones, and the grades, of all classes.
fn counts(came: &Came) -> ([u64; 4], [u64; 3]) {
    let total = quality(came).total();
    ([total.calls, total.replies, total.lost, total.unfinished()], total.grades)
}

/// The method and the URI of each request.
fn asked(came: &Came) -> Vec<String> {
    let line = |text: &str| text.split(' ').take(2).collect::<Vec<_>>().join(" ");
    came.book.asked.iter().map(|asked| line(&asked.text)).collect()
}

fn honest() -> Server {
    Server::Honest(Honest { close: 0, statuses: vec![200], ..Honest::default() })
}

#[test]
fn calls_follow_each_other_after_the_think_time_to_the_nanosecond() {
    let sessions = "rate = 2\narrivals = 'constant'\ncount = 2\n\
        length = { distribution = 'constant', mean = 3 }\nthink = { distribution = 'constant', mean = '100000001ns' }";
    let came = SessionCase::mix(answers([Act::send(OK)]), sessions).whole();
    assert_eq!((came.counts(), counts(&came)), ([2, 6, 6, 2, 0], ([6, 6, 0, 0], [6, 0, 0])));
    let think = 100 * MS + 1;
    for (session, three) in came.outcome.ledger.replies.chunks(3).enumerate() {
        assert_eq!(three[0].due, ORIGIN + session as u64 * SECOND / 2);
        assert_eq!((three[1].due, three[2].due), (three[0].last + think, three[1].last + think));
        assert_eq!(came.book.seen[session].ended.map(|ended| ended.1), Some(three[2].last));
    }
    let bytes: u64 = came.book.headers.iter().map(|header| u64::from(*header) + 5).sum();
    assert_eq!(quality(&came).total().bytes, bytes);
}

#[test]
fn each_class_has_its_request_and_each_call_its_uri() {
    let came = SessionCase::mix(honest(), "rate = 50\ncount = 200\nlength = { mean = 5 }").whole();
    let asked = asked(&came);
    let files = asked.iter().filter(|line| line.starts_with("GET /files/")).count() as u64;
    let forms = asked.iter().filter(|line| line.starts_with("POST /form?")).count() as u64;
    let calls: Vec<u64> = quality(&came).classes().iter().map(|class| class.calls).collect();
    assert_eq!(calls, [files, forms]);
    assert_eq!(files + forms, asked.len() as u64);
    assert!(files > 500 && forms > 200, "{files} files, {forms} forms");
    let form = came.book.asked.iter().find(|asked| asked.text.starts_with("POST")).expect("one of them");
    assert!(form.text.ends_with("Content-Length: 3\r\n\r\na=b"), "{}", form.text);
    // Numbers of calls count from 0 in each session.
    assert!(asked.iter().any(|line| line.ends_with(".0")) && asked.iter().any(|line| line.ends_with(".7")));
}

#[test]
fn a_duration_ends_the_arrivals_and_not_the_sessions() {
    let sessions = "rate = 100\nduration = '500ms'\nlength = { distribution = 'constant', mean = 2 }\n\
        think = { distribution = 'constant', mean = '2s' }";
    let came = SessionCase::mix(honest(), sessions).whole();
    let begun = came.book.seen.len() as u64;
    assert!((25..100).contains(&begun), "{begun}");
    assert!(came.book.seen.iter().all(|seen| seen.began < ORIGIN + SECOND / 2));
    assert_eq!(counts(&came).0, [2 * begun, 2 * begun, 0, 0]);
    let lasted = came.outcome.lasted();
    assert!((2 * SECOND..3 * SECOND).contains(&lasted), "{lasted}");
}

#[test]
fn a_share_without_sessions_ends_at_once() {
    let case = SessionCase::mix(honest(), "rate = 1\ncount = 2\nlength = { mean = 1 }");
    for (index, sessions) in [1, 1, 0, 0].into_iter().enumerate() {
        let came = case.run(Share { index: index as u32, of: 4 });
        assert_eq!(came.outcome.ledger.totals.sessions, sessions, "{index}");
        assert!(sessions > 0 || came.outcome.lasted() < MS);
    }
}

#[test]
fn a_server_that_refuses_everybody_fails_the_first_call_of_each_session() {
    let accept = Accept::Refused { after: 0 };
    let server = Server::Scripted(Arc::new(Course { accept, ..Course::answering([]) }));
    for (retry, attempts) in [(false, 1), (true, 10)] {
        let mut case = SessionCase::mix(server.clone(), "rate = 50\ncount = 30\nlength = { mean = 5 }");
        case.retry = retry;
        let came = case.whole();
        assert_eq!(came.counts(), [30 * attempts, 0, 0, 0, 30]);
        assert_eq!(counts(&came), ([30, 0, 30, 0], [0, 0, 30]), "nothing was ever issued");
        let lost: Vec<u64> = quality(&came).classes().iter().map(|class| class.lost).collect();
        assert!(lost.iter().all(|lost| *lost > 2), "in both classes: {lost:?}");
    }
}

/// A mix of one session of two calls.
const TWO: &str = "rate = 1\ncount = 1\nlength = { distribution = 'constant', mean = 2 }";

#[test]
fn response_times_make_the_grades() {
    let after = |wait: Nanos| vec![Act::Wait(wait), Act::send(OK)];
    for (waits, grades) in [([MS, 30 * MS], [1, 1, 0]), ([30 * MS, 90 * MS], [0, 1, 1])] {
        let came = SessionCase::mix(in_turn(waits.map(after).into()), TWO).whole();
        assert_eq!(counts(&came), ([2, 2, 0, 0], grades));
        let longest = came.outcome.ledger.replies.iter().map(|reply| reply.last.since(reply.due)).max();
        let max_s = quality(&came).total().response_s.max;
        assert_eq!(Some((max_s * 1e9).round() as Nanos), longest);
    }
}

#[test]
fn a_call_that_is_made_again_is_one_call_since_it_was_due_first() {
    let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    let turns = vec![vec![Act::Wait(15 * MS), Act::send(busy)], vec![Act::Wait(15 * MS), Act::send(OK)]];
    let mut case = SessionCase::mix(in_turn(turns), TWO);
    // Not tried again, it is a reply, and a bad one.
    assert_eq!(counts(&case.whole()), ([2, 2, 0, 0], [1, 0, 1]));
    assert_eq!(quality(&case.whole()).total().server_errors, 1);
    // A reply that fails the session is none.
    case.failure_status = Some(503);
    assert_eq!(counts(&case.whole()), ([1, 0, 1, 0], [0, 0, 1]));
    // Each attempt takes less than 20 ms, both together more.
    case.retry = true;
    let came = case.whole();
    let ([calls, replies, lost, _], grades) = counts(&came);
    assert_eq!((calls, replies, lost), (2, 2, 0));
    assert!(grades[1] >= 1 && grades[2] == 0, "{grades:?}");
    // A connection that is lost after a reply.
    let closes = answers([Act::send(OK), Act::Close]);
    let came = SessionCase::mix(closes, TWO).whole();
    assert_eq!((came.counts(), counts(&came)), ([2, 3, 2, 1, 0], ([2, 2, 0, 0], [2, 0, 0])));
}

#[test]
fn what_is_going_on_when_the_run_ends_has_no_grade() {
    let mut case = SessionCase::mix(
        answers([Act::Wait(SECOND), Act::send(OK)]),
        "rate = 20\ncount = 60\nlength = { mean = 3 }",
    );
    case.world.limit = Some(2 * SECOND);
    let came = case.whole();
    let ([calls, replies, lost, unfinished], grades) = counts(&came);
    assert_eq!((calls, lost), (replies + unfinished, 0));
    assert_eq!(grades, [0, 0, replies]);
    assert!(replies > 0 && unfinished > 0, "{replies} replies, {unfinished} unfinished");
}

#[test]
fn four_shares_see_what_one_thread_sees() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let honest = Honest { statuses: vec![200, 200, 200, 200, 503], ..Honest::default() };
        let servers = vec![Server::Honest(honest.clone()), Server::Mutant(honest), scripts::any(&mut random)];
        let rate = random.scale(&(20..=2000));
        let limit = if seed % 2 == 0 { "count = 61" } else { "duration = '300ms'" };
        let sessions = format!(
            "rate = {rate}\n{limit}\nlength = {{ mean = 4 }}\nthink = {{ distribution = 'exponential', mean = '9ms' }}"
        );
        let mut case = SessionCase::mix(Server::Several(servers), &sessions);
        case.world.setup.seed = seed;
        case.world.timeout = Some(10 * SECOND);
        case.retry = seed % 3 == 0;
        case.failure_status = (seed % 4 == 1).then_some(503);
        let whole = case.whole();
        let (mut totals, mut seen, mut all) = (Totals::default(), None::<Quality>, Vec::new());
        for index in 0..4 {
            let part = case.run(Share { index, of: 4 });
            let complaints = &part.outcome.ledger.complaints;
            assert!(part.outcome.result.is_ok() && complaints.is_empty(), "{complaints:?}");
            totals.add(&part.outcome.ledger.totals);
            all.extend(asked(&part));
            match &mut seen {
                Some(seen) => seen.merge(quality(&part)),
                None => seen.clone_from(&part.quality),
            }
        }
        let mut expected = asked(&whole);
        expected.sort_unstable();
        all.sort_unstable();
        assert_eq!(all, expected, "seed {seed}");
        assert_eq!(totals, whole.outcome.ledger.totals, "seed {seed}");
        let figures = |quality: &Quality| -> Vec<_> {
            let of = |class: &httperf_stat::ClassQuality| {
                (class.calls, class.replies, class.lost, class.server_errors, class.bytes, class.grades)
            };
            quality.classes().iter().map(of).collect()
        };
        assert_eq!(seen.as_ref().map(figures), Some(figures(quality(&whole))), "seed {seed}");
    }
}

/// The run of a seed.
fn draw(seed: u64) -> SessionCase {
    let mut random = Random::keyed(seed, &[u64::MAX - 2]);
    let mut world = Case::draw(seed);
    world.conns = world.conns.min(60);
    world.timeout = world.timeout.or(Some(30 * SECOND));
    let sessions = format!(
        "rate = {}\ncount = {}\nlength = {{ mean = {} }}\nthink = {{ distribution = 'exponential', mean = '{}ms' }}",
        random.scale(&(1..=5000)),
        world.conns,
        random.between(&(1..=9)),
        random.scale(&(1..=1000))
    );
    SessionCase {
        failure_status: random.chance(300).then(|| *random.pick(&[503, 404, 200])),
        retry: random.chance(400),
        targets: random.between(&(1..=3)) as u16,
        ..SessionCase::of_mix(world, mix(&sessions), seed)
    }
}

/// What is wrong with the run of a seed, if anything.
fn verdict(case: &SessionCase) -> Result<([u64; 4], [u64; 3]), String> {
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let (first, second) = (case.run(Share::WHOLE), case.run(Share::WHOLE));
        case.check(&first)?;
        if first.outcome.ledger.events != second.outcome.ledger.events || first.quality != second.quality {
            return Err("run twice, it was not the same".into());
        }
        let (totals, cut) = (&first.outcome.ledger.totals, first.outcome.cut_short());
        for class in quality(&first).classes() {
            let graded: u64 = class.grades.iter().sum();
            if graded != class.replies + class.lost || class.calls != graded + class.unfinished() {
                return Err(format!("calls are not conserved: {class:?}"));
            }
        }
        let (counts, grades) = counts(&first);
        let [_, replies, lost, unfinished] = counts;
        let complete = totals.replies();
        // A session waits for one call at a time, and fails by it.
        match () {
            () if lost != totals.sessions_ended[1] => Err(format!("{lost} lost calls: {totals:?}")),
            () if unfinished > totals.sessions_ended[2] => {
                Err(format!("{unfinished} unfinished: {totals:?}"))
            }
            () if !cut && unfinished > 0 => Err(format!("{unfinished} unfinished calls of a whole run")),
            () if case.failure_status.is_none() && replies != complete => {
                Err(format!("{replies} replies to calls, {complete} in all"))
            }
            () => Ok((counts, grades)),
        }
    }));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?")))
    })
}

#[test]
fn calls_are_conserved_and_replay_for_200_seeds() {
    let (mut failures, mut sums) = (Vec::new(), [0; 7]);
    for seed in 0..200 {
        match verdict(&draw(seed)) {
            Ok((counts, grades)) => {
                sums.iter_mut().zip(counts.into_iter().chain(grades)).for_each(|(sum, count)| *sum += count);
            }
            Err(error) => failures.push(format!("seed {seed}: {error}\n  {:?}", draw(seed))),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(sums.iter().all(|sum| *sum > 50), "every end and every grade occurs: {sums:?}");
}
