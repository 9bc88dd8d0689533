//! A match that the strategy `plan` hands over, with its graph.

use std::sync::{Arc, Mutex, PoisonError};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::DeviceMetrics;
use gramer_graph::Graph;

use super::graph::{GraphRequest, Lists, TableGraph};
use super::{OnDemandGraph, Steps};
use crate::Gpu;
use crate::graph::ByDegree;
use crate::join::LabelCounts;
use crate::plan::PlanWords;

impl OnDemandGraph {
    /// Creates the engine for a graph with numbered vertices.
    pub fn beside(gpu: &Gpu, graph: &Graph, by: Arc<ByDegree>) -> Self {
        let (held, joins, mining) = (Mutex::new(None), Mutex::default(), Mutex::default());
        let (gpu, graph, labels) = (gpu.clone(), graph.clone(), LabelCounts::default());
        OnDemandGraph { gpu, graph, by, held, joins, labels, mining }
    }

    /// Uploads the plan's data to the device and builds its program; returns `false`, with everything released, if the
    /// lists don't fit as a whole.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Interrupted`].
    pub fn make_ready(&self, words: &PlanWords, context: &Context) -> Result<bool> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let device = self.gpu.device()?;
        let wanted = GraphRequest { share: true, ..Steps::pattern(words).wanted };
        if held.as_ref().is_none_or(|h| h.wanted != wanted) {
            *held = None;
            let access = self.settings().access;
            match TableGraph::new(device, &self.by, &self.graph, wanted, access, context) {
                Ok(made) => *held = Some(made),
                // It would do with less memory than there is.
                Err(Error::Unsupported(_)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let whole = held.as_ref().filter(|h| matches!(h.lists, Lists::Whole(_)));
        let Some(graph) = whole else {
            *held = None;
            return Ok(false);
        };
        self.program(device, graph)?;
        Ok(true)
    }

    /// Counts from these roots what the plan leads to, with what was done among `metrics`; the flag says
    /// whether the run went to its end.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Unsupported`] if the budget is too small.
    pub fn matches_of(
        &self,
        words: &PlanWords,
        roots: &[u32],
        context: &Context,
        metrics: &mut DeviceMetrics,
    ) -> Result<(u128, bool)> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.count(&mut held, &Steps::pattern(words), Some(roots), context, metrics)
    }

    /// Frees what is on the device.
    pub fn release(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
