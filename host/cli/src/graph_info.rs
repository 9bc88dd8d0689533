//! `gramer graph info`: the size of a graph, and what was dropped when it was read.

use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::graph::grouped;
use super::graph_args::GraphArgs;
use super::limit::Threads;
use super::output::{Output, OutputArgs};
use crate::report::pretty;
use crate::report::symbols::seconds;
use gramer_base::context::Context;
use gramer_base::error::{Place, Result};
use gramer_graph::read::{Compression, Format};
use gramer_graph::{Summary, image};

/// Options of `gramer graph info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    pub(super) threads: Threads,

    #[command(flatten)]
    output: OutputArgs,
}

/// Output of `info`.
#[derive(Debug, Serialize)]
struct Info {
    graph: String,
    format: Format,
    compression: Compression,
    bytes: u64,
    /// Source of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    made_from: Option<String>,
    seconds: f64,
    #[serde(flatten)]
    summary: Summary,
    notes: Vec<String>,
}

/// Runs `gramer graph info`.
pub(super) fn info(args: &InfoArgs, context: &Context) -> Result<()> {
    let start = Instant::now();
    let loaded = args.graph.load_with_notes(context)?;
    let seconds = start.elapsed().as_secs_f64();
    let made_from = match (loaded.format, loaded.compression) {
        (Format::Image, Compression::None) if args.graph.graph.is_file() => {
            image::name(&args.graph.graph)?
        }
        _ => None,
    };
    let info = Info {
        graph: args.graph.graph.to_string_lossy().into_owned(),
        format: loaded.format,
        compression: loaded.compression,
        bytes: loaded.bytes,
        made_from,
        seconds,
        summary: loaded.graph.guarded(|| Summary::new(&loaded.graph, &context.cancel))?,
        notes: loaded.notes,
    };
    super::print(|out| match args.output.output() {
        Output::Json => pretty(&info, out),
        Output::Table => out.write_all(info.table().as_bytes()),
    })
}

impl Info {
    fn table(&self) -> String {
        // All of it, so that a new field asks for its line.
        let Summary {
            vertices,
            edges,
            isolated,
            min_degree,
            mean_degree,
            max_degree,
            components,
            largest_component,
            vertex_labels,
            edge_labels,
            order,
            raw_edges,
            self_loops,
            duplicates,
            label_conflicts,
            memory_bytes,
        } = self.summary;
        let compression = match self.compression {
            Compression::None => "",
            Compression::Gzip => ", gzip",
            Compression::Zstd => ", zstd",
        };
        let labels = |count: u64| match count {
            0 => "none".to_string(),
            count => grouped(count),
        };
        let rate = self.bytes as f64 / 1e6 / self.seconds.max(1e-9);
        let rows = [
            ("graph", Place::file(&self.graph).to_string()),
            ("format", format!("{}{compression}", self.format)),
            ("made from", self.made_from.clone().unwrap_or_default()),
            ("vertices", grouped(vertices)),
            ("edges", grouped(edges)),
            ("vertices without edges", grouped(isolated)),
            (
                "degree: least, mean, most",
                format!("{}, {:.2}, {}", grouped(min_degree), mean_degree, grouped(max_degree)),
            ),
            ("components", grouped(components)),
            ("vertices of the largest", grouped(largest_component)),
            ("vertex labels", labels(vertex_labels)),
            ("edge labels", labels(edge_labels)),
            ("order of the vertices", order.to_string()),
            ("edges read", grouped(raw_edges)),
            ("self loops dropped", grouped(self_loops)),
            ("duplicates dropped", grouped(duplicates)),
            ("with another edge label", grouped(label_conflicts)),
            ("memory", format!("{:.1} MB", memory_bytes as f64 / 1e6)),
            ("read in", format!("{} ({rate:.0} MB/s)", seconds(self.seconds))),
        ];
        let lines = rows.iter().filter(|(_, value)| !value.is_empty());
        lines.map(|(name, value)| format!("{name:<28}{value}\n")).collect()
    }
}
