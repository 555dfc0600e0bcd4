//! Certificates and keys out of PEM text (RFC 7468). Reading the files is the caller's.

use rustls::pki_types::pem::{Error, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::TlsError;

/// All certificates of a PEM text, in their order. Other blocks and text between them are passed over.
///
/// # Errors
/// `NoCertificate` without one; `Pem` for a block that is broken, with its place among the certificates.
pub fn certificates_from_pem(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let mut certificates = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let why = |error| format!("block {}: {}", certificates.len() + 1, describe(error));
        let certificate =
            certificate.map_err(|error| TlsError::Pem { what: "the certificate", why: why(error) })?;
        certificates.push(certificate);
    }
    if certificates.is_empty() { Err(TlsError::NoCertificate) } else { Ok(certificates) }
}

/// The first private key of a PEM text: PKCS #8, PKCS #1 or SEC 1.
///
/// # Errors
/// `NoKey` without one, `EncryptedKey` if it is locked, `Pem` for a block that is broken.
pub fn key_from_pem(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    let key = PrivateKeyDer::from_pem_slice(pem);
    // Old keys say so in a header of the block, new ones in its name.
    let is_locked = || {
        let has = |needle: &[u8]| memchr::memmem::find(pem, needle).is_some();
        has(b"-----BEGIN ENCRYPTED PRIVATE KEY-----") || has(b"Proc-Type: 4,ENCRYPTED")
    };
    key.map_err(|error| match error {
        _ if is_locked() => TlsError::EncryptedKey,
        Error::NoItemsFound => TlsError::NoKey,
        error => TlsError::Pem { what: "the key", why: describe(error) },
    })
}

/// The parser prints markers as lists of numbers.
fn describe(error: Error) -> String {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    match error {
        Error::MissingSectionEnd { end_marker } => {
            format!("it does not end with -----END {}-----", text(end_marker))
        }
        Error::IllegalSectionStart { line } => format!("`{}` does not end with five hyphens", text(line)),
        Error::Base64Decode(_) => "its text is not base64".to_owned(),
        other => other.to_string(),
    }
}
