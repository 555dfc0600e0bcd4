//! What this machine and this process are, and the time of day.

use httperf_report::{Cpu, Host};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The time of day as RFC 3339, to the millisecond.
pub(crate) fn utc_now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// CPU time this process has used so far.
pub(crate) fn cpu() -> Cpu {
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    match getrusage(UsageWho::RUSAGE_SELF) {
        Ok(usage) => Cpu { user_s: seconds(usage.user_time()), system_s: seconds(usage.system_time()) },
        Err(_) => Cpu::default(),
    }
}

/// Facts of this machine, as far as they can be read.
pub(crate) fn facts() -> Host {
    let uname = rustix::system::uname();
    let text = |bytes: &std::ffi::CStr| bytes.to_string_lossy().into_owned();
    Host {
        os: text(uname.sysname()),
        kernel: text(uname.release()),
        cpus: std::thread::available_parallelism().ok().map(|cpus| cpus.get() as u64),
        memory_bytes: memory_bytes(),
    }
}

fn memory_bytes() -> Option<u64> {
    let facts = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_time_of_day_is_rfc_3339() {
        let now = super::utc_now();
        assert!(now.parse::<jiff::Timestamp>().is_ok() && now.ends_with('Z'), "{now}");
    }

    #[test]
    fn the_machine_is_known() {
        let facts = super::facts();
        assert_eq!(facts.os, "Linux");
        assert!(facts.cpus.is_some_and(|cpus| cpus > 0));
        assert!(facts.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
    }
}
