//! The server's end of one connection: reads requests, answers them in order, and writes down what it did.

use std::collections::VecDeque;

use super::network::{FILLING, Link, Pipe};
use super::random::Random;
use super::server::{Act, Layer, Layers, Reply, Server};
use super::truth::{Answer, Dialogue};
use crate::time::Time;

/// What follows from what a server did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// So many bytes arrive at the client.
    Segment(u64),
    /// The end of the stream arrives there.
    Fin,
    /// A reset arrives there.
    Rst,
    /// The server goes on.
    Resume,
}

/// The server's end of one connection.
#[derive(Debug)]
pub(super) struct Peer {
    server: Server,
    layer: Option<Box<dyn Layer>>,
    random: Random,
    pub(super) link: Link,
    requests: Requests,
    /// Requests that wait for their turn: when each was complete, whether it is HEAD.
    waiting: VecDeque<(Time, bool)>,
    /// What is left to do of this turn.
    acts: VecDeque<Act>,
    asleep: bool,
    closed: bool,
}

impl Peer {
    pub(super) fn new(server: &Server, layers: Option<&Layers>, random: Random, link: Link) -> Self {
        Self {
            server: server.clone(),
            layer: layers.map(Layers::make),
            random,
            link,
            requests: Requests::default(),
            waiting: VecDeque::new(),
            acts: server.greeting().into(),
            asleep: true,
            closed: false,
        }
    }

    /// Whether something stands between it and the network.
    pub(super) fn is_layered(&self) -> bool {
        self.layer.is_some()
    }

    /// Bytes from the client have come.
    pub(super) fn receive(
        &mut self,
        at: Time,
        bytes: &[u8],
        pipe: &mut Pipe,
        truth: &mut Dialogue,
        effect: &mut impl FnMut(Time, Effect),
    ) {
        truth.received += bytes.len() as u64;
        if self.closed {
            // Nobody reads any more (RFC 9293 section 3.6.1).
            return effect(self.link.behind(at), Effect::Rst);
        }
        match &mut self.layer {
            None => self.requests.feed(bytes),
            Some(layer) => {
                let (mut up, mut down) = (Vec::new(), Vec::new());
                layer.receive(bytes, &mut up, &mut down);
                self.requests.feed(&up);
                self.say(at, down, pipe, effect);
            }
        }
        while let Some(head) = self.requests.next() {
            truth.requests += 1;
            self.waiting.push_back((at, head));
        }
        if !self.asleep {
            self.proceed(at, pipe, truth, effect);
        }
    }

    /// Acts until it has to wait.
    pub(super) fn proceed(
        &mut self,
        at: Time,
        pipe: &mut Pipe,
        truth: &mut Dialogue,
        effect: &mut impl FnMut(Time, Effect),
    ) {
        self.asleep = false;
        while !self.closed {
            let Some(act) = self.acts.pop_front() else {
                let Some((asked, head)) = self.waiting.pop_front() else { return };
                let (acts, reply) = self.server.answer(truth.answers.len(), head, &mut self.random);
                self.acts = acts.into();
                truth.answers.push(Answer::new(asked, reply));
                continue;
            };
            match act {
                Act::Wait(nanos) => {
                    self.asleep = true;
                    return effect(at + nanos, Effect::Resume);
                }
                Act::Send(bytes) if self.layer.is_some() => self.wrap(at, &bytes, pipe, truth, effect),
                Act::Fill(length) if self.layer.is_some() => {
                    self.wrap(at, &vec![FILLING; length as usize], pipe, truth, effect);
                }
                Act::Send(bytes) => {
                    let length = bytes.len() as u64;
                    pipe.push(bytes);
                    self.carry(at, length, truth, effect);
                }
                Act::Fill(length) => {
                    pipe.fill(length);
                    self.carry(at, length, truth, effect);
                }
                Act::Trickle(bytes, every) => {
                    for byte in bytes.iter().rev() {
                        self.acts.push_front(Act::Wait(every));
                        self.acts.push_front(Act::send([*byte]));
                    }
                }
                Act::Shut => {
                    truth.ended.get_or_insert(at);
                    self.say_end(at, pipe, effect);
                    effect(self.link.behind(at), Effect::Fin);
                }
                Act::Close => {
                    truth.ended.get_or_insert(at);
                    self.say_end(at, pipe, effect);
                    self.closed = true;
                    effect(self.link.behind(at), Effect::Fin);
                }
                Act::Reset { purge } => {
                    truth.ended.get_or_insert(at);
                    self.closed = true;
                    let arrival = if purge { at + self.link.latency } else { self.link.behind(at) };
                    effect(arrival, Effect::Rst);
                }
            }
        }
    }

    /// Sends bytes of an answer through the layer.
    fn wrap(
        &mut self,
        at: Time,
        bytes: &[u8],
        pipe: &mut Pipe,
        truth: &mut Dialogue,
        effect: &mut impl FnMut(Time, Effect),
    ) {
        let mut down = Vec::new();
        if let Some(layer) = &mut self.layer {
            layer.send(bytes, &mut down);
        }
        let length = down.len() as u64;
        pipe.push(down.into());
        self.carry(at, length, truth, effect);
    }

    /// Sends what the layer says at the end.
    fn say_end(&mut self, at: Time, pipe: &mut Pipe, effect: &mut impl FnMut(Time, Effect)) {
        let mut down = Vec::new();
        if let Some(layer) = &mut self.layer {
            layer.end(&mut down);
        }
        self.say(at, down, pipe, effect);
    }

    /// Sends bytes that belong to no answer.
    fn say(&mut self, at: Time, bytes: Vec<u8>, pipe: &mut Pipe, effect: &mut impl FnMut(Time, Effect)) {
        let length = bytes.len() as u64;
        pipe.push(bytes.into());
        self.link.carry(at, length, |arrival, length| effect(arrival, Effect::Segment(length)));
    }

    fn carry(&mut self, at: Time, bytes: u64, truth: &mut Dialogue, effect: &mut impl FnMut(Time, Effect)) {
        let mut answer = truth.answers.last_mut();
        self.link.carry(at, bytes, |arrival, length| {
            if let Some(answer) = &mut answer {
                answer.first = answer.first.min(arrival);
                answer.last = arrival;
                answer.bytes += length;
            }
            effect(arrival, Effect::Segment(length));
        });
    }
}

impl Answer {
    fn new(asked: Time, reply: Option<Reply>) -> Self {
        Self { asked, first: Time::NEVER, last: Time::NEVER, bytes: 0, reply }
    }
}

/// Finds the ends of requests: an empty line, then as many bytes as Content-Length says.
#[derive(Debug, Default)]
struct Requests {
    bytes: Vec<u8>,
    /// How much of `bytes` is known to hold no empty line.
    searched: usize,
    /// Bytes of a body still to come.
    body: usize,
    head: bool,
    inside: bool,
}

impl Requests {
    fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next request that is complete: whether it is HEAD.
    fn next(&mut self) -> Option<bool> {
        const END: &[u8] = b"\r\n\r\n";
        if !self.inside {
            let from = self.searched.saturating_sub(END.len());
            let Some(end) = self.bytes[from..].windows(END.len()).position(|four| four == END) else {
                self.searched = self.bytes.len();
                return None;
            };
            let header: Vec<u8> = self.bytes.drain(..from + end + END.len()).collect();
            self.searched = 0;
            self.inside = true;
            self.head = header.starts_with(b"HEAD ");
            self.body = content_length(&header);
        }
        if self.bytes.len() < self.body {
            return None;
        }
        self.bytes.drain(..self.body);
        self.inside = false;
        Some(self.head)
    }
}

fn content_length(header: &[u8]) -> usize {
    let header = String::from_utf8_lossy(header);
    let mut fields = header.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::network::Network;
    use super::super::server::Script;
    use super::*;

    #[test]
    fn requests_are_found_wherever_they_are_cut() {
        let bytes = b"GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 4\r\n\r\n\r\n\r\nHEAD / HTTP/1.1\r\n\r\n";
        for cut in 1..bytes.len() {
            let mut requests = Requests::default();
            let mut found = Vec::new();
            for piece in bytes.chunks(cut) {
                requests.feed(piece);
                found.extend(std::iter::from_fn(|| requests.next()));
            }
            assert_eq!(found, [false, false, true], "cut at {cut}");
            assert!(requests.bytes.is_empty());
        }
    }

    #[test]
    fn pipelined_requests_are_answered_one_after_the_other() {
        let server = Server::Scripted(std::sync::Arc::new(Script::answering([
            Act::Wait(100),
            Act::send("ab"),
            Act::Wait(10),
        ])));
        let network = Network { latency: 5..=5, kib: 0..=0, segment: 9..=9 };
        let mut peer = Peer::new(&server, None, Random::new(0), Link::new(&network, 0, 0));
        let (mut pipe, mut truth) = (Pipe::default(), Dialogue::default());
        let mut effects = Vec::new();
        peer.proceed(Time(0), &mut pipe, &mut truth, &mut |at, effect| effects.push((at, effect)));
        let two = b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        peer.receive(Time(1), two, &mut pipe, &mut truth, &mut |at, effect| effects.push((at, effect)));
        let mut now = 0;
        while now < effects.len() {
            let (at, effect) = effects[now];
            now += 1;
            if effect == Effect::Resume {
                peer.proceed(at, &mut pipe, &mut truth, &mut |at, effect| effects.push((at, effect)));
            }
        }
        let last: Vec<_> = truth.answers.iter().map(|answer| (answer.asked, answer.last)).collect();
        assert_eq!(last, [(Time(1), Time(106)), (Time(1), Time(216))]);
        assert_eq!(truth.requests, 2);
    }
}
