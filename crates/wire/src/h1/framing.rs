//! What the fields of a head say about the body and about the connection (RFC 9112 sections 6 and 9.3).

use super::status::Status;
use crate::{Fault, Rules};

/// How the body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Empty,
    Length(u64),
    Chunked,
    ToEnd,
}

/// What follows from a whole head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Framing {
    pub(super) body: Body,
    /// The connection can carry no further reply.
    pub(super) last: bool,
    pub(super) length_and_chunked: bool,
    pub(super) unknown_coding: bool,
}

/// What the fields have said so far; fields that say nothing about framing are not kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    length: Length,
    coding: Coding,
    close: bool,
    keep_alive: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Length {
    #[default]
    Absent,
    Is(u64),
    /// It means nothing. A fault only where the body depends on it: Transfer-Encoding beats it, and a reply
    /// that has no body has none whatever it says.
    Broken(&'static str),
}

/// The last coding of Transfer-Encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Coding {
    #[default]
    Absent,
    Chunked,
    Unknown,
}

impl Said {
    /// Hears a field.
    pub(super) fn hear(&mut self, name: &str, value: &[u8]) {
        // Most fields go out by their length.
        match name.len() {
            10 if is(name.as_bytes(), b"Connection") => {
                for option in elements(value) {
                    self.close |= is(option, b"close");
                    self.keep_alive |= is(option, b"keep-alive");
                }
            }
            14 if is(name.as_bytes(), b"Content-Length") => {
                for element in elements(value) {
                    self.length = self.length.and(element);
                }
            }
            17 if is(name.as_bytes(), b"Transfer-Encoding") => {
                let last = elements(value).filter(|coding| !coding.is_empty()).last();
                self.coding = match last {
                    Some(coding) if is(coding, b"chunked") => Coding::Chunked,
                    None if self.coding != Coding::Absent => self.coding,
                    _ => Coding::Unknown,
                };
            }
            _ => {}
        }
    }

    /// Draws the conclusion for a final reply, in the order of RFC 9112 section 6.3.
    pub(super) fn framing(&self, status: Status, head: bool, rules: Rules) -> Result<Framing, Fault> {
        let classic = rules.classic_strict;
        let coding = match self.coding {
            Coding::Unknown if classic => Coding::Absent,
            coding => coding,
        };
        let body = match (status.code, coding, self.length) {
            (204 | 304, ..) => Body::Empty,
            _ if head => Body::Empty,
            (205, ..) if classic => Body::Empty,
            (_, Coding::Chunked, _) => Body::Chunked,
            (_, Coding::Unknown, _) => Body::ToEnd,
            (_, Coding::Absent, Length::Is(bytes)) => Body::Length(bytes),
            (_, Coding::Absent, Length::Broken(text)) => return Err(Fault::Malformed(text)),
            (205, Coding::Absent, Length::Absent) => Body::Empty,
            (_, Coding::Absent, Length::Absent) => Body::ToEnd,
        };
        let coded = self.coding != Coding::Absent;
        let length_and_chunked = coded && self.length != Length::Absent;
        let leave = self.close || (status.http10 && (coded || !self.keep_alive)) || length_and_chunked;
        Ok(Framing {
            body,
            last: body == Body::ToEnd || (leave && !classic),
            length_and_chunked,
            unknown_coding: self.coding == Coding::Unknown && body != Body::Empty,
        })
    }
}

impl Length {
    /// One more value; equal ones are one (RFC 9110 section 8.6).
    fn and(self, value: &[u8]) -> Self {
        match (self, decimal(value)) {
            (Self::Broken(text), _) => Self::Broken(text),
            (_, None) => Self::Broken("a Content-Length that is no number below 2^63"),
            (Self::Is(one), Some(other)) if one != other => Self::Broken("two Content-Lengths that differ"),
            (_, Some(bytes)) => Self::Is(bytes),
        }
    }
}

/// Digits only, up to 2^63-1.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let value = text.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })?;
    (value <= i64::MAX as u64).then_some(value)
}

/// The elements of a list, without the blanks around them; an empty value is one empty element.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Whether two words are the same in any case. Most come as they are usually written, which is soon seen.
#[inline(always)]
fn is(word: &[u8], usual: &[u8]) -> bool {
    word == usual || word.eq_ignore_ascii_case(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: Status = Status { bytes: 17, code: 200, http10: false, garbage: false };
    const MODERN: Rules = Rules { classic_strict: false };
    const CLASSIC: Rules = Rules { classic_strict: true };

    fn said(fields: &[(&str, &str)]) -> Said {
        let mut said = Said::default();
        for (name, value) in fields {
            said.hear(name, value.as_bytes());
        }
        said
    }

    fn body(fields: &[(&str, &str)]) -> Result<Body, Fault> {
        said(fields).framing(OK, false, MODERN).map(|framing| framing.body)
    }

    fn last(status: Status, fields: &[(&str, &str)]) -> bool {
        said(fields).framing(status, true, MODERN).expect("HEAD has no body to get wrong").last
    }

    #[test]
    fn a_length_is_decimal_digits_below_two_to_the_63() {
        for (text, bytes) in [("0", 0), ("007", 7), ("9223372036854775807", i64::MAX as u64), ("5, 5 ,5", 5)]
        {
            assert_eq!(body(&[("Content-Length", text)]), Ok(Body::Length(bytes)), "{text}");
        }
        for text in [
            "",
            "+5",
            "-1",
            "0x5",
            "5.0",
            "5 5",
            "5,",
            ",5",
            "5,6",
            "5;5",
            "9223372036854775808",
            "18446744073709551621",
            "99999999999999999999",
        ] {
            assert!(matches!(body(&[("Content-Length", text)]), Err(Fault::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn equal_lengths_in_several_fields_are_one_and_different_ones_none() {
        assert_eq!(body(&[("Content-Length", "5"), ("content-length", "05")]), Ok(Body::Length(5)));
        assert!(body(&[("Content-Length", "5"), ("content-length", "6")]).is_err());
        assert!(body(&[("Content-Length", "x"), ("content-length", "5")]).is_err());
    }

    #[test]
    fn the_last_coding_decides_and_never_the_length_beside_it() {
        let with = |coding| body(&[("Content-Length", "-1"), ("Transfer-Encoding", coding)]);
        for coding in ["chunked", "CHUNKED", " \tchunked\t ", "gzip, chunked", "chunked,", "chunked, chunked"]
        {
            assert_eq!(with(coding), Ok(Body::Chunked), "{coding}");
        }
        for coding in ["gzip", "identity", "chunked, gzip", "chunkedx", "xchunked", "chunked;q=1", ""] {
            assert_eq!(with(coding), Ok(Body::ToEnd), "{coding}");
        }
    }

    #[test]
    fn codings_in_several_fields_are_one_list() {
        let both = |one, two| body(&[("Transfer-Encoding", one), ("TRANSFER-ENCODING", two)]);
        assert_eq!(both("gzip", "chunked"), Ok(Body::Chunked));
        assert_eq!(both("chunked", ","), Ok(Body::Chunked));
        assert_eq!(both("chunked", "gzip"), Ok(Body::ToEnd));
    }

    #[test]
    fn head_204_and_304_have_no_body_whatever_the_fields_say() {
        for fields in [("Content-Length", "-1"), ("Transfer-Encoding", "chunked")] {
            for code in [204, 304] {
                let framing = said(&[fields]).framing(Status { code, ..OK }, false, MODERN);
                assert_eq!(framing.map(|framing| framing.body), Ok(Body::Empty));
            }
            let framing = said(&[fields]).framing(OK, true, MODERN);
            assert_eq!(framing.map(|framing| framing.body), Ok(Body::Empty));
        }
    }

    #[test]
    fn a_205_has_the_body_it_declares_or_none() {
        let reset = |fields| {
            said(fields).framing(Status { code: 205, ..OK }, false, MODERN).map(|framing| framing.body)
        };
        assert_eq!(reset(&[]), Ok(Body::Empty));
        assert_eq!(reset(&[("Content-Length", "5")]), Ok(Body::Length(5)));
        assert_eq!(reset(&[("Transfer-Encoding", "chunked")]), Ok(Body::Chunked));
        assert!(reset(&[("Content-Length", "x")]).is_err());
    }

    #[test]
    fn http_1_1_stays_open_unless_close_is_an_option() {
        assert!(!last(OK, &[]));
        assert!(!last(OK, &[("Connection", "closed, enclose")]));
        assert!(last(OK, &[("Connection", "keep-alive, CLOSE")]));
        assert!(last(OK, &[("Connection", "x"), ("connection", "\tclose ,y")]));
    }

    #[test]
    fn http_1_0_stays_open_only_with_keep_alive() {
        let old = Status { http10: true, ..OK };
        assert!(last(old, &[]));
        assert!(!last(old, &[("Connection", "Keep-Alive")]));
        assert!(last(old, &[("Connection", "keep-alive, close")]));
    }

    #[test]
    fn both_framings_or_a_coding_in_http_1_0_are_the_last_reply() {
        let old = Status { http10: true, ..OK };
        assert!(last(OK, &[("Transfer-Encoding", "chunked"), ("Content-Length", "3")]));
        assert!(last(old, &[("Transfer-Encoding", "chunked"), ("Connection", "keep-alive")]));
        assert!(!last(OK, &[("Transfer-Encoding", "chunked")]));
    }

    #[test]
    fn classic_reading_leaves_only_what_runs_to_the_end() {
        let old = Status { http10: true, ..OK };
        let framing = |status, fields: &[(&str, &str)]| {
            said(fields).framing(status, false, CLASSIC).expect("good fields")
        };
        let five = ("Content-Length", "5");
        assert!(!framing(old, &[five, ("Connection", "close")]).last);
        assert!(framing(OK, &[]).last);
        let coded = framing(OK, &[five, ("Transfer-Encoding", "gzip")]);
        assert_eq!((coded.body, coded.unknown_coding), (Body::Length(5), true));
        assert_eq!(framing(Status { code: 205, ..OK }, &[five]).body, Body::Empty);
    }
}
