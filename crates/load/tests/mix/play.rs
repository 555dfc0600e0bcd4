//! Sessions played from files: what they call, how often, and that they can be played again.

use httperf_load::{Mix, MixSession};

use super::{WHOLE, examples};

/// All calls of a session, one a line: class, method, URI, think time.
fn play(mix: &Mix, seed: u64, number: u64) -> Vec<String> {
    let mut session = MixSession::new(mix, seed, number);
    let mut uri = b"left over".to_vec();
    let mut calls = Vec::new();
    while let Some(call) = session.next(mix, &mut uri) {
        let (class, method, think) = (call.class, call.method, call.think_ns);
        calls.push(format!("{class} {method} {} {think}", String::from_utf8_lossy(&uri)));
        assert_eq!(call.last, calls.len() as u64 == session.length());
        assert!(!call.last || think == 0);
    }
    assert_eq!(calls.len() as u64, session.length());
    assert_eq!(session.next(mix, &mut uri), None);
    calls
}

/// A mix of one class with what is given.
fn one(class: &str) -> Mix {
    let sessions = "sessions = { rate = 1, count = 1, length = { mean = 50, distribution = 'constant' } }";
    Mix::parse(&format!("{sessions}\n[[class]]\nname = 'one'\nweight = 1e-9\n{class}")).unwrap()
}

#[test]
fn a_session_depends_on_seed_and_number_only() {
    let mix = Mix::parse(WHOLE).unwrap();
    let forth: Vec<_> = (0..50).map(|number| play(&mix, 9, number)).collect();
    let again = Mix::parse(WHOLE).unwrap();
    let mut back: Vec<_> = (0..50).rev().map(|number| play(&again, 9, number)).collect();
    back.reverse();
    assert_eq!(forth, back);
    assert_ne!(forth, (0..50).map(|number| play(&mix, 10, number)).collect::<Vec<_>>());
    let mut distinct = forth;
    distinct.sort();
    distinct.dedup();
    assert!(distinct.len() > 45, "sessions differ, short ones by chance do not");
}

#[test]
fn sessions_that_are_played_by_turns_do_not_disturb_each_other() {
    let mix = Mix::parse(WHOLE).unwrap();
    let (mut uri, mut turns) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut sessions = [3, 4].map(|number| MixSession::new(&mix, 1, number));
    for _ in 0..1000 {
        for (session, calls) in sessions.iter_mut().zip(&mut turns) {
            if let Some(call) = session.next(&mix, &mut uri) {
                let text = String::from_utf8_lossy(&uri);
                calls.push(format!("{} {} {text} {}", call.class, call.method, call.think_ns));
            }
        }
    }
    assert_eq!(turns, [play(&mix, 1, 3), play(&mix, 1, 4)]);
}

#[test]
fn classes_are_called_by_their_shares() {
    let mix = Mix::parse(examples::SPECWEB).unwrap();
    let mut seen = vec![0.0; mix.classes().len()];
    let (mut uri, mut total) = (Vec::new(), 0.0);
    for number in 0..20_000 {
        let mut session = MixSession::new(&mix, 5, number);
        while let Some(call) = session.next(&mix, &mut uri) {
            seen[usize::from(call.class)] += 1.0;
            total += 1.0;
        }
    }
    // 10 calls a session; the standard error of the sum is 9.5 * sqrt(20,000).
    assert!((total - 200_000.0_f64).abs() < 5.0 * 9.5 * 141.5, "{total}");
    let parts = seen.iter().zip(mix.classes());
    let statistic: f64 =
        parts.map(|(seen, class)| (seen - class.share * total).powi(2) / class.share / total).sum();
    assert!(statistic < 7.0 + 5.0 * 14.0_f64.sqrt(), "{statistic}");
}

#[test]
fn the_fourth_file_of_specweb_is_the_favourite() {
    let mix = Mix::parse(examples::SPECWEB).unwrap();
    let (mut uri, mut seen, mut total) = (Vec::new(), [0.0_f64; 9], 0.0);
    for number in 0..20_000 {
        let mut session = MixSession::new(&mix, 6, number);
        while let Some(call) = session.next(&mix, &mut uri) {
            if call.class == 1 {
                seen[usize::from(uri[uri.len() - 1] - b'0')] += 1.0;
                total += 1.0;
            }
        }
    }
    // What the benchmark's own tables say, in per cent.
    let expected: [f64; 9] = [3.9, 5.9, 8.8, 17.7, 35.3, 11.8, 7.1, 5.0, 4.4];
    for (file, (seen, expected)) in seen.iter().zip(expected).enumerate() {
        let part = 100.0 * seen / total;
        assert!((part - expected).abs() < 0.9, "file {file}: {part:.2} %, not {expected}");
    }
}

#[test]
fn placeholders_stand_for_numbers_and_texts() {
    let mix =
        one("uri = '/{n:03}/{n}/{call}/{t}'\npick.n = { count = 1, first = 7 }\npick.t = { values = ['x'] }");
    let calls = play(&mix, 1, 2);
    assert_eq!(calls[0], "0 GET /007/7/0/x 0");
    assert_eq!(calls[49], "0 GET /007/7/49/x 0");
}

#[test]
fn one_draw_serves_all_places_of_a_name() {
    let mix = one("uri = '/{n}/{n}'\npick.n = { count = 1_000_000_000_000_000, zipf = 0 }");
    for call in play(&mix, 1, 2) {
        let mut parts = call.split([' ', '/']).skip(3);
        assert_eq!(parts.next(), parts.next());
    }
}

#[test]
fn a_body_brings_its_method_and_length() {
    let mix = one("uri = '/'\nbody = 'aé'");
    let mut uri = Vec::new();
    let mut session = MixSession::new(&mix, 0, u64::MAX);
    let call = session.next(&mix, &mut uri).unwrap();
    assert_eq!((call.method, call.fields), ("POST", b"Content-Length: 3\r\n".as_slice()));
    assert_eq!(call.body, "aé".as_bytes());
    assert!(one("uri = '/'\nbody = ''").classes()[0].fields.starts_with(b"Content-Length: 0\r\n"));
}

#[test]
fn a_warm_buffer_does_not_grow() {
    let mix = Mix::parse(WHOLE).unwrap();
    let mut uri = Vec::with_capacity(64);
    for number in 0..1000 {
        let mut session = MixSession::new(&mix, 1, number);
        while session.next(&mix, &mut uri).is_some() {}
    }
    assert_eq!(uri.capacity(), 64);
}
