//! The HTTP/1.0 and 1.1 client machine (RFC 9112).
//!
//! ```text
//!   memo.rs     heads that came before     fields.rs   header and trailer sections, by httparse
//!   status.rs   the status line            chunks.rs   chunk framing
//!   framing.rs  what the fields mean       pending.rs  signals that wait to be told
//! ```
//!
//! A reply whose head lies in one input costs no allocation, and hardly more than a comparison if the memo
//! knows it; body bytes are counted, never copied. Every byte is judged when it comes, so a fault does not
//! wait for more input, and the cuts change nothing.

mod chunks;
mod fields;
mod framing;
mod memo;
mod pending;
mod status;

pub use memo::Memo;

use chunks::{Chunks, Found};
use fields::{Extent, LineEnd, Section};
use framing::Said;
use memo::{Asked, Meaning};
use pending::Pending;
use status::{Status, StatusLine};

use crate::{Due, Fault, Machine, Note, Rules, Signal, Step, limits};

/// The client side of one HTTP/1 connection.
#[derive(Debug, Default)]
pub struct H1 {
    state: State,
    /// Signals that are due before the state goes on.
    pending: Pending,
    /// What the reply at hand answers.
    asked: Asked,
    /// Interim replies before the reply at hand.
    interim: u8,
    /// The section at hand, if it comes in pieces.
    held: Option<Box<Held>>,
}

/// How many bytes were dealt with, and what they meant.
type Advance = Result<(usize, Option<Signal>), Fault>;

/// Where in a reply the stream is.
///
/// ```text
///            first byte             LF            empty line
///   +--> Between --------> StatusLine ----> Fields ---------------+
///   |     ^   |                               |                   |
///   |     +---|--------- interim reply -------+                   |
///   |         +---------- whole head in one input --------------->|
///   |                                                             v
///   |                            +----------------+-----------+---+------+
///   |                            v                v           v          |
///   |                         Length           Chunks       ToEnd     no body
///   |                            |                v           |          |
///   |                            |             Trailer       FIN         |
///   |                            v                v           v          v
///   +----------------------------+----------------+-----------+----------+
/// ```
#[derive(Clone, Copy, Debug)]
enum State {
    /// No byte of a status line yet; of an empty line before it, so much.
    Between(Lead),
    StatusLine(StatusLine),
    Fields(Status),
    Length {
        /// More than 0.
        left: u64,
    },
    Chunks(Chunks),
    Trailer,
    ToEnd,
}

/// One empty line before a status line is skipped, as RFC 9112 section 2.2 asks of servers: some peers
/// send one too many after a body.
#[derive(Clone, Copy, Debug)]
enum Lead {
    Nothing,
    Cr,
    Line,
}

/// A section that comes in pieces, and what it has said so far.
#[derive(Debug, Default)]
struct Held {
    section: Section,
    said: Said,
}

impl Default for State {
    fn default() -> Self {
        Self::Between(Lead::Nothing)
    }
}

impl H1 {
    /// A machine for a fresh connection.
    pub fn new(rules: Rules) -> Self {
        Self { asked: Asked { head: false, rules }, ..Self::default() }
    }

    /// Whether the end of the stream would complete the reply at hand.
    pub fn ends_with_stream(&self) -> bool {
        matches!(self.state, State::ToEnd)
    }

    /// Goes from state to state up to the next signal. Most states are calls, so that their bulk does not
    /// weigh on the way through the first one, which every reply takes.
    #[inline(never)]
    fn advance(&mut self, input: &[u8], due: Due, memo: &mut Memo) -> Result<Step, Fault> {
        let mut used = 0;
        while used < input.len() {
            let rest = &input[used..];
            let (more, signal) = match self.state {
                State::Between(lead) => self.begin(lead, rest, due, memo)?,
                State::StatusLine(line) => self.status_line(line, rest)?,
                State::Fields(status) => self.fields(status, rest)?,
                State::Length { left } => self.length(left, rest),
                State::Chunks(chunks) => self.chunks(chunks, rest)?,
                State::Trailer => self.trailer(rest)?,
                State::ToEnd => (rest.len(), Some(Signal::Content { bytes: rest.len() as u64 })),
            };
            used += more;
            if signal.is_some() {
                return Ok(Step { used, signal });
            }
        }
        Ok(Step { used, signal: None })
    }

    /// The first byte of a reply, or one before it.
    #[inline]
    fn begin(&mut self, lead: Lead, input: &[u8], due: Due, memo: &mut Memo) -> Advance {
        if self.interim == 0 {
            match due {
                Due::Nothing => return Err(Fault::Unsolicited),
                Due::Reply => self.asked.head = false,
                Due::Head => self.asked.head = true,
            }
        }
        let lead = match (lead, input[0]) {
            (Lead::Nothing, b'\r') => Lead::Cr,
            (Lead::Nothing | Lead::Cr, b'\n') => Lead::Line,
            (Lead::Cr, _) if !self.asked.rules.classic_strict => {
                return Err(Fault::Malformed("a bare CR before a status line"));
            }
            _ => {
                let used = match memo.look_up(input, self.asked) {
                    Some(meaning) => self.adopt(meaning),
                    None => {
                        self.state = State::StatusLine(StatusLine::default());
                        0
                    }
                };
                return Ok((used as usize, Some(Signal::Begin)));
            }
        };
        self.state = State::Between(lead);
        Ok((1, None))
    }

    /// Goes on behind a final head; how many bytes it has.
    #[inline]
    fn adopt(&mut self, meaning: Meaning) -> u32 {
        self.interim = 0;
        self.state = meaning.state;
        self.pending = meaning.pending;
        self.pending.head
    }

    #[inline(never)]
    fn status_line(&mut self, mut line: StatusLine, input: &[u8]) -> Advance {
        let (used, status) = line.read(input, self.asked.rules.classic_strict)?;
        let Some(status) = status else {
            self.state = State::StatusLine(line);
            return Ok((used, None));
        };
        self.state = State::Fields(status);
        match status.code {
            101 => Err(Fault::Malformed("101 Switching Protocols, which no request asked for")),
            100..200 => Ok((used, None)),
            code if status.garbage => {
                self.pending = Pending { which: Pending::STATUS, code, ..Pending::default() };
                Ok((used, Some(Signal::Note(Note::GarbageStatus))))
            }
            code => Ok((used, Some(Signal::Status(code)))),
        }
    }

    #[inline(never)]
    fn fields(&mut self, status: Status, input: &[u8]) -> Advance {
        if self.held.is_none() {
            let mut said = Said::default();
            if let Some(extent) = fields::at_once(input, |name, value| said.hear(name, value)) {
                return Ok((extent.bytes as usize, Some(self.decide(status, extent, said)?)));
            }
        }
        let Held { section, said } = &mut **self.held.get_or_insert_default();
        let (used, extent) = section.read(input, LineEnd::Lenient, |name, value| said.hear(name, value))?;
        let Some(extent) = extent else { return Ok((used, None)) };
        let said = *said;
        self.held = None;
        Ok((used, Some(self.decide(status, extent, said)?)))
    }

    /// The header section is complete: what comes next?
    fn decide(&mut self, status: Status, extent: Extent, said: Said) -> Result<Signal, Fault> {
        if let 100..200 = status.code {
            // No body, and no oddities: its fields mean nothing here (RFC 9110 section 15.2).
            if u32::from(self.interim) == limits::INTERIM {
                return Err(Fault::Limit("more than 32 interim replies to one call"));
            }
            self.interim += 1;
            self.state = State::default();
            return Ok(Signal::Interim(status.code));
        }
        let bytes = self.adopt(Meaning::of(status, extent, said, self.asked)?);
        // The status was told when its line was complete.
        self.pending.which &= !(Pending::STATUS | Pending::HEAD);
        Ok(Signal::Head { bytes })
    }

    /// Content of a known length.
    #[inline]
    fn length(&mut self, left: u64, input: &[u8]) -> (usize, Option<Signal>) {
        let bytes = left.min(input.len() as u64);
        if bytes < left {
            self.state = State::Length { left: left - bytes };
        } else {
            self.state = State::default();
            self.pending.which = Pending::END;
        }
        (bytes as usize, Some(Signal::Content { bytes }))
    }

    #[inline(never)]
    fn chunks(&mut self, mut chunks: Chunks, input: &[u8]) -> Advance {
        let (used, found) = chunks.read(input)?;
        let (state, signal) = match found {
            Found::Nothing => (State::Chunks(chunks), None),
            Found::Content(bytes) => (State::Chunks(chunks), Some(Signal::Content { bytes })),
            Found::LastLine => (State::Trailer, None),
        };
        self.state = state;
        Ok((used, signal))
    }

    #[inline(never)]
    fn trailer(&mut self, input: &[u8]) -> Advance {
        let (used, extent) = if self.held.is_none() && input.starts_with(b"\r\n") {
            (2, Some(Extent { bytes: 2, long: 0 }))
        } else {
            // Trailers mean nothing to us, whatever their names (RFC 9110 section 6.5.1).
            self.held.get_or_insert_default().section.read(input, LineEnd::Crlf, |_, _| ())?
        };
        let Some(Extent { bytes: footer, long }) = extent else { return Ok((used, None)) };
        self.held = None;
        self.state = State::default();
        let note = if long > 0 { Pending::LONG } else { 0 };
        self.pending = Pending { which: note | Pending::END, long, footer, ..self.pending };
        Ok((used, self.pending.take()))
    }

    /// The reply is over.
    fn end(&mut self, last: bool) -> Signal {
        self.state = State::default();
        Signal::End { footer: 0, last }
    }
}

impl Machine for H1 {
    /// The short ways, which most calls take, are for the caller's loop; the rest is one call.
    #[inline(always)]
    fn receive(&mut self, input: &[u8], due: Due, memo: &mut Memo) -> Result<Step, Fault> {
        if let signal @ Some(_) = self.pending.take() {
            return Ok(Step { used: 0, signal });
        }
        match self.state {
            _ if input.is_empty() => Ok(Step { used: 0, signal: None }),
            State::Length { left } => {
                let (used, signal) = self.length(left, input);
                Ok(Step { used, signal })
            }
            _ => self.advance(input, due, memo),
        }
    }

    fn finish(&mut self, _due: Due) -> Result<Option<Signal>, Fault> {
        match self.state {
            State::Between(_) if self.interim == 0 => Ok(None),
            State::ToEnd => Ok(Some(self.end(true))),
            State::Length { .. } if self.asked.rules.classic_strict => Ok(Some(self.end(true))),
            _ => Err(Fault::Truncated),
        }
    }

    fn discardable(&self) -> u64 {
        match &self.state {
            State::Length { left } => *left,
            State::Chunks(chunks) => chunks.left(),
            State::ToEnd => u64::MAX,
            _ => 0,
        }
    }

    fn discarded(&mut self, bytes: u64) -> Option<Signal> {
        assert!(bytes <= self.discardable(), "more bytes were thrown away than body was left");
        match &mut self.state {
            State::Length { left } if *left == bytes => Some(self.end(self.pending.last)),
            State::Length { left } => {
                *left -= bytes;
                None
            }
            State::Chunks(chunks) if bytes > 0 => {
                chunks.pass(bytes);
                None
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds one input; whether something is held after it.
    fn holds(h1: &mut H1, input: &str) -> bool {
        let mut rest = input.as_bytes();
        let mut memo = Memo::default();
        while let Step { used, signal: Some(_) } =
            h1.receive(rest, Due::Reply, &mut memo).expect("good bytes")
        {
            rest = &rest[used..];
        }
        h1.held.is_some()
    }

    #[test]
    fn a_connection_is_small() {
        assert!(size_of::<H1>() <= 64, "{}", size_of::<H1>());
    }

    #[test]
    fn only_sections_in_pieces_are_held_and_only_while_they_are() {
        let mut h1 = H1::new(Rules::default());
        assert!(!holds(&mut h1, "HTTP/1.1 200"));
        assert!(!holds(&mut h1, " OK\r\n"));
        assert!(holds(&mut h1, "Transfer-"));
        assert!(!holds(&mut h1, "Encoding: chunked\r\n\r\n5"));
        assert!(!holds(&mut h1, "\r\nhello\r\n0\r\n"));
        assert!(holds(&mut h1, "Trailer"));
        assert!(!holds(&mut h1, ": x\r\n\r\n"));
        assert!(!holds(&mut h1, "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\nhello"));
    }

    #[test]
    fn what_may_be_discarded_is_the_rest_of_the_body() {
        let after = |head: &str| {
            let mut h1 = H1::new(Rules::default());
            holds(&mut h1, &format!("HTTP/1.1 200 OK\r\n{head}"));
            h1
        };
        assert_eq!(after("").discardable(), 0);
        assert_eq!(after("\r\n").discardable(), u64::MAX);
        let mut length = after("Content-Length: 5\r\n\r\nhe");
        assert_eq!((length.discardable(), length.discarded(2)), (3, None));
        assert_eq!(length.discarded(1), Some(Signal::End { footer: 0, last: false }));
        assert_eq!(length.discardable(), 0);
        let mut chunk = after("Transfer-Encoding: chunked\r\n\r\n5\r\nhe");
        assert_eq!((chunk.discardable(), chunk.discarded(3), chunk.discardable()), (3, None, 0));
    }

    #[test]
    #[should_panic(expected = "more bytes were thrown away than body was left")]
    fn more_than_the_body_cannot_be_discarded() {
        H1::new(Rules::default()).discarded(1);
    }
}
