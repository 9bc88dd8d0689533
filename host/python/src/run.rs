//! Running the host without Python's global lock, while signals are heard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use gramer_graph::Context;
use gramer_graph::parallel::start_in;
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;

use crate::error::{raise, unwound};

/// Time between two looks at signals and the progress. Python's own handlers run then.
const LOOK: Duration = Duration::from_millis(50);

/// What a caller wants to hear of a run.
#[derive(Default)]
pub struct Watch {
    /// Called with the units done and the units in all.
    pub progress: Option<Py<PyAny>>,
    /// Raise `TimeoutError` after so long.
    pub limit: Option<Duration>,
}

/// Runs `work` in a thread of its own. An exception of a signal handler or of `progress`, and the
/// end of the time, cancel the run, wait for its end (milliseconds), and are raised.
pub fn supervised<T: Send>(
    python: Python<'_>,
    context: &Context,
    watch: &Watch,
    work: impl FnOnce(&Context) -> gramer_graph::Result<T> + Send,
) -> PyResult<T> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let (send, mut receive) = mpsc::sync_channel(1);
        let started = start_in(scope, "that mines", move || {
            let done = catch_unwind(AssertUnwindSafe(|| work(context)));
            // The receiver waits for this, whatever happens.
            let _ = send.send(done);
        });
        started.map_err(raise)?;
        let mut raised = None;
        loop {
            let receive = &mut receive;
            match python.detach(move || receive.recv_timeout(LOOK)) {
                Ok(Err(panic)) => return Err(unwound(panic)),
                Ok(Ok(done)) => return raised.map_or_else(|| done.map_err(raise), Err),
                Err(RecvTimeoutError::Disconnected) => unreachable!("it sends before it ends"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if raised.is_none() {
                raised = look(python, context, watch, begun).err();
                if raised.is_some() {
                    context.cancel.cancel();
                }
            }
        }
    })
}

fn look(python: Python<'_>, context: &Context, watch: &Watch, begun: Instant) -> PyResult<()> {
    python.check_signals()?;
    if let Some(progress) = &watch.progress {
        progress.call1(python, context.progress.get())?;
    }
    match watch.limit {
        Some(limit) if begun.elapsed() > limit => {
            Err(PyTimeoutError::new_err(format!("not done after {} s", limit.as_secs_f64())))
        }
        _ => Ok(()),
    }
}
