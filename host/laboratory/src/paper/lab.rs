//! Sweeps of the experiments on the simulated machine.

use gramer_base::error::Result;
use gramer_engine::WorkUnit;
use gramer_machine::Accelerator;
use gramer_pattern::task::Task;

use super::cells::doubling;
use super::estimates::or_reason;
use super::{Input, Lab};
use crate::explore::measures::Measures;
use crate::explore::parameter::{Point, Variation, combinations};
use crate::explore::sample::work::TaskWork;
use crate::explore::sample::{SampleSettings, comparison, estimate};
use crate::explore::simulator::{RunOutcome, SimulatedTask};
use crate::explore::{PointResult, described, sweep, task};

/// The units' work by order of comparison.
type Works<'a> = Vec<TaskWork<'a>>;

impl Lab<'_> {
    /// A sweep: `variations` as on the command line of `gramer-lab explore`. Points without a result
    /// are noted, and stay.
    pub(super) fn sweep(
        &self,
        input: &Input,
        name: &str,
        variations: &[&str],
    ) -> Result<Vec<PointResult>> {
        self.sweep_on(&self.base, input, name, variations)
    }

    /// As [`Lab::sweep`], on variants of another machine.
    pub(super) fn sweep_on(
        &self,
        base: &Accelerator,
        input: &Input,
        name: &str,
        variations: &[&str],
    ) -> Result<Vec<PointResult>> {
        let points = self.points(base, input, variations)?;
        let (simulated, mined) = task(name)?;
        let tell = self.tell;
        let told = |done: usize, at: usize, ran: &RunOutcome| {
            let what = match ran {
                RunOutcome::Done(kept) => format!("{} cycles", kept.result["cycles"]),
                RunOutcome::Limit => "too many cycles".into(),
                RunOutcome::Failed(said) => said.clone(),
            };
            let settings = described(&points[at].settings);
            let of = points.len();
            tell(&format!("  {} {name} {done}/{of} {settings}: {what}", input.name));
        };
        let mut all =
            sweep(&self.simulator, &input.graph, &simulated, &mined, &points, self.context, &told)?;
        let mut works = Works::new();
        for (point, asked) in all.iter_mut().zip(&points) {
            if let (Ok(measures), true) = (&point.measures, asked.machine == self.base) {
                *self.model.borrow_mut() = measures.kept().identity.clone();
            }
            let Err(said) = &point.measures else { continue };
            let note = format!("{} {name} {}", input.name, described(&point.settings));
            if !point.given_up {
                self.missing.borrow_mut().push(format!("{note}: {said}"));
                continue;
            }
            match self.sampled(input, &simulated, &mined, asked, &mut works)? {
                Ok(measures) => point.measures = Ok(measures),
                Err(why) => {
                    self.left_out.borrow_mut().insert(format!("{note} ({why})"));
                }
            }
        }
        Ok(all)
    }

    /// A sweep with a given order of the work units; `None`: by rank.
    pub(super) fn with_units(
        &self,
        input: &Input,
        name: &str,
        variations: &[&str],
        units: Option<&[WorkUnit]>,
    ) -> Result<Vec<PointResult>> {
        let mut points = self.points(&self.base, input, variations)?;
        if let Some(units) = units {
            let file = self.simulator.units(units)?;
            for point in &mut points {
                point.options.extend(["--units".into(), file.display().to_string()]);
            }
        }
        let (simulated, mined) = task(name)?;
        let told = |_: usize, _: usize, _: &RunOutcome| {};
        sweep(&self.simulator, &input.graph, &simulated, &mined, &points, self.context, &told)
    }

    /// The points of variations as on the command line.
    fn points(&self, base: &Accelerator, input: &Input, variations: &[&str]) -> Result<Vec<Point>> {
        let variations: Vec<Variation> =
            variations.iter().map(|v| Variation::parse(v)).collect::<Result<_>>()?;
        let point = |settings: &Vec<_>| Point::new(base, input.graph.view(), settings);
        combinations(&variations).iter().map(point).collect()
    }

    /// What a sample says of a point, or why there is none. `works` are the units' work by order of comparison, once they
    /// are known.
    fn sampled<'i>(
        &'i self,
        input: &'i Input,
        simulated: &SimulatedTask,
        mined: &Task,
        point: &Point,
        works: &mut Works<'i>,
    ) -> Result<std::result::Result<Measures, String>> {
        if !self.sampling {
            return Ok(Err("sampling is off".into()));
        }
        let mut estimated = || -> Result<Measures> {
            let (graph, context, order) = (&input.graph, self.context, comparison(point));
            let known = works.iter().position(|work| work.comparison() == order);
            let at = match known {
                Some(at) => at,
                None => {
                    works.push(TaskWork::new(graph, mined, order, context)?);
                    works.len() - 1
                }
            };
            let (simulator, sampling) = (&self.simulator, SampleSettings::default());
            let s = estimate(simulator, graph, simulated, &works[at], point, &sampling, context)?;
            (self.tell)(&format!("    sampled: {:.0} ± {:.0}", s.cycles.value, s.cycles.half));
            let machine = &point.machine.machine;
            Ok(Measures::sampled(&simulated.name, s, machine.clock_mhz, machine.processing_units))
        };
        or_reason(estimated())
    }

    /// The graphs with the tasks that are run on each: of the larger ones only 3-CF, which ends in
    /// full.
    pub(super) fn cases<'b>(&'b self, tasks: &[&'b str]) -> Vec<(&'b Input, &'b str)> {
        let small = self.inputs.iter().flat_map(|i| tasks.iter().map(move |&task| (i, task)));
        small.chain(self.large.iter().map(|i| (i, "clique:3"))).collect()
    }

    /// Slots to sweep over, up to the machine's.
    pub(super) fn slots(&self) -> String {
        doubling(1, self.base.machine.slots)
    }
}
