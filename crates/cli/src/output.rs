//! The one writer: everything the program prints goes through here.
//!
//! A closed or full stdout never ends a run: what cannot be written is dropped, the reason is said once on
//! stderr, and files are written all the same.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

/// The writer.
#[derive(Debug)]
pub(crate) struct Output {
    /// Where the text of reports goes.
    text: Stream,
    /// Nothing more is tried on a stream that is gone.
    gone: bool,
}

impl Output {
    /// Reports go to stdout.
    pub(crate) fn new() -> Self {
        Self { text: Stream::Stdout, gone: false }
    }

    /// Whether the text of reports goes to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        match self.text {
            Stream::Stdout => io::stdout().is_terminal(),
            Stream::Stderr => io::stderr().is_terminal(),
        }
    }

    /// Whether messages may have colours: a person sees them, and has not asked for none (no-color.org).
    pub(crate) fn has_colours(&self) -> bool {
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    }

    /// From now on the text of reports goes to stderr: stdout is wanted for a document.
    pub(crate) fn leave_stdout(&mut self) {
        self.text = Stream::Stderr;
    }

    /// Writes text of a report.
    pub(crate) fn text(&mut self, bytes: impl AsRef<[u8]>) {
        match self.text {
            Stream::Stdout => self.stdout(bytes.as_ref()),
            Stream::Stderr => self.diagnostic(bytes),
        }
    }

    /// Writes a message for the person at the terminal.
    pub(crate) fn diagnostic(&self, bytes: impl AsRef<[u8]>) {
        // When stderr is gone there is nobody left to tell.
        let _ = io::stderr().lock().write_all(bytes.as_ref());
    }

    /// Writes a document to stdout.
    pub(crate) fn stdout(&mut self, bytes: &[u8]) {
        if self.gone {
            return;
        }
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            self.gone = true;
            if error.kind() != ErrorKind::BrokenPipe {
                self.diagnostic(format!("httperf: failed to write to stdout: {error}\n"));
            }
        }
    }
}

/// Names of stdout. The latter are links to whatever it is: a file there must be written like a pipe, not
/// replaced.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// A file that is there whole or not at all. Made before a run, so that it cannot fail
/// for want of a folder after it.
#[derive(Debug)]
pub(crate) struct Document {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// `-`.
    Stdout,
    /// Something that is no regular file (a device, a pipe): written as it is.
    Device(File),
    /// Renamed to its path when it is complete.
    Beside(NamedTempFile),
}

impl Document {
    /// Prepares the document.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        if STDOUT.iter().any(|name| path == Path::new(name)) {
            return Ok(Self { path: path.to_owned(), place: Place::Stdout });
        }
        // What a link points to is written, and the link stays; one that points to nothing is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|facts| !facts.is_file()) {
            let device = File::options().write(true).open(&path).with_context(|| failure(&path))?;
            return Ok(Self { path, place: Place::Device(device) });
        }
        let no_name = || io::Error::from(ErrorKind::IsADirectory);
        let name = path.file_name().filter(|_| !path.as_os_str().as_bytes().ends_with(b"/"));
        let name = name.ok_or_else(no_name).with_context(|| failure(&path))?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        // Room for what is added to the name: it may have 255 bytes as it is.
        let prefix = &name.as_bytes()[..name.len().min(200)];
        let made = tempfile::Builder::new()
            .prefix(OsStr::from_bytes(prefix))
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(|| failure(&path))?;
        Ok(Self { path, place: Place::Beside(made) })
    }

    /// The file that becomes the document when it is complete, if there is one.
    pub(crate) fn partial(&self) -> Option<&Path> {
        match &self.place {
            Place::Beside(file) => Some(file.path()),
            Place::Stdout | Place::Device(_) => None,
        }
    }

    /// Whether it goes to stdout.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// Writes the whole document.
    ///
    /// # Errors
    /// When it cannot be written; no part of it is left then.
    pub(crate) fn write(self, bytes: &[u8], output: &mut Output) -> anyhow::Result<()> {
        match self.place {
            Place::Stdout => output.stdout(bytes),
            Place::Device(mut file) => file.write_all(bytes).with_context(|| failure(&self.path))?,
            Place::Beside(mut file) => {
                file.write_all(bytes).with_context(|| failure(&self.path))?;
                file.persist(&self.path).with_context(|| failure(&self.path))?;
            }
        }
        Ok(())
    }
}

fn failure(path: &Path) -> String {
    format!("failed to write {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        let document = Document::create(&path).unwrap();
        assert!(!path.exists());
        document.write(b"{}\n", &mut Output::new()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"{}\n");
        drop(Document::create(&path).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_device_is_written_and_not_replaced() {
        let null = Path::new("/dev/null");
        Document::create(null).unwrap().write(b"{}\n", &mut Output::new()).unwrap();
        assert!(!null.metadata().unwrap().is_file());
        let full = Document::create(Path::new("/dev/full")).unwrap();
        let error = full.write(b"{}\n", &mut Output::new()).unwrap_err();
        assert_eq!(error.to_string(), "failed to write /dev/full");
    }

    #[test]
    fn what_can_never_be_a_file_is_noticed_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "new/", ".", ".."] {
            let path = if name.is_empty() { PathBuf::new() } else { folder.path().join(name) };
            assert!(Document::create(&path).is_err(), "{name:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_stays_and_its_target_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Document::create(&link).unwrap().write(b"{}\n", &mut Output::new()).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"{}\n");
        assert!(Document::create(Path::new("/dev/stdout")).unwrap().is_stdout(), "never replaced");
    }

    #[test]
    fn a_name_may_have_as_many_bytes_as_the_file_system_allows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n".repeat(255));
        Document::create(&path).unwrap().write(b"{}\n", &mut Output::new()).unwrap();
        assert!(path.exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_noticed_before_the_run() {
        let error = Document::create(Path::new("/nonexistent/result.json")).unwrap_err();
        assert_eq!(error.to_string(), "failed to write /nonexistent/result.json");
    }
}
