//! Panics that may be the fault of a file: their messages are held back until that is known.

use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How many runs want messages held.
static HOLDING: AtomicUsize = AtomicUsize::new(0);
/// The first message that is held.
static HELD: Mutex<Option<String>> = Mutex::new(None);

/// Prints held panics, which are faults of this program.
static TELL: OnceLock<fn(&str)> = OnceLock::new();

/// Makes it possible to hold messages of panics back (`Hold`) in this process: for a program's `main`.
/// `tell` prints those that were held for nothing; that of the first call counts.
///
/// ```
/// gramer_base::panics::install(|message| eprintln!("{message}"));
/// ```
pub fn install(tell: fn(&str)) {
    let _ = TELL.set(tell);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if HOLDING.load(Ordering::SeqCst) == 0 {
            return usual(info);
        }
        HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| info.to_string());
    }));
}

/// Holds messages while it lives.
pub struct Hold(());

impl Hold {
    /// From now on.
    pub fn begin() -> Self {
        HOLDING.fetch_add(1, Ordering::SeqCst);
        Hold(())
    }

    /// Prints the held panic, which is a fault of this program.
    pub fn release(self) {
        let message = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(message), Some(tell)) = (message, TELL.get()) {
            tell(&message);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if HOLDING.fetch_sub(1, Ordering::SeqCst) == 1 {
            HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}
