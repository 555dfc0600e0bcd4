//! Session workloads in a simulation.
//!
//! ```text
//!   case.rs    one run as plain data, the collector of sessions, the laws
//!   bursts.rs  what is sent when: bursts, think times, slots, URIs
//!   losses.rs  connections that are lost, replies that fail, time limits
//!   replies.rs what replies change: cookies, pages
//!   mix.rs     sessions of a mix, and the quality they see
//!   drawn.rs   drawn runs, shares, many sessions
//! ```

mod bursts;
pub(crate) mod case;
mod drawn;
mod losses;
mod mix;
mod replies;
