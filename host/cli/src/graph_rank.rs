//! `gramer graph rank`: ON_1, τ and the priority bounds, and what they are worth for a task.

use crate::choice::choice;
use std::io::Write;
use std::time::Instant;

use comfy_table::{CellAlignment, Table};
use serde::Serialize;

use super::graph_args::GraphArgs;
use super::output::{Output, OutputArgs};
use crate::report::pretty;
use crate::report::symbols::{new_table, seconds};
use crate::usage::threads;
use gramer_base::context::Context;
use gramer_base::counted::{counted, noun};
use gramer_base::error::{Error, Result};
use gramer_cpu::Cpu;
use gramer_engine::reference::{Comparison, accesses};
use gramer_graph::prepare::locality::{accuracy, share_of_first, share_of_most_accessed};
use gramer_graph::prepare::{Capacities, Priority, on_k};
use gramer_graph::{Graph, Order, VertexId};
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

/// The share of vertices in the paper's figure 8a.
const FIGURE_8_TOP: f64 = 0.05;

/// Options of `gramer graph rank`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer graph rank graph.txt\n  \
    gramer graph rank graph.txt --task motif:4 --top 1,5,10\n  \
    gramer graph rank labelled.lg --task fsm:3:100 --output json\n\n\
    Accesses are counted exactly by the paper's algorithm 1 (device reference), so a task takes \
    as\nlong as with that device. Iteration i extends embeddings of i vertices.")]
pub struct RankArgs {
    #[command(flatten)]
    graph: GraphArgs,

    /// Count the accesses of a task: clique:K, motif:K or fsm:VERTICES:SUPPORT
    #[arg(long, value_name = "TASK", value_parser = parse_task)]
    task: Option<Task>,

    /// Percentages of the vertices and edges to look at
    #[arg(long, value_name = "PERCENT,…", value_delimiter = ',', default_value = "1,5,10")]
    top: Vec<f64>,

    /// On-chip memory of the machine in bytes; the paper's has 6 MiB
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,

    /// Share of vertices and edges with high priority, 0 to 1; by the paper's equation if not given
    #[arg(long, value_name = "TAU")]
    tau: Option<f64>,

    /// Order in which algorithm 1 compares ids
    #[arg(long, value_parser = choice::<Comparison>(), default_value = "descending")]
    comparison: Comparison,

    /// Stop a task after this many embeddings
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    max_embeddings: u64,

    /// Worker threads for ON_k; 0 or auto is one for each core [default: auto]
    #[arg(long, short, value_name = "N", value_parser = threads)]
    pub(super) threads: Option<u16>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Understands `clique:5`, `motif:4` and `fsm:3:100`.
fn parse_task(text: &str) -> Result<Task, String> {
    let words: Vec<&str> = text.split(':').collect();
    let number = |word: &str| -> Result<u64, String> {
        word.parse().map_err(|_| format!("{word:?} is not a number"))
    };
    let task = match words[..] {
        ["clique", k] => Task::Clique { k: number(k)? as usize },
        ["motif", k] => Task::Motif { k: number(k)? as usize, induced: Induced::Vertex },
        ["fsm", vertices, support] => Task::Fsm {
            limit: SizeLimit::MaxVertices(number(vertices)? as usize),
            support: number(support)?,
            measure: Measure::Embeddings,
        },
        _ => return Err("a task is clique:K, motif:K or fsm:VERTICES:SUPPORT".into()),
    };
    task.check().map_err(|e| e.to_string())?;
    Ok(task)
}

#[derive(Serialize)]
struct Ranking {
    vertices: usize,
    edges: usize,
    on_1: Distribution,
    priority: Priority,
    heuristics: Vec<Heuristic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Locality>,
}

/// Skew of ON_1.
#[derive(Serialize)]
struct Distribution {
    largest: u128,
    median: u128,
    smallest: u128,
    /// Share of the edge entries in the lists of the top vertices, by percentage.
    top: Vec<Top>,
}

#[derive(Serialize)]
struct Top {
    percent: f64,
    vertices: usize,
    share_of_entries: f64,
}

#[derive(Serialize)]
struct Heuristic {
    k: usize,
    seconds: f64,
}

#[derive(Serialize)]
struct Locality {
    task: &'static str,
    seconds: f64,
    iterations: Vec<Iteration>,
}

#[derive(Serialize)]
struct Iteration {
    iteration: usize,
    vertex_accesses: u64,
    edge_accesses: u64,
    top: Vec<Shares>,
    /// By k: how much of the most accessed 5 % of the vertices ON_k's top 5 % holds.
    accuracy_of_on_k: Vec<f64>,
}

/// Shares of the accesses, 0 to 1.
#[derive(Serialize)]
struct Shares {
    percent: f64,
    most_accessed_vertices: f64,
    first_vertices_by_rank: f64,
    most_accessed_edges: f64,
    first_edges_by_rank: f64,
}

/// Runs the subcommand.
///
/// # Errors
/// Those of reading; [`Error::Usage`] for percentages out of range; [`Error::Unsupported`] for a
/// task with more embeddings than allowed.
pub fn rank(args: &RankArgs, context: &Context) -> Result<()> {
    if let Some(bad) = args.top.iter().find(|p| !(**p > 0.0 && **p <= 100.0)) {
        return Err(Error::usage(format!("--top is {bad}, but must be above 0 and at most 100")));
    }
    let graph = args.graph.load_in(Order::RankOn1.into(), context)?.graph;
    let ranking = graph.guarded(|| ranking(args, &graph, context))?;
    super::print(|out| match args.output.output() {
        Output::Json => pretty(&ranking, out),
        Output::Table => ranking.table(out),
    })
}

fn ranking(args: &RankArgs, graph: &Graph, context: &Context) -> Result<Ranking> {
    let view = graph.view();
    let machine = args.memory.map_or(Capacities::PAPER, Capacities::with_bytes);
    let priority = Priority::of(view, &machine, args.tau)?;
    let mut heuristics = vec![];
    let mut on = vec![];
    // Two and three hops away are only worth their time where they are compared.
    for k in 0..if args.task.is_some() { 4 } else { 2 } {
        let begun = Instant::now();
        on.push(on_k(view, k, context)?);
        heuristics.push(Heuristic { k, seconds: begun.elapsed().as_secs_f64() });
    }
    let task = match &args.task {
        Some(task) => Some(locality(args, graph, task, &on, context)?),
        None => None,
    };
    Ok(Ranking {
        vertices: graph.vertices(),
        edges: graph.edges(),
        on_1: distribution(graph, &on[1], &args.top),
        priority,
        heuristics,
        task,
    })
}

/// The graph is in the order of Rank(ON_1), so the top is the front.
fn distribution(graph: &Graph, on_1: &[u128], percentages: &[f64]) -> Distribution {
    let view = graph.view();
    let degrees: Vec<u64> =
        (0..graph.vertices() as VertexId).map(|v| view.degree(v) as u64).collect();
    let top = percentages.iter().map(|&percent| Top {
        percent,
        // At least one, as in `share_of_first`.
        vertices: ((graph.vertices() as f64 * percent / 100.0) as usize)
            .max(graph.vertices().min(1)),
        share_of_entries: share_of_first(&degrees, percent / 100.0),
    });
    Distribution {
        largest: on_1.first().copied().unwrap_or(0),
        median: on_1.get(on_1.len() / 2).copied().unwrap_or(0),
        smallest: on_1.last().copied().unwrap_or(0),
        top: top.collect(),
    }
}

fn locality(
    args: &RankArgs,
    graph: &Graph,
    task: &Task,
    on: &[Vec<u128>],
    context: &Context,
) -> Result<Locality> {
    let begun = Instant::now();
    let accesses = accesses(&Cpu, graph, task, args.comparison, args.max_embeddings, context)?;
    let seconds = begun.elapsed().as_secs_f64();
    let iterations = (1..accesses.vertices.len()).map(|i| {
        let (vertices, edges) = (&accesses.vertices[i], &accesses.edges[i]);
        let shares = args.top.iter().map(|&percent| Shares {
            percent,
            most_accessed_vertices: share_of_most_accessed(vertices, percent / 100.0),
            first_vertices_by_rank: share_of_first(vertices, percent / 100.0),
            most_accessed_edges: share_of_most_accessed(edges, percent / 100.0),
            first_edges_by_rank: share_of_first(edges, percent / 100.0),
        });
        Iteration {
            iteration: i,
            vertex_accesses: vertices.iter().sum(),
            edge_accesses: edges.iter().sum(),
            top: shares.collect(),
            accuracy_of_on_k: on.iter().map(|on| accuracy(on, vertices, FIGURE_8_TOP)).collect(),
        }
    });
    Ok(Locality { task: task.name(), seconds, iterations: iterations.collect() })
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

impl Ranking {
    fn table(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let on = &self.on_1;
        let vertices = counted(self.vertices, "vertex", "vertices");
        writeln!(out, "{vertices}, {}", counted(self.edges, "edge", "edges"))?;
        writeln!(
            out,
            "ON_1: largest {}, median {}, smallest {}",
            on.largest, on.median, on.smallest
        )?;
        for top in &on.top {
            let share = percent(top.share_of_entries);
            let Top { percent, vertices, .. } = top;
            writeln!(
                out,
                "  the top {percent} % ({}) {} {share} % of the edge entries",
                counted(*vertices, "vertex", "vertices"),
                noun(*vertices, "has", "have")
            )?;
        }
        let Priority { tau, vertex_bound, edge_bound } = self.priority;
        writeln!(
            out,
            "τ = {:.2} %: high priority are vertices below {vertex_bound} and edge entries below \
             {edge_bound}",
            100.0 * tau
        )?;
        for h in &self.heuristics {
            writeln!(out, "ON_{} computed in {}", h.k, seconds(h.seconds))?;
        }
        let Some(task) = &self.task else {
            return Ok(());
        };
        writeln!(out, "\naccesses of {} in % ({})", task.task, seconds(task.seconds))?;
        let mut table = new_table();
        table.set_header([
            "iteration",
            "top %",
            "vertices: best",
            "by ON_1",
            "edges: best",
            "by ON_1",
        ]);
        for i in &task.iterations {
            for s in &i.top {
                table.add_row([
                    i.iteration.to_string(),
                    s.percent.to_string(),
                    percent(s.most_accessed_vertices),
                    percent(s.first_vertices_by_rank),
                    percent(s.most_accessed_edges),
                    percent(s.first_edges_by_rank),
                ]);
            }
        }
        align(&mut table, 6);
        writeln!(out, "{table}")?;
        writeln!(out, "\nmost accessed 5 % of the vertices that ON_k's top 5 % holds, in %")?;
        let mut table = new_table();
        table.set_header(["iteration", "accesses", "ON_0", "ON_1", "ON_2", "ON_3"]);
        for i in &task.iterations {
            let accuracies = i.accuracy_of_on_k.iter().map(|&a| percent(a));
            let head = [i.iteration.to_string(), i.vertex_accesses.to_string()];
            table.add_row(head.into_iter().chain(accuracies));
        }
        align(&mut table, 6);
        writeln!(out, "{table}")
    }
}

fn align(table: &mut Table, columns: usize) {
    for at in 0..columns {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
