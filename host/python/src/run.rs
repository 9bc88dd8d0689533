//! Running the host without Python's global lock, while signals are heard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use gramer_base::memory::{address_space, remedy};
use gramer_base::parallel::start_in;
use gramer_base::spare;
use gramer_base::{Context, Error};
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;

use crate::error::{raise, unwound};

/// Time between two looks at signals and the progress. Python's own handlers run then.
const LOOK: Duration = Duration::from_millis(50);

/// The same to memory that is short, where it is limited.
const LOOK_AT_MEMORY: Duration = Duration::from_millis(5);

/// What a caller wants to hear of a run.
#[derive(Default)]
pub struct Watch {
    /// Called with the units done and the units in all.
    pub progress: Option<Py<PyAny>>,
    /// Raise `TimeoutError` after this time.
    pub limit: Option<Duration>,
    /// Bytes of arrays that grow with the graph and can't be refused; see [`spare::keep`].
    pub room: usize,
}

/// Runs `work` in its own thread. An exception of a signal handler or of `progress`, and the
/// end of the time, cancel the run, wait for its end (milliseconds), and are raised.
pub fn supervised<T: Send>(
    python: Python<'_>,
    context: &Context,
    watch: &Watch,
    work: impl FnOnce(&Context) -> gramer_base::Result<T> + Send,
) -> PyResult<T> {
    let begun = Instant::now();
    spare::keep(watch.room).map_err(raise)?;
    let limited = address_space().is_some();
    std::thread::scope(|scope| {
        let (send, mut receive) = mpsc::sync_channel(1);
        let started = start_in(scope, "that mines", move || {
            let done = catch_unwind(AssertUnwindSafe(|| work(context)));
            // The receiver always waits for this.
            let _ = send.send(done);
        });
        started.map_err(raise)?;
        let mut raised = None;
        let mut last = begun;
        loop {
            let receive = &mut receive;
            let each = if limited { LOOK_AT_MEMORY } else { LOOK };
            match python.detach(move || receive.recv_timeout(each)) {
                Ok(Err(panic)) => return Err(unwound(panic)),
                Ok(Ok(done)) => return raised.map_or_else(|| done.map_err(raise), Err),
                Err(RecvTimeoutError::Disconnected) => unreachable!("it sends before it ends"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if raised.is_none() {
                raised = short();
                if raised.is_some() {
                    context.cancel.cancel();
                }
            }
            if raised.is_none() && last.elapsed() >= LOOK {
                last = Instant::now();
                raised = look(python, context, watch, begun).err();
                if raised.is_some() {
                    context.cancel.cancel();
                }
            }
        }
    })
}

/// The error of a run that has used the room which is kept.
pub fn short() -> Option<PyErr> {
    let said = || format!("not enough memory: the limit of the process was reached; {}", remedy());
    spare::is_short().then(|| raise(Error::Memory(said())))
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
