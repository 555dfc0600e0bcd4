//! Whether a result can be believed, and what to do if not.

use crate::confidence::{Confidence, Confidences};
use crate::percentile::Percentile;
use crate::schedule::Schedule;
use crate::steady::{State, Steady};

/// What is wrong with a result, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing that is looked for.
    Valid,
    /// It is too short to tell.
    Underpowered,
    /// It did not stay what it was: one figure does not stand for it.
    Unsteady,
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
            Status::Underpowered => "underpowered",
            Status::Unsteady => "unsteady",
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

/// What a verdict is found from.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// What the run breaks of the conservation laws.
    pub breaches: &'a [String],
    /// Whether the client kept its schedule.
    pub schedule: &'a Schedule,
    /// Who ended it before its end, if anybody (`"SIGINT"`).
    pub ended_by: Option<&'a str>,
    /// Whether it stayed what it was, if that was asked.
    pub steady: Option<&'a Steady>,
    /// How sure its figures are, if that was asked, and which percentiles it is to be judged by.
    pub confidence: Option<(&'a Confidences, &'a [Percentile])>,
}

/// The verdict on a run: what it breaks of the conservation laws, whether the client kept its schedule, and
/// who ended it before its end, if anybody (`"SIGINT"`).
pub fn verdict(breaches: &[String], schedule: &Schedule, ended_by: Option<&str>) -> Verdict {
    judge(&Evidence { breaches, schedule, ended_by, steady: None, confidence: None })
}

/// The verdict on a run by all that is known of it.
pub fn judge(evidence: &Evidence<'_>) -> Verdict {
    let Evidence { breaches, schedule, ended_by, steady, confidence } = *evidence;
    let mut found: Vec<(Status, String)> = Vec::new();
    if let Some(reason) = confidence.and_then(|(all, which)| unsure(all, which)) {
        found.push((Status::Underpowered, reason));
    }
    found.extend(steady.and_then(unsteady));
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

/// Which figures are not known well enough, why the worst of them is not, and what to do.
fn unsure(all: &Confidences, which: &[Percentile]) -> Option<String> {
    let wanted = all.percentiles.iter().filter(|(percentile, _)| which.contains(percentile));
    let wanted = wanted.map(|(percentile, confidence)| (format!("p{}", percentile.key), confidence));
    let figures = [("rate".to_owned(), &all.rate), ("mean".to_owned(), &all.mean)].into_iter().chain(wanted);
    let unsure: Vec<_> = figures
        .filter_map(|(name, confidence)| match confidence {
            Confidence::Underpowered { reason, needed_s, .. } => Some((name, reason, *needed_s)),
            Confidence::Known { .. } => None,
        })
        .collect();
    let names: Vec<&str> = unsure.iter().map(|(name, ..)| &name[..]).collect();
    let longest = unsure.iter().max_by(|a, b| a.2.unwrap_or(0.0).total_cmp(&b.2.unwrap_or(0.0)));
    let (name, reason, needed_s) = longest?;
    let advice = match needed_s {
        Some(needed_s) => format!("let it run for about {}", length(*needed_s)),
        None => "look at its errors first".to_owned(),
    };
    Some(format!("the run does not tell how sure {} is: for {name}, {reason}; {advice}", names.join(", ")))
}

/// What is wrong with its steadiness, why, and what to do.
fn unsteady(steady: &Steady) -> Option<(Status, String)> {
    let note = steady.note()?;
    let unsteady = |advice: &str| {
        let reason = format!("one figure does not stand for the whole run: {note}; {advice}");
        Some((Status::Unsteady, reason))
    };
    match steady.state {
        State::TooShort { needed_s } => {
            let advice = if needed_s.is_some() { "let it run longer" } else { "look at its errors first" };
            Some((Status::Underpowered, format!("{note}; {advice}")))
        }
        State::BacklogGrows { .. } => unsteady("the server is over its capacity, offer less"),
        State::Drifting { .. } | State::LevelChanges { .. } | State::SpreadChanges { .. } => {
            unsteady("find what changes on the server or beside it, or let it run until it has settled")
        }
        State::Periodic { period_s, .. } if steady.stationary() == Some(false) => {
            unsteady(&format!("let it run for ten rounds, about {}", length(10.0 * period_s)))
        }
        State::Periodic { .. } | State::Stationary => None,
    }
}

/// A length of time that is only roughly known: two digits, rounded up.
fn length(seconds: f64) -> String {
    let (value, unit) = match seconds {
        _ if seconds < 120.0 => (seconds, "s"),
        _ if seconds < 7_200.0 => (seconds / 60.0, "min"),
        _ => (seconds / 3_600.0, "h"),
    };
    // What is computed as 20.000001 is 20.
    let step = if value < 100.0 { 1.0 } else { 10f64.powf(value.log10().floor() - 1.0) };
    format!("{:.0} {unit}", ((value / step - 1e-6).ceil() * step).max(1.0))
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

    fn steady(state: State) -> Steady {
        Steady { from_s: 0.0, from_slice: 0, method: "", state }
    }

    fn judged(state: State, confidence: Option<&Confidences>) -> Verdict {
        let schedule = Schedule { kept: true, sentence: "kept".into() };
        judge(&Evidence {
            breaches: &[],
            schedule: &schedule,
            ended_by: None,
            steady: Some(&steady(state)),
            confidence: confidence.map(|all| (all, &[Percentile::P50, Percentile::P99][..])),
        })
    }

    fn known() -> Confidence {
        Confidence::Known { estimate: 1.0, low: 0.9, high: 1.1, batches: 20 }
    }

    fn short(reason: &str, needed_s: Option<f64>) -> Confidence {
        Confidence::Underpowered { estimate: None, reason: reason.into(), needed_s }
    }

    #[test]
    fn a_run_that_changes_is_unsteady_and_says_what_to_do() {
        for (state, status, sentence) in [
            (
                State::Drifting { what: crate::steady::Quantity::Median, percent_per_min: 3.2, percent: 6.4 },
                "unsteady",
                "one figure does not stand for the whole run: p50 drifting +3 %/min (+6 % over the run); find what \
                 changes on the server or beside it, or let it run until it has settled",
            ),
            (
                State::BacklogGrows { per_s: 24.7 },
                "unsteady",
                "one figure does not stand for the whole run: backlog grows by 25 calls/s; the server is over its \
                 capacity, offer less",
            ),
            (
                State::Periodic { period_s: 15.0, rounds: 4.0 },
                "unsteady",
                "one figure does not stand for the whole run: periodic: a round takes 15 s, the run has 4 of them; \
                 let it run for ten rounds, about 3 min",
            ),
            (
                State::TooShort { needed_s: Some(2.0) },
                "underpowered",
                "too short to tell whether it was steady, it takes about 2 s; let it run longer",
            ),
        ] {
            let verdict = judged(state, None);
            assert_eq!((verdict.status.key(), &verdict.reasons[..]), (status, &[sentence.to_owned()][..]));
        }
        assert_eq!(judged(State::Stationary, None).status, Status::Valid);
        assert_eq!(judged(State::Periodic { period_s: 1.0, rounds: 60.0 }, None).status, Status::Valid);
    }

    #[test]
    fn a_figure_that_is_not_known_is_named_with_what_it_takes() {
        let p999 = Percentile::ALL[5];
        let mut all = Confidences {
            rate: known(),
            mean: known(),
            percentiles: vec![
                (Percentile::P50, known()),
                (Percentile::P99, short("5000 samples are too few, it needs 20000", Some(40.000_001))),
                (p999, short("5000 samples are too few, it needs 200000", Some(400.0))),
            ],
        };
        let verdict = judged(State::Stationary, Some(&all));
        let sentence = "the run does not tell how sure p99 is: for p99, 5000 samples are too few, it needs 20000; \
                        let it run for about 40 s";
        assert_eq!(
            (verdict.status, &verdict.reasons[..]),
            (Status::Underpowered, &[sentence.to_owned()][..])
        );
        // What nobody asked for is no reason.
        all.percentiles[1].1 = known();
        assert_eq!(judged(State::Stationary, Some(&all)).status, Status::Valid);
        all.mean = short("there is no reply", None);
        assert!(
            judged(State::BacklogGrows { per_s: 1.0 }, Some(&all)).reasons[0]
                .ends_with("look at its errors first")
        );
        assert_eq!(judged(State::BacklogGrows { per_s: 1.0 }, Some(&all)).status, Status::Unsteady);
    }

    #[test]
    fn a_length_is_rounded_up() {
        let lengths = [0.2, 20.000_000_1, 101.0, 150.0, 7_199.0, 900_000.0].map(length);
        assert_eq!(lengths, ["1 s", "20 s", "110 s", "3 min", "120 min", "250 h"]);
    }
}
