//! Whole runs in a simulation: engine, workload and collectors against model servers, replayed from seeds.
//!
//! ```text
//!   case.rs     one run as plain data, drawn from a seed     ledger.rs  the collector that checks all events
//!   scripts.rs  the failure matrix as scripts                laws.rs    what must hold after any run
//!   seeds.rs    200 drawn runs                               matrix.rs  each fault in its class
//!   idle.rs     connections that lie idle between calls
//!   world.rs    what must not matter: shares, cuts, discards, our own clock
//!   pool        calls that arrive, on connections that are kept open
//!   sessions    the same for session workloads, and their rules one by one
//!   tls         the same over TLS, and the ways in which a handshake fails
//! ```
//!
//! `SIM_SEED=17 cargo test -p httperf-load --test sim seeds` replays one seed, `SIM_SEEDS=10000` runs so
//! many.

mod case;
mod idle;
mod laws;
mod ledger;
mod matrix;
mod pool;
mod scripts;
mod seeds;
mod sessions;
mod tls;
mod world;
