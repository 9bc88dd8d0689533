//! How a pattern is searched: matching orders, symmetry breaking, equations between counts.

pub mod candidates;
pub mod homomorphism;
pub mod matching_order;
pub mod motif;
pub mod planner;
pub mod repeats;
pub mod search;
pub mod symmetry;
pub mod system;
mod valid;
