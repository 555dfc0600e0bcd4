//! The JSON Schema and the reader of the file agree: on keys, on examples, on mistakes.

use std::collections::BTreeSet;

use httperf_load::Mix;
use serde_json::Value;

use super::{WHOLE, examples, with};

fn schema() -> Value {
    serde_json::from_str(Mix::SCHEMA).unwrap()
}

fn allows(source: &str) -> bool {
    let value = serde_json::to_value(toml::from_str::<toml::Table>(source).unwrap()).unwrap();
    jsonschema::validator_for(&schema()).unwrap().is_valid(&value)
}

#[test]
fn the_schema_is_one() {
    assert!(jsonschema::meta::is_valid(&schema()));
}

#[test]
fn every_example_is_valid() {
    for source in [WHOLE, examples::SPECWEB, examples::SHOP, examples::PRACTICE, examples::page()] {
        Mix::parse(source).unwrap();
        assert!(allows(source), "{source}");
    }
}

#[test]
fn think_times_are_allowed_by_their_distribution() {
    let keys = ["mean = '1s'", "min = '1s'", "max = '2s'", "median = '1s'", "sigma = 1", "shape = 2"];
    let old = r#"think = { distribution = "exponential", mean = "5s", max = "60s" }"#;
    for distribution in ["constant", "uniform", "exponential", "lognormal", "pareto", "normal"] {
        for bits in 0..1 << keys.len() {
            let chosen = keys.iter().enumerate().filter(|(bit, _)| bits & (1 << bit) != 0);
            let chosen: String = chosen.map(|(_, key)| format!(", {key}")).collect();
            let source = with(old, &format!("think = {{ distribution = '{distribution}'{chosen} }}"));
            assert_eq!(allows(&source), Mix::parse(&source).is_ok(), "{distribution}{chosen}");
        }
    }
}

#[test]
fn mistakes_are_mistakes_to_both() {
    for (from, to) in [
        ("rate = 20.0", "rate = 0"),
        ("rate = 20.0", "rate = 'x'"),
        ("rate = 20.0\n", ""),
        ("count = 1000", "count = 0"),
        ("count = 1000", "count = 1.5"),
        ("count = 1000\n", ""),
        ("count = 1000", "count = 1\nduration = '1s'"),
        ("count = 1000", "duration = '1e3s'"),
        ("count = 1000", "arrivals = 'uniform'\ncount = 1"),
        ("length = { mean = 10 }", "length = { mean = 0.5 }"),
        ("length = { mean = 10 }", "length = 10"),
        ("dynamic_share = 0.3", "dynamic_share = 1"),
        ("dynamic_share = 0.3", "share = 0.3"),
        ("good = \"3s\"", "good = 3"),
        ("weight = 35", "weight = 0"),
        ("weight = 35", "weight = -1"),
        ("weight = 35", "weight = 1\nshare = 2"),
        ("name = \"small\"", "name = ''"),
        ("/dir{dir:05}/{page}", "{dir}{page}"),
        ("/dir{dir:05}/{page}", "/ {dir}{page}"),
        ("method = \"POST\"", "method = 'A B'"),
        ("\"Content-Type: text/plain\"", "'Content-Type'"),
        ("count = 64, first = 1", "count = 0"),
        ("count = 64, first = 1", "first = 1"),
        ("count = 64, first = 1", "values = ['a'], first = 1"),
        ("count = 64, first = 1", "count = 1, values = ['a']"),
        ("zipf = 1.0", "zipf = -0.5"),
        ("values = [\"a\", \"b\"]", "values = []"),
        ("values = [\"a\", \"b\"]", "values = ['a b']"),
    ] {
        let source = with(from, to);
        assert!(!allows(&source), "schema: {to}");
        assert!(Mix::parse(&source).is_err(), "reader: {to}");
    }
    let none = WHOLE.split("[[class]]").next().unwrap();
    assert!(!allows(none) && Mix::parse(none).is_err());
}

/// The keys a table may have, as the reader lists them when it meets one it does not know.
fn known(source: &str) -> BTreeSet<String> {
    let error = Mix::parse(source).unwrap_err().message;
    let (unknown, known) = error.split_once("expected").unwrap();
    assert!(unknown.contains("`unknown`"), "{error}");
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn both_know_the_same_keys() {
    let tables = [
        ("/properties", format!("unknown = 1\n{WHOLE}")),
        ("/properties/sessions/properties", with("rate = 20.0", "unknown = 1")),
        ("/properties/sessions/properties/length/properties", with("{ mean = 10", "{ unknown = 1")),
        ("/properties/sessions/properties/think/properties", with("mean = \"5s\"", "unknown = 1")),
        ("/properties/calls/properties", with("dynamic_share = 0.3", "unknown = 1")),
        ("/properties/quality/properties", with("good = \"3s\"", "unknown = 1")),
        ("/properties/class/items/properties", with("weight = 35", "unknown = 1")),
        ("/$defs/pick/properties", with("count = 64", "unknown = 1")),
    ];
    let schema = schema();
    for (pointer, source) in tables {
        let keys = schema.pointer(pointer).and_then(Value::as_object).unwrap();
        let keys: BTreeSet<String> = keys.keys().cloned().collect();
        assert_eq!(known(&source), keys, "{pointer}");
    }
}
