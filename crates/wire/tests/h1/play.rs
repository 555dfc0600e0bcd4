//! Plays a stream to the machine and writes down what it said.

use httperf_wire::{Due, Fault, H1, Machine, Memo, Note, Rules, Signal};

/// Strict reading.
pub(crate) const MODERN: Rules = Rules { classic_strict: false };
/// The reading of the original tool.
pub(crate) const CLASSIC: Rules = Rules { classic_strict: true };

/// Who is at the other end, besides the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) rules: Rules,
    /// The calls outstanding from the start: `R` for a reply, `H` for the reply to HEAD.
    pub(crate) calls: &'a str,
    /// Throw body bytes away unread wherever it is allowed.
    pub(crate) discard: bool,
}

/// The caller of one ordinary call.
pub(crate) const ONE: Caller<'_> = Caller { rules: MODERN, calls: "R", discard: false };

/// The words of a dialogue.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    words: Vec<String>,
    content: u64,
}

impl Words {
    fn say(&mut self, word: impl Into<String>) {
        if self.content > 0 {
            self.words.push(format!("content {}", self.content));
            self.content = 0;
        }
        self.words.push(word.into());
    }

    fn signal(&mut self, signal: Signal) {
        match signal {
            Signal::Begin => self.say("begin"),
            Signal::Interim(code) => self.say(format!("interim {code}")),
            Signal::Status(code) => self.say(format!("{code}")),
            Signal::Head { .. } => self.say("head"),
            // Pieces of content are one content: how many there are is up to the cuts.
            Signal::Content { bytes } => self.content += bytes,
            Signal::End { footer, last } => {
                self.say(format!("end {footer}{}", if last { " last" } else { "" }));
            }
            Signal::Note(Note::LengthAndChunked) => self.say("both"),
            Signal::Note(Note::UnknownCoding) => self.say("unknown"),
            Signal::Note(Note::LongField(length)) => self.say(format!("long {length}")),
            Signal::Note(Note::GarbageStatus) => self.say("garbage"),
            Signal::Note(Note::NoCloseNotify) => self.say("no close_notify"),
        }
    }

    fn fault(&mut self, fault: Fault) {
        self.say(match fault {
            Fault::Malformed(text) => format!("malformed ({text})"),
            Fault::Limit(text) => format!("limit ({text})"),
            Fault::Unsolicited => "unsolicited".into(),
            Fault::Truncated => "truncated".into(),
        });
    }

    /// All words in a line; why something is malformed or beyond a limit is left out.
    pub(crate) fn line(&self) -> String {
        let words = self.words.iter().map(|word| word.split(" (").next().unwrap());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Plays the pieces with an empty memo, and once more with what it remembers then:
/// both must come out the same.
pub(crate) fn play<'a, P>(caller: Caller<'_>, pieces: P) -> Words
where
    P: IntoIterator<Item = &'a [u8], IntoIter: Clone>,
{
    let pieces = pieces.into_iter();
    let mut memo = Memo::default();
    let words = play_with(&mut memo, caller, pieces.clone());
    assert_eq!(play_with(&mut memo, caller, pieces), words, "with a warm memo");
    words
}

/// Plays the pieces, then the end of the stream (written `|`). It is over with a fault or the last reply.
pub(crate) fn play_with<'a>(
    memo: &mut Memo,
    caller: Caller<'_>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Words {
    let mut h1 = H1::new(caller.rules);
    let mut words = Words::default();
    let mut calls = caller.calls.chars();
    let mut due = next_due(&mut calls);
    for piece in pieces {
        let mut rest = piece;
        if caller.discard {
            let bytes = h1.discardable().min(rest.len() as u64);
            rest = &rest[bytes as usize..];
            words.content += bytes;
            if let Some(end) = h1.discarded(bytes) {
                words.signal(end);
                if matches!(end, Signal::End { last: true, .. }) {
                    return words;
                }
                due = next_due(&mut calls);
            }
        }
        loop {
            let step = match h1.receive(rest, due, memo) {
                Ok(step) => step,
                Err(fault) => {
                    words.fault(fault);
                    return words;
                }
            };
            rest = &rest[step.used..];
            let Some(signal) = step.signal else {
                assert!(rest.is_empty(), "no signal, but {} bytes are left", rest.len());
                break;
            };
            words.signal(signal);
            match signal {
                Signal::Content { bytes } => assert!(bytes > 0 && bytes <= step.used as u64),
                Signal::End { last: true, .. } => return words,
                Signal::End { .. } => due = next_due(&mut calls),
                _ => {}
            }
        }
    }
    words.say("|");
    match h1.finish(due) {
        Ok(None) => {}
        Ok(Some(end)) => words.signal(end),
        Err(fault) => words.fault(fault),
    }
    words
}

fn next_due(calls: &mut std::str::Chars<'_>) -> Due {
    match calls.next() {
        None => Due::Nothing,
        Some('H') => Due::Head,
        Some(_) => Due::Reply,
    }
}

/// Plays a stream whole, byte by byte, in every cut into two, and with discarded bodies; all must come out
/// the same, to the text of the fault. A fault must also come with the very byte that causes it.
pub(crate) fn play_all_ways(caller: Caller<'_>, stream: &[u8]) -> Words {
    let whole = play(caller, [stream]);
    for at in 0..=stream.len() {
        let (one, two) = stream.split_at(at);
        assert_eq!(play(caller, [one, two]), whole, "cut at {at}: {}", stream.escape_ascii());
        let discarding = Caller { discard: true, ..caller };
        assert_eq!(play(discarding, [one, two]), whole, "discarding, cut at {at}: {}", stream.escape_ascii());
        assert_eq!(play(caller, one.chunks(1)), play(caller, [one]), "by bytes: {}", one.escape_ascii());
    }
    whole
}
