//! The forms of answers.

use std::path::Path;

use clap::ValueEnum;

use gramer_base::error::{Error, Place, Result, quote};

use crate::report::RowForm;

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// For people
    Table,
    /// For programs
    Json,
    /// A page with pictures
    Html,
    /// Comma-separated columns
    Csv,
    /// Tab-separated columns
    Tsv,
    /// A JSON object for each row
    Jsonl,
    /// A table of Markdown
    Md,
    /// A picture of the patterns
    Svg,
    /// Columns for pandas, Polars, Spark
    #[cfg(feature = "columnar")]
    Parquet,
}

/// Endings of names that say nothing of a form.
const PLAIN: [&str; 5] = ["", "txt", "text", "log", "out"];

/// Endings of names with the form of the file.
const ENDINGS: &[(&str, Form)] = &[
    #[cfg(feature = "columnar")]
    ("parquet", Form::Parquet),
    ("json", Form::Json),
    ("html", Form::Html),
    ("htm", Form::Html),
    ("csv", Form::Csv),
    ("tsv", Form::Tsv),
    ("jsonl", Form::Jsonl),
    ("ndjson", Form::Jsonl),
    ("md", Form::Md),
    ("markdown", Form::Md),
    ("svg", Form::Svg),
];

impl Form {
    /// The form of an answer in a file: the requested one, else that of the file's ending, else a table.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that ends as one of another form, or of a form that answers don't have.
    pub(super) fn of(path: &Path, asked: Option<Self>) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let named = match ENDINGS.iter().find(|(known, _)| *known == ending) {
            Some((_, form)) => Some(*form),
            // A number or a date.
            None if !ending.contains(char::is_alphabetic) || PLAIN.contains(&ending) => None,
            None => {
                let instead = match ending {
                    // With the feature it is an ending.
                    "parquet" => " by this build (feature `columnar`); a .csv has the same rows",
                    "arrow" | "feather" | "xlsx" => "; a .csv has the same rows",
                    _ => "",
                };
                let columns = if cfg!(feature = "columnar") { " .parquet," } else { "" };
                return Err(Error::usage(format!(
                    "{}: an answer is not written as {}{instead}; end the name with .txt (a table), .json, .jsonl, \
                     .csv, .tsv,{columns} .md, .html or .svg",
                    Place::file(path),
                    quote(ending)
                )));
            }
        };
        match (named, asked) {
            (Some(named), Some(asked)) if named != asked => {
                let word = |form: Form| form.to_possible_value().map(|v| v.get_name().to_string());
                Err(Error::usage(format!(
                    "{}: the name ends with {ending}, but the answer is written as {}; change the name or --output",
                    Place::file(path),
                    word(asked).unwrap_or_default()
                )))
            }
            _ => Ok(asked.or(named).unwrap_or(Form::Table)),
        }
    }

    /// The form of its rows, if it is one of rows alone.
    pub(super) fn rows(self) -> Option<RowForm> {
        match self {
            Form::Csv => Some(RowForm::Separated(b',')),
            Form::Tsv => Some(RowForm::Separated(b'\t')),
            Form::Jsonl => Some(RowForm::Jsonl),
            Form::Md => Some(RowForm::Markdown),
            #[cfg(feature = "columnar")]
            Form::Parquet => Some(RowForm::Parquet),
            Form::Table | Form::Json | Form::Html | Form::Svg => None,
        }
    }
}
