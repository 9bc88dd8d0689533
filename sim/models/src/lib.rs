//! Functional models of the set core: the sums and lists that it must give for an image and a stream. Tests and the
//! simulator compare the core with them.
//!
//! | module | operations |
//! |---|---|
//! | [`cliques`] | cliques, sums over edges, 4-cycles |
//! | [`plan`] | the words of search plans |
//! | [`wedges`] | houses and 5-cycles |
//! | [`motifs5`] | products of 5-motifs |

pub mod cliques;
pub mod motifs5;
pub mod plan;
pub mod wedges;

pub use cliques::Sums;
