//! Reports: pure functions from the results of a run to bytes.
//!
//! ```text
//!   Results --classic--> the text of httperf 0.9.0, to the digit
//!   Period  --periodic-> one line of 0.9.1's `--periodic-stats`
//!   Results --summary--> what a person wants to know, the verdict first
//!   Results --schedule-> whether the client kept its schedule, in a sentence
//!           --json-----> the result document
//! ```
//!
//! A report is one file, plus a line here.

mod classic;
mod escape;
mod json;
mod periodic;
mod quality;
mod schedule;
mod summary;
mod verdict;

use std::net::SocketAddr;

use httperf_analysis::{Figures, SessionFigures};
use httperf_stat::{BasicSummary, Quality, SessionSummary, Timeline};

pub use classic::classic;
pub use escape::escape_terminal;
pub use json::json;
pub use periodic::periodic;
pub use schedule::schedule;
pub use summary::summary;
pub use verdict::verdict;

/// Everything a run has left: what reports are made of.
#[derive(Clone, Debug)]
pub struct Results {
    /// What the user asked for.
    pub request: RunInfo,
    /// When the run began, as RFC 3339.
    pub started_at: String,
    /// What ended the run.
    pub stopped_by: StoppedBy,
    /// Counters and sums of all loops.
    pub basic: BasicSummary,
    /// The reply rate every five seconds (classic report).
    pub reply_rates: Vec<f64>,
    /// What became of the sessions; only a session workload has them.
    pub sessions: Option<SessionSummary>,
    /// How calls went for who waited for them; only a mix of sessions has it.
    pub quality: Option<Quality>,
    /// Why the workload could not go on, if it could not.
    pub error: Option<String>,
    /// Cookies that were cut or had no place.
    pub cookies_cut: u64,
    /// The rate of sessions that succeeded, at the same moments as the reply rate.
    pub session_rates: Vec<f64>,
    /// Histograms and counts per interval, if they were asked for.
    pub timeline: Option<Timeline>,
    /// CPU time of the process during the run.
    pub cpu: Cpu,
    /// For each loop, the share of its time in which it was busy; 0 to 1.
    pub busy_shares: Vec<f64>,
    /// Descriptors this process may have open.
    pub descriptors_limit: u64,
    /// Where it ran.
    pub host: Host,
}

impl Results {
    /// The figures of the classic report.
    fn figures(&self) -> Figures {
        let figures = Figures::of(&self.basic, &self.reply_rates, self.cpu.user_s, self.cpu.system_s);
        let duration_s = figures.test_duration_s;
        let of = |sessions| SessionFigures::of(sessions, &self.session_rates, duration_s);
        Figures { sessions: self.sessions.as_ref().map(of), ..figures }
    }
}

/// The machine a run was made on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The operating system.
    pub os: String,
    /// Its kernel's release.
    pub kernel: String,
    /// Processors this process may use.
    pub cpus: Option<u64>,
    /// Physical memory.
    pub memory_bytes: Option<u64>,
}

/// What a run was asked to do, in the words of the result document.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// Which tool or subcommand.
    pub mode: &'static str,
    /// The command line, secrets redacted.
    pub argv: Vec<String>,
    /// URLs loaded.
    pub urls: Vec<String>,
    /// Addresses loaded.
    pub addresses: Vec<SocketAddr>,
    /// Whether the servers' certificates are checked; `None` without TLS.
    pub verified: Option<bool>,
    /// `open`, `closed` or `sessions`.
    pub model: &'static str,
    /// `constant`, `poisson`, `uniform`, `stages`, or `completion` in a closed loop.
    pub arrivals: &'static str,
    /// Arrivals per second asked for; `None` in a closed loop.
    pub rate_per_s: Option<f64>,
    /// Connections at a time in a closed loop.
    pub concurrency: Option<u32>,
    /// The seed of random sequences.
    pub seed: u64,
    /// Loops.
    pub threads: u32,
}

/// What ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// Everything asked for was done.
    Finished,
    /// Its time was up.
    Duration,
    /// SIGINT.
    Interrupted,
    /// SIGTERM or SIGHUP: the signal's number.
    Terminated(i32),
    /// A part of the program failed.
    Error,
}

impl StoppedBy {
    /// The word in the result document.
    pub fn key(self) -> &'static str {
        match self {
            StoppedBy::Finished => "finished",
            StoppedBy::Duration => "duration",
            StoppedBy::Interrupted => "interrupted",
            StoppedBy::Terminated(_) => "terminated",
            StoppedBy::Error => "error",
        }
    }
}

/// CPU time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    /// In user mode.
    pub user_s: f64,
    /// In the kernel.
    pub system_s: f64,
}
