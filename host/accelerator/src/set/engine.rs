//! The set core as an engine.

use std::cell::{Cell, OnceCell};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::set::image::Words;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::{Outcome, Peers, Query, Sink, Units};
use gramer_graph::Graph;
use gramer_machine::Accelerator;
use gramer_machine::set::PLANS;

use super::frequent::{self, FrequentRequest};
use super::image::{Lists, Placement, SetImage, Size};
use super::kept::KeptStreams;
use super::matches::{self, Match, lists};
use super::motifs5;
use super::numbers::SUM_CLIQUES;
use super::plan::run::PlanImages;
use super::segments::Segments;
use super::sums::{Degrees, Total};
use super::tasks::{SetTask, stays, unsupported};
use super::units::{Arrange, Operation, Streams, ascending, deal, longest, separate_sums, units};
use crate::session::{OnImage, Session, SessionRunner, UnitTotals};
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
    /// For images that are not built.
    placements: Mutex<[Option<Placement>; 2]>,
    plans: PlanImages,
    /// Numbers of the images for plans, and of that for wedges.
    plan_numbers: [u64; 3],
    degrees: OnceLock<Degrees>,
    longest: OnceLock<u32>,
    streams: KeptStreams<StreamKey>,
}

/// What streams over all units of a whole image are of.
#[derive(Clone, PartialEq)]
struct StreamKey {
    image: u64,
    operations: Vec<Operation>,
    arrange: Arrange,
    clusters: usize,
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
            placements: Mutex::default(),
            plans: PlanImages::default(),
            plan_numbers: [(); 3].map(|()| number()),
            degrees: OnceLock::new(),
            longest: OnceLock::new(),
            streams: KeptStreams::default(),
        }
    }

    /// The numbers of images that a device may have.
    pub fn numbers(&self) -> [u64; 5] {
        let ([up, both], [plain, labels, wedges]) = (self.numbers, self.plan_numbers);
        [up, both, plain, labels, wedges]
    }

    /// Whether the image for a task stays on the machine, as [`stays`] says.
    fn stays(&self, machine: &Accelerator, task: SetTask) -> Result<bool> {
        let (view, at) = (self.graph.view(), place(task.lists()));
        let mut placements = self.placements.lock().unwrap_or_else(PoisonError::into_inner);
        let size = self.sizes[at].get_or_init(|| {
            let placement = Placement::new(view, task.lists()).ok()?;
            self.longest.get_or_init(|| placement.longest());
            let size = placement.size();
            placements[at] = Some(placement);
            Some(size)
        });
        let stays = stays(machine, *size, self.longest(), task)?;
        if !stays {
            placements[at] = None; // nobody needs it
        }
        Ok(stays)
    }

    /// The most neighbours that a vertex has before it.
    fn longest(&self) -> u32 {
        *self.longest.get_or_init(|| longest(self.graph.view()))
    }

    /// A whole image.
    fn image(&self, lists: Lists, threads: usize) -> Result<SetImage> {
        let view = self.graph.view();
        let mut placements = self.placements.lock().unwrap_or_else(PoisonError::into_inner);
        match placements[place(lists)].take() {
            Some(placement) => Ok(SetImage::placed(view, placement, threads)),
            None => SetImage::new(view, lists, threads),
        }
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
        let begun = Instant::now();
        let stays = self.stays(&machine, task)?;
        session.note_preparation(begun.elapsed());
        let view = self.graph.view();
        let own = OnceCell::new();
        let degrees = || match units {
            Units::All => self.degrees.get_or_init(|| Degrees::of(view)),
            Units::Share(_) => own.get_or_init(|| Degrees::of_units(view, units)),
        };
        let motifs = matches!(task, SetTask::Motifs3 | SetTask::Motifs4);
        let mut outcome = Outcome::new(vec![], true);
        let mut take = |pass: SetTask, found: &UnitTotals| {
            outcome.complete &= found.complete;
            if motifs && !found.complete {
                // Equations want all sums whole.
                outcome.results = pass.counts(&Total::default(), &Degrees::default());
            } else if motifs && units.share().is_some() {
                outcome = pass.share(&found.total, degrees());
            } else {
                let known = if motifs { *degrees() } else { Degrees::default() };
                outcome.results.extend(pass.counts(&found.total, &known));
            }
            // Without cliques of the last size, larger ones cannot exist.
            found.complete && outcome.results.last().is_some_and(|last| last.count > 0)
        };
        let mut run = SetRun { session, settings, units, context };
        // Segments have one operation.
        let passes = task.passes(self.longest(), if stays { PLANS } else { 1 });
        if stays {
            // The device has its work: the host has time.
            let meanwhile = || {
                if motifs {
                    degrees();
                }
            };
            self.whole(&mut run, &machine, &passes, &mut take, &meanwhile)?;
        } else {
            for pass in passes {
                if !take(pass, &self.segments(&mut run, &machine, pass)?) {
                    break;
                }
            }
        }
        // As in the CPU engine, sizes end with the largest clique.
        if matches!(task, SetTask::CliqueSizes(..)) {
            let sizes =
                outcome.results.iter().rposition(|r| r.count > 0).map_or(1, |last| last + 1);
            outcome.results.truncate(sizes);
        }
        Ok(outcome)
    }

    /// Motifs of 5 vertices: cliques, then two runs over the image for wedges.
    fn motifs5(&self, run: &mut SetRun<'_>, machine: &Accelerator) -> Result<Outcome> {
        let (view, images) = (self.graph.view(), &self.plans.wedges);
        let begun = Instant::now();
        let built = motifs5::run::check_room(machine, view, images)?;
        run.session.residency.images_built += u64::from(built);
        run.session.note_preparation(begun.elapsed());
        let pass = SetTask::Cliques(motifs5::VERTICES as u32);
        let mut cliques = UnitTotals { total: Total::default(), complete: false };
        if self.stays(machine, pass)? {
            let mut take = |_, found: &UnitTotals| {
                cliques = found.clone();
                true
            };
            self.whole(run, machine, &[pass], &mut take, &|| ())?;
        } else {
            cliques = self.segments(run, machine, pass)?;
        }
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

    /// Runs passes of a task over the whole image, which stays. `take` gets the sums of each in order, and says whether
    /// the next ones are needed; `meanwhile` is called when the last one is enqueued.
    fn whole(
        &self,
        run: &mut SetRun<'_>,
        machine: &Accelerator,
        passes: &[SetTask],
        take: &mut dyn FnMut(SetTask, &UnitTotals) -> bool,
        meanwhile: &dyn Fn(),
    ) -> Result<()> {
        let session = &mut *run.session;
        let begun = Instant::now();
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        // An image of both lists that is there already serves cliques too.
        let both = self.numbers[place(Lists::Both)];
        let lists = match images[place(Lists::Both)].is_some() && session.is_on_chip(both) {
            true => Lists::Both,
            false => passes.first().map_or(Lists::Up, |pass| pass.lists()),
        };
        session.residency.images_built += u64::from(images[place(lists)].is_none());
        let image = match &mut images[place(lists)] {
            Some(image) => image,
            none => none.insert(self.image(lists, run.context.threads())?),
        };
        let number = self.numbers[place(lists)];
        let on_chip = session.is_on_chip(number);
        session.note_preparation(begun.elapsed());
        session.load_image(image.bytes(), number, run.context)?;
        let (units, clusters, built) = (run.units, session.compute_units(), Cell::new(0));
        let streams = |pass: &SetTask, on_chip: bool| {
            let operations = pass.operations();
            let arrange = match on_chip || !ascending(&operations) {
                true => Arrange::ByWork,
                false => Arrange::ByAddress,
            };
            let of = StreamKey { image: number, operations, arrange, clusters };
            let (streams, new) = self.streams(machine, image, of, units);
            built.set(built.get() + u64::from(new));
            streams
        };
        // The same task finds the image on chip: the first launch has other streams then.
        let again = || passes.first().filter(|_| units.share().is_none()).map(|p| streams(p, true));
        let mut next = passes.iter().enumerate();
        let launches = std::iter::from_fn(|| {
            let Some((at, pass)) = next.next() else {
                again();
                meanwhile();
                return None;
            };
            // The first launch loads the image for those behind it.
            Some(Ok(streams(pass, on_chip || at > 0)))
        });
        let on = OnImage { number, lines: image.lines() };
        let limit = run.settings.time_limit.map(Duration::from_secs);
        let mut ended = passes.iter();
        session.run_launches(launches, on, limit, run.context, &mut |totals| {
            ended.next().is_some_and(|&pass| take(pass, &totals))
        })?;
        again(); // if not all passes were needed
        session.residency.streams_built += built.get();
        Ok(())
    }

    /// The streams of a run over a whole image, and whether they were made now; those of all units are kept.
    fn streams(
        &self,
        machine: &Accelerator,
        image: &SetImage,
        of: StreamKey,
        asked: Units<'_>,
    ) -> (Streams, bool) {
        let make = |of: &StreamKey| {
            let work = units(self.graph.view(), image, &of.operations, asked);
            let mut streams = deal(machine, &of.operations, work, of.clusters, of.arrange);
            // More than one size of cliques, and nothing else.
            if of.operations.len() > 1 && ascending(&of.operations) {
                streams.iter_mut().for_each(|own| separate_sums(machine, &mut own.head));
            }
            streams
        };
        match asked.share() {
            None => self.streams.get(of.clone(), || make(&of)),
            Some(_) => (Arc::new(make(&of)), true),
        }
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
            let operations = vec![Operation::Cliques { k }];
            let of = StreamKey { image: 7, operations, arrange, clusters: 2 };
            resident.streams(&machine, &image, of, Units::All)
        };
        let (first, made) = streams(3, Arrange::ByWork);
        assert!(made);
        let others = [streams(4, Arrange::ByWork), streams(3, Arrange::ByAddress)];
        assert!(others.iter().all(|(other, made)| *made && other[0] != first[0]));
        // Others between do not matter.
        let (again, made) = streams(3, Arrange::ByWork);
        assert!(!made && Arc::ptr_eq(&first, &again));
    }
}
