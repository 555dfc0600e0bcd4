//! The summary of a run for a person: whether to believe it first, then how much, how fast, what failed.

use std::fmt::Write;

use httperf_analysis::{Percentile, percentile};
use httperf_stat::{Distribution, Measure};

use crate::{Results, schedule, verdict};

/// The summary: at most 40 lines of at most 80 columns, but for URLs and sentences.
pub fn summary(results: &Results) -> String {
    let mut text = String::new();
    write(&mut text, results).expect("a String takes everything");
    text
}

fn write(out: &mut String, results: &Results) -> std::fmt::Result {
    let (basic, info) = (&results.basic, &results.request);
    let verdict = verdict(results);
    let duration_s = basic.duration_s();
    let per_s = |count: u64| if duration_s > 0.0 { count as f64 / duration_s } else { 0.0 };
    writeln!(out, "{:<13}{} for {duration_s:.1} s", verdict.status.key(), load(results))?;
    for url in &info.urls {
        writeln!(out, "{:<13}{url}", "")?;
    }
    for reason in &verdict.reasons {
        writeln!(out, "  - {reason}")?;
    }

    let good = basic.replies_in_class(2) + basic.replies_in_class(3);
    let offered = basic.arrivals + basic.arrivals_not_started;
    writeln!(
        out,
        "\nrate         {:.1} replies/s, {:.1} of them good; offered {:.1}/s",
        per_s(basic.replies()),
        per_s(good),
        per_s(offered)
    )?;
    if basic.arrivals_shed > 0 {
        writeln!(out, "shed         {} calls for which no connection was free", basic.arrivals_shed)?;
    }
    let calls_failed: u64 = basic.calls_failed.values().sum();
    writeln!(
        out,
        "calls        {} sent, {} replies, {calls_failed} failed, {} cut off at the end, {} never begun",
        basic.calls,
        basic.replies(),
        basic.calls_aborted,
        basic.never_begun()
    )?;
    let statuses: Vec<String> =
        basic.statuses.iter().take(8).map(|(status, count)| format!("{status}: {count}")).collect();
    writeln!(
        out,
        "status       {}",
        if statuses.is_empty() { "no reply".to_owned() } else { statuses.join("  ") }
    )?;
    let errors: Vec<String> =
        basic.errors.iter().map(|(cause, count)| format!("{}: {count}", cause.key())).collect();
    writeln!(out, "errors       {}", if errors.is_empty() { "none".to_owned() } else { errors.join("  ") })?;
    writeln!(
        out,
        "connections  {} opened of {} tried, at most {} at once",
        basic.established, basic.connections, basic.concurrent_max
    )?;
    writeln!(
        out,
        "data         {} received ({}/s), {} sent",
        bytes(basic.traffic.received as f64),
        bytes(per_s(basic.traffic.received)),
        bytes(basic.traffic.sent as f64)
    )?;
    latencies(out, results)?;
    writeln!(out, "\ngenerator    {}", schedule(results))
}

/// What was asked for.
fn load(results: &Results) -> String {
    let info = &results.request;
    match (info.rate_per_s, info.concurrency) {
        (Some(rate), _) => format!("{} loop, {} arrivals, {rate:.0}/s", info.model, info.arrivals),
        (None, Some(conns)) => format!("{} loop, {conns} at a time", info.model),
        (None, None) => format!("{} loop, {}", info.model, info.arrivals),
    }
}

/// The table of latencies, in milliseconds.
fn latencies(out: &mut String, results: &Results) -> std::fmt::Result {
    let Some(timeline) = &results.timeline else { return Ok(()) };
    let shown = ["50", "90", "99", "99.9", "99.99"];
    let columns: Vec<_> = Percentile::ALL.into_iter().filter(|which| shown.contains(&which.key)).collect();
    write!(out, "\nlatency [ms]{:>10}", "mean")?;
    for column in &columns {
        write!(out, "{:>9}", format!("p{}", column.key))?;
    }
    writeln!(out, "{:>9}", "max")?;
    let tls = results.request.verified.is_some();
    let rows = [
        ("response", Measure::Response),
        ("service", Measure::Service),
        ("lag", Measure::Lag),
        ("connect", Measure::Connect),
        ("tls", Measure::Tls),
        ("first byte", Measure::FirstByte),
        ("transfer", Measure::Transfer),
    ];
    for (name, measure) in rows.into_iter().filter(|(_, measure)| tls || *measure != Measure::Tls) {
        let times = timeline.whole(measure);
        write!(out, "{name:<12}{:>10}", mean(&times))?;
        for column in &columns {
            let estimate = percentile(&times, *column);
            let text = match (estimate.value_s(), estimate.at_least_s()) {
                (Some(value), _) => ms(value),
                (None, Some(bound)) => format!(">={}", ms(bound)),
                (None, None) => "-".to_owned(),
            };
            write!(out, "{text:>9}")?;
        }
        let max = if times.done.is_empty() { "-".to_owned() } else { ms(times.done.max_ns as f64 / 1e9) };
        writeln!(out, "{max:>9}")?;
    }
    Ok(())
}

fn mean(times: &Distribution) -> String {
    if times.done.is_empty() { "-".to_owned() } else { ms(times.done.mean_s()) }
}

/// Three or four significant digits.
fn ms(seconds: f64) -> String {
    let ms = seconds * 1e3;
    match ms {
        ..10.0 => format!("{ms:.3}"),
        ..100.0 => format!("{ms:.2}"),
        ..1000.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

fn bytes(count: f64) -> String {
    let (mut count, mut unit) = (count, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if count < 1024.0 {
            break;
        }
        (count, unit) = (count / 1024.0, larger);
    }
    if unit == "B" { format!("{count:.0} B") } else { format!("{count:.1} {unit}") }
}
