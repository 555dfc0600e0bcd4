//! The loop allocates nothing per call and nothing per connection once it is warm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use httperf::engine::{Core, Deadlines, Epoll, RequestId, Scenario, Share, StopHandle, run};
use httperf::load::{Arrivals, ConnRate, Pattern, Period};
use httperf::stat::{Basic, BasicSummary};
use httperf::wire::{Request, RequestSpec};

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: t\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

/// Answers every request on every connection; requests never come in pieces here.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
                    if stream.write_all(REPLY).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

/// Runs the pattern and counts what the loop's thread allocated, from making the core to the end of the run.
fn allocations(target: SocketAddr, conns: u64, calls: u32, rate: Option<f64>) -> (u64, BasicSummary) {
    let request = Request::render(&RequestSpec { uri: b"/".to_vec(), ..RequestSpec::default() });
    let limit = Some(5_000_000_000);
    let scenario = Scenario { deadlines: Deadlines::all(limit), ..Scenario::plain(target, request) };
    let period = rate.map(|rate| Period::Constant(1.0 / rate));
    let pattern = Pattern {
        conns,
        calls,
        burst: 1,
        arrivals: period.map(|period| Arrivals::new(&period, conns, Share::WHOLE, 0)),
        concurrency: 1,
        targets: 1,
        request: RequestId(0),
        uris: None,
    };
    let mut driver = Epoll::new(Share::WHOLE, StopHandle::new().unwrap()).unwrap();
    let mut summary = None;
    let info = allocation_counter::measure(|| {
        let mut core = Core::new(scenario);
        let mut workload = ConnRate::new(pattern);
        let mut basic = Basic::default();
        run(&mut core, &mut driver, &mut workload, &mut basic).unwrap();
        summary = Some(basic.into_summary());
    });
    (info.count_total, summary.unwrap())
}

#[test]
fn calls_allocate_nothing() {
    let target = server();
    let (few, _) = allocations(target, 1, 10, None);
    let (many, summary) = allocations(target, 1, 2_010, None);
    assert_eq!(summary.replies(), 2_010);
    assert_eq!(many, few);
}

#[test]
fn connections_one_after_the_other_allocate_nothing() {
    let target = server();
    let (few, _) = allocations(target, 10, 2, None);
    let (many, summary) = allocations(target, 500, 2, None);
    assert_eq!((summary.connections, summary.replies()), (500, 1_000));
    // The bins of lifetimes grow with the longest one, and the watchdog's heap with the connections of the
    // last five seconds: a doubling now and then, nothing for each connection.
    assert!(many <= few + 20, "{many} against {few}");
}
