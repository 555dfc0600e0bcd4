//! What goes over the wire, line by line, as the classic tool prints it (manual `--print-request`,
//! `--print-reply`).
//!
//! ```text
//!   SH0:GET /ok HTTP/1.1      header lines of a request, when its first byte is written; CRs stay
//!   SB0:body                  lines of its body
//!   SS0: header 64 content 4  the request is written
//!   RH0:HTTP/1.1 200 OK       header lines of a reply, when its header section is complete
//!   RB0:hello                 lines of its decoded body, as they become complete
//!   RS0: header 39 content 5 footer 0
//! ```
//!
//! The number is that of the call in the whole run; another attempt at a call prints again under its number.
//! A body may end within a line: what is there is printed, and the line end is ours. Where bodies of several
//! calls come at the same time their lines mix, but never within a line: what has come of one is held for its
//! call.

use std::collections::HashMap;
use std::io::Write;

use httperf_engine::{Call, CallId, Collector, Core, Event, Wants};

/// A line that becomes longer than this is printed in pieces, each a line of its own.
const LINE_MAX: usize = 64 * 1024;
/// So much is held of all lines together; beyond, what comes of a line is printed as a line of its own.
const HELD_MAX: usize = 16 * 1024 * 1024;

/// Which parts of messages are printed; their last line (`SS`, `RS`) always is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The header section.
    pub header: bool,
    /// The body.
    pub body: bool,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Of requests; `None` is nothing at all.
    pub request: Option<Parts>,
    /// Of replies; `None` is nothing at all.
    pub reply: Option<Parts>,
}

impl Printed {
    /// What the scenario has to want for it.
    pub fn wants(self) -> Wants {
        let reply = self.reply.unwrap_or(Parts { header: false, body: false });
        Wants { header: reply.header, body: reply.body }
    }
}

/// Tells complete lines, each with its line end; all lines of an event at once.
#[derive(Debug)]
pub struct Transcript<F> {
    tell: F,
    printed: Printed,
    /// The lines of the event at hand.
    lines: Vec<u8>,
    held: Held,
}

/// Beginnings of body lines, by call.
#[derive(Debug, Default)]
struct Held {
    rests: HashMap<CallId, Vec<u8>>,
    /// Bytes of all of them.
    bytes: usize,
}

impl Held {
    fn take(&mut self, call: CallId) -> Vec<u8> {
        if self.rests.is_empty() {
            return Vec::new();
        }
        let rest = self.rests.remove(&call).unwrap_or_default();
        self.bytes -= rest.len();
        rest
    }

    /// Holds more of a line; `false` if that is too much to be held.
    fn keep(&mut self, call: CallId, more: &[u8]) -> bool {
        let rest = self.rests.entry(call).or_default();
        rest.extend_from_slice(more);
        self.bytes += more.len();
        rest.len() <= LINE_MAX && self.bytes <= HELD_MAX
    }
}

impl<F: FnMut(&[u8])> Transcript<F> {
    /// Lines are told as soon as they are complete.
    pub fn new(printed: Printed, tell: F) -> Self {
        Self { tell, printed, lines: Vec::new(), held: Held::default() }
    }

    /// The request is being written.
    fn request(&mut self, parts: Parts, call: &Call, core: &Core) {
        let (serial, request) = (serial(call, core), core.request(call.request));
        if parts.header {
            lines(&mut self.lines, "SH", serial, request.header());
        }
        if parts.body {
            lines(&mut self.lines, "SB", serial, request.body());
        }
    }

    /// Bytes of a reply's body have come.
    fn body(&mut self, id: CallId, serial: u64, bytes: &[u8]) {
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (complete, rest) = bytes.split_at(complete);
        if !complete.is_empty() {
            let mut begun = self.held.take(id);
            begun.extend_from_slice(complete);
            lines(&mut self.lines, "RB", serial, &begun);
        }
        if !rest.is_empty() && !self.held.keep(id, rest) {
            lines(&mut self.lines, "RB", serial, &self.held.take(id));
        }
    }

    /// No more of this body will come: what is held of it is its last line.
    fn end_of_body(&mut self, id: CallId, call: &Call, core: &Core) {
        let rest = self.held.take(id);
        lines(&mut self.lines, "RB", serial(call, core), &rest);
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.lines.write_fmt(line).expect("memory can be written");
    }
}

impl<F: FnMut(&[u8])> Collector for Transcript<F> {
    fn on(&mut self, event: &Event, core: &Core) {
        let Printed { request, reply } = self.printed;
        match (*event, request, reply) {
            (Event::CallSendStart { call, .. }, Some(parts), _) => {
                let Some(call) = core.call(call) else { return };
                self.request(parts, call, core);
            }
            (Event::CallSendStop { call, .. }, Some(_), _) => {
                let Some(call) = core.call(call) else { return };
                let (serial, request) = (serial(call, core), core.request(call.request));
                let (header, content) = (request.header().len(), request.body().len());
                self.line(format_args!("SS{serial}: header {header} content {content}\n"));
            }
            (Event::CallRecvHeader { call, bytes, text, .. }, _, Some(Parts { header: true, .. })) => {
                let Some(call) = core.call(call) else { return };
                lines(&mut self.lines, "RH", serial(call, core), core.text(text, u64::from(bytes)));
            }
            (Event::CallRecvData { call: id, bytes, text, .. }, _, Some(Parts { body: true, .. })) => {
                let Some(call) = core.call(id) else { return };
                self.body(id, serial(call, core), core.text(text, bytes));
            }
            (Event::CallRecvStop { call: id, footer, .. }, _, Some(_)) => {
                let Some(call) = core.call(id) else { return };
                self.end_of_body(id, call, core);
                let (serial, header, content) = (serial(call, core), call.header, call.content);
                self.line(format_args!("RS{serial}: header {header} content {content} footer {footer}\n"));
            }
            (Event::CallFailed { call: id, .. } | Event::CallAborted { call: id, .. }, _, Some(_)) => {
                let Some(call) = core.call(id) else { return };
                self.end_of_body(id, call, core);
            }
            _ => return,
        }
        if !self.lines.is_empty() {
            (self.tell)(&self.lines);
            self.lines.clear();
            self.lines.shrink_to(LINE_MAX);
        }
    }
}

/// The number of a call in the whole run: loops beside each other take turns.
fn serial(call: &Call, core: &Core) -> u64 {
    let share = core.scenario().share;
    call.serial * u64::from(share.of) + u64::from(share.index)
}

/// The lines of a text, each behind its prefix and with a line end.
fn lines(out: &mut Vec<u8>, prefix: &str, serial: u64, text: &[u8]) {
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        write!(out, "{prefix}{serial}:").expect("memory can be written");
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.push(b'\n');
        }
    }
}
