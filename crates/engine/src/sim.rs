//! The driver of simulations: a virtual clock, a virtual network, model servers.
//!
//! ```text
//!   Core --Transmit--> Sim --request bytes, after the latency--> Peer (server.rs, peer.rs)
//!     ^                 |  ^                                       |
//!     +---Completion----+  +---segments, FIN, RST, in time---------+--> Dialogue (truth.rs)
//! ```
//!
//! One heap holds all that is to happen, ordered by time, then by sequence. The clock moves only in
//! `wait`. All randomness comes from one seed; what happens on a connection is drawn by the time it
//! was due, so that equal arrivals fare alike however a run is shared out. The servers write down
//! the truth, to the nanosecond.

mod faults;
mod network;
mod peer;
mod random;
mod server;
mod socket;
mod truth;

use std::collections::VecDeque;
use std::io;

use rustix::io::Errno;

use crate::core::Core;
use crate::driver::{Completion, Driver, Input, Load, Stop, Transmit};
use crate::object::ConnId;
use crate::time::{Time, Timers};
use network::Link;
use peer::{Effect, Peer};
use socket::{Connect, Look, Socket};

pub use faults::Faults;
pub use network::Network;
pub use random::Random;
pub use server::{Accept, Act, Honest, Layer, Layers, Reply, Script, Server};
pub use truth::{Answer, Dialogue, Turns};

/// When every simulation begins.
pub const ORIGIN: Time = Time(1_000_000_000);

/// What the draws of a connection are for.
const NETWORK: u64 = 1;
const CUTS: u64 = 2;
const SERVER: u64 = 3;
const FAULTS: u64 = 4;
/// The draws that belong to no connection.
const GLOBAL: u64 = 5;

/// How often in a row the loop may turn without anything happening.
const IDLE: u32 = 1000;

/// A world for one run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// All that is drawn follows from it.
    pub seed: u64,
    /// Between the two ends.
    pub network: Network,
    /// At the other end.
    pub server: Server,
    /// What else goes wrong.
    pub faults: Faults,
    /// Body bytes that nobody wants are thrown away unread.
    pub discard: bool,
}

/// The driver of a simulation.
#[derive(Debug)]
pub struct Sim {
    setup: Setup,
    now: Time,
    random: Random,
    heap: Timers<Happening>,
    sockets: Vec<Option<Socket>>,
    /// Closed ones whose last bytes are on their way to a server that looks at them.
    lingering: Vec<Socket>,
    /// When the latest connection was due, and how many before it were due at the same moment.
    last_due: (u64, u64),
    /// Connections with something to tell; the first `due_ready` of them belong to this turn.
    ready: VecDeque<ConnId>,
    due_ready: usize,
    current: Option<ConnId>,
    stop: Option<Stop>,
    buffer: Vec<u8>,
    dialogues: Vec<Dialogue>,
    turns: Turns,
    /// Turns in a row without anything happening.
    idle: u32,
    /// The clock at the latest turn, and how much had been done by then.
    before: (Time, u64),
}

/// Something that is to happen.
#[derive(Debug)]
enum Happening {
    /// A connect is over: 0 or the error number.
    Connect(ConnId, i32),
    /// The kernel takes bytes again.
    Writable(ConnId),
    /// Look again.
    Again(ConnId),
    /// Request bytes reach the server.
    Request(ConnId, Box<[u8]>),
    /// The server did something that takes effect now.
    Peer(ConnId, Effect),
    /// The last byte of a closed socket has arrived.
    Gone(ConnId),
    Stop(Stop),
}

impl Sim {
    /// A world in which nothing has happened yet.
    pub fn new(setup: Setup) -> Self {
        let mut heap = Timers::new();
        if let Some((after, stop)) = setup.faults.stop {
            heap.add(ORIGIN + after, Happening::Stop(stop));
        }
        Self {
            random: Random::keyed(setup.seed, &[0, GLOBAL]),
            setup,
            now: ORIGIN,
            heap,
            sockets: Vec::new(),
            lingering: Vec::new(),
            last_due: (0, 0),
            ready: VecDeque::new(),
            due_ready: 0,
            current: None,
            stop: None,
            buffer: Vec::new(),
            dialogues: Vec::new(),
            turns: Turns::default(),
            idle: 0,
            before: (ORIGIN, 0),
        }
    }

    /// What the servers know, in the order in which connections were opened. Opens that failed are not among
    /// them.
    pub fn dialogues(&self) -> &[Dialogue] {
        &self.dialogues
    }

    /// How often this driver was called.
    pub fn turns(&self) -> Turns {
        self.turns
    }

    /// Moves the clock to the next happening or to `until`, give or take what faults do.
    fn pass(&mut self, until: Time) -> io::Result<()> {
        let next = self.heap.next().min(until);
        if !next.is_set() {
            return Err(io::Error::other("the run waits for something that can never happen"));
        }
        if next <= self.now {
            return Ok(());
        }
        let faults = &self.setup.faults;
        self.now = if self.random.chance(faults.early_wake) {
            self.turns.early += 1;
            self.now + self.random.below(next.since(self.now))
        } else {
            next + faults.oversleep(&mut self.random)
        };
        Ok(())
    }

    /// Lets everything happen that is due.
    fn advance(&mut self) {
        while let Some((at, happening)) = self.heap.take(self.now) {
            self.turns.happenings += 1;
            let conn = match happening {
                Happening::Stop(stop) => {
                    self.stop = Some(stop);
                    continue;
                }
                Happening::Connect(conn, _)
                | Happening::Writable(conn)
                | Happening::Again(conn)
                | Happening::Request(conn, _)
                | Happening::Peer(conn, _) => conn,
                Happening::Gone(conn) => {
                    self.lingering.retain(|socket| socket.conn != conn);
                    continue;
                }
            };
            if let Happening::Request(_, bytes) = &happening
                && let Some(socket) = self.lingering.iter_mut().find(|socket| socket.conn == conn)
            {
                let dialogue = &mut self.dialogues[socket.dialogue];
                // Nobody hears what it answers.
                socket.peer.receive(at, bytes, &mut socket.pipe, dialogue, &mut |_, _| {});
                continue;
            }
            let Some(socket) = find(&mut self.sockets, conn) else {
                if self.random.chance(self.setup.faults.stale) {
                    self.ready.push_back(conn);
                }
                continue;
            };
            let dialogue = &mut self.dialogues[socket.dialogue];
            let heap = &mut self.heap;
            let mut effect = |at, effect| heap.add(at, Happening::Peer(conn, effect));
            match happening {
                Happening::Connect(_, errno) => {
                    socket.state = Connect::Over(errno);
                    if errno == 0 {
                        dialogue.connected = at;
                    }
                }
                Happening::Writable(_) => socket.writable = true,
                Happening::Again(_) | Happening::Gone(_) | Happening::Stop(_) => {}
                Happening::Request(_, bytes) => {
                    socket.peer.receive(at, &bytes, &mut socket.pipe, dialogue, &mut effect);
                    continue;
                }
                Happening::Peer(_, Effect::Resume) => {
                    socket.peer.proceed(at, &mut socket.pipe, dialogue, &mut effect);
                    continue;
                }
                Happening::Peer(_, news) => socket.hear(news),
            }
            self.get_ready(conn);
        }
    }

    /// Puts a socket into the ready list, once.
    fn get_ready(&mut self, conn: ConnId) {
        if let Some(socket) = find(&mut self.sockets, conn).filter(|socket| !socket.queued) {
            socket.queued = true;
            self.ready.push_back(conn);
        }
    }

    fn open(&mut self, conn: ConnId, due: u64) -> Completion<'static> {
        let same = if self.last_due.0 == due { self.last_due.1 + 1 } else { 0 };
        self.last_due = (due, same);
        // Connections that are due together, as in a closed loop, are told apart by their order.
        let key = due.wrapping_add(same << 48);
        let setup = &self.setup;
        let mut faults = Random::keyed(setup.seed, &[key, FAULTS]);
        let at = self.now;
        if let Some(errno) = Faults::errno(&mut faults, setup.faults.open) {
            return Completion { at, conn, input: Input::OpenFailed(errno) };
        }
        let mut random = Random::keyed(setup.seed, &[key, SERVER]);
        let (layers, server) = setup.server.choose(&mut random);
        let link = Link::new(&setup.network, setup.seed, key);
        let there = at + link.latency;
        let back = there + link.latency;
        let (accept, room) = (server.accept(), server.reads());
        let peer = Peer::new(server, layers, random, link);
        let mut socket = Socket::new(conn, peer, room, faults, self.dialogues.len());
        if let Some(errno) = Faults::errno(&mut socket.faults, setup.faults.late_open) {
            socket.state = Connect::Over(errno);
            self.heap.add(at, Happening::Again(conn));
        } else {
            match accept {
                Accept::Accepted => {
                    self.heap.add(there, Happening::Peer(conn, Effect::Resume));
                    self.heap.add(back, Happening::Connect(conn, 0));
                }
                Accept::Refused { after } => {
                    self.heap.add(back + after, Happening::Connect(conn, Errno::CONNREFUSED.raw_os_error()));
                }
                Accept::Unanswered { gives_up: Some(after) } => {
                    self.heap.add(at + after, Happening::Connect(conn, Errno::TIMEDOUT.raw_os_error()));
                }
                Accept::Unanswered { gives_up: None } => {}
            }
        }
        self.dialogues.push(Dialogue { conn, key, opened: at, ..Dialogue::default() });
        if self.sockets.len() <= conn.index() {
            self.sockets.resize_with(conn.index() + 1, || None);
        }
        self.sockets[conn.index()] = Some(socket);
        Completion { at, conn, input: Input::Opened }
    }

    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> Option<Completion<'static>> {
        let at = self.now;
        let socket = find(&mut self.sockets, conn)?;
        let (taken, again) = match socket.write(&self.setup.faults, bytes.len()) {
            Ok(written) => written,
            Err(errno) => {
                let input = Input::SendFailed(errno.raw_os_error());
                return Some(Completion { at, conn, input });
            }
        };
        if let Some(nanos) = again {
            self.heap.add(at + nanos, Happening::Writable(conn));
        }
        if taken > 0 {
            let there = at + socket.peer.link.latency;
            self.heap.add(there, Happening::Request(conn, bytes[..taken].into()));
        }
        self.turns.sent += taken as u64;
        Some(Completion { at, conn, input: Input::Sent(taken) })
    }

    fn close(&mut self, conn: ConnId) {
        let Some(socket) = self.sockets.get_mut(conn.index()) else { return };
        let Some(socket) = socket.take_if(|socket| socket.conn == conn) else { return };
        self.dialogues[socket.dialogue].closed = Some(self.now);
        if socket.peer.is_layered() {
            self.heap.add(self.now + socket.peer.link.latency, Happening::Gone(conn));
            self.lingering.push(socket);
        }
        if self.random.chance(self.setup.faults.stale) {
            self.ready.push_back(conn);
        }
    }

    /// The next thing a socket has to tell.
    fn look(&mut self, conn: ConnId, core: &Core) -> Look {
        let Some(socket) = find(&mut self.sockets, conn) else { return Look::Nothing };
        let permitted = if self.setup.discard { core.discardable(conn) } else { 0 };
        let look = socket.look(&self.setup.faults, permitted, &mut self.buffer);
        match look {
            Look::Data => self.turns.received += self.buffer.len() as u64,
            Look::Input(Input::Discarded(bytes)) => {
                self.turns.received += bytes;
                self.turns.discarded += bytes;
            }
            _ => {}
        }
        look
    }

    /// An event of a descriptor that is closed already.
    fn stale(&mut self) -> Look {
        if self.setup.faults.stale == 0 {
            return Look::Nothing;
        }
        self.turns.stale += 1;
        Look::Input(match self.random.below(6) {
            0 => {
                self.buffer.clear();
                self.buffer.extend_from_slice(b"HTTP/1.1 200 OK\r\n\r\n");
                return Look::Data;
            }
            1 => Input::Connected,
            2 => Input::Writable,
            3 => Input::Eof,
            4 => Input::ConnectFailed(Errno::CONNREFUSED.raw_os_error()),
            _ => Input::Failed(Errno::CONNRESET.raw_os_error()),
        })
    }
}

/// The socket of a connection, unless it is closed.
fn find(sockets: &mut [Option<Socket>], conn: ConnId) -> Option<&mut Socket> {
    sockets.get_mut(conn.index())?.as_mut().filter(|socket| socket.conn == conn)
}

impl Driver for Sim {
    fn now(&mut self) -> Time {
        self.now
    }

    fn wait(&mut self, until: Time) -> io::Result<()> {
        self.turns.waits += 1;
        if self.ready.is_empty() {
            self.pass(until)?;
        }
        self.advance();
        self.due_ready = self.ready.len();
        if self.random.chance(self.setup.faults.small_batch) && self.due_ready > 1 {
            self.due_ready = 1 + self.random.below(self.due_ready as u64 - 1) as usize;
        }
        let progress = (self.now, self.turns.completions + self.turns.transmits);
        self.idle = if progress == self.before { self.idle + 1 } else { 0 };
        self.before = progress;
        if self.idle > IDLE {
            return Err(io::Error::other("the loop turns without anything happening"));
        }
        Ok(())
    }

    fn next(&mut self, core: &Core) -> Option<Completion<'_>> {
        let at = self.now;
        if let Some(stop) = self.stop.take() {
            return Some(Completion { at, conn: ConnId::NONE, input: Input::Stop(stop) });
        }
        loop {
            let (conn, look) = match self.current {
                Some(conn) => (conn, self.look(conn, core)),
                None => {
                    self.due_ready = self.due_ready.checked_sub(1)?;
                    let conn = self.ready.pop_front()?;
                    if let Some(socket) = find(&mut self.sockets, conn) {
                        socket.begin_turn();
                        self.current = Some(conn);
                        continue;
                    }
                    (conn, self.stale())
                }
            };
            self.turns.completions += u64::from(matches!(look, Look::Input(_) | Look::Data));
            match look {
                Look::Input(input) => return Some(Completion { at, conn, input }),
                Look::Data => return Some(Completion { at, conn, input: Input::Data(&self.buffer) }),
                Look::Nothing => {}
                Look::Later => self.get_ready(conn),
                Look::Again(nanos) => self.heap.add(at + nanos, Happening::Again(conn)),
            }
            self.current = None;
        }
    }

    fn submit(&mut self, transmit: Transmit<'_>) -> Option<Completion<'static>> {
        self.turns.transmits += 1;
        match transmit {
            Transmit::Open { conn, key, .. } => Some(self.open(conn, key)),
            Transmit::Write { conn, bytes } => self.write(conn, bytes),
            Transmit::Close { conn, last } => {
                if !last.is_empty() {
                    let _ = self.write(conn, last);
                }
                self.close(conn);
                None
            }
        }
    }

    fn behind(&self) -> bool {
        !self.ready.is_empty()
    }

    fn load(&self) -> Load {
        let total = self.now.since(ORIGIN);
        Load { total, idle: total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sim() -> Sim {
        Sim::new(Setup {
            seed: 1,
            network: Network::local(),
            server: Server::Honest(Honest::default()),
            faults: Faults::default(),
            discard: false,
        })
    }

    #[test]
    fn the_clock_moves_only_in_wait_and_no_further_than_it_must() {
        let mut sim = sim();
        assert_eq!((sim.now(), sim.now()), (ORIGIN, ORIGIN));
        sim.wait(ORIGIN + 7).expect("a time to wait for");
        assert_eq!(sim.now(), ORIGIN + 7);
        sim.wait(ORIGIN).expect("a time to wait for");
        assert_eq!(sim.now(), ORIGIN + 7);
    }

    #[test]
    fn a_loop_that_waits_for_nothing_or_spins_is_told_so() {
        let error = sim().wait(Time::NEVER).expect_err("nothing to wait for");
        assert_eq!(error.to_string(), "the run waits for something that can never happen");
        let mut sim = sim();
        let spins = (0..2 * IDLE).position(|_| sim.wait(ORIGIN).is_err());
        assert_eq!(spins, Some(IDLE as usize));
    }
}
