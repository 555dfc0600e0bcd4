//! Ways for a connection to end: announced, unannounced, without a reply.

use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue};

use super::{Answer, bad};
use crate::message::{Call, End, Reply};
use crate::value;

pub(super) fn close(_: &Call<'_>) -> Answer {
    Ok(Reply::text(StatusCode::OK, "closing\n").field(CONNECTION, HeaderValue::from_static("close")))
}

/// To a client this looks like a server that gives up idle connections, as early as can be.
pub(super) fn idle_close(_: &Call<'_>) -> Answer {
    Ok(Reply::text(StatusCode::OK, "closing without a word\n").end(End::Behind))
}

/// By the server's own numbers, so that as many are lost as can be said beforehand.
pub(super) fn lost(call: &Call<'_>) -> Answer {
    let every = match value::parameter(call.query(), "every") {
        None => 10,
        Some(text) => value::size(text)
            .filter(|every| *every > 0)
            .ok_or_else(|| bad("every to be a whole number of 1 or more", text))?,
    };
    let reply = Reply::text(StatusCode::OK, "not lost\n");
    let number = call.serial + 1;
    Ok(if number.is_multiple_of(every) { reply.end(End::Instead) } else { reply })
}
