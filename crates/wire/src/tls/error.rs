//! Why TLS cannot be set up: mistakes in what was asked for, found before the first byte.

/// What is wrong with a [`TlsSpec`](super::TlsSpec) or one of its parts. The text completes "failed to set up
/// TLS: ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// Neither a DNS name nor an IP address.
    #[error("`{0}` is neither a DNS name nor an IP address, so it cannot be a server name")]
    ServerName(String),
    /// A word of a cipher list that names no suite we have.
    #[error("unknown cipher `{word}` (known: {known})")]
    UnknownCipher {
        /// The word, as given.
        word: String,
        /// All that are known, in the order of preference.
        known: String,
    },
    /// A cipher list without a word.
    #[error("the cipher list is empty, name ciphers as OpenSSL does, or ALL")]
    NoCipher,
    /// The list and the version exclude each other.
    #[error("none of the ciphers given belongs to TLS {0}, give others or another version")]
    NoCipherForVersion(&'static str),
    /// A PEM text that cannot be read.
    #[error("{what} cannot be read as PEM: {why}")]
    Pem {
        /// What it was to be: "the certificate", "the key".
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A PEM text without a certificate.
    #[error("there is no certificate in it (a PEM block that begins with -----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    /// A PEM text without a private key.
    #[error("there is no private key in it (a PEM block that begins with -----BEGIN PRIVATE KEY-----)")]
    NoKey,
    /// The private key is encrypted.
    #[error("the private key is encrypted; decrypt it first (openssl pkey -in KEY -out PLAIN)")]
    EncryptedKey,
    /// Certificate and key are no pair.
    #[error("the client certificate and the private key do not belong together")]
    KeyMismatch,
    /// A certificate or key that rustls does not take.
    #[error("the client certificate cannot be used: {0}")]
    Identity(String),
    /// Verification is wanted, but of the root certificates none is usable.
    #[error("none of the {0} root certificates can be used, name a file that has some")]
    NoRoots(usize),
    /// Anything else that rustls objects to.
    #[error("{0}")]
    Setup(String),
}
