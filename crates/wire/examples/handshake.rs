//! What TLS costs the client: CPU time of a handshake and of a small exchange, memory of an idle connection.
//!
//! `cargo run --release -p httperf-wire --example handshake -- 2000`. The server is rustls's, in the same
//! thread; both take turns in batches, so that only the client's turns are counted. Linux only: the figures
//! are the scheduler's (`schedstat`, all time on a CPU; there are next to no system calls in it) and the
//! kernel's (`statm`).

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::{Read, Write};
use std::sync::Arc;

use httperf_wire::{CertificateDer, Tickets, Tls, TlsClient, TlsSpec, TlsVersions, Verify};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

const BATCH: usize = 100;
const PAGE: usize = 4096;
const REPLY: usize = 300;
/// Requests on a connection: one would be lost between two ticks of the scheduler's clock.
const EXCHANGES: usize = 50;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let times = std::env::args().nth(1).and_then(|times| times.parse().ok()).unwrap_or(2000);
    // None is dropped, so that the next ones find no memory to use again.
    let mut idle = Vec::new();
    for rsa in [false, true] {
        println!("server's key: {}", if rsa { "RSA 2048" } else { "P-256" });
        let (server, root) = server(rsa)?;
        for versions in [TlsVersions::Tls13, TlsVersions::Tls12] {
            for verify in [Verify::No, Verify::Roots(vec![root.clone()])] {
                let client = TlsClient::new(&TlsSpec { versions, verify, ..TlsSpec::new("localhost") })?;
                measure(&client, &server, versions, times, &mut idle)?;
            }
        }
    }
    Ok(())
}

fn measure(
    client: &TlsClient,
    server: &Arc<ServerConfig>,
    versions: TlsVersions,
    times: usize,
    idle: &mut Vec<Tls>,
) -> Outcome<()> {
    let mut full = 0;
    batch(client, server, &[], &mut full)?;
    full = 0;
    let mut exchanges = 0;
    let mut first = None;
    for _ in 0..times / BATCH {
        let pairs = batch(client, server, &[], &mut full)?;
        exchanges += exchange(pairs, idle)?;
        if first.is_none() {
            first = Some((pages()?, idle.len()));
        }
    }
    let (resident, count) = first.ok_or("no handshakes")?;
    let bytes = (pages()? - resident) * PAGE / (idle.len() - count).max(1);
    let mut resumed = 0;
    for _ in 0..times / BATCH {
        let tickets: Vec<_> = (0..BATCH).map(|_| client.tickets()).collect();
        batch(client, server, &tickets, &mut 0)?;
        let pairs = batch(client, server, &tickets, &mut resumed)?;
        let resumptions = pairs.iter().filter(|(tls, _)| tls.facts().is_some_and(|facts| facts.resumed));
        assert_eq!(resumptions.count(), BATCH);
    }
    let us = |ns: u64| ns as f64 / 1000.0 / times as f64;
    println!(
        "{versions:?} {}: full {:.1} us, resumed {:.1} us, request and reply of {REPLY} bytes {:.2} us, idle {bytes} bytes",
        if client.is_verified() { "verified" } else { "unverified" },
        us(full),
        us(resumed),
        us(exchanges) / EXCHANGES as f64,
    );
    Ok(())
}

/// Shakes hands on one connection for each of the tickets (or on `BATCH`); adds the client's time on a CPU.
fn batch(
    client: &TlsClient,
    config: &Arc<ServerConfig>,
    tickets: &[Tickets],
    spent: &mut u64,
) -> Outcome<Vec<(Tls, ServerConnection)>> {
    let begin = cpu()?;
    let clients: Result<Vec<_>, _> = (0..BATCH).map(|i| client.connect(tickets.get(i))).collect();
    *spent += cpu()? - begin;
    let mut pairs = Vec::new();
    for tls in clients? {
        pairs.push((tls, ServerConnection::new(config.clone())?));
    }
    let mut plain = Vec::new();
    loop {
        let mut flights = Vec::new();
        for (tls, server) in &mut pairs {
            flights.push(serve(tls, server)?);
        }
        if flights.iter().all(Vec::is_empty) {
            return Ok(pairs);
        }
        let begin = cpu()?;
        for ((tls, _), flight) in pairs.iter_mut().zip(&flights) {
            tls.receive(flight, &mut plain)?;
        }
        *spent += cpu()? - begin;
    }
}

/// Requests and replies on each connection; the client's time, and the clients.
fn exchange(mut pairs: Vec<(Tls, ServerConnection)>, idle: &mut Vec<Tls>) -> Outcome<u64> {
    let mut spent = 0;
    let mut plain = Vec::new();
    let begin = cpu()?;
    for (tls, _) in &mut pairs {
        for _ in 0..EXCHANGES {
            tls.encrypt(&[b'r'; 100])?;
        }
    }
    spent += cpu()? - begin;
    // One reply a call of `receive`, as it comes on a connection that waits for each.
    let mut replies = Vec::new();
    for (tls, server) in &mut pairs {
        serve(tls, server)?;
        let mut of_this = Vec::new();
        for _ in 0..EXCHANGES {
            server.writer().write_all(&[b'a'; REPLY])?;
            of_this.push(serve(tls, server)?);
        }
        replies.push(of_this);
    }
    let begin = cpu()?;
    for ((tls, _), replies) in pairs.iter_mut().zip(&replies) {
        for reply in replies {
            plain.clear();
            tls.receive(reply, &mut plain)?;
        }
    }
    spent += cpu()? - begin;
    idle.extend(pairs.into_iter().map(|(tls, _)| tls));
    Ok(spent)
}

/// The server takes what is outgoing; what it says to it.
fn serve(tls: &mut Tls, server: &mut ServerConnection) -> Outcome<Vec<u8>> {
    let mut rest = tls.outgoing();
    while !rest.is_empty() {
        server.read_tls(&mut rest)?;
        let state = server.process_new_packets()?;
        server.reader().read_exact(&mut vec![0; state.plaintext_bytes_to_read()])?;
    }
    tls.sent(tls.outgoing().len());
    let mut flight = Vec::new();
    while server.wants_write() {
        server.write_tls(&mut flight)?;
    }
    Ok(flight)
}

fn server(rsa: bool) -> Outcome<(Arc<ServerConfig>, CertificateDer<'static>)> {
    let key = || {
        if rsa { rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256) } else { rcgen::KeyPair::generate() }
    };
    let (root_key, leaf_key) = (key()?, key()?);
    let mut params = rcgen::CertificateParams::new(Vec::new())?;
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = params.self_signed(&root_key)?;
    let issuer = rcgen::Issuer::new(params, root_key);
    let leaf = rcgen::CertificateParams::new(["localhost".to_owned()])?.signed_by(&leaf_key, &issuer)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::try_from(leaf_key.serialize_der())?)?;
    config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;
    Ok((Arc::new(config), root.der().clone()))
}

/// Nanoseconds this thread has been on a CPU. Brought up to date at every tick, so a single batch is read
/// coarsely.
fn cpu() -> Outcome<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().ok_or("schedstat is empty")?.parse()?)
}

/// Resident pages of the process.
fn pages() -> Outcome<usize> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    Ok(text.split(' ').nth(1).ok_or("statm is too short")?.parse()?)
}
