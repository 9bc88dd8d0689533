//! The paper's three applications in the primitives of its table I.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::Embedding;
use crate::engine::Sink;
use crate::graph::{Label, VertexId, View};
use crate::pattern::{Dictionary, Pattern};

/// What an application says about embeddings. `Aggregate_filter` of the paper, which looks at the
/// counts of a whole iteration, becomes part of [`Application::filter`] here: depth first there
/// are no iterations, so frequent subgraph mining makes one run a size and knows the counts of
/// the sizes before.
pub trait Application {
    /// Embeddings of this many vertices are not extended.
    fn max_size(&self) -> usize;

    /// Whether only the root's list can hold candidates.
    fn root_list_only(&self) -> bool {
        false
    }

    /// Whether the embedding is to be processed and extended.
    fn filter(&mut self, embedding: &Embedding<'_>) -> bool;

    /// Takes an embedding into the result. `Break` ends the run.
    fn process(&mut self, embedding: &Embedding<'_>) -> ControlFlow<()>;
}

/// CF: counts the cliques of k vertices.
pub struct CliqueFinding<'s> {
    k: usize,
    pattern: Pattern,
    sink: Option<&'s dyn Sink>,
    /// Cliques found.
    pub count: u128,
}

impl<'s> CliqueFinding<'s> {
    /// For cliques of `k` vertices, handed to `sink` if there is one.
    pub fn new(k: usize, sink: Option<&'s dyn Sink>) -> Self {
        CliqueFinding { k, pattern: Pattern::clique(k), sink, count: 0 }
    }
}

impl Application for CliqueFinding<'_> {
    fn max_size(&self) -> usize {
        self.k
    }

    fn root_list_only(&self) -> bool {
        true
    }

    fn filter(&mut self, embedding: &Embedding<'_>) -> bool {
        let others = embedding.vertices.len() - 1;
        embedding.last_mask == ((1u32 << others) - 1) as u16
    }

    fn process(&mut self, embedding: &Embedding<'_>) -> ControlFlow<()> {
        if embedding.vertices.len() < self.k {
            return ControlFlow::Continue(());
        }
        self.count += 1;
        match self.sink {
            Some(sink) => {
                let mut vertices: Vec<VertexId> = embedding.vertices.to_vec();
                vertices.sort_unstable();
                sink.embedding(&self.pattern, &vertices)
            }
            None => ControlFlow::Continue(()),
        }
    }
}

/// MC: counts the embeddings of k vertices by pattern.
pub struct MotifCounting<'s> {
    k: usize,
    dictionary: &'static Dictionary,
    sink: Option<&'s dyn Sink>,
    /// By the pattern's number in the dictionary.
    pub counts: Vec<u128>,
}

impl<'s> MotifCounting<'s> {
    /// For patterns of `k` vertices, 2 to 6.
    pub fn new(k: usize, sink: Option<&'s dyn Sink>) -> Self {
        let dictionary = Dictionary::of(k);
        let counts = vec![0; dictionary.patterns().len()];
        MotifCounting { k, dictionary, sink, counts }
    }
}

impl Application for MotifCounting<'_> {
    fn max_size(&self) -> usize {
        self.k
    }

    fn filter(&mut self, _: &Embedding<'_>) -> bool {
        true
    }

    fn process(&mut self, embedding: &Embedding<'_>) -> ControlFlow<()> {
        if embedding.vertices.len() < self.k {
            return ControlFlow::Continue(());
        }
        let bits = embedding.bits as u32;
        let number = self.dictionary.number(bits).expect("an embedding is connected");
        self.counts[number] += 1;
        match self.sink {
            Some(sink) => {
                let order = &self.dictionary.order(bits)[..self.k];
                let vertices: Vec<VertexId> =
                    order.iter().map(|&i| embedding.vertices[i as usize]).collect();
                sink.embedding(&self.dictionary.patterns()[number], &vertices)
            }
            None => ControlFlow::Continue(()),
        }
    }
}

/// Adjacency bits, vertex labels, edge labels: what makes two embeddings look the same.
type Look = (u128, Vec<Label>, Vec<Label>);

/// FSM: counts the labelled patterns of one size among the embeddings whose smaller patterns are
/// all allowed.
pub struct FrequentSubgraphs<'a> {
    view: View<'a>,
    size: usize,
    allowed: HashSet<Pattern>,
    counts: HashMap<Pattern, u128>,
    /// Canonical form and order by look, since making one takes long.
    known: HashMap<Look, (Pattern, Vec<usize>)>,
    sink: Option<&'a dyn Sink>,
}

impl<'a> FrequentSubgraphs<'a> {
    /// For patterns of `size` vertices; smaller embeddings are extended only if their pattern is
    /// in `allowed` (in canonical form).
    pub fn new(view: View<'a>, size: usize, allowed: HashSet<Pattern>) -> Self {
        let (counts, known) = (HashMap::new(), HashMap::new());
        FrequentSubgraphs { view, size, allowed, counts, known, sink: None }
    }

    /// Visits every embedding of the patterns in `allowed`, of up to `size` vertices, and hands
    /// it to the sink.
    pub(super) fn listing(
        view: View<'a>,
        size: usize,
        allowed: HashSet<Pattern>,
        sink: &'a dyn Sink,
    ) -> Self {
        FrequentSubgraphs { sink: Some(sink), ..FrequentSubgraphs::new(view, size, allowed) }
    }

    /// The counts by canonical pattern.
    pub fn into_counts(self) -> HashMap<Pattern, u128> {
        self.counts
    }

    fn pattern(&mut self, embedding: &Embedding<'_>) -> &(Pattern, Vec<usize>) {
        let vertices = embedding.vertices;
        let labels = match self.view.vertex_labels {
            Some(labels) => vertices.iter().map(|&v| labels[v as usize]).collect(),
            None => vec![],
        };
        let mut edge_labels = vec![];
        if self.view.edge_labels.is_some() {
            for j in 1..vertices.len() {
                for i in 0..j {
                    edge_labels.extend(self.view.edge_label(vertices[i], vertices[j]));
                }
            }
        }
        let view = self.view;
        self.known
            .entry((embedding.bits, labels, edge_labels))
            .or_insert_with(|| Pattern::of_embedding(view, vertices).canonical())
    }
}

impl Application for FrequentSubgraphs<'_> {
    fn max_size(&self) -> usize {
        self.size
    }

    fn filter(&mut self, embedding: &Embedding<'_>) -> bool {
        if embedding.vertices.len() == self.size && self.sink.is_none() {
            return true;
        }
        let pattern = self.pattern(embedding).0.clone();
        self.allowed.contains(&pattern)
    }

    fn process(&mut self, embedding: &Embedding<'_>) -> ControlFlow<()> {
        if embedding.vertices.len() < self.size && self.sink.is_none() {
            return ControlFlow::Continue(());
        }
        let (pattern, order) = self.pattern(embedding).clone();
        let flow = match self.sink {
            Some(sink) => {
                let vertices: Vec<VertexId> =
                    order.iter().map(|&i| embedding.vertices[i]).collect();
                sink.embedding(&pattern, &vertices)
            }
            None => ControlFlow::Continue(()),
        };
        *self.counts.entry(pattern).or_default() += 1;
        flow
    }
}
