//! The rows of the matrix: tasks, forms of answers and graphs, with their answers by brute force.

use std::path::Path;

use gramer::Task;
use gramer::task::{Induced, Mappings, Measure, SizeLimit};
use gramer_testing::truth::{Counts, Small, occurring};

/// A task, by its name in the golden file, and as the command line says it.
pub struct Question {
    pub name: String,
    pub words: Vec<String>,
    pub task: Task,
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Count,
    List,
    PerVertex,
    PerEdge,
    Estimate,
    /// With a checkpoint, which keeps shares, stopped if it is slow enough, and continued.
    Kept,
}

impl Form {
    pub const ALL: [Form; 6] =
        [Form::Count, Form::List, Form::PerVertex, Form::PerEdge, Form::Estimate, Form::Kept];

    pub fn name(self) -> &'static str {
        match self {
            Form::Count => "count",
            Form::List => "list",
            Form::PerVertex => "per vertex",
            Form::PerEdge => "per edge",
            Form::Estimate => "estimate",
            Form::Kept => "checkpoint",
        }
    }
}

/// The supports that frequent patterns must have.
const SUPPORT: u64 = 3;

/// All tasks; patterns with labels are files of this folder.
pub fn questions(folder: &Path) -> Vec<Question> {
    let mut all = vec![];
    let mut add = |name: String, words: &str, task: Task| {
        let words = words.split(' ').map(String::from).collect();
        all.push(Question { name, words, task });
    };
    for k in 3..=6 {
        add(format!("clique {k}"), &format!("clique -k {k}"), Task::Clique { k });
    }
    let sizes = Task::CliqueSizes { smallest: 3, largest: 5 };
    add("clique 3 to 5".into(), "clique -k 3 --up-to 5", sizes);
    add("clique maximal".into(), "clique --maximal", Task::MaximalCliques);
    add("clique maximum".into(), "clique --maximum", Task::MaximumClique);
    for induced in [Induced::Vertex, Induced::Edge] {
        for k in 3..=6 {
            let words = format!("motif -k {k} --induced {induced}");
            add(format!("motif {k} {induced}"), &words, Task::Motif { k, induced });
        }
    }
    let fsm = |limit, measure| Task::Fsm { limit, support: SUPPORT, measure };
    let words = format!("fsm --support {SUPPORT} --max-vertices 3");
    let task = fsm(SizeLimit::MaxVertices(3), Measure::Embeddings);
    add("fsm embeddings 3 vertices".into(), &words, task);
    let words = format!("fsm --support {SUPPORT} --measure mni --max-vertices 3");
    let task = fsm(SizeLimit::MaxVertices(3), Measure::Mni);
    add("fsm mni 3 vertices".into(), &words, task);
    let words = format!("fsm --support {SUPPORT} --measure mni --max-edges 2");
    add("fsm mni 2 edges".into(), &words, fsm(SizeLimit::MaxEdges(2), Measure::Mni));
    for (name, induced, mappings) in [
        ("wedge", Induced::Edge, true),
        ("4-cycle", Induced::Edge, false),
        ("4-cycle", Induced::Vertex, false),
        ("house", Induced::Edge, false),
        ("labelled", Induced::Edge, false),
        ("labelled", Induced::Vertex, true),
    ] {
        let (file, pattern) = match name {
            "labelled" => {
                let path = folder.join("pattern.lg").to_str().expect("UTF-8").to_string();
                (path, labelled_pattern().pattern())
            }
            name => (name.into(), gramer::pattern::named(name).expect("a name")),
        };
        let every = if mappings { " --mappings" } else { "" };
        let words = format!("match --pattern {file} --induced {induced}{every}");
        let task =
            Task::Match { pattern, induced, mappings: mappings.then_some(Mappings::Isomorphism) };
        add(format!("match {name} {induced}{}", every.replace(" --", " ")), &words, task);
    }
    all
}

/// A path of three vertices of which the last may have any label, and one edge a label.
fn labelled_pattern() -> Small {
    let mut pattern = Small::from_edges(3, &[(0, 1), (1, 2)]);
    pattern.vertex_labels = Some(vec![0, 1, 0]);
    pattern
}

/// The six graphs by name.
pub fn graphs() -> Vec<(&'static str, Small)> {
    let clique = |vertices: std::ops::Range<usize>| {
        let pairs = vertices.clone().flat_map(move |u| (u + 1..vertices.end).map(move |v| (u, v)));
        pairs.collect::<Vec<_>>()
    };
    let cliques = [clique(0..5), clique(3..7), clique(6..10)].concat();
    let star: Vec<_> = (1..12).map(|leaf| (0, leaf)).chain([(1, 2), (3, 4)]).collect();
    let sides = (0..4).flat_map(|u| (4..9).map(move |v| (u, v)));
    let bipartite: Vec<_> = sides.filter(|(u, v)| (u + v) % 4 != 0).collect();
    let ring = (0..10).map(|v| (v, (v + 1) % 10));
    let ring: Vec<_> = ring.chain((0..6).map(|v| (v, v + 2))).collect();
    let mut labelled = Small::from_edges(10, &ring);
    labelled.vertex_labels = Some((0..10).map(|v| v % 3 % 2).collect());
    labelled.edge_labels = true;
    for (u, v, _) in labelled.edge_list() {
        let label = Some(((u + v) % 3 / 2) as u32);
        (labelled.edges[u][v], labelled.edges[v][u]) = (label, label);
    }
    let parts = [clique(0..3), clique(3..7), vec![(7, 8), (8, 9), (9, 10)]].concat();
    vec![
        ("bipartite", Small::from_edges(9, &bipartite)),
        ("cliques", Small::from_edges(10, &cliques)),
        ("disconnected", Small::from_edges(12, &parts)),
        ("edgeless", Small::new(5)),
        ("labelled", labelled),
        ("star", Small::from_edges(12, &star)),
    ]
}

/// Writes a graph (or a pattern) as a file that a user could have, and returns its path.
fn write(folder: &Path, name: &str, small: &Small) -> String {
    let edges = small.edge_list();
    let (ending, text) = match &small.vertex_labels {
        Some(labels) => {
            let vertices = labels.iter().enumerate().map(|(v, l)| format!("v {v} {l}\n"));
            let edges = edges.iter().map(|(u, v, label)| match small.edge_labels {
                true => format!("e {u} {v} {label}\n"),
                false => format!("e {u} {v}\n"),
            });
            ("lg", format!("t # 1\n{}", vertices.chain(edges).collect::<String>()))
        }
        None => {
            let head = "%%MatrixMarket matrix coordinate pattern symmetric";
            let (n, m) = (small.n(), edges.len());
            let lines = edges.iter().map(|(u, v, _)| format!("{} {}\n", v + 1, u + 1));
            ("mtx", format!("{head}\n{n} {n} {m}\n{}", lines.collect::<String>()))
        }
    };
    let path = folder.join(format!("{name}.{ending}"));
    std::fs::write(&path, text).expect("a file in a temporary folder");
    path.to_str().expect("UTF-8").into()
}

/// The graphs as files: name, graph, path. The pattern with labels is beside them.
pub fn files(folder: &Path) -> Vec<(&'static str, Small, String)> {
    write(folder, "pattern", &labelled_pattern());
    let file = |(name, small): (&'static str, Small)| {
        let path = write(folder, name, &small);
        (name, small, path)
    };
    graphs().into_iter().map(file).collect()
}

/// The answer to a task by brute force: patterns that occur, with their numbers.
pub fn by_force(task: &Task, small: &Small) -> Counts {
    let clique = |k: usize| {
        let pairs = (0..k).flat_map(|u| (u + 1..k).map(move |v| (u, v)));
        Small::from_edges(k, &pairs.collect::<Vec<_>>()).key()
    };
    let counts = match task {
        Task::Clique { k } => Counts::from([(clique(*k), small.cliques(*k))]),
        Task::CliqueSizes { smallest, largest } => {
            (*smallest..=*largest).map(|k| (clique(k), small.cliques(k))).collect()
        }
        Task::MaximalCliques => {
            small.maximal_cliques().into_iter().map(|(k, count)| (clique(k), count)).collect()
        }
        Task::MaximumClique => {
            let largest = small.maximal_cliques().into_keys().max().expect("a vertex");
            Counts::from([(clique(largest), 1)])
        }
        Task::Motif { k, induced: Induced::Vertex } => small.motifs_by_vertices(*k),
        Task::Motif { k, induced: Induced::Edge } => small.motifs_by_edges(*k),
        Task::Fsm { limit: SizeLimit::MaxVertices(n), support, measure: Measure::Embeddings } => {
            small.frequent_by_embeddings(*n, *support)
        }
        Task::Fsm { limit, support, .. } => {
            let (vertices, edges) = match limit {
                SizeLimit::MaxVertices(n) => (*n, n * (n - 1) / 2),
                SizeLimit::MaxEdges(n) => (n + 1, *n),
            };
            small.frequent_by_images(vertices, edges, *support)
        }
        Task::Match { pattern, induced, mappings } => {
            let pattern = Small::of_pattern(pattern);
            let (every, once) = small.matches(&pattern, *induced == Induced::Vertex);
            Counts::from([(pattern.key(), if mappings.is_some() { every } else { once })])
        }
        // Numbers with names are compared with their definitions in host/tests/numbers.rs.
        numbers => panic!("{numbers:?} counts no patterns"),
    };
    occurring(counts)
}
