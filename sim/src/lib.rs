//! Simulation of the cores.
//!
//! | module | content |
//! |---|---|
//! | [`model`] | Verilated model of an `accelerator.yaml`: built once, then loaded |
//! | [`cache`] | location of sources and of built models |
//! | [`ddr`] | memory banks, with a protocol checker on every port |
//! | [`image`] | memory image of a prepared graph, and in-stream of a run |
//! | [`run`] | task on a graph, directly on the core |
//! | [`set`] | in-streams on a cluster of the set core |
//! | [`timeline`] | activity of each PU over time |
//! | [`watch`] | ends a run without progress |
//!
//! This crate contains no mining algorithm: all counts come from the core.
//!
//! ```no_run
//! use gramer_sim::model::{self, Build, Model, Pins};
//!
//! let machine = gramer_machine::named::named("small").unwrap().unwrap();
//! let library = model::build(&machine, Build { fast: true, ..Default::default() }).unwrap();
//! let (mut model, mut pins) = (Model::load(&library).unwrap(), Pins::new());
//! model.cycle(&mut pins).unwrap();
//! ```

pub mod cache;
mod compile;
pub mod ddr;
pub mod dram;
mod drive;
pub mod image;
mod instances;
pub mod model;
pub mod run;
mod scan;
pub mod set;
pub mod stream;
pub mod timeline;
mod verilated;
pub mod watch;

pub use compile::compiler;

/// Hash of the sources that simulate the environment of a model ([`model::hash`]): cycles depend on both. The host's
/// image is byte for byte the one of [`image`] (`sim/tests/formats.rs`).
pub fn surroundings() -> u64 {
    let sources = [
        include_str!("ddr.rs"),
        include_str!("ddr/timing.rs"),
        include_str!("dram.rs"),
        include_str!("drive.rs"),
        include_str!("image.rs"),
        include_str!("run.rs"),
        include_str!("set.rs"),
        include_str!("stream.rs"),
        include_str!("watch.rs"),
    ];
    xxhash_rust::xxh3::xxh3_64(sources.concat().as_bytes())
}
