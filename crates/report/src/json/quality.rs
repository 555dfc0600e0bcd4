//! How the calls of a mix went for who waited for them, by class.

use httperf_stat::{ClassQuality, Grade, Quality};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Graded<'a> {
    /// The longest response time that is good, and that is tolerable; unknown if nothing is graded.
    good_max_s: Option<f64>,
    tolerable_max_s: Option<f64>,
    total: Calls,
    /// In the order of the file.
    classes: Vec<Class<'a>>,
}

#[derive(Serialize)]
struct Class<'a> {
    name: &'a str,
    #[serde(flatten)]
    calls: Calls,
}

/// Every call, however many attempts it took: answered, lost, or unfinished.
#[derive(Serialize)]
struct Calls {
    calls: u64,
    replies: u64,
    lost: u64,
    unfinished: u64,
    server_errors: u64,
    bytes: u64,
    /// Response time, from the due time to the last byte.
    response_mean_s: Option<f64>,
    response_max_s: Option<f64>,
    good: Option<u64>,
    tolerable: Option<u64>,
    failed: Option<u64>,
}

impl<'a> Graded<'a> {
    pub(super) fn of(quality: &'a Quality) -> Self {
        let limits = quality.limits();
        let graded = limits.is_some();
        let class = |class: &'a ClassQuality| Class { name: &class.name, calls: Calls::of(class, graded) };
        Self {
            good_max_s: limits.map(|limits| limits.good_ns as f64 / 1e9),
            tolerable_max_s: limits.map(|limits| limits.tolerable_ns as f64 / 1e9),
            total: Calls::of(&quality.total(), graded),
            classes: quality.classes().iter().map(class).collect(),
        }
    }
}

impl Calls {
    fn of(class: &ClassQuality, graded: bool) -> Self {
        let known = |value| (class.response_s.count > 0).then_some(value);
        let grade = |grade| graded.then(|| class.graded(grade));
        Self {
            calls: class.calls,
            replies: class.replies,
            lost: class.lost,
            unfinished: class.unfinished(),
            server_errors: class.server_errors,
            bytes: class.bytes,
            response_mean_s: known(class.response_s.mean()),
            response_max_s: known(class.response_s.max),
            good: grade(Grade::Good),
            tolerable: grade(Grade::Tolerable),
            failed: grade(Grade::Failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use httperf_stat::Limits;
    use serde_json::{json, to_value};

    use super::*;

    #[test]
    fn every_class_has_its_figures_and_what_is_unknown_is_null() {
        let limits = Limits { good_ns: 3_000_000_000, tolerable_ns: 5_500_000_000 };
        let mut quality = Quality::new(Some(limits), ["one".to_owned(), "idle".to_owned()]);
        (0..3).for_each(|_| quality.began(0));
        quality.answered(0, 500_000_000, 200, 150);
        quality.answered(0, 4_000_000_000, 200, 50);
        let value = to_value(Graded::of(&quality)).unwrap();
        assert_eq!((&value["good_max_s"], &value["tolerable_max_s"]), (&json!(3.0), &json!(5.5)));
        let one = json!({
            "name": "one", "calls": 3, "replies": 2, "lost": 0, "unfinished": 1, "server_errors": 0, "bytes": 200,
            "response_mean_s": 2.25, "response_max_s": 4.0, "good": 1, "tolerable": 1, "failed": 0,
        });
        assert_eq!(value["classes"][0], one);
        assert_eq!(value["classes"][1]["response_mean_s"], json!(null));
        assert_eq!(value["total"]["bytes"], 200);
        let ungraded = to_value(Graded::of(&Quality::new(None, ["one".to_owned()]))).unwrap();
        assert_eq!((&ungraded["good_max_s"], &ungraded["total"]["good"]), (&json!(null), &json!(null)));
        assert_eq!(ungraded["total"]["calls"], 0);
    }
}
