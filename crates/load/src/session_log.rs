//! Session files (manual `--wsesslog`): what the users of a site do, call by call.
//!
//! ```text
//!   # a comment                              column 1 only
//!   /page think=2.0                          column 1: a new burst; think: the wait after it
//!       /style.css                           indented: joins the burst
//!       /img.gif method=HEAD
//!   /form method=POST contents='a=1&b=2'     ' and " quote, \n \r \t and \X escape
//!                                            a line of blanks ends the session
//!   /next headers='X-Id: 7\nAccept: a/b'     ours: more header lines
//!   /put method=PUT contents=@body.bin       ours: a body from a file; contents=\@x or '@x' begin with an @
//! ```
//!
//! What the original reads in some way is read that way here, so old files mean what they meant. Where it
//! would crash, hang, or silently drop part of a file (NUL bytes, a file that breaks off, an empty one),
//! this is an error that names the place. What it reads in a way that is hardly meant is read so, with a
//! [note](SessionLog).

mod error;
mod quote;
mod text;

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub use error::LogError;
use text::{Text, is_blank};

/// What a session file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionLog {
    /// The sessions, in the order of the file. There is at least one.
    pub templates: Vec<SessionTemplate>,
    /// Warnings for the user, each with its place: the first few readings that are hardly meant.
    pub notes: Vec<String>,
}

/// What one session does: at least one burst.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionTemplate {
    /// One after the other, each followed by its think time.
    pub bursts: Vec<Burst>,
}

/// Calls that belong together: the first alone, after its reply all others at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Burst {
    /// At least one.
    pub calls: Vec<CallTemplate>,
    /// Seconds from the last reply to the next burst, 0 or more and finite. `None`: the default
    /// (`--wsesslog`, second parameter).
    pub think: Option<f64>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTemplate {
    /// The request target, as it stands.
    pub uri: Vec<u8>,
    /// The method. It stays GET even with a body.
    pub method: Vec<u8>,
    /// More header lines, each with its CRLF.
    pub fields: Vec<u8>,
    /// The body. Empty: none, and no Content-length.
    pub body: Vec<u8>,
}

/// Reads a file that a session file names.
pub type ReadFile<'a> = &'a mut dyn FnMut(&Path) -> io::Result<Vec<u8>>;

/// Methods that the original (0.9.0, the last two 0.9.1) knows, by prefix: `GETX` is GET there.
const METHODS: &[&str] = &["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT", "TRACE", "PROPFIND", "REPORT"];

/// More notes than this are of no use.
const NOTES_MAX: usize = 8;

impl SessionLog {
    /// Reads the bytes of `file`. `read` is asked for the files of `contents=@FILE`; a relative name is one
    /// in the folder of `file`.
    ///
    /// # Errors
    /// With the place and what was expected there, see [`LogError`].
    pub fn parse(file: &Path, bytes: &[u8], read: ReadFile<'_>) -> Result<Self, LogError> {
        let text = Text::new(file, bytes);
        if let Some(at) = text.nul() {
            let expected = "a text file, but this is a NUL byte (a log for --wlog, or UTF-16?)";
            return Err(text.error(at, "NUL byte in ", expected));
        }
        let mut parser = Parser { text, read, log: Self::default(), session: SessionTemplate::default() };
        while parser.text.peek().is_some() {
            parser.line()?;
        }
        parser.end_session();
        if parser.log.templates.is_empty() {
            let expected = "a line `URI [method=M] [think=S] [contents=C] [headers=H]`";
            return Err(parser.text.error(0, "no session in ", expected));
        }
        Ok(parser.log)
    }
}

struct Parser<'a, 'r> {
    text: Text<'a>,
    read: ReadFile<'r>,
    log: SessionLog,
    /// The session being read.
    session: SessionTemplate,
}

impl Parser<'_, '_> {
    fn line(&mut self) -> Result<(), LogError> {
        if self.text.peek() == Some(b'#') {
            self.text.skip_line();
            return Ok(());
        }
        let indented = self.text.peek().is_some_and(is_blank);
        self.text.skip_blanks();
        if self.text.skip_line_end() {
            self.end_session();
            return Ok(());
        }
        let uri = self.text.word().to_vec();
        let call = CallTemplate { uri, method: b"GET".to_vec(), fields: Vec::new(), body: Vec::new() };
        match self.session.bursts.last_mut() {
            Some(burst) if indented => burst.calls.push(call),
            _ => self.session.bursts.push(Burst { calls: vec![call], think: None }),
        }
        loop {
            self.text.skip_blanks();
            if self.text.skip_line_end() {
                return Ok(());
            }
            self.argument()?;
        }
    }

    fn end_session(&mut self) {
        if !self.session.bursts.is_empty() {
            self.log.templates.push(std::mem::take(&mut self.session));
        }
    }

    /// One `name=value` behind a URI.
    fn argument(&mut self) -> Result<(), LogError> {
        let start = self.text.at();
        let word = self.text.look();
        let value = |name: &str| word.strip_prefix(name.as_bytes()).filter(|value| !value.is_empty());
        if let Some(value) = value("method=") {
            let method = self.method(value, start)?;
            self.call(|call| call.method = method);
        } else if let Some(value) = value("think=") {
            let seconds = self.think(value, start)?;
            if let Some(burst) = self.session.bursts.last_mut() {
                burst.think = Some(seconds);
            }
        } else if value("contents=").is_some() {
            self.text.skip("contents=".len());
            let body = self.contents()?;
            self.call(|call| call.body = body);
            return Ok(());
        } else if value("headers=").is_some() {
            self.text.skip("headers=".len());
            let lines = self.quoted()?;
            self.call(|call| fields(&lines, &mut call.fields));
            return Ok(());
        } else {
            let expected = "method=M, think=SECONDS, contents=TEXT or headers=TEXT ('' for an empty text)";
            return Err(self.text.unrecognized("arg", word, start, expected));
        }
        self.text.skip(word.len());
        Ok(())
    }

    /// Does something to the call being read.
    fn call(&mut self, change: impl FnOnce(&mut CallTemplate)) {
        self.session.bursts.last_mut().and_then(|burst| burst.calls.last_mut()).map(change);
    }

    /// A method of the original by prefix, or any word in capitals as it stands.
    fn method(&self, value: &[u8], at: usize) -> Result<Vec<u8>, LogError> {
        if let Some(known) = METHODS.iter().find(|method| value.starts_with(method.as_bytes())) {
            return Ok(known.as_bytes().to_vec());
        }
        let capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"-_".contains(byte);
        if value.first().is_some_and(u8::is_ascii_uppercase) && value.iter().all(capital) {
            return Ok(value.to_vec());
        }
        let expected = "a method in capitals, such as GET, HEAD, POST or PROPFIND";
        Err(self.text.unrecognized("method", value, at + "method=".len(), expected))
    }

    /// Seconds: the number that the value begins with, as C reads it. A negative one is no wait.
    fn think(&mut self, value: &[u8], at: usize) -> Result<f64, LogError> {
        let number = text::number(value);
        let Some((seconds, len)) = number.filter(|(seconds, _)| seconds.is_finite()) else {
            let word = [b"think=", value].concat();
            return Err(self.text.unrecognized("arg", &word, at, "think=SECONDS, such as think=0.5"));
        };
        if len < value.len() {
            let rest = error::excerpt(&value[len..]);
            self.note(at + "think=".len() + len, &format!("'{rest}' after the seconds is ignored"));
        }
        Ok(seconds.max(0.0))
    }

    /// A text, or `@FILE`: the `@` must be the very first byte, neither quoted nor escaped.
    fn contents(&mut self) -> Result<Vec<u8>, LogError> {
        let start = self.text.at();
        if self.text.peek() != Some(b'@') {
            return self.quoted();
        }
        self.text.skip(1);
        let name = self.quoted()?;
        if name.is_empty() {
            let expected = "the name of a file after @ (or contents='@' for the text)";
            return Err(self.text.unrecognized("arg", b"contents=@", start, expected));
        }
        let name = Path::new(std::ffi::OsStr::from_bytes(&name));
        let path = self.text.file().parent().map_or_else(|| name.to_owned(), |folder| folder.join(name));
        (self.read)(&path).map_err(|error| self.text.unreadable(&path, start, &error))
    }

    /// A text with quotes and escapes, with a note where the original ends it at the end of a line.
    fn quoted(&mut self) -> Result<Vec<u8>, LogError> {
        let (text, unclosed) = quote::read(&mut self.text)?;
        if let Some(at) = unclosed {
            self.note(at, "the quote is not closed on its line: the text ends there, line end included");
        }
        Ok(text)
    }

    fn note(&mut self, at: usize, what: &str) {
        if self.log.notes.len() < NOTES_MAX {
            self.log.notes.push(format!("{}: {what}", self.text.place(at)));
        }
    }
}

/// Appends the lines of a text, each ended by CRLF; empty ones would end the header section and are left out.
fn fields(text: &[u8], out: &mut Vec<u8>) {
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            out.extend_from_slice(line);
            out.extend_from_slice(b"\r\n");
        }
    }
}
