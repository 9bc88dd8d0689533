//! Matching as GAMMA's Alg. 1 has it (Hu et al., section 4.3.1): the first vertex of the pattern, then one vertex
//! after the other, each next to the images of its neighbours. The pattern's other edges, labels and, if that is
//! asked for, missing edges are looked at while the table is extended.
//!
//! usage: matching DEVICE GRAPH --pattern FILE [--induced true] [--list N] [--memory SIZE]
//!        [--host-memory SIZE] [--spill FOLDER]

#[path = "common/mod.rs"]
mod common;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use gramer_base::context::Cancel;
use gramer_base::error::{Error, Result};
use gramer_gpu::primitives::{Filter, Mining, Table};
use gramer_graph::NO_LABEL;
use gramer_pattern::{Pattern, automorphism_count, read_pattern};

const USAGE: &str = "matching DEVICE GRAPH --pattern FILE [--induced true] [--list N] [--memory SIZE] \
                     [--host-memory SIZE] [--spill FOLDER]";

/// An order of the pattern's vertices in which each but the first has a neighbour before it: next comes the one
/// with the most.
fn order(pattern: &Pattern) -> Result<Vec<usize>> {
    if pattern.vertices() == 0 || !pattern.is_connected() {
        return Err(Error::usage("the pattern has to be connected and to have a vertex"));
    }
    let all = 0..pattern.vertices();
    let mut order: Vec<usize> =
        all.clone().max_by_key(|&v| pattern.degree(v)).into_iter().collect();
    while order.len() < all.len() {
        let known = |v: usize| order.iter().filter(|&&u| pattern.has_edge(u, v)).count();
        let rest = all.clone().filter(|v| !order.contains(v));
        order.extend(rest.max_by_key(|&v| (known(v), pattern.degree(v))));
    }
    Ok(order)
}

/// What the image of the vertex at a place of the order has to be.
fn filter(pattern: &Pattern, order: &[usize], at: usize, induced: bool) -> Filter {
    let v = order[at];
    let mut filter = Filter::degree_at_least(pattern.degree(v) as u32);
    if pattern.vertex_label(v) != NO_LABEL {
        filter = filter.and(Filter::label(pattern.vertex_label(v)));
    }
    for (place, &u) in order[..at].iter().enumerate() {
        match pattern.edge_label(u, v) {
            Some(label) => filter = filter.and(Filter::edge_label(place, label)),
            None if induced || pattern.is_absent(u, v) => {
                filter = filter.and(Filter::not_adjacent(place));
            }
            None => {}
        }
    }
    filter
}

/// Writes the number of mappings and of occurrences, then some mappings: for each vertex of the pattern its
/// image by the id that the file has.
pub fn run(words: &[String], out: &mut dyn Write) -> Result<()> {
    let arguments = common::Arguments::of(words, USAGE, &["pattern", "induced", "list"])?;
    let path: Option<PathBuf> = arguments.value("pattern")?;
    let path = path.ok_or_else(|| Error::usage(format!("--pattern is needed\nusage: {USAGE}")))?;
    let induced = arguments.value("induced")?.unwrap_or(false);
    let list: usize = arguments.value("list")?.unwrap_or(0);
    let pattern = read_pattern(&path, &Cancel::default())?.resolve(None, None)?;
    let order = order(&pattern)?;
    let (gpu, graph) = (arguments.gpu()?, arguments.graph()?);
    let mining = Mining::new(&gpu, &graph)?;
    let mut table = Table::vertices(&mining, &filter(&pattern, &order, 0, induced))?;
    // The last vertex is only counted where nothing is listed.
    let stored = if list == 0 { order.len() - 1 } else { order.len() };
    for at in 1..stored {
        table.extend_vertex(.., &filter(&pattern, &order, at, induced))?;
    }
    let mappings = match stored < order.len() && stored > 0 {
        true => table.count_extensions(.., &filter(&pattern, &order, stored, induced))?,
        false => table.len().into(),
    };
    common::say(out, &format!("mappings\t{mappings}"))?;
    common::say(out, &format!("occurrences\t{}", mappings / automorphism_count(&pattern)))?;
    for row in table.rows().take(list) {
        let row = row?;
        let mut images = vec![String::new(); row.len()];
        order
            .iter()
            .zip(row)
            .for_each(|(&v, image)| images[v] = graph.original_id(image).to_string());
        common::say(out, &images.join(" "))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    common::ends(run)
}
