//! What the engine needs to know of one run, as plain data.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use httperf_wire::{Request, Rules, TlsClient};

use crate::time::Nanos;

/// What the engine needs to know of one run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The addresses connections go to.
    pub targets: Vec<SocketAddr>,
    /// The requests that can be issued, rendered once.
    pub requests: Arc<[Request]>,
    /// Time limits.
    pub deadlines: Deadlines,
    /// How sockets are set up.
    pub socket: SocketOptions,
    /// How connections are secured; `None`: not at all.
    pub secure: Option<Secure>,
    /// How replies are read.
    pub rules: Rules,
    /// Which bytes of replies are looked at.
    pub wants: Wants,
    /// When samples are taken.
    pub ticks: Option<Ticks>,
    /// The run ends this long after its start, whatever is open.
    pub limit: Option<Nanos>,
    /// Which part of the run this is.
    pub share: Share,
}

impl Scenario {
    /// One request to one target; nothing is limited, sampled or shared.
    pub fn plain(target: SocketAddr, request: Request) -> Self {
        Self {
            targets: vec![target],
            requests: [request].into(),
            deadlines: Deadlines::default(),
            socket: SocketOptions::default(),
            secure: None,
            rules: Rules::default(),
            wants: Wants::default(),
            ticks: None,
            limit: None,
            share: Share::WHOLE,
        }
    }
}

impl Deadlines {
    /// The same limit for everything.
    pub fn all(limit: Option<Nanos>) -> Self {
        Self { connect: limit, write: limit, wait: limit, reply: limit, call: None }
    }

    /// One limit for connects, and one for each call as a whole, however its time is spent.
    pub fn per_call(limit: Nanos) -> Self {
        Self { connect: Some(limit), call: Some(limit), ..Self::default() }
    }
}

/// TLS for a run.
#[derive(Clone, Debug)]
pub struct Secure {
    /// What is spoken with each target, by its number.
    pub clients: Arc<[TlsClient]>,
    /// Connections of one session resume each other's TLS sessions.
    pub resume: bool,
}

/// Which bytes of replies somebody wants to look at. Nothing is kept or copied unless they are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Header sections of final replies, as they came.
    pub header: bool,
    /// Bodies, decoded.
    pub body: bool,
}

/// Where bytes that somebody wants lie; [`Core::text`](crate::Core::text) reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrap(pub(crate) u32);

impl Scrap {
    /// Bytes that nobody wants.
    pub const NONE: Scrap = Scrap(u32::MAX);
}

/// Time limits of a connection by what it is doing, in nanoseconds; `None` is no limit. (The watchdog of the
/// classic tool, httperf manual `--timeout`, `--think-timeout`.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// From the connect to its success.
    pub connect: Option<Nanos>,
    /// While a request is being written, renewed by each partial write.
    pub write: Option<Nanos>,
    /// From the request's last byte to the reply's first.
    pub wait: Option<Nanos>,
    /// From a reply's first byte to its last.
    pub reply: Option<Nanos>,
    /// For a call as a whole, from when it can be written to its reply's last byte. Takes the place of all
    /// others but `connect`.
    pub call: Option<Nanos>,
}

/// How sockets are set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// SO_SNDBUF; `None` leaves it to the kernel.
    pub send_buffer: Option<usize>,
    /// SO_RCVBUF; `None` leaves it to the kernel.
    pub recv_buffer: Option<usize>,
    /// TCP_NODELAY: needed where more than one call may be outstanding or a body is sent.
    pub no_delay: bool,
    /// Close with RST (SO_LINGER with 0 seconds).
    pub reset: bool,
    /// Where connections come from.
    pub source: Source,
}

/// The local end of connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Local addresses, taken in turn; none leaves it to the kernel.
    pub addresses: Vec<IpAddr>,
    /// Choose local ports one after the other from 1024 on (manual `--hog`).
    pub hog: bool,
}

/// Part i of N of one schedule: arrival k belongs to it when k mod N = i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// This part, from 0.
    pub index: u32,
    /// How many parts there are.
    pub of: u32,
}

impl Share {
    /// The only part.
    pub const WHOLE: Share = Share { index: 0, of: 1 };

    /// How many of `total` things numbered from 0 belong to this part.
    pub fn part_of(self, total: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of));
        total / of + u64::from(total % of > index)
    }
}

/// When samples are taken, in nanoseconds from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// The first.
    pub first: Nanos,
    /// From one to the next.
    pub every: Nanos,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        for total in [0, 1, 5, 1000, 1001] {
            for of in 1..7 {
                let sum: u64 = (0..of).map(|index| Share { index, of }.part_of(total)).sum();
                assert_eq!(sum, total);
                let mine = (0..total).filter(|k| k % u64::from(of) == 0).count() as u64;
                assert_eq!(Share { index: 0, of }.part_of(total), mine);
            }
        }
    }
}
