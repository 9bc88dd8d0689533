//! Tasks by the names that PEERS and the command line have.

use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Measure, SizeLimit, Task};

/// A task by its name; cliques and motifs as PEERS calls them.
pub fn task(name: &str) -> Option<Task> {
    if name == "tc" {
        return Some(Task::Clique { k: 3 });
    }
    if let Some(edges) = name.strip_prefix("match:") {
        let pattern = pattern(edges)?;
        return Some(Task::Match {
            pattern,
            induced: Induced::Edge,
            mappings: Some(Mappings::Isomorphism),
        });
    }
    let fsm = |rest: &str, measure, limit: fn(usize) -> SizeLimit| {
        let (size, support) = rest.split_once(':')?;
        let (limit, support) = (limit(size.parse().ok()?), support.parse().ok()?);
        Some(Task::Fsm { limit, support, measure })
    };
    if let Some(rest) = name.strip_prefix("mni:") {
        return fsm(rest, Measure::Mni, SizeLimit::MaxEdges);
    }
    if let Some(rest) = name.strip_prefix("embeddings:") {
        return fsm(rest, Measure::Embeddings, SizeLimit::MaxVertices);
    }
    match name.strip_suffix("mc") {
        Some(k) => Some(Task::Motif { k: k.parse().ok()?, induced: Induced::Vertex }),
        None => Some(Task::Clique { k: name.strip_suffix("cl")?.parse().ok()? }),
    }
}

/// `0.5-1,1-2`: edges between vertices, of which the first has the label 5. (Tasks are parted by `;` where
/// one has a comma.)
fn pattern(edges: &str) -> Option<Pattern> {
    let vertex = |text: &str| -> Option<(usize, Option<u32>)> {
        match text.split_once('.') {
            Some((vertex, label)) => Some((vertex.parse().ok()?, Some(label.parse().ok()?))),
            None => Some((text.parse().ok()?, None)),
        }
    };
    let ends = |edge: &str| {
        let (u, v) = edge.split_once('-')?;
        Some([vertex(u)?, vertex(v)?])
    };
    let ends: Vec<[(usize, Option<u32>); 2]> = edges.split(',').map(ends).collect::<Option<_>>()?;
    let pairs: Vec<(usize, usize)> = ends.iter().map(|e| (e[0].0, e[1].0)).collect();
    let vertices = pairs.iter().map(|&(u, v)| u.max(v) + 1).max()?;
    let mut pattern = Pattern::from_edges(vertices, &pairs);
    for (vertex, label) in ends.into_iter().flatten() {
        if let Some(label) = label {
            pattern.set_vertex_label(vertex, label);
        }
    }
    Some(pattern)
}
