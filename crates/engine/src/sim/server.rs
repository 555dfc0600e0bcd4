//! The model servers: what they do on a connection, as plain data, and the honest one.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::random::Random;
use crate::time::Nanos;

/// What becomes of a connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// The connection comes about after one round trip.
    Accepted,
    /// It is refused so long after one round trip.
    Refused {
        /// Nanoseconds.
        after: Nanos,
    },
    /// The accept queue is full: nothing is ever heard, until the client's kernel gives up.
    Unanswered {
        /// ETIMEDOUT after so many nanoseconds.
        gives_up: Option<Nanos>,
    },
}

/// One thing a server does on a connection.
#[derive(Clone, PartialEq, Eq)]
pub enum Act {
    /// Nothing, for so long.
    Wait(Nanos),
    /// Sends these bytes.
    Send(Arc<[u8]>),
    /// Sends so many bytes of no meaning.
    Fill(u64),
    /// Sends these bytes one by one, with a pause after each.
    Trickle(Arc<[u8]>, Nanos),
    /// Ends its side (FIN) and reads on.
    Shut,
    /// Closes (FIN): what still comes from the client is answered by RST.
    Close,
    /// Breaks the connection (RST).
    Reset {
        /// RST overtakes what is on its way: that is lost.
        purge: bool,
    },
}

impl Act {
    /// Sends these bytes.
    pub fn send(bytes: impl AsRef<[u8]>) -> Self {
        Act::Send(Arc::from(bytes.as_ref()))
    }
}

/// Bytes as text, long ones cut short.
impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 200;
        let text = |bytes: &[u8]| {
            let shown = &bytes[..bytes.len().min(SHOWN)];
            let rest = bytes.len() - shown.len();
            if rest > 0 {
                format!("{} and {rest} more", shown.escape_ascii())
            } else {
                shown.escape_ascii().to_string()
            }
        };
        match self {
            Act::Wait(nanos) => write!(f, "Wait({nanos})"),
            Act::Send(bytes) => write!(f, "Send({})", text(bytes)),
            Act::Fill(bytes) => write!(f, "Fill({bytes})"),
            Act::Trickle(bytes, every) => write!(f, "Trickle({}, {every})", text(bytes)),
            Act::Shut => write!(f, "Shut"),
            Act::Close => write!(f, "Close"),
            Act::Reset { purge } => write!(f, "Reset {{ purge: {purge} }}"),
        }
    }
}

/// A fixed course of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What becomes of the connect.
    pub accept: Accept,
    /// What is done before any request has come.
    pub greeting: Vec<Act>,
    /// How many request bytes are taken before nobody reads any more, and the client's kernel is full.
    pub reads: Option<u64>,
    /// What is done for each request; the last entry serves all that follow. None:
    /// requests are read, no more.
    pub turns: Vec<Vec<Act>>,
}

impl Script {
    /// Accepts, and does this for every request.
    pub fn answering(turn: impl Into<Vec<Act>>) -> Self {
        Self { accept: Accept::Accepted, greeting: Vec::new(), reads: None, turns: vec![turn.into()] }
    }
}

/// What an honest reply says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Bytes of its body, without framing.
    pub content: u64,
    /// It announces the end of the connection.
    pub last: bool,
    /// An interim reply precedes it.
    pub interim: bool,
}

/// A server that answers every request properly.
#[derive(Clone, Debug)]
pub struct Honest {
    /// Nanoseconds from a request's last byte to the start of its reply.
    pub delay: RangeInclusive<Nanos>,
    /// Bytes of a body.
    pub body: RangeInclusive<u64>,
    /// The statuses it chooses from.
    pub statuses: Vec<u16>,
    /// How many replies in a thousand have a chunked body.
    pub chunked: u32,
    /// How many in a thousand announce the end of the connection, some by a body to its end.
    pub close: u32,
    /// How many in a thousand come after an interim reply.
    pub interim: u32,
}

impl Default for Honest {
    fn default() -> Self {
        Self {
            delay: 10_000..=20_000_000,
            body: 0..=20_000,
            statuses: vec![200, 200, 200, 204, 205, 302, 304, 404, 503, 799],
            chunked: 300,
            close: 50,
            interim: 100,
        }
    }
}

/// Who answers.
#[derive(Clone, Debug)]
pub enum Server {
    /// Properly.
    Honest(Honest),
    /// By a fixed course.
    Scripted(Arc<Script>),
    /// Random bytes, then an end of some kind.
    Noise,
    /// Like an honest one, with a few bytes of each dialogue changed, lost or doubled.
    Mutant(Honest),
    /// Each connection is drawn one of these.
    Several(Vec<Server>),
    /// Something stands between the server and the network.
    Behind(Layers, Box<Server>),
}

/// What stands between a server and the network on one connection: the server's end of TLS, say. It is given
/// bytes and gives bytes back, appended to what is there.
pub trait Layer: fmt::Debug {
    /// Bytes of the client: `up` is for the server, `down` goes back without the server's knowledge.
    fn receive(&mut self, bytes: &[u8], up: &mut Vec<u8>, down: &mut Vec<u8>);

    /// What the server sends, as it goes over the network.
    fn send(&mut self, bytes: &[u8], down: &mut Vec<u8>);

    /// The server ends its side: what is said before FIN.
    fn end(&mut self, down: &mut Vec<u8>);
}

/// Makes a layer for each connection.
#[derive(Clone)]
pub struct Layers(Arc<dyn Fn() -> Box<dyn Layer> + Send + Sync>);

impl Layers {
    /// Layers made by this.
    pub fn new(make: impl Fn() -> Box<dyn Layer> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(super) fn make(&self) -> Box<dyn Layer> {
        (self.0)()
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Layers")
    }
}

impl Server {
    /// Who serves this connection, and behind what.
    pub(super) fn choose(&self, random: &mut Random) -> (Option<&Layers>, &Server) {
        match self {
            Server::Several(servers) => random.pick(servers).choose(random),
            Server::Behind(layers, server) => (Some(layers), server.choose(random).1),
            server => (None, server),
        }
    }

    pub(super) fn accept(&self) -> Accept {
        match self {
            Server::Scripted(script) => script.accept,
            _ => Accept::Accepted,
        }
    }

    /// How many request bytes are taken.
    pub(super) fn reads(&self) -> u64 {
        match self {
            Server::Scripted(script) => script.reads.unwrap_or(u64::MAX),
            _ => u64::MAX,
        }
    }

    /// What is done before any request has come.
    pub(super) fn greeting(&self) -> Vec<Act> {
        match self {
            Server::Scripted(script) => script.greeting.clone(),
            _ => Vec::new(),
        }
    }

    /// What is done for a request, and what an honest reply says.
    pub(super) fn answer(&self, number: usize, head: bool, random: &mut Random) -> (Vec<Act>, Option<Reply>) {
        match self {
            Server::Honest(honest) => {
                let (acts, reply) = honest.answer(head, random);
                (acts, Some(reply))
            }
            Server::Scripted(script) => {
                let turn = script.turns.get(number).or(script.turns.last());
                (turn.cloned().unwrap_or_default(), None)
            }
            Server::Noise => (noise(random), None),
            Server::Mutant(honest) => (mutate(honest.answer(head, random).0, random), None),
            Server::Several(_) | Server::Behind(..) => (Vec::new(), None),
        }
    }
}

impl Honest {
    fn answer(&self, head: bool, random: &mut Random) -> (Vec<Act>, Reply) {
        let status = *random.pick(&self.statuses);
        let length = random.scale(&self.body);
        let interim = random.chance(self.interim);
        let close = random.chance(self.close);
        let chunked = random.chance(self.chunked);
        let bare = head || matches!(status, 204 | 304);
        let to_end = close && !bare && status != 205 && random.chance(500);

        let mut acts = vec![Act::Wait(random.scale(&self.delay))];
        if interim {
            acts.push(Act::send("HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n"));
            acts.push(Act::Wait(random.scale(&self.delay)));
        }
        let mut header = format!("HTTP/1.1 {status} Reason\r\nServer: sim\r\n");
        if close && !(to_end && random.chance(500)) {
            header += "Connection: close\r\n";
        }
        if to_end {
        } else if chunked {
            header += "Transfer-Encoding: chunked\r\n";
        } else if status != 204 {
            header += &format!("Content-Length: {length}\r\n");
        }
        header += "\r\n";
        acts.push(Act::send(header));
        match (bare, to_end || !chunked) {
            (true, _) => {}
            (false, true) => acts.push(Act::Fill(length)),
            (false, false) => chunks(length, random, &mut acts),
        }
        if close {
            acts.push(Act::Close);
        }
        let content = if bare { 0 } else { length };
        (acts, Reply { status, content, last: close, interim })
    }
}

/// A chunked body, with an extension or a trailer now and then.
fn chunks(length: u64, random: &mut Random, acts: &mut Vec<Act>) {
    let mut left = length;
    while left > 0 {
        let size = random.scale(&(1..=left));
        let extension = if random.chance(100) { ";a=\"b\"" } else { "" };
        acts.push(Act::send(format!("{size:x}{extension}\r\n")));
        acts.push(Act::Fill(size));
        acts.push(Act::send("\r\n"));
        left -= size;
    }
    let trailer = if random.chance(100) { "Sum: 1\r\n" } else { "" };
    acts.push(Act::send(format!("0\r\n{trailer}\r\n")));
}

/// Anything at all.
fn noise(random: &mut Random) -> Vec<Act> {
    const WORDS: &[&str] =
        &["HTTP/1.1 ", "200", " OK", "\r\n", "\n", ":", "Content-Length", "chunked", "5", "\0", "\r"];
    let mut bytes = Vec::new();
    for _ in 0..random.scale(&(0..=40)) {
        if random.chance(500) {
            bytes.extend_from_slice(random.pick(WORDS).as_bytes());
        } else {
            bytes.extend((0..random.scale(&(0..=300))).map(|_| random.below(256) as u8).collect::<Vec<_>>());
        }
    }
    vec![Act::send(bytes), end(random)]
}

/// An end of some kind, or none.
fn end(random: &mut Random) -> Act {
    let ends = [Act::Shut, Act::Close, Act::Reset { purge: false }, Act::Reset { purge: true }, Act::Wait(0)];
    random.pick(&ends).clone()
}

/// Changes a few bytes of a dialogue and its course.
fn mutate(mut acts: Vec<Act>, random: &mut Random) -> Vec<Act> {
    for _ in 0..random.below(4) {
        let at = random.below(acts.len() as u64) as usize;
        match &mut acts[at] {
            Act::Send(bytes) if !bytes.is_empty() => {
                let mut new = bytes.to_vec();
                let byte = random.below(new.len() as u64) as usize;
                match random.below(4) {
                    0 => new[byte] ^= 1 << random.below(8),
                    1 => drop(new.remove(byte)),
                    2 => new.insert(byte, random.below(256) as u8),
                    _ => new.truncate(byte),
                }
                *bytes = Arc::from(new);
            }
            Act::Fill(length) => *length = random.scale(&(0..=2 * *length)),
            _ => match random.below(3) {
                0 => drop(acts.remove(at)),
                1 => acts.insert(at, acts[at].clone()),
                _ => acts.insert(at, end(random)),
            },
        }
        if acts.is_empty() {
            break;
        }
    }
    acts
}

#[cfg(test)]
mod tests {
    use httperf_wire::{Due, H1, Machine, Memo, Rules, Signal};

    use super::*;

    /// What a client makes of the bytes.
    fn read(acts: &[Act], due: Due) -> (u16, u64, bool) {
        let mut bytes = Vec::new();
        let mut ended = false;
        for act in acts {
            match act {
                Act::Send(some) => bytes.extend_from_slice(some),
                Act::Fill(length) => bytes.resize(bytes.len() + *length as usize, b'.'),
                Act::Close => ended = true,
                _ => {}
            }
        }
        let mut machine = H1::new(Rules::default());
        let mut memo = Memo::default();
        let (mut status, mut content) = (0, 0);
        let mut rest = &bytes[..];
        loop {
            let step = machine.receive(rest, due, &mut memo).expect("an honest server");
            rest = &rest[step.used..];
            let signal = match step.signal {
                None if ended => machine.finish(due).expect("a body to the end"),
                signal => signal,
            };
            match signal.expect("a complete reply") {
                Signal::Status(code) => status = code,
                Signal::Content { bytes } => content += bytes,
                Signal::End { last, .. } => {
                    assert!(rest.is_empty());
                    return (status, content, last);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn what_an_honest_server_says_is_what_a_client_reads() {
        let honest = Honest { close: 300, ..Honest::default() };
        let mut random = Random::new(3);
        for number in 0..2000 {
            let head = number % 5 == 0;
            let (acts, reply) = honest.answer(head, &mut random);
            let due = if head { Due::Head } else { Due::Reply };
            assert_eq!(read(&acts, due), (reply.status, reply.content, reply.last), "{acts:?}");
        }
    }

    #[test]
    fn the_last_turn_of_a_script_serves_all_that_follow() {
        let turns = vec![vec![Act::Wait(1)], vec![Act::Shut]];
        let server = Server::Scripted(Arc::new(Script { turns, ..Script::answering([]) }));
        let acts = |number| server.answer(number, false, &mut Random::new(0)).0;
        assert_eq!((acts(0), acts(1), acts(9)), (vec![Act::Wait(1)], vec![Act::Shut], vec![Act::Shut]));
    }
}
