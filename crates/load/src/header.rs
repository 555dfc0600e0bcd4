//! The lines of a reply's header section, as the workloads look at them.

/// The lines of a raw header section, without their CRLF or LF. A CR inside a line ends it too: what comes
/// after must not get into a request of ours.
pub(crate) fn lines(section: &[u8]) -> impl Iterator<Item = &[u8]> {
    section
        .split(|&byte| byte == b'\n')
        .map(|line| line.split(|&byte| byte == b'\r').next().unwrap_or_default())
}

/// What follows the name and the colon, if the line is the field of this name (in any case).
pub(crate) fn value<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (head, rest) = line.split_at_checked(name.len())?;
    if head.eq_ignore_ascii_case(name.as_bytes()) { rest.strip_prefix(b":") } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_crlf_or_lf() {
        let found: Vec<_> = lines(b"A: 1\r\nB: 2\nC: 3\rD: 4").collect();
        assert_eq!(found, [b"A: 1", b"B: 2", b"C: 3"]);
    }

    #[test]
    fn names_are_whole_and_in_any_case() {
        assert_eq!(value(b"LOCATION: /x", "Location"), Some(b" /x".as_slice()));
        assert_eq!(value(b"Location:", "Location"), Some(b"".as_slice()));
        for line in ["Locations: /x", "Locatio: /x", "Location", "", "Location : /x"] {
            assert_eq!(value(line.as_bytes(), "Location"), None, "{line}");
        }
    }
}
