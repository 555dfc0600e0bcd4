//! Field lines up to the empty line: header and trailer sections (RFC 9112 section 5). All syntax is judged
//! by `httparse`; here are the pieces, the line ends and the limits.
//!
//! A section that is all there is parsed where it lies. One that comes in pieces is taken line by line, so
//! what is held is never more than the line that is not yet complete.

use httparse::{EMPTY_HEADER, Status, parse_headers};
use memchr::{memchr, memchr_iter};

use crate::{Fault, limits};

/// The longest line the original tool could hold, its line end included.
const LONG: usize = 1023;

/// Fields of a section that is parsed in one go; more are no fault, they only take the slower way.
const USUAL: usize = 32;

/// What a section is known by when it is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Bytes of the field lines and the empty line.
    pub(super) bytes: u32,
    /// Length of the first line over 1,023 bytes, 0 if there is none.
    pub(super) long: u32,
}

/// Reads a whole section from the front of `input`; `None`, and nothing said to `hear`, if it is not all
/// there, unusually large or broken.
pub(super) fn at_once(input: &[u8], mut hear: impl FnMut(&str, &[u8])) -> Option<Extent> {
    // In so many bytes neither a line nor the section can break its limit.
    let input = &input[..input.len().min(limits::LINE)];
    let mut fields = [EMPTY_HEADER; USUAL];
    let Ok(Status::Complete((bytes, fields))) = parse_headers(input, &mut fields) else { return None };
    for field in fields {
        hear(field.name, field.value);
    }
    let long = if bytes > LONG { first_long_line(&input[..bytes]) } else { 0 };
    Some(Extent { bytes: bytes as u32, long })
}

fn first_long_line(section: &[u8]) -> u32 {
    let mut start = 0;
    for lf in memchr_iter(b'\n', section) {
        let length = lf + 1 - start;
        if length > LONG {
            return length as u32;
        }
        start = lf + 1;
    }
    0
}

/// Which line ends a section may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// CRLF or LF: the header section (RFC 9112 section 2.2).
    Lenient,
    /// CRLF only: everything that belongs to chunk framing.
    Crlf,
}

/// A section that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Section {
    extent: Extent,
    fields: u16,
    /// The line that is not yet complete. It is good so far.
    line: Vec<u8>,
}

impl Section {
    /// Reads on: how many bytes it took, and the extent once the empty line is among them.
    ///
    /// Every byte is judged when it comes, syntax before limits, so that the cuts change nothing.
    pub(super) fn read(
        &mut self,
        input: &[u8],
        end: LineEnd,
        mut hear: impl FnMut(&str, &[u8]),
    ) -> Result<(usize, Option<Extent>), Fault> {
        let mut used = 0;
        while used < input.len() {
            let rest = &input[used..];
            let piece = &rest[..memchr(b'\n', rest).map_or(rest.len(), |lf| lf + 1)];
            let fits = &piece[..piece.len().min(self.room())];
            if !fits.ends_with(b"\n") {
                self.judge(fits)?;
            }
            if fits.len() < piece.len() {
                return Err(self.limit());
            }
            self.line.extend_from_slice(fits);
            self.extent.bytes += fits.len() as u32;
            used += fits.len();
            if fits.ends_with(b"\n") && self.complete_line(end, &mut hear)? {
                return Ok((used, Some(self.extent)));
            }
        }
        Ok((used, None))
    }

    /// How long the next piece of the line may be.
    fn room(&self) -> usize {
        (limits::LINE - self.line.len()).min(limits::SECTION - self.extent.bytes as usize)
    }

    /// The limit that leaves no room.
    fn limit(&self) -> Fault {
        if limits::SECTION - (self.extent.bytes as usize) < limits::LINE - self.line.len() {
            Fault::Limit("a field section of more than 256 KiB")
        } else {
            Fault::Limit("a field line of more than 64 KiB")
        }
    }

    /// Whether the line may go on with `piece`. What came before is known to be good, so a stand-in for it
    /// will do: the cost is that of `piece`, however long the line is already.
    fn judge(&self, piece: &[u8]) -> Result<(), Fault> {
        let name_and_colon: &[u8] = if memchr(b':', &self.line).is_some() { b"x:" } else { b"" };
        let last = &self.line[self.line.len().saturating_sub(1)..];
        let sample = [name_and_colon, last, piece].concat();
        parse_headers(&sample, &mut [EMPTY_HEADER]).map(drop).map_err(malformed)
    }

    /// Parses the line and forgets it; true if it is the empty one.
    fn complete_line(&mut self, end: LineEnd, hear: &mut impl FnMut(&str, &[u8])) -> Result<bool, Fault> {
        let length = self.line.len();
        let empty = matches!(&self.line[..], b"\n" | b"\r\n");
        if !empty {
            // With an empty line behind it, a field line is a section of its own.
            self.line.extend_from_slice(b"\r\n");
            let mut field = [EMPTY_HEADER];
            parse_headers(&self.line, &mut field).map_err(malformed)?;
            self.fields += 1;
            if usize::from(self.fields) > limits::FIELDS {
                return Err(Fault::Limit("more than 1,000 fields"));
            }
            hear(field[0].name, field[0].value);
            if length > LONG && self.extent.long == 0 {
                self.extent.long = length as u32;
            }
        }
        if end == LineEnd::Crlf && !self.line[..length].ends_with(b"\r\n") {
            return Err(Fault::Malformed("a bare LF in a trailer section"));
        }
        self.line.clear();
        Ok(empty)
    }
}

fn malformed(error: httparse::Error) -> Fault {
    Fault::Malformed(match error {
        httparse::Error::HeaderName => "a field line that does not begin with a name and a colon",
        httparse::Error::HeaderValue => "a control character or a bare CR in a field value",
        _ => "a bare CR between field lines",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `unit` without end; what is held when the limit is reached.
    fn held(unit: &[u8]) -> usize {
        let mut section = Section::default();
        loop {
            match section.read(unit, LineEnd::Lenient, |_, _| ()) {
                Ok(_) => {}
                Err(Fault::Limit(_)) => return section.line.capacity(),
                Err(fault) => panic!("{fault}"),
            }
        }
    }

    #[test]
    fn a_flood_never_makes_it_hold_more_than_one_line() {
        assert!(held(b"X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\nX-") < 256);
        assert!(held(b"name") <= 2 * limits::LINE);
    }

    #[test]
    fn pieces_say_what_the_whole_says() {
        let input = b"A: b\r\nC:\nD: \t e f \r\n\r\nrest";
        let mut whole = Vec::new();
        let extent = at_once(input, |name, value| whole.push((name.to_owned(), value.to_owned())));
        let mut pieces = Vec::new();
        let mut section = Section::default();
        let mut end = None;
        for piece in input.chunks(1) {
            let hear = |name: &str, value: &[u8]| pieces.push((name.to_owned(), value.to_owned()));
            (_, end) = section.read(piece, LineEnd::Lenient, hear).expect("good bytes");
            if end.is_some() {
                break;
            }
        }
        assert_eq!(extent, Some(Extent { bytes: 22, long: 0 }));
        assert_eq!((end, pieces), (extent, whole));
    }

    #[test]
    fn a_section_with_many_fields_is_left_to_the_slower_way() {
        let section = |fields| [b"a:\r\n".repeat(fields), b"\r\n".to_vec()].concat();
        assert!(at_once(&section(USUAL), |_, _| ()).is_some());
        assert!(at_once(&section(USUAL + 1), |_, _| panic!("nothing is said")).is_none());
    }
}
