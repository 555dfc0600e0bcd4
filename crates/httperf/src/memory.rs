//! Whether this process may have the memory that a plan can need: looked at before the start, because an
//! allocation that fails in the middle of a run would cost its report.

use nix::sys::resource::{Resource, getrlimit};

use crate::plan::{PacePlan, Plan, WorkloadPlan};

const MIB: u64 = 1 << 20;
/// Of the program itself, and of each of its loops (buffers, collectors).
const PROGRAM: u64 = 16 * MIB;
const LOOP: u64 = 8 * MIB;
/// Address space beyond that, of which most is never touched: libraries, and for each loop a stack and an
/// arena.
const PROGRAM_SPACE: u64 = 64 * MIB;
const LOOP_SPACE: u64 = 72 * MIB;
/// Of a connection, of what TLS adds to it, and of a session.
const CONNECTION: u64 = 1024;
const TLS: u64 = 5 * 1024;
const SESSION: u64 = 2 * 1024;

/// One sentence if the memory limits of this process may be too small for the plan.
pub fn memory_warning(plan: &Plan) -> Option<String> {
    let need = need(plan);
    let space = need + PROGRAM_SPACE + u64::from(plan.threads) * LOOP_SPACE;
    let limits = [
        ("RLIMIT_AS", address_space(), space, "ulimit -v"),
        ("the memory limit of its control group", control_group(), need, "memory.max"),
    ];
    let tight = limits.into_iter().find(|(_, limit, need, _)| limit.is_some_and(|limit| limit < *need));
    let (name, limit, need, how) = tight?;
    let [need, limit] = [need, limit?].map(|bytes| bytes.div_ceil(MIB));
    Some(format!(
        "warning: this run may need {need} MiB, and {name} allows {limit} MiB: raise it ({how}) or have fewer \
         connections at once"
    ))
}

/// The most that a plan can need, in bytes, as far as it can be told before.
fn need(plan: &Plan) -> u64 {
    // In an open loop nobody knows how many there will be at once; descriptors bound it.
    let in_loop = |pace: &PacePlan| {
        let most = if pace.period.is_some() { u64::MAX } else { u64::from(pace.concurrency) };
        most.min(pace.total)
    };
    let (most, session) = match &plan.workload {
        WorkloadPlan::ConnRate(plan) => (in_loop(&plan.pace), 0),
        WorkloadPlan::Sessions(plan) => (in_loop(&plan.pace), SESSION),
        WorkloadPlan::Pool(plan) => (u64::from(plan.connections), 0),
    };
    let at_once = most.min(crate::raise_descriptor_limit());
    let conn = CONNECTION + if plan.scenario.secure.is_some() { TLS } else { 0 };
    PROGRAM + u64::from(plan.threads) * LOOP + at_once * (conn + session)
}

fn address_space() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    (soft != u64::MAX).then_some(soft)
}

/// The limit of the control group of version 2 that this process is in.
fn control_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let limit = std::fs::read_to_string(format!("/sys/fs/cgroup{}/memory.max", path.trim_end_matches('/')));
    limit.ok()?.trim().parse().ok()
}
