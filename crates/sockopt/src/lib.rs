//! The socket option that no library sets for us: `IP_LOCAL_PORT_RANGE`.
//!
//! This is the only crate with unsafe code: one call, here. The reason: without this option a third of
//! the client's time goes into the kernel's search for a local port when connections are short (see
//! `docs/performance.md`, connection per request), and none of rustix, nix, socket2 sets it. When one
//! of them does, this crate goes.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// ip(7); not yet named by libc.
const IP_LOCAL_PORT_RANGE: libc::c_int = 51;

/// Narrows the ports a socket may be given when it connects without being bound: from `low` to `high`, as far
/// as they lie in the range of the system. Two zeros lift the restriction.
///
/// # Errors
/// ENOPROTOOPT before Linux 6.3, EINVAL if `low` is above `high`.
pub fn set_local_port_range(socket: impl AsFd, low: u16, high: u16) -> io::Result<()> {
    let range = u32::from(high) << 16 | u32::from(low);
    // SAFETY: the descriptor is open for as long as `socket` is borrowed; the kernel reads `size_of::<u32>()`
    // bytes from a live `u32` and keeps no pointer to it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_IP,
            IP_LOCAL_PORT_RANGE,
            (&raw const range).cast(),
            size_of::<u32>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_upside_down_is_refused() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let error = set_local_port_range(&listener, 40_001, 40_000).expect_err("upside down");
        assert!(matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOPROTOOPT)), "{error}");
        if let Err(error) = set_local_port_range(&listener, 40_000, 40_000) {
            assert_eq!(error.raw_os_error(), Some(libc::ENOPROTOOPT));
        }
    }
}
