//! The example programs of the primitives against the CPU engine, with a budget that holds all and with one far
//! below what their tables need, with kernels that test their indices.

// Each program is a module here, with its own copy of the shared code.
#![allow(clippy::duplicate_mod)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_cpu::Cpu;
use gramer_engine::EngineExt;
use gramer_graph::Graph;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::read::{Format, ReadOptions, read_graph};
use gramer_graph::write::write_text;
use gramer_pattern::task::{Induced, Mappings, Measure, SizeLimit, Task};
use gramer_pattern::{automorphism_count, labelled_name, parse_pattern};

mod common;

#[allow(dead_code)]
#[path = "../examples/cliques.rs"]
mod cliques;
#[allow(dead_code)]
#[path = "../examples/frequent.rs"]
mod frequent;
#[allow(dead_code)]
#[path = "../examples/matching.rs"]
mod matching;
#[allow(dead_code)]
#[path = "../examples/motifs.rs"]
mod motifs;
#[allow(dead_code)]
#[path = "../examples/quasi_cliques.rs"]
mod quasi_cliques;
#[allow(dead_code)]
#[path = "../examples/sort.rs"]
mod sort;

/// Budgets: whole graphs and tables, and hardly more than the least that would do.
const BUDGETS: [&str; 2] = ["16M", "36K"];

type Program = fn(&[String], &mut dyn std::io::Write) -> Result<()>;

/// A graph in its own file.
struct Written {
    folder: tempfile::TempDir,
    graph: Graph,
}

impl Written {
    fn path(&self) -> PathBuf {
        let plain = self.graph.view().vertex_labels.is_none();
        self.folder.path().join(if plain { "graph.txt" } else { "graph.lg" })
    }
}

/// Random, with this many labels of vertices and of edges.
fn written(model: Model, labels: [u32; 2]) -> Written {
    let of = |count| (count > 0).then_some(Labels { count, exponent: 0.5 });
    let recipe =
        Recipe { model, seed: 4, vertex_labels: of(labels[0]), edge_labels: of(labels[1]) };
    let graph = generate(&recipe, &Context::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut text = vec![];
    let format = if labels == [0; 2] { Format::Edges } else { Format::Lg };
    write_text(&mut text, &graph, format).unwrap();
    let mut written = Written { folder, graph };
    std::fs::write(written.path(), text).unwrap();
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    written.graph = read_graph(&written.path(), &options, &Context::default()).unwrap();
    written
}

/// What a program says, at each budget the same; none without a device.
fn said(program: Program, graph: &Written, options: &[&str]) -> Option<String> {
    // Says why there is none.
    common::open(gramer_gpu::Settings::default())?;
    let device = std::env::var("GRAMER_GPU_DEVICE").unwrap_or_else(|_| "gpu:portable".into());
    let mut answers: Vec<String> = vec![];
    for budget in BUDGETS {
        let mut words = vec![device.clone(), graph.path().to_str().unwrap().into()];
        words.extend(options.iter().map(ToString::to_string));
        // The tables have no room in the host's memory either where the device has none.
        let host = if budget == BUDGETS[0] { "1G" } else { "4K" };
        for (name, value) in [("--memory", budget), ("--host-memory", host), ("--checked", "true")]
        {
            words.extend([name.into(), value.into()]);
        }
        words.extend(["--cache".into(), common::cache().to_str().unwrap().into()]);
        let mut out = vec![];
        program(&words, &mut out).unwrap();
        answers.push(String::from_utf8(out).unwrap());
    }
    assert_eq!(answers[0], answers[1], "the budgets differ");
    answers.pop()
}

fn right(graph: &Graph, task: &Task) -> Vec<(u128, gramer_pattern::Pattern)> {
    let outcome = Cpu.run(graph, task, None, &Context::default()).unwrap();
    assert!(outcome.complete);
    outcome.results.into_iter().map(|c| (c.count, c.pattern)).collect()
}

/// Lines of a number, a tab and what it is of.
fn lines(text: &str) -> BTreeMap<String, u128> {
    let of = |line: &str| {
        let (value, name) = line.split_once('\t').unwrap();
        (name.to_string(), value.parse().unwrap())
    };
    let all: Vec<(String, u128)> = text.lines().map(of).collect();
    let map: BTreeMap<String, u128> = all.iter().cloned().collect();
    assert_eq!(map.len(), all.len(), "a name stands twice");
    map
}

fn named(all: Vec<(u128, gramer_pattern::Pattern)>) -> BTreeMap<String, u128> {
    let some = all.into_iter().filter(|(count, _)| *count > 0);
    let of = |(count, pattern): (u128, gramer_pattern::Pattern)| {
        let pattern = pattern.canonical().0;
        (format!("{}\t{pattern:?}", labelled_name(&pattern)), count)
    };
    some.map(of).collect()
}

#[test]
fn cliques_motifs_and_quasi_cliques() {
    let graph = written(Model::Rmat { scale: 7, edge_factor: 5, a: 0.5, b: 0.2, c: 0.2 }, [0; 2]);
    for k in [3, 5] {
        let options = ["--k", &k.to_string()];
        let Some(text) = said(cliques::run, &graph, &options) else { return };
        let count = right(&graph.graph, &Task::Clique { k })[0].0;
        assert!(count > 50);
        assert_eq!(text.trim(), count.to_string(), "{k}");
    }
    let motifs = right(&graph.graph, &Task::Motif { k: 4, induced: Induced::Vertex });
    let text = said(motifs::run, &graph, &["--k", "4"]).unwrap();
    assert_eq!(lines(&text), named(motifs.clone()));
    // Five of six pairs.
    let text = said(quasi_cliques::run, &graph, &["--k", "4", "--density", "0.8"]).unwrap();
    let dense = motifs.iter().filter(|(_, pattern)| pattern.edge_count() >= 5);
    assert_eq!(text.trim(), dense.map(|(count, _)| count).sum::<u128>().to_string());
}

#[test]
fn matches_with_labels_and_without() {
    let model = || Model::BarabasiAlbert { vertices: 120, edges_per_vertex: 5 };
    let plain = written(model(), [0; 2]);
    let labelled = written(model(), [3, 2]);
    let square = "0 1\n1 2\n2 3\n3 0\n";
    let tailed = "t 4 4\nv 0 0\nv 1 1\nv 2 *\nv 3 0\ne 0 1 0\ne 1 2 *\ne 2 0 1\ne 2 3 *\n";
    for (graph, text) in [(&plain, square), (&labelled, tailed)] {
        let path = graph.folder.path().join("pattern");
        std::fs::write(&path, text).unwrap();
        let pattern = parse_pattern(text.as_bytes(), &path).unwrap();
        for induced in [Induced::Edge, Induced::Vertex] {
            let said_induced = (induced == Induced::Vertex).to_string();
            let options =
                ["--pattern", path.to_str().unwrap(), "--induced", &said_induced, "--list", "3"];
            let Some(text) = said_sorted(graph, &options) else { return };
            let task = Task::Match {
                pattern: pattern.clone(),
                induced,
                mappings: Some(Mappings::Isomorphism),
            };
            let count = right(&graph.graph, &task)[0].0;
            assert!(count > 20, "{count}");
            assert_eq!(text[0], format!("mappings\t{count}"));
            let occurrences = count / automorphism_count(&pattern);
            assert_eq!(text[1], format!("occurrences\t{occurrences}"));
            let counted = said(matching::run, graph, &options[..4]).unwrap();
            assert_eq!(counted.lines().next(), Some(text[0].as_str()));
        }
    }
}

/// The counts of a match; rows come in no order, so that budgets are compared by their number alone.
fn said_sorted(graph: &Written, options: &[&str]) -> Option<Vec<String>> {
    common::open(gramer_gpu::Settings::default())?;
    let device = std::env::var("GRAMER_GPU_DEVICE").unwrap_or_else(|_| "gpu:portable".into());
    let mut words = vec![device, graph.path().to_str().unwrap().into()];
    words.extend(options.iter().map(ToString::to_string));
    words.extend(["--memory".into(), BUDGETS[1].into(), "--checked".into(), "true".into()]);
    words.extend(["--cache".into(), common::cache().to_str().unwrap().into()]);
    let mut out = vec![];
    matching::run(&words, &mut out).unwrap();
    let text: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_string).collect();
    assert_eq!(text.len(), 5);
    let view = graph.graph.view();
    for row in &text[2..] {
        let row: Vec<u64> = row.split(' ').map(|id| id.parse().unwrap()).collect();
        let vertex = |id| graph.graph.original_ids().iter().position(|&o| o == id).unwrap() as u32;
        // Both patterns have the edges 0-1 and 1-2.
        for pair in row[..3].windows(2) {
            assert!(view.neighbours(vertex(pair[0])).contains(&vertex(pair[1])), "{row:?}");
        }
    }
    Some(text)
}

#[test]
fn frequent_patterns() {
    let graph = written(Model::BarabasiAlbert { vertices: 70, edges_per_vertex: 2 }, [3, 2]);
    let Some(text) = said(frequent::run, &graph, &["--support", "5", "--edges", "3"]) else {
        return;
    };
    let task = Task::Fsm { limit: SizeLimit::MaxEdges(3), support: 5, measure: Measure::Mni };
    let right = named(right(&graph.graph, &task));
    assert!(right.len() > 20, "{}", right.len());
    assert_eq!(lines(&text), right);
}

#[test]
fn arguments_that_are_wrong_are_refused() {
    let graph = written(Model::ErdosRenyiEdges { vertices: 8, edges: 12 }, [0; 2]);
    let path = graph.path().to_str().unwrap().to_string();
    for (program, options, said) in [
        (cliques::run as Program, &["--size", "3"][..], "--size is not an option"),
        (motifs::run, &["--k"][..], "--k needs a value"),
        (motifs::run, &["--k", "3", "--k", "4"][..], "given twice"),
        (motifs::run, &["--k", "many"][..], "--k can't be many"),
        (matching::run, &[][..], "--pattern is needed"),
        (quasi_cliques::run, &["--density", "2"][..], "--density is 0 to 1"),
        (frequent::run, &["--memory", "1T"][..], "--memory can't be 1T"),
    ] {
        let mut words = vec!["gpu:portable".to_string(), path.clone()];
        words.extend(options.iter().map(ToString::to_string));
        let error = program(&words, &mut vec![]).unwrap_err();
        assert!(
            error.to_string().contains(said) && error.to_string().contains("usage: "),
            "{error}"
        );
        assert_eq!(error.exit_code(), 2);
    }
    assert!(cliques::run(&["gpu".into()], &mut vec![]).is_err());
}

/// The program compares what the device says with a sort on the host.
#[test]
fn numbers_are_sorted_in_segments() {
    if common::open(gramer_gpu::Settings::default()).is_none() {
        return;
    }
    let device = std::env::var("GRAMER_GPU_DEVICE").unwrap_or_else(|_| "gpu:portable".into());
    let cache = common::cache().display().to_string();
    for options in [
        &["--different", "3000"][..],
        &["--different", "3000", "--memory", "64K"],
        &["--memory", "256K", "--host-memory", "0"],
    ] {
        let words = [device.as_str(), "20000", "--checked", "true", "--cache", &cache].into_iter();
        let words: Vec<String> = words.chain(options.iter().copied()).map(String::from).collect();
        let mut out = vec![];
        sort::run(&words, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let merged = !text.contains("\t1 segments\t0 merges\t");
        assert!(
            text.starts_with("20000 numbers\tdevice ") && merged == (options.len() > 2),
            "{text}"
        );
    }
    let words = [device.as_str(), "many"].map(String::from);
    let text = sort::run(&words, &mut vec![]).unwrap_err().to_string();
    assert!(text.contains("many is not a number") && text.contains("usage"), "{text}");
}
