//! The classic tools this program can be: their options, texts and exit statuses. Nothing here prints: a
//! personality returns text, `main` writes it.

pub(crate) mod httperf;

/// The program ends before any load: what to write, and the status.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exit {
    /// The exit status.
    pub(crate) status: i32,
    /// For stdout, to be written first.
    pub(crate) stdout: Vec<u8>,
    /// For stderr.
    pub(crate) stderr: Vec<u8>,
}
