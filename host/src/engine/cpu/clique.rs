//! Cliques of k vertices.
use crate::context::Context;
use crate::engine::{Outcome, Sink};
use crate::error::{Error, Result};
use crate::graph::Graph;

pub(super) fn run(_: &Graph, _k: usize, _: Option<&dyn Sink>, _: &Context) -> Result<Outcome> {
    Err(Error::Unsupported("not yet".into()))
}
