//! The set core (`docs/reference/set-core.md`): image of a graph, work units, and counts from sums.
//!
//! | module | content |
//! |---|---|
//! | `engine` | the core as an engine: resident graphs and tasks on them |
//! | [`frequent`] | frequent subgraphs: candidates as search plans |
//! | [`image`] | layout of a graph |
//! | `kept` | streams of earlier launches |
//! | [`mod@matches`] | matches of a pattern by search plans |
//! | [`memory`] | the on-chip memory of a cluster |
//! | [`motifs5`] | motifs of 5 vertices by connected sets of three
//! | [`numbers`] | numbers of the operations and sums |
//! | [`plan`] | search plans: their words, image and units |
//! | [`segments`] | graphs that are larger than a cluster's memory, and roots of long lists |
//! | [`units`] | work units, their weights, and the streams of several clusters |
//! | [`sums`] | from the core's sums to counts of patterns |
//! | [`tasks`] | supported tasks and their operations |
//! | [`wedges`] | houses and 5-cycles by the map |

pub(crate) mod engine;
pub mod frequent;
pub mod image;
pub(crate) mod kept;
pub mod matches;
pub mod memory;
pub(crate) mod methods;
pub mod motifs5;
pub mod numbers;
pub mod plan;
mod reach;
pub mod segments;
pub mod sums;
pub mod tasks;
pub mod units;
pub mod wedges;
