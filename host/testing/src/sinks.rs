//! Sinks that keep what is listed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use gramer_engine::Sink;
use gramer_graph::VertexId;
use gramer_pattern::Pattern;

/// The vertices of each embedding, as they came.
#[derive(Debug, Default)]
pub struct Collect(pub Mutex<Vec<Vec<VertexId>>>);

impl Sink for Collect {
    fn embedding(&self, _: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(vertices.to_vec());
        ControlFlow::Continue(())
    }
}

/// Patterns with sets of vertices, and how often each came.
pub type EmbeddingCounts = BTreeMap<(Pattern, Vec<VertexId>), usize>;

/// Embeddings as sets: the mapping that stands for an occurrence is the engine's choice.
#[derive(Debug, Default)]
pub struct Sets(Mutex<EmbeddingCounts>);

impl Sets {
    /// All that came.
    pub fn listed(self) -> EmbeddingCounts {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Sets {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let mut vertices = vertices.to_vec();
        vertices.sort_unstable();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry((pattern.clone(), vertices)).or_default() += 1;
        ControlFlow::Continue(())
    }
}
