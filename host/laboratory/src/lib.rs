//! Experiments on the simulated accelerator, and those of the GPU engine's papers.
//!
//! | module | what it holds |
//! |---|---|
//! | [`explore`] | variants of the machine, simulated and compared |
//! | [`paper`] | the experiments of the paper, and the report |
//! | [`paper_gpu`] | experiments of the papers behind the GPU engine |

pub mod explore;
pub mod paper;
pub mod paper_gpu;
