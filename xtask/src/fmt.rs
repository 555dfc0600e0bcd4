//! `cargo xtask fmt`: rustfmt over every crate, by the one `rustfmt.toml`.

use std::process::Command;

use anyhow::Context;

/// Formats, or with `check` only tells; `false` if something is not formatted.
pub(crate) fn run(check: bool) -> anyhow::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["fmt", "--all"]);
    if check {
        command.args(["--", "--check"]);
    }
    let status = command.status().context("failed to start `cargo fmt`")?;
    Ok(status.success())
}
