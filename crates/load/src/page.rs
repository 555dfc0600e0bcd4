//! What a page embeds: the `src` of its `img`, `frame` and `iframe` elements (manual, wsesspage).
//!
//! ```text
//!   bytes of text/html, in pieces --> PageScanner --> src values --> link::resolve --> URIs to fetch
//! ```
//!
//! A reader of tags and attributes, no more (the tag states of HTML, section 13.2.5, without scripts or
//! character references): a name or a value that merely looks like `src=` is not taken for one, and
//! comments are skipped.

/// Longer values are dropped: nobody's server takes them.
const VALUE_MAX: usize = 64 * 1024;

/// No wanted name is longer (`iframe`), so a longer one need not be kept.
const NAME_MAX: usize = 6;

/// Finds references in a page that arrives in pieces of any size. It holds at most one value of 64 KiB.
///
/// [`scan`](Self::scan) every piece, [`reset`](Self::reset) before the next page.
#[derive(Clone, Debug, Default)]
pub struct PageScanner {
    state: State,
    name: Name,
    /// In a tag whose `src` is wanted and has not been seen.
    wanted: bool,
    /// The value being read is the wanted one.
    taking: bool,
    value: Vec<u8>,
}

/// Where in a page the next byte is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After `<`.
    Open,
    /// After `<!` and this many dashes (0, 1).
    Declaration(u8),
    /// After this many dashes (0, 1, 2) in a comment.
    Comment(u8),
    /// In an end tag or a declaration: nothing counts before `>`.
    Skip,
    TagName,
    /// Before the name of an attribute.
    Before,
    AttributeName,
    /// After that name, before `=` if there is one.
    AfterName,
    /// After `=`.
    BeforeValue,
    Quoted(u8),
    Bare,
}

/// The start of a name, in lower case.
#[derive(Clone, Copy, Debug, Default)]
struct Name {
    bytes: [u8; NAME_MAX],
    /// Bytes of the name; what is beyond [`NAME_MAX`] counts but is not kept.
    len: usize,
}

impl Name {
    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte.to_ascii_lowercase();
        }
        self.len = self.len.saturating_add(1);
    }

    fn is(&self, name: &[u8]) -> bool {
        self.bytes.get(..self.len) == Some(name)
    }
}

impl PageScanner {
    /// Ready for the next page. The memory of values is kept.
    pub fn reset(&mut self) {
        let mut value = std::mem::take(&mut self.value);
        value.clear();
        *self = Self { value, ..Self::default() };
    }

    /// Reads the next piece; `found` gets each value that is complete, as it stands in the page.
    pub fn scan(&mut self, piece: &[u8], found: &mut dyn FnMut(&[u8])) {
        let mut rest = piece;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Text {
                // Most of a page is text.
                let Some(open) = rest.iter().position(|&byte| byte == b'<') else { return };
                self.state = State::Open;
                rest = &rest[open + 1..];
                continue;
            }
            self.state = self.next(byte, found);
            rest = after;
        }
    }

    fn next(&mut self, byte: u8, found: &mut dyn FnMut(&[u8])) -> State {
        use State::*;
        match (self.state, byte) {
            (Text, b'<') => Open,
            (Text, _) => Text,
            (Open, b'a'..=b'z' | b'A'..=b'Z') => self.named(byte, TagName),
            (Open, b'!') => Declaration(0),
            (Open, b'/' | b'?') => Skip,
            (Open, b'<') => Open,
            (Open, _) => Text,
            (Declaration(0), b'-') => Declaration(1),
            // `<!-->` is a whole comment.
            (Declaration(_), b'-') => Comment(2),
            (Comment(2..), b'>') => Text,
            (Comment(dashes), b'-') => Comment(2.min(dashes + 1)),
            (Comment(_), _) => Comment(0),
            (Declaration(_) | Skip, b'>') => Text,
            (Declaration(_) | Skip, _) => Skip,
            (TagName, _) if is_end_of_name(byte) && byte != b'=' => {
                self.wanted = [b"img".as_slice(), b"frame", b"iframe"].iter().any(|tag| self.name.is(tag));
                if byte == b'>' { Text } else { Before }
            }
            (TagName, _) => {
                self.name.push(byte);
                TagName
            }
            (AttributeName, _) if !is_end_of_name(byte) => {
                self.name.push(byte);
                AttributeName
            }
            (Bare, b'>') => self.end_value(Text, found),
            (Before | AttributeName | AfterName | BeforeValue, b'>') => Text,
            (AttributeName | AfterName, b'=') => {
                self.taking = self.wanted && self.name.is(b"src");
                BeforeValue
            }
            (Before | AttributeName | AfterName, b'/') => Before,
            (AttributeName | AfterName, _) if is_blank(byte) => AfterName,
            (Before | BeforeValue, _) if is_blank(byte) => self.state,
            (Before | AttributeName | AfterName, _) => self.named(byte, AttributeName),
            (BeforeValue, b'"' | b'\'') => Quoted(byte),
            (Quoted(quote), _) if byte == quote => self.end_value(Before, found),
            (Bare, _) if is_blank(byte) => self.end_value(Before, found),
            (Quoted(_) | Bare, _) => {
                self.take(byte);
                self.state
            }
            (BeforeValue, _) => {
                self.take(byte);
                Bare
            }
        }
    }

    /// A name begins with this byte.
    fn named(&mut self, byte: u8, state: State) -> State {
        self.name = Name::default();
        self.name.push(byte);
        state
    }

    fn take(&mut self, byte: u8) {
        // One byte more than is allowed marks a value that is too long.
        if self.taking && self.value.len() <= VALUE_MAX {
            self.value.push(byte);
        }
    }

    fn end_value(&mut self, state: State, found: &mut dyn FnMut(&[u8])) -> State {
        if self.taking {
            if !self.value.is_empty() && self.value.len() <= VALUE_MAX {
                found(&self.value);
            }
            self.value.clear();
            // The first attribute of a name counts (HTML section 13.2.5.33).
            (self.taking, self.wanted) = (false, false);
        }
        state
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c)
}

fn is_end_of_name(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'>' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(pieces: &[&[u8]]) -> Vec<String> {
        let mut scanner = PageScanner::default();
        let mut found = Vec::new();
        for piece in pieces {
            scanner.scan(piece, &mut |value| found.push(String::from_utf8_lossy(value).into_owned()));
        }
        found
    }

    fn values(page: &str) -> Vec<String> {
        in_pieces(&[page.as_bytes()])
    }

    const PAGE: &str = "<!DOCTYPE html><html><!-- <img src=\"no\"> --><img src=\"a.gif\"> <IMG SRC=b.gif >\
        <iframe\n src='/c.html'></iframe><frame name=x src = http://h/x.gif><img alt=\"x > y src=no\" src=d>\
        <!--><img src=e></html>";
    const IN_PAGE: [&str; 6] = ["a.gif", "b.gif", "/c.html", "http://h/x.gif", "d", "e"];

    #[test]
    fn images_and_frames_are_found() {
        assert_eq!(values(PAGE), IN_PAGE);
    }

    #[test]
    fn every_split_finds_the_same() {
        for at in 0..=PAGE.len() {
            let (one, two) = PAGE.as_bytes().split_at(at);
            assert_eq!(in_pieces(&[one, two]), IN_PAGE, "at {at}");
        }
        let bytes: Vec<&[u8]> = PAGE.as_bytes().chunks(1).collect();
        assert_eq!(in_pieces(&bytes), IN_PAGE);
    }

    #[test]
    fn what_only_looks_like_one_is_not() {
        for page in [
            "<script src=a.js></script><input src=b><image src=c><imgs src=d><iframes src=e>",
            "<img lowsrc=a data-src=b srcset=c src>",
            "<img alt=\"src=a\" title='src=\"b\"'>",
            "< img src=a></img src=b><?img src=c><!img src=d>",
            "<!-- -- <img src=a> --- <img src=b>",
            "src=a img src=b",
            "<img src=\"\"><img src=>",
            "<img src=a",
            "<img src=\"a>",
        ] {
            assert_eq!(values(page), Vec::<String>::new(), "{page}");
        }
    }

    #[test]
    fn tags_are_read_as_html_reads_them() {
        assert_eq!(values("<img src=a><img src=b/><img src=c />"), ["a", "b/", "c"]);
        assert_eq!(values("<img src=a src=b><img/src=c><img alt src=d>"), ["a", "c", "d"]);
        assert_eq!(values("<img src=\"a&amp;b c\"alt=x src='no'>"), ["a&amp;b c"]);
        assert_eq!(values("<<img src=a><!----><img src=b><!-- --><img src=c>"), ["a", "b", "c"]);
        assert_eq!(values("<img =src=no src=a>"), ["a"]);
    }

    #[test]
    fn values_beyond_64_kib_are_dropped_and_the_next_is_found() {
        let long = "x".repeat(VALUE_MAX);
        assert_eq!(values(&format!("<img src={long}><img src=a>")), [long.as_str(), "a"]);
        let page = format!("<img src=\"{long}y\"><img src=a>");
        let mut scanner = PageScanner::default();
        let mut found = Vec::new();
        scanner.scan(page.as_bytes(), &mut |value| found.push(value.to_vec()));
        assert_eq!(found, [b"a"]);
        assert!(scanner.value.capacity() <= 2 * VALUE_MAX + 2);
        scanner.scan(&[b'<'; 9], &mut |_| {});
        scanner.scan("i".repeat(1 << 20).as_bytes(), &mut |_| {});
        assert!(scanner.value.capacity() <= 2 * VALUE_MAX + 2);
    }

    #[test]
    fn a_reset_scanner_knows_nothing_of_the_page_before() {
        let mut scanner = PageScanner::default();
        let mut found = Vec::new();
        scanner.scan(b"<img src=\"half", &mut |value| found.push(value.to_vec()));
        scanner.reset();
        scanner.scan(b"<img src=\"a\">", &mut |value| found.push(value.to_vec()));
        assert_eq!(found, [b"a"]);
    }

    proptest! {
        #[test]
        fn no_page_depends_on_its_pieces(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "<", ">", "img", " ", "src", "=", "\"", "'", "a", "/", "!", "-", "--", "iframe", "<img src=", "\n",
                ]),
                0..60,
            ),
            at in any::<prop::sample::Index>(),
        ) {
            let page = words.concat();
            let (one, two) = page.as_bytes().split_at(at.index(page.len() + 1));
            let whole = values(&page);
            prop_assert_eq!(&in_pieces(&[one, two]), &whole);
            prop_assert_eq!(&in_pieces(&page.as_bytes().chunks(1).collect::<Vec<_>>()), &whole);
        }
    }
}
