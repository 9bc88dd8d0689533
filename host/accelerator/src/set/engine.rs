//! The set core as an engine.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::set::image::Words;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::{Outcome, Peers, Query, Sink, Units};
use gramer_graph::Graph;
use gramer_machine::Accelerator;

use super::frequent::{self, FrequentRequest};
use super::image::{Lists, SetImage, Size};
use super::matches::{self, Match, lists};
use super::motifs5;
use super::numbers::SUM_CLIQUES;
use super::plan::run::PlanImages;
use super::segments::Segments;
use super::sums::{Degrees, Total};
use super::tasks::{SetTask, stays, unsupported};
use super::units::{Arrange, InStream, Operation, deal, longest, units};
use crate::session::{Session, SessionRunner, UnitTotals};
use crate::settings::Settings;

/// A graph for the set core. Its images are built when a task first needs them, and the one in use stays
/// on the devices until a task needs the other. A graph that has no room in a cluster goes there in
/// segments.
pub(crate) struct SetResident {
    graph: Graph,
    /// Makes numbers that tell images from all others.
    number: fn() -> u64,
    /// Numbers of the whole images.
    numbers: [u64; 2],
    images: Mutex<[Option<SetImage>; 2]>,
    sizes: [OnceLock<Option<Size>>; 2],
    plans: PlanImages,
    /// Numbers of the images for plans, and of that for wedges.
    plan_numbers: [u64; 3],
    degrees: OnceLock<Degrees>,
    longest: u32,
    dealt: Mutex<Option<Dealt>>,
}

/// The streams of the last run over all units of a whole image, for the same run again.
struct Dealt {
    /// The image's number, its operations, and the order of their units.
    of: (u64, Vec<Operation>, Arrange),
    streams: Arc<Vec<InStream>>,
}

/// Context of a run of one pass.
struct SetRun<'a> {
    session: &'a mut Session,
    settings: &'a Settings,
    units: Units<'a>,
    context: &'a Context,
}

/// Where an image is in [`SetResident`].
fn place(lists: Lists) -> usize {
    match lists {
        Lists::Up => 0,
        Lists::Both => 1,
    }
}

impl SetResident {
    /// A graph whose images get their numbers from `number`.
    pub fn new(graph: &Graph, number: fn() -> u64) -> Self {
        SetResident {
            graph: graph.clone(),
            number,
            numbers: [(); 2].map(|()| number()),
            images: Mutex::default(),
            sizes: [const { OnceLock::new() }; 2],
            plans: PlanImages::default(),
            plan_numbers: [(); 3].map(|()| number()),
            degrees: OnceLock::new(),
            longest: longest(graph.view()),
            dealt: Mutex::default(),
        }
    }

    /// The numbers of images that a device may have.
    pub fn numbers(&self) -> [u64; 5] {
        let ([up, both], [plain, labels, wedges]) = (self.numbers, self.plan_numbers);
        [up, both, plain, labels, wedges]
    }

    /// Whether the image for a task stays on the machine, as [`stays`] says.
    fn stays(&self, machine: &Accelerator, task: SetTask) -> Result<bool> {
        let (view, lists) = (self.graph.view(), task.lists());
        let size = self.sizes[place(lists)].get_or_init(|| SetImage::size_of(view, lists));
        stays(machine, *size, self.longest, task)
    }

    /// Counts or lists the matches of a pattern, or lists cliques.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for tasks beyond the core's memories, [`Error::Usage`] for a pattern with labels on a graph
    /// without, [`Error::Device`] for refusals of the runtime.
    pub fn matches(
        &self,
        session: &mut Session,
        settings: &Settings,
        query: &Query,
        run: &gramer_engine::Run<'_>,
    ) -> Result<Outcome> {
        let machine = session.machine().clone();
        let wanted = Match::of(&machine, &query.task, query.list);
        let wanted = wanted.map_err(|what| unsupported(&machine, &what))?;
        let none = || unsupported(&machine, "counts no match");
        let wanted = wanted.ok_or_else(none)?;
        session.begin();
        let (numbers, context) = (self.plan_numbers, run.context);
        let mut runs = SessionRunner { session, settings, numbers, context };
        matches::run(&mut runs, (&self.graph, &self.plans), (&wanted, run.sink), run.units)
    }

    /// Answers a task of sums for some units.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for tasks beyond the core's memories, [`Error::Device`] for refusals of the runtime.
    pub fn sums(
        &self,
        session: &mut Session,
        settings: &Settings,
        task: SetTask,
        units: Units<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let machine = session.machine().clone();
        session.begin();
        if task == SetTask::Motifs5 {
            return self.motifs5(&mut SetRun { session, settings, units, context }, &machine);
        }
        let stays = self.stays(&machine, task)?;
        let view = self.graph.view();
        let own;
        let degrees = match units {
            Units::All => self.degrees.get_or_init(|| Degrees::of(view)),
            Units::Share(_) => {
                own = Degrees::of_units(view, units);
                &own
            }
        };
        let mut run = SetRun { session, settings, units, context };
        let mut outcome = Outcome::new(vec![], true);
        for pass in task.passes(self.longest) {
            let found = match stays {
                true => self.whole(&mut run, &machine, pass)?,
                false => self.segments(&mut run, &machine, pass)?,
            };
            outcome.complete &= found.complete;
            let motifs = !matches!(pass, SetTask::Cliques(_));
            if motifs && !found.complete {
                // Equations want all sums whole.
                outcome.results = pass.counts(&Total::default(), &Degrees::default());
            } else if motifs && units.share().is_some() {
                outcome = pass.share(&found.total, degrees);
            } else {
                outcome.results.extend(pass.counts(&found.total, degrees));
            }
            // Without cliques of this size, larger ones cannot exist.
            if !found.complete || found.total == Total::default() {
                break;
            }
        }
        // As in the CPU engine, sizes end with the largest clique.
        let results = &mut outcome.results;
        let last_is_none = results.len() > 1 && results.last().is_some_and(|r| r.count == 0);
        if last_is_none && matches!(task, SetTask::CliqueSizes(..)) {
            results.pop();
        }
        Ok(outcome)
    }

    /// Motifs of 5 vertices: cliques, then two runs over the image for wedges.
    fn motifs5(&self, run: &mut SetRun<'_>, machine: &Accelerator) -> Result<Outcome> {
        let (view, images) = (self.graph.view(), &self.plans.wedges);
        motifs5::run::check_room(machine, view, images)?;
        let pass = SetTask::Cliques(motifs5::VERTICES as u32);
        let cliques = match self.stays(machine, pass)? {
            true => self.whole(run, machine, pass)?,
            false => self.segments(run, machine, pass)?,
        };
        let found = if cliques.complete {
            let (session, settings, numbers) = (&mut *run.session, run.settings, self.plan_numbers);
            let mut runs = SessionRunner { session, settings, numbers, context: run.context };
            motifs5::run::sums(&mut runs, (view, images))?
        } else {
            None
        };
        let complete = found.is_some();
        // Equations want all sums whole.
        let total = found.map_or(Total::default(), |mut total| {
            total[SUM_CLIQUES] = cliques.total[SUM_CLIQUES];
            total
        });
        let counts = SetTask::Motifs5.counts(&total, &Degrees::default());
        Ok(Outcome::new(counts, complete))
    }

    /// Mines frequent patterns, alone or with others.
    ///
    /// # Errors
    /// As [`SetResident::run`], and those of `together`.
    pub fn frequent(
        &self,
        session: &mut Session,
        settings: &Settings,
        asked: FrequentRequest,
        (sink, together): (Option<&dyn Sink>, Option<&dyn Peers>),
        context: &Context,
    ) -> Result<Outcome> {
        session.begin();
        // A run's progress is a part of its level's.
        let own = &Context { progress: Arc::default(), ..context.clone() };
        let mut runs =
            SessionRunner { session, settings, numbers: self.plan_numbers, context: own };
        let on = (&self.graph, &self.plans);
        frequent::mine(&mut runs, on, asked, (sink, together), context)
    }

    /// Runs a task over the whole image, which stays.
    fn whole(
        &self,
        run: &mut SetRun<'_>,
        machine: &Accelerator,
        task: SetTask,
    ) -> Result<UnitTotals> {
        let (view, session) = (self.graph.view(), &mut *run.session);
        let begun = Instant::now();
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        // An image of both lists that is there already serves cliques too.
        let both = self.numbers[place(Lists::Both)];
        let lists = match images[place(Lists::Both)].is_some() && session.is_on_chip(both) {
            true => Lists::Both,
            false => task.lists(),
        };
        let image = match &mut images[place(lists)] {
            Some(image) => image,
            none => none.insert(SetImage::new(view, lists, run.context.threads())?),
        };
        let number = self.numbers[place(lists)];
        let arrange = match session.is_on_chip(number) {
            true => Arrange::ByWork,
            false => Arrange::ByAddress,
        };
        let of = (number, task.operations(), arrange);
        let streams = self.streams(machine, session.compute_units(), image, of, run.units);
        session.note_preparation(begun.elapsed());
        session.load_image(image.bytes(), number, run.context)?;
        let limit = run.settings.time_limit.map(Duration::from_secs);
        session.run_streams(&streams, number, image.lines(), limit, run.context)
    }

    /// The streams of a run over a whole image: those of the last one, if it is the same.
    fn streams(
        &self,
        machine: &Accelerator,
        clusters: usize,
        image: &SetImage,
        of: (u64, Vec<Operation>, Arrange),
        asked: Units<'_>,
    ) -> Arc<Vec<InStream>> {
        let all = asked.share().is_none();
        let mut last = self.dealt.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dealt) = last.as_ref().filter(|dealt| all && dealt.of == of) {
            return Arc::clone(&dealt.streams);
        }
        let work = units(self.graph.view(), image, &of.1, asked);
        let streams = Arc::new(deal(machine, &of.1, work, clusters, of.2));
        if all {
            *last = Some(Dealt { of, streams: Arc::clone(&streams) });
        }
        streams
    }

    /// Runs a task segment by segment, those of some roots on each cluster. What was found before it is stopped counts.
    fn segments(
        &self,
        run: &mut SetRun<'_>,
        machine: &Accelerator,
        task: SetTask,
    ) -> Result<UnitTotals> {
        let (view, session) = (self.graph.view(), &mut *run.session);
        let begun = Instant::now();
        let clusters = session.compute_units();
        let mut parts: Vec<Vec<Segments<'_>>> = (0..clusters).map(|_| vec![]).collect();
        for operation in task.operations() {
            let dealt = Segments::parts(machine, view, operation, run.units, clusters);
            parts.iter_mut().zip(dealt).for_each(|(own, more)| own.push(more));
        }
        session.note_preparation(begun.elapsed());
        let roots: usize = parts.iter().flatten().map(Segments::roots_left).sum();
        run.context.progress.begin(roots as u64);
        let limit = run.settings.time_limit.map(Duration::from_secs);
        session.run_segments(parts, self.number, limit, run.context)
    }
}

/// Refuses settings that are of the paper's core alone.
///
/// # Errors
/// [`Error::Usage`] that names the first of them that was given.
pub(crate) fn check(settings: &Settings, machine: &Accelerator) -> Result<()> {
    let plain = Settings::default();
    let given = [
        ("comparison", settings.comparison != plain.comparison),
        ("no_stealing", settings.no_stealing),
        ("lru", settings.lru),
        ("slots", settings.slots.is_some()),
        ("lambda", settings.lambda != plain.lambda),
        ("tau", settings.tau.is_some()),
        ("capacity", settings.capacity != plain.capacity),
        ("runs", settings.runs.is_some()),
        ("result_beats", settings.result_beats.is_some() && !lists(machine)),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::usage(format!(
            "the setting `{option}` is one of the paper's core, and machine {} has a set core",
            machine.machine.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    #[test]
    fn the_same_run_again_has_the_same_streams() {
        let machine = gramer_machine::named::named("set-small").unwrap().unwrap();
        let mut builder = Builder::new();
        for (u, v) in (0..12u64).flat_map(|v| (0..v).map(move |u| (u, v))) {
            builder.edge(u, v);
        }
        let graph = builder.build();
        let resident = SetResident::new(&graph, || 7);
        let image = SetImage::new(graph.view(), Lists::Both, 1).unwrap();
        let streams = |k, arrange| {
            let of = (7, vec![Operation::Cliques { k }], arrange);
            resident.streams(&machine, 2, &image, of, Units::All)
        };
        let first = streams(3, Arrange::ByWork);
        assert!(Arc::ptr_eq(&first, &streams(3, Arrange::ByWork)));
        let others = [streams(4, Arrange::ByWork), streams(3, Arrange::ByAddress)];
        assert!(others.iter().all(|other| other[0] != first[0]));
        let again = streams(3, Arrange::ByWork);
        assert!(!Arc::ptr_eq(&first, &again));
        assert_eq!(first, again);
    }
}
