//! The `target.tls` of the document: what was settled with the servers, and how often sessions were resumed.

use httperf_stat::BasicSummary;
use serde::Serialize;

/// `version`, `suite` and `group` are what most handshakes have settled, `null` where none came to an end;
/// `settled` has all that occurred.
#[derive(Serialize)]
pub(super) struct Tls {
    version: Option<&'static str>,
    suite: Option<&'static str>,
    group: Option<&'static str>,
    verified: bool,
    resumed: u64,
    full: u64,
    settled: Vec<Settled>,
}

#[derive(Serialize)]
struct Settled {
    version: &'static str,
    suite: &'static str,
    group: Option<&'static str>,
    handshakes: u64,
}

impl Tls {
    pub(super) fn of(basic: &BasicSummary, verified: bool) -> Self {
        let settled: Vec<Settled> = basic
            .handshakes
            .settled()
            .into_iter()
            .map(|(what, handshakes)| {
                let httperf_stat::Settled { version, suite, group } = what;
                Settled { version, suite, group, handshakes }
            })
            .collect();
        let most = settled.first();
        // Resumed sessions of TLS 1.2 exchange no keys: the group is that of the handshakes before them.
        let same =
            |one: &&Settled| most.is_some_and(|most| (most.version, most.suite) == (one.version, one.suite));
        Tls {
            version: most.map(|most| most.version),
            suite: most.map(|most| most.suite),
            group: settled.iter().filter(same).find_map(|one| one.group),
            verified,
            resumed: basic.handshakes.resumed,
            full: basic.handshakes.full,
            settled,
        }
    }
}
