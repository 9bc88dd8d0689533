//! How answers are written: a table for people, JSON and rows for programs, lists of embeddings. Pages are
//! [`Answer::page`]'s, pictures [`Answer::sheet`]'s.
//!
//! ```
//! use gramer_cli::report::{Answer, Counts, Drawing, Times, json, table};
//! use gramer_engine::EngineExt;
//! use gramer_cpu::Cpu;
//! use gramer_base::Context;
//! use gramer_graph::Builder;
//! use gramer_pattern::Task;
//!
//! let mut builder = Builder::new();
//! for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
//!     builder.edge(u, v);
//! }
//! let graph = builder.build();
//! let task = Task::Clique { k: 3 };
//! let outcome = Cpu.run(&graph, &task, None, &Context::default())?;
//! let answer = Answer::new(&task, "kite.txt", &graph, &outcome);
//!
//! let mut text = Vec::new();
//! table(&answer, Drawing::Never, &mut text)?;
//! assert!(String::from_utf8(text)?.contains("triangle"));
//! let mut text = Vec::new();
//! json(&answer, Counts::String, &mut text)?;
//! let document: serde_json::Value = serde_json::from_slice(&text)?;
//! assert_eq!(document["results"][0]["count"], "1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod json;
mod list;
pub mod per;
mod progress;
mod rows;
mod shape;
pub mod symbols;
mod table;

pub use json::{Counts, SCHEMA, json, pretty};
pub use list::{ListFormat, ListWriter, Tally};
pub use progress::{BuildMeter, Meter};
pub use rows::{RowForm, rows};
pub use table::{Drawing, table};

pub use gramer_picture::{Answer, StopReason, Times};
