//! Quality of service by response time: good, tolerable, failed.

use httperf_engine::Nanos;

/// How a call went for who waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Answered within the good limit.
    Good,
    /// Answered later, within the tolerable one.
    Tolerable,
    /// Answered too late, or not at all.
    Failed,
}

/// The limits of response time, from the due time to the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// The longest response time that is good.
    pub good_ns: Nanos,
    /// The longest that is tolerable; not less than that.
    pub tolerable_ns: Nanos,
}

impl Quality {
    /// The grade of a call: both limits belong to the better side. `None` is a call without a reply.
    pub fn judge(&self, response_ns: Option<Nanos>) -> Grade {
        match response_ns {
            Some(response_ns) if response_ns <= self.good_ns => Grade::Good,
            Some(response_ns) if response_ns <= self.tolerable_ns => Grade::Tolerable,
            _ => Grade::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_belongs_to_the_better_grade() {
        let quality = Quality { good_ns: 3, tolerable_ns: 5 };
        let grades: Vec<_> = [0, 3, 4, 5, 6, Nanos::MAX].map(|ns| quality.judge(Some(ns))).into();
        let expected =
            [Grade::Good, Grade::Good, Grade::Tolerable, Grade::Tolerable, Grade::Failed, Grade::Failed];
        assert_eq!(grades, expected);
        assert_eq!(quality.judge(None), Grade::Failed);
    }

    #[test]
    fn equal_limits_leave_nothing_tolerable() {
        let quality = Quality { good_ns: 3, tolerable_ns: 3 };
        assert_eq!([3, 4].map(|ns| quality.judge(Some(ns))), [Grade::Good, Grade::Failed]);
    }
}
