//! Matching orders and symmetry breaking, for every engine.

pub mod matching_order;
pub mod symmetry;
