//! Search plans on the set core (`docs/reference/set-core.md`, section *Plans*).
//!
//! | module | content |
//! |---|---|
//! | [`words`] | a search plan as the words that the core executes |
//! | [`image`] | layout of a graph for plans |
//! | [`estimates`] | statistics of a labelled pattern in a graph |
//! | [`run`] | a graph's images for plans, and runs on devices or a model |
//! | [`units`] | roots, cut where they are heavy, and the streams of several clusters |

pub mod estimates;
pub mod image;
pub mod run;
pub mod units;
pub mod words;
