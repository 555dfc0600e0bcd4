//! What a core does otherwise for a workload that keeps its connections in a pool.

use httperf_engine::{
    Cause, Completion, ConnId, Core, Event, Input, RequestId, Scenario, Stop, Time, Transmit,
};
use httperf_wire::{Request, RequestSpec};

const GRACE: u64 = 100;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A core with an open connection and a time limit at 1000.
fn core(pool: bool) -> (Core, ConnId) {
    let request = Request::render(&RequestSpec { uri: b"/".to_vec(), ..RequestSpec::default() });
    let limit = Some(1000);
    let mut core = Core::new(Scenario { limit, ..Scenario::plain(([127, 0, 0, 1], 80).into(), request) });
    core.begin(Time(0));
    if pool {
        core.keep_pool(GRACE);
    }
    let conn = core.connect(0, Time(0), 0);
    input(&mut core, conn, 1, Input::Opened);
    input(&mut core, conn, 2, Input::Connected);
    (core, conn)
}

/// The events of one input.
fn input(core: &mut Core, conn: ConnId, at: u64, input: Input<'_>) -> Vec<Event> {
    core.handle(Completion { at: Time(at), conn, input });
    settle(core, at)
}

fn settle(core: &mut Core, at: u64) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        events.extend(std::iter::from_fn(|| core.poll()));
        let (conn, sent) = match core.poll_transmit() {
            Some(Transmit::Write { conn, bytes }) => (conn, bytes.len()),
            Some(_) => continue,
            None => break,
        };
        core.handle(Completion { at: Time(at), conn, input: Input::Sent(sent) });
    }
    events.extend(std::iter::from_fn(|| core.poll()));
    events
}

fn stop(core: &mut Core, at: u64, stop: Stop) -> Vec<Event> {
    input(core, ConnId::NONE, at, Input::Stop(stop))
}

fn limit(core: &mut Core, at: u64) -> Vec<Event> {
    assert!(core.handle_wake(Time(at), Time(at)));
    settle(core, at)
}

#[test]
fn the_end_is_told_before_it_comes() {
    let (mut at_limit, _) = core(true);
    assert_eq!(limit(&mut at_limit, 1000), [Event::Stopping { at: Time(1000) }]);
    assert!(!at_limit.is_stopped());
    assert_eq!(at_limit.next_wake(), Time(1000 + GRACE));
    assert_eq!(limit(&mut at_limit, 1100), [Event::Stopped { at: Time(1100) }]);
    assert!(at_limit.reached_limit());

    let (mut interrupted, _) = core(true);
    assert_eq!(stop(&mut interrupted, 10, Stop::Interrupted), [Event::Stopping { at: Time(10) }]);
    interrupted.stop();
    assert_eq!(settle(&mut interrupted, 20), [Event::Stopped { at: Time(10) }]);
    assert_eq!(interrupted.stopped_by(), Some(Stop::Interrupted), "nothing was left to wait for");

    let (mut plain, _) = core(false);
    assert_eq!(limit(&mut plain, 1000), [Event::Stopped { at: Time(1000) }]);
}

#[test]
fn whoever_asks_twice_does_not_wait() {
    let (mut core, _) = core(true);
    limit(&mut core, 1000);
    assert_eq!(stop(&mut core, 1010, Stop::Terminated), [Event::Stopped { at: Time(1010) }]);
    assert_eq!((core.stopped_by(), core.reached_limit()), (Some(Stop::Terminated), false));
}

#[test]
fn a_failure_elsewhere_ends_a_run_at_once() {
    let (mut core, _) = core(true);
    assert_eq!(stop(&mut core, 10, Stop::Error), [Event::Stopped { at: Time(10) }]);
}

#[test]
fn the_end_of_an_idle_connection_is_told_to_a_pool_alone() {
    let ends: [fn() -> Input<'static>; 2] = [|| Input::Eof, || Input::Failed(104)];
    for end in ends {
        let (mut pooled, conn) = core(true);
        assert_eq!(input(&mut pooled, conn, 5, end()), [Event::ConnEnded { conn, at: Time(5) }]);
        let (mut plain, conn) = core(false);
        assert_eq!(input(&mut plain, conn, 5, end()), []);
    }
}

#[test]
fn what_an_end_between_replies_takes_with_it_is_an_error_but_not_to_a_pool() {
    for pool in [true, false] {
        let (mut core, conn) = core(pool);
        for _ in 0..2 {
            core.issue(conn, RequestId(0), Time(2)).expect("an open connection");
        }
        settle(&mut core, 2);
        input(&mut core, conn, 3, Input::Data(OK));
        let events = input(&mut core, conn, 4, Input::Eof);
        let lost = |event: &Event| matches!(event, Event::CallFailed { cause: Cause::ClosedIdle, .. });
        assert_eq!(events.iter().filter(|event| lost(event)).count(), 1);
        let error = events.iter().any(|event| matches!(event, Event::ConnFailed { .. }));
        assert_eq!(error, !pool);
        assert!(events.iter().any(|event| matches!(event, Event::ConnClosed { .. })));
    }
}
