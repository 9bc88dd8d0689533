//! Embeddings as Python asks for them.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gramer_base::parallel::start;
use gramer_base::{Context, Result, spare};
use gramer_engine::{Engine, EngineExt, Sink};
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Task;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::{raise, unwound};
use crate::pattern::Pattern;
use crate::run::short;

/// Embeddings that travel together: as many as hide the cost of a channel.
const BATCH: usize = 256;
/// Batches that may wait for Python; the engine rests meanwhile.
const WAITING: usize = 4;
/// An incomplete batch is sent after this time.
const PATIENCE: Duration = Duration::from_millis(20);

type Batch = Vec<(gramer_pattern::Pattern, Vec<u64>)>;

/// Collects batches on the engine's side.
struct Collector {
    graph: Arc<Graph>,
    limit: Option<u64>,
    state: Mutex<State>,
}

struct State {
    batch: Batch,
    since: Instant,
    taken: u64,
    send: SyncSender<Batch>,
}

impl State {
    /// Whether anybody still listens.
    fn flush(&mut self) -> bool {
        self.since = Instant::now();
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.send.send(batch).is_ok()
    }
}

impl Sink for Collector {
    fn embedding(
        &self,
        pattern: &gramer_pattern::Pattern,
        vertices: &[VertexId],
    ) -> ControlFlow<()> {
        let ids = vertices.iter().map(|&v| self.graph.original_id(v)).collect();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.limit.is_some_and(|limit| state.taken == limit) {
            return ControlFlow::Break(());
        }
        state.taken += 1;
        state.batch.push((pattern.clone(), ids));
        let due = state.batch.len() == BATCH || state.since.elapsed() > PATIENCE;
        let open = !due || state.flush();
        let done = self.limit.is_some_and(|limit| state.taken == limit);
        if open && !done { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn limit(&self) -> Option<u64> {
        self.limit
    }
}

/// An iterator over (pattern, ids of vertices).
#[pyclass(module = "gramer")]
pub struct Embeddings {
    context: Context,
    batch: std::vec::IntoIter<(gramer_pattern::Pattern, Vec<u64>)>,
    /// Behind a lock because Python may hand the iterator to another thread.
    receive: Option<Mutex<Receiver<Batch>>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Embeddings {
    /// Begins to mine in its own thread.
    pub fn start(
        engine: Box<dyn Engine>,
        graph: Arc<Graph>,
        task: Task,
        limit: Option<u64>,
        context: Context,
        room: usize,
    ) -> PyResult<Self> {
        let (send, receive) = mpsc::sync_channel(WAITING);
        spare::keep(room).map_err(raise)?;
        let inner = context.clone();
        let thread = start("that mines", move || {
            let state = State { batch: Vec::new(), since: Instant::now(), taken: 0, send };
            let collector = Collector { graph: graph.clone(), limit, state: Mutex::new(state) };
            if limit != Some(0) {
                graph.guarded(|| engine.run(&graph, &task, Some(&collector), &inner))?;
            }
            // The last batch; the receiver may be gone.
            collector.state.into_inner().unwrap_or_else(PoisonError::into_inner).flush();
            Ok(())
        });
        Ok(Embeddings {
            context,
            batch: Vec::new().into_iter(),
            receive: Some(Mutex::new(receive)),
            thread: Some(thread.map_err(raise)?),
        })
    }

    /// The next batch; `None` at the end.
    fn next_batch(&mut self, python: Python<'_>) -> PyResult<Option<Batch>> {
        loop {
            let Some(receive) = &self.receive else { return Ok(None) };
            let wait = || {
                let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
                receive.recv_timeout(Duration::from_millis(50))
            };
            match python.detach(wait) {
                Ok(batch) => return Ok(Some(batch)),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(error) = short().or_else(|| python.check_signals().err()) {
                        self.close(python);
                        return Err(error);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.receive = None;
                    return match self.thread.take().map(|t| python.detach(|| t.join())) {
                        Some(Err(panic)) => Err(unwound(panic)),
                        Some(Ok(Err(error))) => Err(raise(error)),
                        _ => Ok(None),
                    };
                }
            }
        }
    }

    fn stop(&mut self) {
        self.context.cancel.cancel();
        self.receive = None;
        if let Some(thread) = self.thread.take() {
            // What it would say is of no use any more.
            let _ = thread.join();
        }
    }
}

#[pymethods]
impl Embeddings {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(
        &mut self,
        python: Python<'py>,
    ) -> PyResult<Option<(Pattern, Bound<'py, PyTuple>)>> {
        loop {
            if let Some((pattern, ids)) = self.batch.next() {
                return Ok(Some((Pattern(pattern), PyTuple::new(python, ids)?)));
            }
            match self.next_batch(python)? {
                Some(batch) => self.batch = batch.into_iter(),
                None => return Ok(None),
            }
        }
    }

    /// Ends the search.
    fn close(&mut self, python: Python<'_>) {
        self.batch = Vec::new().into_iter();
        python.detach(|| self.stop());
    }
}

impl Drop for Embeddings {
    fn drop(&mut self) {
        self.stop();
    }
}
