//! Why something failed: one closed list, each cause in exactly one counter of the classic report.

/// The eight error counters of the classic report, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "they are named as the report names them")]
pub enum Counter {
    ClientTimo,
    SocketTimo,
    ConnRefused,
    ConnReset,
    FdUnavail,
    AddrUnavail,
    FtabFull,
    Other,
}

/// Lists the causes once: the variant, its key in results, its counter, what it means.
macro_rules! causes {
    ($($(#[doc = $doc:literal])+ $name:ident = $key:literal in $counter:ident,)+) => {
        /// Why a connection or a call failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Cause {
            /// Every cause, in the order of the counters.
            pub const ALL: &[Cause] = &[$(Cause::$name),+];

            /// The key in results and messages.
            pub fn key(self) -> &'static str {
                match self { $(Cause::$name => $key),+ }
            }

            /// The counter of the classic report that it belongs to.
            pub fn counter(self) -> Counter {
                match self { $(Cause::$name => Counter::$counter),+ }
            }
        }
    };
}

causes! {
    /// No connection within the time limit.
    ConnectTimeout = "connect_timeout" in ClientTimo,
    /// The TLS handshake was not done within the time limit; its clock runs on from the connect.
    HandshakeTimeout = "handshake_timeout" in ClientTimo,
    /// The reply was not complete within the time limit.
    ReplyTimeout = "reply_timeout" in ClientTimo,
    /// The kernel gave up: ETIMEDOUT.
    SocketTimo = "socket_timo" in SocketTimo,
    /// ECONNREFUSED.
    ConnRefused = "connrefused" in ConnRefused,
    /// RST or EPIPE with a call outstanding.
    ConnReset = "connreset" in ConnReset,
    /// The end of the stream before any byte of the first reply.
    ClosedEarly = "closed_early" in ConnReset,
    /// An unannounced end after a reply, before any byte of the next one.
    ClosedIdle = "closed_idle" in ConnReset,
    /// The end of the stream inside a reply.
    Truncated = "truncated" in ConnReset,
    /// EMFILE: this process may open no more descriptors.
    FdUnavail = "fd_unavail" in FdUnavail,
    /// EADDRNOTAVAIL, EADDRINUSE: no local port left.
    AddrUnavail = "addrunavail" in AddrUnavail,
    /// ENFILE: the system may open no more files.
    FtabFull = "ftab_full" in FtabFull,
    /// The peer broke the protocol.
    Malformed = "malformed" in Other,
    /// A limit on what a peer may send was reached.
    Limit = "limit" in Other,
    /// Bytes that no request asked for.
    Unsolicited = "unsolicited" in Other,
    /// An alert or nonsense before the TLS handshake was done, or a broken record after it.
    TlsHandshake = "tls_handshake" in Other,
    /// The server's certificate was not accepted.
    TlsCertificate = "tls_certificate" in Other,
    /// ENETUNREACH, EHOSTUNREACH, EACCES and the like.
    Unreachable = "unreachable" in Other,
    /// ENOBUFS, ENOMEM.
    NoBuffers = "no_buffers" in Other,
    /// Anything else.
    Other = "other" in Other,
}

impl Cause {
    /// How many causes there are.
    pub const COUNT: usize = Cause::ALL.len();

    /// The cause behind an error number of the kernel.
    pub fn from_errno(errno: i32) -> Cause {
        use rustix::io::Errno;
        match Errno::from_raw_os_error(errno) {
            Errno::TIMEDOUT => Cause::SocketTimo,
            Errno::CONNREFUSED => Cause::ConnRefused,
            Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Cause::ConnReset,
            Errno::MFILE => Cause::FdUnavail,
            Errno::NFILE => Cause::FtabFull,
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Cause::AddrUnavail,
            Errno::NETUNREACH
            | Errno::HOSTUNREACH
            | Errno::ACCESS
            | Errno::PERM
            | Errno::NETDOWN
            | Errno::HOSTDOWN
            | Errno::AFNOSUPPORT => Cause::Unreachable,
            Errno::NOBUFS | Errno::NOMEM => Cause::NoBuffers,
            _ => Cause::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_and_in_the_order_of_the_counters() {
        let keys: std::collections::BTreeSet<_> = Cause::ALL.iter().map(|cause| cause.key()).collect();
        assert_eq!(keys.len(), Cause::COUNT);
        assert!(Cause::ALL.is_sorted_by_key(|cause| cause.counter()));
        for (index, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, index);
        }
    }

    #[test]
    fn errors_of_the_kernel_have_their_counters() {
        for (errno, cause) in [
            (rustix::io::Errno::CONNREFUSED, Cause::ConnRefused),
            (rustix::io::Errno::PIPE, Cause::ConnReset),
            (rustix::io::Errno::TIMEDOUT, Cause::SocketTimo),
            (rustix::io::Errno::MFILE, Cause::FdUnavail),
            (rustix::io::Errno::NFILE, Cause::FtabFull),
            (rustix::io::Errno::ADDRNOTAVAIL, Cause::AddrUnavail),
            (rustix::io::Errno::BADF, Cause::Other),
        ] {
            assert_eq!(Cause::from_errno(errno.raw_os_error()), cause, "{errno:?}");
        }
    }
}
