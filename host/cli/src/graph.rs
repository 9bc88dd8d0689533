//! `gramer graph info | convert | generate | rank | compress | restore`.

use crate::choice::choice;
use gramer_base::choice::Choice as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::graph_args::GraphArgs;
use super::graph_compress::{CompressArgs, RestoreArgs, compress, restore};
use super::graph_info::{InfoArgs, info};
use super::graph_rank::{RankArgs, rank};
use super::limit::{LimitArgs, Threads};
use crate::program::print_note;
use crate::report::Meter;
use gramer_base::context::Context;
use gramer_base::error::{Error, Place, Result};
use gramer_base::output::{check_output, is_one_file, write_output};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::prepare::renumber;
use gramer_graph::read::Format;
use gramer_graph::write::{remarks, write_labels, write_text};
use gramer_graph::{AskedOrder, Graph, Order, image, in_input_order};

/// The subcommands of `gramer graph`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show graph size and what the reader dropped
    Info(InfoArgs),
    /// Write a graph as a binary image or in another text format
    Convert(ConvertArgs),
    /// Make a random graph, the same one for the same seed on every machine
    Generate(GenerateArgs),
    /// Show which vertices and edges are valuable, and how well ON_k finds them
    Rank(RankArgs),
    /// Replace cliques by new vertices: a smaller graph with the same information
    Compress(CompressArgs),
    /// Restore a graph that was compressed
    Restore(RestoreArgs),
}

impl Command {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// What reading, making or writing the graph refuses.
    pub fn run(self, mut context: Context) -> Result<()> {
        let threads = match &self {
            Command::Info(args) => args.threads.threads,
            Command::Convert(args) => args.threads.threads,
            Command::Generate(args) => args.model.common().threads.threads,
            Command::Rank(args) => args.threads,
            Command::Compress(args) => args.threads.threads,
            Command::Restore(args) => args.threads.threads,
        };
        if let Some(threads) = threads {
            context.threads = threads.into();
        }
        match &self {
            Command::Info(args) => info(args, &context),
            Command::Convert(args) => convert(args, &context),
            Command::Generate(args) => make(args, &context),
            Command::Rank(args) => rank(args, &context),
            Command::Compress(args) => compress(args, &context),
            Command::Restore(args) => restore(args, &context),
        }
    }
}

/// A number with its thousands set apart.
pub(super) fn grouped(number: u64) -> String {
    gramer_picture::number::grouped(number.into())
}

/// Order of the vertices of a written graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    /// By Rank(ON_1), the order of mining
    Rank,
    /// As in the input, by ascending id
    Input,
}

/// Destination of a graph.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// File to write; `-` is standard output
    #[arg(value_name = "OUT", default_value = "-")]
    out: PathBuf,

    /// Format to write [default: by the ending of the file, else an edge list]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT")]
    to: Option<Format>,

    /// Order of the vertices [default: rank for images, input for text and for road-like graphs]
    #[arg(long, value_enum)]
    order: Option<OrderArg>,

    /// Compress the rows of an image: smaller, and decoded when it is opened
    #[arg(long)]
    compress: bool,

    /// Write the vertex labels here as well, as a table `id label`
    #[arg(long, value_name = "FILE")]
    labels_out: Option<PathBuf>,

    /// Replace existing files
    #[arg(long)]
    force: bool,
}

/// Options of `gramer graph convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    target: Target,

    #[command(flatten, next_help_heading = "Memory")]
    limit: LimitArgs,

    #[command(flatten)]
    threads: Threads,
}

fn convert(args: &ConvertArgs, context: &Context) -> Result<()> {
    args.target.check(&args.graph.inputs().collect::<Vec<_>>())?;
    if args.target.compress && args.limit.is_given() {
        let what = "--compress holds all rows in memory: leave it or --memory out";
        return Err(Error::usage(what));
    }
    let mut context = context.clone();
    let _keeper = args.limit.keep(&mut context)?;
    let _meter = Meter::new("converting", context.progress.clone());
    let _plan = context.progress.plan(|| vec![3.0, 1.0]);
    let graph = args.graph.load_as_part(args.target.order()?, &context)?.graph;
    let name = args.graph.graph.file_name().map(|n| n.to_string_lossy().into_owned());
    args.target.write(graph, &name.unwrap_or_default(), &context)
}

impl Target {
    /// Refuses outputs that would destroy something, and names that say no format.
    pub(super) fn check(&self, inputs: &[&Path]) -> Result<()> {
        check_output(&self.out, self.force, inputs)?;
        let format = self.format()?;
        if !format.is_written() {
            return Err(Error::usage(format!(
                "{}: graphs in the format {format} can be read, but not written: name another with --to",
                Place::file(&self.out)
            )));
        }
        if self.compress && format != Format::Image {
            return Err(Error::usage(format!(
                "{}: --compress needs an image: end the name with .gramer, or omit --compress",
                Place::file(&self.out)
            )));
        }
        let Some(labels) = &self.labels_out else { return Ok(()) };
        check_output(labels, self.force, inputs)?;
        if is_one_file(&self.out, labels) {
            let what = "graph and labels can't go to the same file";
            return Err(Error::usage(format!("{}: {what}", Place::file(labels))));
        }
        Ok(())
    }

    fn format(&self) -> Result<Format> {
        if let Some(format) = self.to {
            return Ok(format);
        }
        let extension = self.out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let Some(extension) = extension else { return Ok(Format::Edges) };
        Format::written_as(&extension).ok_or_else(|| {
            let written = Format::ALL.iter().filter_map(|(format, ..)| {
                Some(format!(".{} ({format})", format.extensions().first()?))
            });
            Error::usage(format!(
                "{}: the name doesn't say which format to write: end it with one of {}, or name a format with --to",
                Place::file(&self.out),
                written.collect::<Vec<_>>().join(", ")
            ))
        })
    }

    /// The order in which the graph is written.
    fn order(&self) -> Result<AskedOrder> {
        Ok(match (self.order, self.format()?) {
            (Some(OrderArg::Rank), _) => Order::RankOn1.into(),
            (None, Format::Image) => AskedOrder { order: Order::RankOn1, keep_local: true },
            (Some(OrderArg::Input), _) | (None, _) => Order::Input.into(),
        })
    }

    pub(super) fn write(&self, graph: Graph, name: &str, context: &Context) -> Result<()> {
        let format = self.format()?;
        let order = self.order()?;
        let graph = graph.guarded(|| match order.order {
            Order::RankOn1 if order.keep_local && graph.view().is_local() => Ok(graph.clone()),
            Order::RankOn1 => renumber(&graph, context),
            Order::Input => in_input_order(&graph, context),
        })?;
        if self.labels_out.is_some() && !graph.has_vertex_labels() {
            return Err(Error::usage("--labels-out is given, but the graph has no vertex labels"));
        }
        graph.guarded(|| self.save(&graph, name, format, context))
    }

    fn save(&self, graph: &Graph, name: &str, format: Format, context: &Context) -> Result<()> {
        // About as many bytes as it has in any format.
        context.progress.begin(8 * graph.vertices() as u64 + 12 * graph.edges() as u64);
        if self.compress {
            let rows = image::PackedRows::new(graph, &context.cancel)?;
            save(&self.out, self.force, context, |out| {
                image::write_packed_to(out, graph, &rows, name)
            })?;
        } else if format == Format::Image {
            save(&self.out, self.force, context, |out| image::write_to(out, graph, name))?;
        } else {
            for note in remarks(graph, format)? {
                if !(self.labels_out.is_some() && note.contains("no vertex labels")) {
                    print_note(&format!("{}: {note}", Place::file(&self.out)));
                }
            }
            save(&self.out, self.force, context, |out| write_text(out, graph, format))?;
        }
        match &self.labels_out {
            Some(path) => save(path, self.force, context, |out| write_labels(out, graph)),
            None => Ok(()),
        }
    }
}

/// Writes a file, whole or not at all; Ctrl-C stops it.
pub(super) fn save(
    path: &Path,
    force: bool,
    context: &Context,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let stoppable = |out: &mut dyn Write| write(&mut Stoppable { out, context });
    let written = write_output(path, force, stoppable);
    context.cancel.check()?;
    written
}

/// A stream that fails once the run is to stop, and shows how far it is.
struct Stoppable<'a> {
    out: &'a mut dyn Write,
    context: &'a Context,
}

/// Bytes that are written between looks at the flag: moments, on a slow disk too.
const AT_ONCE: usize = 1 << 20;

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.context.cancel.is_cancelled() {
            // The kind `Interrupted` would be tried again.
            return Err(io::Error::other("interrupted"));
        }
        let written = self.out.write(&bytes[..bytes.len().min(AT_ONCE)])?;
        self.context.progress.add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Options of `gramer graph generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[command(subcommand)]
    model: ModelArgs,
}

#[derive(Debug, Subcommand)]
enum ModelArgs {
    /// R-MAT (Kronecker): skewed degrees, as in web and social graphs
    Rmat {
        /// The graph has 2^SCALE vertices
        #[arg(long)]
        scale: u32,
        /// Edges drawn a vertex; loops and duplicates among them are dropped
        #[arg(long, default_value_t = 16)]
        edge_factor: u64,
        /// Probability of the upper left quadrant
        #[arg(long, default_value_t = 0.57)]
        a: f64,
        /// Probability of the upper right quadrant
        #[arg(long, default_value_t = 0.19)]
        b: f64,
        /// Probability of the lower left quadrant; the rest goes to the lower right one
        #[arg(long, default_value_t = 0.19)]
        c: f64,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Erdős–Rényi: every edge equally likely
    Er {
        /// Number of vertices
        #[arg(long)]
        vertices: u64,
        /// Number of edges: G(n, m)
        #[arg(long, required_unless_present = "probability")]
        edges: Option<u64>,
        /// Probability of each edge: G(n, p)
        #[arg(long, conflicts_with = "edges")]
        probability: Option<f64>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Barabási–Albert: new vertices prefer those with many edges
    Ba {
        /// Number of vertices
        #[arg(long)]
        vertices: u64,
        /// Edges of each new vertex
        #[arg(long)]
        edges_per_vertex: u64,
        #[command(flatten)]
        common: CommonArgs,
    },
}

#[derive(Debug, Args)]
struct CommonArgs {
    /// The same seed makes the same graph
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Give the vertices labels, 0 to N - 1
    #[arg(long, value_name = "N")]
    vertex_labels: Option<u32>,
    /// Give the edges labels, 0 to N - 1
    #[arg(long, value_name = "N")]
    edge_labels: Option<u32>,
    /// Zipf exponent of the labels: label i has weight (i + 1)^-S; 0 makes them equally likely
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    zipf: f64,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    threads: Threads,
}

impl ModelArgs {
    fn common(&self) -> &CommonArgs {
        match self {
            ModelArgs::Rmat { common, .. }
            | ModelArgs::Er { common, .. }
            | ModelArgs::Ba { common, .. } => common,
        }
    }
}

fn make(args: &GenerateArgs, context: &Context) -> Result<()> {
    let (model, common) = match &args.model {
        ModelArgs::Rmat { scale, edge_factor, a, b, c, common } => {
            let (scale, edge_factor) = (*scale, *edge_factor);
            (Model::Rmat { scale, edge_factor, a: *a, b: *b, c: *c }, common)
        }
        ModelArgs::Er { vertices, edges: Some(edges), common, .. } => {
            (Model::ErdosRenyiEdges { vertices: *vertices, edges: *edges }, common)
        }
        ModelArgs::Er { vertices, probability, common, .. } => {
            let p = probability.unwrap_or_default();
            (Model::ErdosRenyiProbability { vertices: *vertices, p }, common)
        }
        ModelArgs::Ba { vertices, edges_per_vertex, common } => {
            let (vertices, edges_per_vertex) = (*vertices, *edges_per_vertex);
            (Model::BarabasiAlbert { vertices, edges_per_vertex }, common)
        }
    };
    let labels = |count: Option<u32>| count.map(|count| Labels { count, exponent: common.zipf });
    let recipe = Recipe {
        model,
        seed: common.seed,
        vertex_labels: labels(common.vertex_labels),
        edge_labels: labels(common.edge_labels),
    };
    common.target.check(&[])?;
    let graph = generate(&recipe, context)?;
    common.target.write(graph, &format!("{model:?}, seed {}", common.seed), context)
}
