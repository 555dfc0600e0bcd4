//! A server that runs out of descriptors. A program of its own: the limit holds for the process.

mod client;

use std::io::Write;
use std::net::TcpStream;

use client::{Client, server, until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn a_server_out_of_descriptors_waits_for_some() {
    let server = server();
    Client::connect(&server).get("/");
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).unwrap();

    // Both ends are in this process, so in the end neither side has a descriptor left. Linux
    // refuses an accept in want of one even when no connection is pending.
    let mut streams = Vec::new();
    while let Ok(stream) = TcpStream::connect(server.address()) {
        streams.push(stream);
    }
    until(|| server.counts().accept_failures > 0);
    setrlimit(Resource::Nofile, limit).unwrap();

    for stream in &mut streams {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n").unwrap();
    }
    until(|| server.served() == 1 + streams.len() as u64);
}
