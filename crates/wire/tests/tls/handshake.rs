//! Full handshakes: what is settled, however the server's bytes are cut.

use httperf_wire::{Ciphers, Tls, TlsClient, TlsFault, TlsSpec, TlsVersions};
use rustls::crypto::aws_lc_rs::kx_group;

use crate::pair::{BOTH, Cut, Pair, Setup, V12, V13, spec};

#[test]
fn each_version_is_settled_with_its_suite_and_group() {
    let client = TlsClient::new(&spec()).unwrap();
    for (versions, version, suite) in [
        (V12, "1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
        (V13, "1.3", "TLS_AES_256_GCM_SHA384"),
        (BOTH, "1.3", "TLS_AES_256_GCM_SHA384"),
    ] {
        let mut pair = Pair::new(&client, &Setup::new(versions).arc(), None);
        assert!(pair.client.facts().is_none() && !pair.client.is_ready());
        pair.run(Cut::Whole).unwrap();
        let facts = pair.client.facts().unwrap();
        assert_eq!((facts.version, facts.suite), (version, suite));
        assert_eq!((facts.group, facts.resumed), (Some("x25519"), false));
        assert!(pair.client.is_ready() && !pair.client.is_closed() && !pair.server.is_handshaking());
    }
}

#[test]
fn a_handshake_byte_by_byte_ends_as_one_in_whole() {
    let client = TlsClient::new(&spec()).unwrap();
    for versions in [V12, V13] {
        let mut pair = Pair::new(&client, &Setup::new(versions).arc(), None);
        pair.run(Cut::Bytes).unwrap();
        assert!(pair.client.is_ready() && !pair.server.is_handshaking());
    }
}

#[test]
fn a_handshake_cut_anywhere_ends_as_one_in_whole() {
    let client = TlsClient::new(&spec()).unwrap();
    for versions in [V12, V13] {
        let server = Setup::new(versions).arc();
        let flights = Pair::shaken(&client, &server, None).flights;
        assert_eq!(flights.len(), 2, "hello and what follows, then tickets");
        for (number, bytes) in flights.into_iter().enumerate() {
            for after in 1..bytes {
                let mut pair = Pair::new(&client, &server, None);
                pair.run(Cut::At(number, after)).unwrap();
                assert!(pair.client.is_ready() && !pair.server.is_handshaking(), "{number} {after}");
            }
        }
    }
}

#[test]
fn only_a_dns_name_is_sent() {
    let server = Setup::new(BOTH).arc();
    for (name, sent) in
        [("server.example", Some("server.example")), ("192.0.2.1", None), ("2001:db8::1", None)]
    {
        let client = TlsClient::new(&TlsSpec { server_name: name.to_owned(), ..spec() }).unwrap();
        assert_eq!(Pair::shaken(&client, &server, None).server.server_name(), sent);
    }
}

#[test]
fn a_version_asked_for_is_the_only_one() {
    for (versions, version, other) in [(TlsVersions::Tls12, "1.2", V13), (TlsVersions::Tls13, "1.3", V12)] {
        let client = TlsClient::new(&TlsSpec { versions, ..spec() }).unwrap();
        let pair = Pair::shaken(&client, &Setup::new(BOTH).arc(), None);
        assert_eq!(pair.client.facts().unwrap().version, version);
        let fault = Pair::new(&client, &Setup::new(other).arc(), None).run(Cut::Whole).unwrap_err();
        assert_eq!(fault.to_string(), "the server sent the TLS alert protocol_version (70)");
    }
}

#[test]
fn a_cipher_asked_for_is_used() {
    for (list, versions, suite) in [
        ("ECDHE-ECDSA-CHACHA20-POLY1305", V12, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", BOTH, "TLS_AES_256_GCM_SHA384"),
        ("TLS_AES_128_GCM_SHA256", BOTH, "TLS_AES_128_GCM_SHA256"),
    ] {
        let ciphers = Some(Ciphers::from_list(list).unwrap());
        let client = TlsClient::new(&TlsSpec { ciphers, ..spec() }).unwrap();
        let pair = Pair::shaken(&client, &Setup::new(versions).arc(), None);
        assert_eq!(pair.client.facts().unwrap().suite, suite);
    }
}

#[test]
fn a_server_may_want_another_group_but_not_a_hybrid() {
    let client = TlsClient::new(&spec()).unwrap();
    let with = |group| Setup { groups: vec![group], ..Setup::new(BOTH) }.arc();
    for (group, name) in [(kx_group::SECP256R1, "secp256r1"), (kx_group::SECP384R1, "secp384r1")] {
        let pair = Pair::shaken(&client, &with(group), None);
        assert_eq!(pair.client.facts().unwrap().group, Some(name));
    }
    let fault = Pair::new(&client, &with(kx_group::X25519MLKEM768), None).run(Cut::Whole).unwrap_err();
    assert_eq!(fault.to_string(), "the server sent the TLS alert handshake_failure (40)");
}

#[test]
fn protocols_are_offered_only_if_there_are_some() {
    let mut config = Setup::new(BOTH).config();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = config.into();
    for alpn in [vec![], vec![b"http/1.1".to_vec()]] {
        let client = TlsClient::new(&TlsSpec { alpn: alpn.clone(), ..spec() }).unwrap();
        let pair = Pair::shaken(&client, &config, None);
        assert_eq!(pair.client.alpn(), alpn.first().map(Vec::as_slice));
        assert_eq!(pair.server.alpn_protocol(), pair.client.alpn());
    }
}

#[test]
fn nothing_is_encrypted_before_the_end_of_the_handshake() {
    let client = TlsClient::new(&spec()).unwrap();
    let mut pair = Pair::new(&client, &Setup::new(BOTH).arc(), None);
    let hello = pair.client.outgoing().to_vec();
    assert!(matches!(pair.client.encrypt(b"too early"), Err(TlsFault::Protocol(_))));
    assert_eq!(pair.client.outgoing(), hello);
    pair.run(Cut::Whole).unwrap();
    pair.client.encrypt(b"in time").unwrap();
    pair.run(Cut::Whole).unwrap();
    assert_eq!(pair.heard, b"in time");
}

#[test]
fn a_client_is_shared_and_a_connection_can_move() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    fn moved<T: Send>(_: &T) {}
    let client = TlsClient::new(&spec()).unwrap();
    shared(&client);
    shared(&client.tickets());
    let tls = client.connect(None).unwrap();
    moved(&tls);
    assert!(size_of::<Tls>() <= 128, "{} bytes in every connection", size_of::<Tls>());
}
