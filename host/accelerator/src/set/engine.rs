//! The set core as a device that answers tasks.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gramer_engine::{Outcome, Sink};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern::task::Task;

use super::image::{Lists, SetImage};
use super::sums::{Degrees, Total};
use super::tasks::{SetTask, fits};
use super::units::{Arrange, deal, longest, units};
use crate::session::{Session, Summed};
use crate::settings::Settings;

/// A graph for the set core. Its images are built when a task first needs them, and the one in use stays
/// on the devices until a task needs the other.
pub(crate) struct SetResident<'a> {
    graph: &'a Graph,
    /// Numbers that tell the images from those of other graphs.
    numbers: [u64; 2],
    images: Mutex<[Option<SetImage>; 2]>,
    degrees: Degrees,
    longest: u32,
}

/// Where an image is in [`SetResident`].
fn place(lists: Lists) -> usize {
    match lists {
        Lists::Up => 0,
        Lists::Both => 1,
    }
}

impl<'a> SetResident<'a> {
    /// A graph whose images will have these numbers.
    pub fn new(graph: &'a Graph, numbers: [u64; 2]) -> Self {
        let view = graph.view();
        SetResident {
            graph,
            numbers,
            images: Mutex::default(),
            degrees: Degrees::of(view),
            longest: longest(view),
        }
    }

    /// The numbers of its images.
    pub fn numbers(&self) -> [u64; 2] {
        self.numbers
    }

    /// Answers a task.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for what the core doesn't do or has no room for, [`Error::Usage`] for an
    /// option that it doesn't have, [`Error::Device`] for what the runtime refuses.
    pub fn run(
        &self,
        session: &mut Session,
        settings: &Settings,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        let machine = session.machine().clone();
        let task = SetTask::of(&machine, task, sink.is_some())?;
        session.begin();
        let begun = Instant::now();
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        // An image of both lists that is there already serves cliques too.
        let both = self.numbers[place(Lists::Both)];
        let lists = match images[place(Lists::Both)].is_some() && session.is_on_chip(both) {
            true => Lists::Both,
            false => task.lists(),
        };
        let view = self.graph.view();
        let image = match &mut images[place(lists)] {
            Some(image) => image,
            none => none.insert(SetImage::new(view, lists, context.threads())?),
        };
        fits(&machine, image, self.longest, task)?;
        session.note_preparation(begun.elapsed());
        let number = self.numbers[place(lists)];
        let (mut results, mut complete) = (vec![], true);
        for pass in task.passes(self.longest) {
            let found = self.pass(session, settings, pass, image, number, context)?;
            complete &= found.complete;
            if found.complete || matches!(pass, SetTask::Cliques(_)) {
                results.extend(pass.counts(&found.total, &self.degrees));
            } else {
                // Equations want all sums whole.
                results.extend(pass.counts(&Total::default(), &Degrees::default()));
            }
            // Without a clique of this size there is none of a larger one.
            if !found.complete || found.total == Total::default() {
                break;
            }
        }
        // As the CPU engine has it, sizes end with the largest clique.
        let last_is_none = results.len() > 1 && results.last().is_some_and(|r| r.count == 0);
        if last_is_none && matches!(task, SetTask::CliqueSizes(..)) {
            results.pop();
        }
        Ok(Outcome::new(results, complete))
    }

    /// Runs a task of one pass over an image with this number.
    fn pass(
        &self,
        session: &mut Session,
        settings: &Settings,
        task: SetTask,
        image: &SetImage,
        number: u64,
        context: &Context,
    ) -> Result<Summed> {
        let begun = Instant::now();
        let arrange = match session.is_on_chip(number) {
            true => Arrange::ByWork,
            false => Arrange::ByAddress,
        };
        let operations = task.operations();
        let work = units(self.graph.view(), image, &operations);
        let machine = session.machine().clone();
        let streams = deal(&machine, &operations, work, session.compute_units(), arrange);
        session.note_preparation(begun.elapsed());
        session.load_image(image.bytes(), number, context)?;
        let limit = settings.time_limit.map(Duration::from_secs);
        session.run_streams(&streams, number, image.lines(), limit, context)
    }
}

/// Refuses settings that are of the paper's core alone.
///
/// # Errors
/// [`Error::Usage`] that names the first of them that was given.
pub(crate) fn check(settings: &Settings, machine: &str) -> Result<()> {
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
        ("result_beats", settings.result_beats.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::usage(format!(
            "the setting `{option}` is one of the paper's core, and machine {machine} has a set core"
        ))),
    }
}
