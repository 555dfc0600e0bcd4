//! Statistics collectors: they watch the events of a run and leave a summary that merges.
//!
//! ```text
//!   Event, &Core --> Basic      --> BasicSummary      counters and sums behind the classic report
//!                --> Intervals  --> Block, Block, ..  histograms and counts per slice of time --> Timeline
//!                --> Sessions   --> SessionSummary    how sessions ended, and how far they came
//!                --> Quality    by class, how calls went for who waited: told by the workload
//!                --> Samples    --> Sample, ..        reply and session rates every five seconds, at once
//!                --> Periodic   --> Period, ..        more of the last five seconds, at once
//!                --> Alarms     --> Alarm, ..         the first failure of each cause, at once
//!                --> Transcript, Uris --> text        what goes over the wire, at once
//!                --> Trace      --> `tracing`         every event
//! ```
//!
//! Summaries of several loops add up exactly. A collector is one file that implements
//! [`Collector`](httperf_engine::Collector), plus a line here.

mod alarm;
mod basic;
mod handshake;
mod interval;
mod latency;
mod moments;
mod periodic;
mod quality;
mod sample;
mod session;
mod sparse;
mod timeline;
mod trace;
mod transcript;

pub use alarm::{Alarm, Alarms};
pub use basic::{Basic, BasicSummary, Lifetimes};
pub use handshake::{Handshakes, Settled};
pub use interval::{Block, Exchange, InPlace, Intervals};
pub use latency::{Bucket, Distribution, Measure, Times};
pub use moments::{MeanTime, Moments};
pub use periodic::{Period, Periodic};
pub use quality::{ClassQuality, Grade, Limits, Quality};
pub use sample::{Gathered, Rates, Sample, Samples};
pub use session::{Lengths, SessionSummary, Sessions};
pub use timeline::{Counts, Interval, Timeline};
pub use trace::Trace;
pub use transcript::{Parts, Printed, Transcript};
