#![doc = include_str!("../README.md")]
//!
//! | module | what it holds |
//! |---|---|
//! | [`platform`] | devices that OpenCL offers, and what is missing |
//! | [`select`] | which of them `gpu…` names |
//! | `engine` | which task goes to which strategy |
//! | `device` | context, queue, limits, kernels |
//! | `lanes` | operations of the lanes of a warp, in three forms |
//! | `calls` | the time of each call, and faults for tests |
//! | `program` | programs and the cache of binaries |
//! | [`memory`] | the budget, and buffers that count against it |
//! | `graph`, `resident` | graphs by degree order, and what lies on the device |
//! | `room` | how much memory a task takes at least |
//! | `slices` | portions of work |
//! | `stop` | how a wish to stop reaches kernels that run |
//! | `picked` | the roots of a share of work units |
//! | `local`, `nest` | cliques and triangles by bitmaps of neighbourhoods |
//! | `plan`, `search` | matching by depth-first search, and every list |
//! | `signature` | candidates by signatures, and SGSI's order |
//! | `formula`, `five` | motifs of three and four vertices, and of five, by closed formulas |
//! | `join` | SGSI's join over PCSR, as the strategy `table` has it |
//! | `table` | embedding tables within any budget, the graph by pages (GAMMA) |
//! | [`primitives`] | extension, filtering and aggregation for programs of users |
//! | `fsm`, `by_label`, `domains` | frequent patterns by minimum images, the domains of their vertices |
//! | `yardstick` | what a device does at most, to hold runs against |
//! | [`energy`] | the energy counter of an NVIDIA card |
//! | `wedges` | frequent edges and paths of two edges, by the labels around vertices |
//! | `canon` | which pattern a code of edges is of |
//! | `wide` | motifs of up to eight vertices, and cliques, by DuMato's exploration without a plan |

mod activity;
mod by_label;
mod calls;
mod canon;
mod cycles;
mod device;
mod domains;
pub mod energy;
mod engine;
mod error;
mod few;
mod five;
mod formula;
mod fsm;
mod graph;
mod join;
mod lanes;
mod large;
mod local;
pub mod memory;
mod nest;
mod picked;
mod plan;
pub mod platform;
mod program;
mod resident;
mod room;
mod search;
pub mod select;
pub mod settings;
mod signature;
mod slices;
mod stop;
mod table;
mod wedges;
mod wide;
mod yardstick;

pub use calls::Fault;
pub use cycles::CYCLE_WINDOW;
pub use engine::{Gpu, Trial};
pub use join::{FirstEdge, Join, JoinSettings, Layers, Rows};
pub use lanes::Lanes;
pub use local::{ClassShape, SmallSets};
pub use program::default_cache;
pub use search::{Order, Steps};
pub use select::is_gpu;
pub use stop::when_late;
pub use table::primitives;
pub use table::{Ablation, Access, Mechanism, Merge, TableSettings, Traversal};
pub use wide::{Balance, Tile};
pub use yardstick::Yardsticks;

use std::path::PathBuf;

use gramer_base::choice::Choice;

/// Strategy of a task. All are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Bitmaps of oriented neighbourhoods: cliques.
    Local,
    /// Closed formulas over smaller counts: motifs of three to five vertices.
    Formula,
    /// Depth-first search after a plan: matching, any pattern, lists of embeddings.
    Plan,
    /// DuMato's exploration without a plan: motifs of three to eight vertices, cliques.
    Wide,
    /// GAMMA's embedding tables, extended column by column: graphs and tables larger than the memory.
    Table,
}

impl Choice for Strategy {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Strategy::Local, "local", "Bitmaps of neighbourhoods, for cliques"),
        (Strategy::Formula, "formula", "Closed formulas, for motifs of 3 to 5 vertices"),
        (Strategy::Plan, "plan", "Search after a plan, for anything"),
        (Strategy::Wide, "wide", "Exploration without a plan, for motifs and cliques"),
        (Strategy::Table, "table", "Embedding tables, for graphs and tables beyond the memory"),
    ];
}

/// Settings of a device.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// Whether the strategy `local` counts cliques of six vertices and more by pivots; none: as the
    /// work is less.
    pub pivots: Option<bool>,
    /// Strategy; default: the fastest that is known.
    pub strategy: Option<Strategy>,
    /// Form in which lanes of a warp exchange values; default: the fastest one that passes a self-test.
    pub lanes: Option<Lanes>,
    /// Conditions for trying a match without a given strategy by two of them. `None`: the default on a GPU, never on a
    /// CPU behind OpenCL.
    pub trial: Option<Trial>,
    /// Steps of SGSI that matching takes; the strategy `table` has signatures for its join alone.
    pub steps: Steps,
    /// Whether answers have the times of kernels and transfers.
    pub times: bool,
    /// File for a trace of them, written after each task; with it, they are always recorded.
    pub profile: Option<PathBuf>,
    /// Injected failure of a call, for tests.
    pub fault: Option<Fault>,
    /// Among how many openings of the same device its memory is divided, where `memory` isn't given;
    /// 0 and 1 are one.
    pub sharing: u64,
    /// Whether the device stays open when the engine is dropped: for a program that ends then, since drivers take some
    /// hundredths of a second to close a device, and none to lose its process.
    pub stays_open: bool,
    /// Load balancing between warps in the strategy `wide`.
    pub balance: Balance,
    /// Lanes that take an embedding of the strategy `wide` together; none: a warp.
    pub tile: Option<Tile>,
    /// Memory settings of the strategy `table`.
    pub table: TableSettings,
}
