//! How answers are written: a table for people, JSON for programs, lists of embeddings.

mod json;
mod list;
pub mod per;
mod progress;
pub mod symbols;
mod table;

pub use json::{Counts, json};
pub use list::{ListFormat, ListWriter};
pub use progress::{BuildMeter, Meter};
pub use table::{Drawing, table};

use std::ops::Deref;

use gramer_engine::{Estimated, Precision};
pub use gramer_picture::{Answer, Stopped, Times};

/// Everything that a report says: the answer, and what not every report has.
///
/// ```
/// use gramer_cli::report::{Answer, Counts, Drawing, Report, Times, json, table};
/// use gramer_engine::Engine;
/// use gramer_engine::cpu::Cpu;
/// use gramer_graph::{Builder, Context};
/// use gramer_pattern::Task;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let task = Task::Clique { k: 3 };
/// let outcome = Cpu.run(&graph, &task, None, &Context::default())?;
/// let answer = Answer {
///     task: &task,
///     source: "kite.txt",
///     graph: &graph,
///     device: "cpu",
///     threads: 1,
///     outcome: &outcome,
///     stopped: None,
///     listed: None,
///     times: Times::default(),
/// };
/// let report = Report { answer, per: None, estimated: None };
///
/// let mut text = Vec::new();
/// table(&report, Drawing::Never, &mut text)?;
/// assert!(String::from_utf8(text)?.contains("triangle"));
/// let mut text = Vec::new();
/// json(&report, Counts::String, &mut text)?;
/// let document: serde_json::Value = serde_json::from_slice(&text)?;
/// assert_eq!(document["results"][0]["count"], "1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report<'a> {
    /// The answer.
    pub answer: Answer<'a>,
    /// Counts per vertex or edge, where they were asked for and are known.
    pub per: Option<&'a per::PerReport>,
    /// An estimate instead of counts.
    pub estimated: Option<(Precision, &'a Estimated)>,
}

impl<'a> Deref for Report<'a> {
    type Target = Answer<'a>;

    fn deref(&self) -> &Answer<'a> {
        &self.answer
    }
}
