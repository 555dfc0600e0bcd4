//! The driver on the Linux kernel: one epoll set and one timer per loop.
//!
//! A socket is registered once, edge-triggered, for everything; its id travels in the event. A short read
//! ends reading unless the event said that the peer has closed. Body bytes nobody wants are thrown away in
//! the kernel (`MSG_TRUNC`). The next due time is an absolute timer in the set, armed a little early
//! ([`pace`]); the rest of the time is polled away.

mod pace;
mod rotation;
mod socket;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_gettime, timerfd_create,
    timerfd_settime,
};

use crate::core::Core;
use crate::driver::{Completion, Driver, Input, Load, Stop, Transmit};
use crate::object::ConnId;
use crate::scenario::Share;
use crate::time::{Nanos, Time};
use pace::Pace;
use socket::Sockets;

/// Events taken from the kernel at once.
const BATCH: usize = 512;
/// Bytes read at once.
const READ: usize = 64 * 1024;
/// Bytes thrown away at once. The kernel does not touch the buffer then, so that its pages cost nothing.
const DISCARD: usize = 4 << 20;
/// Bytes read from one connection before the others have their turn.
const FAIR: usize = 256 * 1024;
/// A byte thrown away costs so many times less than one that is read.
const DISCARD_COST: usize = 16;
/// Ports of our own choice that are tried for one connection.
const HOG_TRIES: u32 = 1024;
/// A wait that returns sooner has not waited.
const WAITED: Nanos = 3_000;

/// What each request for a snapshot adds to the word of a stop signal.
const SNAPSHOT: u32 = 4;

/// Event data of the timer and of the stop signal: ids that no connection has.
const TIMER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

/// Why a driver could not be made.
#[derive(Debug, thiserror::Error)]
#[error("failed to set up the event loop: {0}")]
pub struct EpollError(#[from] io::Error);

/// Ends the run of one driver from another thread.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<StopSignal>);

#[derive(Debug)]
struct StopSignal {
    /// Below `SNAPSHOT` who has asked for the end, 0 if nobody; above how often somebody has asked for a
    /// snapshot.
    asked: AtomicU32,
    event: OwnedFd,
}

impl StopHandle {
    /// A handle for one driver.
    ///
    /// # Errors
    /// When the kernel refuses the descriptor it needs.
    pub fn new() -> Result<Self, EpollError> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).map_err(io::Error::from)?;
        Ok(Self(Arc::new(StopSignal { asked: AtomicU32::new(0), event })))
    }

    /// Asks the loop to end. The first reason stands.
    pub fn stop(&self, why: Stop) {
        let code = match why {
            Stop::Interrupted => 1,
            Stop::Terminated => 2,
            Stop::Error => 3,
        };
        let first = |asked| (asked % SNAPSHOT == 0).then_some(asked + code);
        let _ = self.0.asked.fetch_update(Ordering::AcqRel, Ordering::Acquire, first);
        self.wake();
    }

    /// Asks the loop to show how far it has come.
    pub fn snapshot(&self) {
        self.0.asked.fetch_add(SNAPSHOT, Ordering::AcqRel);
        self.wake();
    }

    fn wake(&self) {
        // The counter of an eventfd overflows only after 2^64 - 2 writes: nothing to handle.
        let _ = rustix::io::write(&self.0.event, &1_u64.to_ne_bytes());
    }

    /// Who has asked for the end, if anybody.
    pub fn asked(&self) -> Option<Stop> {
        match self.0.asked.load(Ordering::Acquire) % SNAPSHOT {
            1 => Some(Stop::Interrupted),
            2 => Some(Stop::Terminated),
            3 => Some(Stop::Error),
            _ => None,
        }
    }
}

/// The driver on epoll.
pub struct Epoll {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// What the timer is set to.
    armed: Time,
    stop: StopHandle,
    /// What of the stop signal has been told.
    told: u32,
    sockets: Sockets,
    slots: Vec<Slot>,
    batch: Vec<epoll::Event>,
    /// The next event of the batch to be looked at.
    position: usize,
    /// The event that is being worked on.
    current: Option<Ready>,
    /// Connections left readable on purpose; the first `due_ready` of them belong to this turn.
    ready: VecDeque<Ready>,
    due_ready: usize,
    /// Connections that failed at once; the first `due_late` of them belong to this turn. They are never told
    /// at once: each may be followed by another one, and nothing else would have its turn.
    late: VecDeque<Completion<'static>>,
    due_late: usize,
    buffer: Vec<u8>,
    pace: Pace,
    began: Time,
    load: Load,
}

/// What the driver knows of one socket.
#[derive(Default)]
struct Slot {
    conn: Option<ConnId>,
    socket: Option<OwnedFd>,
    connected: bool,
    /// The kernel did not take all bytes.
    full: bool,
    port: Option<u16>,
}

/// A connection with something to read or to be told.
#[derive(Clone, Copy)]
struct Ready {
    conn: ConnId,
    flags: EventFlags,
    read: usize,
}

impl Epoll {
    /// A driver for the loop that runs this share and ends when `stop` says so.
    ///
    /// # Errors
    /// When the kernel refuses the descriptors it needs.
    pub fn new(share: Share, stop: StopHandle) -> Result<Self, EpollError> {
        let make = || -> io::Result<Self> {
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let timer =
                timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
            epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN | EventFlags::ET)?;
            epoll::add(&epoll, &stop.0.event, EventData::new_u64(STOP), EventFlags::IN)?;
            let mut driver = Self {
                epoll,
                timer,
                armed: Time::NEVER,
                stop,
                told: 0,
                sockets: Sockets::new(share),
                slots: Vec::new(),
                batch: Vec::with_capacity(BATCH),
                position: 0,
                current: None,
                ready: VecDeque::new(),
                due_ready: 0,
                late: VecDeque::new(),
                due_late: 0,
                buffer: vec![0; DISCARD],
                pace: Pace::new(),
                began: Time::default(),
                load: Load::default(),
            };
            driver.began = driver.now();
            Ok(driver)
        };
        Ok(make()?)
    }

    /// What ends the run of this driver.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Takes a batch from the kernel.
    fn poll(&mut self, timeout: Option<&Timespec>) -> io::Result<()> {
        self.batch.clear();
        self.position = 0;
        match epoll::wait(&self.epoll, spare_capacity(&mut self.batch), timeout) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether the batch holds anything but the timer.
    fn has_news(&self) -> bool {
        self.batch.iter().any(|event| event.data.u64() != TIMER)
    }

    fn arm(&mut self, at: Time) -> io::Result<()> {
        if self.armed == at {
            return Ok(());
        }
        self.armed = at;
        let value =
            Timespec { tv_sec: (at.0 / 1_000_000_000) as i64, tv_nsec: (at.0 % 1_000_000_000) as i64 };
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        timerfd_settime(
            &self.timer,
            TimerfdTimerFlags::ABSTIME,
            &Itimerspec { it_interval: once, it_value: value },
        )?;
        Ok(())
    }

    /// Sleeps until something happens or `until`, and polls the last stretch before it.
    fn sleep(&mut self, until: Time, now: Time) -> io::Result<()> {
        if until == Time::NEVER {
            return self.poll(None);
        }
        let margin = self.pace.margin(self.load.total, self.load.total - self.load.idle);
        let wake = until - margin;
        if now < wake {
            self.arm(wake)?;
            self.poll(None)?;
            let now = self.now();
            // Not the timer: a wait is interrupted when the process is stopped and continued.
            if self.has_news() || now < wake {
                return Ok(());
            }
            if margin > 0 {
                self.pace.woke(until.since(now));
            }
        }
        let began = self.now();
        let mut now = began;
        while now < until {
            self.poll(Some(&ZERO))?;
            now = self.now();
            if self.has_news() {
                break;
            }
        }
        self.pace.polled(now.since(began));
        Ok(())
    }

    /// The next event of the batch, then the connections left readable in an earlier turn.
    fn next_ready(&mut self) -> Option<Ready> {
        while let Some(event) = self.batch.get(self.position) {
            let (data, flags) = (event.data.u64(), event.flags);
            self.position += 1;
            if data != TIMER && data != STOP {
                return Some(Ready { conn: ConnId::from_bits(data), flags, read: 0 });
            }
        }
        self.due_ready = self.due_ready.checked_sub(1)?;
        self.ready.pop_front()
    }

    fn slot(&mut self, conn: ConnId) -> Option<&mut Slot> {
        self.slots.get_mut(conn.index()).filter(|slot| slot.conn == Some(conn))
    }

    fn open(
        &mut self,
        conn: ConnId,
        to: std::net::SocketAddr,
        options: &crate::scenario::SocketOptions,
    ) -> Option<Completion<'static>> {
        let mut tries = 0;
        let (socket, port, at, connected) = loop {
            let (socket, port) = match self.sockets.open(to, options) {
                Ok(made) => made,
                Err(errno) => {
                    let (at, input) = (self.now(), Input::OpenFailed(errno.raw_os_error()));
                    self.late.push_back(Completion { at, conn, input });
                    return None;
                }
            };
            let at = self.now();
            let connected = self.sockets.connect(&socket, to, options);
            // Another process has a connection from this port to that server: the port is lost for the run.
            if connected == Err(Errno::ADDRNOTAVAIL) && port.is_some() && tries < HOG_TRIES {
                tries += 1;
                continue;
            }
            break (socket, port, at, connected);
        };
        let begun = match connected {
            Ok(()) | Err(Errno::INPROGRESS) => epoll::add(
                &self.epoll,
                &socket,
                EventData::new_u64(conn.to_bits()),
                EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET,
            ),
            Err(errno) => Err(errno),
        };
        if let Err(errno) = begun {
            let (at, input) = (self.now(), Input::ConnectFailed(errno.raw_os_error()));
            self.late.push_back(Completion { at, conn, input });
        }
        if self.slots.len() <= conn.index() {
            self.slots.resize_with(conn.index() + 1, Slot::default);
        }
        self.slots[conn.index()] =
            Slot { conn: Some(conn), socket: Some(socket), connected: false, full: false, port };
        Some(Completion { at, conn, input: Input::Opened })
    }

    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> Option<Completion<'static>> {
        let mut at = self.now();
        let slot = self.slot(conn)?;
        let socket = slot.socket.as_ref()?;
        loop {
            match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    slot.full = sent < bytes.len();
                    return Some(Completion { at, conn, input: Input::Sent(sent) });
                }
                Err(Errno::AGAIN) => {
                    slot.full = true;
                    return Some(Completion { at, conn, input: Input::Sent(0) });
                }
                Err(Errno::INTR) => {}
                Err(errno) => {
                    at = self.now();
                    return Some(Completion { at, conn, input: Input::SendFailed(errno.raw_os_error()) });
                }
            }
        }
    }

    fn close(&mut self, conn: ConnId, last: &[u8]) {
        if let Some(slot) = self.slot(conn) {
            if let Some(socket) = slot.socket.as_ref().filter(|_| !last.is_empty()) {
                // A peer that has gone, or takes no more, misses a courtesy.
                let _ = rustix::net::send(socket, last, SendFlags::NOSIGNAL);
            }
            let port = std::mem::take(slot).port;
            if let Some(port) = port {
                self.sockets.free(port);
            }
        }
    }
}

const ZERO: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

impl Driver for Epoll {
    #[inline]
    fn now(&mut self) -> Time {
        let now = clock_gettime(ClockId::Monotonic);
        Time(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
    }

    fn wait(&mut self, until: Time) -> io::Result<()> {
        let before = self.now();
        self.load.total = before.since(self.began);
        self.due_ready = self.ready.len();
        self.due_late = self.late.len();
        if self.due_ready > 0 || self.due_late > 0 || until <= before {
            self.poll(Some(&ZERO))?;
        } else {
            self.sleep(until, before)?;
        }
        let now = self.now();
        let waited = now.since(before);
        self.load.idle += if waited > WAITED { waited } else { 0 };
        self.load.total = now.since(self.began);
        Ok(())
    }

    fn next(&mut self, core: &Core) -> Option<Completion<'_>> {
        let asked = self.stop.0.asked.load(Ordering::Acquire);
        if asked != self.told {
            let ends = asked % SNAPSHOT != self.told % SNAPSHOT;
            self.told = asked;
            // It was written to wake us; left as it is it would do so for ever.
            let _ = rustix::io::read(&self.stop.0.event, &mut [0; 8]);
            let input = self.stop.asked().filter(|_| ends).map_or(Input::Snapshot, Input::Stop);
            let at = self.now();
            return Some(Completion { at, conn: ConnId::NONE, input });
        }
        if self.due_late > 0 {
            self.due_late -= 1;
            return self.late.pop_front();
        }
        loop {
            let mut ready = match self.current.take() {
                Some(ready) => ready,
                None => self.next_ready()?,
            };
            let conn = ready.conn;
            let Some(slot) = self.slots.get_mut(conn.index()).filter(|slot| slot.conn == Some(conn)) else {
                continue;
            };
            let Some(socket) = slot.socket.as_ref() else { continue };
            let gone = EventFlags::HUP | EventFlags::ERR;
            if !slot.connected {
                if ready.flags.intersects(gone) {
                    let error = sockopt::socket_error(socket).unwrap_or_else(Err);
                    if let Err(errno) = error {
                        let at = self.now();
                        let input = Input::ConnectFailed(errno.raw_os_error());
                        return Some(Completion { at, conn, input });
                    }
                } else if !ready.flags.contains(EventFlags::OUT) {
                    continue;
                }
                slot.connected = true;
                ready.flags.remove(EventFlags::OUT);
                self.current = Some(ready);
                let at = self.now();
                return Some(Completion { at, conn, input: Input::Connected });
            }
            if ready.flags.contains(EventFlags::OUT) && slot.full {
                slot.full = false;
                ready.flags.remove(EventFlags::OUT);
                self.current = Some(ready);
                let at = self.now();
                return Some(Completion { at, conn, input: Input::Writable });
            }
            let closing = ready.flags.intersects(gone | EventFlags::RDHUP);
            if !closing && !ready.flags.contains(EventFlags::IN) {
                continue;
            }
            if ready.read >= FAIR {
                ready.read = 0;
                self.ready.push_back(ready);
                continue;
            }
            let discard = core.discardable(conn).min(DISCARD as u64) as usize;
            let (room, how) =
                if discard > 0 { (discard, RecvFlags::TRUNC) } else { (READ, RecvFlags::empty()) };
            let got = rustix::net::recv(socket.as_fd(), &mut self.buffer[..room], how).map(|(_, got)| got);
            let at = self.now();
            let input = match got {
                Ok(0) => Input::Eof,
                Ok(got) => {
                    let drained = got < room;
                    ready.read += if discard > 0 { got / DISCARD_COST } else { got };
                    if !drained || closing {
                        self.current = Some(ready);
                    }
                    if discard > 0 { Input::Discarded(got as u64) } else { Input::Data(&self.buffer[..got]) }
                }
                Err(Errno::AGAIN) => continue,
                Err(Errno::INTR) => {
                    self.current = Some(ready);
                    continue;
                }
                Err(errno) => Input::Failed(errno.raw_os_error()),
            };
            return Some(Completion { at, conn, input });
        }
    }

    fn submit(&mut self, transmit: Transmit<'_>) -> Option<Completion<'static>> {
        match transmit {
            Transmit::Open { conn, to, options, .. } => self.open(conn, to, options),
            Transmit::Write { conn, bytes } => self.write(conn, bytes),
            Transmit::Close { conn, last } => {
                self.close(conn, last);
                None
            }
        }
    }

    fn behind(&self) -> bool {
        self.batch.len() == BATCH || !self.ready.is_empty()
    }

    fn load(&self) -> Load {
        self.load
    }
}
