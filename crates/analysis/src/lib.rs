//! What the numbers mean: pure functions over summaries.
//!
//! ```text
//!   BasicSummary --Figures::of--> the numbers of the classic report
//! ```

mod classic;

pub use classic::Figures;
