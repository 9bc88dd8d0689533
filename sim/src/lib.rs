//! The core, simulated.
//!
//! | module | what it holds |
//! |---|---|
//! | [`model`] | an `accelerator.yaml` becomes a Verilated model, built once and loaded |
//! | [`cache`] | where sources and built models are |
//! | [`ddr`] | the memory banks, and a checker of the protocol on every port |
//! | [`image`] | a prepared graph as it lies in memory, and the in-stream of a run |
//! | [`run`] | a task on a graph, straight on the core |
//!
//! Nothing here mines: counts come from the core alone.

pub mod cache;
pub mod ddr;
pub mod image;
mod instances;
pub mod model;
pub mod run;
mod verilated;
