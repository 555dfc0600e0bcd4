//! Quality of service: how calls went for who waited for them, by class.
//!
//! ```text
//!   begun, answered, lost --> Quality (one a loop) --merge--> calls = good + tolerable + failed + unfinished
//! ```
//!
//! A call here is what a user waited for, however many attempts it took: the workload tells of it, no event
//! does.

use httperf_engine::Nanos;

use crate::moments::Moments;

/// The limits of response time, from the due time to the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest response time that is good.
    pub good_ns: Nanos,
    /// The longest that is tolerable; not less than that.
    pub tolerable_ns: Nanos,
}

/// How a call went for who waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Answered within the good limit.
    Good,
    /// Answered later, within the tolerable one.
    Tolerable,
    /// Answered too late or with a server error, or not at all.
    Failed,
}

impl Limits {
    /// The grade of a reply: both limits belong to the better side. A status of 500 or more is no answer,
    /// however fast it came.
    pub fn judge(&self, response_ns: Nanos, status: u16) -> Grade {
        match response_ns {
            _ if status >= SERVER_ERROR => Grade::Failed,
            _ if response_ns <= self.good_ns => Grade::Good,
            _ if response_ns <= self.tolerable_ns => Grade::Tolerable,
            _ => Grade::Failed,
        }
    }
}

/// From here on a status says that the server failed (RFC 9110 section 15.6).
const SERVER_ERROR: u16 = 500;

/// The collector, and the summary it leaves: a few words for each class.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    limits: Option<Limits>,
    classes: Vec<ClassQuality>,
}

/// What became of the calls of one class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassQuality {
    /// Its name.
    pub name: String,
    /// Calls that were begun.
    pub calls: u64,
    /// Those that had a reply.
    pub replies: u64,
    /// Those that were given up without one.
    pub lost: u64,
    /// Replies of a status of 500 or more.
    pub server_errors: u64,
    /// Bytes of replies: header sections, bodies and what follows the last chunk.
    pub bytes: u64,
    /// From the due time of a call to the last byte of its reply, in seconds.
    pub response_s: Moments,
    /// Calls graded good, tolerable and failed; all 0 without limits.
    pub grades: [u64; 3],
}

impl ClassQuality {
    /// Calls that were going on when the run ended: neither answered nor given up, and without a grade.
    pub fn unfinished(&self) -> u64 {
        self.calls.saturating_sub(self.replies).saturating_sub(self.lost)
    }

    /// How many calls have this grade.
    pub fn graded(&self, grade: Grade) -> u64 {
        self.grades[grade as usize]
    }

    fn add(&mut self, other: &ClassQuality) {
        for (mine, theirs) in [
            (&mut self.calls, other.calls),
            (&mut self.replies, other.replies),
            (&mut self.lost, other.lost),
            (&mut self.server_errors, other.server_errors),
            (&mut self.bytes, other.bytes),
        ] {
            *mine += theirs;
        }
        self.response_s.merge(&other.response_s);
        for (mine, theirs) in self.grades.iter_mut().zip(other.grades) {
            *mine += theirs;
        }
    }
}

impl Quality {
    /// Nothing yet, of classes with these names. Without limits nothing is graded.
    pub fn new(limits: Option<Limits>, names: impl IntoIterator<Item = String>) -> Self {
        let class = |name| ClassQuality { name, ..ClassQuality::default() };
        Self { limits, classes: names.into_iter().map(class).collect() }
    }

    /// A call of this class, an index, has begun.
    pub fn began(&mut self, class: u16) {
        if let Some(class) = self.classes.get_mut(usize::from(class)) {
            class.calls += 1;
        }
    }

    /// A call has its reply: so long after it was due, with this status and so many bytes.
    pub fn answered(&mut self, class: u16, response_ns: Nanos, status: u16, bytes: u64) {
        let Some(class) = self.classes.get_mut(usize::from(class)) else { return };
        class.replies += 1;
        class.server_errors += u64::from(status >= SERVER_ERROR);
        class.bytes += bytes;
        class.response_s.add(response_ns as f64 / 1e9);
        if let Some(limits) = self.limits {
            class.grades[limits.judge(response_ns, status) as usize] += 1;
        }
    }

    /// A call was given up without a reply.
    pub fn lost(&mut self, class: u16) {
        let Some(class) = self.classes.get_mut(usize::from(class)) else { return };
        class.lost += 1;
        if self.limits.is_some() {
            class.grades[Grade::Failed as usize] += 1;
        }
    }

    /// The limits, if calls are graded.
    pub fn limits(&self) -> Option<Limits> {
        self.limits
    }

    /// The classes, in the order of their indices.
    pub fn classes(&self) -> &[ClassQuality] {
        &self.classes
    }

    /// All classes together, without a name.
    pub fn total(&self) -> ClassQuality {
        let mut total = ClassQuality::default();
        self.classes.iter().for_each(|class| total.add(class));
        total
    }

    /// Adds what another loop of the same run saw.
    pub fn merge(&mut self, other: &Quality) {
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.add(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { good_ns: 3, tolerable_ns: 5 };

    fn new() -> Quality {
        Quality::new(Some(LIMITS), ["a".to_owned(), "b".to_owned()])
    }

    #[test]
    fn a_limit_belongs_to_the_better_grade() {
        let grades: Vec<_> = [0, 3, 4, 5, 6, Nanos::MAX].map(|ns| LIMITS.judge(ns, 200)).into();
        let expected =
            [Grade::Good, Grade::Good, Grade::Tolerable, Grade::Tolerable, Grade::Failed, Grade::Failed];
        assert_eq!(grades, expected);
        let equal = Limits { good_ns: 3, tolerable_ns: 3 };
        assert_eq!([3, 4].map(|ns| equal.judge(ns, 200)), [Grade::Good, Grade::Failed]);
    }

    #[test]
    fn a_server_error_has_failed_however_fast_and_other_statuses_are_answers() {
        let grades = [304, 404, 499, 500, 599].map(|status| LIMITS.judge(0, status));
        assert_eq!(grades, [Grade::Good, Grade::Good, Grade::Good, Grade::Failed, Grade::Failed]);
    }

    #[test]
    fn every_call_has_a_grade_or_is_unfinished() {
        let mut quality = new();
        (0..6).for_each(|_| quality.began(1));
        quality.answered(1, 3, 200, 10);
        quality.answered(1, 5, 404, 20);
        quality.answered(1, 6, 200, 30);
        quality.answered(1, 1, 503, 40);
        quality.lost(1);
        let class = &quality.classes()[1];
        assert_eq!((class.replies, class.lost, class.server_errors, class.bytes), (4, 1, 1, 100));
        assert_eq!((class.grades, class.unfinished()), ([1, 1, 3], 1));
        assert_eq!(class.graded(Grade::Failed), 3);
        assert_eq!(quality.classes()[0], ClassQuality { name: "a".to_owned(), ..ClassQuality::default() });
        assert_eq!(quality.total(), ClassQuality { name: String::new(), ..class.clone() });
    }

    #[test]
    fn without_limits_nothing_is_graded() {
        let mut quality = Quality::new(None, ["a".to_owned()]);
        (0..2).for_each(|_| quality.began(0));
        quality.answered(0, 1, 503, 1);
        quality.lost(0);
        assert_eq!(quality.total().grades, [0; 3]);
        assert_eq!(quality.total().unfinished(), 0);
    }

    #[test]
    fn loops_add_up() {
        let (mut one, mut other, mut both) = (new(), new(), new());
        for (class, ns, status) in [(0, 1, 200), (1, 4, 200), (1, 9, 200), (0, 2, 500)] {
            let part = if ns % 2 == 0 { &mut one } else { &mut other };
            for quality in [part, &mut both] {
                quality.began(class);
                quality.answered(class, ns, status, 7);
            }
        }
        one.merge(&other);
        assert_eq!(one.total().grades, both.total().grades);
        assert_eq!(one.classes()[1].bytes, 14);
        assert_eq!(one.total().response_s.count, 4);
    }
}
