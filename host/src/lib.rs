//! Graph mining on several kinds of device, exactly.
//!
//! The crate is the host half of an open implementation of GRAMER (Yao et al., *A Locality-Aware
//! Energy-Efficient Accelerator for Graph Mining Applications*, MICRO 2020). It reads graphs,
//! orders their vertices by Rank(ON_1), and answers mining tasks through an [`engine::Engine`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`graph`] | the graph in memory, its readers and writers, its binary image, the generators |
//! | [`prepare`] | ON_k, Rank(ON_1) renumbering, τ and the priority bounds |
//! | [`pattern`] | patterns of up to 16 vertices: canonical form, automorphisms, names, files |
//! | [`plan`] | matching orders and symmetry breaking |
//! | [`task`] | what can be asked |
//! | [`engine`] | who answers: the CPU engine and the algorithm-1 reference |
//! | [`report`] | how answers are written: table, JSON, lists of embeddings |
//! | [`paper`] | the experiments of the paper, and the report |
//! | [`xclbin`] | the container of a programmed device |
//! | [`explore`] | variants of the machine, simulated and compared |
//! | [`input`] | reading what may be huge or may never come |
//! | [`launch`] | emulations of a device, set up and supervised |
//! | [`cli`] | the command line `gramer` |

pub mod cli;
pub mod context;
pub mod engine;
pub mod error;
pub mod explore;
pub mod graph;
pub mod input;
pub mod launch;
mod panics;
pub mod paper;
pub mod pattern;
pub mod plan;
pub mod prepare;
pub mod report;
pub mod task;
pub mod xclbin;

pub use context::Context;
pub use error::{Error, Result};
pub use graph::Graph;
pub use pattern::Pattern;
pub use task::Task;
