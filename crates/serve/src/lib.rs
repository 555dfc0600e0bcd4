//! The built-in target server: HTTP/1 over TCP with paths whose behaviour is known, so that a
//! load test has something to aim at and the truth tests have something to be held against.
//!
//! ```text
//!  Server::start ---- a thread of its own, which owns a tokio runtime
//!      |
//!  server      accept -> one task a connection        stop: no more accepts, finish, close
//!      |
//!  tls         with a limit of time, if the server speaks it
//!      |
//!  connection  hyper h1 -> drain the request body -> route -> wait until not_before -> hyper h1
//!                                                      |              |
//!  routes      the table: path, one line about it, fn(&Call) -> Reply |
//!                                                                     |
//!  timer       a timerfd and a map of who waits until when  <---------+
//! ```
//!
//! A route is a pure function from a call to a reply. It never waits and never closes: a reply that
//! must be late, or the last, says so as data, and the connection acts on it. A new path is one such
//! function and one row in `routes`; [`paths`] is that table as documentation.
//!
//! What is *not* here: printing, signals, limits on descriptors, an idle timeout. A failing
//! connection is neither an error nor a log line.

mod connection;
mod counters;
mod message;
mod routes;
mod server;
mod tally;
mod timer;
mod tls;
mod value;

pub use counters::Counts;
pub use routes::paths;
pub use server::{Config, ServeError, Server};
pub use tls::{Identity, Tls, TlsError, TlsVersion};
