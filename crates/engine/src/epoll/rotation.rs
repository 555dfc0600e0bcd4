//! Local ports in turn, so that each has rested as long as possible before it is used again.
//!
//! Left alone, connect(2) looks for a port by itself, two apart from the last one. After a while most of
//! what it finds is in TIME_WAIT: at 16,000 connections a second the search takes a third of the client's
//! time. A port that was used longest ago is the one most likely to be free, so each connection is offered
//! just that one (`IP_LOCAL_PORT_RANGE`, Linux 6.3); where it is taken, the next few; after that the
//! kernel searches as it always did.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::scenario::Share;

/// Offers that may be refused before the kernel has to search.
const OFFERS: u32 = 16;
/// After a refusal so many connections go by the other lane at once.
const DETOUR: u32 = 256;

/// The ephemeral ports of this host in two lanes. connect(2) prefers every second port and leaves those
/// between to bind(2); so do we, as long as the first lane has ports that have rested. Otherwise a run of
/// short connections would leave no port to anybody on this machine who asks for one.
#[derive(Debug)]
pub(super) struct Rotation {
    lanes: [Lane; 2],
    detour: u32,
}

/// Every second port, and whose turn it is.
#[derive(Debug)]
struct Lane {
    first: u32,
    count: u32,
    next: u32,
    step: u32,
}

impl Lane {
    fn next(&mut self) -> u16 {
        let port = self.first + 2 * self.next;
        self.next = (self.next + self.step) % self.count;
        port as u16
    }
}

impl Rotation {
    /// Loops beside each other offer different ports, processes beside each other begin at different ones.
    /// `None` where the range is not known or too small to share.
    pub(super) fn new(share: Share) -> Option<Self> {
        let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
        Self::of(&text, share, std::process::id())
    }

    fn of(range: &str, share: Share, process: u32) -> Option<Self> {
        let mut bounds = range.split_whitespace().map(|bound| bound.parse::<u16>());
        let (low, high) = (u32::from(bounds.next()?.ok()?), u32::from(bounds.next()?.ok()?));
        let count = (high + 1).checked_sub(low)? / 2 / share.of * share.of;
        if count < share.of * OFFERS {
            return None;
        }
        // Consecutive processes begin far apart.
        let begin = process.wrapping_mul(7_919) % (count / share.of) * share.of;
        let lane = |first| Lane { first, count, next: begin + share.index, step: share.of };
        Some(Self { lanes: [lane(low), lane(low + 1)], detour: 0 })
    }

    /// The next port, and the lane it is from.
    fn next(&mut self) -> (u16, usize) {
        let lane = usize::from(self.detour > 0);
        self.detour = self.detour.saturating_sub(1);
        (self.lanes[lane].next(), lane)
    }

    /// Connects by way of the ports whose turn it is, but never from `avoid`: on loopback a connection from
    /// a port to itself succeeds without any server. `Err(NOPROTOOPT)`: this kernel cannot be told.
    pub(super) fn connect(
        &mut self,
        socket: &OwnedFd,
        avoid: u16,
        connect: impl Fn() -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        for _ in 0..OFFERS {
            let (port, lane) = self.next();
            if port == avoid {
                continue;
            }
            restrict(socket, port)?;
            match connect() {
                Err(Errno::ADDRNOTAVAIL) if lane == 0 => self.detour = DETOUR,
                Err(Errno::ADDRNOTAVAIL) => {}
                outcome => return outcome,
            }
        }
        restrict(socket, 0)?;
        connect()
    }
}

/// Only this port; 0 lifts the restriction.
fn restrict(socket: &OwnedFd, port: u16) -> Result<(), Errno> {
    httperf_sockopt::set_local_port_range(socket, port, port)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOPROTOOPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_of_a_lane_has_its_turn_before_one_comes_again() {
        let share = Share { index: 1, of: 3 };
        let mut rotation = Rotation::of("32768\t60999\n", share, 12345).unwrap();
        let ports: Vec<_> = (0..4705).map(|_| rotation.next().0).collect();
        let distinct: std::collections::BTreeSet<_> = ports.iter().collect();
        assert_eq!(distinct.len(), 4705);
        assert!(ports.iter().all(|port| (32768..=60999).contains(port) && (port - 32768) % 6 == 2));
        assert_eq!(rotation.next(), (ports[0], 0));
        rotation.detour = 1;
        assert_eq!(rotation.next(), (ports[0] + 1, 1));
    }

    #[test]
    fn a_range_that_is_none_or_too_small_is_left_alone() {
        for range in ["", "x y", "5 4", "1000 1031", "70000 70001"] {
            assert!(Rotation::of(range, Share { index: 0, of: 4 }, 1).is_none(), "{range:?}");
        }
    }

    #[test]
    fn a_port_that_is_taken_is_passed_over() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let Some(mut rotation) = Rotation::new(Share::WHOLE) else { return };
        let mut open = || {
            let socket = OwnedFd::from(
                socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap(),
            );
            match rotation.connect(&socket, 0, || rustix::net::connect(&socket, &to)) {
                Err(Errno::NOPROTOOPT) => None,
                outcome => Some((outcome, socket)),
            }
        };
        let Some((first, one)) = open() else { return };
        first.unwrap();
        let port = |socket: &OwnedFd| {
            std::net::SocketAddr::try_from(rustix::net::getsockname(socket).unwrap()).unwrap().port()
        };
        let taken = port(&one);
        rotation.lanes[0].next = (u32::from(taken) - rotation.lanes[0].first) / 2;
        let socket =
            OwnedFd::from(socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap());
        rotation.connect(&socket, 0, || rustix::net::connect(&socket, &to)).unwrap();
        assert_ne!(port(&socket), taken);
    }
}
