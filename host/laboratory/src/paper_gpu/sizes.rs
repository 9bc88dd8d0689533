//! GAMMA, figures 16 and 31: sizes of embedding tables, by task, and before and after rows are dropped.

use std::cell::RefCell;
use std::time::Instant;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_gpu::primitives::{EdgeFilter, Key, Measure, Mining, Numbers, Table};
use gramer_gpu::{Gpu, Settings};
use gramer_graph::generate::{Model, Recipe, generate};
use gramer_graph::{Builder, Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};

use super::gamma::NAMED;
use super::inputs::with_labels;
use super::point::{Point, points_file};
use super::{Input, Lab};
use crate::paper::report::{Answer, Cases, Claim, Section};

/// Labels of vertices. Edges have one: with GSI's 100 kinds hardly a pattern is frequent.
const LABELS: u32 = 10;
/// Least supports: the number of edges divided by each of these.
const SUPPORTS: [u64; 3] = [100, 25, 10];
/// Edges of the largest patterns whose instances are rows of a table.
const LENGTH: usize = 2;
/// Part of a table's rows that may be left after a sharp fall.
const LEFT: f64 = 0.5;

/// Figure 31.
pub fn compression(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let mut cases = Cases::default();
    for base in &lab.labelled {
        let name = format!("{}, {LABELS} labels", base.name);
        let input = Input { name, graph: with_labels(&base.graph, LABELS, 1) };
        for each in SUPPORTS {
            let support = (input.graph.edges() as u64 / each).max(1);
            let rows = iterations(lab, &input, support)?;
            for [made, kept] in rows {
                // Without a frequent pattern it is no case.
                if kept.as_ref().is_none_or(|kept| kept.count > 0) {
                    let left =
                        made.zip(kept).map(|(made, kept)| kept.count as f64 / made.count as f64);
                    cases.add(left);
                }
            }
        }
    }
    let claim = Claim {
        place: "GAMMA, figure 31",
        claim: "each compression of a table makes it much smaller",
        bar: format!("if at most {LEFT} of the rows are left"),
        answer: Answer::Any(cases.finding(|left| left <= LEFT, 2, " of the rows")),
        why: format!(
            "frequent patterns by instances, of one and two edges, {LABELS} vertex labels, supports of 1, 4 and 10 % \
             of the edges; the paper's supports and sizes are in a drawing"
        ),
    };
    Ok(vec![Section {
        title: "GAMMA, figure 31: compression of embedding tables".into(),
        blocks: vec![points_file()],
        claims: vec![claim],
    }])
}

/// Rows by iteration: made by an extension, and kept once infrequent patterns are dropped.
fn iterations(lab: &Lab<'_>, input: &Input, support: u64) -> Result<Vec<[Option<Point>; 2]>> {
    let known: RefCell<Option<Vec<Iteration>>> = RefCell::default();
    let task = format!("patterns with {support} instances");
    let mut all = vec![];
    for length in 1..=LENGTH {
        let mut rows = [None, None];
        for (kept, word) in [(0, "made"), (1, "kept")] {
            let measure = |settings: &Settings, context: &Context| {
                let mut known = known.borrow_mut();
                if known.is_none() {
                    let gpu = Gpu::open(&lab.options.device, settings)?;
                    *known = Some(frequent(&gpu, &input.graph, support, context)?);
                }
                let of = known.iter().flatten().nth(length - 1).copied().unwrap_or_default();
                Ok(Point::of(of.seconds, of.rows[kept].into()))
            };
            // Numbers of rows differ, so that no two of them are compared.
            let setting = [(format!("iteration {length}, {word}"), Settings::default())];
            let points = lab.compare_by("figure 31", (&input.name, &task), &setting, &measure)?;
            rows[kept] = points.into_iter().next().flatten();
        }
        all.push(rows);
    }
    Ok(all)
}

/// Rows that an extension makes and that are kept, and the seconds that both take.
#[derive(Debug, Clone, Copy, Default)]
struct Iteration {
    rows: [u64; 2],
    seconds: f64,
}

/// Frequent patterns by instances (algorithm 2).
fn frequent(gpu: &Gpu, graph: &Graph, support: u64, context: &Context) -> Result<Vec<Iteration>> {
    let mining = Mining::with(gpu, graph, Numbers::default(), context)?;
    let mut begun = Instant::now();
    let mut table = Table::edges(&mining, &EdgeFilter::any())?;
    let mut all = vec![];
    loop {
        let made = table.len();
        let patterns = table.aggregate(&Key::Pattern, &Measure::Count)?;
        table.filter(&patterns.at_least(support.into()))?;
        all.push(Iteration { rows: [made, table.len()], seconds: begun.elapsed().as_secs_f64() });
        if all.len() == LENGTH || table.is_empty() {
            return Ok(all);
        }
        begun = Instant::now();
        table.extend_edge(&EdgeFilter::canonical())?;
    }
}

/// R-MAT graphs of over 10^7 edges: scale, and edges of a vertex.
const LARGE: [(u32, u64); 3] = [(19, 32), (20, 16), (21, 8)];
const QUICK: [(u32, u64); 1] = [(6, 4)];

/// Figure 16.
pub fn memory(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let (mut frequent, mut cliques) = (Cases::default(), Cases::default());
    for &(scale, edge_factor) in if lab.options.quick { &QUICK[..] } else { &LARGE[..] } {
        let name = format!("rmat{scale} of {edge_factor}, {LABELS} labels");
        // Nothing is generated where nothing is measured.
        let graph = match lab.options.verdicts {
            true => Builder::new().build(),
            false => labelled_rmat(scale, edge_factor, lab.context)?,
        };
        let input = Input { name, graph };
        let edges = counted(lab, &input, "edges", &|graph| graph.edges() as u128)?;
        let pairs = counted(lab, &input, "pairs of frequent edges", &pairs)?;
        let mut of_cliques = edges;
        for k in 3..=4 {
            let found = rows(lab, &input, &format!("cliques of {k}"), Task::Clique { k })?;
            of_cliques = sum(of_cliques, found);
        }
        // Patterns are matched one after the other.
        let mut of_matches = Some(0);
        for (pattern, vertices, edges) in NAMED {
            let mut own = Some(0);
            for n in 2..=vertices {
                let name = format!("{pattern}, first {n} vertices");
                own = sum(own, rows(lab, &input, &name, first(n, edges))?);
            }
            of_matches = of_matches.zip(own).map(|(most, own)| most.max(own));
        }
        let of_frequent = sum(edges, pairs);
        frequent.add(ratio(of_frequent, of_matches));
        cliques.add(ratio(of_cliques, of_frequent));
    }
    let claim = |claim, cases: &Cases, why: &str| Claim {
        place: "GAMMA, figure 16",
        claim,
        bar: "above 1 time".into(),
        answer: Answer::Any(cases.finding(|times| times > 1.0, 2, " times")),
        why: why.into(),
    };
    Ok(vec![Section {
        title: "GAMMA, figure 16: peak memory".into(),
        blocks: vec![points_file()],
        claims: vec![
            claim(
                "beyond 10^7 edges frequent patterns take more memory than matching",
                &frequent,
                "rows of all columns of the embedding tables, counted; patterns of two edges, support 1 % of the edges; \
                 the largest of three labelled patterns",
            ),
            claim(
                "and cliques more than frequent patterns",
                &cliques,
                "cliques of 4; the paper gives neither the length of its patterns nor their support",
            ),
        ],
    }])
}

const EXPERIMENT: &str = "rows of tables";

/// A number of rows that follows from the graph.
fn counted(
    lab: &Lab<'_>,
    input: &Input,
    name: &str,
    count: &dyn Fn(&Graph) -> u128,
) -> Result<Option<u128>> {
    let measure = |_: &Settings, _: &Context| {
        let begun = Instant::now();
        let rows = count(&input.graph);
        Ok(Point::of(begun.elapsed().as_secs_f64(), rows))
    };
    let setting = [("host".to_string(), Settings::default())];
    let points = lab.compare_by(EXPERIMENT, (&input.name, name), &setting, &measure)?;
    Ok(points[0].as_ref().map(|point| point.count))
}

/// A number of rows that a task counts.
fn rows(lab: &Lab<'_>, input: &Input, name: &str, task: Task) -> Result<Option<u128>> {
    let setting = [("device".to_string(), Settings::default())];
    let points = lab.compare(EXPERIMENT, input, (name, &[task]), &setting)?;
    Ok(points[0].as_ref().filter(|point| !point.stopped).map(|point| point.count))
}

fn sum(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    Some(a? + b?)
}

fn ratio(more: Option<u128>, less: Option<u128>) -> Option<f64> {
    Some(more? as f64 / less?.max(1) as f64)
}

/// The first vertices of a pattern with different labels, in order of frequency.
fn first(vertices: usize, edges: &[(usize, usize)]) -> Task {
    let edges: Vec<_> = edges.iter().copied().filter(|&(i, j)| i.max(j) < vertices).collect();
    let mut pattern = Pattern::from_edges(vertices, &edges);
    (0..vertices).for_each(|i| pattern.set_vertex_label(i, i as u32));
    Task::Match { pattern, induced: Induced::Edge, mappings: None }
}

/// Pairs of edges that share a vertex and whose patterns have 1 % of the edges each: rows of two columns once rows of
/// infrequent edges are dropped.
fn pairs(graph: &Graph) -> u128 {
    let view = graph.view();
    let labels = view.vertex_labels.unwrap_or_default();
    let label = |v: VertexId| labels.get(v as usize).copied().unwrap_or(0) as usize;
    let of = |v: VertexId| view.neighbours(v).iter().map(move |&u| [label(v), label(u)]);
    let vertices = 0..graph.vertices() as VertexId;
    let mut arcs = vec![[0u64; LABELS as usize]; LABELS as usize];
    vertices.clone().flat_map(of).for_each(|[from, to]| arcs[from][to] += 1);
    let least = graph.edges() as u64 / SUPPORTS[0];
    // An edge within a label is two arcs of the same kind.
    let frequent = |[from, to]: &[usize; 2]| arcs[*from][*to] >> u32::from(from == to) >= least;
    vertices
        .map(|v| of(v).filter(frequent).count() as u128)
        .map(|edges| edges * edges.saturating_sub(1) / 2)
        .sum()
}

fn labelled_rmat(scale: u32, edge_factor: u64, context: &Context) -> Result<Graph> {
    let model = Model::Rmat { scale, edge_factor, a: 0.57, b: 0.19, c: 0.19 };
    let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
    Ok(with_labels(&generate(&recipe, context)?, LABELS, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_frequent_edges_are_those_that_a_table_would_have() {
        // A star of 150 leaves with label 1, one of which has a leaf with label 2, and an edge of two labels 1.
        let mut builder = Builder::new();
        builder.labelled_vertex(0, 0);
        for leaf in 1..=150 {
            builder.labelled_vertex(leaf, 1);
            builder.labelled_edge(0, leaf, 0);
        }
        for (v, label) in [(151, 2), (152, 1), (153, 1), (154, 1)] {
            builder.labelled_vertex(v, label);
        }
        builder.labelled_edge(1, 151, 0);
        builder.labelled_edge(152, 153, 0);
        builder.labelled_edge(153, 154, 0);
        let graph = builder.build();
        // 153 edges: one instance is enough, so that all pairs count.
        assert_eq!(graph.edges(), 153);
        assert_eq!(pairs(&graph), 150 * 149 / 2 + 1 + 1);
        let larger: Vec<(u64, u64)> = (0..200).map(|i| (1000 + 2 * i, 1001 + 2 * i)).collect();
        let mut builder = Builder::new();
        for v in [0, 1, 2, 3] {
            builder.labelled_vertex(v, 5);
        }
        for (v, u) in larger {
            builder.labelled_vertex(v, 3);
            builder.labelled_vertex(u, 4);
            builder.labelled_edge(v, u, 0);
        }
        for (v, u) in [(0, 1), (1, 2), (2, 3)] {
            builder.labelled_edge(v, u, 0);
        }
        // Of 203 edges a pattern needs two; the path's three are enough.
        assert_eq!(pairs(&builder.build()), 2);
    }

    #[test]
    fn first_vertices_have_the_edges_among_them() {
        let Task::Match { pattern, .. } = first(3, &[(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)])
        else {
            panic!("a match")
        };
        assert_eq!((pattern.vertices(), pattern.edges().len()), (3, 3));
        assert_eq!(pattern.vertex_label(2), 2);
    }
}
