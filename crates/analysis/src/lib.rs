//! What the numbers mean: pure functions over summaries.
//!
//! ```text
//!   BasicSummary --> Figures          the numbers of the classic report
//!   Distribution --> percentile       with what failed or never ended among the samples
//!   Series       --> steady           what is warm-up, and whether the rest stayed what it was
//!                --> confidence       how sure each figure is
//!   both         --> breaches         of the conservation laws
//!                --> schedule         whether the client kept it
//!                --> verdict          whether the result can be believed
//! ```

mod classic;
mod confidence;
mod conservation;
#[cfg(test)]
mod fixtures;
mod percentile;
mod period;
mod schedule;
mod series;
mod steady;
mod trend;
mod verdict;
mod warmup;

pub use classic::{Figures, SessionFigures};
pub use confidence::{Confidence, Confidences, confidence};
pub use conservation::{breaches, session_breaches};
pub use percentile::{Estimate, Percentile, percentile};
pub use schedule::{Schedule, schedule};
pub use series::{Series, Slice};
pub use steady::{Quantity, State, Steady, Warmup, steady};
pub use verdict::{Evidence, Status, Verdict, judge, verdict};
