//! Mining tasks as passes of the core.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use gramer_machine::Accelerator;

use super::PaperCoreGraph;
use super::filter;
use super::image::{DeviceImage, LINE};
use super::session::{Pass, PassResult, Session};
use super::settings::Settings;
use super::stream::{Record, RecordSink};
use super::table::{CLIQUE, Table};
use super::units::{Ranges, Runs};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::reference::Comparison;
use gramer_engine::{Count, Outcome, Query, Share, Sink, Units};
use gramer_graph::{Graph, Label, View};
use gramer_pattern::closing::results;
use gramer_pattern::filter::Attribute;
use gramer_pattern::task::{SizeLimit, Task, parts_reported};
use gramer_pattern::{Dictionary, Filter, Pattern};

/// Answers a task by passes of the core.
///
/// # Errors
/// [`Error::Unsupported`] for what the machine or a device's memory can't hold, before the start;
/// [`Error::Device`] for what the runtime refuses.
pub(crate) fn run(
    session: &mut Session,
    resident: &PaperCoreGraph,
    query: &Query,
    units: Units<'_>,
    sink: Option<&dyn Sink>,
    context: &Context,
) -> Result<Outcome> {
    let crate::SharedState { name, settings, .. } = &*resident.accelerator.shared;
    session.begin();
    let image = resident.load(session, context)?;
    let view = resident.graph.view();
    let filter = match &query.filter {
        Some(filter) if filter::length(filter) > 0 => {
            let labels = match &resident.labels {
                Some(labels) => labels.clone(),
                None if filter.reads(Attribute::Label) => {
                    labels(session.machine(), &resident.graph, "reference")?
                }
                None => vec![],
            };
            Some(filter::beat(session.machine(), filter, &labels))
        }
        _ => None,
    };
    let mut run = PassRun { session, settings, view, units, sink, context, image, filter };
    let mut outcome = match &query.task {
        Task::Clique { k } => run.cliques(*k)?,
        Task::Motif { k, .. } => {
            let selection = query.filter.as_ref().filter(|f| !f.pattern_conditions().is_empty());
            match query.support {
                Some(support) => run.supported_motifs(*k, support, selection)?,
                None => run.motifs(*k, selection)?,
            }
        }
        Task::Fsm { limit: SizeLimit::MaxVertices(largest), support, .. } => {
            let machine = run.session.machine();
            if resident.graph.has_edge_labels() {
                return Err(Error::Unsupported(format!(
                    "machine {} doesn't read edge labels: leave them out (the setting `edge_labels`), or use the \
                     engine `cpu`",
                    machine.machine.name
                )));
            }
            let labels = labels(machine, &resident.graph, "cpu")?;
            run.frequent(&labels, *largest, *support)?
        }
        task => {
            return Err(Error::Unsupported(format!("no pass of the core does {}", task.name())));
        }
    };
    outcome.devices = vec![run.session.metrics().named(name)];
    Ok(outcome)
}

/// The labels of a graph's vertices in order; `[0]` for one without. `engine` answers the question for more labels
/// than the machine has room for.
///
/// # Errors
/// [`Error::Unsupported`] that names the engine.
pub(crate) fn labels(machine: &Accelerator, graph: &Graph, engine: &str) -> Result<Vec<Label>> {
    let name = &machine.machine.name;
    let labels: BTreeSet<Label> = match graph.view().vertex_labels {
        Some(labels) => labels.iter().copied().collect(),
        None => BTreeSet::from([0]),
    };
    let most = 1usize << machine.applications.label_bits;
    if labels.len() > most {
        return Err(Error::Unsupported(format!(
            "the graph has {} vertex labels, and machine {name} has room for {most}; use the \
             engine `{engine}`",
            labels.len()
        )));
    }
    Ok(labels.into_iter().collect())
}

/// One task on one graph.
struct PassRun<'a> {
    session: &'a mut Session,
    settings: &'a Settings,
    view: View<'a>,
    units: Units<'a>,
    sink: Option<&'a dyn Sink>,
    context: &'a Context,
    image: DeviceImage<'a>,
    /// The beat of the user's filter.
    filter: Option<[u8; LINE]>,
}

impl PassRun<'_> {
    fn pass(&mut self, pass: &Pass, take: Option<&RecordSink<'_>>) -> Result<PassResult> {
        let patterns = self.session.machine().applications.pattern_counters;
        if pass.patterns > patterns {
            return Err(Error::Unsupported(format!(
                "the task needs {} pattern counters, and machine {} has {patterns}; use the engine \
                 `cpu`",
                pass.patterns,
                self.session.machine().machine.name
            )));
        }
        let ascending = self.settings.comparison == Comparison::Ascending;
        let limits = Runs {
            depth: pass.k,
            ascending,
            runs: self.settings.runs.unwrap_or(0) as usize,
            compute_units: self.session.compute_units(),
            most: self.session.most_units(),
        };
        let ranges = Ranges::new(self.view, self.units, limits);
        self.session.explore(pass, &self.image, self.settings, ranges, take, self.context)
    }

    /// The outcome of one pass that counts, with what is left of it.
    fn counted(&self, results: Vec<Count>, found: &PassResult) -> Result<Outcome> {
        let mut outcome = Outcome::new(results, found.complete);
        if !found.complete && self.sink.is_none() {
            outcome.rest = Some(Share::of(self.view, &found.rest)?);
        }
        Ok(outcome)
    }

    /// Checks that a record names vertices of the graph.
    fn check(&self) -> impl Fn(&Record) -> Result<()> + use<> {
        let vertices = self.view.vertices();
        move |record| match record.vertices.iter().find(|&&v| v as usize >= vertices) {
            None => Ok(()),
            Some(v) => Err(Error::Device(format!(
                "the core listed vertex {v} of a graph of {vertices} vertices"
            ))),
        }
    }

    fn cliques(&mut self, k: usize) -> Result<Outcome> {
        let pattern = Pattern::clique(k);
        let list = self.sink.is_some();
        let (patterns, dictionary) = (1, vec![]);
        let enough = self.sink.and_then(Sink::limit);
        let (k, filter, select) = (k as u32, self.filter, false);
        let application = CLIQUE;
        let pass = Pass { application, k, dictionary, patterns, list, enough, filter, select };
        let (check, sink) = (self.check(), self.sink);
        let take = |record: &Record| {
            check(record)?;
            Ok(sink.is_none_or(|s| s.embedding(&pattern, &record.vertices).is_continue()))
        };
        let found = self.pass(&pass, list.then_some(&take))?;
        let results = vec![Count { pattern, count: found.counts[0] }];
        self.counted(results, &found)
    }

    fn motifs(&mut self, k: usize, selection: Option<&Filter>) -> Result<Outcome> {
        let keeps = selection.map(|filter| |pattern: &Pattern| filter.keeps(pattern));
        let table =
            Table::motifs(k, keeps.as_ref().map(|keeps| keeps as &dyn Fn(&Pattern) -> bool));
        let found = self.motif_pass(k, &table)?;
        let counts = table.patterns.into_iter().zip(&found.counts);
        let results = counts.map(|(pattern, &count)| Count { pattern, count });
        self.counted(results.collect(), &found)
    }

    /// Motifs of `k` vertices that are grown through motifs with enough embeddings.
    fn supported_motifs(
        &mut self,
        k: usize,
        support: u64,
        selection: Option<&Filter>,
    ) -> Result<Outcome> {
        let Grown { mut results, reported, complete } =
            self.grown(k, support, &|_, size, reported| {
                let keeps = |pattern: &Pattern| match pattern.vertices() == size {
                    true => selection.is_none_or(|filter| filter.keeps(pattern)),
                    false => reported.contains(pattern),
                };
                Table::motifs(size, Some(&keeps))
            })?;
        results.retain(|found| found.pattern.vertices() == k);
        results.sort_by_key(|found| (found.pattern.edge_count(), found.pattern.bits()));
        let mut outcome = Outcome::new(results, complete);
        if complete && self.sink.is_some() && !outcome.results.is_empty() {
            let table = Table::motifs(k, Some(&|pattern: &Pattern| reported.contains(pattern)));
            outcome.complete = self.motif_pass(k, &table)?.complete;
        }
        Ok(outcome)
    }

    /// Counts motifs of `k` vertices, and lists them where that was requested.
    fn motif_pass(&mut self, k: usize, table: &Table) -> Result<PassResult> {
        let all = Dictionary::of(k);
        let list = self.sink.is_some();
        let pass = self.pass_of(table, k, list, self.sink.and_then(Sink::limit));
        let (check, sink, view) = (self.check(), self.sink, self.view);
        let take = |record: &Record| {
            check(record)?;
            let v = &record.vertices;
            let mut bits = 0u32;
            for j in 1..k {
                for i in 0..j {
                    bits |= u32::from(view.has_edge(v[i], v[j])) << (j * (j - 1) / 2 + i);
                }
            }
            let number = all.number(bits).filter(|&n| n as u32 == record.pattern);
            let number = number.ok_or_else(|| {
                Error::Device(format!("the core listed {v:?} as pattern {}", record.pattern))
            })?;
            let order = all.order(bits);
            let vertices: Vec<_> = order[..k].iter().map(|&i| v[usize::from(i)]).collect();
            let pattern = &all.patterns()[number];
            Ok(sink.is_none_or(|s| s.embedding(pattern, &vertices).is_continue()))
        };
        self.pass(&pass, list.then_some(&take))
    }

    /// One pass per size, each through the patterns that the passes before it reported: `Aggregate_filter` of
    /// algorithm 1. `table` is that of a size, for the patterns reported so far.
    fn grown(
        &mut self,
        largest: usize,
        support: u64,
        table: &dyn Fn(&Self, usize, &HashSet<Pattern>) -> Table,
    ) -> Result<Grown> {
        let mut reported: HashSet<Pattern> = HashSet::new();
        let mut results: Vec<Count> = vec![];
        for size in 2..=largest {
            let table = table(self, size, &reported);
            let found = self.pass(&self.pass_of(&table, size, false, None), None)?;
            if !found.complete {
                return Ok(Grown { results, reported, complete: false });
            }
            let counts = table.patterns.into_iter().zip(found.counts);
            let mut found: Vec<Count> = counts
                .filter(|&(_, count)| count >= u128::from(support))
                .map(|(pattern, count)| Count { pattern, count })
                .collect();
            if found.is_empty() {
                break;
            }
            results::sort(&mut found);
            reported.extend(found.iter().map(|c| c.pattern.clone()));
            results.append(&mut found);
        }
        Ok(Grown { results, reported, complete: true })
    }

    /// The pass of a table.
    fn pass_of(&self, table: &Table, size: usize, list: bool, enough: Option<u64>) -> Pass {
        Pass {
            application: table.application,
            k: size as u32,
            dictionary: table.dictionary.clone(),
            patterns: (table.patterns.len() as u32).max(1),
            list,
            enough,
            filter: self.filter,
            select: table.select,
        }
    }

    /// Of a share all patterns are reported that occur: every prefix of an embedding is one of the same unit.
    fn frequent(&mut self, labels: &[Label], largest: usize, support: u64) -> Result<Outcome> {
        let share = self.units.share().is_some();
        let support = if share { 1 } else { support };
        let Grown { results, reported, mut complete } =
            self.grown(largest, support, &|run, size, reported| {
                let wanted = |p: &Pattern| share || parts_reported(p, reported);
                run.table(labels, size, reported, &wanted)
            })?;
        if let (Some(sink), Some(last)) = (self.sink.filter(|_| complete), results.last()) {
            for size in 2..=last.pattern.vertices() {
                complete = complete && self.list(sink, labels, size, &reported)?;
            }
        }
        Ok(Outcome::new(results, complete))
    }

    /// Lists the embeddings of the reported patterns of one size; whether that went to its end.
    fn list(
        &mut self,
        sink: &dyn Sink,
        labels: &[Label],
        size: usize,
        reported: &HashSet<Pattern>,
    ) -> Result<bool> {
        thread_local! {
            /// Canonical form and order by pattern in the order of an embedding.
            static KNOWN_FORMS: RefCell<HashMap<Pattern, (Pattern, Vec<usize>)>> =
                RefCell::new(HashMap::new());
        }
        let table = self.table(labels, size, reported, &|p: &Pattern| reported.contains(p));
        let (check, view) = (self.check(), self.view);
        let take = |record: &Record| {
            check(record)?;
            let v = &record.vertices;
            KNOWN_FORMS.with_borrow_mut(|forms| {
                let own = Pattern::of_embedding(view, v);
                let (pattern, order) = forms.entry(own).or_insert_with_key(Pattern::canonical);
                if table.patterns.get(record.pattern as usize) != Some(pattern) {
                    let number = record.pattern;
                    return Err(Error::Device(format!(
                        "the core listed {v:?} as pattern {number}"
                    )));
                }
                let vertices: Vec<_> = order.iter().map(|&i| v[i]).collect();
                Ok(sink.embedding(pattern, &vertices).is_continue())
            })
        };
        let pass = self.pass_of(&table, size, true, sink.limit());
        Ok(self.pass(&pass, Some(&take))?.complete)
    }

    fn table(
        &self,
        labels: &[Label],
        size: usize,
        reported: &HashSet<Pattern>,
        wanted: &dyn Fn(&Pattern) -> bool,
    ) -> Table {
        let bits = self.session.machine().applications.label_bits;
        let named = self.view.vertex_labels.is_some().then_some(labels);
        Table::new(bits, labels.len(), named, size, reported, wanted)
    }
}

/// Patterns with enough embeddings, of 2 vertices and more.
struct Grown {
    /// By size.
    results: Vec<Count>,
    /// Their patterns.
    reported: HashSet<Pattern>,
    /// Whether every pass went to its end.
    complete: bool,
}
