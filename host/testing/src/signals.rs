//! When a process has reached a state in which a signal means what the test wants: a busy machine starts a program as late
//! as it likes, so that no pause is long enough. Read from `/proc/PID/status` (proc_pid_status(5)).
//!
//! ```
//! use gramer_testing::signals;
//!
//! signals::until_taken(std::process::id(), 10); // nothing is pending here
//! ```

use std::time::{Duration, Instant};

/// Waits until a process has a handler for a signal (its number): before, the signal ends it without a word.
///
/// # Panics
///
/// When there is no such process, or none after 20 seconds.
pub fn until_handled(pid: u32, signal: i32) {
    until(pid, signal, "SigCgt:", true);
}

/// Waits until a process has taken a signal (its number): two that are pending may be delivered in any order.
///
/// # Panics
///
/// When there is no such process, or it hasn't after 20 seconds.
pub fn until_taken(pid: u32, signal: i32) {
    until(pid, signal, "ShdPnd:", false);
}

fn until(pid: u32, signal: i32, mask: &str, expected: bool) {
    let bit = 1_u64 << (signal - 1);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let signals = status.lines().find_map(|line| line.strip_prefix(mask)).unwrap();
        if (u64::from_str_radix(signals.trim(), 16).unwrap() & bit != 0) == expected {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("process {pid}: {mask} of signal {signal} is not {expected}");
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    /// A shell that begins to handle a signal late, and one that is stopped while a signal waits.
    #[test]
    fn a_handler_and_a_signal_are_waited_for() {
        let mut shell = Command::new("sh")
            .args([
                "-c",
                "sleep 0.2; trap 'exit 3' USR1; kill -STOP $$; while :; do sleep 0.01; done",
            ])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let send = |signal: &str| {
            let id = shell.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        };
        super::until_handled(shell.id(), 10);
        let read =
            |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", shell.id())).unwrap();
        while !read("stat").contains(") T ") {
            std::thread::yield_now();
        }
        send("-USR1");
        assert!(read("status").contains("ShdPnd:\t0000000000000200"));
        send("-CONT");
        super::until_taken(shell.id(), 10);
        assert_eq!(shell.wait().unwrap().code(), Some(3));
    }
}
