//! What TLS handshakes have settled, and how often.

use std::collections::BTreeMap;

use httperf_wire::TlsFacts;

/// Counts of handshakes. A server and its clients settle a handful of things at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handshakes {
    /// In full: with certificates, and signatures over them.
    pub full: u64,
    /// Resumed from an earlier session.
    pub resumed: u64,
    settled: BTreeMap<Settled, u64>,
}

/// What a handshake has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settled {
    /// "1.2" or "1.3".
    pub version: &'static str,
    /// The suite, by its name in IANA's registry.
    pub suite: &'static str,
    /// The key exchange group; `None` where no keys were exchanged: a resumed session of TLS 1.2.
    pub group: Option<&'static str>,
}

impl Handshakes {
    /// One more. Once a connection, and not inlined: plain connections only step over it.
    #[cold]
    pub(crate) fn add(&mut self, facts: TlsFacts) {
        let TlsFacts { version, suite, group, resumed } = facts;
        *(if resumed { &mut self.resumed } else { &mut self.full }) += 1;
        *self.settled.entry(Settled { version, suite, group }).or_default() += 1;
    }

    /// Adds those of another loop.
    pub(crate) fn merge(&mut self, other: &Handshakes) {
        self.full += other.full;
        self.resumed += other.resumed;
        other.settled.iter().for_each(|(what, count)| *self.settled.entry(*what).or_default() += count);
    }

    /// What was settled, the most frequent first, with how often.
    pub fn settled(&self) -> Vec<(Settled, u64)> {
        let mut all: Vec<_> = self.settled.iter().map(|(what, count)| (*what, *count)).collect();
        // Equal counts stay in the order of the map: the same run is the same document.
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(version: &'static str, resumed: bool) -> TlsFacts {
        let group = (version == "1.3" || !resumed).then_some("x25519");
        TlsFacts { version, suite: "TLS_A", group, resumed }
    }

    #[test]
    fn parts_add_up_and_the_most_frequent_comes_first() {
        let (mut one, mut other) = (Handshakes::default(), Handshakes::default());
        one.add(facts("1.2", false));
        one.add(facts("1.2", true));
        other.add(facts("1.3", false));
        other.add(facts("1.3", true));
        one.merge(&other);
        assert_eq!((one.full, one.resumed), (2, 2));
        let seen: Vec<_> = one.settled().iter().map(|(what, n)| (what.version, what.group, *n)).collect();
        assert_eq!(seen, [("1.3", Some("x25519"), 2), ("1.2", None, 1), ("1.2", Some("x25519"), 1)]);
    }
}
