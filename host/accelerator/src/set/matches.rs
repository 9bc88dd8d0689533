//! Matches of a pattern, which a core with plans counts.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gramer_engine::{Count, Outcome, Units};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_machine::Accelerator;
use gramer_machine::set::LINE_QUARTERS;
use gramer_pattern::Pattern;
use gramer_pattern::task::Task;

use super::plan::image::PlanImage;
use super::plan::units::{deal, units};
use super::plan::words::Program;
use super::reference::SUM_EMBEDDINGS;
use super::tasks::unsupported;
use crate::session::Session;
use crate::settings::Settings;

/// A match as a core with plans counts it.
#[derive(Debug, Clone)]
pub struct Match {
    program: Program,
    pattern: Pattern,
    /// Mappings are counted, not occurrences.
    mappings: bool,
}

impl Match {
    /// What a task is here; `None` for one that is no match, and on a core without plans.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] with the reason and the engine that does it.
    pub fn of(machine: &Accelerator, task: &Task, lists: bool) -> Result<Option<Self>> {
        let levels = machine.set.as_ref().map_or(0, |set| set.plan_levels);
        let Task::Match { pattern, induced, mappings } = task else { return Ok(None) };
        if levels == 0 {
            return Ok(None);
        }
        if lists {
            let what = "counts embeddings and doesn't list them";
            return Err(unsupported(machine, what, false));
        }
        let program = Program::counting(pattern, *induced, levels)
            .map_err(|what| unsupported(machine, &what, false))?;
        Ok(Some(Match { program, pattern: pattern.clone(), mappings: *mappings }))
    }

    /// Refuses a share of it where what the core counts is a part of an occurrence: the counts of shares
    /// would not add up.
    fn divided(&self, machine: &Accelerator) -> Result<()> {
        if self.mappings || self.program.is_whole() {
            return Ok(());
        }
        let what = "counts this pattern whole, and not in shares";
        Err(unsupported(machine, what, false))
    }
}

/// A graph for plans, built when a match first needs it.
pub(super) struct ForPlans {
    image: Mutex<Option<PlanImage>>,
    /// Tells the image from others.
    pub number: u64,
}

impl ForPlans {
    /// Of a graph, whose image gets this number.
    pub fn new(number: u64) -> Self {
        ForPlans { image: Mutex::default(), number }
    }

    /// Counts a match from some roots.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] for a graph or sets without room, [`gramer_graph::Error::Device`],
    /// [`gramer_graph::Error::Interrupted`].
    pub fn run(
        &self,
        session: &mut Session,
        settings: &Settings,
        (graph, wanted): (&Graph, &Match),
        roots: Units<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let (view, machine) = (graph.view(), session.machine().clone());
        if roots.share().is_some() {
            wanted.divided(&machine)?;
        }
        let begun = Instant::now();
        let mut image = self.image.lock().unwrap_or_else(PoisonError::into_inner);
        let image = match &mut *image {
            Some(image) => image,
            none => none.insert(PlanImage::new(view)?),
        };
        if image.lines() > machine.set_quarters() / LINE_QUARTERS {
            let what = format!(
                "has {} KiB of memory for a graph in each cluster, and patterns need all of it there: {} KiB",
                machine.set_quarters() / 64,
                image.bytes().len().div_ceil(1024)
            );
            return Err(unsupported(&machine, &what, false));
        }
        let pus = machine.machine.processing_units * session.compute_units() as u32;
        let work = units(view, roots, image, &wanted.program, pus);
        let streams = deal(&machine, &wanted.program, work, session.compute_units());
        session.note_preparation(begun.elapsed());
        session.load_image(image.bytes(), self.number, context)?;
        let limit = settings.time_limit.map(Duration::from_secs);
        let found = session.run_streams(&streams, self.number, image.lines(), limit, context)?;
        let sum = found.total[SUM_EMBEDDINGS];
        let count = match wanted.mappings {
            true => wanted.program.mappings(sum),
            false => wanted.program.occurrences(sum),
        };
        Ok(Outcome::new(vec![Count { pattern: wanted.pattern.clone(), count }], found.complete))
    }
}
