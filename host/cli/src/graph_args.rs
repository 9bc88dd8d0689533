//! The options that say which graph, for every subcommand that reads one.

use crate::choice::choice;
use crate::cluster;
use crate::command_line::print_note;
use crate::report::Meter;
use std::path::{Path, PathBuf};

use crate::options::told;
use gramer_graph::context::Context;
use gramer_graph::error::{Place, Result};
use gramer_graph::read::{Format, Loaded, ReadOptions, read};
use gramer_graph::{Graph, Order};

/// Which graph, and how to read it.
#[derive(Debug, Clone, clap::Args)]
pub struct GraphArgs {
    /// Graph file, plain, gzip or zstd; `-` is standard input
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,

    /// Format of the graph [default: detected from its content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub format: Option<Format>,

    /// Vertex labels: `id label` per line, or one label per line by id from 0
    #[arg(long, value_name = "FILE", conflicts_with = "no_vertex_labels", help_heading = "Graph")]
    pub labels: Option<PathBuf>,

    /// Column of the label (from 1) in a table whose row i belongs to id i
    #[arg(long, value_name = "N", requires = "labels", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub labels_column: Option<usize>,

    /// Leave vertex labels out
    #[arg(long, help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub no_vertex_labels: bool,

    /// Leave edge labels out
    #[arg(long, help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub no_edge_labels: bool,

    /// Refuse a graph of more vertices [default: a text may declare 1,048,576, or 16 for each edge]
    #[arg(long, value_name = "N", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub max_graph_vertices: Option<u64>,

    /// Don't check the data of an image (for images larger than memory that this machine wrote)
    #[arg(long, help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub trust_image: bool,
}

impl GraphArgs {
    /// The options for the reader.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            labels: self.labels.clone(),
            labels_column: self.labels_column,
            vertex_labels: !self.no_vertex_labels,
            edge_labels: !self.no_edge_labels,
            verify: !self.trust_image,
            max_vertices: self.max_graph_vertices,
            order: Order::Input,
        }
    }

    /// The files that are read.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.graph), self.labels.as_ref()].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Reads the graph and prints remarks about it to standard error.
    ///
    /// # Errors
    /// As [`read`].
    pub fn load(&self, context: &Context) -> Result<Graph> {
        Ok(self.load_with_notes(context)?.graph)
    }

    /// As [`GraphArgs::load`], with format and size of what was read.
    ///
    /// # Errors
    /// As [`read`].
    pub fn load_with_notes(&self, context: &Context) -> Result<Loaded> {
        self.load_in(Order::Input, context)
    }

    /// As [`GraphArgs::load_with_notes`], with the vertices in this order ([`ReadOptions::order`]).
    ///
    /// # Errors
    /// As [`read`].
    pub fn load_in(&self, order: Order, context: &Context) -> Result<Loaded> {
        let meter = Meter::new("reading", context.progress.clone());
        let loaded = self.read_in(order, context);
        drop(meter);
        self.with_notes(loaded?)
    }

    /// As [`GraphArgs::load_in`], as a part of other work whose progress is shown.
    ///
    /// # Errors
    /// As [`read`].
    pub fn load_as_part(&self, order: Order, context: &Context) -> Result<Loaded> {
        self.with_notes(self.read_in(order, context)?)
    }

    fn read_in(&self, order: Order, context: &Context) -> Result<Loaded> {
        // Its bytes, then its rows.
        let _plan = context.progress.plan(|| vec![6.0, 4.0]);
        read(&self.graph, &ReadOptions { order, ..self.options() }, context)
    }

    fn with_notes(&self, mut loaded: Loaded) -> Result<Loaded> {
        loaded.notes.iter_mut().for_each(|note| *note = told(note));
        // All ranks read the same.
        let notes = if cluster::above_0().is_none() { &loaded.notes[..] } else { &[] };
        for note in notes {
            print_note(&format!("{}: {note}", Place::file(&self.graph)));
        }
        Ok(loaded)
    }
}
