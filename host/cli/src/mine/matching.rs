//! `gramer mine match`.

use crate::choice::choice;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::per::PerArgs;
use super::{Common, Options};
use crate::program::print_note;
use gramer_base::context::Cancel;
use gramer_base::error::{Place, Result};
use gramer_graph::Graph;
use gramer_pattern::task::{Induced, Mappings, Task};
use gramer_pattern::{Origin, PatternInput, read_pattern};

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine match --pattern house graph.txt\n  \
    gramer mine match --pattern 'a-b, b-c, c-d, a!-c' graph.txt\n  \
    gramer mine match --pattern 'a:3-[7]-b, b-c:*' labelled.lg\n  \
    gramer mine match --pattern query.graph data.graph --list found.tsv")]
pub struct Args {
    /// Name (triangle, K3,3), edges ('a-b, b-c') or file
    ///
    /// `gramer plan --list` lists the names. In a line of edges, a:3 is a vertex with the label 3, a-[7]-b an edge
    /// with the label 7, and a!-b a pair that must not be joined. A file holds t/v/e lines, edges, YAML or JSON; an
    /// existing file of that name takes precedence. `*` is any label. A pattern has 1 to 32 vertices.
    #[arg(long, short = 'p', value_name = "PATTERN")]
    pub pattern: PathBuf,

    /// Occurrences: vertex- or edge-induced
    ///
    /// vertex: with the pattern's edges alone; edge: possibly with more edges.
    #[arg(long, value_parser = choice::<Induced>(), default_value = "edge")]
    #[arg(hide_possible_values = true)]
    induced: Induced,

    #[command(flatten)]
    mappings: MappingsArgs,

    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,

    /// Parsed value of `pattern`.
    #[arg(skip)]
    input: OnceLock<PatternInput>,
}

/// The option for mappings.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct MappingsArgs {
    /// All mappings: isomorphism, homomorphism or edges
    ///
    /// Without it each occurrence counts once. A mapping gives each vertex of the pattern its image. isomorphism: different vertices have
    /// different images; homomorphism: vertices may coincide; edges: vertices may coincide, different edges may not.
    #[arg(long, value_name = "KIND", value_parser = choice::<Mappings>())]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "isomorphism")]
    #[arg(hide_possible_values = true)]
    pub mappings: Option<Mappings>,
}

impl Args {
    fn input(&self, cancel: &Cancel) -> Result<&PatternInput> {
        if let Some(input) = self.input.get() {
            return Ok(input);
        }
        let input = read_pattern(&self.pattern, cancel)?;
        if let Some(other) = input.other {
            print_note(&ambiguity(&self.pattern, other));
        }
        Ok(self.input.get_or_init(|| input))
    }

    fn question(&self, pattern: gramer_pattern::Pattern) -> Task {
        Task::Match { pattern, induced: self.induced, mappings: self.mappings.mappings }
    }
}

/// Note that an ambiguous argument was taken as a file.
pub fn ambiguity(path: &Path, other: Origin) -> String {
    let what = match other {
        Origin::Name => "the pattern of this name",
        _ => "the pattern that it spells",
    };
    format!("the pattern is read from the file {}, not {what}", Place::file(path))
}

impl Options for Args {
    fn task(&self, cancel: &Cancel) -> Result<Task> {
        Ok(self.question(self.input(cancel)?.pattern.clone()))
    }

    fn resolved(&self, graph: &Graph) -> Result<Option<Task>> {
        let Some(input) = self.input.get().filter(|input| !input.labels.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(self.question(input.resolve_in(graph)?)))
    }

    fn per(&self) -> Option<&PerArgs> {
        Some(&self.per)
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.pattern)
    }
}
