//! Whether a result can be believed, and what to do if not.

use crate::schedule::Schedule;

/// What is wrong with a result, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing that is looked for.
    Valid,
    /// The client was the limit.
    ClientBound,
    /// It was ended before its end.
    Interrupted,
    /// It contradicts itself.
    Inconsistent,
}

impl Status {
    /// The word in the result document.
    pub fn key(self) -> &'static str {
        match self {
            Status::Valid => "valid",
            Status::ClientBound => "client-bound",
            Status::Interrupted => "interrupted",
            Status::Inconsistent => "inconsistent",
        }
    }
}

/// The worst that applies, and the sentences of everything that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The worst that applies.
    pub status: Status,
    /// One sentence each: what, why, what to do.
    pub reasons: Vec<String>,
}

/// The verdict on a run: what it breaks of the conservation laws, whether the client kept its schedule, and
/// who ended it before its end, if anybody (`"SIGINT"`).
pub fn verdict(breaches: &[String], schedule: &Schedule, ended_by: Option<&str>) -> Verdict {
    let mut found: Vec<(Status, String)> = Vec::new();
    if !schedule.kept {
        found.push((Status::ClientBound, schedule.sentence.clone()));
    }
    if let Some(who) = ended_by {
        found.push((
            Status::Interrupted,
            format!("the run was ended early by {who}: it says nothing of the rest; let it finish"),
        ));
    }
    found.extend(breaches.iter().map(|breach| {
        (
            Status::Inconsistent,
            format!("the result contradicts itself: {breach}; do not use it, and report this"),
        )
    }));
    let status = found.iter().map(|(status, _)| *status).max().unwrap_or(Status::Valid);
    Verdict { status, reasons: found.into_iter().map(|(_, reason)| reason).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_the_status_and_all_are_reasons() {
        let kept = Schedule { kept: true, sentence: "kept".into() };
        let late = Schedule { kept: false, sentence: "late".into() };
        let of = |breaches: &[String], schedule, ended_by| {
            let verdict = verdict(breaches, schedule, ended_by);
            (verdict.status.key(), verdict.reasons.len())
        };
        assert_eq!(of(&[], &kept, None), ("valid", 0));
        assert_eq!(of(&[], &late, None), ("client-bound", 1));
        assert_eq!(of(&[], &late, Some("SIGINT")), ("interrupted", 2));
        assert_eq!(of(&["a is not b".into()], &late, Some("SIGINT")), ("inconsistent", 3));
    }
}
