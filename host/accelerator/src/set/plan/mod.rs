//! Search plans on the set core (`docs/set-core.md`, section *Plans*).
//!
//! | module | what it holds |
//! |---|---|
//! | [`words`] | a search plan as the words that the core executes |
//! | [`image`] | a graph as the core reads it for plans |
//! | [`estimates`] | what is known of a pattern with labels in a graph, for its plan |
//! | [`run`] | a graph's images for plans, and their runs on devices or a model |
//! | [`units`] | roots, cut where they are heavy, and the streams of several clusters |
//! | [`mod@reference`] | what the core does with words, image and units |

pub mod estimates;
pub mod image;
pub mod reference;
pub mod run;
pub mod units;
pub mod words;
