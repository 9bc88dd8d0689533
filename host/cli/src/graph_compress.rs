//! `gramer graph compress` and `restore`: cliques replaced by vertices.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::graph::{Target, grouped, save};
use super::graph_args::GraphArgs;
use super::limit::Threads;
use super::output::{Output, OutputArgs};
use crate::report::pretty;
use crate::report::symbols::seconds;
use gramer_base::context::Context;
use gramer_base::error::{Error, Place, Result};
use gramer_base::input::{InterruptibleReader, open};
use gramer_base::output::check_output;
use gramer_cpu::Cpu;
use gramer_engine::compress::{self, CompressionResult};
use gramer_graph::Graph;

/// Options of `gramer graph compress`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer graph compress graph.txt --cliques 5\n  \
    gramer graph compress graph.txt small.cliques --cliques 5\n  \
    gramer graph restore small.cliques graph.txt\n\n\
    A clique is replaced if it has more edges in no other clique of that size than the new vertex\n\
    and its edges cost (Ferraz et al., \"DuMato\", appendix A).")]
pub struct CompressArgs {
    #[command(flatten)]
    graph: GraphArgs,

    /// File to write; without one the graph is only measured
    #[arg(value_name = "OUT")]
    out: Option<PathBuf>,

    /// Vertices of a clique that is replaced, 4 to 16
    #[arg(long, value_name = "K")]
    cliques: usize,

    /// Replace an existing file
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(super) threads: Threads,

    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `gramer graph restore`.
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// Compressed graph; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    target: Target,

    #[command(flatten)]
    pub(super) threads: Threads,
}

/// Output of `compress`.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    k: usize,
    /// As text, since it may exceed the numbers of other programs.
    cliques: String,
    replaced: usize,
    score: u64,
    vertices: [usize; 2],
    edges: [usize; 2],
    seconds: f64,
}

impl Report {
    fn new(name: &Path, graph: &Graph, compressed: &CompressionResult, seconds: f64) -> Self {
        let CompressionResult { k, replaced, edges, .. } = compressed;
        Report {
            graph: name.to_string_lossy().into_owned(),
            k: *k,
            cliques: compressed.cliques.to_string(),
            replaced: replaced.len(),
            score: compressed.score,
            vertices: [graph.vertices(), graph.vertices() + replaced.len()],
            edges: [graph.edges(), edges.len() + k * replaced.len()],
            seconds,
        }
    }

    fn table(&self) -> String {
        let change = |[from, to]: [usize; 2]| {
            format!("{}, then {}", grouped(from as u64), grouped(to as u64))
        };
        let rows = [
            ("graph", Place::file(&self.graph).to_string()),
            ("vertices of a clique", self.k.to_string()),
            ("cliques", self.cliques.clone()),
            ("cliques replaced", grouped(self.replaced as u64)),
            ("fewer vertices and edges", grouped(self.score)),
            ("vertices", change(self.vertices)),
            ("edges", change(self.edges)),
            ("found in", seconds(self.seconds)),
        ];
        rows.iter().map(|(name, value)| format!("{name:<28}{value}\n")).collect()
    }
}

/// Runs `gramer graph compress`.
///
/// # Errors
/// What reading, counting or writing refuses.
pub fn compress(args: &CompressArgs, context: &Context) -> Result<()> {
    if let Some(out) = &args.out {
        check_output(out, args.force, &args.graph.inputs().collect::<Vec<_>>())?;
        if out.as_os_str() == "-" {
            return Err(Error::usage(
                "results go to standard output: name a file for the compressed graph",
            ));
        }
    }
    let graph = args.graph.load(context)?;
    if args.out.is_some() && graph.names().vertices.is_some() {
        let what = "the ids of the graph are names, and a compressed file holds numbers: write an image, whose rows \
                    --compress makes smaller (gramer graph convert --compress)";
        return Err(Error::Unsupported(what.into()));
    }
    let begun = Instant::now();
    let (graph, compressed) = graph.guarded(|| {
        let compressed = compress::compress(&Cpu, &graph, args.cliques, context)?;
        Ok((&graph, compressed))
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    if let Some(out) = &args.out {
        graph.guarded(|| {
            save(out, args.force, context, |out| compress::write(out, graph, &compressed))
        })?;
    }
    let report = Report::new(&args.graph.graph, graph, &compressed, seconds);
    super::print(|out| match args.output.output() {
        Output::Json => pretty(&report, out),
        Output::Table => out.write_all(report.table().as_bytes()),
    })
}

/// Runs `gramer graph restore`.
///
/// # Errors
/// What reading or writing refuses.
pub fn restore(args: &RestoreArgs, context: &Context) -> Result<()> {
    args.target.check(&[&args.file])?;
    let cancel = context.cancel.clone();
    let (name, input): (&Path, Box<dyn Read>) = match args.file.to_str() {
        Some("-") => {
            (Path::new("<stdin>"), Box::new(InterruptibleReader::new(std::io::stdin(), cancel)))
        }
        _ => {
            let refused = |e| Error::io(&args.file, "read", e);
            let file = open(&args.file).map_err(refused)?;
            if file.metadata().map_err(refused)?.is_dir() {
                let what = "is a folder, not a compressed graph";
                return Err(Error::input(Place::file(&args.file), what));
            }
            (&args.file, Box::new(InterruptibleReader::new(file, cancel)))
        }
    };
    let graph = compress::read(BufReader::with_capacity(1 << 20, input), name, context)?;
    args.target.write(graph, &name.to_string_lossy(), context)
}
