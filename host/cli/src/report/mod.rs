//! How answers are written: a table for people, JSON for programs, lists of embeddings. Pages are those
//! of `gramer_picture`.

mod json;
mod list;
mod progress;
pub mod symbols;
mod table;

pub use json::{Counts, json};
pub use list::{ListFormat, ListWriter};
pub use progress::{BuildMeter, Meter};
pub use table::{Drawing, table};

pub use gramer_picture::{Answer, Stopped, Times};
