//! The network of a simulation: how long bytes travel, and in which pieces they arrive.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::random::Random;
use crate::time::{Nanos, Time};

/// What the network of a connection is drawn from.
#[derive(Clone, Debug)]
pub struct Network {
    /// Nanoseconds each way, at least 1.
    pub latency: RangeInclusive<Nanos>,
    /// Nanoseconds for 1,024 bytes from the server.
    pub kib: RangeInclusive<Nanos>,
    /// Bytes of a segment from the server; the cuts do not change when the last byte of a message arrives.
    pub segment: RangeInclusive<u64>,
}

impl Network {
    /// A local network that cuts the stream anywhere.
    pub fn local() -> Self {
        Self { latency: 5_000..=200_000, kib: 0..=80_000, segment: 1..=65_536 }
    }
}

/// The way from the server to the client on one connection.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) latency: Nanos,
    kib: Nanos,
    segment: RangeInclusive<u64>,
    cuts: Random,
    /// Since when the link has been carrying bytes without a pause, and how many.
    busy_from: Time,
    carried: u64,
}

impl Link {
    /// The link of the connection with this key.
    pub(super) fn new(network: &Network, seed: u64, key: u64) -> Self {
        let mut random = Random::keyed(seed, &[key, super::NETWORK]);
        Self {
            latency: random.scale(&network.latency).max(1),
            kib: random.between(&network.kib),
            segment: network.segment.clone(),
            cuts: Random::keyed(seed, &[key, super::CUTS]),
            busy_from: Time::default(),
            carried: 0,
        }
    }

    /// Sends so many bytes from `at` on: tells for each segment when it arrives and how long it is.
    pub(super) fn carry(&mut self, at: Time, bytes: u64, mut arrive: impl FnMut(Time, u64)) {
        if self.free() <= at {
            self.busy_from = at;
            self.carried = 0;
        }
        let mut left = bytes;
        while left > 0 {
            let length = self.cuts.scale(&self.segment).clamp(1, left);
            left -= length;
            self.carried += length;
            arrive(self.free() + self.latency, length);
        }
    }

    /// When something without length that is sent at `at` arrives behind all bytes.
    pub(super) fn behind(&self, at: Time) -> Time {
        self.free().max(at) + self.latency
    }

    /// When the last byte so far has left.
    fn free(&self) -> Time {
        self.busy_from + (self.carried as u128 * u128::from(self.kib) / 1024) as Nanos
    }
}

/// Bytes on their way, and those that wait to be read: first in, first out.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    pieces: VecDeque<Piece>,
}

#[derive(Debug)]
enum Piece {
    Bytes { bytes: Arc<[u8]>, from: usize },
    Filling(u64),
}

/// The byte that fillings are made of.
pub(super) const FILLING: u8 = b'.';

impl Pipe {
    pub(super) fn push(&mut self, bytes: Arc<[u8]>) {
        self.pieces.push_back(Piece::Bytes { bytes, from: 0 });
    }

    /// Adds bytes that cost no memory.
    pub(super) fn fill(&mut self, bytes: u64) {
        self.pieces.push_back(Piece::Filling(bytes));
    }

    /// Takes `bytes` bytes out and hands them on in runs; `None` stands for a run of fillings.
    fn take(&mut self, mut bytes: u64, mut hand: impl FnMut(Option<&[u8]>, u64)) {
        while bytes > 0 {
            let Some(piece) = self.pieces.front_mut() else { return };
            let left = match piece {
                Piece::Bytes { bytes: all, from } => {
                    let run = ((all.len() - *from) as u64).min(bytes);
                    hand(Some(&all[*from..*from + run as usize]), run);
                    *from += run as usize;
                    bytes -= run;
                    all.len() - *from > 0
                }
                Piece::Filling(left) => {
                    let run = (*left).min(bytes);
                    hand(None, run);
                    *left -= run;
                    bytes -= run;
                    *left > 0
                }
            };
            if !left {
                self.pieces.pop_front();
            }
        }
    }

    /// Reads so many bytes.
    pub(super) fn read(&mut self, bytes: u64, into: &mut Vec<u8>) {
        into.clear();
        self.take(bytes, |run, length| match run {
            Some(run) => into.extend_from_slice(run),
            None => into.resize(into.len() + length as usize, FILLING),
        });
    }

    /// Throws so many bytes away.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.take(bytes, |_, _| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(segment: RangeInclusive<u64>) -> Vec<(Time, u64)> {
        let network = Network { latency: 10..=10, kib: 2048..=2048, segment };
        let mut link = Link::new(&network, 1, 1);
        let mut all = Vec::new();
        link.carry(Time(100), 1000, |at, bytes| all.push((at, bytes)));
        link.carry(Time(150), 500, |at, bytes| all.push((at, bytes)));
        assert_eq!(link.behind(Time(200)), Time(3110));
        link.carry(Time(9000), 1, |at, bytes| all.push((at, bytes)));
        all
    }

    #[test]
    fn cuts_do_not_change_when_the_last_byte_arrives() {
        let whole = arrivals(65_536..=65_536);
        assert_eq!(whole, [(Time(2110), 1000), (Time(3110), 500), (Time(9012), 1)]);
        for segment in [1..=1, 1..=100, 7..=7] {
            let cut = arrivals(segment);
            assert_eq!(cut.iter().map(|(_, bytes)| bytes).sum::<u64>(), 1501);
            for last in &whole {
                assert!(cut.iter().any(|(at, _)| *at == last.0));
            }
            assert!(cut.is_sorted_by_key(|(at, _)| *at));
        }
    }

    #[test]
    fn a_pipe_gives_back_what_was_put_in() {
        let mut pipe = Pipe::default();
        pipe.push(Arc::from(*b"hello"));
        pipe.fill(3);
        pipe.push(Arc::from(*b"world"));
        let mut read = Vec::new();
        pipe.read(2, &mut read);
        assert_eq!(read, b"he");
        pipe.read(5, &mut read);
        assert_eq!(read, b"llo..");
        pipe.skip(3);
        pipe.read(100, &mut read);
        assert_eq!(read, b"rld");
    }
}
