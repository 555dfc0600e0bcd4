//! Signals that wait to be told. A head says several things at once, and the caller hears one at a time.

use crate::{Note, Signal};

/// Which signals wait, as bits in the order in which they are told, and what they say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    pub(super) which: u8,
    /// No reply will follow the one at hand.
    pub(super) last: bool,
    pub(super) code: u16,
    /// Bytes of the head.
    pub(super) head: u32,
    /// Length of the long line.
    pub(super) long: u32,
    pub(super) footer: u32,
}

impl Pending {
    pub(super) const STATUS: u8 = 1;
    pub(super) const HEAD: u8 = 1 << 1;
    pub(super) const LENGTH_AND_CHUNKED: u8 = 1 << 2;
    pub(super) const UNKNOWN_CODING: u8 = 1 << 3;
    pub(super) const LONG: u8 = 1 << 4;
    pub(super) const END: u8 = 1 << 5;

    /// The next signal to tell.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Signal> {
        let rest = self.which & self.which.checked_sub(1)?;
        let next = self.which ^ rest;
        self.which = rest;
        Some(match next {
            Self::STATUS => Signal::Status(self.code),
            Self::HEAD => Signal::Head { bytes: self.head },
            Self::LENGTH_AND_CHUNKED => Signal::Note(Note::LengthAndChunked),
            Self::UNKNOWN_CODING => Signal::Note(Note::UnknownCoding),
            Self::LONG => Signal::Note(Note::LongField(self.long)),
            _ => Signal::End { footer: self.footer, last: self.last },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_come_in_their_order_and_once() {
        let mut pending =
            Pending { which: 0b11_1111, last: true, code: 200, head: 40, long: 1024, footer: 2 };
        let told: Vec<Signal> = std::iter::from_fn(|| pending.take()).collect();
        assert_eq!(
            told,
            [
                Signal::Status(200),
                Signal::Head { bytes: 40 },
                Signal::Note(Note::LengthAndChunked),
                Signal::Note(Note::UnknownCoding),
                Signal::Note(Note::LongField(1024)),
                Signal::End { footer: 2, last: true },
            ]
        );
    }
}
