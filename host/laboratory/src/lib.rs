#![doc = include_str!("../README.md")]
//!
//! | module | content |
//! |---|---|
//! | [`commands`] | the command line |
//! | [`explore`] | variants of the machine, simulated and compared |
//! | [`paper`] | the experiments of the paper, and the report |
//! | [`paper_gpu`] | experiments of the papers behind the GPU engine |
//! | [`papers`] | every experiment of the papers in one table |

pub mod commands;
pub mod explore;
pub mod paper;
pub mod paper_gpu;
pub mod papers;
