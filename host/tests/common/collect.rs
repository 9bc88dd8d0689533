//! A sink that keeps what is listed.

use std::ops::ControlFlow;
use std::sync::Mutex;

use gramer::Pattern;
use gramer::engine::Sink;
use gramer::graph::VertexId;

/// The vertices of each embedding, as they came.
#[derive(Default)]
pub struct Collect(pub Mutex<Vec<Vec<VertexId>>>);

impl Sink for Collect {
    fn embedding(&self, _: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        self.0.lock().unwrap().push(vertices.to_vec());
        ControlFlow::Continue(())
    }
}
