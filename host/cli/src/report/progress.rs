//! The progress bar.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use gramer_graph::context::Progress;

/// Shows a [`Progress`] on standard error while it lives: nothing in the first second, and
/// nothing at all where standard error is no terminal.
pub struct Meter {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    /// Begins to watch `progress`; `what` says what goes on.
    pub fn new(what: &'static str, progress: Arc<Progress>) -> Self {
        if !console_is_terminal() {
            return Meter { stop: None, thread: None };
        }
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let wait = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !wait(Duration::from_secs(1)) {
                return;
            }
            let bar = ProgressBar::new(0);
            if let Ok(style) = ProgressStyle::with_template(
                "{msg} {wide_bar} {percent:>3} %  {per_sec}  {elapsed} elapsed, {eta} to go",
            ) {
                bar.set_style(style);
            }
            bar.set_message(what);
            while wait(Duration::from_millis(100)) {
                let (done, total) = progress.get();
                bar.set_length(total);
                bar.set_position(done);
            }
            bar.finish_and_clear();
        });
        Meter { stop: Some(stop), thread: Some(thread) }
    }
}

fn console_is_terminal() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal()
}

impl Drop for Meter {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The bar is decoration: a panic in its thread must not become ours.
            let _ = thread.join();
        }
    }
}
