//! `gramer mine fsm`.

use super::{Common, Options};
use crate::choice::choice;
use gramer_base::context::Cancel;
use gramer_base::error::{Error, Result};
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

macro_rules! examples {
    () => {
        "  gramer mine fsm --max-vertices 3 --support 100 labelled.lg\n  \
         gramer mine fsm --measure mni --max-edges 3 --support 100 graph.txt --labels labels.txt"
    };
}

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(
    after_help = concat!("Examples:\n", examples!()),
    after_long_help = concat!("A pattern is frequent by embeddings if it has at least SUPPORT vertex-induced \
    embeddings\nand each of its connected induced sub-patterns with one vertex fewer is frequent. \
    It is frequent\nby mni if each of its vertices is mapped to at least SUPPORT different \
    vertices by its\nedge-induced occurrences, by transactions if at least SUPPORT graphs of the file \
    contain it,\nand by instances if at least SUPPORT sets of edges form it and some pattern with one \
    edge\nfewer is frequent.\n\nExamples:\n", examples!()),
    // Nothing is estimated here: these are refused, so they aren't offered.
    mut_arg("estimate", |arg| arg.hide(true)),
    mut_arg("seed", |arg| arg.hide(true))
)]
pub struct Args {
    /// Least support of a pattern: a whole number from 1 on
    #[arg(long, short = 's', value_name = "SUPPORT", value_parser = support)]
    support: u64,

    /// Largest number of vertices, 2 to 8 (3 by default)
    #[arg(long, value_name = "N", conflicts_with = "max_edges")]
    max_vertices: Option<usize>,

    /// Largest number of edges, 1 to 7 (measures mni, transactions and instances)
    #[arg(long, value_name = "N")]
    max_edges: Option<usize>,

    /// Support: embeddings, mni, transactions or instances
    ///
    /// mni is the minimum number of images of a vertex, transactions the number of graphs of the file, instances the
    /// number of sets of edges.
    #[arg(long, value_parser = choice::<Measure>(), default_value = "embeddings")]
    #[arg(hide_possible_values = true)]
    measure: Measure,

    /// Which occurrences count: those of the measure
    #[arg(long, value_parser = choice::<Induced>(), hide_short_help = true)]
    induced: Option<Induced>,

    #[command(flatten)]
    pub common: Common,
}

/// A support from the command line.
pub fn support(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let percent =
            if text.trim_end().ends_with('%') { ", not a share of the graph" } else { "" };
        format!("it must be a whole number from 1 on{percent}, for example --support 100")
    })
}

impl Options for Args {
    fn task(&self, _: &Cancel) -> Result<Task> {
        let limit = match (self.max_vertices, self.max_edges) {
            (None, Some(n)) => SizeLimit::MaxEdges(n),
            (n, _) => SizeLimit::MaxVertices(n.unwrap_or(3)),
        };
        let task = Task::Fsm { limit, support: self.support, measure: self.measure };
        match (self.induced, task.info().induced) {
            (Some(induced), Some(own)) if induced != own => Err(Error::usage(format!(
                "--induced {induced} contradicts this measure, which counts {own}-induced \
                 occurrences: measure embeddings is vertex-induced, the others are edge-induced"
            ))),
            _ => Ok(task),
        }
    }
}
