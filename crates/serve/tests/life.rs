//! Connections from open to close, and the server from start to stop.

mod client;

use std::io::Read;
use std::net::{Ipv6Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use client::{Client, config, server, until};
use httperf_serve::{Config, ServeError, Server};

#[test]
fn connections_are_kept() {
    let server = server();
    let mut client = Client::connect(&server);
    for done in 1..=100 {
        assert_eq!(client.get("/").status, 200);
        assert_eq!(server.served(), done);
    }
    assert_eq!(server.counts().arrived, 100);
}

#[test]
fn http_1_0_is_kept_if_it_asks_and_closed_if_not() {
    let server = server();
    let mut client = Client::connect(&server);
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(client.reply().field("connection"), Some("keep-alive"));
    client.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(client.reply().body.len(), 65);
    client.assert_closed();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = server();
    let mut client = Client::connect(&server);
    let targets = ["/bytes/1", "/delay/3ms", "/bytes/200000", "/status/404", "/bytes/5", "/close"];
    client.send(targets.map(|target| format!("GET {target} HTTP/1.1\r\nHost: t\r\n\r\n")).concat());
    let replies = targets.map(|_| client.reply());
    assert_eq!(replies.each_ref().map(|reply| reply.status), [200, 200, 200, 404, 200, 200]);
    assert_eq!([0, 2, 4].map(|reply| replies[reply].body.len()), [1, 200_000, 5]);
    client.assert_closed();
}

#[test]
fn a_head_that_comes_byte_by_byte_is_understood() {
    let server = server();
    let mut client = Client::connect(&server);
    for byte in b"GET /bytes/7 HTTP/1.1\r\nHost: t\r\n\r\n" {
        client.send([*byte]);
    }
    assert_eq!(client.reply().body.len(), 7);
}

#[test]
fn nonsense_and_vanishing_clients_do_not_disturb_the_others() {
    let server = server();
    let mut steady = Client::connect(&server);
    for bytes in [
        "\0\x01\x02\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET",
        "",
        "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab",
    ] {
        Client::connect(&server).send(bytes);
        assert_eq!(steady.get("/").status, 200);
    }
    // Closed with data unread: the server gets a reset in the middle of its reply.
    let mut rude = Client::connect(&server);
    rude.send("GET /bytes/1GiB HTTP/1.1\r\nHost: t\r\n\r\n");
    rude.exactly(1000);
    drop(rude);
    assert_eq!(steady.get("/").status, 200);
}

#[test]
fn a_slow_reader_gets_all_of_the_last_reply() {
    let server = server();
    let mut client = Client::connect(&server);
    client.send("GET /bytes/20MiB HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    let head = client.head();
    assert_eq!(head.field("content-length"), Some("20971520"));
    assert_eq!(client.rest().len(), 20 << 20);
}

#[test]
fn several_threads_serve_as_one_does() {
    let server = Server::start(Config { threads: 3, ..config() }).unwrap();
    let mut clients: Vec<_> = (0..50).map(|_| Client::connect(&server)).collect();
    for target in ["/delay/1ms", "/bytes/100000", "/stall?on=1ms&every=2ms"] {
        for client in &mut clients {
            client.send(format!("GET {target} HTTP/1.1\r\nHost: t\r\n\r\n"));
        }
        for client in &mut clients {
            assert_eq!(client.reply().status, 200);
        }
    }
    assert_eq!(server.stop().served, 150);
}

#[test]
fn it_listens_on_ipv6() {
    let listen = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    // A machine without IPv6 has nothing to test.
    if std::net::TcpListener::bind(listen).is_err() {
        return;
    }
    let server = Server::start(Config { listen, ..config() }).unwrap();
    assert!(server.address().is_ipv6());
    assert_eq!(Client::connect(&server).get("/").status, 200);
}

#[test]
fn an_address_in_use_is_an_error_that_names_it() {
    let first = server();
    let error = Server::start(Config { listen: first.address(), ..config() }).unwrap_err();
    assert_eq!(error.to_string(), format!("listen on {}", first.address()));
    assert!(
        matches!(error, ServeError::Listen { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse)
    );
}

#[test]
fn an_address_is_free_again_after_a_stop() {
    let first = server();
    let listen = first.address();
    let mut client = Client::connect(&first);
    client.get("/");
    // The server closes first, so its side is the one in TIME_WAIT.
    first.stop();
    client.assert_closed();
    drop(client);
    let second = Server::start(Config { listen, ..config() }).unwrap();
    assert_eq!(Client::connect(&second).get("/").status, 200);
}

#[test]
fn a_stop_closes_idle_connections_and_finishes_replies_in_progress() {
    let server = Server::start(Config { grace: Duration::from_secs(60), ..config() }).unwrap();
    let mut fresh = Client::connect(&server);
    let mut idle = Client::connect(&server);
    idle.get("/");
    let (mut late, mut large) = (Client::connect(&server), Client::connect(&server));
    late.send("GET /delay/300ms HTTP/1.1\r\nHost: t\r\n\r\n");
    large.send("GET /bytes/20MiB HTTP/1.1\r\nHost: t\r\n\r\n");
    large.head();
    // Once both are known to have arrived the stop must let them finish.
    until(|| server.counts().arrived == 3);
    let address = server.address();
    let stopping = thread::spawn(move || server.stop());
    fresh.assert_closed();
    idle.assert_closed();
    assert!(TcpStream::connect(address).is_err());
    assert_eq!(late.reply().text(), "late\n");
    late.assert_closed();
    assert_eq!(large.rest().len(), 20 << 20);
    assert_eq!(stopping.join().unwrap().served, 3);
}

#[test]
fn what_does_not_finish_within_the_grace_is_cut_off() {
    let server = Server::start(Config { grace: Duration::from_millis(20), ..config() }).unwrap();
    let mut client = Client::connect(&server);
    client.send("GET /delay/1000s HTTP/1.1\r\nHost: t\r\n\r\n");
    until(|| server.counts().arrived == 1);
    let counts = server.stop();
    client.assert_closed();
    assert_eq!((counts.arrived, counts.served), (1, 0));
}

#[test]
fn a_server_that_is_dropped_is_gone() {
    let server = server();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    drop(server);
    // A connection never accepted is reset, an accepted one closed.
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn a_server_starts_and_stops_inside_another_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { server().stop() });
}
