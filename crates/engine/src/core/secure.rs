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

    /// Encrypts the call that heads the send queue, unless that is done already. Whether there are bytes to
    /// be written.
    pub(super) fn encrypt(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get_mut(id) else { return false };
        let Some(tls) = conn.tls.as_deref_mut() else { return false };
        if conn.state == State::Open
            && !conn.flags.encrypted
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
        self.traffic.sent += bytes as u64;
        let done = tls.outgoing().is_empty();
        let call = conn.queue.unsent;
        let Some(current) = self.calls.get_mut(call) else { return };
        if !conn.flags.encrypted {
            if done {
                self.transmits.push_back(Action::Write(id));
            }
            return;
        }
        if bytes > 0 && !current.sent.is_set() {
            current.sent = at;
            self.events.push(Event::CallSendStart { call, at });
        }
        if done {
            conn.flags.encrypted = false;
            current.written = self.requests.get(current.request).bytes().len() as u32;
            let bytes = current.carried + current.written;
            let (next, flags) = (current.next, conn.flags);
            conn.queue.unsent = next;
            self.events.push(Event::CallSendStop { call, bytes, at });
            self.written_out(id, next, flags, at);
        } else if bytes > 0 || !conn.deadline.is_set() {
            self.renew(id, self.scenario.deadlines.write);
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
            self.receive(id, &plain);
            plain.clear();
        }
        self.plain = plain;
        let still_there = self.conns.get(id).is_some_and(|conn| conn.state != State::Closed);
        match outcome {
            Err(fault) if still_there => self.broken(id, Broken::Tls(fault)),
            Ok(()) if closed && still_there => self.finish(id),
            _ => {}
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

    /// What TLS says before the socket is closed: nothing where it is to be reset, or where a request was
    /// cut.
    pub(super) fn farewell(&self, id: ConnId) -> &[u8] {
        let speaks = |conn: &&Conn| !conn.flags.encrypted && !self.scenario.socket.reset;
        let conn = self.conns.get(id).filter(speaks);
        conn.and_then(|conn| conn.tls.as_deref()).map_or(b"", |tls| tls.outgoing())
    }
}
