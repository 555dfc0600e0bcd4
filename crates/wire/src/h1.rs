//! The HTTP/1.0 and 1.1 client machine (RFC 9112).
//!
//! ```text
//!   status.rs   the status line          fields.rs   header and trailer sections, by httparse
//!   framing.rs  what the fields mean     chunks.rs   chunk framing
//! ```
//!
//! A reply whose head lies in one input costs no allocation; body bytes are counted, never copied. Every byte is
//! judged when it comes, so a fault does not wait for more input, and the cuts change nothing.

mod chunks;
mod fields;
mod framing;
mod status;

use chunks::{Chunks, Found};
use fields::{Extent, LineEnd, Section};
use framing::{Body, Said};
use status::{Status, StatusLine};

use crate::{Due, Fault, Machine, Note, Rules, Signal, Step, limits};

/// The client side of one HTTP/1 connection.
#[derive(Debug, Default)]
pub struct H1 {
    rules: Rules,
    state: State,
    /// Signals that are due before the state goes on.
    notes: Notes,
    /// The reply at hand answers a HEAD request.
    head: bool,
    /// The reply at hand is the last one.
    last: bool,
    /// Interim replies before the reply at hand.
    interim: u8,
}

/// Where in a reply the stream is.
///
/// ```text
///               first byte              LF            empty line
///   +--> Between ---------> StatusLine ----> Fields --------------+
///   |      ^                     |            ^  |                |
///   |      |                     +-> Garbage -+  |                |
///   |      +------------ interim reply ----------+                |
///   |                                                             v
///   |                            +----------------+-----------+---+------+
///   |                            v                v           v          |
///   |                         Length           Chunks       ToEnd     no body
///   |                            |                v           |          |
///   |                            |             Trailer       FIN         |
///   |                            v                v           v          v
///   +--------------------------- End <------------+-----------+----------+
/// ```
#[derive(Debug)]
enum State {
    /// No byte of a status line yet; of an empty line before it, so much.
    Between(Lead),
    StatusLine(StatusLine),
    /// Classic reading only: the note is out, the status is due.
    Garbage(Status),
    /// The header section; boxed when it comes in pieces.
    Fields(Status, Option<Box<Head>>),
    Length {
        left: u64,
    },
    Chunks(Chunks),
    /// The trailer section; boxed when it is more than the empty line.
    Trailer(Option<Box<Section>>),
    ToEnd,
    /// The reply is complete, `End` is due.
    End {
        footer: u32,
    },
}

/// One empty line before a status line is skipped, as RFC 9112 section 2.2 asks of servers: some peers send one
/// too many after a body.
#[derive(Clone, Copy, Debug)]
enum Lead {
    Nothing,
    Cr,
    Line,
}

/// A header section that comes in pieces, and what it has said so far.
#[derive(Debug, Default)]
struct Head {
    section: Section,
    said: Said,
}

/// Oddities not yet told.
#[derive(Debug, Default)]
struct Notes {
    length_and_chunked: bool,
    unknown_coding: bool,
    /// Length of a long line, or 0.
    long: u32,
}

impl Default for State {
    fn default() -> Self {
        Self::Between(Lead::Nothing)
    }
}

impl H1 {
    /// A machine for a fresh connection.
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Goes on by one state or one signal: how many bytes it took, and what they meant. Without a signal, bytes
    /// that are left belong to the next state.
    fn advance(&mut self, input: &[u8], due: Due) -> Result<(usize, Option<Signal>), Fault> {
        if let Some(note) = self.notes.take() {
            return Ok((0, Some(Signal::Note(note))));
        }
        match &mut self.state {
            State::Garbage(status) => {
                let status = *status;
                self.state = State::Fields(status, None);
                Ok((0, Some(Signal::Status(status.code))))
            }
            State::End { footer } => {
                let footer = *footer;
                Ok((0, Some(self.end(footer))))
            }
            _ if input.is_empty() => Ok((0, None)),
            State::Between(lead) => {
                let lead = *lead;
                self.begin(lead, input[0], due)
            }
            State::StatusLine(line) => {
                let (used, status) = line.read(input, self.rules.classic_strict)?;
                let Some(status) = status else { return Ok((used, None)) };
                if status.garbage {
                    self.state = State::Garbage(status);
                    return Ok((used, Some(Signal::Note(Note::GarbageStatus))));
                }
                self.state = State::Fields(status, None);
                match status.code {
                    101 => Err(Fault::Malformed("101 Switching Protocols, which no request asked for")),
                    100..200 => Ok((used, None)),
                    code => Ok((used, Some(Signal::Status(code)))),
                }
            }
            State::Fields(status, head) => {
                let status = *status;
                match Head::read(head, input)? {
                    (used, None) => Ok((used, None)),
                    (used, Some((extent, said))) => Ok((used, Some(self.decide(status, extent, said)?))),
                }
            }
            State::Length { left } => {
                let bytes = (*left).min(input.len() as u64);
                *left -= bytes;
                if *left == 0 {
                    self.state = State::End { footer: 0 };
                }
                Ok((bytes as usize, Some(Signal::Content { bytes })))
            }
            State::Chunks(chunks) => match chunks.read(input)? {
                (used, Found::Nothing) => Ok((used, None)),
                (used, Found::Content(bytes)) => Ok((used, Some(Signal::Content { bytes }))),
                (used, Found::LastLine) => {
                    self.state = State::Trailer(None);
                    Ok((used, None))
                }
            },
            State::Trailer(section) => {
                if section.is_none() && input.starts_with(b"\r\n") {
                    return Ok((2, Some(self.end(2))));
                }
                // Trailers mean nothing to us, whatever their names (RFC 9110 section 6.5.1).
                let section = section.get_or_insert_default();
                let (used, extent) = section.read(input, LineEnd::Crlf, |_, _| ())?;
                let Some(Extent { bytes: footer, long }) = extent else { return Ok((used, None)) };
                if long == 0 {
                    return Ok((used, Some(self.end(footer))));
                }
                self.state = State::End { footer };
                Ok((used, Some(Signal::Note(Note::LongField(long)))))
            }
            State::ToEnd => Ok((input.len(), Some(Signal::Content { bytes: input.len() as u64 }))),
        }
    }

    /// The first byte of a reply, or one before it.
    fn begin(&mut self, lead: Lead, byte: u8, due: Due) -> Result<(usize, Option<Signal>), Fault> {
        if self.interim == 0 {
            match due {
                Due::Nothing => return Err(Fault::Unsolicited),
                Due::Reply => self.head = false,
                Due::Head => self.head = true,
            }
        }
        let (state, used, signal) = match (lead, byte) {
            (Lead::Nothing, b'\r') => (State::Between(Lead::Cr), 1, None),
            (Lead::Nothing | Lead::Cr, b'\n') => (State::Between(Lead::Line), 1, None),
            (Lead::Cr, _) if !self.rules.classic_strict => {
                return Err(Fault::Malformed("a bare CR before a status line"));
            }
            _ => (State::StatusLine(StatusLine::default()), 0, Some(Signal::Begin)),
        };
        self.state = state;
        Ok((used, signal))
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
        let framing = said.framing(status, self.head, self.rules)?;
        self.last = framing.last;
        self.notes = Notes {
            length_and_chunked: framing.length_and_chunked,
            unknown_coding: framing.unknown_coding,
            long: extent.long,
        };
        self.state = match framing.body {
            Body::Empty | Body::Length(0) => State::End { footer: 0 },
            Body::Length(left) => State::Length { left },
            Body::Chunked => State::Chunks(Chunks::default()),
            Body::ToEnd => State::ToEnd,
        };
        Ok(Signal::Head { bytes: status.bytes + extent.bytes })
    }

    /// The reply is over.
    fn end(&mut self, footer: u32) -> Signal {
        self.state = State::default();
        self.interim = 0;
        Signal::End { footer, last: self.last }
    }
}

impl Machine for H1 {
    fn receive(&mut self, input: &[u8], due: Due) -> Result<Step, Fault> {
        let mut used = 0;
        loop {
            let (more, signal) = self.advance(&input[used..], due)?;
            used += more;
            if signal.is_some() || used == input.len() {
                return Ok(Step { used, signal });
            }
        }
    }

    fn finish(&mut self, _due: Due) -> Result<Option<Signal>, Fault> {
        match self.state {
            State::Between(_) if self.interim == 0 => Ok(None),
            State::ToEnd => Ok(Some(self.end(0))),
            State::End { footer } => Ok(Some(self.end(footer))),
            State::Length { .. } if self.rules.classic_strict => {
                self.last = true;
                Ok(Some(self.end(0)))
            }
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
            State::Length { left } if *left == bytes => Some(self.end(0)),
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

impl Head {
    /// Reads on in a header section that is held in `head` if it has begun.
    fn read(head: &mut Option<Box<Self>>, input: &[u8]) -> Result<(usize, Option<(Extent, Said)>), Fault> {
        if head.is_none() {
            let mut said = Said::default();
            if let Some(extent) = fields::at_once(input, |name, value| said.hear(name, value)) {
                return Ok((extent.bytes as usize, Some((extent, said))));
            }
        }
        let Self { section, said } = &mut **head.get_or_insert_default();
        let (used, extent) = section.read(input, LineEnd::Lenient, |name, value| said.hear(name, value))?;
        Ok((used, extent.map(|extent| (extent, *said))))
    }
}

impl Notes {
    fn take(&mut self) -> Option<Note> {
        if std::mem::take(&mut self.length_and_chunked) {
            return Some(Note::LengthAndChunked);
        }
        if std::mem::take(&mut self.unknown_coding) {
            return Some(Note::UnknownCoding);
        }
        match std::mem::take(&mut self.long) {
            0 => None,
            length => Some(Note::LongField(length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds one input; whether something is held after it.
    fn holds(h1: &mut H1, input: &str) -> bool {
        let mut rest = input.as_bytes();
        while let Step { used, signal: Some(_) } = h1.receive(rest, Due::Reply).expect("good bytes") {
            rest = &rest[used..];
        }
        matches!(h1.state, State::Fields(_, Some(_)) | State::Trailer(Some(_)))
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
