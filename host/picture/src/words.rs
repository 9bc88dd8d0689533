//! Questions and answers in words.

use gramer_pattern::labelled_name;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

/// The task in a line, with the question that it answers.
///
/// ```
/// use gramer_pattern::task::{Induced, Task};
///
/// let task = Task::Motif { k: 4, induced: Induced::Vertex };
/// assert_eq!(gramer_picture::words::question(&task), "motifs of 4 vertices, vertex-induced");
/// ```
pub fn question(task: &Task) -> String {
    let induced = format!("{}-induced", task.induced());
    match task {
        Task::Clique { k } => format!("cliques of {k} vertices ({induced})"),
        Task::CliqueSizes { smallest, largest } => {
            format!("cliques of {smallest} to {largest} vertices ({induced})")
        }
        Task::MaximumClique => format!("a largest clique ({induced})"),
        Task::MaximalCliques => format!("maximal cliques by size ({induced})"),
        Task::Motif { k, .. } => format!("motifs of {k} vertices, {induced}"),
        Task::Fsm { limit, support, measure } => {
            let limit = limited(limit);
            let measure = match measure {
                Measure::Embeddings => "embeddings",
                Measure::Mni => "minimum-image support",
            };
            format!(
                "frequent patterns of up to {limit}, at least {support} by {measure}, {induced}"
            )
        }
        Task::Match { mappings, .. } => {
            let what = if *mappings { "mappings" } else { "occurrences" };
            format!("{what} of a pattern, {induced}")
        }
    }
}

fn limited(limit: &SizeLimit) -> String {
    let (n, what, one) = match limit {
        SizeLimit::MaxVertices(n) => (*n, "vertices", "vertex"),
        SizeLimit::MaxEdges(n) => (*n, "edges", "edge"),
    };
    format!("{n} {}", if n == 1 { one } else { what })
}

/// What the numbers of an answer are: `count`, `support` or `mappings`.
pub fn counted(task: &Task) -> &'static str {
    match task {
        Task::Fsm { measure: Measure::Mni, .. } => "support",
        Task::Match { mappings: true, .. } => "mappings",
        _ => "count",
    }
}

/// The question as a heading.
pub(crate) fn heading(task: &Task) -> String {
    match task {
        Task::Clique { k } => format!("How many cliques of {k} vertices are there?"),
        Task::CliqueSizes { smallest, largest } => {
            format!("How many cliques of each size from {smallest} to {largest} are there?")
        }
        Task::MaximumClique => "How large is the largest clique?".into(),
        Task::MaximalCliques => "How many maximal cliques of each size are there?".into(),
        Task::Motif { k, .. } => format!("How often does each pattern of {k} vertices occur?"),
        Task::Fsm { limit, support, .. } => {
            let limit = limited(limit);
            format!("Which labelled patterns of up to {limit} have a support of {support} or more?")
        }
        Task::Match { pattern, mappings: false, .. } => {
            format!("How often does {} occur?", labelled_name(pattern))
        }
        Task::Match { pattern, .. } => {
            format!("How many mappings of {} are there?", labelled_name(pattern))
        }
    }
}

/// What exactly is counted.
pub(crate) fn meaning(task: &Task) -> &'static str {
    match (task, task.induced()) {
        (Task::Clique { .. } | Task::CliqueSizes { .. }, _) => {
            "A clique is a set of vertices each two of which are neighbours, counted once. \
             Vertex-induced and edge-induced are the same here."
        }
        (Task::MaximumClique, _) => {
            "A clique is a set of vertices each two of which are neighbours. One of those with the \
             most vertices was searched."
        }
        (Task::MaximalCliques, _) => {
            "A clique is a set of vertices each two of which are neighbours; it is maximal if no \
             other vertex is a neighbour of all of them."
        }
        (Task::Fsm { measure: Measure::Embeddings, .. }, _) => {
            "Vertex-induced, by embeddings: the support of a pattern is the number of sets of \
             vertices that it is made by with all edges between them. Each connected part with one \
             vertex fewer is frequent as well."
        }
        (Task::Fsm { .. }, _) => {
            "Edge-induced, by minimum image: the support of a pattern is the smallest number of \
             different vertices that one of its vertices stands for. An occurrence may have more \
             edges than the pattern."
        }
        (Task::Match { mappings: true, .. }, Induced::Vertex) => {
            "Vertex-induced: a mapping gives each vertex of the pattern another vertex of the \
             graph, with the pattern's edges between them and no others."
        }
        (Task::Match { mappings: true, .. }, Induced::Edge) => {
            "Edge-induced: a mapping gives each vertex of the pattern another vertex of the graph, \
             with the pattern's edges between them. There may be more edges."
        }
        (_, Induced::Vertex) => {
            "Vertex-induced: a set of vertices occurs as the one pattern that all edges between \
             them make, and counts once."
        }
        (_, Induced::Edge) => {
            "Edge-induced: a set of edges occurs as the pattern that it makes, and counts once. \
             There may be more edges between its vertices, so dense patterns hold sparser ones."
        }
    }
}
