//! Generated graphs: the core finds the counts of `sim/tests/generated.tsv`, in both orders of
//! comparison. They come from the CPU engine and were checked by a program that tries everything,
//! `tests/generated_bruteforce.py`.

mod support;

use std::collections::{BTreeMap, HashSet};

use gramer::accelerator::table::Table;
use gramer::graph::generate::{Labels, Model as Random, Recipe, generate};
use gramer::pattern::{Dictionary, Pattern};
use gramer::task::parts_reported;
use gramer_machine::Accelerator;
use gramer_sim::image::Csr;
use gramer_sim::model::Model;
use gramer_sim::run::{Application, DONE, Settings, Simulation, run, whole_units};
use support::{core, instance};

/// Embeddings by pattern, as the table names patterns.
type Counts = BTreeMap<String, u64>;

/// A row of the table.
struct Row {
    text: String,
    recipe: Recipe,
    task: String,
    k: u32,
    support: u64,
    counts: Counts,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(support::root().join("sim/tests/generated.tsv")).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(row).collect()
}

fn row(line: &str) -> Row {
    let columns: Vec<&str> = line.split('\t').collect();
    let [generator, parameters, seed, labels, task, k, support, counts] = columns[..] else {
        panic!("not 8 columns: {line}");
    };
    let words: Vec<&str> = parameters.split(' ').collect();
    let option = |name: &str| {
        let at = words.iter().position(|word| word.strip_prefix("--") == Some(name))?;
        Some(words[at + 1])
    };
    let number = |name: &str| option(name).unwrap().parse().unwrap();
    let model = match generator {
        "rmat" => {
            let (a, b, c) = (0.57, 0.19, 0.19);
            let scale = number("scale") as u32;
            Random::Rmat { scale, edge_factor: number("edge-factor"), a, b, c }
        }
        "er" => match option("probability") {
            Some(p) => Random::ErdosRenyiProbability {
                vertices: number("vertices"),
                p: p.parse().unwrap(),
            },
            None => {
                Random::ErdosRenyiEdges { vertices: number("vertices"), edges: number("edges") }
            }
        },
        "ba" => Random::BarabasiAlbert {
            vertices: number("vertices"),
            edges_per_vertex: number("edges-per-vertex"),
        },
        other => panic!("no generator {other}"),
    };
    let vertex_labels = labels.parse().ok().map(|count| Labels { count, exponent: 0.0 });
    let counts = counts.split(' ').filter(|&text| text != "none").map(|text| {
        let (pattern, count) = text.split_once('=').unwrap();
        (pattern.to_string(), count.parse().unwrap())
    });
    Row {
        text: line.to_string(),
        recipe: Recipe { model, seed: seed.parse().unwrap(), vertex_labels, edge_labels: None },
        task: task.to_string(),
        k: k.parse().unwrap(),
        support: support.parse().unwrap_or(0),
        counts: counts.collect(),
    }
}

/// The smallest adjacency bits of a pattern over all orders of its vertices, in hexadecimal.
fn smallest(pattern: &Pattern) -> String {
    fn orders(rest: &mut Vec<usize>, order: &mut Vec<usize>, each: &mut dyn FnMut(&[usize])) {
        if rest.is_empty() {
            each(order);
        }
        for at in 0..rest.len() {
            let v = rest.remove(at);
            order.push(v);
            orders(rest, order, each);
            order.pop();
            rest.insert(at, v);
        }
    }
    let mut least = u128::MAX;
    let mut all: Vec<usize> = (0..pattern.vertices()).collect();
    orders(&mut all, &mut vec![], &mut |order| least = least.min(pattern.permuted(order).bits()));
    format!("{least:x}")
}

/// A labelled pattern's kind and labels, a wedge's centre first, the others ascending.
fn labelled(pattern: &Pattern) -> String {
    let n = pattern.vertices();
    let mut labels: Vec<u32> = (0..n).map(|i| pattern.vertex_label(i)).collect();
    let kind = match (n, pattern.edge_count()) {
        (2, 1) => "edge",
        (3, 2) => "wedge",
        (3, 3) => "triangle",
        other => panic!("{other:?} vertices and edges"),
    };
    let fixed = usize::from(kind == "wedge");
    if kind == "wedge" {
        let centre = (0..n).find(|&i| pattern.degree(i) == 2).unwrap();
        labels.swap(0, centre);
    }
    labels[fixed..].sort_unstable();
    let labels: Vec<String> = labels.iter().map(u32::to_string).collect();
    format!("{kind}:{}", labels.join(","))
}

fn counts_of(a: &Accelerator, core: &mut Model, graph: &Csr, row: &Row, ascending: bool) -> Counts {
    let mut pass = |application, k, dictionary: &[u16], patterns: usize| {
        let settings = Settings {
            application,
            k,
            ascending,
            stealing: true,
            lru: false,
            slots: a.machine.slots,
            lambda_eighths: 8,
            tau: None,
            capacity: 1.0,
            on_chip: None,
            dictionary: dictionary.to_vec(),
            patterns: patterns.max(1) as u32,
            list: None,
            filter: vec![],
            select: false,
        };
        let simulation = Simulation { max_cycles: 10_000_000, ..Simulation::of(a) };
        let outcome = run(a, core, graph, &whole_units(graph), &settings, &simulation).unwrap();
        assert_eq!(outcome.status, DONE, "{}", row.text);
        outcome.counts
    };
    match row.task.as_str() {
        "clique" => Counts::from([("clique".into(), pass(Application::Clique, row.k, &[], 1)[0])]),
        "motif" => {
            let (dictionary, patterns) = support::motifs(row.k as usize);
            let counts = pass(Application::Motif, row.k, &dictionary, patterns as usize);
            let names = Dictionary::of(row.k as usize);
            let counts = names.patterns().iter().map(smallest).zip(counts);
            counts.filter(|&(_, count)| count > 0).collect()
        }
        "fsm" => {
            let labels: Vec<u32> = (0..1 << a.applications.label_bits).collect();
            let mut reported: HashSet<Pattern> = HashSet::new();
            let mut counts = Counts::new();
            for size in 2..=row.k {
                let wanted = |p: &Pattern| parts_reported(p, &reported);
                let bits = a.applications.label_bits;
                let n = labels.len();
                let table = Table::new(bits, n, Some(&labels), size as usize, &reported, &wanted);
                let found = pass(Application::Fsm, size, &table.dictionary, table.patterns.len());
                for (pattern, count) in table.patterns.into_iter().zip(found) {
                    if count >= row.support {
                        counts.insert(labelled(&pattern), count);
                        reported.insert(pattern);
                    }
                }
            }
            counts
        }
        other => panic!("no task {other}"),
    }
}

#[test]
fn generated_graphs_have_their_counts() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let rows = rows();
    assert!(rows.len() >= 20, "{} graphs", rows.len());
    let context = gramer::Context::with_threads(1);
    let mut core = instance(&library);
    for row in &rows {
        let loaded = generate(&row.recipe, &context).unwrap();
        let prepared = gramer::prepare::renumber(&loaded, &context).unwrap();
        let view = prepared.view();
        let graph = Csr {
            offsets: view.offsets.to_vec(),
            edges: view.neighbours.to_vec(),
            labels: view.vertex_labels.map(<[u32]>::to_vec).unwrap_or_default(),
        };
        for ascending in [false, true] {
            let counts = counts_of(&a, &mut core, &graph, row, ascending);
            assert_eq!(counts, row.counts, "{}, ascending {ascending}", row.text);
        }
    }
}
