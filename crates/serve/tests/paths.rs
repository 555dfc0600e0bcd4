//! What each path answers, over a real connection.

mod client;

use std::time::{Duration, Instant};

use client::{Client, server, until};

#[test]
fn the_root_is_small() {
    let server = server();
    let reply = Client::connect(&server).get("/");
    assert_eq!((reply.status, reply.body.len()), (200, 65));
    assert!(reply.field("content-type").unwrap().starts_with("text/plain"));
}

#[test]
fn bytes_come_in_the_number_asked_for_with_their_length() {
    let server = server();
    let mut client = Client::connect(&server);
    for (target, length) in [
        ("/bytes/0", 0),
        ("/bytes/1", 1),
        ("/bytes/65536", 65_536),
        ("/bytes/65537", 65_537),
        ("/bytes/3KiB", 3072),
        ("/bytes/2MiB", 2 << 20),
    ] {
        let reply = client.get(target);
        assert_eq!((reply.status, reply.chunks), (200, None), "{target}");
        assert_eq!(reply.body.len(), length, "{target}");
    }
}

#[test]
fn a_body_larger_than_memory_is_announced_and_begun() {
    let server = server();
    let mut client = Client::connect(&server);
    client.send("GET /bytes/1024GiB HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(client.head().field("content-length"), Some("1099511627776"));
    assert!(client.exactly(1 << 20).starts_with(b"0123456789"));
    drop(client);
    assert_eq!(server.served(), 0);
}

#[test]
fn chunks_have_the_size_asked_for() {
    let server = server();
    let mut client = Client::connect(&server);
    for (target, chunks) in [
        ("/chunked/40KiB", vec![16_384, 16_384, 8192]),
        ("/chunked/250?piece=100", vec![100, 100, 50]),
        ("/chunked/3?piece=1", vec![1, 1, 1]),
        ("/chunked/64KiB?piece=64KiB", vec![65_536]),
        ("/chunked/0", vec![]),
    ] {
        let reply = client.get(target);
        assert_eq!(reply.field("content-length"), None, "{target}");
        assert_eq!(reply.body.len(), chunks.iter().sum::<usize>(), "{target}");
        assert_eq!(reply.chunks, Some(chunks), "{target}");
    }
}

#[test]
fn chunks_are_not_for_http_1_0() {
    let server = server();
    let mut client = Client::connect(&server);
    client.send("GET /chunked/100KiB HTTP/1.0\r\n\r\n");
    let reply = client.reply();
    assert_eq!((reply.chunks, reply.body.len()), (None, 100 << 10));
}

#[test]
fn a_delay_is_never_short() {
    let server = server();
    let mut client = Client::connect(&server);
    for (target, delay) in [
        ("/delay/0us", Duration::ZERO),
        ("/delay/700us", Duration::from_micros(700)),
        ("/delay/5ms", Duration::from_millis(5)),
        ("/delay/1s", Duration::from_secs(1)),
    ] {
        let sent = Instant::now();
        assert_eq!(client.get(target).status, 200);
        assert!(sent.elapsed() >= delay, "{target}");
    }
}

#[test]
fn delays_on_many_connections_pass_at_once() {
    let server = server();
    let mut clients: Vec<_> = (0..200).map(|_| Client::connect(&server)).collect();
    let sent = Instant::now();
    for client in &mut clients {
        client.send("GET /delay/300ms HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    for client in &mut clients {
        assert_eq!(client.reply().status, 200);
        assert!(sent.elapsed() >= Duration::from_millis(300));
    }
    assert_eq!(server.served(), 200);
}

#[test]
fn a_stall_holds_until_the_end_of_its_window() {
    let server = server();
    let mut client = Client::connect(&server);
    let sent = Instant::now();
    // All of every window holds, so the second request waits one whole window after the first.
    for _ in 0..2 {
        assert_eq!(client.get("/stall?on=100ms&every=100ms").status, 200);
    }
    assert!(sent.elapsed() >= Duration::from_millis(100));
    assert_eq!(client.get("/stall?on=0s").status, 200);
}

#[test]
fn a_status_is_answered_with_a_body_where_it_may_have_one() {
    let server = server();
    let mut client = Client::connect(&server);
    for status in [200, 201, 206, 301, 404, 429, 500, 503, 599, 999] {
        let reply = client.get(&format!("/status/{status}"));
        assert_eq!(reply.status, status);
        assert!(reply.text().starts_with(&status.to_string()));
    }
    for status in [204, 304] {
        let reply = client.get(&format!("/status/{status}"));
        assert_eq!((reply.status, reply.field("content-length")), (status, None));
    }
    assert_eq!(client.get("/status/205").field("content-length"), Some("0"));
    assert_eq!(client.get("/").body.len(), 65);
}

#[test]
fn close_closes() {
    let server = server();
    let mut client = Client::connect(&server);
    let reply = client.get("/close");
    assert_eq!((reply.status, reply.field("connection")), (200, Some("close")));
    client.assert_closed();
}

#[test]
fn a_working_set_answers_each_path_with_its_own_size() {
    let server = server();
    let mut client = Client::connect(&server);
    let sizes =
        ["/wset/0/1.html", "/wset/0/2.html", "/wset/0/1.html"].map(|path| client.get(path).body.len());
    assert_eq!(sizes[0], sizes[2]);
    assert_ne!(sizes[0], sizes[1]);
    assert_eq!(client.get("/wset/0/1.gif").status, 404);
}

#[test]
fn a_cookie_is_set_once_and_echoed() {
    let server = server();
    let mut client = Client::connect(&server);
    let (first, second) = (client.get("/cookie"), client.get("/cookie"));
    let fresh = first.field("set-cookie").unwrap();
    assert!(fresh.starts_with("sid=") && fresh.ends_with("; Path=/"));
    assert_ne!(Some(fresh), second.field("set-cookie"));

    let pair = fresh.split(';').next().unwrap();
    client.send(format!("GET /cookie HTTP/1.1\r\nHost: t\r\nCookie: a=b; {pair}\r\n\r\n"));
    let known = client.reply();
    assert_eq!(known.field("set-cookie"), None);
    assert_eq!(known.text(), format!("a=b; {pair}\n"));

    client.send("GET /cookie HTTP/1.1\r\nHost: t\r\nCookie: notsid=1\r\n\r\n");
    assert!(client.reply().field("set-cookie").is_some());
}

#[test]
fn a_fresh_cookie_is_a_new_one_each_time() {
    let server = server();
    let mut client = Client::connect(&server);
    assert_eq!(client.get("/cookie?fresh").field("set-cookie"), Some("sid=v1; Path=/"));
    client.send("GET /cookie?fresh HTTP/1.1\r\nHost: t\r\nCookie: sid=v1\r\n\r\n");
    let second = client.reply();
    assert_eq!((second.field("set-cookie"), second.text()), (Some("sid=v2; Path=/"), "sid=v1\n"));
}

#[test]
fn a_page_names_objects_that_are_there() {
    let server = server();
    let mut client = Client::connect(&server);
    let page = client.get("/page");
    assert!(page.field("content-type").unwrap().starts_with("text/html"));
    for (markup, target, length) in [
        ("<img src=\"/bytes/1000\"", "/bytes/1000", 1000),
        ("<img src=\"bytes/2000\"", "/bytes/2000", 2000),
        ("<img src=/bytes/3000 ", "/bytes/3000", 3000),
        ("<frame src=\"/bytes/4000\"", "/bytes/4000", 4000),
        ("<iframe src='/bytes/5000'", "/bytes/5000", 5000),
    ] {
        assert!(page.text().contains(markup), "{markup}");
        assert_eq!(client.get(target).body.len(), length);
    }
    assert!(page.text().contains("<img src=\"http://elsewhere.invalid/"));
}

#[test]
fn a_redirect_leads_to_the_page() {
    let server = server();
    let mut client = Client::connect(&server);
    let reply = client.get("/redirect");
    assert_eq!((reply.status, reply.field("location")), (302, Some("/page")));
    assert_eq!(client.get("/page").status, 200);
}

#[test]
fn every_nth_request_is_lost_with_its_connection() {
    let server = server();
    let mut client = Client::connect(&server);
    for _ in 0..2 {
        assert_eq!(client.get("/lost?every=3").text(), "not lost\n");
    }
    client.send("GET /lost?every=3 HTTP/1.1\r\nHost: t\r\n\r\n");
    client.assert_closed();
    assert_eq!(Client::connect(&server).get("/lost?every=3").status, 200);
    let counts = server.stop();
    assert_eq!((counts.connections, counts.arrived, counts.served), (2, 4, 3));
}

#[test]
fn an_idle_close_is_not_announced() {
    let server = server();
    for version in ["1.1", "1.0"] {
        let mut client = Client::connect(&server);
        let get =
            |target| format!("GET {target} HTTP/{version}\r\nHost: t\r\nConnection: keep-alive\r\n\r\n");
        client.send(get("/"));
        let kept = client.reply();
        client.send(get("/idle-close"));
        let last = client.reply();
        assert_eq!(last.status, 200);
        assert_eq!(last.field("connection"), kept.field("connection"));
        client.assert_closed();
    }
}

#[test]
fn nothing_follows_an_idle_close() {
    let server = server();
    let mut client = Client::connect(&server);
    client.send(
        ["/idle-close", "/"].map(|target| format!("GET {target} HTTP/1.1\r\nHost: t\r\n\r\n")).concat(),
    );
    assert_eq!(client.reply().text(), "closing without a word\n");
    client.assert_closed();
    assert_eq!(server.stop().arrived, 1);
}

#[test]
fn the_stats_are_what_was_counted() {
    let server = server();
    let mut client = Client::connect(&server);
    let small = client.get("/");
    client.send("POST /bytes/1000 HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nabcde");
    let sized = client.reply();
    let sent = [small, sized].iter().map(|reply| reply.head.len() + reply.body.len()).sum::<usize>();
    until(|| server.counts().sent_bytes == sent as u64);

    let reply = client.get("/stats");
    assert_eq!(reply.field("content-type"), Some("application/json"));
    let expected = serde_json::json!({
        "connections": 1, "accept_failures": 0, "requests": 3, "replies": 2, "body_bytes": 5, "sent_bytes": sent,
        "handshakes_full": 0, "handshakes_resumed": 0, "handshakes_failed": 0,
    });
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&reply.body).unwrap(), expected);
}

#[test]
fn an_echo_is_the_request() {
    let server = server();
    let mut client = Client::connect(&server);
    client.send("PUT /echo?a=%20b HTTP/1.1\r\nHost: t\r\nX-Y: 1\r\nContent-Length: 4\r\n\r\nbody");
    let expected = "PUT /echo?a=%20b HTTP/1.1\r\nhost: t\r\nx-y: 1\r\ncontent-length: 4\r\n\r\nbody";
    assert_eq!(client.reply().text(), expected);

    client.send(
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
    );
    assert!(client.reply().text().ends_with("\r\n\r\nabc"));
}

#[test]
fn an_echo_has_a_limit() {
    let server = server();
    let mut client = Client::connect(&server);
    for (length, status) in [(1 << 20, 200), ((1 << 20) + 1, 413)] {
        client.send(format!("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: {length}\r\n\r\n"));
        client.send(vec![b'x'; length]);
        assert_eq!(client.reply().status, status);
    }
    // The rest of the large body has been read: the connection goes on.
    assert_eq!(client.get("/").status, 200);
}

#[test]
fn request_bodies_are_drained_and_counted_on_every_path() {
    let server = server();
    let mut client = Client::connect(&server);
    let length = 3 << 20;
    for target in ["/", "/bytes/10", "/delay/1ms", "/no-such-path"] {
        client.send(format!("POST {target} HTTP/1.1\r\nHost: t\r\nContent-Length: {length}\r\n\r\n"));
        client.send(vec![b'x'; length]);
        client.reply();
    }
    assert_eq!(server.counts().body_bytes, 4 * length as u64);
}

#[test]
fn a_client_that_waits_for_permission_gets_it() {
    let server = server();
    let mut client = Client::connect(&server);
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.head().status, 100);
    client.send("ok");
    assert!(client.reply().text().ends_with("\r\n\r\nok"));
}

#[test]
fn head_gets_the_fields_and_no_body() {
    let server = server();
    let mut client = Client::connect(&server);
    for (target, length) in [("/", Some("65")), ("/bytes/5MiB", Some("5242880")), ("/chunked/10", None)] {
        client.send(format!("HEAD {target} HTTP/1.1\r\nHost: t\r\n\r\n"));
        let head = client.head();
        assert_eq!((head.status, head.field("content-length")), (200, length), "{target}");
    }
    assert_eq!(client.get("/").body.len(), 65);
    assert_eq!(server.served(), 4);
}

#[test]
fn an_unknown_path_lists_those_there_are() {
    let server = server();
    let reply = Client::connect(&server).get("/no-such-path");
    assert_eq!(reply.status, 404);
    for (path, about) in httperf_serve::paths() {
        assert!(reply.text().contains(path) && reply.text().contains(about), "{path}");
    }
}

#[test]
fn a_bad_parameter_is_told_what_was_expected() {
    let server = server();
    let mut client = Client::connect(&server);
    for target in [
        "/bytes/x",
        "/chunked/1?piece=0",
        "/delay/5",
        "/stall?on=2s",
        "/status/100",
        "/status/x",
        "/lost?every=0",
    ] {
        let reply = client.get(target);
        assert_eq!(reply.status, 400, "{target}");
        assert!(reply.text().starts_with("expected "), "{target}");
    }
}
