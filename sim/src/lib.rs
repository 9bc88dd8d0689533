//! The core, simulated.
//!
//! | module | what it holds |
//! |---|---|
//! | [`model`] | an `accelerator.yaml` becomes a Verilated model, built once and loaded |
//! | [`cache`] | where sources and built models are |
//! | [`ddr`] | the memory banks, and a checker of the protocol on every port |
//! | [`image`] | a prepared graph as it lies in memory, and the in-stream of a run |
//! | [`run`] | a task on a graph, straight on the core |
//! | [`set`] | in-streams on a cluster of the set core |
//! | [`timeline`] | what each PU does over time |
//! | [`watch`] | ends a run in which nothing moves |
//!
//! Nothing here mines: counts come from the core alone.

pub mod cache;
mod compile;
pub mod ddr;
mod drive;
pub mod image;
mod instances;
pub mod model;
pub mod run;
mod scan;
pub mod set;
pub mod timeline;
mod verilated;
pub mod watch;

pub use compile::compiler;

/// A hash of the sources that simulate what is around a model ([`model::hash`]): cycles depend on both.
/// What the host writes in place of [`image`] is the same, byte for byte (`sim/tests/formats.rs`).
pub fn surroundings() -> u64 {
    let sources = [
        include_str!("ddr.rs"),
        include_str!("drive.rs"),
        include_str!("image.rs"),
        include_str!("run.rs"),
        include_str!("set.rs"),
        include_str!("watch.rs"),
    ];
    xxhash_rust::xxh3::xxh3_64(sources.concat().as_bytes())
}
