//! Cipher suites: which there are, what OpenSSL and IANA call them, and how a list of names is read.

use rustls::crypto::aws_lc_rs::cipher_suite as suites;
use rustls::{CipherSuite, SupportedCipherSuite, SupportedProtocolVersion, version};

use super::{TlsError, TlsVersions};

/// One suite and its names.
struct Row {
    /// As `openssl ciphers` prints it.
    openssl: &'static str,
    /// As the registry of IANA has it; OpenSSL takes it too.
    iana: &'static str,
    suite: SupportedCipherSuite,
}

/// All there are, most wanted first: the order in which they are offered when none are named. The rest of
/// OpenSSL's (CBC, RSA key exchange, RC4, 3DES) rustls does not have.
const ROWS: &[Row] = &[
    Row {
        openssl: "TLS_AES_256_GCM_SHA384",
        iana: "TLS_AES_256_GCM_SHA384",
        suite: suites::TLS13_AES_256_GCM_SHA384,
    },
    Row {
        openssl: "TLS_AES_128_GCM_SHA256",
        iana: "TLS_AES_128_GCM_SHA256",
        suite: suites::TLS13_AES_128_GCM_SHA256,
    },
    Row {
        openssl: "TLS_CHACHA20_POLY1305_SHA256",
        iana: "TLS_CHACHA20_POLY1305_SHA256",
        suite: suites::TLS13_CHACHA20_POLY1305_SHA256,
    },
    Row {
        openssl: "ECDHE-ECDSA-AES256-GCM-SHA384",
        iana: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        suite: suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    },
    Row {
        openssl: "ECDHE-ECDSA-AES128-GCM-SHA256",
        iana: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        suite: suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    },
    Row {
        openssl: "ECDHE-ECDSA-CHACHA20-POLY1305",
        iana: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        suite: suites::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    },
    Row {
        openssl: "ECDHE-RSA-AES256-GCM-SHA384",
        iana: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        suite: suites::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    },
    Row {
        openssl: "ECDHE-RSA-AES128-GCM-SHA256",
        iana: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        suite: suites::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    },
    Row {
        openssl: "ECDHE-RSA-CHACHA20-POLY1305",
        iana: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        suite: suites::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    },
];

/// Words that mean every suite there is: OpenSSL's differences between them are all in suites rustls lacks.
const ALL: &[&str] = &["DEFAULT", "ALL", "HIGH"];

/// The suites of a cipher list, in its order.
#[derive(Clone, Debug)]
pub struct Ciphers(Vec<SupportedCipherSuite>);

impl Ciphers {
    /// Reads a list as `--ssl-ciphers` has it: OpenSSL's names (or IANA's), separated by `:`, `,`, `;` or
    /// blanks; `ALL`, `HIGH` and `DEFAULT` mean every suite. A name that comes twice counts once.
    ///
    /// As with OpenSSL such a list governs TLS 1.2: the suites of TLS 1.3 are offered all the same, unless
    /// the list names some of them, which are then the only ones. A list of 1.3 names only leaves nothing to
    /// TLS 1.2, so that 1.2 is not offered.
    ///
    /// # Errors
    /// `UnknownCipher` for the first word that is none of these, OpenSSL's operators (`!RC4`, `ECDHE+AESGCM`)
    /// and names of suites that rustls lacks included; `NoCipher` for an empty list.
    pub fn from_list(list: &str) -> Result<Self, TlsError> {
        let mut chosen: Vec<SupportedCipherSuite> = Vec::new();
        let is_separator = |c: char| matches!(c, ':' | ',' | ';') || c.is_whitespace();
        for word in list.split(is_separator).filter(|word| !word.is_empty()) {
            let named = |row: &&Row| ALL.contains(&word) || row.openssl == word || row.iana == word;
            let found: Vec<_> = ROWS.iter().filter(named).map(|row| row.suite).collect();
            if found.is_empty() {
                return Err(TlsError::UnknownCipher { word: word.to_owned(), known: known() });
            }
            let new: Vec<_> = found.into_iter().filter(|suite| !chosen.contains(suite)).collect();
            chosen.extend(new);
        }
        if chosen.is_empty() { Err(TlsError::NoCipher) } else { Ok(Self(chosen)) }
    }
}

/// The suites to offer.
///
/// # Errors
/// `NoCipherForVersion` when the list has none for the only version there is.
pub(super) fn select(
    ciphers: Option<&Ciphers>,
    versions: TlsVersions,
) -> Result<Vec<SupportedCipherSuite>, TlsError> {
    let all = || ROWS.iter().map(|row| row.suite);
    let is_13 = |suite: &SupportedCipherSuite| suite.version() == &version::TLS13;
    let mut chosen: Vec<_> = match ciphers {
        None => all().collect(),
        Some(Ciphers(listed)) if listed.iter().any(is_13) => listed.clone(),
        Some(Ciphers(listed)) => all().filter(is_13).chain(listed.iter().copied()).collect(),
    };
    chosen.retain(|suite| offered(versions).contains(&suite.version()));
    match versions {
        TlsVersions::Tls12 if chosen.is_empty() => Err(TlsError::NoCipherForVersion("1.2")),
        _ => Ok(chosen),
    }
}

const ALL_VERSIONS: &[&SupportedProtocolVersion] = &[&version::TLS13, &version::TLS12];

/// rustls's names for the versions.
pub(super) fn offered(versions: TlsVersions) -> &'static [&'static SupportedProtocolVersion] {
    match versions {
        TlsVersions::Auto => ALL_VERSIONS,
        TlsVersions::Tls13 => &ALL_VERSIONS[..1],
        TlsVersions::Tls12 => &ALL_VERSIONS[1..],
    }
}

/// The name that IANA's registry has for it.
pub(super) fn iana_name(suite: CipherSuite) -> &'static str {
    ROWS.iter().find(|row| row.suite.suite() == suite).map_or("unknown", |row| row.iana)
}

fn known() -> String {
    let names: Vec<_> = ROWS.iter().map(|row| row.openssl).chain(ALL.iter().copied()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str, versions: TlsVersions) -> Vec<&'static str> {
        let ciphers = Ciphers::from_list(list).unwrap();
        let suites = select(Some(&ciphers), versions).unwrap();
        suites.into_iter().map(|suite| iana_name(suite.suite())).collect()
    }

    const ALL_13: [&str; 3] =
        ["TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"];

    #[test]
    fn the_table_has_all_that_rustls_has() {
        let all = rustls::crypto::aws_lc_rs::ALL_CIPHER_SUITES;
        assert!(all.iter().all(|suite| ROWS.iter().any(|row| row.suite == *suite)));
        assert_eq!(ROWS.len(), all.len());
    }

    #[test]
    fn names_stand_in_their_own_order_between_any_separators() {
        let list = " ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384,\
            TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 ; ECDHE-ECDSA-CHACHA20-POLY1305\n";
        let expected = [
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        ];
        assert_eq!(names(list, TlsVersions::Tls12), expected);
    }

    #[test]
    fn a_list_for_1_2_leaves_1_3_as_it_is() {
        let found = names("ECDHE-RSA-AES128-GCM-SHA256", TlsVersions::Auto);
        assert_eq!(found[..3], ALL_13);
        assert_eq!(found[3..], ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]);
        assert_eq!(names("ECDHE-RSA-AES128-GCM-SHA256", TlsVersions::Tls13), ALL_13);
    }

    #[test]
    fn a_list_that_names_1_3_means_it() {
        let list = "ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256";
        let expected = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"];
        assert_eq!(names(list, TlsVersions::Auto), expected);
        assert_eq!(names("TLS_AES_128_GCM_SHA256", TlsVersions::Auto), ["TLS_AES_128_GCM_SHA256"]);
    }

    #[test]
    fn the_words_for_all_mean_all() {
        for word in ALL {
            assert_eq!(names(word, TlsVersions::Auto).len(), ROWS.len(), "{word}");
        }
        assert_eq!(names("TLS_CHACHA20_POLY1305_SHA256:ALL", TlsVersions::Auto).len(), ROWS.len());
    }

    #[test]
    fn a_word_that_names_nothing_is_named_among_those_that_do() {
        for word in ["AES128-SHA", "RC4-SHA", "DES-CBC3-SHA", "!aNULL", "ECDHE+AESGCM", "nonsense"] {
            let error = Ciphers::from_list(&format!("ALL:{word}:HIGH")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("unknown cipher `{word}` (known: TLS_AES_256")), "{error}");
            for row in ROWS {
                assert!(error.contains(row.openssl), "{error}");
            }
        }
    }

    #[test]
    fn an_empty_list_and_one_without_the_version_are_errors() {
        for list in ["", " ", ":,"] {
            assert_eq!(Ciphers::from_list(list).unwrap_err(), TlsError::NoCipher);
        }
        let ciphers = Ciphers::from_list("TLS_AES_128_GCM_SHA256").unwrap();
        let error = select(Some(&ciphers), TlsVersions::Tls12).unwrap_err();
        assert_eq!(error, TlsError::NoCipherForVersion("1.2"));
    }
}
