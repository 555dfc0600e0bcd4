//! Statistics collectors: they watch the events of a run and leave a summary that merges.
//!
//! ```text
//!   Event, &Core --> Basic      --> BasicSummary      counters and sums behind the classic report
//!                --> Intervals  --> Block, Block, ..  histograms and counts per slice of time --> Timeline
//!                --> Samples    --> Sample, ..        the reply rate every five seconds, at once
//!                --> Alarms     --> Alarm, ..         the first failure of each cause, at once
//! ```
//!
//! Summaries of several loops add up exactly. A collector is one file that implements
//! [`Collector`](httperf_engine::Collector), plus a line here.

mod alarm;
mod basic;
mod interval;
mod latency;
mod moments;
mod sample;
mod sparse;
mod timeline;

pub use alarm::{Alarm, Alarms};
pub use basic::{Basic, BasicSummary, Lifetimes};
pub use interval::{Block, Exchange, InPlace, Intervals};
pub use latency::{Bucket, Distribution, Measure, Times};
pub use moments::{MeanTime, Moments};
pub use sample::{Gathered, Sample, Samples};
pub use timeline::{Counts, Interval, Timeline};
