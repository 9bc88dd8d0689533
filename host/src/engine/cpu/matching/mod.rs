//! Subgraph matching.
use crate::context::Context;
use crate::engine::{Outcome, Sink};
use crate::error::{Error, Result};
use crate::graph::Graph;

pub(super) fn run(
    _: &Graph,
    _: &crate::Pattern,
    _: crate::task::Induced,
    _mappings: bool,
    _: Option<&dyn Sink>,
    _: &Context,
) -> Result<Outcome> {
    Err(Error::Unsupported("not yet".into()))
}
