//! The set core (`docs/set-core.md`): its image of a graph, its work units, and what its sums mean.
//!
//! | module | what it holds |
//! |---|---|
//! | `engine` | the core as a device: graphs that stay on it, tasks on them |
//! | [`frequent`] | frequent subgraphs: candidates as search plans |
//! | [`image`] | a graph as the core reads it |
//! | [`mod@matches`] | matches of a pattern by search plans |
//! | [`motifs5`] | motifs of 5 vertices by connected sets of three
//! | [`plan`] | search plans: their words, image and units |
//! | [`segments`] | graphs that are larger than a cluster's memory, and roots of long lists |
//! | [`units`] | work units, their weights, and the streams of several clusters |
//! | [`sums`] | from the core's sums to counts of patterns |
//! | [`tasks`] | which tasks it does, and with which operations |
//! | [`wedges`] | houses and 5-cycles by the map |
//! | [`mod@reference`] | what the core does, step by step: the sums that it must give |

pub(crate) mod engine;
pub mod frequent;
pub mod image;
pub mod matches;
pub(crate) mod methods;
pub mod motifs5;
pub mod plan;
mod reach;
pub mod reference;
pub mod segments;
pub mod sums;
pub mod tasks;
pub mod units;
pub mod wedges;
