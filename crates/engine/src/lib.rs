//! Connections, calls and time: the engine that moves bytes and says what happened.
//!
//! ```text
//!             commands: connect, issue, close, schedule              events
//!   Workload --------------------------------------> Core ------------------------> Collector, Workload
//!                                                    |  ^
//!                                        Transmit    |  |  Completion (bytes and their time)
//!                                                    v  |
//!                                                   Driver (epoll | sim) <-> kernel | model
//! ```
//!
//! [`run`] ties the four together and is the only function generic over them. [`Core`] is a pure state
//! machine: nothing calls out of it, time comes with the input, events are pulled. Only a [`Driver`] makes
//! system calls or reads a clock.

#[cfg(not(target_os = "linux"))]
compile_error!("httperf needs Linux for now: its driver is built on epoll and timerfd");

mod cause;
mod conn;
mod core;
mod driver;
mod epoll;
mod event;
mod object;
mod request;
mod run;
mod scenario;
mod session;
pub mod sim;
mod time;

pub use cause::{Cause, Counter};
pub use conn::{Again, Broken, Call, Conn};
pub use core::{Core, Gone, Traffic};
pub use driver::{Completion, Driver, Input, Load, Stop, Transmit};
pub use epoll::{Epoll, EpollError, StopHandle};
pub use event::Event;
pub use object::{CallId, ConnId, SessionId, Table};
pub use request::{Patch, RequestId};
pub use run::{Collector, Workload, run};
pub use scenario::{Deadlines, Scenario, Scrap, Secure, Share, SocketOptions, Source, Ticks, Wants};
pub use session::{Outcome, Session};
pub use time::{Nanos, Time};
