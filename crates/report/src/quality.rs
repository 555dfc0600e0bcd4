//! The block of a mix of sessions in the classic report: how calls went for who waited for them.

use std::fmt::Write;

use httperf_stat::{ClassQuality, Grade, Quality};

/// Writes the block, an empty line before it: the limits and the grades, if there are any, then a line for
/// all calls and one for each class.
pub(crate) fn write(out: &mut String, quality: &Quality) -> std::fmt::Result {
    let total = quality.total();
    writeln!(out)?;
    if let Some(limits) = quality.limits() {
        let ms = |ns: u64| ns as f64 / 1e6;
        writeln!(
            out,
            "Quality limits [ms]: good {:.1} tolerable {:.1}",
            ms(limits.good_ns),
            ms(limits.tolerable_ns)
        )?;
        let judged: u64 = total.grades.iter().sum();
        let part = |grade| {
            let count = total.graded(grade);
            let percent = if judged > 0 { 100.0 * count as f64 / judged as f64 } else { 0.0 };
            format!("{count} ({percent:.1}%)")
        };
        writeln!(
            out,
            "Quality: good {} tolerable {} failed {}",
            part(Grade::Good),
            part(Grade::Tolerable),
            part(Grade::Failed)
        )?;
    }
    out.push_str("Calls: ");
    write_calls(out, &total, quality)?;
    for class in quality.classes() {
        write!(out, "Class {}: ", class.name)?;
        write_calls(out, class, quality)?;
    }
    Ok(())
}

fn write_calls(out: &mut String, class: &ClassQuality, quality: &Quality) -> std::fmt::Result {
    write!(
        out,
        "total {} replies {} lost {} unfinished {} 5xx {} bytes {} response {:.1} ms",
        class.calls,
        class.replies,
        class.lost,
        class.unfinished(),
        class.server_errors,
        class.bytes,
        class.response_s.mean() * 1e3
    )?;
    if quality.limits().is_some() {
        let [good, tolerable, failed] = class.grades;
        write!(out, " good {good} tolerable {tolerable} failed {failed}")?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use httperf_stat::Limits;

    use super::*;

    fn block(limits: Option<Limits>, calls: bool) -> String {
        let mut quality = Quality::new(limits, ["small".to_owned(), "two words".to_owned()]);
        if calls {
            (0..4).for_each(|_| quality.began(1));
            quality.answered(1, 2_000_000, 200, 150);
            quality.answered(1, 40_000_000, 503, 50);
            quality.lost(1);
        }
        let mut text = String::new();
        write(&mut text, &quality).unwrap();
        text
    }

    #[test]
    fn a_line_for_all_calls_and_one_for_each_class() {
        let limits = Limits { good_ns: 3_000_000_000, tolerable_ns: 5_500_000_000 };
        assert_eq!(
            block(Some(limits), true),
            "\nQuality limits [ms]: good 3000.0 tolerable 5500.0\n\
             Quality: good 1 (33.3%) tolerable 0 (0.0%) failed 2 (66.7%)\n\
             Calls: total 4 replies 2 lost 1 unfinished 1 5xx 1 bytes 200 response 21.0 ms good 1 tolerable 0 failed 2\n\
             Class small: total 0 replies 0 lost 0 unfinished 0 5xx 0 bytes 0 response 0.0 ms good 0 tolerable 0 failed 0\n\
             Class two words: total 4 replies 2 lost 1 unfinished 1 5xx 1 bytes 200 response 21.0 ms good 1 tolerable 0 failed 2\n"
        );
        assert!(block(Some(limits), false).contains("good 0 (0.0%) tolerable 0 (0.0%) failed 0 (0.0%)\n"));
    }

    #[test]
    fn without_limits_there_are_no_grades() {
        let text = block(None, true);
        assert!(text.starts_with(
            "\nCalls: total 4 replies 2 lost 1 unfinished 1 5xx 1 bytes 200 response 21.0 ms\n"
        ));
        assert!(!text.contains("good"), "{text}");
    }
}
