//! The progress bar.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tracing::info;

use gramer_accelerator::xclbin::build::BuildSteps;

use gramer_base::context::Progress;

use super::symbols::{Symbols, symbols};
use crate::cluster;
use crate::log::{is_quiet, is_verbose};
use crate::program::tell;

/// Time between two lines of a log.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// Time before a bar is shown.
const BEFORE_BAR: Duration = Duration::from_millis(500);
/// Less done says nothing of the time that is left.
const LEAST: f64 = 0.01;

/// Shows a [`Progress`] on standard error while it lives: on a terminal a bar, after half a second; in a log, a
/// line every few seconds.
pub struct Meter {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    /// Begins to watch `progress`; `what` names the work.
    pub fn new(what: &'static str, progress: Arc<Progress>) -> Self {
        let lines = is_verbose();
        if is_quiet() || cluster::above_0().is_some() || !(lines || console_is_terminal()) {
            return Meter { stop: None, thread: None };
        }
        progress.watch();
        let (stop, stopped) = mpsc::channel();
        let run = move || {
            let wait = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            let mut watched = ShownProgress { what, progress, begun: Instant::now(), share: 0.0 };
            if lines { watched.log(wait) } else { watched.draw(wait) }
        };
        // What is decoration does without a thread where the system refuses one.
        let thread = std::thread::Builder::new().spawn(run).ok();
        Meter { stop: Some(stop), thread }
    }
}

/// State of a progress bar.
struct ShownProgress {
    what: &'static str,
    progress: Arc<Progress>,
    begun: Instant,
    /// The largest share that was done: phases that weren't planned begin again at 0.
    share: f64,
}

impl ShownProgress {
    fn share(&mut self) -> f64 {
        let (done, total) = self.progress.get();
        if total > 0 {
            self.share = self.share.max(done.min(total) as f64 / total as f64);
        }
        self.share
    }

    /// The time that is left; nothing is promised where little is done, or what is to come depends on what is found.
    fn to_go(&self, took: Duration) -> String {
        match self.progress.is_unpredictable() {
            true => ESTIMATING.into(),
            false => to_go(self.share, took),
        }
    }

    /// Logs a line every few seconds.
    fn log(&mut self, wait: impl Fn(Duration) -> bool) {
        while wait(BETWEEN_LINES) {
            let (share, took) = (self.share(), self.begun.elapsed());
            info!("{}: {} % after {}{}", self.what, percent(share), words(took), self.to_go(took));
        }
    }

    /// Draws a bar.
    fn draw(&mut self, wait: impl Fn(Duration) -> bool) {
        /// Positions of the bar.
        const ALL: u64 = 1000;
        if !wait(BEFORE_BAR) {
            return;
        }
        let bar = ProgressBar::new(ALL);
        set_style(&bar, "{msg} {wide_bar} {prefix}");
        bar.set_message(self.what);
        while wait(Duration::from_millis(100)) {
            let (share, took) = (self.share(), self.begun.elapsed());
            let to_go = self.to_go(took);
            bar.set_prefix(format!("{:>5} %  {}{to_go}", percent(share), words(took)));
            bar.set_position((ALL as f64 * share) as u64);
        }
        bar.finish_and_clear();
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    let Ok(style) = ProgressStyle::with_template(template) else { return };
    bar.set_style(match symbols() {
        Symbols::Unicode => style,
        Symbols::Ascii => style.progress_chars("#>-").tick_chars("|/-\\ "),
    });
}

/// Percent with a decimal, rounded down.
fn percent(share: f64) -> String {
    format!("{:.1}", (1000.0 * share).floor() / 10.0)
}

/// Instead of the time that is left.
const ESTIMATING: &str = ", estimating the rest";

/// Estimated time left, from the time of a `share` of the work; `None` while the share is too small.
fn to_go(share: f64, took: Duration) -> String {
    if share < LEAST {
        return ESTIMATING.into();
    }
    let left = took.as_secs_f64() * (1.0 - share) / share;
    format!(", about {} left", words(Duration::from_secs_f64(left)))
}

/// A time in whole seconds, minutes or hours: `7 s`, `4 min 10 s`, `2 h 5 min`.
fn words(time: Duration) -> String {
    let s = time.as_secs_f64().round() as u64;
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// Shows the progress of a model's build: a bar on a terminal, else one line at the beginning. A model that is
/// already built shows nothing.
#[derive(Debug)]
pub struct BuildMeter {
    machine: String,
    bar: Option<ProgressBar>,
    begun: bool,
}

impl BuildMeter {
    /// Creates the progress display for the model of this machine.
    pub fn show(machine: &str) -> Box<dyn BuildSteps> {
        Box::new(BuildMeter { machine: machine.into(), bar: None, begun: false })
    }
}

impl BuildSteps for BuildMeter {
    fn step(&mut self, what: &str, of: Option<(u64, u64)>) {
        let machine = &self.machine;
        if !std::mem::replace(&mut self.begun, true) {
            if console_is_terminal() && !is_quiet() {
                self.bar = Some(ProgressBar::new(0));
            } else {
                tell(&format!(
                    "building the model of machine {machine}, which takes minutes, once"
                ));
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
            None => tell(text),
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
        let took = Duration::from_secs(30);
        assert_eq!(to_go(0.0, took), ESTIMATING);
        assert_eq!(to_go(0.009, took), ESTIMATING);
        assert_eq!(to_go(0.25, took), ", about 1 min 30 s left");
        assert_eq!(words(Duration::from_secs(7500)), "2 h 5 min");
    }

    #[test]
    fn no_time_is_promised_where_the_rest_depends_on_what_is_found() {
        let progress = Arc::new(Progress::default());
        let begun = Instant::now();
        let mut watched = ShownProgress { what: "mining", progress, begun, share: 0.0 };
        watched.progress.begin(4);
        watched.progress.add(2);
        assert_eq!(percent(watched.share()), "50.0");
        assert_eq!(percent(0.999_96), "99.9");
        assert_eq!(watched.to_go(Duration::from_secs(3)), ", about 3 s left");
        watched.progress.set_unpredictable(true);
        assert_eq!(watched.to_go(Duration::from_secs(3)), ESTIMATING);
    }

    #[test]
    fn nothing_that_was_shown_is_taken_back() {
        let progress = Arc::new(Progress::default());
        let begun = Instant::now();
        let mut watched = ShownProgress { what: "mining", progress, begun, share: 0.0 };
        assert_eq!(watched.share(), 0.0);
        for (total, done, shown) in [(4, 0, 0.0), (4, 3, 0.75), (8, 2, 0.75), (8, 9, 1.0)] {
            watched.progress.begin(total);
            watched.progress.add(done);
            assert_eq!(watched.share(), shown);
        }
    }
}
