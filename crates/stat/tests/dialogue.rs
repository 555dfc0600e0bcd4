//! The collectors of sessions and of what goes over the wire, against a core whose inputs, and so all times,
//! are written down.

#[path = "dialogue/driven.rs"]
mod driven;
#[path = "dialogue/sessions.rs"]
mod sessions;
#[path = "dialogue/trace.rs"]
mod trace;
#[path = "dialogue/transcript.rs"]
mod transcript;
