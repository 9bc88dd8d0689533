//! The applications of the paper's table I, as primitives of algorithm 1.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use super::explorer::Embedding;
use gramer_graph::{VertexId, View};
use gramer_pattern::filter::VertexFacts;
use gramer_pattern::{Dictionary, Filter, Pattern};

/// Kind of candidates that an application can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Any neighbour of any vertex of the embedding.
    Any,
    /// Neighbours of all its vertices only, so that candidates come from the root's list alone
    /// and the first missing edge settles one.
    Complete,
}

/// An application: table I of the paper.
pub trait Primitives {
    /// Vertices of the largest embeddings (ITER of algorithm 1): these are not extended. At most
    /// [`gramer_pattern::SMALL_VERTICES`].
    fn size(&self) -> usize;

    /// Which candidates can be of use.
    fn shape(&self) -> Shape {
        Shape::Any
    }

    /// Whether labels are read of each embedding found.
    fn needs_labels(&self) -> bool {
        false
    }

    /// Whether an embedding, of 1 vertex or more, is extended.
    fn aggregate_filter(&mut self, _: &Embedding) -> bool {
        true
    }

    /// Whether an embedding is kept; one vertex alone is asked for as well.
    fn filter(&mut self, _: &Embedding) -> bool {
        true
    }

    /// Processes an accepted embedding of at least 2 vertices. [`ControlFlow::Break`] ends the
    /// run.
    fn process(&mut self, embedding: &Embedding) -> ControlFlow<()>;
}

/// An application with a filter of the user's in addition to its own.
pub struct WithFilter<'a, P> {
    view: View<'a>,
    filter: Option<&'a Filter>,
    /// Whether the filter keeps a pattern, by adjacency bits.
    kept: HashMap<u128, bool>,
    /// The application.
    pub inner: P,
}

impl<'a, P: Primitives> WithFilter<'a, P> {
    /// Embeddings of a graph that pass `filter`, all without one.
    pub fn new(view: View<'a>, filter: Option<&'a Filter>, inner: P) -> Self {
        WithFilter { view, filter, kept: HashMap::new(), inner }
    }

    /// Whether the pattern of an embedding meets the conditions on patterns.
    fn keeps_pattern(&mut self, e: &Embedding) -> bool {
        let Some(filter) = self.filter.filter(|f| !f.pattern_conditions().is_empty()) else {
            return true;
        };
        e.size() < 2
            || *self.kept.entry(e.bits()).or_insert_with(|| {
                filter.keeps(&Pattern::from_bits(e.size(), e.bits()).canonical().0)
            })
    }
}

impl<P: Primitives> Primitives for WithFilter<'_, P> {
    fn size(&self) -> usize {
        self.inner.size()
    }

    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    /// The last vertex of each embedding is compared with the others.
    fn needs_labels(&self) -> bool {
        self.filter.is_some() || self.inner.needs_labels()
    }

    fn aggregate_filter(&mut self, e: &Embedding) -> bool {
        self.inner.aggregate_filter(e)
    }

    fn filter(&mut self, e: &Embedding) -> bool {
        let Some((&last, earlier)) = e.vertices().split_last() else { return true };
        let facts = |v| VertexFacts {
            label: self.view.vertex_label(v),
            degree: self.view.degree(v) as u32,
        };
        let mask = e.last_mask();
        let others = earlier.iter().enumerate().map(|(i, &v)| (facts(v), mask >> i & 1 == 1));
        self.inner.filter(e)
            && self.filter.is_none_or(|f| f.accepts(facts(last), others))
            && self.keeps_pattern(e)
    }

    fn process(&mut self, e: &Embedding) -> ControlFlow<()> {
        self.inner.process(e)
    }
}

/// Receiver of embeddings; a break ends the run.
type EmbeddingSink<'s> = Box<dyn FnMut(&Embedding) -> ControlFlow<()> + 's>;

/// Clique finding: complete subgraphs of k vertices.
pub struct Cliques<'s> {
    k: usize,
    sink: Option<EmbeddingSink<'s>>,
    /// Cliques so far.
    pub count: u64,
}

impl<'s> Cliques<'s> {
    /// Cliques of `k` vertices.
    pub fn new(k: usize) -> Self {
        Cliques { k, sink: None, count: 0 }
    }

    /// Hands every clique to `sink` as well.
    pub fn with_sink(self, sink: impl FnMut(&Embedding) -> ControlFlow<()> + 's) -> Self {
        Cliques { sink: Some(Box::new(sink)), ..self }
    }
}

impl Primitives for Cliques<'_> {
    fn size(&self) -> usize {
        self.k
    }

    fn shape(&self) -> Shape {
        Shape::Complete
    }

    /// IsClique: the last vertex is a neighbour of all others, which form a clique already.
    fn filter(&mut self, e: &Embedding) -> bool {
        e.last_mask().count_ones() as usize == e.size() - 1
    }

    fn process(&mut self, e: &Embedding) -> ControlFlow<()> {
        if e.size() < self.k {
            return ControlFlow::Continue(());
        }
        self.count += 1;
        self.sink.as_mut().map_or(ControlFlow::Continue(()), |sink| sink(e))
    }
}

/// Receiver of embeddings, in the order of the canonical pattern's vertices.
type PatternSink<'s> = Box<dyn FnMut(&Pattern, &[VertexId]) -> ControlFlow<()> + 's>;

/// Motif counting: the patterns of the connected subgraphs of k vertices, without labels.
pub struct Motifs<'s> {
    k: usize,
    sink: Option<PatternSink<'s>>,
    /// Occurrences by adjacency bits, each with its canonical pattern and order.
    seen: HashMap<u128, Occurrence>,
}

struct Occurrence {
    pattern: Pattern,
    order: Vec<usize>,
    count: u64,
}

impl<'s> Motifs<'s> {
    /// Motifs of `k` vertices.
    pub fn new(k: usize) -> Self {
        Motifs { k, sink: None, seen: HashMap::new() }
    }

    /// Hands every embedding to `sink` as well: its canonical pattern, and the graph vertex of
    /// each pattern vertex.
    pub fn with_sink(
        self,
        sink: impl FnMut(&Pattern, &[VertexId]) -> ControlFlow<()> + 's,
    ) -> Self {
        Motifs { sink: Some(Box::new(sink)), ..self }
    }

    /// The canonical patterns with their occurrences. For k up to 6 all there are, in the order of
    /// the [`Dictionary`]; beyond, those that occur, in ascending order.
    pub fn counts(&self) -> impl Iterator<Item = (Pattern, u64)> + use<> {
        let all = if self.k <= 6 { Dictionary::of(self.k).patterns() } else { &[] };
        let key = |p: &Pattern| (p.edge_count(), p.bits());
        let mut counts: BTreeMap<(usize, u128), (Pattern, u64)> =
            all.iter().map(|p| (key(p), (p.clone(), 0))).collect();
        for seen in self.seen.values() {
            let count = counts.entry(key(&seen.pattern)).or_insert((seen.pattern.clone(), 0));
            count.1 += seen.count;
        }
        counts.into_values()
    }
}

impl Primitives for Motifs<'_> {
    fn size(&self) -> usize {
        self.k
    }

    fn process(&mut self, e: &Embedding) -> ControlFlow<()> {
        if e.size() < self.k {
            return ControlFlow::Continue(());
        }
        let seen = self.seen.entry(e.bits()).or_insert_with(|| {
            let (pattern, order) = Pattern::from_bits(e.size(), e.bits()).canonical();
            Occurrence { pattern, order, count: 0 }
        });
        seen.count += 1;
        match &mut self.sink {
            Some(sink) => sink(&seen.pattern, &in_order(e, &seen.order)),
            None => ControlFlow::Continue(()),
        }
    }
}

fn in_order(e: &Embedding, order: &[usize]) -> Vec<VertexId> {
    order.iter().map(|&i| e.vertices()[i]).collect()
}

/// One pass of frequent subgraph mining by embeddings: the labelled patterns of the embeddings of
/// one size, reached through embeddings of allowed patterns only.
///
/// Where the allowed patterns are those that the rule reports of fewer vertices, a pattern all of
/// whose parts are among them has its exact count; see [`gramer_pattern::task::parts_reported`]. The filter
/// starts at 2 vertices: with `size` 2 nothing is filtered.
pub struct LabelledPatterns<'a> {
    view: View<'a>,
    size: usize,
    /// Canonical patterns of 2 to `size` - 1 vertices.
    allowed: HashSet<Pattern>,
    sink: Option<PatternSink<'a>>,
    /// By pattern in the order of the embedding: number of its canonical pattern, and the order.
    known: HashMap<Pattern, (usize, Vec<usize>)>,
    numbers: HashMap<Pattern, usize>,
    /// By number: the canonical pattern, whether it is allowed, and the embeddings of it found.
    patterns: Vec<(Pattern, bool, u64)>,
}

impl<'a> LabelledPatterns<'a> {
    /// The pass for embeddings of `size` vertices, 2 or more.
    pub fn new(view: View<'a>, size: usize, allowed: HashSet<Pattern>) -> Self {
        let (known, numbers) = (HashMap::new(), HashMap::new());
        LabelledPatterns { view, size, allowed, sink: None, known, numbers, patterns: vec![] }
    }

    /// Hands every embedding of an allowed pattern, of any size, to `sink`: its canonical pattern
    /// and the graph vertex of each pattern vertex.
    pub fn with_sink(
        self,
        sink: impl FnMut(&Pattern, &[VertexId]) -> ControlFlow<()> + 'a,
    ) -> Self {
        LabelledPatterns { sink: Some(Box::new(sink)), ..self }
    }

    /// The canonical patterns of `size` vertices that were found, in no order, with the number of
    /// their embeddings.
    pub fn counts(&self) -> impl Iterator<Item = (&Pattern, u64)> {
        self.patterns
            .iter()
            .filter(|(pattern, ..)| pattern.vertices() == self.size)
            .map(|(pattern, _, count)| (pattern, *count))
    }

    /// Number and order of the canonical pattern of an embedding.
    fn pattern(&mut self, e: &Embedding) -> &(usize, Vec<usize>) {
        let labelled = self.labelled(e);
        self.known.entry(labelled).or_insert_with_key(|labelled| {
            let (canonical, order) = labelled.canonical();
            let number = *self.numbers.entry(canonical).or_insert_with_key(|canonical| {
                let allowed = self.allowed.contains(canonical);
                self.patterns.push((canonical.clone(), allowed, 0));
                self.patterns.len() - 1
            });
            (number, order)
        })
    }

    /// The embedding with the labels that the graph has.
    fn labelled(&self, e: &Embedding) -> Pattern {
        let mut pattern = Pattern::from_bits(e.size(), e.bits());
        if self.view.vertex_labels.is_some() {
            for (i, &v) in e.vertices().iter().enumerate() {
                pattern.set_vertex_label(i, self.view.vertex_label(v));
            }
        }
        if self.view.edge_labels.is_some() {
            for (i, j) in pattern.edges() {
                let label = self.view.edge_label(e.vertices()[i], e.vertices()[j]);
                pattern.set_edge_label(i, j, label.expect("an edge of the embedding"));
            }
        }
        pattern
    }
}

impl Primitives for LabelledPatterns<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn needs_labels(&self) -> bool {
        true
    }

    /// Num(P(e)) ≥ Thres, as the passes before found it.
    fn aggregate_filter(&mut self, e: &Embedding) -> bool {
        if e.size() == 1 {
            return true;
        }
        let number = self.pattern(e).0;
        self.patterns[number].1
    }

    fn process(&mut self, e: &Embedding) -> ControlFlow<()> {
        if self.sink.is_none() && e.size() < self.size {
            return ControlFlow::Continue(());
        }
        let (number, order) = self.pattern(e);
        let (number, vertices) = (*number, in_order(e, order));
        let (pattern, allowed, count) = &mut self.patterns[number];
        *count += 1;
        match &mut self.sink {
            Some(sink) if *allowed => sink(pattern, &vertices),
            _ => ControlFlow::Continue(()),
        }
    }
}
