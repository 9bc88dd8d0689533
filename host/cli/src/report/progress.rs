//! The progress bar.

use std::fmt::Write;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use gramer_accelerator::xclbin::build::BuildSteps;

use super::symbols::{Symbols, symbols};
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
        let show = move || {
            let wait = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !wait(Duration::from_secs(1)) {
                return;
            }
            let bar = ProgressBar::new(0);
            set_style(&bar, "{msg} {wide_bar} {percent:>3} %  {per_sec}  {elapsed} elapsed{to_go}");
            bar.set_message(what);
            while wait(Duration::from_millis(100)) {
                let (done, total) = progress.get();
                bar.set_length(total);
                bar.set_position(done);
            }
            bar.finish_and_clear();
        };
        // A bar is decoration: nothing is shown where the system refuses a thread.
        let thread = std::thread::Builder::new().spawn(show).ok();
        Meter { stop: Some(stop), thread }
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    let Ok(style) = ProgressStyle::with_template(template) else { return };
    let style = style.with_key("to_go", |state: &ProgressState, out: &mut dyn Write| {
        // Decoration.
        let _ = out.write_str(&to_go(state.pos(), state.eta()));
    });
    bar.set_style(match symbols() {
        Symbols::Unicode => style,
        Symbols::Ascii => style.progress_chars("#>-").tick_chars("|/-\\ "),
    });
}

/// What is said of the time that is left; nothing as long as nothing is done to judge it by.
fn to_go(done: u64, left: Duration) -> String {
    match done {
        0 => String::new(),
        _ => format!(", {} to go", HumanDuration(left)),
    }
}

/// Shows how far the build of a model is: a bar on a terminal, else one line that it has begun.
/// Nothing is shown before the first step: a model that is there has none.
#[derive(Debug)]
pub struct BuildMeter {
    machine: String,
    bar: Option<ProgressBar>,
    begun: bool,
}

impl BuildMeter {
    /// Of the model of this machine.
    pub fn show(machine: &str) -> Box<dyn BuildSteps> {
        Box::new(BuildMeter { machine: machine.into(), bar: None, begun: false })
    }
}

impl BuildSteps for BuildMeter {
    fn step(&mut self, what: &str, of: Option<(u64, u64)>) {
        let machine = &self.machine;
        if !std::mem::replace(&mut self.begun, true) {
            if console_is_terminal() {
                self.bar = Some(ProgressBar::new(0));
            } else {
                say(&format!("building the model of machine {machine}, which takes minutes, once"));
            }
        }
        let Some(bar) = &self.bar else { return };
        match of {
            Some((done, all)) => {
                set_style(bar, "{msg} {wide_bar} {pos} of {len} files  {elapsed} elapsed");
                bar.set_length(all);
                bar.set_position(done);
            }
            None => set_style(bar, "{msg} {spinner}  {elapsed} elapsed"),
        }
        bar.set_message(format!("building the model of machine {machine} (once): {what}"));
        bar.enable_steady_tick(Duration::from_millis(200));
    }

    fn note(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }
}

impl Drop for BuildMeter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A line on standard error, which may be closed.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_promised_before_anything_is_done() {
        assert_eq!(to_go(0, Duration::ZERO), "");
        assert_eq!(to_go(1, Duration::from_secs(45)), ", 45 seconds to go");
    }
}
