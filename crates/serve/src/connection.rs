//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::counters::Counters;
use crate::message::{Body, Call, Reply};
use crate::routes;
use crate::timer::Timer;

/// What the connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) started: Instant,
    pub(crate) counters: Arc<Counters>,
    pub(crate) timer: Timer,
}

/// Answers what comes until either side closes. Once told to `finish`, the reply in progress is
/// the last one. How the connection ended is of no interest: clients reset, and may.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>, mut finish: watch::Receiver<()>) {
    let service = service_fn(|request| answer(request, Arc::clone(&shared)));
    let mut connection = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = finish.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Fails only with the connection.
async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Counted>, hyper::Error> {
    let bodiless = request.method() == Method::HEAD;
    // The request is gone before the wait: thousands may be waiting.
    let reply = take_up(request, &shared).await?;
    if let Some(at) = reply.not_before {
        shared.timer.until(at).await;
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
    Ok(route.answer(&Call { head: &head, argument, body: &body, body_bytes, arrived, started, serial }))
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
