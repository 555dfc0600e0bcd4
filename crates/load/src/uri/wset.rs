//! A working set: files named by their digits, passed through at a rate of misses (manual `--wset`).

/// What a credit starts at, so that ten times 0.1 make a miss in spite of rounding. The original's too.
const FIRST_CREDIT: f64 = 4e-14;

/// No number of files has more digits.
const DIGITS_MAX: usize = 20;

/// A working set as it is asked for.
#[derive(Clone, Debug)]
pub struct WsetSpec {
    /// What each URI begins with (`--uri`). One slash at its end is left out, so that `/w` and `/w/` name the
    /// same files and `/` means none. (The original sent `w//0/1.html` for `/w/`.)
    pub prefix: Vec<u8>,
    /// Files in the set; 0 acts as 1.
    pub files: u64,
    /// Share of the calls that ask for a file not asked for just before, 0 to 1.
    pub miss: f64,
    /// The first file (`--client I/N`: I).
    pub client: u32,
    /// Files from one to the next (`--client I/N`: N).
    pub clients: u32,
}

/// One share of the sequence of URIs. Each call takes a step: the credit grows by the miss rate, and when it
/// reaches 1 the next file is due.
///
/// The sequence is that of httperf 0.9.0 to the letter, also where there are more clients than files: the
/// number is then brought down by one N only, and the name shows its last digits.
#[derive(Clone, Debug)]
pub struct Wset {
    prefix: Vec<u8>,
    files: u64,
    digits: usize,
    miss: f64,
    stride: u64,
    credit: f64,
    file: u64,
    /// Steps that belong to other shares and come before the next one of ours.
    skip: u32,
    of: u32,
}

impl Wset {
    /// Share `index` of `of` (at least 1) of the sequence: it takes the steps index, index + of, ...
    pub fn new(spec: &WsetSpec, index: u32, of: u32) -> Self {
        let files = spec.files.max(1);
        Self {
            prefix: spec.prefix.strip_suffix(b"/").unwrap_or(&spec.prefix).to_vec(),
            files,
            digits: (files - 1).checked_ilog10().map_or(0, |log| log as usize + 1),
            miss: spec.miss,
            stride: spec.clients.into(),
            credit: FIRST_CREDIT,
            file: spec.client.into(),
            skip: index,
            of: of.max(1),
        }
    }

    /// Appends the next URI to `out`. Nothing is allocated once `out` is large enough.
    pub fn next(&mut self, out: &mut Vec<u8>) {
        for _ in 0..=self.skip {
            self.step();
        }
        self.skip = self.of - 1;
        self.name(out);
    }

    fn step(&mut self) {
        self.credit += self.miss;
        if self.credit >= 1.0 {
            self.credit -= 1.0;
            self.file = self.file.wrapping_add(self.stride);
            if self.file >= self.files {
                self.file -= self.files;
            }
        }
    }

    /// `PREFIX/d/d.html`, with as many digits as the last file's number has.
    fn name(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.prefix);
        if self.digits == 0 && self.prefix.is_empty() {
            // The original's `.html` is no request target.
            out.push(b'/');
        }
        let mut digits = [0; DIGITS_MAX];
        let mut rest = self.file;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        for &digit in &digits[DIGITS_MAX - self.digits..] {
            out.extend_from_slice(&[b'/', digit]);
        }
        out.extend_from_slice(b".html");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(prefix: &str, files: u64, miss: f64, client: u32, clients: u32) -> WsetSpec {
        WsetSpec { prefix: prefix.into(), files, miss, client, clients }
    }

    fn first(spec: &WsetSpec, n: usize) -> Vec<String> {
        take(&mut Wset::new(spec, 0, 1), n)
    }

    fn take(wset: &mut Wset, n: usize) -> Vec<String> {
        let mut name = || {
            let mut out = Vec::new();
            wset.next(&mut out);
            String::from_utf8(out).unwrap()
        };
        (0..n).map(|_| name()).collect()
    }

    /// The numbers of the files, read back from the names.
    fn numbers(spec: &WsetSpec, n: usize) -> Vec<u64> {
        let number = |name: &String| name[..name.len() - 5].replace('/', "").parse().unwrap();
        first(spec, n).iter().map(number).collect()
    }

    #[test]
    fn names_have_the_digits_of_the_last_file() {
        assert_eq!(first(&spec("/w", 1, 1.0, 0, 1), 2), ["/w.html", "/w.html"]);
        assert_eq!(first(&spec("/", 2, 1.0, 0, 1), 3), ["/1.html", "/0.html", "/1.html"]);
        assert_eq!(first(&spec("/", 10, 0.0, 0, 1), 1), ["/0.html"]);
        assert_eq!(first(&spec("/w", 11, 1.0, 0, 1), 1), ["/w/0/1.html"]);
        let names = ["/w/0/0/0.html", "/w/0/0/1.html", "/w/0/0/1.html", "/w/0/0/2.html"];
        assert_eq!(first(&spec("/w", 1000, 0.5, 0, 1), 4), names);
        let last = first(&spec("", u64::MAX, 0.0, 7, 1), 1).remove(0);
        assert_eq!(last.len(), 2 * DIGITS_MAX + 5);
        assert!(last.ends_with("/0/7.html"));
    }

    #[test]
    fn one_slash_stands_between_the_prefix_and_the_digits() {
        for (prefix, name) in [("/w/", "/w/1.html"), ("/w", "/w/1.html"), ("/", "/1.html"), ("w", "w/1.html")]
        {
            assert_eq!(first(&spec(prefix, 10, 1.0, 0, 1), 1), [name]);
        }
        assert_eq!(first(&spec("/", 1, 1.0, 0, 1), 1), ["/.html"]);
        assert_eq!(first(&spec("/w/", 0, 1.0, 0, 1), 1), ["/w.html"]);
    }

    #[test]
    fn misses_come_at_their_rate() {
        assert_eq!(numbers(&spec("/", 100, 0.5, 0, 1), 6), [0, 1, 1, 2, 2, 3]);
        assert_eq!(numbers(&spec("/", 100, 1.0, 0, 1), 3), [1, 2, 3]);
        assert_eq!(numbers(&spec("/", 100, 0.0, 0, 1), 3), [0, 0, 0]);
        assert_eq!(numbers(&spec("/", 100, 0.25, 2, 7), 8), [2, 2, 2, 9, 9, 9, 9, 16]);
        let tenth = numbers(&spec("/", 1000, 0.1, 0, 1), 1000);
        assert_eq!((tenth[8], tenth[9], tenth[999]), (0, 1, 100));
    }

    #[test]
    fn a_set_wraps_by_subtracting_its_size_once() {
        assert_eq!(numbers(&spec("/", 11, 1.0, 0, 1), 13), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1, 2]);
        assert_eq!(numbers(&spec("/", 10, 1.0, 8, 3), 5), [1, 4, 7, 0, 3]);
        // As seen from httperf 0.9.0.
        assert_eq!(numbers(&spec("/", 3, 1.0, 0, 10), 5), [7, 4, 1, 8, 5]);
        assert_eq!(numbers(&spec("/", 3, 1.0, 5, 7), 5), [9, 3, 7, 1, 5]);
        assert_eq!(numbers(&spec("/", 100, 1.0, 99, 300), 2), [99, 99]);
    }

    #[test]
    fn shares_together_are_the_whole() {
        let spec = spec("/w", 50, 0.3, 1, 2);
        let whole = first(&spec, 60);
        for of in 1..5_u32 {
            for index in 0..of {
                let expected: Vec<_> = whole.iter().skip(index as usize).step_by(of as usize).collect();
                let share = take(&mut Wset::new(&spec, index, of), expected.len());
                assert_eq!(share.iter().collect::<Vec<_>>(), expected, "{index}/{of}");
            }
        }
    }

    #[test]
    fn long_prefixes_are_no_overflow() {
        let prefix = "/long".repeat(1000);
        assert_eq!(first(&spec(&prefix, 10, 1.0, 0, 1), 1), [format!("{prefix}/1.html")]);
    }
}
