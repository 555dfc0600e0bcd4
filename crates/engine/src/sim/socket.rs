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
    /// How many bytes the server's end still takes.
    room: u64,
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
    pub(super) fn new(conn: ConnId, peer: Peer, room: u64, faults: Random, dialogue: usize) -> Self {
        Self {
            conn,
            peer,
            faults,
            dialogue,
            state: Connect::Pending,
            pipe: Pipe::default(),
            readable: 0,
            read: 0,
            room,
            writable: false,
            fin: News::Nothing,
            rst: News::Nothing,
            queued: false,
        }
    }

    /// Something from the server has arrived. What a reset has overtaken is lost; what had arrived before it
    /// can still be read, as on Linux.
    pub(super) fn hear(&mut self, effect: Effect) {
        if self.rst != News::Nothing {
            return;
        }
        match effect {
            Effect::Segment(bytes) => self.readable += bytes,
            Effect::Fin => self.fin = News::Fresh,
            Effect::Rst => self.rst = News::Fresh,
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
        if self.fin == News::Fresh {
            self.fin = News::Told;
            return Look::Input(Input::Eof);
        }
        if self.rst == News::Fresh {
            self.rst = News::Told;
            // Behind the end of the stream a reset is that end once more.
            return Look::Input(match self.fin {
                News::Nothing => Input::Failed(Errno::CONNRESET.raw_os_error()),
                _ => Input::Eof,
            });
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

    /// How many of so many bytes the kernel takes, and when it takes more, in nanoseconds from now: it takes
    /// none at all from then on if the server's end is full.
    pub(super) fn write(&mut self, faults: &Faults, bytes: usize) -> Result<(usize, Option<Nanos>), Errno> {
        match self.rst {
            News::Nothing => {}
            News::Fresh if self.fin == News::Nothing => {
                self.rst = News::Told;
                return Err(Errno::CONNRESET);
            }
            News::Fresh | News::Told => return Err(Errno::PIPE),
        }
        let room = self.room.min(bytes as u64);
        let short = self.faults.chance(faults.short_write);
        let taken = if short { self.faults.below(room) } else { room };
        self.room -= taken;
        let again = (taken < room).then(|| self.faults.scale(&(1..=1_000_000)));
        Ok((taken as usize, again))
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
            Socket::new(ConnId::NONE, Peer::new(&server, None, Random::new(1), link), 100, Random::new(1), 0);
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
    fn what_has_arrived_before_a_reset_is_read_and_the_rest_is_lost() {
        let mut socket = socket();
        socket.hear(Effect::Rst);
        socket.hear(Effect::Segment(5));
        socket.hear(Effect::Fin);
        assert_eq!(told(&mut socket), ["1000 bytes", "Failed(104)"]);
        assert_eq!(socket.write(&Faults::default(), 5), Err(Errno::PIPE));
    }

    #[test]
    fn a_kernel_takes_more_later_unless_the_other_end_is_full() {
        let short = Faults { short_write: 1000, ..Faults::default() };
        let mut socket = socket();
        let (taken, again) = socket.write(&short, 90).expect("no error");
        assert!(taken < 90 && again.is_some());
        let (rest, again) = socket.write(&Faults::default(), 200).expect("no error");
        assert_eq!((taken + rest, again), (100, None));
        assert_eq!(socket.write(&Faults::default(), 5), Ok((0, None)));
    }

    #[test]
    fn a_write_on_a_broken_connection_tells_of_it() {
        let mut socket = socket();
        socket.hear(Effect::Rst);
        assert_eq!(socket.write(&Faults::default(), 5), Err(Errno::CONNRESET));
        assert_eq!(socket.write(&Faults::default(), 5), Err(Errno::PIPE));
        assert_eq!(told(&mut socket), ["1000 bytes"]);
    }

    #[test]
    fn the_end_of_the_stream_comes_after_all_bytes_and_again_with_a_reset() {
        let mut socket = socket();
        socket.hear(Effect::Fin);
        socket.writable = true;
        assert_eq!(told(&mut socket), ["Writable", "1000 bytes", "Eof"]);
        assert_eq!(socket.write(&Faults::default(), 5), Ok((5, None)));
        socket.hear(Effect::Rst);
        assert_eq!(socket.write(&Faults::default(), 5), Err(Errno::PIPE));
        assert_eq!(told(&mut socket), ["Eof"]);
    }
}
