//! After the handshake: plain text both ways, new keys, the two ends of a connection.

use std::io::Write;

use httperf_wire::{TlsClient, TlsFault};

use crate::pair::{Cut, Pair, Setup, V12, V13, spec, text};

fn pairs() -> [Pair; 2] {
    let client = TlsClient::new(&spec()).unwrap();
    [V12, V13].map(|versions| Pair::shaken(&client, &Setup::new(versions).arc(), None))
}

/// The server says it, the client has read it.
fn say(pair: &mut Pair, bytes: &[u8], cut: Cut) {
    pair.server.set_buffer_limit(None);
    pair.server.writer().write_all(bytes).unwrap();
    let flight = pair.flight();
    pair.deliver(&flight, cut).unwrap();
}

#[test]
fn plain_text_of_any_length_comes_through_both_ways() {
    for mut pair in pairs() {
        for len in [0, 1, 16_383, 16_384, 16_385, 100_000] {
            let bytes = text(len);
            pair.client.encrypt(&bytes).unwrap();
            assert_eq!(pair.client.outgoing().is_empty(), len == 0);
            pair.carry();
            assert!(std::mem::take(&mut pair.heard) == bytes, "{len} bytes to the server");
            say(&mut pair, &bytes, Cut::Whole);
            assert!(std::mem::take(&mut pair.plain) == bytes, "{len} bytes from the server");
        }
    }
}

#[test]
fn plain_text_is_appended() {
    for mut pair in pairs() {
        pair.plain = b"before, ".to_vec();
        say(&mut pair, b"after", Cut::Whole);
        assert_eq!(pair.plain, b"before, after");
    }
}

#[test]
fn records_may_be_cut_anywhere() {
    for mut pair in pairs() {
        say(&mut pair, &text(40_000), Cut::Bytes);
        assert!(std::mem::take(&mut pair.plain) == text(40_000));
        for after in 0..1100 {
            let number = pair.flights.len();
            say(&mut pair, &text(1000), Cut::At(number, after));
            assert!(std::mem::take(&mut pair.plain) == text(1000), "cut after {after}");
        }
    }
}

#[test]
fn a_request_goes_out_while_a_record_is_half_read() {
    for mut pair in pairs() {
        pair.server.writer().write_all(b"reply").unwrap();
        let flight = pair.flight();
        pair.client.receive(&flight[..9], &mut pair.plain).unwrap();
        pair.client.encrypt(b"request").unwrap();
        pair.carry();
        assert_eq!(pair.heard, b"request");
        pair.client.receive(&flight[9..], &mut pair.plain).unwrap();
        assert_eq!(pair.plain, b"reply");
    }
}

#[test]
fn what_is_outgoing_may_be_sent_in_pieces_with_more_behind_it() {
    for mut pair in pairs() {
        let mut wire = Vec::new();
        for _ in 0..50 {
            pair.client.encrypt(&text(900)).unwrap();
            let some = pair.client.outgoing().len() * 3 / 4;
            wire.extend_from_slice(&pair.client.outgoing()[..some]);
            pair.client.sent(some);
        }
        wire.extend_from_slice(pair.client.outgoing());
        pair.client.sent(pair.client.outgoing().len());
        assert!(pair.client.outgoing().is_empty());
        let mut rest = &wire[..];
        while !rest.is_empty() {
            pair.server.read_tls(&mut rest).unwrap();
            pair.server.process_new_packets().unwrap();
            let mut heard = vec![0; 100_000];
            let count = std::io::Read::read(&mut pair.server.reader(), &mut heard).unwrap_or(0);
            pair.heard.extend_from_slice(&heard[..count]);
        }
        assert!(pair.heard == text(900).repeat(50));
    }
}

#[test]
fn the_server_may_change_its_keys() {
    let [_, mut pair] = pairs();
    for round in 0_u8..3 {
        say(&mut pair, &[round], Cut::Whole);
        pair.server.refresh_traffic_keys().unwrap();
        let number = pair.flights.len();
        say(&mut pair, &[round], Cut::At(number, 11));
        pair.client.encrypt(&[round]).unwrap();
        pair.run(Cut::Whole).unwrap();
    }
    assert_eq!(pair.plain, [0, 0, 1, 1, 2, 2]);
    assert_eq!(pair.heard, [0, 1, 2]);
}

#[test]
fn the_servers_close_is_seen_when_it_is_said() {
    for mut pair in pairs() {
        say(&mut pair, b"all of it", Cut::Whole);
        assert!(!pair.client.is_closed());
        pair.server.writer().write_all(b", yes").unwrap();
        pair.server.send_close_notify();
        let flight = pair.flight();
        let (last, rest) = flight.split_last().unwrap();
        pair.client.receive(rest, &mut pair.plain).unwrap();
        assert!(!pair.client.is_closed(), "not before its last byte");
        pair.client.receive(&[*last], &mut pair.plain).unwrap();
        assert!(pair.client.is_closed());
        assert_eq!(pair.plain, b"all of it, yes");
        // RFC 8446 section 6.1: what comes after it is ignored.
        pair.client.receive(b"HTTP/1.1 200 OK", &mut pair.plain).unwrap();
        assert_eq!(pair.plain, b"all of it, yes");
        // The other direction is open still.
        pair.client.encrypt(b"thanks").unwrap();
        pair.carry();
        assert_eq!(pair.heard, b"thanks");
    }
}

#[test]
fn our_close_is_said_once_and_ends_everything() {
    for mut pair in pairs() {
        pair.client.encrypt(b"last words").unwrap();
        pair.client.close();
        let said = pair.client.outgoing().len();
        pair.client.close();
        assert_eq!(pair.client.outgoing().len(), said);
        pair.carry();
        assert_eq!(pair.heard, b"last words");
        assert!(pair.server.process_new_packets().unwrap().peer_has_closed());
        assert!(!pair.client.is_ready());
        assert!(matches!(pair.client.encrypt(b"more"), Err(TlsFault::Protocol(_))));
        // Not even nonsense is read now.
        pair.client.receive(&[0xff; 100], &mut pair.plain).unwrap();
        assert!(pair.plain.is_empty() && pair.client.outgoing().is_empty());
    }
}

#[test]
fn a_close_before_the_end_of_the_handshake_says_nothing() {
    let client = TlsClient::new(&spec()).unwrap();
    let mut pair = Pair::new(&client, &Setup::new(V13).arc(), None);
    let hello = pair.client.outgoing().to_vec();
    pair.client.close();
    assert_eq!(pair.client.outgoing(), hello);
}
