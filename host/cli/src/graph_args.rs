//! The options that say which graph, for every subcommand that reads one.

use crate::choice::choice;
use crate::cluster;
use crate::program::print_note;
use crate::report::Meter;
use std::path::{Path, PathBuf};

use crate::options::told;
use gramer_base::context::Context;
use gramer_base::error::{Place, Result};
use gramer_graph::read::{Columns, Format, GraphFile, Ids, ReadOptions, VertexTable, read};
use gramer_graph::{AskedOrder, Graph, Order};

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

    /// Column with one end of an edge: its name, or its number from 1 [default: by the usual names]
    #[arg(long, value_name = "COLUMN", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub source: Option<String>,

    /// Column with the other end
    #[arg(long, value_name = "COLUMN", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub target: Option<String>,

    /// Column with the label of an edge; in GraphML, GEXF, GML and JSON, an attribute of edges
    #[arg(long, value_name = "COLUMN", conflicts_with = "no_edge_labels", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub edge_label: Option<String>,

    /// Column with the weight of an edge: checked to be a number, and dropped, as no task takes weights
    #[arg(long, value_name = "COLUMN", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub weight: Option<String>,

    /// Column with the time of an edge, which is dropped: neither an end nor a label
    #[arg(long, value_name = "COLUMN", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub time: Option<String>,

    /// Ids of vertices: numbers, texts, or texts if any of them is not a number (auto)
    ///
    /// As numbers, 7 and 007 are one vertex; as texts they are two.
    #[arg(long, value_parser = choice::<Ids>(), default_value = "auto", value_name = "AS")]
    #[arg(help_heading = "Graph", hide_short_help = true, hide_possible_values = true)]
    pub ids: Ids,

    /// Read a file whose head claims other numbers of vertices or edges than follow
    #[arg(long, help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub allow_mismatch: bool,

    /// Vertex labels from a table with a row for each vertex
    ///
    /// The columns of ids and labels are found by the usual names, or named by --id and --label.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["labels", "no_vertex_labels"], help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub vertex_table: Option<PathBuf>,

    /// Column of the id in the table of vertices: its name, or its number from 1
    #[arg(long, value_name = "COLUMN", requires = "vertex_table", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub id: Option<String>,

    /// Column of the label in the table of vertices; in GraphML, GEXF, GML and JSON, an attribute of vertices
    #[arg(
        long,
        value_name = "COLUMN",
        conflicts_with = "no_vertex_labels",
        help_heading = "Graph"
    )]
    #[arg(hide_short_help = true)]
    pub label: Option<String>,

    /// Vertex labels: a line `id label` each
    ///
    /// Or one label per line, by id from 0.
    #[arg(long, value_name = "FILE", conflicts_with = "no_vertex_labels", help_heading = "Graph")]
    pub labels: Option<PathBuf>,

    /// Column of the label (from 1) in a table whose row i belongs to id i
    #[arg(long, value_name = "N", requires = "labels", help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub labels_column: Option<usize>,

    /// Ignore vertex labels
    #[arg(long, help_heading = "Graph")]
    #[arg(hide_short_help = true)]
    pub no_vertex_labels: bool,

    /// Ignore edge labels
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
            ids: self.ids,
            allow_mismatch: self.allow_mismatch,
            columns: Columns {
                source: self.source.clone(),
                target: self.target.clone(),
                edge_label: self.edge_label.clone(),
                label: self.label.clone().filter(|_| self.vertex_table.is_none()),
                weight: self.weight.clone(),
                time: self.time.clone(),
            },
            vertex_table: self.vertex_table.as_ref().map(|path| VertexTable {
                path: path.clone(),
                id: self.id.clone(),
                label: self.label.clone(),
            }),
            labels: self.labels.clone(),
            labels_column: self.labels_column,
            vertex_labels: !self.no_vertex_labels,
            edge_labels: !self.no_edge_labels,
            verify: !self.trust_image,
            max_vertices: self.max_graph_vertices,
            ..ReadOptions::default()
        }
    }

    /// Returns the input files.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        let files = [Some(&self.graph), self.labels.as_ref(), self.vertex_table.as_ref()];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Reads the graph and prints remarks about it to standard error.
    ///
    /// # Errors
    /// As [`read`].
    pub fn load(&self, context: &Context) -> Result<Graph> {
        Ok(self.load_with_notes(context)?.graph)
    }

    /// As [`GraphArgs::load`], with the format and size of the file.
    ///
    /// # Errors
    /// As [`read`].
    pub fn load_with_notes(&self, context: &Context) -> Result<GraphFile> {
        self.load_in(Order::Input.into(), context)
    }

    /// As [`GraphArgs::load_with_notes`], with the vertices in this order ([`ReadOptions::order`]).
    ///
    /// # Errors
    /// As [`read`].
    pub fn load_in(&self, order: AskedOrder, context: &Context) -> Result<GraphFile> {
        let meter = Meter::new("reading", context.progress.clone());
        let loaded = self.read_in(order, context);
        drop(meter);
        self.with_notes(loaded?)
    }

    /// As [`GraphArgs::load_in`], as a part of other work whose progress is shown.
    ///
    /// # Errors
    /// As [`read`].
    pub fn load_as_part(&self, order: AskedOrder, context: &Context) -> Result<GraphFile> {
        self.with_notes(self.read_in(order, context)?)
    }

    fn read_in(&self, order: AskedOrder, context: &Context) -> Result<GraphFile> {
        // Its bytes, then its rows.
        let _plan = context.progress.plan(|| vec![6.0, 4.0]);
        read(&self.graph, &ReadOptions { order, ..self.options() }, context)
    }

    fn with_notes(&self, mut loaded: GraphFile) -> Result<GraphFile> {
        loaded.notes.iter_mut().for_each(|note| *note = told(note));
        // All ranks read the same.
        let notes = if cluster::above_0().is_none() { &loaded.notes[..] } else { &[] };
        for note in notes {
            print_note(&format!("{}: {note}", Place::file(&self.graph)));
        }
        Ok(loaded)
    }
}
