//! TLS between connection and socket: the handshake, encrypting what goes out, decrypting what comes in.

use httperf_wire::{Fault, Note};

use super::{Action, Core};
use crate::cause::Cause;
use crate::conn::{Broken, Conn, State};
use crate::event::Event;
use crate::object::ConnId;
use crate::time::Time;

impl Core {
    /// The peer is reached: the handshake begins, under the time limit of the connect.
    pub(super) fn secure(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let Some(secure) = &self.scenario.secure else { return };
        let client = &secure.clients[conn.target as usize];
        let session = self.sessions.get_mut(conn.session).filter(|_| secure.resume);
        let tickets = session.map(|session| {
            let known = session.tickets.take().filter(|(target, _)| *target == conn.target);
            &session.tickets.insert(known.unwrap_or_else(|| (conn.target, client.tickets()))).1
        });
        match client.connect(tickets) {
            Ok(tls) => {
                conn.tls = Some(Box::new(tls));
                conn.state = State::Securing;
                self.transmits.push_back(Action::Write(id));
            }
            // The system gives no random bytes: nothing the peer could be blamed for.
            Err(_) => self.fail(id, Cause::Other, 0),
        }
    }

    /// Encrypts the call that heads the send queue, unless that is done already or the kernel has yet to
    /// take what stands before it: the call would seem to be sent with that. Whether there are bytes to be
    /// written.
    pub(super) fn encrypt(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get_mut(id) else { return false };
        let Some(tls) = conn.tls.as_deref_mut() else { return false };
        if conn.state == State::Open
            && !conn.flags.encrypted
            && !conn.flags.blocked
            && let Some(call) = self.calls.get(conn.queue.unsent)
        {
            if let Err(fault) = tls.encrypt(self.requests.get(call.request).bytes()) {
                self.broken(id, Broken::Tls(fault));
                return false;
            }
            conn.flags.encrypted = true;
        }
        !tls.outgoing().is_empty()
    }

    /// The kernel took encrypted bytes.
    pub(super) fn sent_secure(&mut self, id: ConnId, bytes: usize, at: Time) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let Some(tls) = conn.tls.as_deref_mut() else { return };
        tls.sent(bytes);
        let done = tls.outgoing().is_empty();
        conn.flags.blocked = !done;
        let call = conn.queue.unsent;
        // Until the connection is open there is no call, and the time limit of the connect runs on.
        let Some(current) = self.calls.get_mut(call) else { return };
        if conn.flags.encrypted && bytes > 0 && !current.sent.is_set() {
            current.sent = at;
            self.events.push(Event::CallSendStart { call, at });
        }
        if !done {
            if bytes > 0 || !conn.deadline.is_set() {
                self.renew(id, self.scenario.deadlines.write);
            }
        } else if conn.flags.encrypted {
            conn.flags.encrypted = false;
            current.written = self.requests.get(current.request).bytes().len() as u32;
            self.traffic.sent += u64::from(current.written);
            let bytes = current.carried + current.written;
            let (next, flags) = (current.next, conn.flags);
            conn.queue.unsent = next;
            self.events.push(Event::CallSendStop { call, bytes, at });
            self.written_out(id, next, flags, at);
        } else {
            self.transmits.push_back(Action::Write(id));
        }
    }

    /// Encrypted bytes have come.
    pub(super) fn decrypt(&mut self, id: ConnId, bytes: &[u8]) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let Some(tls) = conn.tls.as_deref_mut() else { return };
        let mut plain = std::mem::take(&mut self.plain);
        let outcome = tls.receive(bytes, &mut plain);
        let (ready, closed, outgoing) = (tls.is_ready(), tls.is_closed(), !tls.outgoing().is_empty());
        if outgoing {
            self.transmits.push_back(Action::Write(id));
        }
        if ready && conn.state == State::Securing {
            self.open(id);
        }
        if !plain.is_empty() {
            self.traffic.received += plain.len() as u64;
            self.receive(id, &plain);
            plain.clear();
        }
        self.plain = plain;
        let state = self.conns.get(id).map_or(State::Closed, |conn| conn.state);
        match outcome {
            _ if state == State::Closed => {}
            Err(fault) => self.broken(id, Broken::Tls(fault)),
            Ok(()) if closed => self.finish(id),
            Ok(()) => {}
        }
    }

    /// The peer has ended its side of the socket.
    pub(super) fn finish_secure(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let announced = conn.tls.as_ref().is_some_and(|tls| tls.is_closed());
        if conn.state == State::Securing {
            return self.fail(id, Cause::ClosedEarly, 0);
        }
        // Whoever cuts the connection could so cut a body that its end completes (RFC 8446 section 6.1).
        if !announced && conn.machine.ends_with_stream() {
            return self.fault(id, Fault::Truncated);
        }
        if !announced && !conn.flags.ended && conn.queue.len == 0 && conn.replies > 0 {
            self.events.push(Event::Noted { conn: id, note: Note::NoCloseNotify, at: self.now });
        }
        self.finish(id);
    }

    /// Makes ready what TLS says before the socket is closed: close_notify, unless a fault calls for an
    /// alert.
    pub(super) fn say_farewell(&mut self, id: ConnId) {
        if let Some(tls) = self.conns.get_mut(id).and_then(|conn| conn.tls.as_deref_mut()) {
            tls.close();
        }
    }

    /// What TLS says before the socket is closed: nothing where it is to be reset, where a request was cut,
    /// or where a handshake is broken off without a fault of the server's.
    pub(super) fn farewell(&self, id: ConnId) -> &[u8] {
        let speaks = |conn: &&Conn| {
            let begun = conn.connected.is_set() || conn.fault.is_some();
            begun && !conn.flags.encrypted && !self.scenario.socket.reset
        };
        let conn = self.conns.get(id).filter(speaks);
        conn.and_then(|conn| conn.tls.as_deref()).map_or(b"", |tls| tls.outgoing())
    }
}
