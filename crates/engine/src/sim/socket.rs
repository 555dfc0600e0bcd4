//! The client's kernel in a simulation: what one socket holds and has to tell.

use rustix::io::Errno;

use super::faults::Faults;
use super::network::Pipe;
use super::peer::{Effect, Peer};
use super::random::Random;
use crate::driver::Input;
use crate::object::ConnId;
use crate::time::Nanos;

/// Bytes read at once.
const READ: u64 = 64 * 1024;
/// Bytes read from one connection before the others have their turn.
const FAIR: u64 = 256 * 1024;

/// The client's kernel and the server's end of one connection.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) conn: ConnId,
    pub(super) peer: Peer,
    pub(super) faults: Random,
    /// Its place among the dialogues.
    pub(super) dialogue: usize,
    pub(super) state: Connect,
    /// Bytes on their way and bytes that wait to be read.
    pub(super) pipe: Pipe,
    /// Bytes of the pipe that have arrived.
    readable: u64,
    /// Bytes read in this turn.
    read: u64,
    pub(super) writable: bool,
    fin: News,
    rst: News,
    /// It stands in the ready list.
    pub(super) queued: bool,
}

/// How far a connect has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connect {
    Pending,
    /// Not told yet: 0 or the error number.
    Over(i32),
    Told,
}

/// Something that is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Nothing,
    Fresh,
    Told,
}

/// What a look at a socket has brought.
pub(super) enum Look {
    Nothing,
    /// Come back in the next turn.
    Later,
    /// Come back after a while.
    Again(Nanos),
    Input(Input<'static>),
    /// The buffer holds bytes.
    Data,
}

impl Socket {
    pub(super) fn new(conn: ConnId, peer: Peer, faults: Random, dialogue: usize) -> Self {
        Self {
            conn,
            peer,
            faults,
            dialogue,
            state: Connect::Pending,
            pipe: Pipe::default(),
            readable: 0,
            read: 0,
            writable: false,
            fin: News::Nothing,
            rst: News::Nothing,
            queued: false,
        }
    }

    /// Something from the server has arrived.
    pub(super) fn hear(&mut self, effect: Effect) {
        if self.rst != News::Nothing {
            return;
        }
        match effect {
            Effect::Segment(bytes) => self.readable += bytes,
            Effect::Fin => self.fin = News::Fresh,
            Effect::Rst { purge } => {
                self.rst = News::Fresh;
                if purge {
                    self.pipe.clear();
                    self.readable = 0;
                    self.fin = News::Nothing;
                }
            }
            Effect::Resume => {}
        }
    }

    /// The socket's turn begins: it left the ready list.
    pub(super) fn begin_turn(&mut self) {
        self.queued = false;
        self.read = 0;
    }

    /// The next thing to tell. So many bytes are permitted to be thrown away; the rest goes into the buffer.
    pub(super) fn look(&mut self, faults: &Faults, permitted: u64, buffer: &mut Vec<u8>) -> Look {
        match self.state {
            Connect::Pending => return Look::Nothing,
            Connect::Told => {}
            Connect::Over(errno) => {
                self.state = Connect::Told;
                return Look::Input(match errno {
                    0 => Input::Connected,
                    errno => Input::ConnectFailed(errno),
                });
            }
        }
        if std::mem::take(&mut self.writable) {
            return Look::Input(Input::Writable);
        }
        if self.readable > 0 {
            return self.receive(faults, permitted, buffer);
        }
        if self.rst == News::Fresh {
            self.rst = News::Told;
            return Look::Input(Input::Failed(Errno::CONNRESET.raw_os_error()));
        }
        if self.fin == News::Fresh {
            self.fin = News::Told;
            return Look::Input(Input::Eof);
        }
        Look::Nothing
    }

    fn receive(&mut self, faults: &Faults, permitted: u64, buffer: &mut Vec<u8>) -> Look {
        if self.read >= FAIR {
            return Look::Later;
        }
        if self.faults.chance(faults.empty_read) {
            return Look::Again(self.faults.scale(&(1..=200_000)));
        }
        let room = if permitted > 0 { permitted } else { READ };
        let mut length = self.readable.min(room);
        if self.faults.chance(faults.short_read) {
            length = self.faults.scale(&(1..=length));
        }
        self.readable -= length;
        self.read += length;
        if permitted > 0 {
            self.pipe.skip(length);
            return Look::Input(Input::Discarded(length));
        }
        self.pipe.read(length, buffer);
        Look::Data
    }

    /// How many of so many bytes the kernel takes.
    pub(super) fn write(&mut self, faults: &Faults, bytes: usize) -> Result<usize, Errno> {
        match self.rst {
            News::Nothing if self.faults.chance(faults.short_write) => {
                Ok(self.faults.below(bytes as u64) as usize)
            }
            News::Nothing => Ok(bytes),
            News::Fresh => {
                self.rst = News::Told;
                Err(Errno::CONNRESET)
            }
            News::Told => Err(Errno::PIPE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::network::{Link, Network};
    use super::super::server::{Script, Server};
    use super::*;

    fn socket() -> Socket {
        let server = Server::Scripted(std::sync::Arc::new(Script::answering([])));
        let link = Link::new(&Network::local(), 1, 1);
        let mut socket =
            Socket::new(ConnId::NONE, Peer::new(&server, Random::new(1), link), Random::new(1), 0);
        socket.state = Connect::Told;
        socket.pipe.fill(1000);
        socket.hear(Effect::Segment(1000));
        socket
    }

    fn told(socket: &mut Socket) -> Vec<String> {
        let mut buffer = Vec::new();
        let mut all = Vec::new();
        loop {
            match socket.look(&Faults::default(), 0, &mut buffer) {
                Look::Input(input) => all.push(format!("{input:?}")),
                Look::Data => all.push(format!("{} bytes", buffer.len())),
                _ => return all,
            }
        }
    }

    #[test]
    fn a_reset_comes_behind_the_bytes_or_instead_of_them() {
        let mut behind = socket();
        behind.hear(Effect::Rst { purge: false });
        assert_eq!(told(&mut behind), ["1000 bytes", "Failed(104)"]);
        assert_eq!(behind.write(&Faults::default(), 5), Err(Errno::PIPE));
        let mut instead = socket();
        instead.hear(Effect::Fin);
        instead.hear(Effect::Rst { purge: true });
        instead.hear(Effect::Segment(5));
        assert_eq!(told(&mut instead), ["Failed(104)"]);
    }

    #[test]
    fn a_write_on_a_broken_connection_tells_of_it() {
        let mut socket = socket();
        socket.hear(Effect::Rst { purge: true });
        assert_eq!(socket.write(&Faults::default(), 5), Err(Errno::CONNRESET));
        assert_eq!(socket.write(&Faults::default(), 5), Err(Errno::PIPE));
        assert!(told(&mut socket).is_empty());
    }

    #[test]
    fn the_end_of_the_stream_comes_last_and_once() {
        let mut socket = socket();
        socket.hear(Effect::Fin);
        socket.writable = true;
        assert_eq!(told(&mut socket), ["Writable", "1000 bytes", "Eof"]);
        assert!(told(&mut socket).is_empty());
    }
}
