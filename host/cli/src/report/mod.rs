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
