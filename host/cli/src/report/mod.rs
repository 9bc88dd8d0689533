//! How answers are written: a table for people, JSON for programs, lists of embeddings. Pages are
//! [`Answer::page`]'s.
//!
//! ```
//! use gramer_cli::report::{Answer, Counts, Drawing, Times, json, table};
//! use gramer_engine::Engine;
//! use gramer_engine::cpu::Cpu;
//! use gramer_graph::{Builder, Context};
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
pub mod symbols;
mod table;

pub use json::{Counts, json, pretty};
pub use list::{ListFormat, ListWriter};
pub use progress::{BuildMeter, Meter};
pub use table::{Drawing, table};

pub use gramer_picture::{Answer, Stopped, Times};
