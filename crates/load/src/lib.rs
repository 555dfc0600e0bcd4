//! Workload generators: they decide what happens when.
//!
//! ```text
//!   Arrivals --next due time--> ConnRate --connect, issue, close--> Core
//!                                  ^                                 |
//!                                  +------------- events ------------+
//! ```
//!
//! A workload is one file that implements [`Workload`](httperf_engine::Workload), plus a line here; the plan
//! of a run (crate `httperf`) says which one it is.

mod arrival;
mod conn_rate;
mod sequence;

pub use arrival::{Arrivals, Period};
pub use conn_rate::{ConnRate, Pattern};
