//! `gramer graph compress` and `restore`: cliques as vertices of their own.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::graph::{Target, grouped, save};
use super::graph_args::GraphArgs;
use super::limit::Threads;
use super::mine::Output;
use crate::report::pretty;
use crate::report::symbols::seconds;
use gramer_engine::compress::{self, Compressed};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Place, Result};
use gramer_graph::input::{Interruptible, open};
use gramer_graph::output::check_output;

/// Options of `gramer graph compress`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer graph compress graph.txt --cliques 5\n  \
    gramer graph compress graph.txt small.cliques --cliques 5\n  \
    gramer graph restore small.cliques graph.txt\n\n\
    A clique is replaced if more of its edges are in no other clique of that size than the new vertex\n\
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

    /// Replace a file that is there already
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(super) threads: Threads,

    /// How results are printed
    #[arg(long, value_enum, default_value = "table")]
    output: Output,
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

/// What `compress` prints.
#[derive(Debug, Serialize)]
struct Report {
    graph: String,
    k: usize,
    /// As text: there may be more than other programs' numbers hold.
    cliques: String,
    replaced: usize,
    score: u64,
    vertices: [usize; 2],
    edges: [usize; 2],
    seconds: f64,
}

impl Report {
    fn new(name: &Path, graph: &Graph, compressed: &Compressed, seconds: f64) -> Self {
        let Compressed { k, replaced, edges, .. } = compressed;
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
                "what was found goes to standard output: name a file for the compressed graph",
            ));
        }
    }
    let graph = args.graph.load(context)?;
    let begun = Instant::now();
    let (graph, compressed) = graph.guarded(|| {
        let compressed = compress::compress(&graph, args.cliques, context)?;
        Ok((&graph, compressed))
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    if let Some(out) = &args.out {
        graph.guarded(|| {
            save(out, args.force, context, |out| compress::write(out, graph, &compressed))
        })?;
    }
    let report = Report::new(&args.graph.graph, graph, &compressed, seconds);
    super::print(|out| match args.output {
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
        Some("-") => (Path::new("<stdin>"), Box::new(Interruptible::new(std::io::stdin(), cancel))),
        _ => {
            let refused = |e| Error::io(&args.file, "read", e);
            let file = open(&args.file).map_err(refused)?;
            if file.metadata().map_err(refused)?.is_dir() {
                let what = "is a folder, not a compressed graph";
                return Err(Error::input(Place::file(&args.file), what));
            }
            (&args.file, Box::new(Interruptible::new(file, cancel)))
        }
    };
    let graph = compress::read(BufReader::with_capacity(1 << 20, input), name, context)?;
    args.target.write(graph, &name.to_string_lossy(), context)
}
