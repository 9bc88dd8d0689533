//! The tasks of `ground_truth.tsv` that count one pattern.

use anyhow::{Context as _, Result};
use gramer_pattern::{Pattern, named};
use gramer_pattern::{Task, task::Induced};

/// The task that has the count among its results, and the pattern of it: `triangle`, `4-clique`,
/// `4-motif:diamond (vertex-induced)`, `5-motif:edges=0-1,0-2,0-3,1-4 (edge-induced)`. `None` if it is
/// of another kind.
///
/// # Errors
/// If a motif has a name or edges that aren't understood.
pub fn counted(task: &str) -> Result<Option<(Task, Pattern)>> {
    let short = task.split(" (").next().unwrap_or(task);
    if short == "triangle" {
        return Ok(Some((Task::Clique { k: 3 }, Pattern::clique(3))));
    }
    if let Some(k) = short.strip_suffix("-clique").and_then(|k| k.parse().ok()) {
        return Ok(Some((Task::Clique { k }, Pattern::clique(k))));
    }
    let Some((k, name)) = short.split_once("-motif:") else { return Ok(None) };
    let k = k.parse()?;
    let pattern = match name.split_once('=') {
        Some((_, edges)) => {
            let pairs: Vec<(usize, usize)> = edges
                .split(',')
                .map(|e| {
                    let (i, j) = e.split_once('-').context("no edge")?;
                    Ok((i.parse()?, j.parse()?))
                })
                .collect::<Result<_>>()?;
            Pattern::from_edges(k, &pairs)
        }
        None => named(name).with_context(|| name.to_string())?,
    };
    let vertex = task.contains("vertex-induced");
    let induced = if vertex { Induced::Vertex } else { Induced::Edge };
    Ok(Some((Task::Motif { k, induced }, pattern)))
}
