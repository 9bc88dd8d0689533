//! Time limits of a point and of the whole run.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::parallel::start_in;

/// Interval at which the caller's stop flag is polled.
const LOOK: Duration = Duration::from_millis(20);

/// The limits of a run.
#[derive(Debug)]
pub(super) struct Limits {
    /// Of a point: its programs, the run that isn't counted, and the others.
    point: Option<Duration>,
    /// When the run has to come to its end, and the time that it was given.
    end: Option<(Instant, Duration)>,
}

/// Exceeded time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    /// The limit of a point.
    Point(Duration),
    /// The limit of the whole run.
    Run(Duration),
    /// Measuring is off, and the report has no such point.
    Missing,
}

impl Timeout {
    /// For the report.
    pub fn why(self) -> String {
        match self {
            Timeout::Point(limit) => format!("not within {} s", limit.as_secs_f64()),
            Timeout::Missing => "not among the points of the report".into(),
            Timeout::Run(limit) => {
                format!("not run to its end in the {} s of the whole run", limit.as_secs_f64())
            }
        }
    }
}

impl Limits {
    /// The time begins now.
    pub fn begin(point: Option<Duration>, run: Option<Duration>) -> Self {
        let end = run.and_then(|run| Some((Instant::now().checked_add(run)?, run)));
        Limits { point, end }
    }

    /// Whether the run has to come to its end.
    pub fn over(&self) -> Option<Timeout> {
        self.end.filter(|(end, _)| Instant::now() >= *end).map(|(_, run)| Timeout::Run(run))
    }

    /// Time left for a point, and the kind of timeout once it is over.
    pub fn of_point(&self) -> Option<(Duration, Timeout)> {
        let left = self
            .end
            .map(|(end, run)| (end.saturating_duration_since(Instant::now()), Timeout::Run(run)));
        let own = self.point.map(|limit| (limit, Timeout::Point(limit)));
        [left, own].into_iter().flatten().min_by_key(|(time, _)| *time)
    }
}

/// Runs something that is cancelled after a time, or with `context`. Also returns whether the time was over.
pub(super) fn within<T>(
    limit: Option<Duration>,
    context: &Context,
    run: impl FnOnce(&Context) -> Result<T>,
) -> (Result<T>, bool) {
    let Some(limit) = limit else {
        return (run(context), false);
    };
    let own = Context::default();
    let (done, ended) = channel::<()>();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let watch = start_in(scope, "that ends a point in time", || {
            let ended = ended;
            loop {
                let left = limit.saturating_sub(begun.elapsed());
                if ended.recv_timeout(left.min(LOOK)) == Err(RecvTimeoutError::Disconnected) {
                    return false;
                }
                let late = begun.elapsed() >= limit;
                if late || context.cancel.is_cancelled() {
                    own.cancel.cancel();
                    return late;
                }
            }
        });
        let watch = match watch {
            Ok(watch) => watch,
            Err(refused) => return (Err(refused), false),
        };
        let outcome = run(&own);
        drop(done);
        (outcome, watch.join().unwrap_or(false))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::error::Error;

    /// Works until it is asked to stop.
    fn endless(context: &Context) -> Result<()> {
        loop {
            context.cancel.check()?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn what_takes_too_long_is_stopped_and_what_does_not_is_left_alone() {
        let context = Context::default();
        let (outcome, late) = within(Some(Duration::from_millis(30)), &context, endless);
        assert!(late && matches!(outcome, Err(Error::Interrupted)));
        assert!(!context.cancel.is_cancelled());
        let (outcome, late) = within(Some(Duration::from_secs(600)), &context, |_| Ok(7));
        assert!(!late && matches!(outcome, Ok(7)));
        // Ctrl-C is heard as well, and is no limit.
        context.cancel.cancel();
        let (outcome, late) = within(Some(Duration::from_secs(600)), &context, endless);
        assert!(!late && matches!(outcome, Err(Error::Interrupted)));
    }

    #[test]
    fn the_shorter_limit_holds() {
        let seconds = Duration::from_secs;
        let none = Limits::begin(None, None);
        assert!(none.of_point().is_none() && none.over().is_none());
        let both = Limits::begin(Some(seconds(10)), Some(seconds(1000)));
        assert_eq!(both.of_point(), Some((seconds(10), Timeout::Point(seconds(10)))));
        assert_eq!(both.over(), None);
        let short = Limits::begin(Some(seconds(10)), Some(seconds(5)));
        let (left, why) = short.of_point().unwrap();
        assert!(left <= seconds(5) && why == Timeout::Run(seconds(5)));
        let over = Limits::begin(None, Some(Duration::ZERO));
        assert_eq!(over.over(), Some(Timeout::Run(Duration::ZERO)));
    }
}
