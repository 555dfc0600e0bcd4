//! What the command-line tests share: the program, the server to practise on, the documents it writes.
#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The program.
pub(crate) fn httperf() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("httperf"))
}

/// `httperf serve` on a free port, until it is dropped.
pub(crate) struct Serve {
    child: Child,
    pub(crate) port: String,
}

impl Serve {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(options: &[&str]) -> Self {
        let mut child = httperf()
            .args(["serve", "--port", "0"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim_end().trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
        Self { child, port }
    }

    /// The URL of one of its paths.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The program, about to load this server.
    pub(crate) fn load(&self) -> Command {
        load(&self.port)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        signal(&self.child, Signal::TERM);
        let _ = self.child.wait();
    }
}

/// The program, about to load a port of this machine.
pub(crate) fn load(port: &str) -> Command {
    let mut command = httperf();
    command.args(["--server", "127.0.0.1", "--port", port]);
    command
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The result document in a file.
pub(crate) fn document(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
