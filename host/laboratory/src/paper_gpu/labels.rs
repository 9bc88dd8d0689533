//! GSI, figure 16, and SGSI, figure 17c: joins by number of labels and by size of the query.

use gramer_base::error::Result;
use gramer_gpu::{Ablation, Layers};

use super::gsi::{SIZE, joined};
use super::inputs::with_labels;
use super::point::{Point, points_file, speed_up};
use super::queries::{Queries, QuerySet};
use super::{Input, Lab};
use crate::paper::report::{Answer, Cases, Claim, Section};

/// Labels of the paper's benchmark by default, and numbers of labels that are tried.
const LABELS: u32 = 100;
const NUMBERS: [u32; 4] = [20, 50, 100, 200];
/// Vertices of a query where they vary.
const SIZES: [usize; 4] = [4, 8, 12, 15];

/// A difference beyond the spread of runs: two sessions differed by up to 1.12 times.
const CLEARLY: f64 = 1.25;

/// Points from the fewest to the most.
type Points = Vec<Option<Point>>;

/// Measures the queries of `size` vertices on a graph with these numbers of vertex and edge labels.
fn point(
    lab: &Lab<'_>,
    base: &Input,
    vertices: u32,
    edges: u32,
    size: usize,
) -> Result<Option<Point>> {
    let graph = with_labels(&base.graph, vertices, edges);
    let name = format!("{}, {vertices} and {edges} labels", base.name);
    let input = Input { name, graph };
    let mut set = QuerySet::of(size..=size);
    if lab.options.quick {
        set.number = QuerySet::QUICK.number;
    }
    let queries = Queries::of(lab, &input, &set)?;
    if queries.number == 0 {
        return Ok(None);
    }
    let name = format!("{} of {size} vertices", queries.name());
    let all = [joined("all", Ablation::default(), Layers::None)];
    let points = lab.compare("figure 16", &input, (&name, &queries.tasks), &all)?;
    Ok(points.into_iter().next().flatten())
}

/// How many times as fast the last point is as the first.
fn gain(points: &Points) -> Option<f64> {
    speed_up(points.first()?.as_ref(), points.last()?.as_ref())
}

/// Figures 16 and 17c.
pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let [mut by_vertex, mut by_edge, mut sharper, mut by_size] =
        [const { Cases { values: vec![], not_run: 0 } }; 4];
    let numbers = if lab.options.quick { &[2, 4][..] } else { &NUMBERS };
    let sizes = if lab.options.quick { &[3, 4][..] } else { &SIZES };
    let (labels, size) = match lab.options.quick {
        true => (4, 4),
        false => (LABELS, SIZE),
    };
    // Cases of rmat15 with few labels take minutes.
    for base in lab.labelled.iter().filter(|input| input.name != "rmat15") {
        let points: Result<Points> =
            numbers.iter().map(|&n| point(lab, base, n, labels, size)).collect();
        let vertices = gain(&points?);
        let points: Result<Points> =
            numbers.iter().map(|&n| point(lab, base, labels, n, size)).collect();
        let edges = gain(&points?);
        by_vertex.add(vertices);
        by_edge.add(edges);
        sharper.add(vertices.zip(edges).map(|(vertices, edges)| vertices.min(vertices / edges)));
        let points: Points =
            sizes.iter().map(|&n| point(lab, base, labels, labels, n)).collect::<Result<_>>()?;
        by_size.add(gain(&points).map(f64::recip));
    }
    let claim = |place, claim, bar: &str, cases: &Cases, why: &str| Claim {
        place,
        claim,
        bar: bar.into(),
        answer: Answer::Any(cases.finding(|times| times >= CLEARLY, 2, " times")),
        why: why.into(),
    };
    let bar = "1.25 times from 20 to 200 labels";
    let fall = "times fall with the number of vertex labels";
    let [first, second] = ["GSI, figure 16", "SGSI, figure 17c"];
    let of_labels = vec![
        claim(first, fall, bar, &by_vertex, "launches take most of a query's 2 to 4 ms"),
        claim(
            first,
            "times fall with the number of edge labels",
            bar,
            &by_edge,
            "100 vertex labels",
        ),
        claim(
            first,
            "they fall more with vertex labels",
            "1.25 times, and 1.25 times the second gain",
            &sharper,
            "–",
        ),
    ];
    let of_sizes = vec![
        claim(
            second,
            "times rise with the size of the query",
            "1.25 times from 4 to 15 vertices",
            &by_size,
            "100 labels each",
        ),
        claim(second, fall, "as in figure 16", &by_vertex, "–"),
    ];
    let section =
        |title: &str, claims| Section { title: title.into(), blocks: vec![points_file()], claims };
    Ok(vec![
        section("GSI, figure 16: number of labels", of_labels),
        section("SGSI, figure 17c: size of the query", of_sizes),
    ])
}
