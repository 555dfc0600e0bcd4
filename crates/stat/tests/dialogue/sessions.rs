//! Sessions, their rates, and periods.

use httperf_engine::{Input, Outcome, SessionId, Wants};
use httperf_stat::{Gathered, Period, Periodic, Rates, Sample, Samples, SessionSummary, Sessions};

use crate::driven::{Driven, GET, at};

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

type Both = (Sessions, Samples<fn(Sample)>);

fn driven() -> Driven<Both> {
    Driven::new(Wants::default(), (Sessions::default(), Samples::new(|_| ())))
}

impl Driven<Both> {
    /// A session of so many replies on so many connections.
    fn session(&mut self, from: u64, to: u64, replies: u32, connections: u32, outcome: Outcome) {
        let session = self.begin(from);
        for left in (0..connections).rev() {
            let conn = self.connect(from, session);
            let replies = if left == 0 { replies } else { 0 };
            for _ in 0..replies {
                self.issue(from, conn, GET);
                self.handle(from, conn, Input::Data(REPLY));
            }
            self.core.close(conn);
        }
        self.now(to);
        self.core.end_session(session, outcome);
        self.settle(to);
    }

    fn begin(&mut self, ms: u64) -> SessionId {
        self.now(ms);
        // It was due earlier: its life begins when it is begun.
        let session = self.core.begin_session(at(0), 0);
        self.settle(ms);
        session
    }

    fn finish(mut self, ms: u64) -> (SessionSummary, Vec<Sample>) {
        self.stop(ms);
        let (sessions, samples) = self.collector;
        (sessions.into_summary(), samples.into_samples())
    }
}

fn rates(replies: f64, sessions: f64) -> Rates {
    Rates { replies, sessions }
}

#[test]
fn sessions_are_counted_by_how_they_ended() {
    let mut run = driven();
    run.session(100, 500, 4, 1, Outcome::Succeeded);
    run.session(500, 1_300, 4, 2, Outcome::Succeeded);
    run.session(1_300, 3_300, 1, 3, Outcome::Failed);
    run.session(3_300, 3_400, 0, 1, Outcome::Failed);
    // Still going on at the end, with a reply that counts nowhere.
    let open = run.begin(3_400);
    let conn = run.connect(3_400, open);
    run.issue(3_400, conn, GET);
    run.handle(3_500, conn, Input::Data(REPLY));
    let (sum, _) = run.finish(4_000);

    assert_eq!((sum.began, sum.succeeded, sum.failed, sum.unfinished), (5, 2, 2, 1));
    assert_eq!(sum.connections, 3, "those of sessions that succeeded");
    assert!((sum.lifetime_s.mean() - 0.6).abs() < 1e-9);
    assert!((sum.failtime_s.mean() - 1.05).abs() < 1e-9);
    assert_eq!((sum.lengths.counts(), sum.lengths.longest()), ([1, 1, 0, 0, 2].as_slice(), 4));
}

#[test]
fn the_sessions_of_loops_add_up() {
    let part = |outcome, replies| {
        let mut run = driven();
        run.session(0, 1_000, replies, 1, outcome);
        run.begin(1_000);
        run.finish(2_000).0
    };
    let mut sum = part(Outcome::Succeeded, 3);
    sum.merge(&part(Outcome::Failed, 1));
    assert_eq!((sum.began, sum.succeeded, sum.failed, sum.unfinished, sum.connections), (4, 1, 1, 2, 1));
    assert_eq!(sum.lengths.counts(), [0, 1, 0, 1]);
    assert_eq!((sum.lifetime_s.count, sum.failtime_s.count), (1, 1));
}

#[test]
fn only_sessions_that_succeeded_make_the_session_rate() {
    let mut run = driven();
    for _ in 0..5 {
        run.session(1_000, 2_000, 2, 1, Outcome::Succeeded);
        run.session(1_000, 2_000, 1, 1, Outcome::Failed);
    }
    run.now(5_000);
    run.session(6_000, 7_000, 2, 1, Outcome::Succeeded);
    // The second tick is taken up 2.5 s late: its rates are over the time that has really passed.
    run.session(12_500, 13_000, 2, 1, Outcome::Succeeded);
    let (_, samples) = run.finish(13_000);
    let told: Vec<_> = samples.iter().map(|sample| (sample.index, sample.part, sample.last)).collect();
    let expected =
        [(0, rates(3.0, 1.0), false), (1, rates(2.0 / 7.5, 1.0 / 7.5), false), (2, rates(0.4, 0.2), true)];
    assert_eq!(told, expected);

    let mut gathered = Gathered::new(2);
    let other = |index, last| Sample { index, part: rates(1.0, 0.5), last };
    let mut live = Vec::new();
    for sample in samples.into_iter().chain([other(0, false), other(1, true)]) {
        gathered.add(sample, |rates| live.push(rates));
    }
    assert_eq!(live, [rates(4.0, 1.5), rates(2.0 / 7.5 + 1.0, 1.0 / 7.5 + 0.5)]);
    assert_eq!(gathered.into_samples(), live);
}

#[test]
fn a_period_has_what_happened_since_the_one_before() {
    let mut told: Vec<Sample<Period>> = Vec::new();
    let mut run = Driven::new(Wants::default(), Periodic::new(|period| told.push(period)));
    for k in 0..10 {
        let conn = run.connect(100 * k, SessionId::NONE);
        run.issue(100 * k, conn, GET);
        run.handle(100 * k + 50, conn, Input::Data(REPLY));
        run.core.close(conn);
    }
    run.now(5_000);
    let conn = run.connect(6_000, SessionId::NONE);
    run.issue(6_000, conn, GET);
    run.handle(6_500, conn, Input::Data(&REPLY[..20]));
    run.handle(6_600, conn, Input::Failed(104));
    run.now(10_000);
    run.stop(11_000);

    let [first, second, rest] = told.as_slice() else { panic!("{told:?}") };
    let Period { end_s, connections_per_s, requests_per_s, replies_per_s, errors, connect, response } =
        first.part;
    assert_eq!((end_s, connections_per_s, requests_per_s, replies_per_s, errors), (5.0, 2.0, 2.0, 2.0, 0));
    assert_eq!((connect.count, response.count, response.mean_s()), (10, 10, 0.05));
    assert_eq!((second.part.replies_per_s, second.part.errors, second.part.response.mean_s()), (0.0, 1, 0.5));
    assert_eq!((rest.index, rest.last, rest.part.requests_per_s), (2, true, 0.0));

    let mut gathered = Gathered::new(2);
    let mut live = Vec::new();
    for sample in [first, first, second] {
        gathered.add(*sample, |period: Period| live.push(period));
    }
    let [both] = live.as_slice() else { panic!("{live:?}") };
    assert_eq!((both.end_s, both.connections_per_s, both.response.count), (5.0, 4.0, 20));
    assert_eq!(both.response.mean_s(), 0.05);
}
