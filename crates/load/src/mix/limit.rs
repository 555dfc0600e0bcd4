//! How many sessions a run has.

use httperf_engine::Nanos;

use super::MixError;
use super::file::{File, fault};
use super::times;

/// How many sessions a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixLimit {
    /// So many.
    Count(u64),
    /// All that are due earlier than this, counted from the start.
    Duration(Nanos),
}

impl MixLimit {
    /// Either `count` or `duration`, and nothing else, says it.
    pub(super) fn new(source: &str, file: &File) -> Result<Self, MixError> {
        let sessions = file.sessions.get_ref();
        match (&sessions.count, &sessions.duration) {
            (Some(count), None) if *count.get_ref() == 0 => {
                fault(source, count.span(), "`count` must be 1 or more")
            }
            (Some(count), None) => Ok(Self::Count(*count.get_ref())),
            (None, Some(duration)) => times::positive(source, "duration", duration).map(Self::Duration),
            (Some(_), Some(duration)) => {
                Err(MixError::new(source, duration.span(), "both `count` and `duration` are given")
                    .help("leave one of them out"))
            }
            (None, None) => {
                Err(MixError::new(source, file.sessions.span(), "nothing says when the run ends")
                    .help("write count = 1000 or duration = \"60s\" in [sessions]"))
            }
        }
    }
}
