//! What the numbers mean: pure functions over summaries.
//!
//! ```text
//!   BasicSummary --> Figures          the numbers of the classic report
//!   Distribution --> percentile       with what failed or never ended among the samples
//!   both         --> breaches         of the conservation laws
//!                --> schedule         whether the client kept it
//!                --> verdict          whether the result can be believed
//! ```

mod classic;
mod conservation;
#[cfg(test)]
mod fixtures;
mod percentile;
mod schedule;
mod verdict;

pub use classic::{Figures, SessionFigures};
pub use conservation::{breaches, session_breaches};
pub use percentile::{Estimate, Percentile, percentile};
pub use schedule::{Schedule, schedule};
pub use verdict::{Status, Verdict, verdict};
