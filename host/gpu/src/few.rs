//! Patterns of one vertex and lists of edges, which the host finds alone.

use gramer_graph::{Graph, Label, NO_LABEL, VertexId};
use gramer_pattern::Pattern;

use crate::plan::PlanWords;
use crate::resident::Resident;
use crate::search::Question;

/// The vertices that a pattern of one asks for.
pub(crate) fn vertices(
    resident: &Resident,
    graph: &Graph,
    pattern: &Pattern,
    question: &Question<'_>,
) -> (u128, bool) {
    let mut count = 0;
    for v in 0..graph.vertices() as VertexId {
        let wanted = pattern.vertex_label(0);
        if !question.counts(v, resident) {
            continue;
        }
        if wanted != NO_LABEL && graph.view().vertex_label(v) != wanted {
            continue;
        }
        count += 1;
        if question.sink.is_some_and(|s| s.embedding(question.given, &[v]).is_break()) {
            return (count, false);
        }
    }
    (count, true)
}

/// The edges that a pattern of one edge asks for, listed by the host.
pub(crate) fn edges(
    resident: &Resident,
    graph: &Graph,
    pattern: &Pattern,
    plan: &PlanWords,
    question: &Question<'_>,
) -> (u128, bool) {
    let (view, by) = (graph.view(), &resident.by);
    let ordered = plan.depths[1].below & 1 != 0;
    let fits = |wanted: Label, there: Label| wanted == NO_LABEL || wanted == there;
    let mut count = 0;
    for u in (0..graph.vertices() as VertexId).filter(|&u| question.counts(u, resident)) {
        for e in view.row(u) {
            let v = view.neighbours[e];
            let images = [u, v];
            let label = pattern.edge_label(0, 1).unwrap_or(NO_LABEL);
            let right = (0..2)
                .all(|d| fits(pattern.vertex_label(plan.order[d]), view.vertex_label(images[d])))
                && fits(label, view.edge_labels.map_or(0, |l| l[e]))
                && (!ordered || by.rank[v as usize] > by.rank[u as usize]);
            if !right {
                continue;
            }
            count += 1;
            let mut vertices = [0; 2];
            (0..2).for_each(|d| vertices[plan.order[d]] = images[d]);
            if question.sink.is_some_and(|s| s.embedding(question.given, &vertices).is_break()) {
                return (count, false);
            }
        }
    }
    (count, true)
}
