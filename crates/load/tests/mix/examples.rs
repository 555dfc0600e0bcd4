//! The examples of the documentation mean what it says.

use httperf_load::{Mix, MixLimit, Quality};

pub(crate) const SPECWEB: &str = include_str!("../../../../docs/examples/specweb99.toml");
pub(crate) const PRACTICE: &str = include_str!("../../../../docs/examples/practice.toml");
pub(crate) const SHOP: &str = include_str!("../../../../docs/examples/shop.toml");

/// The example in the text of the page itself.
pub(crate) fn page() -> &'static str {
    let page = include_str!("../../../../docs/wmix.md");
    page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap()
}

#[test]
fn specweb_has_its_shares() {
    let mix = Mix::parse(SPECWEB).unwrap();
    let shares: Vec<_> = mix.classes().iter().map(|class| format!("{:.3}", class.share * 100.0)).collect();
    assert_eq!(shares, ["24.500", "35.000", "9.800", "0.700", "12.450", "0.150", "12.600", "4.800"]);
    assert_eq!(mix.quality(), Some(Quality { good_ns: 3_000_000_000, tolerable_ns: 5_000_000_000 }));
    assert_eq!(mix.limit(), MixLimit::Count(1000));
}

#[test]
fn the_shop_the_practice_mix_and_the_page_can_be_read() {
    let shop = Mix::parse(SHOP).unwrap();
    assert_eq!(shop.limit(), MixLimit::Duration(60_000_000_000));
    let search = &shop.classes()[2];
    assert_eq!(search.fields, b"Content-Type: application/json\r\nContent-Length: 17\r\n");
    let practice = Mix::parse(PRACTICE).unwrap();
    let dynamic: f64 = practice.classes().iter().filter(|class| class.dynamic).map(|class| class.share).sum();
    assert!((dynamic - 0.3).abs() < 1e-9, "{dynamic}");
    let page = Mix::parse(page()).unwrap();
    assert_eq!((page.classes()[1].method.as_str(), page.classes()[1].share), ("POST", 0.3));
}
