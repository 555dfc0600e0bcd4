//! HTTPS on the command line: handshakes that fail, certificates, names, versions, resumption, ends.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../common/mod.rs"]
mod common;
mod server;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Output};

use httperf_serve::{Config, Counts, Server};
use serde_json::{Value, json};

use server::{Authority, GOOD, NAME, OK, Says, TO_END, serve};

/// Runs it with `--ssl`: what it said, and the document.
fn run(command: &mut Command) -> (Output, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let output =
        command.args(["--ssl", "--timeout", "1", "--json", file.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(report.contains("\nErrors: total "), "{report}");
    let document = common::document(&file);
    assert_eq!(document["accounting"]["conserved"], true, "{}", document["verdict"]);
    (output, document)
}

/// Two connections of one call to a port, with these options.
fn load(port: u16, more: &[&str]) -> (Output, Value) {
    run(common::load(&port.to_string()).args(["--num-conns", "2"]).args(more))
}

/// A line of complaint, before any packet.
fn refused(more: &[&str]) -> String {
    let output = common::load("1").arg("--ssl").args(more).env_remove("SSLKEYLOGFILE").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), b"".as_slice()), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_handshake_that_fails_is_counted_and_the_run_goes_on() {
    type Act = fn(&mut TcpStream);
    /// Reads the ClientHello, says this and waits for the client to go.
    fn say(stream: &mut TcpStream, bytes: &[u8]) {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(bytes);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let table: [(Act, &str, &str); 6] = [
        (|stream| say(stream, &[21, 3, 3, 0, 2, 2, 40]), "tls_handshake", "handshake_failure (40)"),
        (|stream| say(stream, b"HTTP/1.1 400 Bad Request\r\n\r\n"), "tls_handshake", "not TLS"),
        (|stream| say(stream, &[0xff; 100]), "tls_handshake", "TLS: "),
        (|stream| say(stream, b""), "handshake_timeout", "handshake_timeout"),
        // All is read, so that the end is FIN.
        (
            |stream| {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.shutdown(Shutdown::Write);
                let _ = stream.read_to_end(&mut Vec::new());
            },
            "closed_early",
            "closed_early",
        ),
        // What is unread makes the kernel reset.
        (|stream| drop(stream.read(&mut [0])), "connreset", "connreset"),
    ];
    for (act, class, message) in table {
        let (output, document) = load(serve(act), &[]);
        assert_eq!(document["errors"]["classes"], json!({class: 2}), "{message}");
        assert_eq!(document["accounting"]["connections"]["failed"], json!({class: 2}));
        assert_eq!(document["target"]["tls"]["full"], 0);
        assert_eq!(document["target"]["tls"]["version"], Value::Null);
        assert_eq!(document["latency"]["tls"]["censored"], 2);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.contains(message) && complaint.lines().count() == 1, "{complaint}");
    }
}

#[test]
fn a_certificate_is_looked_at_if_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    let authority = Authority::new("authority");
    std::fs::write(&roots, &authority.pem).unwrap();
    let options = ["--tls-server-name", NAME];
    let verify = ["--ssl-verify", "--ssl-ca-file", roots.to_str().unwrap()];
    for (leaf, complaint) in [
        (authority.sign(GOOD), None),
        (authority.sign(Says { years: (2000, 2001), ..GOOD }), Some("has expired")),
        (authority.sign(Says { years: (2090, 2100), ..GOOD }), Some("is not valid yet")),
        (authority.sign(Says { name: "other.example", ..GOOD }), Some("is for another name")),
        (authority.sign(Says { for_clients: true, ..GOOD }), Some("is not meant for a server")),
        (Authority::new("stranger").sign(GOOD), Some("has an unknown issuer")),
        (GOOD.self_signed(), Some("has an unknown issuer")),
    ] {
        let (port, _) = leaf.server(OK).start();
        let (output, document) = load(port, &[options.as_slice(), &verify].concat());
        let classes = complaint.map_or(json!({}), |_| json!({"tls_certificate": 2}));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(document["errors"]["classes"], classes, "{stderr}");
        assert!(stderr.contains(complaint.unwrap_or("")), "{stderr}");
        assert_eq!(document["target"]["tls"]["verified"], true);
        let (_, document) = load(port, &options);
        assert_eq!(document["status"], json!({"200": 2}));
        assert_eq!(document["target"]["tls"]["verified"], false);
    }
}

#[test]
fn a_folder_of_authorities_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("authority");
    let path = folder.path().to_str().unwrap();
    let verify = ["--tls-server-name", NAME, "--ssl-verify", "--ssl-ca-path", path];
    let complaint = refused(&verify);
    assert!(complaint.contains("--ssl-ca-path: there is no certificate in "), "{complaint}");
    std::fs::write(folder.path().join("one.pem"), Authority::new("stranger").pem).unwrap();
    std::fs::write(folder.path().join("two.pem"), &authority.pem).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no certificate").unwrap();
    let (port, _) = authority.sign(GOOD).server(OK).start();
    assert_eq!(load(port, &verify).1["status"], json!({"200": 2}));
}

#[test]
fn a_client_certificate_is_shown_to_who_demands_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.pem");
    let authority = Authority::new("authority");
    authority.sign(Says { for_clients: true, ..GOOD }).write(&file);
    let (port, _) = authority.sign(GOOD).server(OK).demanding(&authority).start();
    let file = file.to_str().unwrap();
    for papers in [["--ssl-certificate", file].as_slice(), &["--ssl-certificate", file, "--ssl-key", file]] {
        assert_eq!(load(port, papers).1["status"], json!({"200": 2}));
    }
    for version in ["TLSv1.2", "TLSv1.3"] {
        let (_, document) = load(port, &["--ssl-protocol", version]);
        assert_eq!((&document["status"], &document["errors"]["total"]), (&json!({}), &json!(2)));
    }
    assert!(refused(&["--ssl-key", file]).contains("--ssl-key needs --ssl-certificate"));
}

#[test]
fn versions_and_ciphers_are_those_asked_for() {
    let (port, _) = GOOD.self_signed().server(OK).start();
    for (options, version, suite) in [
        (["--ssl-protocol", "TLSv1.2"].as_slice(), "1.2", None),
        (&["--ssl-protocol", "TLSv1.3"], "1.3", None),
        (&["--ssl-protocol", "auto"], "1.3", None),
        (
            &["--ssl-protocol", "TLSv1_2", "--ssl-ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256"],
            "1.2",
            Some("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        ),
    ] {
        let (_, document) = load(port, options);
        let tls = &document["target"]["tls"];
        assert_eq!(tls["version"], version, "{options:?}");
        assert!(suite.is_none_or(|suite| tls["suite"] == suite), "{tls}");
        assert_eq!((&tls["full"], &tls["resumed"]), (&json!(2), &json!(0)));
        assert_eq!(tls["settled"][0]["handshakes"], 2);
        assert_eq!(tls["group"], "x25519");
        assert_eq!(document["latency"]["tls"]["count"], 2);
        assert!(
            document["latency"]["tls"]["max_s"].as_f64() <= document["latency"]["connect"]["max_s"].as_f64()
        );
    }
    let complaint = refused(&["--ssl-ciphers", "RC4-MD5"]);
    assert!(complaint.contains("unknown cipher `RC4-MD5` (known: "), "{complaint}");
    assert!(complaint.contains("ECDHE-ECDSA-AES128-GCM-SHA256"), "{complaint}");
    for (old, name) in [("TLSv1.1", "TLS 1.1"), ("SSLv3", "SSL 3.0")] {
        let expected = format!("{name} is not supported (rustls: 1.2 and 1.3)");
        assert!(refused(&["--ssl-protocol", old]).contains(&expected));
    }
}

#[test]
fn the_server_hears_the_most_particular_name() {
    let (port, names) = GOOD.self_signed().server(OK).start();
    let port = port.to_string();
    let sni = ["--tls-server-name", "sni.example"];
    let host = ["--server-name", "host.example"];
    for (server, options, name) in [
        ("localhost", [sni, host].concat(), Some("sni.example")),
        ("localhost", host.to_vec(), Some("host.example")),
        ("localhost", vec![], Some("localhost")),
        ("127.0.0.1", host.to_vec(), Some("host.example")),
        ("127.0.0.1", vec![], None),
    ] {
        names.lock().unwrap().clear();
        run(common::httperf().args(["--server", server, "--port", &port]).args(&options));
        assert_eq!(*names.lock().unwrap(), [name.map(str::to_owned)], "{server} {options:?}");
    }
}

/// Sessions of four calls on a connection each against the server to practise on: what it has counted.
fn sessions(options: &[&str]) -> (Counts, Value) {
    let tls = Some(httperf_serve::Tls::default());
    let listen = ([127, 0, 0, 1], 0).into();
    let server = Server::start(Config { listen, tls, ..Config::default() }).unwrap();
    let port = server.address().port();
    let (_, document) = run(common::load(&port.to_string()).args(options));
    (server.stop(), document)
}

#[test]
fn connections_of_one_session_resume_and_no_others() {
    let wsess = ["--wsess", "3,4,0", "--http-version", "1.0"];
    let plain = ["--num-conns", "5"];
    for (options, full, resumed) in [
        (wsess.to_vec(), 3, 9),
        ([wsess.as_slice(), &["--ssl-protocol", "TLSv1.2"]].concat(), 3, 9),
        ([wsess.as_slice(), &["--ssl-no-reuse"]].concat(), 12, 0),
        (plain.to_vec(), 5, 0),
    ] {
        let (counts, document) = sessions(&options);
        assert_eq!((counts.handshakes_full, counts.handshakes_resumed), (full, resumed), "{options:?}");
        let tls = &document["target"]["tls"];
        assert_eq!((&tls["full"], &tls["resumed"]), (&json!(full), &json!(resumed)), "{options:?}");
        assert_eq!(tls["group"], "x25519");
    }
}

#[test]
fn an_end_without_close_notify_cuts_a_body_that_it_completes() {
    for (reply, polite, classes) in [
        (TO_END, true, json!({})),
        (TO_END, false, json!({"truncated": 2})),
        (OK, true, json!({})),
        (OK, false, json!({})),
    ] {
        let (port, _) = GOOD.self_signed().server(reply).ending(polite).start();
        assert_eq!(load(port, &[]).1["errors"]["classes"], classes, "{reply:?}, {polite}");
    }
}

#[test]
fn an_end_without_close_notify_between_replies_is_noted() {
    for (polite, noted) in [(true, 0), (false, 1)] {
        let (port, _) = GOOD.self_signed().server(OK).ending(polite).start();
        // The end comes while the user thinks.
        let (_, document) = run(common::load(&port.to_string()).args(["--wsess", "1,2,0.5"]));
        assert_eq!(document["notes"]["no_close_notify"], noted);
    }
}

#[test]
fn secrets_are_written_where_the_environment_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let (port, _) = GOOD.self_signed().server(OK).start();
    let port = port.to_string();
    let run = |option: &[&str]| run(common::load(&port).args(option).env("SSLKEYLOGFILE", &file));
    run(&[]);
    assert!(!file.exists(), "nobody asked for it");
    run(&["--ssl-keylog"]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("CLIENT_TRAFFIC_SECRET_0 "));
    assert!(
        refused(&["--ssl-keylog"]).contains("--ssl-keylog needs a file name in the environment variable")
    );
}
