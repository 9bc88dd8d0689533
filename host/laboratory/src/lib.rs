//! Experiments on the simulated accelerator.
//!
//! | module | what it holds |
//! |---|---|
//! | [`explore`] | variants of the machine, simulated and compared |
//! | [`paper`] | the experiments of the paper, and the report |

pub mod explore;
pub mod paper;
