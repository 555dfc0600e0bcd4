//! The collector of intervals against a core whose inputs, and so all times, are written down here.

use httperf_engine::{
    Collector, Completion, ConnId, Core, Deadlines, Input, RequestId, Scenario, Stop, Time, Transmit,
};
use httperf_stat::{Block, Exchange, InPlace, Intervals, Measure, Timeline};
use httperf_wire::{Request, RequestSpec};

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const MS: u64 = 1_000_000;
/// The driver's clock does not start at zero.
const BEGAN: u64 = 77 * MS + 123;

/// A core and a collector, driven by hand. Times are milliseconds from the start of the run.
struct Run<E> {
    core: Core,
    intervals: Intervals<E>,
}

impl<E: Exchange> Run<E> {
    fn new(exchange: E) -> Self {
        let request = Request::render(&RequestSpec { uri: "/".into(), ..RequestSpec::default() });
        let deadlines = Deadlines { connect: Some(1_000 * MS), ..Deadlines::default() };
        let plain = Scenario::plain(([127, 0, 0, 1], 80).into(), request);
        let mut core = Core::new(Scenario { deadlines, ..plain });
        core.begin(Time(BEGAN));
        Self { core, intervals: Intervals::new(exchange) }
    }

    fn handle(&mut self, ms: u64, conn: ConnId, input: Input<'_>) {
        self.core.handle(Completion { at: at(ms), conn, input });
        self.settle(ms);
    }

    /// Drains everything; writes go out whole and at once.
    fn settle(&mut self, ms: u64) {
        loop {
            while let Some(event) = self.core.poll() {
                self.intervals.on(&event, &self.core);
            }
            let Some(transmit) = self.core.poll_transmit() else { return };
            if let Transmit::Write { conn, bytes } = transmit {
                let sent = bytes.len();
                self.core.handle(Completion { at: at(ms), conn, input: Input::Sent(sent) });
            }
        }
    }

    /// An arrival that was due at `due` is taken up, and its connect begun.
    fn arrive(&mut self, due: u64, now: u64) -> ConnId {
        self.core.schedule(at(due), 0);
        assert!(self.core.handle_wake(at(now), at(now)));
        self.core.arrive(at(due));
        let conn = self.core.connect(0, at(due), 0);
        self.settle(now);
        self.handle(now, conn, Input::Opened);
        conn
    }

    /// The connection is there and a call is issued on it.
    fn connected(&mut self, ms: u64, conn: ConnId, due: u64) {
        self.handle(ms, conn, Input::Connected);
        self.issue(ms, conn, due);
    }

    fn issue(&mut self, ms: u64, conn: ConnId, due: u64) {
        self.core.schedule(at(ms), 0);
        assert!(self.core.handle_wake(at(ms), at(ms)));
        assert!(self.core.issue(conn, RequestId(0), at(due)).is_ok());
        self.settle(ms);
    }

    fn finish(mut self, ms: u64) -> E::Left {
        self.handle(ms, ConnId::NONE, Input::Stop(Stop::Interrupted));
        self.core.abort(at(ms));
        self.settle(ms);
        self.intervals.finish(&self.core)
    }
}

fn at(ms: u64) -> Time {
    Time(BEGAN + ms * MS)
}

fn column(timeline: &Timeline, of: impl Fn(&httperf_stat::Counts) -> u64) -> Vec<u64> {
    timeline.intervals().iter().map(|interval| of(&interval.counts)).collect()
}

fn in_flight(timeline: &Timeline) -> Vec<f64> {
    (0..timeline.intervals().len()).map(|index| timeline.in_flight_mean(index)).collect()
}

#[test]
fn a_count_falls_where_it_happened_and_a_time_where_it_ended() {
    let mut run = Run::new(InPlace::default());
    let conn = run.arrive(0, 10);
    run.connected(40, conn, 0);
    run.handle(350, conn, Input::Data(&REPLY[..20]));
    run.handle(450, conn, Input::Data(&REPLY[20..]));
    run.core.close(conn);
    let timeline = run.finish(500);

    assert_eq!((timeline.width_ns(), timeline.end_ns(), timeline.late_blocks()), (100 * MS, 500 * MS, 0));
    assert_eq!(column(&timeline, |counts| counts.scheduled), [1, 0, 0, 0, 0, 0]);
    assert_eq!(column(&timeline, |counts| counts.sent), [1, 0, 0, 0, 0, 0]);
    assert_eq!(column(&timeline, |counts| counts.replies), [0, 0, 0, 0, 1, 0]);
    assert_eq!(column(&timeline, |counts| counts.bytes_received), [0, 0, 0, 20, REPLY.len() as u64 - 20, 0]);
    assert_eq!(in_flight(&timeline), [1.0, 1.0, 1.0, 1.0, 0.5, 0.0]);

    let times = |measure| {
        let whole = timeline.whole(measure);
        assert_eq!((whole.done.count, whole.censored()), (1, 0), "{measure:?}");
        whole.done.max_ns / MS
    };
    assert_eq!(times(Measure::Response), 450);
    assert_eq!(times(Measure::Service), 410);
    assert_eq!(times(Measure::Lag), 40);
    assert_eq!(times(Measure::Connect), 30);
    assert_eq!(times(Measure::FirstByte), 310);
    assert_eq!(times(Measure::Transfer), 100);
    assert_eq!(times(Measure::GeneratorLag), 10);
    assert_eq!(timeline.distribution(Measure::Connect, 0..1).done.count, 1);
    assert_eq!(timeline.distribution(Measure::Response, 4..5).done.count, 1);
    assert!(timeline.whole(Measure::Tls).done.is_empty());
}

#[test]
fn the_end_of_a_slice_belongs_to_the_next() {
    let mut run = Run::new(InPlace::default());
    let first = run.arrive(0, 0);
    run.connected(0, first, 0);
    run.handle(99, first, Input::Data(REPLY));
    run.issue(100, first, 100);
    run.handle(200, first, Input::Data(REPLY));
    let timeline = run.finish(200);
    assert_eq!(column(&timeline, |counts| counts.sent), [1, 1, 0]);
    assert_eq!(column(&timeline, |counts| counts.replies), [1, 0, 1]);
    assert_eq!(in_flight(&timeline), [0.99, 1.0, 0.0]);
}

#[test]
fn arrivals_taken_up_late_belong_where_they_were_due() {
    let mut run = Run::new(InPlace::default());
    let first = run.arrive(0, 0);
    run.connected(0, first, 0);
    run.handle(20, first, Input::Data(REPLY));
    // The loop stands still for a second, then takes up everything that fell due meanwhile.
    for due in [150, 250, 450] {
        let conn = run.arrive(due, 1_000);
        run.connected(1_000, conn, due);
        run.handle(1_000, conn, Input::Data(REPLY));
    }
    let timeline = run.finish(1_000);
    assert_eq!(column(&timeline, |counts| counts.scheduled), [1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(in_flight(&timeline), [0.2, 0.5, 1.5, 2.0, 2.5, 3.0, 3.0, 3.0, 3.0, 3.0, 0.0]);
    assert_eq!(timeline.whole(Measure::GeneratorLag).done.max_ns, 850 * MS);
}

#[test]
fn what_began_very_long_ago_is_still_counted_in_full() {
    let mut run = Run::new(InPlace::default());
    let first = run.arrive(0, 0);
    run.connected(0, first, 0);
    run.handle(0, first, Input::Data(REPLY));
    run.issue(60_000, first, 1_000);
    run.handle(60_000, first, Input::Data(REPLY));
    let timeline = run.finish(60_000);
    let in_flight: u128 = timeline.intervals().iter().map(|interval| interval.in_flight_ns).sum();
    assert_eq!(in_flight, 59_000 * u128::from(MS));
    assert_eq!(timeline.intervals()[590].in_flight_ns, 100 * u128::from(MS));
}

#[test]
fn what_began_very_long_ago_is_in_flight_from_there() {
    let mut run = Run::new(InPlace::default());
    // Taken up at once, connected after 9.95 s: much longer than there are places ready.
    let first = run.arrive(0, 0);
    let second = run.arrive(250, 250);
    // Taken up 9.3 s late.
    let third = run.arrive(500, 9_800);
    run.connected(9_950, first, 0);
    run.connected(9_950, second, 250);
    run.connected(9_950, third, 500);
    let timeline = run.finish(10_000);

    let mut expected = [3.0; 101];
    expected[..5].copy_from_slice(&[1.0, 1.0, 1.5, 2.0, 2.0]);
    expected[100] = 0.0;
    assert_eq!(in_flight(&timeline), expected);
    let scheduled = column(&timeline, |counts| counts.scheduled);
    assert_eq!((scheduled[0], scheduled[2], scheduled[5], scheduled.iter().sum::<u64>()), (1, 1, 1, 3));
}

#[test]
fn calls_without_a_reply_keep_their_age() {
    let mut run = Run::new(InPlace::default());
    let (broken, open) = (run.arrive(0, 0), run.arrive(10, 10));
    // This one never gets a connection.
    run.arrive(20, 20);
    run.connected(30, broken, 0);
    run.connected(30, open, 10);
    run.handle(130, open, Input::Data(&REPLY[..20]));
    run.handle(230, broken, Input::Failed(104));
    let refused = run.arrive(240, 240);
    run.handle(245, refused, Input::ConnectFailed(111));
    let timeline = run.finish(300);

    let whole = |measure| {
        let whole = timeline.whole(measure);
        (whole.done.count, whole.failed.sum_ns / u128::from(MS), whole.open.sum_ns / u128::from(MS))
    };
    assert_eq!(timeline.whole(Measure::Response).failed.count, 2);
    assert_eq!(timeline.whole(Measure::Response).open.count, 2);
    assert_eq!(whole(Measure::Response), (0, 230 + 5, 290 + 280));
    assert_eq!(whole(Measure::Service), (0, 200, 270));
    assert_eq!(whole(Measure::Lag), (2, 5, 280));
    assert_eq!(whole(Measure::Connect), (2, 5, 280));
    assert_eq!(whole(Measure::FirstByte), (1, 200, 0));
    assert_eq!(whole(Measure::Transfer), (0, 0, 170));
    assert_eq!(column(&timeline, |counts| counts.errors), [0, 0, 2, 0]);
    assert_eq!(column(&timeline, |counts| counts.calls_failed), [0, 0, 1, 0]);
    assert_eq!(column(&timeline, |counts| counts.calls_aborted), [0, 0, 0, 1]);
    // 230 + 290 + 280 + 5 ms of calls between due and end, waiting ones included.
    let in_flight: u128 = timeline.intervals().iter().map(|interval| interval.in_flight_ns).sum();
    assert_eq!(in_flight, 805 * u128::from(MS));
    assert_eq!(in_flight_of(&timeline, 0), 100 + 90 + 80);
}

fn in_flight_of(timeline: &Timeline, index: usize) -> u128 {
    timeline.intervals()[index].in_flight_ns / u128::from(MS)
}

/// Has an empty block only now and then.
#[derive(Default)]
struct Scarce {
    timeline: Timeline,
    asked: u32,
}

impl Exchange for Scarce {
    type Left = Timeline;

    fn swap(&mut self, block: &mut Box<Block>) -> bool {
        self.asked += 1;
        if !self.asked.is_multiple_of(3) {
            return false;
        }
        self.timeline.add(block);
        block.clear();
        true
    }

    fn finish(mut self, block: Box<Block>) -> Timeline {
        self.timeline.add(&block);
        self.timeline
    }
}

#[test]
fn without_an_empty_block_slices_merge_and_nothing_is_lost() {
    let mut run = Run::new(Scarce::default());
    let conn = run.arrive(0, 0);
    run.connected(0, conn, 0);
    for ms in (50..=1_000).step_by(50) {
        run.handle(ms, conn, Input::Data(REPLY));
        run.issue(ms, conn, ms);
    }
    let timeline = run.finish(1_020);
    assert_eq!(column(&timeline, |counts| counts.sent).iter().sum::<u64>(), 21);
    assert_eq!(column(&timeline, |counts| counts.replies), [0, 0, 5, 0, 0, 6, 0, 0, 6, 0, 3]);
    assert_eq!(timeline.whole(Measure::Response).done.count, 20);
    assert_eq!(timeline.totals().bytes_received, 20 * REPLY.len() as u64);
    assert_eq!(timeline.late_blocks(), 4);
    let in_flight: u128 = timeline.intervals().iter().map(|interval| interval.in_flight_ns).sum();
    assert_eq!(in_flight, 1_020 * u128::from(MS));
}

#[test]
fn a_loop_whose_first_arrival_is_late_covers_nothing_before() {
    let mut run = Run::new(InPlace::default());
    let conn = run.arrive(1_000, 1_000);
    run.connected(1_000, conn, 1_000);
    run.handle(1_010, conn, Input::Data(REPLY));
    let timeline = run.finish(1_010);
    assert_eq!((timeline.intervals().len(), timeline.late_blocks()), (11, 0));
    assert_eq!(timeline.intervals()[10].counts.scheduled, 1);
}

#[test]
fn a_run_without_events_leaves_an_empty_timeline() {
    let run = Run::new(InPlace::default());
    let timeline = run.intervals.finish(&run.core);
    assert_eq!((timeline.totals(), timeline.end_ns()), (httperf_stat::Counts::default(), 0));
}
