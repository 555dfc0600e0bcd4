//! A running server: its threads, its listening socket, its end.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc as blocking};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::connection::{self, Shared};
use crate::counters::{Counters, Counts};
use crate::timer::Timer;
use crate::tls::{Handshaker, Tls, TlsError};

/// What a server is told at its start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen. Port 0 takes a free one, see [`Server::address`]. Default 127.0.0.1:8080.
    pub listen: SocketAddr,
    /// Threads that serve connections; 0 counts as 1. Default 1.
    pub threads: usize,
    /// How long replies in progress may take to finish once the server is asked to stop. Default
    /// 2 s.
    pub grace: Duration,
    /// Speak HTTPS, and nothing else, in place of HTTP. Default `None`.
    pub tls: Option<Tls>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            threads: 1,
            grace: Duration::from_secs(2),
            tls: None,
        }
    }
}

/// Why a server did not start. The messages complete "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be had: in use, not of this machine, or not permitted.
    #[error("listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A thread, an event queue or a timer cannot be had.
    #[error("start the server's threads")]
    Start(#[from] io::Error),
    /// The certificate cannot be had, or is no good.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A server that runs on threads of its own until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    counters: Arc<Counters>,
    /// Asks the server to stop.
    stopper: watch::Sender<()>,
    /// `None` once joined.
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens and serves. When this returns, connections are accepted.
    ///
    /// # Errors
    /// [`ServeError::Listen`] if the address cannot be had, [`ServeError::Start`] if the system
    /// gives no thread or descriptor, [`ServeError::Tls`] if there is no certificate to show.
    pub fn start(config: Config) -> Result<Server, ServeError> {
        let (stopper, asked) = watch::channel(());
        let (report, reported) = blocking::sync_channel(1);
        let counters = Arc::new(Counters::default());
        let theirs = Arc::clone(&counters);
        // The runtime lives and ends on a thread of its own, so that a caller may itself be inside
        // a runtime, where it could neither block on this one nor drop it.
        let thread = std::thread::Builder::new()
            .name("serve".into())
            .spawn(move || run(&config, theirs, asked, &report))?;
        let address =
            reported.recv().unwrap_or_else(|gone| Err(ServeError::Start(io::Error::other(gone))))?;
        Ok(Server { address, counters, stopper, thread: Some(thread) })
    }

    /// The address it listens on, with the port it really has.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replies finished so far, see [`Counts::served`].
    pub fn served(&self) -> u64 {
        self.counters.served()
    }

    /// All that is counted so far.
    pub fn counts(&self) -> Counts {
        self.counters.counts()
    }

    /// Stops the server and returns what it counted. No connection is accepted from now on; those
    /// without a request in progress are closed; replies in progress get the time of
    /// [`Config::grace`], then they are cut off. Dropping a server does the same.
    pub fn stop(mut self) -> Counts {
        self.end();
        self.counts()
    }

    fn end(&mut self) {
        self.stopper.send_replace(());
        if let Some(thread) = self.thread.take() {
            // If it panicked, the panic hook has said so; there is nothing left to stop.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// The life of the server's thread. Where it listens, or why not, is told once through `report`.
fn run(
    config: &Config,
    counters: Arc<Counters>,
    stop: watch::Receiver<()>,
    report: &blocking::SyncSender<Result<SocketAddr, ServeError>>,
) {
    let (opened, result) = match open(config, counters) {
        Ok((opened, address)) => (Some(opened), Ok(address)),
        Err(error) => (None, Err(error)),
    };
    // `start` waits for it; if that ever failed, its end of `stop` is gone as well.
    let _ = report.send(result);
    let Some((runtime, listener, shared)) = opened else { return };
    // As a task, because with several threads this one is none of those that serve.
    let serving = runtime.spawn(serve_all(listener, shared, stop, config.grace));
    let _ = runtime.block_on(serving);
    // Dropping the runtime drops the connections that are still open.
}

type Opened = (Runtime, TcpListener, Arc<Shared>);

fn open(config: &Config, counters: Arc<Counters>) -> Result<(Opened, SocketAddr), ServeError> {
    let tls = config.tls.as_ref().map(Handshaker::new).transpose()?;
    let runtime = runtime(config.threads)?;
    // The socket and the timer belong to the runtime they are made in.
    let inside = runtime.enter();
    let (listener, address) =
        listen(config.listen).map_err(|source| ServeError::Listen { address: config.listen, source })?;
    let shared = Arc::new(Shared { started: Instant::now(), counters, timer: Timer::new()?, tls });
    drop(inside);
    Ok(((runtime, listener, shared), address))
}

fn runtime(threads: usize) -> io::Result<Runtime> {
    let mut builder = if threads <= 1 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    // tidy: allow(glossary): tokio calls its threads so.
    builder.worker_threads(threads.max(1)).thread_name("serve").enable_all().build()
}

/// Pending connections the kernel may hold; it takes `net.core.somaxconn` if that is less.
const BACKLOG: u32 = 16_384;

/// Where to look for a port when the kernel has none: below those it gives to connections. After a minute of
/// load all of these may be in TIME_WAIT.
const SPARE_PORTS: std::ops::Range<u16> = 20_000..21_000;

/// Listens on the address; port 0 takes a free one.
fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let mut listening = listen_on(address);
    if address.port() == 0 {
        for port in SPARE_PORTS {
            match &listening {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                _ => break,
            }
            listening = listen_on(SocketAddr::new(address.ip(), port));
        }
    }
    listening
}

fn listen_on(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    // On Linux accepted sockets inherit it, which saves a system call for each.
    socket.set_nodelay(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Accepts until asked to stop, then waits for the connections, at most `grace`.
async fn serve_all(
    listener: TcpListener,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<()>,
    grace: Duration,
) {
    let ticking = Arc::clone(&shared);
    tokio::spawn(async move { ticking.timer.run().await });
    // Every connection holds a receiver: `finish` tells them to, and is closed when all are gone.
    let finish = watch::Sender::new(());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                shared.counters.accept();
                tokio::spawn(connection::serve(stream, Arc::clone(&shared), finish.subscribe()));
            }
            Err(error) => {
                shared.counters.fail_to_accept();
                // A client that is gone already says nothing about the next one. All else, like
                // being out of descriptors, stays true for a while: the socket stays readable, so
                // trying again at once would spin.
                if error.kind() != io::ErrorKind::ConnectionAborted {
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
    // In this order: a client whose connection was closed finds nobody listening.
    drop(listener);
    finish.send_replace(());
    let _ = tokio::time::timeout(grace, finish.closed()).await;
}

/// How long to leave the listening socket alone after a failure.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_connections_send_without_delay() {
        runtime(1).unwrap().block_on(async {
            let (listener, address) = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
            let _client = std::net::TcpStream::connect(address).unwrap();
            let (accepted, _) = listener.accept().await.unwrap();
            assert!(accepted.nodelay().unwrap());
        });
    }
}
