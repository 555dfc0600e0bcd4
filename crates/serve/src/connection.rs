//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::counters::Counters;
use crate::message::{Body, Call, End, Reply};
use crate::routes;
use crate::tally::Tally;
use crate::timer::Timer;
use crate::tls::Handshaker;

/// What the connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) started: Instant,
    pub(crate) counters: Arc<Counters>,
    pub(crate) timer: Timer,
    /// There is one if the server speaks TLS.
    pub(crate) tls: Option<Handshaker>,
}

/// Shakes hands if need be, then answers what comes until either side closes. Once told to
/// `finish`, the reply in progress is the last one. How the connection ended is of no interest:
/// clients reset, and may.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>, mut finish: watch::Receiver<()>) {
    let stream = Tally::new(stream, Arc::clone(&shared.counters));
    let Some(tls) = &shared.tls else { return answer_all(stream, &shared, finish).await };
    let shaken = tokio::select! {
        shaken = tls.shake(stream, &shared.counters) => shaken,
        _ = finish.changed() => None,
    };
    if let Some(stream) = shaken {
        answer_all(stream, &shared, finish).await;
    }
}

async fn answer_all<S>(stream: S, shared: &Arc<Shared>, mut finish: watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let last = AtomicBool::new(false);
    let service = service_fn(|request| answer(request, Arc::clone(shared), &last));
    let mut connection = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    let mut serving = poll_fn(|context| {
        let ended = connection.as_mut().poll(context);
        if ended.is_ready() || !last.load(Relaxed) {
            return ended;
        }
        // The head of the last reply is written by now, so nothing in it will announce this.
        connection.as_mut().graceful_shutdown();
        connection.as_mut().poll(context)
    });
    tokio::select! {
        _ = &mut serving => return,
        _ = finish.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Why a connection ends before its time.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("the request did not come whole")]
    Request(#[from] hyper::Error),
    #[error("the path closes the connection")]
    Path,
}

/// Sets `last` if nothing may follow its reply. Fails only with the connection: hyper closes it and
/// says nothing.
async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    last: &AtomicBool,
) -> Result<Response<Counted>, Broken> {
    // What came in one piece with the request before it.
    if last.load(Relaxed) {
        return Err(Broken::Path);
    }
    let bodiless = request.method() == Method::HEAD;
    // The request is gone before the wait: thousands may be waiting.
    let reply = take_up(request, &shared).await?;
    if let Some(at) = reply.not_before {
        shared.timer.until(at).await;
    }
    match reply.end {
        End::Agreed => {}
        End::Behind => last.store(true, Relaxed),
        End::Instead => return Err(Broken::Path),
    }
    Ok(reply.response.map(|body| Counted { body, bodiless, shared }))
}

/// Reads the request to its end and asks its route.
async fn take_up(request: Request<Incoming>, shared: &Shared) -> Result<Reply, hyper::Error> {
    let arrived = Instant::now();
    let serial = shared.counters.arrive();
    let (head, mut incoming) = request.into_parts();
    let (route, argument) = routes::find(head.uri.path());
    let (mut body, mut body_bytes) = (Vec::new(), 0);
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        shared.counters.take_in(data.len());
        body_bytes += data.len() as u64;
        let room = route.keep - body.len();
        body.extend_from_slice(&data[..data.len().min(room)]);
    }
    let started = shared.started;
    let counts = shared.counters.counts();
    Ok(route.answer(&Call {
        head: &head,
        argument,
        body: &body,
        body_bytes,
        arrived,
        started,
        serial,
        counts,
    }))
}

/// A body that counts its reply when hyper lets go of it after the last byte. hyper does that
/// before it flushes, so the count is never behind what a client has seen.
struct Counted {
    body: Body,
    /// The reply goes out without the body.
    bodiless: bool,
    shared: Arc<Shared>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.bodiless || self.body.is_spent() {
            self.shared.counters.serve();
        }
    }
}

impl hyper::body::Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
