//! The calls of one session, one after the other.

use httperf_engine::Nanos;

use super::Mix;
use super::draws::Draws;

/// Where a session stands: a few words. Its calls follow from the seed of the run and its number alone, so it
/// does not matter which thread, or which machine, plays it.
///
/// ```
/// # use httperf_load::{Mix, MixSession};
/// let mix = Mix::parse(
///     "sessions = { rate = 1, count = 1, length = { mean = 2, distribution = 'constant' } }
///      class = [{ name = 'all', weight = 1, uri = '/{session}/{call}' }]",
/// )?;
/// let mut session = MixSession::new(&mix, 1, 7);
/// let mut uri = Vec::new();
/// let call = session.next(&mix, &mut uri).expect("the first");
/// assert_eq!((call.method, uri.as_slice(), call.last), ("GET", b"/7/0".as_slice(), false));
/// let call = session.next(&mix, &mut uri).expect("the second");
/// assert_eq!((call.method, uri.as_slice(), call.last), ("GET", b"/7/1".as_slice(), true));
/// assert_eq!(session.next(&mix, &mut uri), None);
/// # Ok::<(), httperf_load::MixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixSession {
    draws: Draws,
    number: u64,
    call: u64,
    length: u64,
}

/// One call of a session. Its URI is in the buffer that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixCall<'m> {
    /// The class, an index into [`Mix::classes`].
    pub class: u16,
    /// The method.
    pub method: &'m str,
    /// Header fields, complete lines; see [`MixClass::fields`](super::MixClass::fields).
    pub fields: &'m [u8],
    /// The body; empty without one.
    pub body: &'m [u8],
    /// From the reply to the next call's due time; 0 after the last.
    pub think_ns: Nanos,
    /// Whether the session ends with it.
    pub last: bool,
}

impl MixSession {
    /// Session `number` of the run with this seed, before its first call.
    pub fn new(mix: &Mix, seed: u64, number: u64) -> Self {
        let mut draws = Draws::new(seed, number);
        let length = mix.length.draw(&mut draws);
        Self { draws, number, call: 0, length }
    }

    /// How many calls it has in all, at least 1.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The next call, its URI instead of whatever was in `uri`; `None` after the last. `mix` is the one it
    /// was made with.
    pub fn next<'m>(&mut self, mix: &'m Mix, uri: &mut Vec<u8>) -> Option<MixCall<'m>> {
        if self.call == self.length {
            return None;
        }
        let unit = self.draws.unit();
        let index = mix.upto.partition_point(|&upto| upto <= unit);
        let class = mix.classes.get(index)?;
        uri.clear();
        class.write_uri(self.number, self.call, &mut self.draws, uri);
        self.call += 1;
        let last = self.call == self.length;
        let think_ns = if last { 0 } else { mix.think.draw_ns(&mut self.draws) };
        Some(MixCall {
            class: index as u16,
            method: &class.method,
            fields: &class.fields,
            body: &class.body,
            think_ns,
            last,
        })
    }
}
