//! What ends a connection: each fault by its kind, told once and for all, and what the server hears of it.

use std::io::Write;

use httperf_wire::{Alert, TlsClient, TlsFault};
use rustls::AlertDescription;

use crate::pair::{Cut, Pair, Setup, V12, V13, spec, text};

fn client() -> TlsClient {
    TlsClient::new(&spec()).unwrap()
}

/// What a client says to these bytes in the place of a ServerHello, cut in every way.
fn answer_to(bytes: &[u8]) -> Option<TlsFault> {
    let client = client();
    let mut plain = Vec::new();
    let mut whole = client.connect(None).unwrap();
    let answer = whole.receive(bytes, &mut plain).err();
    assert_eq!(whole.receive(b"", &mut plain).err(), answer, "a fault stays");
    assert_eq!(whole.encrypt(b"").is_err(), answer.is_some() || !whole.is_ready());
    for after in 0..bytes.len().min(100) {
        let mut tls = client.connect(None).unwrap();
        let head = tls.receive(&bytes[..after], &mut plain);
        assert_eq!(head.and_then(|()| tls.receive(&bytes[after..], &mut plain)).err(), answer);
    }
    assert!(plain.is_empty());
    answer
}

#[test]
fn text_is_not_tls() {
    for text in [
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        "<html>\r\n",
        "\r\n\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "220 mail.example ESMTP\r\n",
        "GET / HTTP/1.0\r\n",
    ] {
        assert_eq!(answer_to(text.as_bytes()), Some(TlsFault::NotTls), "{text}");
    }
    assert!(TlsFault::NotTls.to_string().contains("not TLS"));
    let mut tls = client().connect(None).unwrap();
    tls.sent(tls.outgoing().len());
    tls.receive(b"HTTP/1.1 400 Bad Request", &mut Vec::new()).unwrap_err();
    assert!(tls.outgoing().is_empty(), "no alert for who cannot read it");
}

#[test]
fn too_few_bytes_say_nothing() {
    for few in [&b""[..], b"H", b"HTTP", &[0xff; 4]] {
        assert_eq!(answer_to(few), None);
    }
}

#[test]
fn garbage_breaks_the_protocol() {
    for garbage in [
        &[0xff; 64][..],
        &[0; 64],
        // An SSL 2.0 ServerHello.
        &[0x80, 0x0b, 4, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0],
        // Application data, an unknown version, an empty handshake record, a ServerHello that is none.
        &[23, 3, 3, 0, 5, 1, 2, 3, 4, 5],
        &[22, 9, 9, 0, 5, 2, 0, 0, 1, 0],
        &[22, 3, 3, 0, 0],
        &[22, 3, 3, 0, 5, 2, 0, 0, 1, 0],
    ] {
        let answer = answer_to(garbage);
        assert!(matches!(answer, Some(TlsFault::Protocol(_))), "{garbage:?}: {answer:?}");
    }
}

#[test]
fn a_record_beyond_the_limit_is_refused_by_its_header() {
    let answer = answer_to(&[22, 3, 3, 0xff, 0xff]);
    assert!(matches!(answer, Some(TlsFault::Protocol(_))), "{answer:?}");
    let client = client();
    for versions in [V12, V13] {
        let mut pair = Pair::shaken(&client, &Setup::new(versions).arc(), None);
        let fault = pair.client.receive(&[23, 3, 3, 0xff, 0xff], &mut pair.plain).unwrap_err();
        assert!(matches!(fault, TlsFault::Protocol(_)));
        pair.carry();
        let heard = pair.server_error.unwrap();
        assert!(matches!(heard, rustls::Error::AlertReceived(_)), "{heard}");
    }
}

#[test]
fn a_message_in_crumbs_is_not_kept_without_end() {
    let mut tls = client().connect(None).unwrap();
    let mut plain = Vec::new();
    let mut taken = 0;
    // A Certificate of 65,535 bytes, one byte a record.
    let message = [11, 0, 0xff, 0xff].into_iter().chain(std::iter::repeat_n(0, 0xffff));
    let fault = message.map(|byte| [22, 3, 3, 0, 1, byte]).find_map(|record| {
        taken += record.len();
        tls.receive(&record, &mut plain).err()
    });
    assert!(fault.unwrap().to_string().ends_with("a handshake message that is too large"));
    assert!(taken <= 100 * 1024, "{taken} bytes were taken");
}

#[test]
fn an_alert_is_told_by_its_name() {
    let fault = answer_to(&[21, 3, 3, 0, 2, 2, 40]).unwrap();
    assert_eq!(fault, TlsFault::Alert(Alert(40)));
    assert_eq!(fault.to_string(), "the server sent the TLS alert handshake_failure (40)");
    assert_eq!(answer_to(&[21, 3, 3, 0, 2, 2, 112]).unwrap(), TlsFault::Alert(Alert(112)));
    assert_eq!(Alert(112).to_string(), "unrecognized_name (112)");
    assert_eq!(Alert(200).to_string(), "unknown (200)");
}

#[test]
fn an_alert_after_the_handshake_ends_the_connection() {
    for versions in [V12, V13] {
        let mut pair = Pair::shaken(&client(), &Setup::new(versions).arc(), None);
        pair.client.encrypt(b"to be spoiled").unwrap();
        let mut record = pair.client.outgoing().to_vec();
        *record.last_mut().unwrap() ^= 1;
        pair.client.sent(record.len());
        pair.server.read_tls(&mut &record[..]).unwrap();
        pair.server.process_new_packets().unwrap_err();
        let flight = pair.flight();
        let fault = pair.deliver(&flight, Cut::Bytes).unwrap_err();
        assert_eq!(fault, TlsFault::Alert(Alert(20)), "bad_record_mac");
        assert_eq!(pair.client.encrypt(b"more"), Err(fault));
        assert!(!pair.client.is_ready());
    }
}

#[test]
fn a_spoiled_record_is_refused_after_the_text_before_it() {
    for versions in [V12, V13] {
        let mut pair = Pair::shaken(&client(), &Setup::new(versions).arc(), None);
        pair.server.writer().write_all(b"good").unwrap();
        let mut flight = pair.flight();
        pair.server.writer().write_all(b"spoiled").unwrap();
        flight.extend(pair.flight());
        *flight.last_mut().unwrap() ^= 1;
        let fault = pair.deliver(&flight, Cut::Whole).unwrap_err();
        assert_eq!(fault.to_string(), "TLS: the server sent a record that cannot be decrypted");
        assert_eq!(pair.plain, b"good");
        pair.carry();
        let heard = rustls::Error::AlertReceived(AlertDescription::BadRecordMac);
        assert_eq!(pair.server_error, Some(heard));
        let said = pair.client.outgoing().len();
        pair.client.close();
        assert_eq!(pair.client.outgoing().len(), said, "an alert is the last word");
    }
}

#[test]
fn a_handshake_spoiled_anywhere_is_refused_or_never_done_and_nothing_panics() {
    let client = client();
    for versions in [V12, V13] {
        let server = Setup::new(versions).arc();
        let bytes = Pair::shaken(&client, &server, None).flights[0];
        for at in (0..bytes).step_by(3) {
            for bit in [0x01, 0x80] {
                let mut pair = Pair::new(&client, &server, None);
                pair.carry();
                let mut flight = pair.flight();
                let at = at.min(flight.len() - 1);
                flight[at] ^= bit;
                let result = pair.deliver(&flight, Cut::Whole).and_then(|()| pair.run(Cut::Whole));
                let agreed = pair.client.is_ready() && !pair.server.is_handshaking();
                // The version in a record's header says nothing (RFC 8446 section 5.1).
                assert!(result.is_err() || !agreed || in_header(&flight, at), "{at} of {bytes}");
            }
        }
    }
}

/// Whether a byte of a flight is in a record's version.
fn in_header(flight: &[u8], at: usize) -> bool {
    let mut start = 0;
    while let Some(header) = flight.get(start..start + 5) {
        if (start + 1..start + 3).contains(&at) {
            return true;
        }
        start += 5 + usize::from(u16::from_be_bytes([header[3], header[4]]));
    }
    false
}

#[test]
fn a_record_that_comes_twice_is_refused() {
    let mut pair = Pair::shaken(&client(), &Setup::new(V13).arc(), None);
    pair.server.writer().write_all(&text(10)).unwrap();
    let flight = pair.flight();
    pair.deliver(&flight, Cut::Whole).unwrap();
    // Sent again it is out of its order.
    let fault = pair.deliver(&flight, Cut::Whole).unwrap_err();
    assert!(matches!(fault, TlsFault::Protocol(_)));
    assert_eq!(pair.plain, text(10));
}
