//! A run: from the options to the answer.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::distribute::Ranks;
use super::filter::check_labels;
use super::{Common, Form, Options};
use crate::program::warn;
use crate::report::per::list as list_columns;
use crate::report::{Answer, Drawing, ListFormat, ListWriter, Meter, StopReason, Tally, Times};
use crate::signals;
use crate::{cluster, device};
use gramer_base::budget::Keeper;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_cluster::Job;
use gramer_crew::Crew;
use gramer_crew::checkpoint::{Checkpoint, CheckpointSettings};
use gramer_engine::per::Per;
use gramer_engine::query;
use gramer_engine::{
    Ask, Column, Engine, EngineExt, Outcome, Precision, Query, Reply, Run, SampledCounts, Sink,
};
use gramer_graph::read::Format;
use gramer_graph::{AskedOrder, Graph, Order};
use gramer_pattern::Task;
use gramer_picture::per::PerReport;

/// Puts the numbers of labels in place of their names, and refuses numbers of labels that have names.
fn resolve(query: &mut Query, options: &dyn Options, graph: &Graph) -> Result<()> {
    if let Some(task) = options.resolved(graph)? {
        query.task = task;
    }
    query.filter.as_ref().map_or(Ok(()), |filter| check_labels(filter, graph))
}

/// Exit of a run after its answer.
fn ended(stopped: Option<StopReason>) -> Result<()> {
    match stopped {
        Some(StopReason::Interrupt | StopReason::TimeLimit) => Err(Error::Interrupted),
        Some(StopReason::Limit) | None => Ok(()),
    }
}

/// Way to numbers per vertex or edge, which matches lack: another task with `--per`, or a list.
fn instead_of_columns(
    query: &Query,
    per: Per,
    is_answered: impl Fn(&Query) -> bool,
) -> Option<String> {
    let counted = query.clone().answer(query::Answer::Counts);
    if let Task::Match { pattern, induced, mappings: None } = &query.task
        && counted.needs(None).is_none()
    {
        let (k, induced) = (pattern.vertices(), *induced);
        let (task, words) = match pattern.edge_count() == k * (k - 1) / 2 {
            true => (Task::Clique { k }, format!("clique -k {k}")),
            false => (Task::Motif { k, induced }, format!("motif -k {k} --induced {induced}")),
        };
        if task.check().is_ok() && is_answered(&Query::new(task).answer(query.answer)) {
            return Some(format!(", or count with `gramer mine {words} --per {per}`"));
        }
    }
    is_answered(&counted.list(true)).then(|| ", or write every match with --list".into())
}

/// Ends a list: the number of its embeddings, and whether it is in its place. One that can't be put there takes no counts
/// away; ranks tell each other of lists that are there.
///
/// # Errors
/// Those of the list.
fn ended_list(list: Option<ListWriter<'_>>, ranks: &Ranks) -> Result<(Option<u64>, Result<()>)> {
    let Some(list) = list else { return Ok((None, Ok(()))) };
    let listed = list.end()?;
    match list.place() {
        Err(error) if ranks.is_distributed() => Err(error),
        placed => Ok((Some(listed), placed)),
    }
}

impl Common {
    pub(super) fn run(
        &self,
        task: Task,
        options: &dyn Options,
        mut context: Context,
    ) -> Result<()> {
        task.check()?;
        let (pattern, per) = (options.file(), options.per());
        let wanted = per.and_then(|args| args.per.map(|per| (per, args)));
        let per = wanted.map(|wanted| wanted.0);
        let ranks = self.ranks(per.is_some())?;
        let _alarm = self.alarm(&ranks, &context)?;
        let list = ranks.list(self.list.as_deref())?;
        let list_format = self.check_list(list.as_deref(), pattern)?;
        let output = self.form(&ranks, list.as_deref(), pattern)?;
        let mut query = self.query(&task, options)?;
        self.options.check(&self.device, &task, query.list)?;
        self.keeping(per.is_some())?;
        let order = self.planned(&query, &ranks)?;
        let miner = self.miner(per.is_some(), output, &ranks, &context)?;
        if let Some(threads) = self.threads {
            context.threads = threads.into();
        }
        let _keeper = self.limit(&mut context)?;
        let LoadedGraph { graph, format, notes, load, prepare } = self.prepared(order, &context)?;
        resolve(&mut query, options, &graph)?;
        let list = list.filter(|_| per.is_none());
        let list = list.map(|path| self.list_writer(&path, list_format, &graph)).transpose()?;
        let tally = (query.list && list.is_none()).then(|| Tally::new(self.limit));
        let begun = Instant::now();
        let visited = || tally.as_ref().map(|tally| tally as &dyn Sink);
        let sink = list.as_ref().map(|l| l as &dyn Sink).or_else(visited);
        let MiningResult { outcome, estimated, kept } = {
            let meter = || Meter::new("mining", context.progress.clone());
            let _meter = ranks.is_answering().then(meter);
            let run = Run { sink, ..Run::new(&context) };
            graph.guarded(|| miner.mine(&graph, &query, &run))?
        };
        let mine = begun.elapsed();
        outcome.warnings.iter().for_each(|warning| warn(warning));

        let visited = list.as_ref().map(ListWriter::tally).or(tally.as_ref());
        let limited = visited.is_some_and(Tally::limit_reached);
        let first = visited.and_then(Tally::first).map(|first| first.duration_since(begun));
        let (listed, placed) = ended_list(list, &ranks)?;
        let mut listed = ranks.listed(listed)?;
        if !ranks.is_answering() {
            return Ok(());
        }
        let numbers = wanted.filter(|_| outcome.complete).map(|(per, args)| {
            PerReport::new(&graph, per, &outcome.columns, args.top, args.histogram)
        });
        if let (Some(path), Some(PerReport { per, .. })) = (&self.list, &numbers) {
            listed = Some(self.list_per(path, list_format, &graph, *per, &outcome.columns)?);
        }
        let stopped = stopped(outcome.complete, limited);
        let source = self.graph.graph.to_string_lossy();
        let device = ranks.device(miner.engine().name());
        let answer = Answer {
            task: &query.task,
            filter: query.filter.as_ref(),
            support: query.support,
            source: &source,
            format: Some(format),
            graph: &graph,
            device: &device,
            threads: context.threads(),
            outcome: &outcome,
            stopped,
            listed,
            per: numbers.as_ref(),
            estimated: estimated.as_ref().map(|found| (found.0, &found.1)),
            notes: &notes,
            times: Times { load, prepare, mine, first },
        };
        self.write_known(output, &query.answer, &answer)?;
        placed?;
        kept.filter(|_| outcome.complete).map_or(Ok(()), |kept| kept.remove())?;
        ended(stopped)
    }

    /// Writes an answer. Numbers per item and estimates are known at the end of a run: a stopped one has no rows of
    /// them.
    fn write_known(&self, output: Form, kind: &query::Answer, answer: &Answer<'_>) -> Result<()> {
        let is_counts = matches!(kind, query::Answer::Counts);
        if output.rows().is_none() || is_counts || answer.outcome.complete {
            return self.write(output, self.drawn(), answer);
        }
        warn(
            "no row is written: numbers per vertex, edge or graph and estimates need the whole run",
        );
        Ok(())
    }

    /// The question.
    pub(super) fn query(&self, task: &Task, options: &dyn Options) -> Result<Query> {
        let per = options.per().and_then(|args| args.per);
        if self.limit.is_some() && per.is_some() && self.list.is_none() {
            return Err(Error::usage(
                "--limit with --per limits the lines of a list: name its file with --list",
            ));
        }
        let answer = match (per, self.estimate) {
            (Some(_), Some(_)) => {
                return Err(Error::usage(
                    "--estimate gives counts of the whole graph: leave --per out",
                ));
            }
            (Some(per), None) => per.into(),
            (None, Some(relative)) => {
                query::Answer::Estimate(Precision { relative, seed: self.seed })
            }
            (None, None) => query::Answer::Counts,
        };
        // A list of columns is written from the answer.
        let list = (self.list.is_some() || self.limit.is_some()) && per.is_none();
        let query = Query::new(task.clone()).answer(answer).list(list);
        Ok(query.filter(options.filter().cloned()).support(options.support()))
    }

    /// Refuses a question that the devices don't answer, before the graph is read and a device is opened. Returns the
    /// order of the vertices to mine in.
    fn planned(&self, query: &Query, ranks: &Ranks) -> Result<AskedOrder> {
        let memory = self.options.budget(&self.device)?.map(|budget| budget.bytes);
        let ask = Ask::new(query).memory(memory);
        let engine = self.options.unopened(&self.device)?;
        let kept = self.kept.checkpoint.is_some();
        let plan = match (ranks.is_distributed(), kept) {
            (true, _) => gramer_cluster::check(engine.as_ref(), &ask, kept).map(|()| None),
            (false, true) => {
                let crew = self.options.crew_unopened(&self.device)?;
                crew.division_kept(&ask).map(|_| None)
            }
            (false, false) => engine.plan(&ask).map(Some),
        };
        let plan = plan.map_err(|error| self.with_a_way_out(error, &ask))?;
        // Lists, samples and the memory-limited path depend on the order of vertices.
        let sampled = matches!(query.answer, query::Answer::Estimate(_));
        let alone = !query.list && memory.is_none();
        Ok(match plan.filter(|_| alone) {
            Some(plan) if plan.any_order => Order::Input.into(),
            Some(_) => {
                let keep_local = engine.device().kind == "cpu" && !sampled;
                AskedOrder { order: Order::RankOn1, keep_local }
            }
            None => Order::RankOn1.into(),
        })
    }

    /// A refusal, with the devices that answer the question or the option that stands in the way. It depends on the
    /// options alone, so it is wrong usage.
    fn with_a_way_out(&self, error: Error, ask: &Ask<'_>) -> Error {
        let Error::Unsupported(what) = error else { return error };
        let able = device::able(ask);
        if !able.is_empty() && !able.contains(&self.device.as_str()) {
            return Error::usage(format!("{what}; choose --device {}", device::either(&able)));
        }
        let Ask { query, memory, .. } = *ask;
        let is_answered = |query: &Query, memory| {
            let ask = Ask::new(query).facts(ask.facts).terms(ask.terms).only(ask.only);
            !device::able(&ask.memory(memory)).is_empty()
        };
        let conditions = match (query.filter.is_some(), query.support.is_some()) {
            (true, true) => Some("--filter and --support"),
            (true, false) => Some("--filter"),
            (false, true) => Some("--support"),
            (false, false) => None,
        };
        let form = match query.answer {
            query::Answer::Counts => None,
            query::Answer::Estimate(_) => Some("--estimate"),
            _ => Some("--per"),
        };
        // The question without each of the options.
        let ways = [
            (conditions, query.clone().filter(None).support(None), memory),
            (memory.map(|_| "--memory"), query.clone(), None),
            (form, query.clone().answer(query::Answer::Counts), memory),
        ];
        let mut ways = ways
            .into_iter()
            .filter_map(|(option, query, memory)| option.filter(|_| is_answered(&query, memory)));
        match (ways.next(), query.answer.per()) {
            (Some(option @ "--per"), Some(per)) if matches!(query.task, Task::Match { .. }) => {
                let other = instead_of_columns(query, per, |query| is_answered(query, memory));
                Error::usage(format!("{what}; leave {option} out{}", other.unwrap_or_default()))
            }
            (Some(option), _) => Error::usage(format!("{what}; leave {option} out")),
            (None, _) => Error::Usage(what),
        }
    }

    /// Keeps the run to the memory that it may take, where that is limited.
    fn limit(&self, context: &mut Context) -> Result<Option<Keeper>> {
        let Some(budget) = self.options.budget(&self.device)? else { return Ok(None) };
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

    /// Returns the form of the answer; rejects invalid combinations before anything is read.
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
        self.drawing.on(terminal)
    }

    /// Opens what mines.
    fn miner(&self, per: bool, output: Form, ranks: &Ranks, context: &Context) -> Result<Miner> {
        let page = output == Form::Html;
        match self.keeping(per)? {
            keeping if ranks.is_distributed() => {
                Ok(Miner::Rank(self.options.engine(&self.device, page, context)?, keeping))
            }
            Some(keeping) => {
                Ok(Miner::Checkpointed(self.options.crew(&self.device, page, context)?, keeping))
            }
            None => Ok(Miner::One(self.options.engine(&self.device, page, context)?)),
        }
    }

    /// Ends the run when its time is over: rank 0 stops all.
    fn alarm(&self, ranks: &Ranks, context: &Context) -> Result<Option<signals::Alarm>> {
        let limit = self.time_limit.filter(|_| ranks.is_answering());
        let alarm = limit.map(|limit| signals::Alarm::set(limit, &context.cancel)).transpose();
        alarm.map_err(|e| {
            Error::Unsupported(format!("the system has no timer for a time limit: {e}"))
        })
    }

    /// The graph in the order to mine in.
    fn prepared(&self, order: AskedOrder, context: &Context) -> Result<LoadedGraph> {
        let begun = Instant::now();
        let loaded = self.graph.load_in(order, context)?;
        let load = begun.elapsed() - loaded.ordering;
        let (format, prepare) = (loaded.format, loaded.ordering);
        Ok(LoadedGraph { graph: loaded.graph, format, notes: loaded.notes, load, prepare })
    }
}

/// A graph ready to be mined.
struct LoadedGraph {
    graph: Graph,
    format: Format,
    /// Remarks of the reader.
    notes: Vec<String>,
    /// Time of reading and of ordering.
    load: Duration,
    prepare: Duration,
}

/// Executor of a task.
enum Miner {
    One(Box<dyn Engine>),
    /// With a checkpoint file.
    Checkpointed(Crew, CheckpointSettings),
    /// One of several processes, with such a file or without.
    Rank(Box<dyn Engine>, Option<CheckpointSettings>),
}

/// Result of a run.
struct MiningResult {
    outcome: Outcome,
    /// In place of counts.
    estimated: Option<(Precision, SampledCounts)>,
    /// The checkpoint file.
    kept: Option<Checkpoint>,
}

impl Miner {
    fn engine(&self) -> &dyn Engine {
        match self {
            Miner::One(engine) | Miner::Rank(engine, _) => engine.as_ref(),
            Miner::Checkpointed(crew, _) => crew,
        }
    }

    fn mine(&self, graph: &Graph, query: &Query, run: &Run<'_>) -> Result<MiningResult> {
        let counts = |outcome, kept| MiningResult { outcome, estimated: None, kept };
        let context = run.context;
        match self {
            Miner::One(engine) => {
                let prepared = engine.prepare(graph, context)?;
                Ok(match (prepared.mine(query, run)?, query.answer) {
                    (Reply::Estimate(of), query::Answer::Estimate(precision)) => {
                        let outcome = Outcome::new(vec![], of.complete);
                        MiningResult { estimated: Some((precision, of)), ..counts(outcome, None) }
                    }
                    (Reply::Counts(outcome), _) => counts(*outcome, None),
                    (other, answer) => unreachable!("{answer:?} was asked for, not {other:?}"),
                })
            }
            Miner::Rank(engine, keeping) => {
                let (engine, keeping, sink) = (engine.as_ref(), keeping.as_ref(), run.sink);
                let job = Job { engine, graph, task: &query.task, keeping, sink };
                let mined = cluster::with(|cluster| {
                    let mined = cluster.mine(&job, context)?;
                    Ok(mined.map(|mined| (mined.outcome, mined.kept)))
                });
                let mined = mined.expect("this process is a rank")?;
                let (outcome, kept) = mined.unwrap_or_default();
                Ok(counts(outcome, kept))
            }
            Miner::Checkpointed(crew, keeping) => {
                let (outcome, kept) = crew.run_kept(graph, &query.task, keeping, context)?;
                Ok(counts(outcome, Some(kept)))
            }
        }
    }
}

/// Reason for the early end of a run.
fn stopped(complete: bool, limited: bool) -> Option<StopReason> {
    match complete {
        true => None,
        false if limited => Some(StopReason::Limit),
        false if signals::is_time_up() => Some(StopReason::TimeLimit),
        false => Some(StopReason::Interrupt),
    }
}
