//! Statistics collectors: they watch the events of a run and leave a summary that merges.
//!
//! ```text
//!   Event, &Core --> Basic      --> BasicSummary      counters and sums behind the classic report
//!                --> Intervals  --> Block, Block, ..  histograms and counts per slice of time
//!                --> Alarms     --> Alarm, ..         the first failure of each cause, at once
//! ```
//!
//! Summaries of several loops add up exactly. A collector is one file that implements
//! [`Collector`](httperf_engine::Collector), plus a line here.

mod alarm;
mod basic;
mod moments;
mod sample;

pub use alarm::{Alarm, Alarms};
pub use basic::{Basic, BasicSummary, Lifetimes};
pub use moments::Moments;
pub use sample::{Sample, Samples};
