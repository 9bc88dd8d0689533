//! Mining tasks as passes of the core.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use gramer_machine::Accelerator;

use super::PaperCoreGraph;
use super::filter;
use super::image::{DeviceImage, LINE};
use super::session::{Pass, PassResult, Session};
use super::settings::Settings;
use super::stream::{KNOWN, Record, RecordSink};
use super::units::{Ranges, Runs};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::reference::Comparison;
use gramer_engine::{Count, Outcome, Query, Share, Sink, Units};
use gramer_graph::{Graph, Label, View};
use gramer_pattern::closing::results;
use gramer_pattern::filter::Attribute;
use gramer_pattern::task::{SizeLimit, Task, parts_reported};
use gramer_pattern::{Dictionary, Pattern};

/// The core's numbers of the applications.
const CLIQUE: u32 = 0;
const MOTIF: u32 = 1;
const FSM: u32 = 2;
/// Vertices of the largest labelled pattern, and the pairs of them.
pub(crate) const FSM_VERTICES: usize = 3;
const FSM_PAIRS: u32 = 3;

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
        Some(filter) => {
            let labels = match &resident.labels {
                Some(labels) => labels.clone(),
                None if filter.reads(Attribute::Label) => {
                    labels(session.machine(), &resident.graph, "reference")?
                }
                None => vec![],
            };
            Some(filter::beat(session.machine(), filter, &labels))
        }
        None => None,
    };
    let mut run = PassRun { session, settings, view, units, sink, context, image, filter };
    let mut outcome = match &query.task {
        Task::Clique { k } => run.cliques(*k)?,
        Task::Motif { k, .. } => run.motifs(*k)?,
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
        let (k, filter) = (k as u32, self.filter);
        let pass = Pass { application: CLIQUE, k, dictionary, patterns, list, enough, filter };
        let (check, sink) = (self.check(), self.sink);
        let take = |record: &Record| {
            check(record)?;
            Ok(sink.is_none_or(|s| s.embedding(&pattern, &record.vertices).is_continue()))
        };
        let found = self.pass(&pass, list.then_some(&take))?;
        let results = vec![Count { pattern, count: found.counts[0] }];
        self.counted(results, &found)
    }

    fn motifs(&mut self, k: usize) -> Result<Outcome> {
        let all = Dictionary::of(k);
        let bits = k * (k - 1) / 2;
        let entry = |key| all.number(key).map_or(0, |n| KNOWN | n as u16);
        let dictionary = (0..1u32 << bits).map(entry).collect();
        let (patterns, list) = (all.patterns().len() as u32, self.sink.is_some());
        let enough = self.sink.and_then(Sink::limit);
        let (size, filter) = (k as u32, self.filter);
        let pass = Pass { application: MOTIF, k: size, dictionary, patterns, list, enough, filter };
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
        let found = self.pass(&pass, list.then_some(&take))?;
        let counts = all.patterns().iter().zip(&found.counts);
        let results = counts.map(|(pattern, &count)| Count { pattern: pattern.clone(), count });
        self.counted(results.collect(), &found)
    }

    /// One pass per size, each through the patterns that the passes before it reported. Of a share all
    /// patterns are reported that occur: every prefix of an embedding is one of the same unit.
    fn frequent(&mut self, labels: &[Label], largest: usize, support: u64) -> Result<Outcome> {
        let share = self.units.share().is_some();
        let support = if share { 1 } else { support };
        let mut reported: HashSet<Pattern> = HashSet::new();
        let mut results: Vec<Count> = vec![];
        for size in 2..=largest {
            let wanted = |p: &Pattern| share || parts_reported(p, &reported);
            let table = self.table(labels, size, &reported, &wanted);
            let found = self.pass(&table.pass(size, false, None), None)?;
            if !found.complete {
                return Ok(Outcome::new(results, false));
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
        let mut complete = true;
        if let (Some(sink), Some(last)) = (self.sink, results.last()) {
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
        Ok(self.pass(&table.pass(size, true, sink.limit()), Some(&take))?.complete)
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

/// The dictionary of a pass of frequent subgraph mining.
pub struct Table {
    /// By adjacency bits (3) and labels (`label_bits` a vertex): bit 15 known, below it the number.
    pub dictionary: Vec<u16>,
    /// The patterns that are counted, by number.
    pub patterns: Vec<Pattern>,
}

impl Table {
    /// For embeddings of `size` vertices whose smaller prefixes are embeddings of reported
    /// patterns; those of wanted patterns are counted. `names` are the labels by number, where
    /// the patterns have any.
    pub fn new(
        label_bits: u32,
        labels: usize,
        names: Option<&[Label]>,
        size: usize,
        reported: &HashSet<Pattern>,
        wanted: &dyn Fn(&Pattern) -> bool,
    ) -> Self {
        let mut dictionary = vec![0; 1 << (FSM_PAIRS + FSM_VERTICES as u32 * label_bits)];
        let mut numbers: HashMap<Pattern, u16> = HashMap::new();
        let mut patterns = vec![];
        // Positions 0 and 1 are always neighbours: bit 0. Bits 1 and 2 are 0–2 and 1–2.
        for vertices in 2..=size {
            let shapes: &[u32] = if vertices == 2 { &[0b001] } else { &[0b011, 0b101, 0b111] };
            for &edges in shapes {
                for all in 0..labels.pow(vertices as u32) {
                    let digits = (0..vertices).scan(all, |rest, _| {
                        let digit = *rest % labels;
                        *rest /= labels;
                        Some(digit)
                    });
                    let digits: Vec<usize> = digits.collect();
                    let mut pattern = Pattern::from_bits(vertices, edges.into());
                    let mut key = edges as usize;
                    for (i, &label) in digits.iter().enumerate() {
                        key |= label << (FSM_PAIRS + i as u32 * label_bits);
                        if let Some(names) = names {
                            pattern.set_vertex_label(i, names[label]);
                        }
                    }
                    let pattern = pattern.canonical().0;
                    dictionary[key] = if vertices < size {
                        // Extended, not counted.
                        if reported.contains(&pattern) { KNOWN } else { 0 }
                    } else if wanted(&pattern) {
                        let next = patterns.len() as u16;
                        KNOWN
                            | *numbers.entry(pattern).or_insert_with_key(|pattern| {
                                patterns.push(pattern.clone());
                                next
                            })
                    } else {
                        0
                    };
                }
            }
        }
        Table { dictionary, patterns }
    }

    fn pass(&self, size: usize, list: bool, enough: Option<u64>) -> Pass {
        Pass {
            application: FSM,
            k: size as u32,
            dictionary: self.dictionary.clone(),
            patterns: (self.patterns.len() as u32).max(1),
            list,
            enough,
            filter: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str) -> Accelerator {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        crate::xclbin::build::read_machine(Some(&root.join(name))).unwrap()
    }

    #[test]
    fn a_table_knows_every_order_of_a_pattern() {
        let names = [5, 9];
        let none = HashSet::new();
        let pairs = Table::new(2, 2, Some(&names), 2, &none, &|_| true);
        // Edges 5-5, 5-9 and 9-9.
        assert_eq!(pairs.patterns.len(), 3);
        let key = |edges: usize, labels: &[usize]| {
            labels.iter().enumerate().fold(edges, |key, (i, l)| key | l << (3 + 2 * i))
        };
        let number = |table: &Table, key: usize| {
            let entry = table.dictionary[key];
            (entry & KNOWN != 0).then_some(usize::from(entry & !KNOWN))
        };
        assert_eq!(number(&pairs, key(1, &[0, 1])), number(&pairs, key(1, &[1, 0])));
        assert_ne!(number(&pairs, key(1, &[0, 1])), number(&pairs, key(1, &[1, 1])));
        assert_eq!(number(&pairs, key(1, &[2, 0])), None, "no such label");

        // With 5-9 reported alone, wedges of these edges can be counted, and no triangle.
        let mixed = pairs.patterns[number(&pairs, key(1, &[0, 1])).unwrap()].clone();
        let reported = HashSet::from([mixed]);
        let wanted = |p: &Pattern| parts_reported(p, &reported);
        let triples = Table::new(2, 2, Some(&names), 3, &reported, &wanted);
        assert_eq!(number(&triples, key(1, &[0, 1])), Some(0), "extended");
        assert_eq!(number(&triples, key(1, &[1, 1])), None, "not reported");
        assert_eq!(triples.patterns.len(), 2, "5-9-5 and 9-5-9");
        // Both orders in which 5-9-5 is reached: from its middle, and from an end.
        let from_middle = number(&triples, key(0b011, &[1, 0, 0]));
        assert!(from_middle.is_some());
        assert_eq!(from_middle, number(&triples, key(0b101, &[0, 1, 0])));
        assert_eq!(number(&triples, key(0b111, &[0, 1, 0])), None);
    }

    #[test]
    fn a_table_without_labels_has_the_two_shapes() {
        let none = HashSet::new();
        let table = Table::new(2, 1, None, 3, &none, &|_| true);
        assert_eq!(table.patterns.len(), 2);
        assert!(table.patterns.iter().all(|p| p.vertex_labels().is_empty()));
    }

    /// What the paper's machine has room for is enough for all its labels.
    #[test]
    fn the_counters_hold_every_labelled_pattern() {
        for name in ["accelerator.yaml", "machines/small.yaml"] {
            let a = machine(name);
            let labels = 1usize << a.applications.label_bits;
            let none = HashSet::new();
            let table = Table::new(a.applications.label_bits, labels, None, 3, &none, &|_| true);
            assert!(table.dictionary.len() <= a.applications.dictionary_entries as usize);
            // Unlabelled here, so count: wedges by middle and unordered ends, triangles.
            let wedges = labels * (labels * (labels + 1) / 2);
            let triangles = labels * (labels + 1) * (labels + 2) / 6;
            assert!(wedges + triangles <= a.applications.pattern_counters as usize, "{name}");
        }
    }
}
