//! Helpers shared by the tests of several crates.
//!
//! | module | has |
//! |---|---|
//! | [`environment`] | what the machine offers, and how a test skips itself without it |
//! | [`commands`] | commands of pages, which run and print what the page shows |
//! | [`golden`] | comparison with files that are checked in |
//! | [`graphs`] | graphs from edges, from models and from seeds |
//! | [`truth`] | graphs of a few vertices with every task by brute force, and random ones of them |
//! | [`mappings`] | every mapping of a pattern, by its definition |
//! | [`schema`] | the JSON Schema of answers, and a check of documents |
//! | [`signals`] | waits until a process handles a signal, or has taken it |
//! | [`sinks`] | sinks that keep what is listed |
//! | [`ground_truth`], [`query_sets`] | readers of the files next to the real graphs |
//!
//! All but the first three and [`signals`] have the feature `mining`.
//!
//! ```
//! use gramer_testing::commands::{agrees, said};
//!
//! let lines = |text: &str| text.lines().map(said).collect::<Vec<_>>();
//! assert!(agrees(&lines("total 45\n..."), &lines("total  45\nload 3 ms, mine 1 ms")));
//! ```

pub mod commands;
pub mod environment;
pub mod golden;
#[cfg(feature = "mining")]
pub mod graphs;
#[cfg(feature = "mining")]
pub mod ground_truth;
#[cfg(feature = "mining")]
pub mod mappings;
#[cfg(feature = "mining")]
pub mod query_sets;
#[cfg(feature = "mining")]
pub mod schema;
pub mod signals;
#[cfg(feature = "mining")]
pub mod sinks;
#[cfg(feature = "mining")]
pub mod truth;
