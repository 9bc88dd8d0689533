//! A run: from the options to the answer.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::distribute::Ranks;
use super::per::PerArgs;
use super::{Common, Form};
use crate::cluster;
use crate::command_line::warn;
use crate::report::per::list as list_columns;
use crate::report::{Answer, Drawing, ListFormat, ListWriter, Meter, Stopped, Times};
use crate::signals;
use gramer_cluster::Job;
use gramer_engine::cpu::supports_budget;
use gramer_engine::per::{Column, Per};
use gramer_engine::{Engine, Estimated, Outcome, Precision, Share, Sink, Units};
use gramer_graph::budget::Keeper;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, Order};
use gramer_many::Many;
use gramer_many::checkpoint::{self, Checkpoint, Keeping};
use gramer_pattern::Task;
use gramer_picture::per::PerReport;

/// What a run that has given its answer ends with.
fn ended(stopped: Option<Stopped>) -> Result<()> {
    match stopped {
        Some(Stopped::Interrupt | Stopped::TimeLimit) => Err(Error::Interrupted),
        Some(Stopped::Limit) | None => Ok(()),
    }
}

impl Common {
    /// `pattern` is the file that the task came from, if any.
    pub(super) fn run(
        &self,
        task: &Task,
        pattern: Option<&Path>,
        per: Option<&PerArgs>,
        mut context: Context,
    ) -> Result<()> {
        task.check()?;
        let wanted = per.and_then(|args| args.per.map(|per| (per, args)));
        let per = wanted.map(|wanted| wanted.0);
        let ranks = self.ranks(task, per.is_some())?;
        let _alarm = self.alarm(&ranks, &context)?;
        let list = ranks.list(self.list.as_deref())?;
        let list_format = self.check_list(list.as_deref(), pattern)?;
        let output = self.form(&ranks, list.as_deref(), pattern)?;
        self.options.check(&self.device, task, self.list.is_some() && per.is_none())?;
        let miner = self.miner(task, per.is_some(), output, &ranks, &context)?;
        let precision = self.supported(miner.engine(), task, per)?;
        if let Some(threads) = self.threads {
            context.threads = threads.into();
        }
        let _keeper = self.limit(task, per.is_some() || precision.is_some(), &mut context)?;

        let counted = per.is_none() && precision.is_none();
        let any_order = counted && self.any_order(&miner, task, &context);
        let Prepared { graph, notes, load, prepare } = self.prepared(!any_order, &context)?;
        let share = self.share(&graph, per.is_some())?;
        let list = list.filter(|_| per.is_none());
        let list = list.map(|path| self.list_writer(&path, list_format, &graph)).transpose()?;
        let begun = Instant::now();
        let found = {
            let meter = || Meter::new("mining", context.progress.clone());
            let _meter = ranks.is_answering().then(meter);
            let sink = list.as_ref().map(|l| l as &dyn Sink);
            let asked = Asked { per, precision, sink, share: share.as_ref() };
            graph.guarded(|| miner.mine(&graph, task, asked, &context))?
        };
        let mine = begun.elapsed();
        let Found { outcome, columns, estimated, kept } = found;
        outcome.warnings.iter().for_each(|warning| warn(warning));

        let limited = list.as_ref().is_some_and(|l| l.limit_reached());
        let listed = list.map(ListWriter::finish).transpose()?;
        let mut listed = ranks.listed(listed)?;
        if !ranks.is_answering() {
            return Ok(());
        }
        let numbers = wanted
            .filter(|_| outcome.complete)
            .map(|(per, args)| PerReport::new(&graph, per, &columns, args.top, args.histogram));
        if let (Some(path), Some(PerReport { per, .. })) = (&self.list, &numbers) {
            listed = Some(self.list_per(path, list_format, &graph, *per, &columns)?);
        }
        let stopped = stopped(outcome.complete, limited);
        let source = self.graph.graph.to_string_lossy();
        let device = ranks.device(miner.engine().name());
        let answer = Answer {
            task,
            source: &source,
            graph: &graph,
            device: &device,
            threads: context.threads(),
            outcome: &outcome,
            stopped,
            listed,
            per: numbers.as_ref(),
            estimated: estimated.as_ref().map(|found| (found.0, &found.1)),
            notes: &notes,
            times: Times { load, prepare, mine },
        };
        self.write(output, self.drawn(), &answer)?;
        if let Some(kept) = kept.filter(|_| outcome.complete) {
            kept.remove()?;
        }
        ended(stopped)
    }

    /// Keeps the run to the memory that it may take, where that is limited.
    fn limit(&self, task: &Task, more: bool, context: &mut Context) -> Result<Option<Keeper>> {
        let Some(budget) = self.options.budget(&self.device)? else { return Ok(None) };
        supports_budget(task)?;
        if more {
            return Err(Error::usage(
                "--memory goes with neither --per nor --estimate: leave one out",
            ));
        }
        let keeper = budget.keep(&context.cancel);
        context.budget = Some(Arc::new(budget));
        Ok(Some(keeper))
    }

    /// Opens the list of embeddings.
    fn list_writer<'g>(
        &self,
        path: &Path,
        format: ListFormat,
        graph: &'g Graph,
    ) -> Result<ListWriter<'g>> {
        ListWriter::create((path, self.force), format, self.limit, self.counts, graph)
    }

    /// Writes the counts of each vertex or edge as a list.
    fn list_per(
        &self,
        path: &Path,
        format: ListFormat,
        graph: &Graph,
        per: Per,
        columns: &[Column],
    ) -> Result<u64> {
        list_columns((path, self.force), format, self.limit, self.counts, graph, per, columns)
    }

    /// How the answer is written; refuses what can't be, before anything is read.
    fn form(&self, ranks: &Ranks, list: Option<&Path>, pattern: Option<&Path>) -> Result<Form> {
        if !ranks.is_answering() {
            return Ok(Form::Json);
        }
        self.check_answer(list, pattern)
    }

    /// Whether tables have pictures of the patterns.
    fn drawn(&self) -> Drawing {
        // A file is no terminal.
        let terminal = self.to.is_none() && std::io::stdout().is_terminal();
        if self.no_drawing { Drawing::Never } else { self.drawing.on(terminal) }
    }

    /// Opens what mines.
    fn miner(
        &self,
        task: &Task,
        per: bool,
        output: Form,
        ranks: &Ranks,
        context: &Context,
    ) -> Result<Miner> {
        let page = output == Form::Html;
        match self.keeping(per)? {
            keeping if ranks.is_distributed() => {
                Ok(Miner::Rank(self.options.engine(&self.device, page, context)?, keeping))
            }
            Some(keeping) => {
                checkpoint::supports(task)?;
                Ok(Miner::Keeping(self.options.many(&self.device, page, context)?, keeping))
            }
            None => Ok(Miner::One(self.options.engine(&self.device, page, context)?)),
        }
    }

    /// Refuses what the engine doesn't do; the precision of an estimate, where one is asked for.
    fn supported(
        &self,
        engine: &dyn Engine,
        task: &Task,
        per: Option<Per>,
    ) -> Result<Option<Precision>> {
        engine.supports(task, None)?;
        if let Some(per) = per {
            engine.supports_per(task, per)?;
        }
        let precision = self.estimate.map(|relative| Precision { relative, seed: self.seed });
        if let Some(precision) = precision {
            if per.is_some() {
                return Err(Error::usage(
                    "--estimate gives counts of the whole graph: leave --per out",
                ));
            }
            precision.check()?;
            engine.supports_estimate(task)?;
        }
        Ok(precision)
    }

    /// Ends the run when its time is over: rank 0 stops all.
    fn alarm(&self, ranks: &Ranks, context: &Context) -> Result<Option<signals::Alarm>> {
        let limit = self.time_limit.filter(|_| ranks.is_answering());
        let alarm = limit.map(|limit| signals::Alarm::set(limit, &context.cancel)).transpose();
        alarm.map_err(|e| {
            Error::Unsupported(format!("the system has no timer for a time limit: {e}"))
        })
    }

    /// Whether the order of the vertices is of no use. Whoever takes a part of the work, names vertices, or has little
    /// memory goes by it.
    fn any_order(&self, miner: &Miner, task: &Task, context: &Context) -> bool {
        let alone = self.list.is_none() && self.share.share.is_none() && context.budget.is_none();
        match miner {
            Miner::One(engine) => alone && engine.any_order(task),
            Miner::Keeping(..) | Miner::Rank(..) => false,
        }
    }

    /// The graph, in the order of Rank(ON_1) if it is to be ranked.
    fn prepared(&self, ranked: bool, context: &Context) -> Result<Prepared> {
        let begun = Instant::now();
        let order = if ranked { Order::RankOn1 } else { Order::Input };
        let loaded = self.graph.load_in(order, context)?;
        let load = begun.elapsed() - loaded.ordering;
        Ok(Prepared { graph: loaded.graph, notes: loaded.notes, load, prepare: loaded.ordering })
    }
}

/// A graph ready to be mined.
struct Prepared {
    graph: Graph,
    /// Remarks of the reader.
    notes: Vec<String>,
    /// Time of reading and of ordering.
    load: Duration,
    prepare: Duration,
}

/// What mines.
enum Miner {
    One(Box<dyn Engine>),
    /// With a file of what is finished.
    Keeping(Many, Keeping),
    /// One of several processes, with such a file or without.
    Rank(Box<dyn Engine>, Option<Keeping>),
}

/// What is asked of it beside the task.
struct Asked<'a> {
    per: Option<Per>,
    precision: Option<Precision>,
    sink: Option<&'a dyn Sink>,
    /// Instead of all units.
    share: Option<&'a Share>,
}

/// What came of it.
struct Found<'a> {
    outcome: Outcome,
    /// Counts per vertex or edge, where they were asked for.
    columns: Vec<Column>,
    /// In place of counts.
    estimated: Option<(Precision, Estimated)>,
    /// The file of what is finished.
    kept: Option<Checkpoint<'a>>,
}

impl Miner {
    fn engine(&self) -> &dyn Engine {
        match self {
            Miner::One(engine) | Miner::Rank(engine, _) => engine.as_ref(),
            Miner::Keeping(many, _) => many,
        }
    }

    fn mine<'a>(
        &self,
        graph: &'a Graph,
        task: &Task,
        asked: Asked<'_>,
        context: &Context,
    ) -> Result<Found<'a>> {
        let found = |outcome| Found { outcome, columns: vec![], estimated: None, kept: None };
        match (asked.per, asked.precision, self) {
            (Some(per), ..) => {
                let of = self.engine().prepare(graph, context)?.run_per(task, per, context)?;
                let mut outcome = Outcome::new(of.results, of.complete);
                outcome.larger_cliques = of.larger_cliques;
                Ok(Found { columns: of.columns, ..found(outcome) })
            }
            (None, Some(precision), _) => {
                let prepared = self.engine().prepare(graph, context)?;
                let of = prepared.estimate(task, precision, context)?;
                let outcome = Outcome::new(vec![], of.complete);
                Ok(Found { estimated: Some((precision, of)), ..found(outcome) })
            }
            (None, None, Miner::One(engine)) => {
                engine.supports(task, Some(graph))?;
                let units = asked.share.map_or(Units::All, Units::Share);
                engine.prepare(graph, context)?.run(task, units, asked.sink, context).map(found)
            }
            (None, None, Miner::Rank(engine, keeping)) => {
                let (engine, keeping, sink) = (engine.as_ref(), keeping.as_ref(), asked.sink);
                let job = Job { engine, graph, task, keeping, sink };
                let mined = cluster::with(|cluster| {
                    let mined = cluster.mine(&job, context)?;
                    Ok(mined.map(|mined| (mined.outcome, mined.kept)))
                });
                let mined = mined.expect("this process is a rank")?;
                let (outcome, kept) = mined.unwrap_or_default();
                Ok(Found { kept, ..found(outcome) })
            }
            (None, None, Miner::Keeping(many, keeping)) => {
                let (outcome, kept) = many.run_kept(graph, task, keeping, context)?;
                Ok(Found { kept: Some(kept), ..found(outcome) })
            }
        }
    }
}

/// What ended a run before its end.
fn stopped(complete: bool, limited: bool) -> Option<Stopped> {
    match complete {
        true => None,
        false if limited => Some(Stopped::Limit),
        false if signals::is_time_up() => Some(Stopped::TimeLimit),
        false => Some(Stopped::Interrupt),
    }
}
