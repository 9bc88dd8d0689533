//! Graph mining on several kinds of device, exactly.
//!
//! The host half of an open implementation of GRAMER (Yao et al., *A Locality-Aware
//! Energy-Efficient Accelerator for Graph Mining Applications*, MICRO 2020). It reads graphs,
//! orders their vertices by Rank(ON_1), and answers mining tasks through an [`engine::Engine`].
//! This crate only gathers what the crates below it hold:
//!
//! | module | what it holds |
//! |---|---|
//! | [`base`] | errors, cancellation, progress, memory, threads, output files |
//! | [`graph`] | the graph in memory, its readers and writers, its binary image, the generators |
//! | [`prepare`] | ON_k, Rank(ON_1) renumbering, τ and the priority bounds |
//! | [`pattern`] | patterns of up to 32 vertices: canonical form, automorphisms, names, files |
//! | [`plan`] | matching orders and symmetry breaking |
//! | [`task`] | what can be asked |
//! | [`engine`] | what an engine is: questions, methods, answers; the algorithm-1 reference |
//! | [`cpu`] | the CPU engine |
//! | [`accelerator`] | the accelerator through OpenCL, on a card or emulated |

pub use gramer_accelerator as accelerator;
pub use gramer_base::{self as base, Context, Error, Result, context, error};
pub use gramer_cpu as cpu;
pub use gramer_engine as engine;
pub use gramer_graph::{self as graph, Graph, prepare};
pub use gramer_pattern::{self as pattern, Pattern, Task, plan, task};

/// The README, whose example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
