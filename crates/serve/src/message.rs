//! A call as a route sees it, and the reply it makes of it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::counters::Counts;

/// One request, its body already taken in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'c> {
    /// Method, target, fields.
    pub(crate) head: &'c Parts,
    /// What stands in the path in place of the pattern's capitals; empty for a fixed path.
    pub(crate) argument: &'c str,
    /// The body, as far as the route keeps it.
    pub(crate) body: &'c [u8],
    /// Bytes the body had, kept or not.
    pub(crate) body_bytes: u64,
    /// When the head had been read.
    pub(crate) arrived: Instant,
    /// When the server started.
    pub(crate) started: Instant,
    /// How many requests arrived at the server before this one.
    pub(crate) serial: u64,
    /// What the server had counted when the request had been read, this request included.
    pub(crate) counts: Counts,
}

impl Call<'_> {
    /// The query of the target, empty if there is none.
    pub(crate) fn query(&self) -> &str {
        self.head.uri.query().unwrap_or_default()
    }
}

/// What to answer, when, and what becomes of the connection.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) response: Response<Body>,
    /// The reply may not leave earlier.
    pub(crate) not_before: Option<Instant>,
    pub(crate) end: End,
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// What the two heads say.
    Agreed,
    /// It is closed behind the reply, whose head does not say so.
    Behind,
    /// It is closed in place of the reply.
    Instead,
}

impl Reply {
    /// A status and nothing else.
    pub(crate) fn empty(status: StatusCode) -> Reply {
        let mut response = Response::new(Body::Text(Bytes::new()));
        *response.status_mut() = status;
        Reply { response, not_before: None, end: End::Agreed }
    }

    pub(crate) fn text(status: StatusCode, text: impl Into<Bytes>) -> Reply {
        Reply::empty(status).body("text/plain; charset=utf-8", Body::Text(text.into()))
    }

    pub(crate) fn body(mut self, content_type: &'static str, body: Body) -> Reply {
        *self.response.body_mut() = body;
        self.field(CONTENT_TYPE, HeaderValue::from_static(content_type))
    }

    pub(crate) fn field(mut self, name: HeaderName, value: HeaderValue) -> Reply {
        self.response.headers_mut().insert(name, value);
        self
    }

    pub(crate) fn not_before(mut self, at: Instant) -> Reply {
        self.not_before = Some(at);
        self
    }

    pub(crate) fn end(mut self, end: End) -> Reply {
        self.end = end;
        self
    }
}

/// The body of a reply. The large ones are references to [`BLOCK`]: their length costs nothing.
#[derive(Debug)]
pub(crate) enum Body {
    Text(Bytes),
    /// `left` bytes more, with their number in `Content-Length`.
    Sized {
        left: u64,
    },
    /// `left` bytes more, in chunks of `piece` bytes, at most [`BLOCK`]'s length.
    Chunked {
        left: u64,
        piece: usize,
    },
}

/// What large bodies consist of: lines of 63 characters.
pub(crate) static BLOCK: [u8; 64 * 1024] = {
    let line = b"0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWX\n\n";
    let mut block = [0; 64 * 1024];
    let mut at = 0;
    while at < block.len() {
        block[at] = line[at % line.len()];
        at += 1;
    }
    block
};

impl Body {
    /// Nothing is left to give.
    pub(crate) fn is_spent(&self) -> bool {
        match self {
            Body::Text(text) => text.is_empty(),
            Body::Sized { left } | Body::Chunked { left, .. } => *left == 0,
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Body::Text(text) => std::mem::take(text),
            Body::Sized { left } => cut(left, BLOCK.len()),
            Body::Chunked { left, piece } => cut(left, *piece),
        };
        Poll::Ready((!data.is_empty()).then(|| Ok(Frame::data(data))))
    }

    /// A chunked body never says that it ends: hyper would give one of no bytes a length.
    fn is_end_stream(&self) -> bool {
        !matches!(self, Body::Chunked { .. }) && self.is_spent()
    }

    /// A length makes hyper write `Content-Length`, none makes it write chunks.
    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Text(text) => SizeHint::with_exact(text.len() as u64),
            Body::Sized { left } => SizeHint::with_exact(*left),
            Body::Chunked { .. } => SizeHint::default(),
        }
    }
}

/// Takes the next piece off `left`.
fn cut(left: &mut u64, piece: usize) -> Bytes {
    let length = usize::try_from(*left).map_or(piece, |left| left.min(piece)).min(BLOCK.len());
    *left -= length as u64;
    Bytes::from_static(&BLOCK[..length])
}

#[cfg(test)]
mod tests {
    use hyper::body::Body as _;

    use super::*;

    fn pieces(mut body: Body) -> Vec<usize> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut lengths = Vec::new();
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut context) {
            lengths.push(frame.into_data().unwrap().len());
        }
        assert!(body.is_spent());
        lengths
    }

    #[test]
    fn bodies_come_in_pieces_that_add_up() {
        assert_eq!(pieces(Body::Text(Bytes::from_static(b"abc"))), [3]);
        assert_eq!(pieces(Body::Text(Bytes::new())), []);
        assert_eq!(pieces(Body::Sized { left: 0 }), []);
        assert_eq!(pieces(Body::Sized { left: 2 * 65_536 + 1 }), [65_536, 65_536, 1]);
        assert_eq!(pieces(Body::Chunked { left: 250, piece: 100 }), [100, 100, 50]);
        assert_eq!(pieces(Body::Chunked { left: 0, piece: 100 }), []);
    }

    #[test]
    fn only_chunked_bodies_hide_their_length() {
        assert_eq!(Body::Sized { left: 1 << 40 }.size_hint().exact(), Some(1 << 40));
        assert_eq!(Body::Chunked { left: 5, piece: 1 }.size_hint().exact(), None);
        assert!(Body::Sized { left: 0 }.is_end_stream());
        assert!(!Body::Chunked { left: 0, piece: 1 }.is_end_stream());
    }
}
