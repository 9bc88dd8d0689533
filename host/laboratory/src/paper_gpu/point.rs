//! One setting of one task, measured on the device.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::{Engine, PreparedGraph, Share, Units};
use gramer_gpu::{Gpu, Settings};
use gramer_pattern::task::Task;
use serde::{Deserialize, Serialize};

use super::limits::{Timeout, within};
use super::{Input, Lab};
use crate::paper::report::Block;

/// Runs of this many seconds or more are not repeated, as the transfer of the graph hardly affects their time.
const LONG: f64 = 5.0;
/// Runs that take less together are repeated, up to [`MOST_RUNS`]; a task of several takes its part of it.
const SHORT: f64 = 0.3;
const MOST_RUNS: u32 = 10;

/// Metrics of a point, and the one that isn't added up.
const SUMS: [&str; 13] = [
    "join.loads",
    "join.stores",
    "pages.slots",
    "pages.number",
    "pages.hot",
    "pages.cold",
    "pages.again",
    "pages.hits",
    "pages.hits.fixed",
    "wide.active",
    "wide.above",
    "wide.balances",
    PEAK,
];
const PEAK: &str = "memory.peak";
/// Time of the kernel that extends tables by intersections, where times are recorded.
const EXTENSION: &str = "profile.extend.time";

/// Where the points of a section are.
pub fn points_file() -> Block {
    Block::Text("[points.csv](points.csv)".into())
}

/// What a setting took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Figure or table.
    pub experiment: String,
    /// The graph.
    pub graph: String,
    /// The task.
    pub task: String,
    /// The varied setting.
    pub setting: String,
    /// The shortest run; of several tasks the sum.
    pub seconds: f64,
    /// Whether the run was stopped at its limit after this time: a lower bound, without a count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The sum of the counts.
    pub count: u128,
    /// Lines and words that kernels of the join loaded, and lines that they stored.
    pub loads: Option<f64>,
    /// Lines of 128 bytes that they stored.
    pub stores: Option<f64>,
    /// Seconds of the kernel that extends tables by intersections, of the run with the fewest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<f64>,
    /// Vertices on hot pages, of those that were read; where the graph is in pages.
    pub hot: Option<f64>,
    /// Part of the pages that have room on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<f64>,
    /// Most bytes of the device in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<f64>,
    /// Mean share of warps with work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<f64>,
    /// Share of the time with as many as the threshold asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Times that work was moved between warps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balances: Option<f64>,
    /// Share of hot pages that were hot before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<f64>,
    /// Share of counted reads on the pages that the policy chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<f64>,
    /// The same of the best set of pages fixed for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<f64>,
}

impl Point {
    /// Experiment, graph, task and setting.
    pub fn names(&self) -> [&str; 4] {
        [&self.experiment, &self.graph, &self.task, &self.setting].map(String::as_str)
    }

    /// A time and a count, of nothing yet.
    pub fn of(seconds: f64, count: u128) -> Self {
        let [experiment, graph, task, setting] = [const { String::new() }; 4];
        let [loads, stores, kernel, hot, room, peak] = [None; 6];
        let [active, above, balances, again, hits, fixed] = [None; 6];
        Point {
            experiment,
            graph,
            task,
            setting,
            seconds,
            stopped: false,
            count,
            loads,
            stores,
            kernel,
            hot,
            room,
            peak,
            active,
            above,
            balances,
            again,
            hits,
            fixed,
        }
    }
}

/// Outcome of a setting.
enum PointOutcome {
    Took(Box<Point>),
    /// With the seconds that its last run had taken, if its programs were built.
    Late(Timeout, Option<f64>),
    Failed(Error),
}

impl PointOutcome {
    fn of(point: Point) -> Self {
        PointOutcome::Took(Box::new(point))
    }
}

/// Measures a setting; the names of the point are given later.
pub type Measure<'m> = dyn Fn(&Settings, &Context) -> Result<Point> + 'm;

/// Settings with their name.
pub type NamedSettings = (String, Settings);

impl Lab<'_> {
    /// Measures tasks in each setting, the tasks together; a setting that fails, or takes longer than it may, has
    /// none, and is noted.
    ///
    /// # Errors
    /// [`Error::Device`] if settings count different numbers, [`Error::Interrupted`].
    pub fn compare(
        &self,
        experiment: &str,
        input: &Input,
        (name, tasks): (&str, &[Task]),
        settings: &[NamedSettings],
    ) -> Result<Vec<Option<Point>>> {
        let measure =
            |settings: &Settings, context: &Context| self.measure(input, tasks, settings, context);
        self.compare_by(experiment, (&input.name, name), settings, &measure)
    }

    /// The same for what `measure` does with the settings, where it is no task on a graph; named as if it were.
    ///
    /// # Errors
    /// As [`Lab::compare`].
    pub fn compare_by(
        &self,
        experiment: &str,
        (input, name): (&str, &str),
        settings: &[NamedSettings],
        measure: &Measure<'_>,
    ) -> Result<Vec<Option<Point>>> {
        let mut all = vec![];
        let mut right: Option<u128> = None;
        self.asked.borrow_mut().insert(experiment.into());
        for (setting, settings) in settings {
            self.context.cancel.check()?;
            let known = self.unfinished.borrow().point([experiment, input, name, setting]);
            let already = known.is_some();
            let what = format!("{experiment}, {name} of {input}, {setting}");
            if !already {
                (self.tell)(&what);
            }
            let measured =
                match known.map_or_else(|| self.limited(settings, measure), PointOutcome::of) {
                    PointOutcome::Took(measured) => *measured,
                    PointOutcome::Late(late, seconds) => {
                        self.late.borrow_mut().push((what, late));
                        let own = [experiment, input, name, setting];
                        all.push(match seconds {
                            Some(seconds) => Some(self.stopped(own, seconds)?),
                            None => None,
                        });
                        continue;
                    }
                    PointOutcome::Failed(Error::Interrupted) => return Err(Error::Interrupted),
                    PointOutcome::Failed(error) => {
                        self.failed.borrow_mut().push(format!("{what}: {error}"));
                        all.push(None);
                        continue;
                    }
                };
            let point = Point {
                experiment: experiment.into(),
                graph: input.into(),
                task: name.into(),
                setting: setting.clone(),
                ..measured
            };
            if point.stopped {
                self.points.borrow_mut().push(point.clone());
                all.push(Some(point));
                continue;
            }
            if right.is_some_and(|right| right != point.count) {
                return Err(Error::Device(format!(
                    "{experiment}, {name} of {input}: {} with {setting}, and {} before: this is a fault \
                     of this program",
                    point.count,
                    right.unwrap_or(0)
                )));
            }
            right = Some(point.count);
            if !already {
                self.unfinished.borrow_mut().add(&point)?;
            }
            self.points.borrow_mut().push(point.clone());
            all.push(Some(point));
        }
        Ok(all)
    }

    /// Keeps the point of a run that was stopped after these seconds.
    fn stopped(
        &self,
        [experiment, graph, task, setting]: [&str; 4],
        seconds: f64,
    ) -> Result<Point> {
        let point = Point {
            experiment: experiment.into(),
            graph: graph.into(),
            task: task.into(),
            setting: setting.into(),
            stopped: true,
            ..Point::of(seconds, 0)
        };
        self.unfinished.borrow_mut().add(&point)?;
        self.points.borrow_mut().push(point.clone());
        Ok(point)
    }

    /// Measures as long as that may take.
    fn limited(&self, settings: &Settings, measure: &Measure<'_>) -> PointOutcome {
        if self.options.verdicts {
            return PointOutcome::Late(Timeout::Missing, None);
        }
        if let Some(late) = self.limits.over() {
            return PointOutcome::Late(late, None);
        }
        self.begun.set(None);
        let limit = self.limits.of_point();
        let (start, time) = (Instant::now(), limit.map(|(time, _)| time));
        let settings = Settings { cache: self.options.cache.clone(), ..settings.clone() };
        let run = |context: &Context| measure(&settings, context);
        match (within(time, self.context, run), limit) {
            ((Ok(point), _), _) => PointOutcome::of(point),
            ((Err(Error::Interrupted), true), Some((time, late))) => {
                let own = matches!(late, Timeout::Point(_));
                let begun = self.begun.take().filter(|_| own);
                PointOutcome::Late(late, begun.and_then(|begun| until_limit(start, time, begun)))
            }
            ((Err(error), _), _) => PointOutcome::Failed(error),
        }
    }

    fn measure(
        &self,
        input: &Input,
        tasks: &[Task],
        settings: &Settings,
        context: &Context,
    ) -> Result<Point> {
        let gpu = Gpu::open(&self.options.device, settings)?;
        let prepared = gpu.prepare(&input.graph, context)?;
        let (mut seconds, mut count, mut sums) = (0.0, 0, HashMap::new());
        let mut kernel = settings.times.then_some(0.0);
        // Only of one task are the programs built before.
        let alone = self.options.point_limit.is_some() && tasks.len() == 1;
        for task in tasks {
            let (mut best, mut together, mut best_kernel) = (f64::INFINITY, 0.0, f64::INFINITY);
            if alone {
                // Builds the programs, so that a run that is stopped took all of its time for the task. A strategy
                // that knows no shares refuses, and builds them in the first run.
                let one = Share::new(std::iter::once(0..1), vec![])?;
                prepared.run(task, Units::Share(&one), None, context).ok();
                context.cancel.check()?;
            }
            // The first run puts the graph on the device.
            for run in 0.. {
                let begun = Instant::now();
                if alone {
                    self.begun.set(Some(begun));
                }
                let (found, extension) =
                    self.once(&prepared, task, (&mut sums, run == 0), context)?;
                let took = begun.elapsed().as_secs_f64();
                let long = took > LONG;
                if run > 0 || alone && long {
                    best = best.min(took);
                    best_kernel = best_kernel.min(extension.unwrap_or(f64::INFINITY));
                    together += took;
                }
                if run == 0 {
                    count += found;
                }
                let short = SHORT / tasks.len() as f64;
                let enough = run >= self.options.best && (together > short || run >= MOST_RUNS);
                if enough || long && best < f64::INFINITY {
                    break;
                }
            }
            seconds += best;
            kernel = kernel.map(|sum| sum + best_kernel).filter(|sum| sum.is_finite());
        }
        let sum = |name: &str| sums.get(name).copied();
        let hot =
            sum("pages.hot").zip(sum("pages.cold")).map(|(hot, cold)| hot / (hot + cold).max(1.0));
        let room = sum("pages.slots").zip(sum("pages.number")).map(|(own, all)| own / all);
        let (loads, stores, peak) = (sum("join.loads"), sum("join.stores"), sum("memory.peak"));
        let (active, above, balances) =
            (sum("wide.active"), sum("wide.above"), sum("wide.balances"));
        let (again, hits, fixed) = (sum("pages.again"), sum("pages.hits"), sum("pages.hits.fixed"));
        let measured =
            Point { loads, stores, kernel, hot, room, peak, ..Point::of(seconds, count) };
        Ok(Point { active, above, balances, again, hits, fixed, ..measured })
    }

    /// A run: its count, the time of the kernel of extension if times are recorded, and what it measured if that is
    /// wanted.
    fn once(
        &self,
        prepared: &PreparedGraph,
        task: &Task,
        (sums, wanted): (&mut HashMap<&'static str, f64>, bool),
        context: &Context,
    ) -> Result<(u128, Option<f64>)> {
        let outcome = prepared.run(task, Units::All, None, context)?;
        if !outcome.complete {
            return Err(Error::Interrupted);
        }
        let value = |name: &str| outcome.devices.first()?.get(name)?.number();
        for name in SUMS {
            if let (Some(value), true) = (value(name), wanted) {
                let sum: &mut f64 = sums.entry(name).or_default();
                // A peak is that of all tasks so far.
                *sum = if name == PEAK { value } else { *sum + value };
            }
        }
        Ok((outcome.results.iter().map(|r| r.count).sum(), value(EXTENSION)))
    }
}

/// Seconds from the begin of a run to the limit of its point, which a run that was stopped takes at least: what it
/// takes to stop is no part of it. None if it began after the limit.
fn until_limit(start: Instant, limit: Duration, begun: Instant) -> Option<f64> {
    let limit = start.checked_add(limit)?;
    limit.checked_duration_since(begun).map(|time| time.as_secs_f64())
}

/// Speed-up of the second over the first; none if one was not run to its end.
pub fn speed_up(before: Option<&Point>, after: Option<&Point>) -> Option<f64> {
    let [before, after] = [before?, after?];
    (!before.stopped && !after.stopped).then(|| before.seconds / after.seconds.max(1e-9))
}

/// The same by the time of the kernel of extension.
pub fn kernel_speed_up(before: Option<&Point>, after: Option<&Point>) -> Option<f64> {
    Some(before?.kernel? / after?.kernel?.max(1e-9))
}

/// The same where the first may have been stopped: then the least that the speed-up can be, and none if that is below
/// `bar`, since it decides nothing.
pub fn at_least(before: Option<&Point>, after: Option<&Point>, bar: f64) -> Option<f64> {
    let [before, after] = [before?, after?];
    let times = before.seconds / after.seconds.max(1e-9);
    (!after.stopped && (!before.stopped || times >= bar)).then_some(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_stopped_took_no_longer_than_its_limit() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        assert_eq!(until_limit(start, 8 * second, start + 3 * second), Some(5.0));
        assert_eq!(until_limit(start, 2 * second, start + 3 * second), None);
    }

    #[test]
    fn a_run_that_was_stopped_is_a_case_where_its_time_decides() {
        let stopped = Point { stopped: true, ..Point::of(60.0, 0) };
        let (done, other) = (Point::of(2.0, 5), Point::of(3.0, 5));
        let of = |before, after, bar| at_least(Some(before), Some(after), bar);
        assert_eq!(of(&stopped, &done, 30.0), Some(30.0));
        assert_eq!(of(&stopped, &done, 30.1), None);
        assert_eq!(of(&done, &stopped, 0.0), None);
        assert_eq!(of(&other, &done, 2.0), Some(1.5));
        assert_eq!(speed_up(Some(&stopped), Some(&done)), None);
        let text = serde_json::to_string(&[&stopped, &done]).unwrap();
        assert_eq!(text.matches("stopped").count(), 1);
        assert_eq!(serde_json::from_str::<Vec<Point>>(&text).unwrap(), [stopped, done]);
    }
}
