//! Calls that arrive, on connections that are kept open in a pool.
//!
//! ```text
//!   case.rs     one run as plain data, and what must hold after it
//!   queues.rs   arrivals that wait, or are shed: times to the nanosecond
//!   losses.rs   connections that end, fail, or cannot be had; time limits
//!   drawn.rs    200 drawn runs, each twice; shares; weights; constant memory
//! ```

mod case;
mod drawn;
mod losses;
mod queues;
