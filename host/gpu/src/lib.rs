//! Mining on GPUs, and on anything else that speaks OpenCL 1.2.
//!
//! The OpenCL library is loaded when it is first asked for: nothing is needed to build or to start.
//! Drivers that are installed without being registered are found as well ([`platform`]).
//!
//! | module | what it holds |
//! |---|---|
//! | [`platform`] | devices that OpenCL offers, and what is missing |
//! | [`select`] | which of them `gpu…` names |
//! | `engine` | which task goes to which strategy |
//! | `device` | context, queue, limits, kernels |
//! | `program` | programs and the cache of binaries |
//! | [`memory`] | the budget, and buffers that count against it |
//! | `graph`, `resident` | graphs by degree order, and what lies on the device |
//! | `slices` | portions of work |
//! | `local`, `nest` | cliques and triangles by bitmaps of neighbourhoods |
//! | `plan`, `search` | matching by depth-first search, and every list |
//! | `formula` | motifs of three and four vertices by closed formulas |

mod device;
mod engine;
mod error;
mod formula;
mod graph;
mod local;
pub mod memory;
mod nest;
mod plan;
pub mod platform;
mod program;
mod resident;
mod search;
pub mod select;
mod slices;

pub use engine::Gpu;
pub use local::ClassShape;
pub use program::default_cache;
pub use select::is_gpu;

use std::path::PathBuf;

/// How a device is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of device memory that may be used; nine tenths of it where not given.
    pub memory: Option<u64>,
    /// Whether kernels test every index, which takes them several times as long.
    pub checked: bool,
    /// Folder that keeps built programs; none: they are built in each run.
    pub cache: Option<PathBuf>,
    /// Classes of roots of the strategy `local`, by words; none: those that are fastest on the
    /// device that was measured.
    pub classes: Vec<ClassShape>,
}
