//! From a plan to its results: threads, signals, merging. Nothing is printed here.
//!
//! ```text
//!   Plan --run--> loop 0 .. loop N-1 (a share of the plan each) --summaries--> Results
//!                   |             |                                              ^
//!                   | notices     +--full blocks--> observer ----- Timeline -----+
//!                   v
//!                 whoever called
//! ```

mod descriptors;
mod host;
mod memory;
mod observer;
mod plan;
mod run;
mod signals;

pub use descriptors::raise_descriptor_limit;
pub use memory::memory_warning;
pub use plan::{
    Collect, ConnRatePlan, DemandPlan, PacePlan, Plan, PoolPlan, ScriptPlan, SessionsPlan, Tell, UrisPlan,
    WorkloadPlan, limits_of_the_classic_tool,
};
pub use run::{Notice, RunError, run};
pub use signals::{Signals, die_by};

pub use httperf_analysis as analysis;
pub use httperf_engine as engine;
pub use httperf_load as load;
pub use httperf_report as report;
pub use httperf_stat as stat;
pub use httperf_wire as wire;
