//! Every mistake, with its place and its words.

use httperf_load::Mix;

use super::{WHOLE, with};

/// What is changed in the whole file, the piece of the file that is pointed at, and the text.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("rate = 20.0", "rate = 0", "0", "2:8: `rate` must be more than 0 and at most 1000000000, not 0"),
    ("rate = 20.0", "rate = nan", "nan", "2:8: `rate` must be more than 0 and at most 1000000000, not NaN"),
    ("rate = 20.0", "rate = 'fast'", "'fast'", "2:8: invalid type: string \"fast\", expected a number"),
    ("rate = 20.0\n", "", "[sessions]", "1:1: missing field `rate`"),
    (
        "rate = 20.0",
        "rate = 20.0\nrates = 1",
        "rates",
        "3:1: unknown field `rates`, expected one of `rate`, `arrivals`, `count`, `duration`, `length`, `think`",
    ),
    ("rate = 20.0", "rate = ", "", "2:8: string values must be quoted, expected literal string"),
    ("count = 1000", "count = 0", "0", "3:9: `count` must be 1 or more"),
    (
        "count = 1000",
        "count = -1",
        "-1",
        "3:9: invalid value: integer `-1`, expected a whole number, 0 or more",
    ),
    (
        "count = 1000\n",
        "",
        "[sessions]",
        "1:1: nothing says when the run ends; write count = 1000 or duration = \"60s\" in [sessions]",
    ),
    (
        "count = 1000",
        "count = 1\nduration = '1m'",
        "'1m'",
        "4:12: both `count` and `duration` are given; leave one of them out",
    ),
    ("count = 1000", "duration = '0s'", "'0s'", "3:12: `duration` must be longer than zero"),
    (
        "count = 1000",
        "duration = 'long'",
        "'long'",
        "3:12: `duration` is not a duration: `long`; write a number and ns, us, ms, s, m or h: \"250ms\", \"1.5s\"",
    ),
    (
        "count = 1000",
        "count = 1\narrivals = 'uniform'",
        "'uniform'",
        "4:12: unknown variant `uniform`, expected `poisson` or `constant`",
    ),
    ("mean = 10", "mean = 0.5", "0.5", "4:19: the mean length must be 1 to 1000000000 calls, not 0.5"),
    (
        "mean = 10",
        "mean = 2.5, distribution = 'constant'",
        "2.5",
        "4:19: a constant length is a whole number, not 2.5",
    ),
    (
        "mean = 10",
        "mean = 2, max = 5, distribution = 'constant'",
        "5",
        "4:28: a constant length has no `max`",
    ),
    ("mean = 10", "mean = 10, max = 9", "9", "4:29: `max` is less than the mean of 10"),
    ("mean = \"5s\"", "mean = \"0s\"", "\"0s\"", "5:48: `mean` must be longer than zero"),
    (
        "mean = \"5s\"",
        "mean = \"5\"",
        "\"5\"",
        "5:48: `mean` is not a duration: `5`; write a number and ns, us, ms, s, m or h: \"250ms\", \"1.5s\"",
    ),
    (
        "mean = \"5s\", max = \"60s\"",
        "max = \"1s\"",
        "{ distribution = \"exponential\", max = \"1s\" }",
        "5:9: a think time that is exponential needs `mean`",
    ),
    (
        "mean = \"5s\"",
        "median = \"5s\"",
        "\"5s\"",
        "5:50: a think time that is exponential has no `median`; it has `mean`, `max`",
    ),
    (
        "mean = \"5s\", max = \"60s\"",
        "min = \"1s\"",
        "\"1s\"",
        "5:47: a think time that is exponential has no `min`; it has `mean`, `max`",
    ),
    ("max = \"60s\"", "max = \"4s\"", "\"4s\"", "5:60: `max` is shorter than `mean`"),
    (
        "\"exponential\", mean = \"5s\", max = \"60s\"",
        "\"uniform\", min = \"2s\", max = \"1s\"",
        "\"1s\"",
        "5:55: `max` is shorter than `min`",
    ),
    (
        "\"exponential\", mean = \"5s\", max = \"60s\"",
        "\"pareto\", min = \"2s\", shape = 1",
        "1",
        "5:56: with a shape of 1 there is no mean think time; take a shape above 1, or write `max`",
    ),
    (
        "\"exponential\", mean = \"5s\", max = \"60s\"",
        "\"pareto\", min = \"2s\", shape = 0",
        "0",
        "5:56: `shape` must be more than 0 and at most 100, not 0",
    ),
    (
        "\"exponential\", mean = \"5s\", max = \"60s\"",
        "\"lognormal\", median = \"2s\", sigma = inf",
        "inf",
        "5:62: `sigma` must be more than 0 and at most 10, not inf",
    ),
    (
        "dynamic_share = 0.3",
        "dynamic_share = 1.5",
        "1.5",
        "8:17: `dynamic_share` must be more than 0 and less than 1, not 1.5; without it the weights alone decide",
    ),
    (
        "dynamic = true\n",
        "",
        "0.3",
        "8:17: `dynamic_share` divides the calls, but no class is dynamic; write dynamic = true in some of the classes",
    ),
    ("tolerable = \"5s\"", "tolerable = \"2s\"", "\"2s\"", "12:13: `tolerable` is shorter than `good`"),
    ("good = \"3s\"", "good = \"0ms\"", "\"0ms\"", "11:8: `good` must be longer than zero"),
    ("name = \"small\"", "name = \"\"", "\"\"", "15:8: `name` must be some text on one line"),
    (
        "name = \"small\"",
        "name = \"dynamic\"",
        "\"dynamic\"",
        "22:8: a class is called `dynamic` already; see line 15",
    ),
    (
        "weight = 35",
        "weight = -1",
        "-1",
        "16:10: `weight` must be more than 0 and at most 1000000000, not -1",
    ),
    (
        "weight = 35",
        "weight = 0",
        "0",
        "16:10: `weight` must be more than 0 and at most 1000000000, not 0; leave the class out instead",
    ),
    (
        "weight = 35",
        "weight = inf",
        "inf",
        "16:10: `weight` must be more than 0 and at most 1000000000, not inf",
    ),
    (
        "/dir{dir:05}/{page}",
        "/dir{dir:05}/{pages}/{page}",
        "{pages}",
        "17:21: nothing is called `{pages}` here; there are `{dir}`, `{page}`, `{session}`, `{call}`; others come from `pick`",
    ),
    (
        "/dir{dir:05}/{page}",
        "/dir{dir:5}/{page}",
        "{dir:5}",
        "17:12: `:5` is no padding; write `{dir:05}` for five digits; 20 is the most",
    ),
    (
        "/dir{dir:05}/{page}",
        "/dir{dir}/{page:05}",
        "{page:05}",
        "17:18: `{page:05}` pads a text; write `{page}`",
    ),
    (
        "/dir{dir:05}/{page}",
        "/{page}",
        "dir",
        "18:6: `{dir}` does not stand in the URI; write it there, or leave the pick out",
    ),
    (
        "/dir{dir:05}/{page}",
        "http://a/{dir}{page}",
        "\"http://a/{dir}{page}\"",
        "17:7: `uri` does not begin with a slash: `http://a/{dir}{page}`; write the path only: the server is that of the command line",
    ),
    (
        "/dir{dir:05}/{page}",
        "/{dir}/{page}#top",
        "#",
        "17:21: a request target cannot contain `#`; write %23",
    ),
    (
        "/dir{dir:05}/{page}",
        "/{dir}/{page}}",
        "}",
        "17:21: a single `}` in the URI; write it twice if it is meant as such",
    ),
    ("method = \"POST\"", "method = \"PO ST\"", "\"PO ST\"", "25:10: `PO ST` cannot be a method"),
    (
        "\"Content-Type: text/plain\"",
        "\"Content-Type text\"",
        "\"Content-Type text\"",
        "27:12: `Content-Type text` is no header field; write \"Name: value\"",
    ),
    (
        "\"Content-Type: text/plain\"",
        "\"content-length: 3\"",
        "\"content-length: 3\"",
        "27:12: `content-length` is written from `body`; leave it out",
    ),
    (
        "\"Content-Type: text/plain\"",
        "\"A: b\\r\\nC: d\"",
        "\"A: b\\r\\nC: d\"",
        "27:12: a header field cannot contain `\\r`",
    ),
    ("pick.dir", "pick.session", "session", "18:6: `{session}` has a meaning of its own; take another name"),
    (
        "pick.dir",
        "pick.Dir",
        "Dir",
        "18:6: `Dir` cannot be the name of a placeholder; use a to z, 0 to 9 and _",
    ),
    (
        "count = 64, first = 1, zipf = 1.0",
        "zipf = 1.0",
        "{ zipf = 1.0 }",
        "18:12: `pick.dir` has nothing to pick from; write count = 9 for the numbers 0 to 8, or values = [\"a\", \"b\"]",
    ),
    ("count = 64", "count = 0", "0", "18:22: `count` must be 1 to 10^15, not 0"),
    (
        "count = 64",
        "count = 2_000_000_000_000_000",
        "2_000_000_000_000_000",
        "18:22: `count` must be 1 to 10^15, not 2000000000000000",
    ),
    (
        "zipf = 1.0",
        "zipf = -1",
        "-1",
        "18:44: `zipf` must be 0 to 100, not -1; 0 picks all alike, 1 is usual on the web, more is steeper",
    ),
    (
        "zipf = 1.0",
        "zipf = 1.0, values = ['a']",
        "['a']",
        "18:58: both `count` and `values` are given; leave one of them out",
    ),
    ("[\"a\", \"b\"]", "[]", "[]", "19:24: `values` is empty"),
    ("[\"a\", \"b\"]", "[\"a\", \"b c\"]", "\"b c\"", "19:30: a request target cannot contain ` `"),
    (
        "[\"a\", \"b\"]",
        "[\"a\"], first = 3",
        "3",
        "19:39: `first` belongs to `count`, and there are `values`",
    ),
];

#[test]
fn mistakes_have_a_place_and_a_text() {
    let mut wrong = String::new();
    for &(from, to, place, text) in MISTAKES {
        let source = with(from, to);
        let error = Mix::parse(&source).expect_err(to);
        let (found, said) = (&source[error.span.clone()], error.to_string());
        if (found, said.as_str()) != (place, text) {
            wrong += &format!("    ({from:?}, {to:?}, {found:?},\n     {said:?}),\n");
        }
    }
    assert!(wrong.is_empty(), "these are new:\n{wrong}");
}

#[test]
fn a_file_without_classes_points_at_its_end() {
    let source = WHOLE.split("[[class]]").next().unwrap();
    let error = Mix::parse(source).unwrap_err();
    assert_eq!(error.span, source.len()..source.len());
    assert_eq!(
        error.to_string(),
        "14:1: there is no class: nothing would be called; write [[class]] with name, weight and uri"
    );
}

#[test]
fn too_many_picks_are_found_at_the_first_too_many() {
    let picks: String = (0..9).map(|n| format!("pick.n{n} = {{ count = 2 }}\n")).collect();
    let source = with("pick.dir = {", &format!("{picks}pick.dir = {{"));
    let error = Mix::parse(&source).unwrap_err();
    assert_eq!((&source[error.span.clone()], error.message.as_str()), ("n7", "a class has at most 8 picks"));
}

/// Whatever is cut off or spoilt, there is an answer with a place inside the file.
#[test]
fn no_file_brings_the_reader_down() {
    for cut in 0..WHOLE.len() {
        for middle in ["", "\u{0}", "é", "{", "\"", "9e999", "-"] {
            let source = format!("{}{middle}{}", &WHOLE[..cut], &WHOLE[cut + 1..]);
            if let Err(error) = Mix::parse(&source) {
                assert!(source.get(error.span.clone()).is_some(), "{:?} in {source}", error.span);
                assert!(!error.message.is_empty() && !error.message.contains('\n'));
            }
        }
    }
}
