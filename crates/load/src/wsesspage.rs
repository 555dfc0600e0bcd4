//! Sessions that fetch pages with what they embed (manual `--wsesspage`).
//!
//! ```text
//!   page .. its reply, piece by piece --PageScanner--> references --resolve--> calls at once
//!   all of them replied to: think X, the page again, N2 times in all
//! ```
//!
//! Replies of type `text/html` are searched, those of frames too, and so is the `Location` of any reply. The
//! original follows a frame that contains itself for ever; here references stop at a depth and at a number.

use std::fmt;
use std::sync::Arc;

use httperf_engine::{Nanos, RequestId};

use crate::link::{Site, is_html, location, resolve};
use crate::page::PageScanner;
use crate::session::{Calls, Heard, Next, Script};

/// Frames in frames, and redirects of redirects.
const DEPTH_MAX: u32 = 8;

/// Calls that one request of a user can lead to.
const OBJECTS_MAX: u32 = 1000;

/// What each session does.
#[derive(Clone, Debug)]
pub struct WsesspageSpec {
    /// Requests of the user in a session; 0 acts as 1.
    pub pages: u32,
    /// From the last reply to the user's next request, in nanoseconds.
    pub think: Nanos,
    /// The request of the page. Those of objects are made from it.
    pub request: RequestId,
    /// The URI of the page: relative names use its directory.
    pub uri: Vec<u8>,
    /// The server by name; absolute references to others are not followed.
    pub server: Vec<u8>,
    /// Over TLS.
    pub tls: bool,
}

/// The script.
#[derive(Clone)]
pub struct Wsesspage {
    spec: WsesspageSpec,
    tap: Option<Arc<Tell>>,
}

/// Whoever hears of each reference.
type Tell = dyn Fn(Reference<'_>) + Send + Sync;

/// What becomes of a reference in a page (manual `-vv`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// This URI is fetched.
    Fetched(&'a [u8]),
    /// It leads to another server, or to nothing that can be fetched: as it stands in the page.
    Ignored(&'a [u8]),
}

/// How far a session has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Pages still to be fetched.
    left: u32,
    /// The next page may be fetched.
    ready: bool,
    /// Calls of this page so far.
    objects: u32,
    /// URIs to fetch, with their depths.
    found: Vec<(Vec<u8>, u32)>,
    /// Replies that are being searched.
    open: Vec<Search>,
    /// Scanners to be used again.
    spare: Vec<PageScanner>,
}

/// A reply that is being searched.
#[derive(Debug)]
struct Search {
    token: u32,
    /// It is a page; else only its Location counts.
    html: bool,
    scanner: PageScanner,
    /// References seen in this attempt at the reply, and in an earlier one: these are not followed again.
    seen: u32,
    known: u32,
}

impl Wsesspage {
    /// The script for this.
    pub fn new(spec: WsesspageSpec) -> Self {
        Self { spec, tap: None }
    }

    /// Tells what becomes of each reference.
    #[must_use]
    pub fn tap(self, tell: impl Fn(Reference<'_>) + Send + Sync + 'static) -> Self {
        Self { tap: Some(Arc::new(tell)), ..self }
    }

    fn tell(&self, reference: Reference<'_>) {
        if let Some(tell) = &self.tap {
            tell(reference);
        }
    }
}

impl fmt::Debug for Wsesspage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

/// A token says which call of the page it is, and how deep.
fn token(number: u32, depth: u32) -> u32 {
    number * (DEPTH_MAX + 1) + depth
}

fn depth(token: u32) -> u32 {
    token % (DEPTH_MAX + 1)
}

impl Progress {
    /// A reference was found in the reply to a call.
    fn follow(&mut self, reference: &[u8], parent: u32, script: &Wsesspage) {
        let spec = &script.spec;
        let site = Site { server: &spec.server, tls: spec.tls };
        if self.objects >= OBJECTS_MAX || depth(parent) >= DEPTH_MAX {
            return;
        }
        match resolve(reference, &spec.uri, site) {
            Some(uri) => {
                script.tell(Reference::Fetched(&uri));
                self.objects += 1;
                self.found.push((uri, depth(parent) + 1));
            }
            None => script.tell(Reference::Ignored(reference)),
        }
    }

    /// The search in the reply to a call.
    fn search(&mut self, token: u32) -> Option<usize> {
        self.open.iter().position(|search| search.token == token)
    }

    /// How a reply is searched: afresh, or from its start again.
    fn begin_search(&mut self, token: u32) -> usize {
        self.search(token).unwrap_or_else(|| {
            let mut scanner = self.spare.pop().unwrap_or_default();
            scanner.reset();
            self.open.push(Search { token, html: false, scanner, seen: 0, known: 0 });
            self.open.len() - 1
        })
    }

    /// Follows the reference that comes next in a reply, unless an earlier attempt has.
    fn refer(&mut self, search: usize, reference: &[u8], script: &Wsesspage) {
        let it = &mut self.open[search];
        it.seen += 1;
        if it.seen > it.known {
            let token = it.token;
            self.follow(reference, token, script);
        }
    }
}

impl Script for Wsesspage {
    type State = Progress;

    fn begin(&mut self, _: u64, state: &mut Progress) {
        (state.left, state.ready, state.objects) = (self.spec.pages.max(1), true, 0);
        state.found.clear();
        state.spare.extend(state.open.drain(..).map(|search| search.scanner));
    }

    fn next(&mut self, state: &mut Progress, calls: &mut Calls<'_>) -> Next {
        if state.left == 0 {
            return Next::End;
        }
        if !std::mem::replace(&mut state.ready, true) {
            return Next::Think(self.spec.think);
        }
        (state.left, state.ready, state.objects) = (state.left - 1, false, 0);
        self.tell(Reference::Fetched(&self.spec.uri));
        calls.add(self.spec.request, None, token(0, 0));
        Next::Burst
    }

    fn hear(&mut self, state: &mut Progress, token: u32, heard: Heard<'_>) {
        match heard {
            Heard::Header(section) => {
                let place = location(section);
                let html = is_html(section);
                if place.is_none() && !html {
                    return;
                }
                let search = state.begin_search(token);
                state.open[search].html = html;
                if let Some(place) = place {
                    state.refer(search, place, self);
                }
            }
            Heard::Body(bytes) => {
                let Some(search) = state.search(token).filter(|search| state.open[*search].html) else {
                    return;
                };
                let mut scanner = std::mem::take(&mut state.open[search].scanner);
                scanner.scan(bytes, &mut |reference| state.refer(search, reference, self));
                state.open[search].scanner = scanner;
            }
            Heard::Again => {
                if let Some(search) = state.search(token) {
                    let it = &mut state.open[search];
                    it.scanner.reset();
                    (it.known, it.seen) = (it.known.max(it.seen), 0);
                }
            }
            Heard::End(_) | Heard::Lost => {
                if let Some(search) = state.search(token) {
                    state.spare.push(state.open.swap_remove(search).scanner);
                }
            }
        }
    }

    fn more(&mut self, state: &mut Progress, calls: &mut Calls<'_>) {
        let first = state.objects - state.found.len() as u32;
        for (index, (uri, depth)) in (1..).zip(state.found.drain(..)) {
            calls.add(self.spec.request, Some(&uri), token(first + index, depth));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn references_can_be_tapped() {
        let (sender, told) = mpsc::channel();
        let spec = WsesspageSpec {
            pages: 1,
            think: 0,
            request: RequestId(0),
            uri: b"/a/b".to_vec(),
            server: b"here".to_vec(),
            tls: false,
        };
        let mut script = Wsesspage::new(spec).tap(move |reference| {
            let text = match reference {
                Reference::Fetched(uri) => format!("fetched {}", uri.escape_ascii()),
                Reference::Ignored(text) => format!("ignored {}", text.escape_ascii()),
            };
            let _ = sender.send(text);
        });
        let mut state = Progress::default();
        script.begin(0, &mut state);
        script.hear(&mut state, 0, Heard::Header(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"));
        script.hear(&mut state, 0, Heard::Body(b"<img src=c><img src=http://there/d>"));
        assert_eq!(state.found, [(b"/a/c".to_vec(), 1)]);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["fetched /a/c", "ignored http://there/d"]);
    }
}
