//! The limit on open descriptors.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the soft limit on open descriptors to the hard one and returns the limit that holds.
pub fn raise_descriptor_limit() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1024 };
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        use nix::sys::resource::{Resource, getrlimit};
        let limit = super::raise_descriptor_limit();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (limit, limit));
    }
}
