//! Sockets: made, set up and bound as a scenario says.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::rotation::Rotation;
use crate::scenario::{Share, SocketOptions};

/// The first port `--hog` takes.
const HOG_FROM: u32 = 1024;
const PORTS: u32 = 65_536;

/// Makes sockets, and remembers which local end is next.
pub(super) struct Sockets {
    /// Addresses are taken in turn.
    next_address: usize,
    hog: Option<Hog>,
    rotation: Option<Rotation>,
    share: Share,
}

impl Sockets {
    /// Loops that run beside each other take different local ports.
    pub(super) fn new(share: Share) -> Self {
        Self { next_address: 0, hog: None, rotation: Rotation::new(share), share }
    }

    /// A non-blocking socket, set up and bound for a connection to `to`, and the port that was hogged.
    pub(super) fn open(
        &mut self,
        to: SocketAddr,
        options: &SocketOptions,
    ) -> Result<(OwnedFd, Option<u16>), Errno> {
        let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        if let Some(size) = options.send_buffer {
            sockopt::set_socket_send_buffer_size(&socket, size)?;
        }
        if let Some(size) = options.recv_buffer {
            sockopt::set_socket_recv_buffer_size(&socket, size)?;
        }
        if options.no_delay {
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        if options.reset {
            sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
        }
        let addresses = &options.source.addresses;
        let from = match addresses.get(self.next_address % addresses.len().max(1)) {
            Some(address) => Some(*address),
            None if options.source.hog && to.is_ipv4() => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            None if options.source.hog => Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
            None => None,
        };
        self.next_address = self.next_address.wrapping_add(1);
        match from {
            Some(from) if options.source.hog => {
                sockopt::set_socket_reuseaddr(&socket, true)?;
                let hog = self.hog.get_or_insert_with(|| Hog::new(self.share));
                let port = hog.bind(&socket, from, to.port())?;
                Ok((socket, Some(port)))
            }
            Some(from) => {
                // The port is chosen when the destination is known, so that many connections can share it.
                nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::IpBindAddressNoPort, &true)
                    .map_err(|errno| Errno::from_raw_os_error(errno as i32))?;
                rustix::net::bind(&socket, &SocketAddr::new(from, 0))?;
                Ok((socket, None))
            }
            None => Ok((socket, None)),
        }
    }

    /// Begins to connect, from a local port that has rested if the port is ours to choose.
    pub(super) fn connect(
        &mut self,
        socket: &OwnedFd,
        to: SocketAddr,
        options: &SocketOptions,
    ) -> Result<(), Errno> {
        let connect = || rustix::net::connect(socket, &to);
        match &mut self.rotation {
            Some(rotation) if !options.source.hog => match rotation.connect(socket, to.port(), connect) {
                Err(Errno::NOPROTOOPT) => {
                    self.rotation = None;
                    connect()
                }
                outcome => outcome,
            },
            _ => connect(),
        }
    }

    /// A connection with a hogged port is gone.
    pub(super) fn free(&mut self, port: u16) {
        if let Some(hog) = &mut self.hog {
            hog.taken[usize::from(port)] = false;
        }
    }
}

/// Local ports one after the other.
struct Hog {
    next: u32,
    step: u32,
    /// Ports of this loop's own connections, and ports found in use: those are lost for the run.
    taken: Box<[bool]>,
}

impl Hog {
    fn new(share: Share) -> Self {
        Self {
            next: HOG_FROM + share.index,
            step: share.of,
            taken: vec![false; PORTS as usize].into_boxed_slice(),
        }
    }

    /// Binds to the next port that can be had, but never to `avoid`: on loopback a connection from a port to
    /// itself succeeds without any server. Looks at each port once at most.
    fn bind(&mut self, socket: &OwnedFd, from: IpAddr, avoid: u16) -> Result<u16, Errno> {
        for _ in 0..(PORTS - HOG_FROM).div_ceil(self.step) {
            let port = self.next as u16;
            self.next += self.step;
            if self.next >= PORTS {
                self.next = HOG_FROM + (self.next - HOG_FROM) % self.step;
            }
            if port == avoid || self.taken[usize::from(port)] {
                continue;
            }
            self.taken[usize::from(port)] = true;
            match rustix::net::bind(socket, &SocketAddr::new(from, port)) {
                Ok(()) => return Ok(port),
                Err(Errno::ADDRINUSE) => continue,
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::ADDRINUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(socket: &OwnedFd) -> u16 {
        let address = rustix::net::getsockname(socket).unwrap();
        SocketAddr::try_from(address).unwrap().port()
    }

    #[test]
    fn hogged_ports_rise_skip_what_is_in_use_and_come_back_when_freed() {
        let to: SocketAddr = "127.0.0.1:9".parse().unwrap();
        let source = crate::scenario::Source { addresses: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)], hog: true };
        let options = SocketOptions { source, ..SocketOptions::default() };
        let mut sockets = Sockets::new(Share::WHOLE);
        let held: Vec<_> = (0..5).map(|_| sockets.open(to, &options).unwrap()).collect();
        let ports: Vec<u16> = held.iter().map(|(_, port)| port.unwrap()).collect();
        assert!(ports.is_sorted_by(|a, b| a < b) && ports[0] >= 1024, "{ports:?}");
        assert!(held.iter().all(|(socket, hogged)| port(socket) == hogged.unwrap()));
        sockets.free(ports[2]);
        assert!(!sockets.hog.as_ref().unwrap().taken[usize::from(ports[2])]);
    }

    #[test]
    fn the_port_of_the_target_is_never_hogged() {
        let mut hog = Hog::new(Share::WHOLE);
        hog.next = 9_100;
        let free = |_| rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        let ports =
            [0, 1].map(free).map(|socket| hog.bind(&socket, IpAddr::V4(Ipv4Addr::LOCALHOST), 9_100).unwrap());
        assert!(!ports.contains(&9_100), "{ports:?}");
    }

    #[test]
    fn loops_beside_each_other_take_different_ports() {
        let mut hogs = [0, 1].map(|index| Hog::new(Share { index, of: 2 }));
        assert_eq!(hogs.each_mut().map(|hog| hog.next % 2), [0, 1]);
        hogs[1].next = 65_535;
        let (socket, _) = Sockets::new(Share::WHOLE)
            .open("127.0.0.1:9".parse().unwrap(), &SocketOptions::default())
            .unwrap();
        hogs[1].bind(&socket, IpAddr::V4(Ipv4Addr::LOCALHOST), 0).unwrap();
        assert_eq!(hogs[1].next, 1025);
    }
}
