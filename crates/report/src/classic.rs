//! The report of httperf 0.9.0, to the digit.

use std::fmt::Write;

use httperf_analysis::SessionFigures;
use httperf_stat::Lifetimes;

use crate::Results;
use crate::quality;

/// The report from `Maximum connect burst length` to the last line (manual, section OUTPUT). With `histogram`
/// the lifetimes of connections stand before `Total:` (manual `-vv`).
pub fn classic(results: &Results, with_histogram: bool) -> String {
    let mut text = String::new();
    write(&mut text, results, with_histogram).expect("a String takes everything");
    text
}

fn write(out: &mut String, results: &Results, with_histogram: bool) -> std::fmt::Result {
    let f = results.figures();
    writeln!(out, "Maximum connect burst length: {}", f.max_connect_burst)?;
    if with_histogram {
        out.push_str(&histogram(&results.basic.lifetimes));
    }
    writeln!(
        out,
        "\nTotal: connections {} requests {} replies {} test-duration {:.3} s",
        f.connections, f.requests, f.replies, f.test_duration_s
    )?;
    writeln!(
        out,
        "\nConnection rate: {:.1} conn/s ({:.1} ms/conn, <={} concurrent connections)",
        f.connection_rate_per_s, f.connection_period_ms, f.concurrent_connections
    )?;
    writeln!(
        out,
        "Connection time [ms]: min {:.1} avg {:.1} max {:.1} median {:.1} stddev {:.1}",
        f.connection_time_min_ms,
        f.connection_time_avg_ms,
        f.connection_time_max_ms,
        f.connection_time_median_ms,
        f.connection_time_stddev_ms
    )?;
    writeln!(out, "Connection time [ms]: connect {:.1}", f.connect_time_ms)?;
    writeln!(out, "Connection length [replies/conn]: {:.3}", f.connection_length_replies)?;
    writeln!(out, "\nRequest rate: {:.1} req/s ({:.1} ms/req)", f.request_rate_per_s, f.request_period_ms)?;
    writeln!(out, "Request size [B]: {}.0", f.request_size_bytes)?;
    writeln!(
        out,
        "\nReply rate [replies/s]: min {:.1} avg {:.1} max {:.1} stddev {:.1} ({} samples)",
        f.reply_rate_min_per_s,
        f.reply_rate_avg_per_s,
        f.reply_rate_max_per_s,
        f.reply_rate_stddev_per_s,
        f.reply_rate_samples
    )?;
    writeln!(out, "Reply time [ms]: response {:.1} transfer {:.1}", f.response_time_ms, f.transfer_time_ms)?;
    writeln!(
        out,
        "Reply size [B]: header {}.0 content {}.0 footer {}.0 (total {}.0)",
        f.reply_header_bytes, f.reply_content_bytes, f.reply_footer_bytes, f.reply_total_bytes
    )?;
    writeln!(
        out,
        "Reply status: 1xx={} 2xx={} 3xx={} 4xx={} 5xx={}",
        f.status_1xx, f.status_2xx, f.status_3xx, f.status_4xx, f.status_5xx
    )?;
    writeln!(
        out,
        "\nCPU time [s]: user {:.2} system {:.2} (user {:.1}% system {:.1}% total {:.1}%)",
        f.cpu_user_s, f.cpu_system_s, f.cpu_user_percent, f.cpu_system_percent, f.cpu_total_percent
    )?;
    writeln!(out, "Net I/O: {:.1} KB/s ({:.1}*10^6 bps)", f.net_io_kb_per_s, f.net_io_mbit_per_s)?;
    writeln!(
        out,
        "\nErrors: total {} client-timo {} socket-timo {} connrefused {} connreset {}",
        f.errors_total, f.errors_client_timo, f.errors_socket_timo, f.errors_connrefused, f.errors_connreset
    )?;
    writeln!(
        out,
        "Errors: fd-unavail {} addrunavail {} ftab-full {} other {}",
        f.errors_fd_unavail, f.errors_addrunavail, f.errors_ftab_full, f.errors_other
    )?;
    if let Some(sessions) = &f.sessions {
        write_sessions(out, sessions)?;
    }
    results.quality.as_ref().map_or(Ok(()), |quality| quality::write(out, quality))
}

/// The block of a session workload. The lengths that have no place of their own in the histogram stand behind
/// it, each with a colon and its count: a million zeros before a session of a million replies help nobody.
fn write_sessions(out: &mut String, f: &SessionFigures) -> std::fmt::Result {
    writeln!(
        out,
        "\nSession rate [sess/s]: min {:.2} avg {:.2} max {:.2} stddev {:.2} ({}/{})",
        f.session_rate_min_per_s,
        f.session_rate_avg_per_s,
        f.session_rate_max_per_s,
        f.session_rate_stddev_per_s,
        f.sessions_succeeded,
        f.sessions_finished
    )?;
    writeln!(out, "Session: avg {:.2} connections/session", f.connections_per_session)?;
    writeln!(out, "Session lifetime [s]: {:.1}", f.session_lifetime_s)?;
    writeln!(out, "Session failtime [s]: {:.1}", f.session_failtime_s)?;
    out.push_str("Session length histogram:");
    f.session_length_histogram.iter().try_for_each(|count| write!(out, " {count}"))?;
    f.session_length_beyond.iter().try_for_each(|(replies, count)| write!(out, " {replies}:{count}"))?;
    writeln!(out)
}

/// The lines of `-vv`: a bin of 1 ms each, with its centre; a colon stands for empty ones between.
fn histogram(lifetimes: &Lifetimes) -> String {
    let mut text = String::from("\nConnection lifetime histogram (time in ms):\n");
    let mut expected = 0.5;
    for (centre, count) in lifetimes.bins() {
        if centre > expected && centre != 0.5 {
            text.push_str(&format!("{:>14}\n", ':'));
        }
        text.push_str(&format!("{centre:>16.1} {count}\n"));
        expected = centre + 1.0;
    }
    text
}
