//! The worker's side: it opens its device once and answers runs until the program disconnects.

use std::any::Any;
use std::io::{BufRead, Write};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gramer_base::context::{Cancel, Context, Progress};
use gramer_base::error::{Error, Result};
use gramer_base::parallel::{start, start_in};
use gramer_engine::{Engine, Outcome, Peers, PreparedGraph, Run, Sink, Units};
use gramer_graph::{VertexId, image};
use gramer_pattern::Pattern;

use crate::Accelerator;
use crate::session::MemorySpeed;

use super::message::{
    Candidates, Load, RunRequest, WorkerReply, WorkerRequest, WorkerSetup, read, write,
};

/// Embeddings that are sent together.
const BATCH: usize = 1 << 10;
/// Interval at which a worker reports progress and polls for signals (a signal handler wakes no thread).
const LOOK: Duration = Duration::from_millis(50);

/// Where messages go.
type Output = Mutex<Box<dyn Write + Send>>;

fn say(output: &Output, message: &WorkerReply) -> Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    write(&mut **output, message).map_err(|e| Error::io("<stdout>", "write", e))
}

/// What the program is asked for, and what it says meanwhile.
struct Order {
    message: WorkerRequest,
    cancel: Cancel,
    enough: Arc<AtomicBool>,
    /// What peers say.
    replies: Mutex<Receiver<WorkerRequest>>,
}

/// The ends of an [`Order`] that the thread which reads has.
struct Hold {
    cancel: Cancel,
    enough: Arc<AtomicBool>,
    replies: Sender<WorkerRequest>,
}

/// Reads what the program says to its end.
fn hear(mut input: impl BufRead, orders: &Sender<Result<Order>>) {
    let mut now: Option<Hold> = None;
    loop {
        let message = match read(&mut input) {
            Ok(Some(message)) => message,
            Ok(None) => break,
            Err(error) => {
                let _ = orders.send(Err(error));
                break;
            }
        };
        match (message, &now) {
            (WorkerRequest::Enough, Some(now)) => now.enough.store(true, Ordering::Relaxed),
            (WorkerRequest::Stop, Some(now)) => now.cancel.cancel(),
            (
                reply @ (WorkerRequest::Range(_) | WorkerRequest::Joined(_) | WorkerRequest::Over),
                Some(now),
            ) => {
                let _ = now.replies.send(reply);
            }
            (message, _) => {
                let (send, replies) = channel();
                let (cancel, enough) = (Cancel::default(), Arc::<AtomicBool>::default());
                now = Some(Hold {
                    cancel: cancel.clone(),
                    enough: Arc::clone(&enough),
                    replies: send,
                });
                let replies = Mutex::new(replies);
                let _ = orders.send(Ok(Order { message, cancel, enough, replies }));
            }
        }
    }
    // Nobody is left to answer.
    if let Some(now) = now {
        now.cancel.cancel();
    }
}

/// Serves the program at the other end of `input` and `output`. `open` opens the device. `context` has notes, and what
/// signals want to stop.
///
/// # Errors
/// Errors of the connection, and [`Error::Interrupted`] after a signal. Other errors are sent to the program.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    open: impl FnOnce(&WorkerSetup, &Context) -> Result<Box<dyn Engine>>,
    context: &Context,
) -> Result<()> {
    let output: Output = Mutex::new(Box::new(output));
    let (send, orders) = channel();
    start("that reads orders", move || hear(input, &send))?;
    let server = Server { output: &output, orders: &orders, context };
    let Some(order) = server.next()? else { return Ok(()) };
    let opened = server.reply(&order, |context| {
        let WorkerRequest::Open(opened) = &order.message else {
            return Err(Error::Device(format!("{:?} comes before a device", order.message)));
        };
        let version = env!("CARGO_PKG_VERSION");
        if opened.gramer != version {
            return Err(Error::Device(format!(
                "the worker is gramer {version}, and the program has the library of gramer {}",
                opened.gramer
            )));
        }
        Ok((open(opened, context)?, WorkerReply::Ready))
    })?;
    let Some(engine) = opened else { return Ok(()) };
    let mut order = server.next()?;
    while let Some(now) = order {
        order = match &now.message {
            WorkerRequest::Load(load) => server.on_graph(&*engine, &now, load)?,
            WorkerRequest::Measure(bytes) => {
                server.reply(&now, |context| {
                    Ok(((), WorkerReply::Measured(memories(&*engine, *bytes, context)?)))
                })?;
                server.next()?
            }
            other => {
                let refused = || Error::Device(format!("{other:?} comes before a graph"));
                server.reply::<()>(&now, |_| Err(refused()))?;
                server.next()?
            }
        };
    }
    Ok(())
}

/// What a worker answers with.
struct Server<'a> {
    output: &'a Output,
    orders: &'a Receiver<Result<Order>>,
    context: &'a Context,
}

impl Server<'_> {
    /// The next order; `None` once the program has disconnected.
    fn next(&self) -> Result<Option<Order>> {
        loop {
            match self.orders.recv_timeout(LOOK) {
                Ok(order) => return order.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => self.context.cancel.check()?,
            }
        }
    }

    /// Carries out an order and sends its result, and its progress until then.
    fn reply<T>(
        &self,
        order: &Order,
        work: impl FnOnce(&Context) -> Result<(T, WorkerReply)>,
    ) -> Result<Option<T>> {
        let context = Context {
            cancel: order.cancel.clone(),
            progress: Arc::default(),
            ..self.context.clone()
        };
        if let WorkerRequest::Run(run) = &order.message
            && run.watched
        {
            context.progress.watch();
        }
        let (ended, end) = channel::<()>();
        let answer = std::thread::scope(|scope| {
            let (output, progress) = (self.output, &*context.progress);
            let stops = (&self.context.cancel, &order.cancel);
            let beat = start_in(scope, "that says how far a run is", move || {
                beat(output, progress, stops, &end);
            });
            let answer = beat.and_then(|_| work(&context));
            drop(ended);
            answer
        });
        match answer {
            Ok((value, message)) => {
                say(self.output, &message)?;
                Ok(Some(value))
            }
            Err(error) => {
                say(self.output, &WorkerReply::Failed(error.into()))?;
                Ok(None)
            }
        }
    }

    /// Loads a graph and answers runs on it. The next order that isn't one.
    fn on_graph(&self, engine: &dyn Engine, order: &Order, load: &Load) -> Result<Option<Order>> {
        let opened = || {
            let graph = image::open(&load.image, false)?;
            match (graph.vertices(), graph.edges()) == (load.vertices, load.edges) {
                true => Ok(graph),
                false => Err(Error::Device(format!("{} is another graph", load.image.display()))),
            }
        };
        let graph = match opened() {
            Ok(graph) => graph,
            Err(error) => {
                say(self.output, &WorkerReply::Failed(error.into()))?;
                return self.next();
            }
        };
        let prepared = self
            .reply(order, |context| Ok((engine.prepare(&graph, context)?, WorkerReply::Ready)))?;
        let Some(prepared) = prepared else { return self.next() };
        loop {
            let Some(order) = self.next()? else { return Ok(None) };
            let WorkerRequest::Run(run) = &order.message else { return Ok(Some(order)) };
            self.reply(&order, |context| {
                let outcome = self.answer(&prepared, &order, run, context)?;
                Ok(((), WorkerReply::Found(Box::new(outcome))))
            })?;
        }
    }

    fn answer(
        &self,
        prepared: &PreparedGraph,
        order: &Order,
        run: &RunRequest,
        context: &Context,
    ) -> Result<Outcome> {
        let context = Context { threads: run.threads, ..context.clone() };
        let units = run.share.as_ref().map_or(Units::All, Units::Share);
        units.check(prepared.graph().view())?;
        let batches = Batches {
            output: self.output,
            enough: &order.enough,
            limit: run.limit,
            batch: Mutex::default(),
            lost: Mutex::default(),
        };
        let sink = run.query.list.then_some(&batches as &dyn Sink);
        let relay = run.peers.map(|threads| Relay {
            output: self.output,
            threads,
            replies: &order.replies,
        });
        let peers = relay.as_ref().map(|relay| relay as &dyn Peers);
        let division = run.division.as_ref();
        let own = Run { units, sink, peers, division, ..Run::new(&context) };
        let outcome = prepared.counts(&run.query, &own)?;
        batches.end()?;
        Ok(outcome)
    }
}

/// What the memories of a device measure; nothing of one without its own.
fn memories(engine: &dyn Engine, bytes: u64, context: &Context) -> Result<Vec<MemorySpeed>> {
    let any: &dyn Any = engine;
    let accelerator = any.downcast_ref::<Accelerator>();
    accelerator.map_or(Ok(vec![]), |accelerator| accelerator.memories(bytes, context))
}

/// Says how far an order is until it ends, and stops it where a signal wants that.
fn beat(
    output: &Output,
    progress: &Progress,
    (signals, order): (&Cancel, &Cancel),
    end: &Receiver<()>,
) {
    let mut said = (0, 0);
    while end.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if signals.is_cancelled() {
            order.cancel();
        }
        let now = progress.get();
        if now != said && now.1 > 0 {
            said = now;
            let message = WorkerReply::Progress(now.0, now.1, progress.is_unpredictable());
            // Whoever doesn't hear that has gone, which the thread that reads notices.
            let _ = say(output, &message);
        }
    }
}

/// The members of phases, with whom the program speaks.
struct Relay<'a> {
    output: &'a Output,
    threads: usize,
    /// One thread asks at a time.
    replies: &'a Mutex<Receiver<WorkerRequest>>,
}

impl Relay<'_> {
    fn ask(&self, message: &WorkerReply) -> Result<WorkerRequest> {
        let replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        say(self.output, message)?;
        replies.recv().map_err(|_| Error::Interrupted)
    }

    fn next(&self, phase: usize, all: usize, at_once: bool) -> Result<Range<usize>> {
        match self.ask(&WorkerReply::Next(Candidates { phase, all, at_once }))? {
            WorkerRequest::Range(range) => Ok(range),
            _ => Err(Error::Interrupted),
        }
    }
}

impl Peers for Relay<'_> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn next(&self, phase: usize, all: usize) -> Result<Range<usize>> {
        self.next(phase, all, false)
    }

    fn at_once(&self, phase: usize, all: usize) -> Result<Range<usize>> {
        self.next(phase, all, true)
    }

    fn join(&self, phase: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        match self.ask(&WorkerReply::Join(phase, found))? {
            WorkerRequest::Joined(all) => Ok(all),
            _ => Err(Error::Interrupted),
        }
    }
}

/// Embeddings of a pattern that are sent together.
#[derive(Default)]
struct Batch {
    of: Option<(Pattern, Vec<Vec<VertexId>>)>,
    /// How many there were in all.
    count: u64,
}

/// Sends embeddings on, many of a pattern together.
struct Batches<'a> {
    output: &'a Output,
    enough: &'a AtomicBool,
    limit: Option<u64>,
    batch: Mutex<Batch>,
    /// Why nothing can be sent.
    lost: Mutex<Option<Error>>,
}

impl Batches<'_> {
    fn send(&self, batch: Option<(Pattern, Vec<Vec<VertexId>>)>) -> Result<()> {
        match batch {
            Some((pattern, all)) => say(self.output, &WorkerReply::Listed(pattern, all)),
            None => Ok(()),
        }
    }

    /// Sends what is left.
    fn end(self) -> Result<()> {
        if let Some(error) = self.lost.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner).of.take();
        self.send(batch)
    }
}

impl Sink for Batches<'_> {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        if self.enough.load(Ordering::Relaxed) || self.limit.is_some_and(|most| batch.count >= most)
        {
            return ControlFlow::Break(());
        }
        batch.count += 1;
        let fits = |(of, all): &(Pattern, Vec<Vec<VertexId>>)| of == pattern && all.len() < BATCH;
        let full = match batch.of.as_ref().is_some_and(fits) {
            true => None,
            false => batch.of.replace((pattern.clone(), vec![])),
        };
        if let Some((_, all)) = batch.of.as_mut() {
            all.push(vertices.to_vec());
        }
        // Within the lock, so that batches stay in their order.
        match self.send(full) {
            Ok(()) if self.limit == Some(batch.count) => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn limit(&self) -> Option<u64> {
        self.limit
    }
}
