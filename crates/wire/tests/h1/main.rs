//! The HTTP/1 machine, tested as a dialogue: bytes in, a line of words out.

#![allow(clippy::unwrap_used)]

mod dialogues;
mod limits;
mod memo;
mod play;
mod random;
