//! Frequent subgraph mining.
use crate::context::Context;
use crate::engine::{Outcome, Sink};
use crate::error::{Error, Result};
use crate::graph::Graph;

pub(super) fn run(
    _: &Graph,
    _: crate::task::SizeLimit,
    _support: u64,
    _: crate::task::Measure,
    _: Option<&dyn Sink>,
    _: &Context,
) -> Result<Outcome> {
    Err(Error::Unsupported("not yet".into()))
}
