//! Random streams: mutations of honest dialogues, and noise. None may panic, and none may care for the cuts.

use httperf_wire::Memo;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::play::{CLASSIC, Caller, MODERN, play, play_with};

/// Honest streams, for callers of three calls.
const HONEST: &[&str] = &[
    "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n00\r\nTrailer: v\r\n\r\n\
     HTTP/1.1 304 \r\n\r\nHTTP/1.0 200 OK\r\n\r\nthe rest",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: x\r\n\r\nHTTP/1.1 205 \nContent-Length: 2, 2\n\nok\r\n\
     HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc\
     HTTP/1.1 500 E\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabcdef",
];

/// Bytes that mean something somewhere.
const TELLING: &[u8] = b"\r\n\t :;,0159aFgx/.\0\x7f\x80-+";

#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Repeat(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let byte = || prop_oneof![3 => select(TELLING), 1 => any::<u8>()];
    prop_oneof![
        (any::<Index>(), byte()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (any::<Index>(), byte()).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        any::<Index>().prop_map(Mutation::Remove),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Mutation::Repeat(from, to)),
    ]
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    (select(HONEST), vec(mutation(), 0..5)).prop_map(|(stream, mutations)| {
        let mut stream = stream.as_bytes().to_vec();
        for mutation in mutations {
            let length = stream.len();
            match mutation {
                Mutation::Set(at, byte) => stream[at.index(length)] = byte,
                Mutation::Insert(at, byte) => stream.insert(at.index(length), byte),
                Mutation::Remove(at) if length > 1 => drop(stream.remove(at.index(length))),
                Mutation::Remove(_) => {}
                Mutation::Repeat(from, to) => {
                    let (from, to) = (from.index(length), to.index(length));
                    stream.extend_from_within(from.min(to)..from.max(to));
                }
            }
        }
        stream
    })
}

/// A stream and where to cut it.
fn cut(stream: &[u8], cuts: &[Index]) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    cuts.extend([0, stream.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| stream[pair[0]..pair[1]].to_vec()).collect()
}

fn caller() -> impl Strategy<Value = Caller<'static>> {
    (select(vec![MODERN, CLASSIC]), select(vec!["R", "H", "RRR", "RHR"]), any::<bool>())
        .prop_map(|(rules, calls, discard)| Caller { rules, calls, discard })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_cuts_change_nothing(stream in mutated(), cuts in vec(any::<Index>(), 0..6), caller in caller()) {
        let whole = play(Caller { discard: false, ..caller }, [&stream[..]]);
        let pieces = cut(&stream, &cuts);
        prop_assert_eq!(&play(caller, pieces.iter().map(Vec::as_slice)), &whole);
        prop_assert_eq!(&play(caller, stream.chunks(1)), &whole);
    }

    #[test]
    fn a_memo_that_others_have_used_changes_nothing(
        plays in vec((mutated(), vec(any::<Index>(), 0..3), caller()), 1..6),
    ) {
        let mut memo = Memo::default();
        for (stream, cuts, caller) in &plays {
            let pieces = cut(stream, cuts);
            let words = play_with(&mut memo, *caller, pieces.iter().map(Vec::as_slice));
            prop_assert_eq!(&words, &play(*caller, stream.chunks(1)));
        }
    }

    #[test]
    fn fields_and_chunks_of_noise_never_panic(
        start in select(vec!["", "HTTP/1.1 200 ", "HTTP/1.1 200\r\n", "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n"]),
        noise in prop_oneof![vec(select(TELLING), 0..60), vec(any::<u8>(), 0..60)],
        caller in caller(),
    ) {
        let stream = [start.as_bytes(), &noise].concat();
        let whole = play(Caller { discard: false, ..caller }, [&stream[..]]);
        prop_assert_eq!(&play(caller, stream.chunks(1)), &whole);
    }
}
