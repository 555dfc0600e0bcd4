//! Workload generators: they decide what happens when.
//!
//! ```text
//!   Arrivals --next due time--> ConnRate --connect, issue, close--> Core
//!                                  ^                                 |
//!                                  +------------- events ------------+
//!
//!   Script (Wsess, Wsesslog, Wsesspage, Wmix) --next burst, think time--> Sessions <--> Core, as above
//!   Stages --> Schedule --next arrival--> Pool --connect, issue--> Core, as above
//! ```
//!
//! A workload is one file that implements [`Workload`](httperf_engine::Workload), plus a line here; the plan
//! of a run (crate `httperf`) says which one it is.

mod arrival;
mod conn_rate;
mod cookie;
mod header;
mod link;
mod mix;
mod page;
mod pool;
mod schedule;
mod sequence;
mod session;
mod session_log;
mod stages;
mod uri;
mod wmix;
mod wsess;
mod wsesslog;
mod wsesspage;

pub use arrival::{Arrivals, Period};
pub use conn_rate::{ConnRate, Pattern};
pub use cookie::{Cookie, Cookies};
pub use link::{Site, is_html, location, resolve};
pub use mix::{Mix, MixCall, MixClass, MixError, MixLimit, MixSession, Quality};
pub use page::PageScanner;
pub use pool::{Choice, Demand, Pool, PoolSpec};
pub use schedule::{Arrival, Process, Schedule};
pub use session::{Answer, Calls, Heard, Next, Room, Script, SessionPattern, Sessions, TooManyCalls};
pub use session_log::{Burst, CallTemplate, LogError, ReadFile, SessionLog, SessionTemplate};
pub use stages::{FOR_EVER, Stage, Stages, StagesError, StagesFault};
pub use uri::{Entries, Uris, Wlog, WlogError, Wset, WsetSpec};
pub use wmix::{Wmix, WmixNews, WmixSpec};
pub use wsess::{Wsess, WsessSpec};
pub use wsesslog::{LogBurst, LogSession, Wsesslog};
pub use wsesspage::{Reference, Wsesspage, WsesspageSpec};
