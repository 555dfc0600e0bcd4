//! A core and a collector, driven by hand.

use httperf_engine::{
    Again, Collector, Completion, ConnId, Core, Event, Input, RequestId, Scenario, SessionId, Stop, Ticks,
    Time, Transmit, Wants,
};
use httperf_wire::{Request, RequestSpec};

const MS: u64 = 1_000_000;
/// The driver's clock does not start at zero.
const BEGAN: u64 = 77 * MS + 123;

/// The requests of the golden examples, and one whose body does not end its line.
pub(crate) const GET: RequestId = RequestId(0);
pub(crate) const POST: RequestId = RequestId(1);

pub(crate) fn at(ms: u64) -> Time {
    Time(BEGAN + ms * MS)
}

/// Times are milliseconds from the start of the run.
pub(crate) struct Driven<C> {
    pub(crate) core: Core,
    pub(crate) collector: C,
    /// How many bytes of a write go out at once; none waits for ever.
    pub(crate) at_once: usize,
    /// What other attempts at the calls that failed take over.
    pub(crate) again: Vec<Again>,
}

impl<C: Collector> Driven<C> {
    pub(crate) fn new(wants: Wants, collector: C) -> Self {
        let spec = |method: &str, uri: &str, fields: &str, body: &str| {
            Request::render(&RequestSpec {
                method: method.into(),
                uri: uri.into(),
                user_agent: "httperf/0.9.0".into(),
                host: Some("127.0.0.1".into()),
                fields: fields.into(),
                body: body.into(),
                ..RequestSpec::default()
            })
        };
        let get = spec("GET", "/ok", "", "");
        let post = spec("POST", "/ok3", "Content-length: 18\r\n", "Multi\nline\tA\\B 'q'");
        let plain = Scenario::plain(([127, 0, 0, 1], 80).into(), get.clone());
        let ticks = Some(Ticks { first: 5_000 * MS, every: 5_000 * MS });
        let mut core = Core::new(Scenario { wants, ticks, requests: [get, post].into(), ..plain });
        core.begin(at(0));
        core.started(at(0));
        Self { core, collector, at_once: usize::MAX, again: Vec::new() }
    }

    pub(crate) fn handle(&mut self, ms: u64, conn: ConnId, input: Input<'_>) {
        self.core.handle(Completion { at: at(ms), conn, input });
        self.settle(ms);
    }

    /// Commands are given at this time.
    pub(crate) fn now(&mut self, ms: u64) {
        self.core.schedule(at(ms), 0);
        while self.core.handle_wake(at(ms), at(ms)) {
            self.settle(ms);
        }
    }

    pub(crate) fn settle(&mut self, ms: u64) {
        loop {
            while let Some(event) = self.core.poll() {
                self.collector.on(&event, &self.core);
                if let Event::CallFailed { call, .. } = event {
                    self.again.extend(self.core.call(call).map(httperf_engine::Call::again));
                }
            }
            let Some(transmit) = self.core.poll_transmit() else { return };
            if let Transmit::Write { conn, bytes } = transmit {
                let sent = bytes.len().min(self.at_once);
                if sent > 0 {
                    self.core.handle(Completion { at: at(ms), conn, input: Input::Sent(sent) });
                }
            }
        }
    }

    /// A connection that is there at once.
    pub(crate) fn connect(&mut self, ms: u64, session: SessionId) -> ConnId {
        self.now(ms);
        let conn = self.core.connect_in(session, 0, at(ms), 0);
        self.settle(ms);
        self.handle(ms, conn, Input::Opened);
        self.handle(ms, conn, Input::Connected);
        conn
    }

    pub(crate) fn issue(&mut self, ms: u64, conn: ConnId, request: RequestId) {
        self.now(ms);
        assert!(self.core.issue(conn, request, at(ms)).is_ok());
        self.settle(ms);
    }

    pub(crate) fn issue_again(&mut self, ms: u64, conn: ConnId, request: RequestId, again: Again) {
        self.now(ms);
        assert!(self.core.issue_again(conn, request, at(ms), 0, Some(again)).is_ok());
        self.settle(ms);
    }

    /// The end of the run; what is open is aborted.
    pub(crate) fn stop(&mut self, ms: u64) {
        self.now(ms);
        self.handle(ms, ConnId::NONE, Input::Stop(Stop::Interrupted));
        self.core.abort(at(ms));
        self.settle(ms);
    }
}
