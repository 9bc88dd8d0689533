//! A graph for the worker of an emulated device.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Result};
use gramer_engine::{DeviceGraph, Failure, Outcome, Peers, Plan, Query, Reply, Run, Sink};
use gramer_graph::prepare::renumber;
use gramer_graph::{Graph, Order, VertexId, image};

use super::EmulatedDevice;
use super::message::{Load, RunRequest};
use super::worker::Worker;
use crate::next_number;

/// A graph as an image for a worker.
pub(super) struct WorkerGraph {
    device: EmulatedDevice,
    graph: Graph,
    /// The graph in the order in which the device is fastest, where it has another one.
    ordered: Option<Graph>,
    /// Tells it from others that the worker had.
    number: u64,
    /// The caller's vertices, by those of the ordered graph.
    places: Mutex<Option<Vec<VertexId>>>,
}

impl WorkerGraph {
    /// A graph in the device's order.
    pub fn new(device: &EmulatedDevice, graph: &Graph, context: &Context) -> Result<Self> {
        context.cancel.check()?;
        let other = graph.order() != Order::RankOn1;
        let ordered = other.then(|| renumber(graph, context)).transpose()?;
        let (device, graph, places) = (device.clone(), graph.clone(), Mutex::default());
        Ok(WorkerGraph { device, graph, ordered, number: next_number(), places })
    }

    /// Makes the worker load the graph, unless it is loaded.
    pub fn load(&self, kept: &mut Option<Worker>, cancel: &Cancel) -> Result<()> {
        let worker = self.device.started(kept, cancel)?;
        if worker.graph.as_ref().is_some_and(|(number, _)| *number == self.number) {
            return Ok(());
        }
        let path = worker.folder.join(format!("graph-{}.gramer", self.number));
        let graph = self.ordered.as_ref().unwrap_or(&self.graph);
        image::write(&path, graph, "graph")?;
        let (vertices, edges) = (graph.vertices(), graph.edges());
        let loaded = worker.load(self.number, Load { image: path, vertices, edges }, cancel);
        self.device.heard(kept, loaded, cancel)
    }

    /// Makes the worker answer a question.
    fn ask(&self, query: &Query, run: &Run<'_>) -> Result<Outcome> {
        let context = run.context;
        if run.units.share().is_some() && self.ordered.is_some() {
            // The worker holds the ordered graph, whose units differ.
            return Err(Error::Unsupported(format!(
                "{} takes shares of a graph in the order of Rank(ON_1) alone: order it with \
                 `gramer_graph::prepare::renumber`",
                self.device.name
            )));
        }
        context.cancel.check()?;
        let mut kept = self.device.free(&context.cancel)?;
        self.load(&mut kept, &context.cancel)?;
        let worker = self.device.started(&mut kept, &context.cancel)?;
        let order = RunRequest {
            query: query.clone(),
            share: run.units.share().cloned(),
            division: run.division.cloned(),
            peers: run.peers.map(Peers::threads),
            limit: run.sink.and_then(Sink::limit),
            threads: context.threads(),
            watched: context.progress.is_watched(),
        };
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if run.sink.is_some() && places.is_none() {
            *places = self.places();
        }
        let places = places.as_deref().filter(|_| run.sink.is_some());
        let outcome = worker.run(order, run, places);
        let outcome = self.device.heard(&mut kept, outcome, &context.cancel)?;
        match outcome.share.as_ref() == run.units.share() {
            true => Ok(outcome),
            false => Err(Error::Device(format!(
                "{}: the worker gave an answer for another share",
                self.device.name
            ))),
        }
    }

    /// The caller's vertices, by those of the ordered graph that a list has.
    fn places(&self) -> Option<Vec<VertexId>> {
        let ordered = self.ordered.as_ref()?;
        let ids = (0..self.graph.vertices() as VertexId).map(|v| (self.graph.original_id(v), v));
        let places: HashMap<u64, VertexId> = ids.collect();
        let all = 0..ordered.vertices() as VertexId;
        Some(all.map(|v| places[&ordered.original_id(v)]).collect())
    }
}

impl DeviceGraph for WorkerGraph {
    fn answer(&self, query: &Query, _: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        Ok(self.ask(query, run)?.into())
    }
}
