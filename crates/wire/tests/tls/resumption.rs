//! Tickets: whose they are, how many, and for how long.

use std::sync::Arc;

use httperf_wire::{Tickets, TlsClient, TlsSpec, TlsTime};
use rustls::HandshakeKind;

use crate::pair::{BOTH, NOW, Pair, Setup, V12, V13, spec, verifying};

/// Whether a new connection was resumed; both ends must be of one mind.
fn resumed(pair: &Pair) -> bool {
    let facts = pair.client.facts().unwrap();
    assert_eq!(pair.server.handshake_kind() == Some(HandshakeKind::Resumed), facts.resumed);
    facts.resumed
}

#[test]
fn a_session_resumes_after_its_first_connection() {
    for spec in [spec(), verifying()] {
        let client = TlsClient::new(&spec).unwrap();
        for versions in [V12, V13, BOTH] {
            let server = Setup::new(versions).arc();
            let tickets = client.tickets();
            let connect = || resumed(&Pair::shaken(&client, &server, Some(&tickets)));
            assert_eq!([connect(), connect(), connect(), connect()], [false, true, true, true]);
        }
    }
}

#[test]
fn without_tickets_every_handshake_is_full() {
    let client = TlsClient::new(&spec()).unwrap();
    for versions in [V12, V13] {
        let server = Setup::new(versions).arc();
        let tickets = client.tickets();
        assert!(!resumed(&Pair::shaken(&client, &server, Some(&tickets))));
        assert!(!resumed(&Pair::shaken(&client, &server, None)));
        assert!(!resumed(&Pair::shaken(&client, &server, None)));
    }
}

#[test]
fn sessions_do_not_share_tickets_but_clones_do() {
    let client = TlsClient::new(&spec()).unwrap();
    for versions in [V12, V13] {
        let server = Setup::new(versions).arc();
        let connect = |tickets: &Tickets| resumed(&Pair::shaken(&client, &server, Some(tickets)));
        let (one, other) = (client.tickets(), client.tickets());
        assert_eq!([connect(&one), connect(&other), connect(&one.clone())], [false, false, true]);
    }
}

#[test]
fn two_tickets_are_kept_and_each_is_used_once() {
    let client = TlsClient::new(&spec()).unwrap();
    for sent in [2, 5] {
        let mut server = Setup::new(V13).config();
        server.send_tls13_tickets = sent;
        let server = server.into();
        let tickets = client.tickets();
        Pair::shaken(&client, &server, Some(&tickets));
        // All hello before the first of them brings new tickets.
        let mut pairs = [(); 3].map(|()| Pair::new(&client, &server, Some(&tickets)));
        let resumed = pairs.each_mut().map(|pair| {
            pair.run(crate::pair::Cut::Whole).unwrap();
            resumed(pair)
        });
        assert_eq!(resumed, [true, true, false], "{sent} tickets sent");
    }
}

#[test]
fn a_resumed_session_of_1_2_exchanges_no_keys() {
    let client = TlsClient::new(&spec()).unwrap();
    for (versions, group) in [(V12, None), (V13, Some("x25519"))] {
        let (server, tickets) = (Setup::new(versions).arc(), client.tickets());
        Pair::shaken(&client, &server, Some(&tickets));
        let facts = Pair::shaken(&client, &server, Some(&tickets)).client.facts().unwrap();
        assert_eq!((facts.resumed, facts.group), (true, group));
    }
}

#[test]
fn a_ticket_does_not_outlive_its_time() {
    let time = TlsTime::at(NOW);
    let client = TlsClient::new(&TlsSpec { time: Some(time.clone()), ..spec() }).unwrap();
    let (server, tickets) = (Setup::new(V13).arc(), client.tickets());
    // Seven days at most (RFC 8446 section 4.6.1).
    for (days, expected) in [(0, false), (1, true), (10, false)] {
        time.set(NOW + days * 24 * 60 * 60);
        assert_eq!(resumed(&Pair::shaken(&client, &server, Some(&tickets))), expected, "{days}");
    }
}

#[test]
fn servers_that_keep_nothing_resume_too() {
    let client = TlsClient::new(&spec()).unwrap();
    for versions in [V12, V13] {
        let mut server = Setup::new(versions).config();
        server.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
        server.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        let (server, tickets) = (Arc::new(server), client.tickets());
        let connect = || resumed(&Pair::shaken(&client, &server, Some(&tickets)));
        assert_eq!([connect(), connect(), connect()], [false, true, true]);
    }
}
