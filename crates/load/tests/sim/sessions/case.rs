//! One run of sessions as plain data, what came of it, and the laws that hold for any.

use std::collections::BTreeMap;
use std::sync::Arc;

use httperf_engine::sim::{Act, Script as Course, Server};
use httperf_engine::{
    Cause, Collector, Core, Deadlines, Event, Nanos, Outcome as End, RequestId, Scenario, Share, Ticks, Time,
    Wants,
};
use httperf_load::{
    Arrivals, Cookies, LogBurst, LogSession, Mix, MixLimit, MixSession, Room, SessionPattern, Sessions,
    TooManyCalls, Uris, Wsess, WsessSpec, Wsesslog, Wsesspage, WsesspageSpec,
};
use httperf_stat::{InPlace, Intervals, Quality};
use httperf_wire::{Request, RequestSpec, Version};

use crate::case::{Case, MS, Outcome, Pace, watch};
use crate::laws::{self, demand, sum};

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct SessionCase {
    /// The world; its connections stand for sessions.
    pub(crate) world: Case,
    pub(crate) what: What,
    pub(crate) room: Room,
    pub(crate) http_1_0: bool,
    pub(crate) failure_status: Option<u16>,
    pub(crate) retry: bool,
    pub(crate) cookies: Option<Cookies>,
    pub(crate) targets: u16,
}

/// What a session does.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Wsess {
        calls: u32,
        burst: u32,
        think: Nanos,
        uris: Option<Uris>,
    },
    /// Templates of bursts: calls, think time.
    Log(Vec<Vec<(usize, Nanos)>>),
    Page {
        pages: u32,
        think: Nanos,
    },
    Mix {
        mix: Arc<Mix>,
        seed: u64,
    },
}

/// A session, as the collector saw it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) number: u32,
    pub(crate) began: Time,
    pub(crate) ended: Option<(End, Time)>,
    pub(crate) replies: u32,
    /// Connections opened, their targets.
    pub(crate) targets: Vec<u32>,
    pub(crate) open: u32,
    pub(crate) open_max: u32,
}

/// A request, as it was given to a connection.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Time,
    pub(crate) due: Time,
    pub(crate) serial: u64,
    pub(crate) text: String,
}

/// The collector of sessions.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) asked: Vec<Asked>,
    going: BTreeMap<u64, Seen>,
    /// Sessions in the order in which they ended.
    pub(crate) seen: Vec<Seen>,
    pending: BTreeMap<u64, u32>,
    pub(crate) piped_max: u32,
    pub(crate) going_max: usize,
    /// The largest number of a request.
    pub(crate) request_max: u32,
    /// Bytes counted with each written request.
    pub(crate) sizes: Vec<u32>,
    /// Header bytes counted with each reply.
    pub(crate) headers: Vec<u32>,
}

impl Book {
    fn going(&mut self, conn: httperf_engine::ConnId, core: &Core) -> &mut Seen {
        let session = core.conn(conn).expect("in its slot").session;
        self.going.entry(session.to_bits()).or_default()
    }
}

impl Collector for Book {
    fn on(&mut self, event: &Event, core: &Core) {
        match *event {
            Event::SessionBegan { session, at } => {
                let number = core.session(session).expect("in its slot").token;
                self.going.insert(session.to_bits(), Seen { number, began: at, ..Seen::default() });
                self.going_max = self.going_max.max(self.going.len());
            }
            Event::SessionEnded { session, outcome, at } => {
                let mut seen = self.going.remove(&session.to_bits()).expect("it began");
                seen.ended = Some((outcome, at));
                seen.replies = core.session(session).expect("in its slot").replies;
                self.seen.push(seen);
            }
            Event::ConnConnecting { conn, .. } => {
                let target = core.conn(conn).expect("in its slot").target;
                let seen = self.going(conn, core);
                seen.targets.push(target);
                seen.open += 1;
                seen.open_max = seen.open_max.max(seen.open);
            }
            Event::ConnClosed { conn, .. } | Event::ConnAborted { conn, .. } => {
                let session = core.conn(conn).expect("in its slot").session.to_bits();
                if let Some(seen) = self.going.get_mut(&session) {
                    seen.open = seen.open.saturating_sub(1);
                }
                self.pending.remove(&conn.to_bits());
            }
            Event::CallIssued { call, at } => {
                let call = core.call(call).expect("in its slot");
                let pending = self.pending.entry(call.conn.to_bits()).or_default();
                *pending += 1;
                self.piped_max = self.piped_max.max(*pending);
                self.request_max = self.request_max.max(call.request.0);
                self.asked.push(Asked {
                    at,
                    due: call.due,
                    serial: call.serial,
                    text: String::from_utf8_lossy(core.request(call.request).bytes()).into_owned(),
                });
            }
            Event::CallSendStop { bytes, .. } => self.sizes.push(bytes),
            Event::CallRecvStop { call, .. } => {
                let call = core.call(call).expect("in its slot");
                self.headers.push(call.header);
                *self.pending.entry(call.conn.to_bits()).or_default() -= 1;
            }
            _ => {}
        }
    }
}

/// What came of a run.
pub(crate) struct Came {
    pub(crate) outcome: Outcome,
    pub(crate) book: Book,
    pub(crate) error: Option<TooManyCalls>,
    /// Of a mix.
    pub(crate) quality: Option<Quality>,
}

/// Both collectors, by reference.
struct Both<'a, A, B>(&'a mut A, &'a mut B);

impl<A: Collector, B: Collector> Collector for Both<'_, A, B> {
    fn on(&mut self, event: &Event, core: &Core) {
        self.0.on(event, core);
        self.1.on(event, core);
    }
}

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A server that does this for every request, after a millisecond.
pub(crate) fn answers(acts: impl Into<Vec<Act>>) -> Server {
    let mut acts: Vec<Act> = acts.into();
    acts.insert(0, Act::Wait(MS));
    Server::Scripted(Arc::new(Course::answering(acts)))
}

/// A server that does this for the requests of each connection in turn.
pub(crate) fn in_turn(turns: Vec<Vec<Act>>) -> Server {
    Server::Scripted(Arc::new(Course { turns, ..Course::answering([]) }))
}

impl SessionCase {
    /// One session after the other.
    pub(crate) fn new(server: Server, sessions: u64, what: What) -> Self {
        Self {
            world: Case { conns: sessions, ..Case::plain(1, server) },
            what,
            room: Room::classic(0, 0, false),
            http_1_0: false,
            failure_status: None,
            retry: false,
            cookies: None,
            targets: 1,
        }
    }

    /// `--wsess sessions,calls,think --burst-length burst`.
    pub(crate) fn wsess(server: Server, sessions: u64, calls: u32, burst: u32, think: Nanos) -> Self {
        Self::new(server, sessions, What::Wsess { calls, burst, think, uris: None })
    }

    fn scenario(&self, share: Share) -> Scenario {
        let request = |spec: &RequestSpec, target: u16| {
            Request::render(&RequestSpec {
                user_agent: "httperf/0.9.0".into(),
                host: Some(format!("127.0.0.{}", target + 1).into()),
                version: if self.http_1_0 { Version::Http10 } else { Version::Http11 },
                ..spec.clone()
            })
        };
        let plain = |uri: String| RequestSpec { uri: uri.into(), ..RequestSpec::default() };
        let mut specs = vec![plain("/dir/12bytes".to_owned())];
        if let What::Log(templates) = &self.what {
            let calls: usize = templates.iter().flatten().map(|(calls, _)| calls).sum();
            specs.extend((0..calls).map(|call| plain(format!("/log/{call}"))));
        }
        if let What::Mix { mix, .. } = &self.what {
            specs.extend(mix.classes().iter().map(super::mix::request));
        }
        // For each target in turn.
        let requests: Vec<Request> =
            specs.iter().flat_map(|spec| (0..self.targets).map(|target| request(spec, target))).collect();
        Scenario {
            targets: (0..self.targets).map(|target| ([127, 0, 0, 1], 80 + target).into()).collect(),
            requests: requests.into(),
            deadlines: Deadlines::all(self.world.timeout),
            rules: self.world.rules,
            secure: self.world.secure.clone(),
            wants: Wants {
                header: self.cookies.is_some() || matches!(self.what, What::Page { .. }),
                body: matches!(self.what, What::Page { .. }),
            },
            ticks: self.world.limit.map(|limit| Ticks { first: limit / 7 + 1, every: limit / 5 + 1 }),
            limit: self.world.limit,
            share,
            ..Scenario::plain(([127, 0, 0, 1], 80).into(), Request::default())
        }
    }

    fn pattern(&self, share: Share) -> SessionPattern {
        let arrivals = match (&self.world.pace, &self.what) {
            (_, What::Mix { mix, .. }) => {
                let (total, end) = match mix.limit() {
                    MixLimit::Count(count) => (count, Nanos::MAX),
                    MixLimit::Duration(end) => (u64::MAX, end),
                };
                Some(Arrivals::new(mix.period(), total, share, 0).until(end))
            }
            (Pace::Closed(_), _) => None,
            (Pace::Open(period), _) => Some(Arrivals::new(period, self.world.conns, share, 0)),
        };
        SessionPattern {
            sessions: share.part_of(self.world.conns),
            arrivals,
            concurrency: if let Pace::Closed(concurrency) = self.world.pace { concurrency } else { 0 },
            room: self.room,
            one_reply: self.http_1_0,
            failure_status: self.failure_status,
            retry: self.retry,
            cookies: self.cookies.clone(),
        }
    }

    /// Runs a share of it.
    pub(crate) fn run(&self, share: Share) -> Came {
        let request = RequestId(0);
        match self.what.clone() {
            What::Wsess { calls, burst, think, uris } => {
                self.follow(share, Wsess::new(WsessSpec { calls, burst, think, request, uris }))
            }
            What::Log(templates) => {
                let mut ids = (1..).map(|call| RequestId(call * u32::from(self.targets)));
                let burst = |(calls, think): (usize, Nanos)| LogBurst {
                    calls: ids.by_ref().take(calls).collect(),
                    think,
                };
                let mut burst = burst;
                let sessions: Vec<LogSession> = templates
                    .into_iter()
                    .map(|bursts| LogSession { bursts: bursts.into_iter().map(&mut burst).collect() })
                    .collect();
                self.follow(share, Wsesslog::new(sessions.into()))
            }
            What::Page { pages, think } => {
                let (uri, server) = (b"/dir/12bytes".to_vec(), b"127.0.0.1".to_vec());
                self.follow(
                    share,
                    Wsesspage::new(WsesspageSpec { pages, think, request, uri, server, tls: false }),
                )
            }
            What::Mix { mix, seed } => self.run_mix(share, mix, seed),
        }
    }

    pub(super) fn follow<S: httperf_load::Script>(&self, share: Share, script: S) -> Came {
        let mut workload = Sessions::new(self.pattern(share), script);
        let (mut book, mut stats) = (Book::default(), Intervals::new(InPlace::default()));
        let core = Core::new(self.scenario(share));
        let (mut outcome, core) =
            watch(core, &self.world.setup, &mut workload, &mut Both(&mut book, &mut stats));
        outcome.timeline = Some(stats.finish(&core));
        Came { outcome, book, error: workload.error(), quality: None }
    }

    /// Runs all of it, and the laws hold.
    pub(crate) fn whole(&self) -> Came {
        let came = self.run(Share::WHOLE);
        self.check(&came).unwrap_or_else(|error| panic!("{error}\n{self:?}"));
        came
    }

    /// Calls of session `number` if nothing fails; `None` if that depends on the replies.
    fn calls(&self, number: u32) -> Option<u64> {
        match &self.what {
            What::Wsess { calls, .. } => Some(u64::from((*calls).max(1))),
            What::Log(templates) => {
                let template = &templates[number as usize % templates.len()];
                Some(template.iter().map(|(calls, _)| *calls as u64).sum())
            }
            What::Page { .. } => None,
            What::Mix { mix, seed } => Some(MixSession::new(mix, *seed, number.into()).length()),
        }
    }

    /// The first law that is broken.
    pub(crate) fn check(&self, came: &Came) -> Result<(), String> {
        laws::check_common(&self.world, &came.outcome)?;
        let totals = &came.outcome.ledger.totals;
        let cut = came.outcome.cut_short() || came.error.is_some();
        let ended: u64 = totals.sessions_ended.iter().sum();
        demand(totals.sessions == ended, || format!("sessions are not conserved: {totals:?}"))?;
        demand(totals.arrivals == totals.sessions, || "arrivals without a session".into())?;
        let stopped = matches!(&self.what, What::Wsess { uris: Some(Uris::Wlog(_)), .. });
        demand(cut || stopped || totals.sessions == self.world.conns, || "sessions are missing".into())?;
        demand(cut || stopped || totals.sessions_ended[2] == 0, || "unfinished sessions".into())?;
        let [never_begun, connecting, connected] = totals.aborted;
        let begun = totals.connected + sum(&totals.not_connected) + connecting;
        demand(totals.connecting == begun, || format!("connects are not conserved: {totals:?}"))?;
        let gone = totals.closed + connecting + connected + never_begun;
        demand(gone == totals.connecting + sum(&totals.no_socket) + never_begun, || {
            format!("connections are not conserved: {totals:?}")
        })?;
        let known = totals.replies() + sum(&totals.calls_failed) + totals.calls_aborted;
        demand(totals.issued == known, || format!("{} calls, {known} known", totals.issued))?;
        demand(came.book.piped_max <= self.room.piped, || format!("{} calls piped", came.book.piped_max))?;
        for seen in &came.book.seen {
            // With HTTP/1.0 a connection that has had its reply goes when its successor is there.
            let fits = seen.open_max <= self.room.conns + u32::from(self.http_1_0);
            demand(fits, || format!("{} connections at once: {seen:?}", seen.open_max))?;
            let Some(calls) = self.calls(seen.number).filter(|_| self.failure_status.is_none()) else {
                continue;
            };
            let done = matches!(seen.ended, Some((End::Succeeded, _)));
            let replies = u64::from(seen.replies);
            demand(if done { replies == calls } else { replies <= calls }, || {
                format!("{replies} replies of {calls} calls: {seen:?}")
            })?;
        }
        Ok(())
    }
}

impl Came {
    /// Connections, requests, replies, sessions succeeded and failed.
    pub(crate) fn counts(&self) -> [u64; 5] {
        let (basic, ended) = (&self.outcome.basic, self.outcome.ledger.totals.sessions_ended);
        [basic.connections, basic.requests, basic.replies(), ended[0], ended[1]]
    }

    /// The causes of failed connections, in order.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        self.outcome.ledger.failures.iter().map(|(_, cause)| *cause).collect()
    }

    /// How many calls were issued together, group by group.
    pub(crate) fn groups(&self) -> Vec<usize> {
        self.book.asked.chunk_by(|one, next| one.at == next.at).map(<[Asked]>::len).collect()
    }
}
