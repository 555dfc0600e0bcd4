//! Generators of request targets: which URI the next call asks for.
//!
//! ```text
//!   --uri   Fixed --+
//!   --wset  Wset  --+-- next --> one URI a call, in the order in which calls are created
//!   --wlog  Wlog  --+
//! ```

mod wlog;
mod wset;

pub use wlog::{Entries, Wlog, WlogError};
pub use wset::{Wset, WsetSpec};

use std::fmt;
use std::sync::Arc;

/// Where the URIs of a run come from (manual `--uri`, `--wset`, `--wlog`).
#[derive(Clone, Debug)]
pub enum Uris {
    /// Every call asks for the same.
    Fixed(Vec<u8>),
    /// A working set with a miss rate.
    Wset(Wset),
    /// The entries of a log.
    Wlog(Wlog),
    /// Those of another source, each told to somebody.
    Tapped(Box<Uris>, Tap),
}

/// Who is told of every URI.
#[derive(Clone)]
pub struct Tap(Arc<Tell>);

type Tell = dyn Fn(&[u8]) + Send + Sync;

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

impl Uris {
    /// Appends the URI of the next call to `out`. `false` if there is none left; see [`Wlog::next`] for
    /// what is then appended.
    #[must_use = "a log that ends stops the run"]
    pub fn next(&mut self, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Fixed(uri) => out.extend_from_slice(uri),
            Self::Wset(wset) => wset.next(out),
            Self::Wlog(wlog) => return wlog.next(out),
            Self::Tapped(uris, tap) => {
                let from = out.len();
                let more = uris.next(out);
                tap.0(&out[from..]);
                return more;
            }
        }
        true
    }

    /// Tells every URI, also the one that a log at its end is left with (manual `-v`).
    #[must_use]
    pub fn tap(self, tell: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self::Tapped(Box::new(self), Tap(Arc::new(tell)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(uris: &mut Uris) -> (bool, String) {
        let mut out = b"GET ".to_vec();
        let more = uris.next(&mut out);
        (more, String::from_utf8(out).unwrap())
    }

    #[test]
    fn each_source_appends_one_uri_a_call() {
        let mut fixed = Uris::Fixed(b"/a b#c".to_vec());
        assert_eq!(text(&mut fixed), (true, "GET /a b#c".into()));
        assert_eq!(text(&mut fixed), (true, "GET /a b#c".into()));
        let spec = WsetSpec { prefix: b"/w".to_vec(), files: 11, miss: 1.0, client: 0, clients: 1 };
        assert_eq!(text(&mut Uris::Wset(Wset::new(&spec, 0, 1))), (true, "GET /w/0/1.html".into()));
        let entries = Entries::parse(b"/x\0").unwrap();
        let mut wlog = Uris::Wlog(Wlog::new(entries.into(), false, 0, 1));
        assert_eq!(text(&mut wlog), (true, "GET /x".into()));
        assert!(!text(&mut wlog).0);
    }
}
