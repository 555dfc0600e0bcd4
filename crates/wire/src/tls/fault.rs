//! How a connection's TLS failed, as small data: an alert, not TLS at all, a breach of the protocol, a
//! certificate.

use std::fmt;

use rustls::{CertificateError, Error, PeerIncompatible, PeerMisbehaved};

/// What ended the TLS of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// The server gave up and said why.
    #[error("the server sent the TLS alert {0}")]
    Alert(Alert),
    /// The server's first bytes are text.
    #[error("not TLS: the server answered in plain text, is this the port for https?")]
    NotTls,
    /// The server broke the protocol, or has nothing in common with us.
    #[error("TLS: {0}")]
    Protocol(&'static str),
    /// The server's certificate was not accepted.
    #[error("{0}")]
    Certificate(CertificateFault),
}

/// What is wrong with the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// It was valid once.
    #[error("the server's certificate has expired")]
    Expired,
    /// It will be valid.
    #[error("the server's certificate is not valid yet")]
    NotYetValid,
    /// It is another server's.
    #[error("the server's certificate is for another name")]
    WrongName,
    /// It leads to no root that is trusted.
    #[error("the server's certificate has an unknown issuer")]
    UnknownIssuer,
    /// It is not for servers.
    #[error("the server's certificate is not meant for a server")]
    WrongUsage,
    /// It cannot be read, or is wrong in another way.
    #[error("the server's certificate is not acceptable")]
    Other,
}

/// An alert by its number (RFC 8446 section 6). Prints as `handshake_failure (40)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert(pub u8);

impl Alert {
    /// Its name in the RFCs.
    #[must_use]
    pub fn name(self) -> &'static str {
        ALERTS.iter().find(|(number, _)| *number == self.0).map_or("unknown", |(_, name)| name)
    }
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}

const ALERTS: &[(u8, &str)] = &[
    (0, "close_notify"),
    (10, "unexpected_message"),
    (20, "bad_record_mac"),
    (21, "decryption_failed"),
    (22, "record_overflow"),
    (30, "decompression_failure"),
    (40, "handshake_failure"),
    (41, "no_certificate"),
    (42, "bad_certificate"),
    (43, "unsupported_certificate"),
    (44, "certificate_revoked"),
    (45, "certificate_expired"),
    (46, "certificate_unknown"),
    (47, "illegal_parameter"),
    (48, "unknown_ca"),
    (49, "access_denied"),
    (50, "decode_error"),
    (51, "decrypt_error"),
    (60, "export_restriction"),
    (70, "protocol_version"),
    (71, "insufficient_security"),
    (80, "internal_error"),
    (86, "inappropriate_fallback"),
    (90, "user_canceled"),
    (100, "no_renegotiation"),
    (109, "missing_extension"),
    (110, "unsupported_extension"),
    (111, "certificate_unobtainable"),
    (112, "unrecognized_name"),
    (113, "bad_certificate_status_response"),
    (114, "bad_certificate_hash_value"),
    (115, "unknown_psk_identity"),
    (116, "certificate_required"),
    (120, "no_application_protocol"),
    (121, "ech_required"),
];

/// rustls's errors own lists and strings; a fault is counted by the million, so it keeps the sentence that
/// helps.
impl From<&Error> for TlsFault {
    fn from(error: &Error) -> Self {
        match error {
            Error::AlertReceived(description) => Self::Alert(Alert(u8::from(*description))),
            Error::InvalidCertificate(error) => Self::Certificate(error.into()),
            Error::NoCertificatesPresented => Self::Certificate(CertificateFault::Other),
            Error::PeerIncompatible(what) => Self::Protocol(incompatible(what)),
            Error::PeerMisbehaved(how) => Self::Protocol(misbehaved(how)),
            Error::InvalidMessage(_) => Self::Protocol("the server sent a message that cannot be read"),
            Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
                Self::Protocol("the server sent a message out of turn")
            }
            Error::DecryptError => Self::Protocol("the server sent a record that cannot be decrypted"),
            Error::PeerSentOversizedRecord => Self::Protocol("the server sent a record that is too large"),
            Error::NoApplicationProtocol => Self::Protocol("the server speaks none of the protocols offered"),
            Error::FailedToGetRandomBytes => Self::Protocol("the system has no random bytes"),
            Error::FailedToGetCurrentTime => Self::Protocol("the system has no time"),
            _ => Self::Protocol("the handshake cannot go on"),
        }
    }
}

fn incompatible(what: &PeerIncompatible) -> &'static str {
    match what {
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled => "the server chose a version that was not offered",
        PeerIncompatible::NoSignatureSchemesInCommon
        | PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => {
            "the server knows no signature scheme of ours"
        }
        PeerIncompatible::NoKxGroupsInCommon => "the server knows no key exchange group of ours",
        _ => "the server lacks something that is needed",
    }
}

fn misbehaved(how: &PeerMisbehaved) -> &'static str {
    match how {
        PeerMisbehaved::SelectedUnofferedCipherSuite
        | PeerMisbehaved::SelectedUnusableCipherSuiteForVersion => {
            "the server chose a cipher that was not offered"
        }
        PeerMisbehaved::SelectedUnofferedKxGroup | PeerMisbehaved::WrongGroupForKeyShare => {
            "the server chose a key exchange group that was not offered"
        }
        PeerMisbehaved::AttemptedDowngradeToTls12WhenTls13IsSupported => {
            "somebody in between forced an older version"
        }
        PeerMisbehaved::SelectedUnofferedApplicationProtocol => {
            "the server chose a protocol that was not offered"
        }
        PeerMisbehaved::TooManyEmptyFragments
        | PeerMisbehaved::TooManyKeyUpdateRequests
        | PeerMisbehaved::TooManyRenegotiationRequests
        | PeerMisbehaved::TooManyWarningAlertsReceived => "the server sent too much that means nothing",
        PeerMisbehaved::InvalidKeyShare => "the server sent a key share that is none",
        _ => "the server broke a rule of the handshake",
    }
}

impl From<&CertificateError> for CertificateFault {
    fn from(error: &CertificateError) -> Self {
        match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::WrongName
            }
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                Self::WrongUsage
            }
            _ => Self::Other,
        }
    }
}
