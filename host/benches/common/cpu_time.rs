//! CPU time of a thread and of the process. The accounts in /proc (`schedstat`) are brought up to date in
//! ticks of milliseconds, so shorter runs are reported as zero.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of this thread so far.
#[allow(dead_code)]
pub fn of_thread() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process so far.
#[allow(dead_code)]
pub fn of_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
