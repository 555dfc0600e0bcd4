//! Who reads the events of a run when somebody looks for a fault (`--debug`): lines on stderr.

use std::io;

use tracing_subscriber::filter::LevelFilter;

/// Events go to stderr from now on: of sessions, connections and failures (1), of calls too (2), or all (3
/// and more).
pub(crate) fn subscribe(level: u32) {
    let level = match level {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(io::stderr)
        // The time of an event is its field `t`.
        .without_time()
        // When stderr is gone there is nobody left to tell.
        .log_internal_errors(false)
        .finish();
    // It fails only if there is one already: then that one reads them.
    let _ = tracing::subscriber::set_global_default(lines);
}
