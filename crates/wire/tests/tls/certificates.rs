//! Who the server is, when anybody asks; who we are, when it asks; and papers that are none.

use httperf_wire::{
    Alert, CertificateFault, TlsClient, TlsError, TlsFault, TlsSpec, TlsTime, Verify, certificates_from_pem,
    key_from_pem,
};
use rcgen::ExtendedKeyUsagePurpose;
use rustls::AlertDescription;

use crate::pair::{BOTH, Cut, Leaf, NAME, Pair, Papers, Setup, V12, V13, papers, spec, verifying};

const YEAR: u64 = 365 * 24 * 60 * 60;

/// What a verifying client says to that certificate, and the server's last news of it.
fn judge(leaf: Leaf, spec: &TlsSpec) -> (Option<TlsFault>, Option<rustls::Error>) {
    let client = TlsClient::new(spec).unwrap();
    assert!(client.is_verified());
    let mut pair = Pair::new(&client, &Setup { leaf, ..Setup::new(BOTH) }.arc(), None);
    let fault = pair.run(Cut::Whole).err();
    assert_eq!(pair.client.is_ready(), fault.is_none());
    pair.carry();
    (fault, pair.server_error)
}

#[test]
fn a_good_certificate_is_accepted() {
    assert_eq!(judge(Leaf::for_server(NAME), &verifying()), (None, None));
    let by_address = TlsSpec { server_name: "192.0.2.1".to_owned(), ..verifying() };
    assert_eq!(judge(Leaf::for_server("192.0.2.1"), &by_address), (None, None));
}

#[test]
fn a_bad_certificate_is_refused_with_its_reason_and_the_server_told() {
    let server = || Leaf::for_server(NAME);
    let at = |seconds| TlsSpec { time: Some(TlsTime::at(seconds)), ..verifying() };
    let named = |name: &str| TlsSpec { server_name: name.to_owned(), ..verifying() };
    let stranger = Papers::new("stranger").leaf(NAME, ExtendedKeyUsagePurpose::ServerAuth);
    let for_client = papers().leaf(NAME, ExtendedKeyUsagePurpose::ClientAuth);
    use {AlertDescription as Said, CertificateFault as Why};
    for (leaf, spec, why, said, text) in [
        (server(), at(56 * YEAR), Why::Expired, Said::CertificateExpired, "has expired"),
        (server(), at(50 * YEAR), Why::NotYetValid, Said::CertificateExpired, "not valid yet"),
        (server(), named("other.example"), Why::WrongName, Said::BadCertificate, "for another name"),
        (server(), named("192.0.2.1"), Why::WrongName, Said::BadCertificate, "for another name"),
        (stranger, verifying(), Why::UnknownIssuer, Said::UnknownCA, "unknown issuer"),
        (for_client, verifying(), Why::WrongUsage, Said::UnsupportedCertificate, "not meant for a server"),
    ] {
        let (fault, heard) = judge(leaf, &spec);
        assert_eq!(fault, Some(TlsFault::Certificate(why)));
        assert!(why.to_string().contains(text), "{why}");
        let Some(rustls::Error::AlertReceived(alert)) = heard else { panic!("{why}: {heard:?}") };
        assert!(alert == said || alert == Said::BadCertificate, "{why}: {alert:?}");
    }
}

#[test]
fn unverified_means_any_certificate() {
    let at = |seconds| TlsSpec { time: Some(TlsTime::at(seconds)), ..spec() };
    let named = |name: &str| TlsSpec { server_name: name.to_owned(), ..spec() };
    let stranger = || Papers::new("stranger").leaf(NAME, ExtendedKeyUsagePurpose::ClientAuth);
    for versions in [V12, V13] {
        for spec in [spec(), at(0), at(100 * YEAR), named("other.example"), named("192.0.2.1")] {
            let client = TlsClient::new(&spec).unwrap();
            assert!(!client.is_verified());
            let setup = Setup { leaf: stranger(), ..Setup::new(versions) };
            Pair::shaken(&client, &setup.arc(), None);
        }
    }
}

#[test]
fn a_client_shows_its_certificate_to_a_server_that_asks() {
    for versions in [V12, V13] {
        let server = Setup { asks_client: true, ..Setup::new(versions) }.arc();
        let leaf = Leaf::for_client();
        let client = TlsClient::new(&TlsSpec { identity: Some(leaf.identity()), ..spec() }).unwrap();
        let pair = Pair::shaken(&client, &server, None);
        assert_eq!(pair.server.peer_certificates().unwrap(), [leaf.certificate]);
    }
}

#[test]
fn a_client_without_a_certificate_hears_that_one_is_required() {
    let client = TlsClient::new(&spec()).unwrap();
    for versions in [V12, V13] {
        let server = Setup { asks_client: true, ..Setup::new(versions) }.arc();
        let fault = Pair::new(&client, &server, None).run(Cut::Whole).unwrap_err();
        assert_eq!(fault, TlsFault::Alert(Alert(116)), "certificate_required");
    }
}

#[test]
fn an_identity_that_is_none_is_refused_at_once() {
    let (one, other) = (Leaf::for_client().identity(), Leaf::for_client().identity());
    let with = |certificates: &[u8], key: &[u8]| {
        let identity = httperf_wire::Identity { certificates: certificates.to_vec(), key: key.to_vec() };
        TlsClient::new(&TlsSpec { identity: Some(identity), ..spec() }).map(drop)
    };
    assert_eq!(with(&one.certificates, &one.key), Ok(()));
    let both = [&one.key[..], b"\n", &one.certificates].concat();
    assert_eq!(with(&both, &both), Ok(()), "one text may hold both");
    assert_eq!(with(&one.certificates, &other.key), Err(TlsError::KeyMismatch));
    assert_eq!(with(&one.key, &one.key), Err(TlsError::NoCertificate));
    assert_eq!(with(&one.certificates, &one.certificates), Err(TlsError::NoKey));
    assert!(!format!("{one:?}").contains("BEGIN"), "a key is not printed");
}

#[test]
fn pem_that_is_none_is_named() {
    let good = Leaf::for_server(NAME).pem;
    let two = certificates_from_pem(format!("text\n{good}{good}").as_bytes()).unwrap();
    assert_eq!(two.len(), 2);
    let why = |pem: String| certificates_from_pem(pem.as_bytes()).unwrap_err().to_string();
    let certificate = "the certificate cannot be read as PEM: ";
    let spoiled = good.replacen("\nMII", "\n!!!", 1);
    assert_eq!(why(format!("{good}{spoiled}")), format!("{certificate}block 2: its text is not base64"));
    let endless = good.replace("-----END", "");
    let end = "block 1: it does not end with -----END CERTIFICATE-----";
    assert_eq!(why(endless), format!("{certificate}{end}"));
    assert!(why("-----BEGIN CERTIFICATE\n".to_owned()).ends_with("does not end with five hyphens"));
    assert_eq!(why("DER?".to_owned()), TlsError::NoCertificate.to_string());
}

#[test]
fn keys_that_are_none_are_named() {
    assert_eq!(key_from_pem(b"").unwrap_err(), TlsError::NoKey);
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert_eq!(key_from_pem(locked.as_bytes()).unwrap_err(), TlsError::EncryptedKey);
    let old =
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    assert_eq!(key_from_pem(old.as_bytes()).unwrap_err(), TlsError::EncryptedKey);
    let broken = "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n";
    let error = key_from_pem(broken.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "the key cannot be read as PEM: its text is not base64");
}

#[test]
fn roots_that_cannot_be_used_are_counted_and_some_must_remain() {
    let with = |roots| TlsClient::new(&TlsSpec { verify: Verify::Roots(roots), ..spec() });
    let junk = || httperf_wire::CertificateDer::from(vec![1, 2, 3]);
    assert_eq!(with(vec![]).unwrap_err(), TlsError::NoRoots(0));
    assert_eq!(with(vec![junk(), junk()]).unwrap_err(), TlsError::NoRoots(2));
    let client = with(vec![junk(), papers().root.clone()]).unwrap();
    assert_eq!(client.roots_skipped(), 1);
    Pair::shaken(&client, &Setup::new(BOTH).arc(), None);
}

#[test]
fn a_server_name_that_is_none_is_named() {
    for name in ["", "a b", "-", "[::1]", "a..b", "ümlaut.example"] {
        let error = TlsClient::new(&TlsSpec::new(name)).unwrap_err();
        assert_eq!(error, TlsError::ServerName(name.to_owned()));
        assert!(error.to_string().contains(&format!("`{name}`")));
    }
}
