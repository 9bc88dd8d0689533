//! How a pattern is searched: matching orders, symmetry breaking, equations between counts.

pub mod motif;
