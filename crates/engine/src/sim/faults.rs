//! What else goes wrong in a simulation: system calls that fail or do half, and a clock that is late.

use std::ops::RangeInclusive;

use rustix::io::Errno;

use super::random::Random;
use crate::driver::Stop;
use crate::time::Nanos;

/// How often what goes wrong, in thousandths. The default is never.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// An open that fails at once: EMFILE, ENFILE, ENOBUFS, EADDRNOTAVAIL, ENETUNREACH.
    pub open: u32,
    /// An open that succeeds and then fails to connect, with the same errors.
    pub late_open: u32,
    /// A write that takes fewer bytes than it could, none included.
    pub short_write: u32,
    /// A read that brings fewer bytes than it could.
    pub short_read: u32,
    /// A readiness without anything to read: the bytes come a little later.
    pub empty_read: u32,
    /// An event of a descriptor that is closed already.
    pub stale: u32,
    /// A wait that ends before anything has happened.
    pub early_wake: u32,
    /// A wait that ends late, by up to 2 ms.
    pub late_wake: u32,
    /// A pause of the machine of up to 3 s.
    pub jump: u32,
    /// A wait that brings only a part of what has happened.
    pub small_batch: u32,
    /// Somebody ends the run so long after its start.
    pub stop: Option<(Nanos, Stop)>,
}

impl Faults {
    /// Whether completions can come later than what they tell of.
    pub fn delay(&self) -> bool {
        self.empty_read + self.late_wake + self.jump > 0
    }

    /// The error of an open, if it has one.
    pub(super) fn errno(random: &mut Random, per_mille: u32) -> Option<i32> {
        const ERRNOS: [Errno; 5] =
            [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::ADDRNOTAVAIL, Errno::NETUNREACH];
        random.chance(per_mille).then(|| random.pick(&ERRNOS).raw_os_error())
    }

    /// How much later than it could a wait ends.
    pub(super) fn oversleep(&self, random: &mut Random) -> Nanos {
        const LATE: RangeInclusive<Nanos> = 1..=2_000_000;
        const JUMP: RangeInclusive<Nanos> = 1_000_000..=3_000_000_000;
        let late = if random.chance(self.late_wake) { random.scale(&LATE) } else { 0 };
        late + if random.chance(self.jump) { random.scale(&JUMP) } else { 0 }
    }
}
