//! What replies change: cookies that come back, pages with what they embed.

use std::sync::Arc;

use httperf_engine::sim::{Act, Server};
use httperf_load::{Cookies, Entries, Room, Uris, Wlog};

use super::case::{Came, OK, SessionCase, What, answers, in_turn};
use crate::case::{MS, SECOND};

fn sets(cookie: &str) -> Act {
    Act::send(format!("HTTP/1.1 200 OK\r\nSet-Cookie: {cookie}; Path=/\r\nContent-Length: 2\r\n\r\nok"))
}

/// The Cookie fields of the requests, in order.
fn cookies(came: &Came) -> Vec<Option<&str>> {
    let field = |text: &'static str| move |line: &'_ str| line.starts_with(text);
    came.book.asked.iter().map(|asked| asked.text.lines().find(|line| field("Cookie: ")(line))).collect()
}

/// The URIs of the requests, in order.
fn uris(came: &Came) -> Vec<&str> {
    came.book.asked.iter().filter_map(|asked| asked.text.split(' ').nth(1)).collect()
}

#[test]
fn cookies_come_back_within_their_session() {
    let server =
        in_turn(vec![vec![sets("sid=v1")], vec![Act::send(OK)], vec![sets("tid=v2")], vec![Act::send(OK)]]);
    let mut case = SessionCase::wsess(server, 2, 4, 1, 10 * MS);
    assert_eq!(cookies(&case.whole()), [None; 8], "nobody asked for them");
    case.cookies = Some(Cookies::last());
    let one = [None, Some("Cookie: sid=v1"), Some("Cookie: sid=v1"), Some("Cookie: tid=v2")];
    let came = case.whole();
    assert_eq!(cookies(&came), one.repeat(2));
    assert_eq!(came.book.sizes[..4], [73, 89, 89, 89]);
    case.cookies = Some(Cookies::jar());
    assert_eq!(cookies(&case.whole())[3], Some("Cookie: sid=v1; tid=v2"));
}

#[test]
fn a_call_that_is_sent_again_says_the_same() {
    let server = answers([sets("sid=1"), Act::Close]);
    let case = SessionCase { cookies: Some(Cookies::last()), ..SessionCase::wsess(server, 1, 3, 1, 0) };
    let came = case.whole();
    assert_eq!(came.counts(), [3, 5, 3, 1, 0]);
    let sent = Some("Cookie: sid=1");
    assert_eq!(cookies(&came), [None, sent, sent, sent, sent]);
    assert_eq!(came.book.sizes, [73, 88, 176, 88, 176]);
}

#[test]
fn a_call_that_is_sent_again_does_not_know_later_cookies() {
    let server = in_turn(vec![vec![sets("sid=1")], vec![sets("sid=2"), Act::Close]]);
    let case = SessionCase { cookies: Some(Cookies::last()), ..SessionCase::wsess(server, 1, 4, 3, 0) };
    let sent = |value| Some(if value == 1 { "Cookie: sid=1" } else { "Cookie: sid=2" });
    // The reply to the second changes the cookie and loses the connection: the third is sent again as it was.
    let came = case.whole();
    assert_eq!(cookies(&came)[..4], [None, sent(1), sent(1), sent(1)]);
    assert_eq!(cookies(&came)[4..], [sent(1)]);
}

#[test]
fn requests_that_differ_are_used_again() {
    let entries = Arc::new(Entries::parse(b"/a\0/b\0/c\0").expect("a log"));
    let uris = Some(Uris::Wlog(Wlog::new(entries, true, 0, 1)));
    let busy = "HTTP/1.1 503 Busy\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n";
    let server = in_turn(vec![vec![sets("a=1")], vec![sets("a=2")], vec![Act::send(busy)], vec![Act::Close]]);
    for (retry, failure_status) in [(false, None), (true, Some(503)), (false, Some(503))] {
        let what = What::Wsess { calls: 6, burst: 3, think: MS, uris: uris.clone() };
        let case = SessionCase {
            cookies: Some(Cookies::jar()),
            retry,
            failure_status,
            targets: 2,
            ..SessionCase::new(server.clone(), 200, what)
        };
        let came = case.whole();
        assert!(came.book.asked.len() >= 600);
        // Two of the scenario; three pending calls with two each, and those on their way out.
        assert!(came.book.request_max < 14, "{}", came.book.request_max);
    }
}

const PAGE: &str = "<html><img src=\"a.gif\"><IMG SRC=/b.gif><iframe src='http://127.0.0.1/c.html'></iframe>\
    <img src=http://elsewhere/d.gif></html>";

fn page(body: &str, fields: &str) -> Act {
    let length = body.len();
    Act::send(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
    ))
}

fn pages(server: Server, pages: u32, think: u64) -> SessionCase {
    SessionCase::new(server, 1, What::Page { pages, think })
}

#[test]
fn what_a_page_embeds_is_fetched_at_once_and_before_the_user_thinks() {
    let object = vec![Act::Wait(MS), Act::send(OK)];
    let first = vec![page(PAGE, "")];
    let mut turns = vec![first.clone(), object.clone(), object.clone(), object.clone()];
    turns.extend(turns.clone());
    for segment in [65_536..=65_536, 1..=1, 1..=50] {
        let mut case = pages(in_turn(turns.clone()), 2, SECOND);
        case.world.setup.network.segment = segment;
        let came = case.whole();
        assert_eq!((came.counts(), came.causes()), ([1, 8, 8, 1, 0], vec![]));
        let four = ["/dir/12bytes", "/dir/a.gif", "/b.gif", "/c.html"];
        assert_eq!(uris(&came), four.repeat(2));
        let replies = &came.outcome.ledger.replies;
        assert_eq!(replies[4].sent, replies[3].last + SECOND);
        assert!(came.outcome.lasted() < 2 * SECOND);
    }
}

#[test]
fn a_redirect_is_followed_and_other_types_are_not_searched() {
    let redirect = "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n";
    let came = pages(in_turn(vec![vec![Act::send(redirect)], vec![Act::send(OK)]]), 1, 0).whole();
    assert_eq!(uris(&came), ["/dir/12bytes", "/there"]);
    let text = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{PAGE}",
        PAGE.len()
    );
    assert_eq!(uris(&pages(in_turn(vec![vec![Act::send(text)]]), 2, 0).whole()), ["/dir/12bytes"; 2]);
}

#[test]
fn frames_that_contain_themselves_come_to_an_end() {
    let one = pages(in_turn(vec![vec![page("<iframe src=self.html>", "")]]), 1, 0).whole();
    assert_eq!(one.counts(), [1, 9, 9, 1, 0], "the page and eight frames");
    let many = "<iframe src=self.html>".repeat(20);
    let came = pages(in_turn(vec![vec![page(&many, "")]]), 1, 0).whole();
    assert_eq!(came.counts()[2..], [1001, 1, 0]);
}

#[test]
fn a_page_that_breaks_off_is_read_afresh_and_its_objects_are_fetched_once() {
    let half = PAGE.find("<iframe").expect("a frame");
    let whole =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{PAGE}", PAGE.len());
    let broken = &whole[..whole.len() - PAGE.len() + half];
    // Each connection delivers a page; the second one of the first connection breaks off.
    let first = vec![Act::send(&whole)];
    let ok = || vec![Act::send(OK)];
    let second = vec![Act::send(broken), Act::Wait(500 * MS), Act::Close];
    let server = in_turn(vec![first, ok(), ok(), ok(), second]);
    let mut case = pages(server, 2, SECOND);
    case.room = Room { conns: 1, piped: 1 };
    let came = case.whole();
    assert_eq!(came.outcome.ledger.totals.sessions_ended, [1, 0, 0]);
    let again = uris(&came)[4..].to_vec();
    assert_eq!(again, ["/dir/12bytes", "/dir/12bytes", "/dir/a.gif", "/b.gif", "/c.html"]);
}
