//! Events of a run as events of `tracing`.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use httperf_engine::{Input, Outcome, Wants};
use httperf_stat::Trace;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

use crate::driven::{Driven, GET, at};

/// Keeps what it is told, up to a level: a line for each event.
struct Kept {
    level: Level,
    lines: Arc<Mutex<Vec<String>>>,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

impl Subscriber for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }
    fn event(&self, event: &tracing::Event<'_>) {
        assert_eq!(event.metadata().target(), "httperf");
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.lines.lock().expect("no panic").push(line.0);
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// One session of one call that is answered and one that fails.
fn lines(level: Level) -> Vec<String> {
    let lines = Arc::default();
    tracing::subscriber::with_default(Kept { level, lines: Arc::clone(&lines) }, || {
        let mut run = Driven::new(Wants::default(), Trace);
        run.now(1);
        run.core.arrive(at(0));
        let session = run.core.begin_session(at(0), 0);
        run.settle(1);
        let conn = run.connect(1, session);
        run.issue(2, conn, GET);
        run.handle(1_003, conn, Input::Data(b"HTTP/1.1 204 None\r\n\r\n"));
        run.issue(1_004, conn, GET);
        run.handle(1_005, conn, Input::Failed(104));
        run.core.end_session(session, Outcome::Failed);
        run.settle(1_005);
        run.stop(1_006);
    });
    let lines = lines.lock().expect("no panic");
    lines.clone()
}

#[test]
fn the_first_level_tells_of_sessions_connections_and_failures() {
    let expected = [
        "INFO session began t=0.001000 session=0.1",
        "INFO connecting t=0.001000 conn=0.1 session=0.1",
        "INFO connected t=0.001000 conn=0.1 session=0.1",
        "INFO call failed t=1.005000 conn=0.1 call=1 cause=\"connreset\"",
        "INFO connection failed t=1.005000 conn=0.1 session=0.1 cause=\"connreset\" errno=104",
        "INFO closed t=1.005000 conn=0.1 session=0.1",
        "INFO session ended t=1.005000 session=0.1 outcome=Failed replies=1",
        "INFO stopped t=1.006000",
    ];
    assert_eq!(lines(Level::INFO), expected);
}

#[test]
fn further_levels_tell_of_calls_and_of_every_step() {
    let debug = lines(Level::DEBUG);
    for line in [
        "DEBUG arrival t=0.001000 lag=0.001000",
        "DEBUG call issued t=0.002000 conn=0.1 call=0 session=0.1",
        "DEBUG reply t=1.003000 conn=0.1 call=0 status=204",
    ] {
        assert!(debug.iter().any(|told| told == line), "{line} in {debug:#?}");
    }
    assert!(!debug.iter().any(|told| told.starts_with("TRACE")));
    let trace = lines(Level::TRACE);
    for line in [
        "TRACE send start t=0.002000 conn=0.1 call=0",
        "TRACE send stop t=0.002000 conn=0.1 call=0 bytes=64",
        "TRACE reply start t=1.003000 conn=0.1 call=0 status=204",
        "TRACE reply header t=1.003000 conn=0.1 call=0 bytes=21",
    ] {
        assert!(trace.iter().any(|told| told == line), "{line} in {trace:#?}");
    }
}
