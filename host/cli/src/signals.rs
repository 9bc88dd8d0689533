//! Signals that ask a run to stop.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use signal_hook::SigId;
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM};

use gramer_accelerator::launch;
use gramer_base::context::Cancel;

/// The first signal that came; 0 if none did.
static FIRST: AtomicU8 = AtomicU8::new(0);

/// Whether a time limit asked the run to stop.
static TIME_IS_UP: AtomicBool = AtomicBool::new(false);

/// The exit code after a time limit, as that of `timeout`.
const TIME_LIMIT: u8 = 124;

/// Whether a time limit asked the run to stop.
pub fn is_time_up() -> bool {
    TIME_IS_UP.load(Ordering::Relaxed)
}

/// Asks the run to stop after a time, unless it is dropped before. The system's timer needs no thread.
pub struct Alarm(Option<SigId>);

impl Alarm {
    /// Begins to wait.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn set(after: Duration, cancel: &Cancel) -> io::Result<Self> {
        let cancel = cancel.clone();
        let rings = move || {
            TIME_IS_UP.store(true, Ordering::Relaxed);
            cancel.cancel();
        };
        // SAFETY: what it does within a signal's handler is to write atomic numbers.
        let alarm = Alarm(Some(unsafe { signal_hook::low_level::register(SIGALRM, rings) }?));
        // A timer of no time would never ring.
        ring_after(after.max(Duration::from_micros(1)))?;
        Ok(alarm)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let _ = ring_after(Duration::ZERO);
        self.0.take().map(signal_hook::low_level::unregister);
    }
}

/// Sets the system's timer, which rings once; of no time, it rings no more.
fn ring_after(time: Duration) -> io::Result<()> {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let value = libc::timeval {
        tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_usec: time.subsec_micros().into(),
    };
    let timer = libc::itimerval { it_interval: never, it_value: value };
    // SAFETY: the call reads the structure.
    match unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The exit code after a signal, as shells give it: 130 after Ctrl-C, or where none came; 124 after
/// a time limit.
pub fn exit_code() -> u8 {
    if is_time_up() {
        return TIME_LIMIT;
    }
    match FIRST.load(Ordering::Relaxed) {
        0 => 128 + SIGINT as u8,
        signal => 128 + signal,
    }
}

/// The first Ctrl-C (or signal to terminate, or that the terminal has gone) asks the run to stop,
/// the second ends the program at once. A terminal that goes is ignored where it was at the start
/// (`nohup`).
///
/// # Errors
/// If the system refuses.
pub fn stop_on(cancel: &Cancel) -> io::Result<()> {
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let wanted = wanted.filter(|&signal| signal != SIGHUP || !is_ignored(signal));
    for signal in wanted {
        let cancel = cancel.clone();
        let came = move || {
            let _ = FIRST.compare_exchange(0, signal as u8, Ordering::Relaxed, Ordering::Relaxed);
            if cancel.ask() && !launch::give_up() {
                gramer_base::output::remove_unfinished();
                signal_hook::low_level::exit(exit_code().into());
            }
        };
        // Without a thread that waits for signals, since to start one is a good part of a small run (`docs/decisions/small-runs.md`).
        // SAFETY: what it does within a signal's handler is to read and write atomic numbers, to remove files and to end the process.
        unsafe { signal_hook::low_level::register(signal, came)? };
    }
    Ok(())
}

/// Ignores `SIGXFSZ`: a write beyond the limit of file sizes (`ulimit -f`) then returns an error instead of ending the program.
pub fn ignore_size_limits() {
    // SAFETY: no handler runs.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: all fields of the structure may be zero.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action the call only fills the structure.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &mut now) };
    asked == 0 && now.sa_sigaction == libc::SIG_IGN
}
