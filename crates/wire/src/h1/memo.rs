//! Heads that came before. A server sends the same head again and again (only `Date` changes, once a second):
//! to compare the 200 bytes of a usual one takes some 60 instructions, to read them some 2,200.

use super::State;
use super::chunks::Chunks;
use super::fields::{self, Extent};
use super::framing::{Body, Said};
use super::pending::Pending;
use super::status::{Status, StatusLine};
use crate::{Fault, Rules};

/// The latest heads and what they meant. One serves all machines of a thread: what is remembered
/// is the server's way to speak, not a connection's state. It only saves work; signals and
/// faults are the same without it.
#[derive(Debug, Default)]
pub struct Memo {
    /// Latest first.
    heads: [Known; HEADS],
}

/// Enough for the few kinds of replies that most tests see; each costs a comparison
/// when the head is none of them.
const HEADS: usize = 4;

/// Longer heads are not remembered, so that a memo never holds more than two pages.
const BYTES: usize = 1024;

/// A head that came in one piece.
#[derive(Debug, Default)]
struct Known {
    /// What it answered; `None` in a place not yet taken.
    asked: Option<Asked>,
    /// Status line, fields and empty line.
    bytes: Vec<u8>,
    meaning: Meaning,
}

/// What the meaning of a head depends on besides its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// It answers a HEAD request.
    pub(super) head: bool,
    pub(super) rules: Rules,
}

/// What a whole head of a final reply means.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meaning {
    /// All that is to be told of it, its `Status` included.
    pub(super) pending: Pending,
    /// Where the stream is behind it.
    pub(super) state: State,
}

impl Memo {
    /// What the head at the front of `input` means, remembered or read; `None` if it
    /// takes more than one look.
    #[inline]
    pub(super) fn look_up(&mut self, input: &[u8], asked: Asked) -> Option<Meaning> {
        let known =
            self.heads.iter().find(|head| head.asked == Some(asked) && input.starts_with(&head.bytes));
        match known {
            Some(head) => Some(head.meaning),
            None => self.learn(input, asked),
        }
    }

    /// Reads a head, and remembers it in the place of the oldest one.
    #[inline(never)]
    fn learn(&mut self, input: &[u8], asked: Asked) -> Option<Meaning> {
        let meaning = Meaning::read(input, asked)?;
        let bytes = &input[..meaning.pending.head as usize];
        if bytes.len() <= BYTES {
            self.heads.rotate_right(1);
            let head = &mut self.heads[0];
            head.asked = Some(asked);
            head.bytes.clear();
            head.bytes.extend_from_slice(bytes);
            head.meaning = meaning;
        }
        Some(meaning)
    }
}

impl Meaning {
    /// Reads a head that is all there. `None` if it is cut, broken, interim or odd in its status line: then
    /// it is for the states to judge, which take it piece by piece.
    fn read(input: &[u8], asked: Asked) -> Option<Self> {
        let (used, status) = StatusLine::default().read(input, asked.rules.classic_strict).ok()?;
        let status = status.filter(|status| !status.garbage && !(100..200).contains(&status.code))?;
        let mut said = Said::default();
        let extent = fields::at_once(&input[used..], |name, value| said.hear(name, value))?;
        Self::of(status, extent, said, asked).ok()
    }

    /// Draws the conclusion from the parts of a final head.
    pub(super) fn of(status: Status, extent: Extent, said: Said, asked: Asked) -> Result<Self, Fault> {
        let framing = said.framing(status, asked.head, asked.rules)?;
        let (state, end) = match framing.body {
            Body::Empty | Body::Length(0) => (State::default(), Pending::END),
            Body::Length(left) => (State::Length { left }, 0),
            Body::Chunked => (State::Chunks(Chunks::default()), 0),
            Body::ToEnd => (State::ToEnd, 0),
        };
        let mut which = Pending::STATUS | Pending::HEAD | end;
        for (odd, note) in [
            (framing.length_and_chunked, Pending::LENGTH_AND_CHUNKED),
            (framing.unknown_coding, Pending::UNKNOWN_CODING),
            (extent.long > 0, Pending::LONG),
        ] {
            which |= if odd { note } else { 0 };
        }
        let head = status.bytes + extent.bytes;
        let pending =
            Pending { which, last: framing.last, code: status.code, head, long: extent.long, footer: 0 };
        Ok(Self { pending, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: Asked = Asked { head: false, rules: Rules { classic_strict: false } };

    fn knows(memo: &Memo, head: &str, asked: Asked) -> bool {
        memo.heads.iter().any(|known| known.asked == Some(asked) && known.bytes == head.as_bytes())
    }

    /// A head of so many bytes, with a mark.
    fn head(mark: usize, bytes: usize) -> String {
        let start = format!("HTTP/1.1 204 {mark}\r\nA: ");
        format!("{start}{}\r\n\r\n", "x".repeat(bytes - start.len() - 4))
    }

    #[test]
    fn the_latest_heads_are_remembered_in_bounded_space() {
        let mut memo = Memo::default();
        for mark in 0..100 {
            assert!(memo.look_up(head(mark, BYTES / 2 + mark).as_bytes(), GET).is_some());
            assert!(memo.look_up(head(mark, BYTES).as_bytes(), GET).is_some());
            assert!(memo.look_up(head(mark, BYTES + 1).as_bytes(), GET).is_some());
        }
        for mark in 0..100 {
            assert_eq!(knows(&memo, &head(mark, BYTES), GET), mark >= 100 - HEADS / 2);
            assert!(!knows(&memo, &head(mark, BYTES + 1), GET));
        }
        assert!(memo.heads.iter().all(|known| known.bytes.capacity() <= 2 * BYTES));
    }

    #[test]
    fn a_head_is_remembered_once_for_each_thing_it_answers() {
        let head = head(0, 100);
        let mut memo = Memo::default();
        let all = [false, true]
            .map(|head| [false, true].map(|classic_strict| Asked { head, rules: Rules { classic_strict } }));
        for asked in all.into_iter().flatten().chain(all.into_iter().flatten()) {
            assert!(memo.look_up(head.as_bytes(), asked).is_some());
        }
        assert!(all.into_iter().flatten().all(|asked| knows(&memo, &head, asked)));
    }

    #[test]
    fn what_takes_more_than_one_look_is_not_remembered() {
        let mut memo = Memo::default();
        for input in [
            "",
            "H",
            "HTTP/1.1 200 OK\r\nA: b\r\n",
            "HTTP/1.1 200 OK\r\nA: b\r\n\r",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA b\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "GARBAGE\r\n\r\n",
        ] {
            for classic_strict in [false, true] {
                let asked = Asked { head: false, rules: Rules { classic_strict } };
                assert!(memo.look_up(input.as_bytes(), asked).is_none(), "{input:?}");
            }
        }
        assert!(memo.heads.iter().all(|known| known.asked.is_none()));
    }
}
