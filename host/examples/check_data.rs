//! Compares our counts with those of independent programs on real graphs.
//!
//! `check_data [--quick]` reads `ground_truth.tsv` and the truth files beside it in the folder
//! `$GRAMER_DATA` (or `../shared/data`), mines every row whose task exists, and prints how many
//! rows were checked, passed and skipped, each skip with its reason. Exit code 1 if a count is
//! wrong; without the data nothing is checked, which fails if `GRAMER_REQUIRE_DATA=1`.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use gramer::cpu::Cpu;
use gramer::engine::{EngineExt, Outcome};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern::{Pattern, named, parse_pattern};
use gramer::task::{Induced, Mappings, Measure, SizeLimit};
use gramer::{Context, Graph, Task};
use gramer_testing::environment;
use gramer_testing::ground_truth;

/// Where each graph of the truth table is, and its labels where they are in their own file.
const GRAPHS: &[(&str, &str)] = &[
    ("as-caida20071105", "as-caida20071105.txt.zst"),
    ("ca-astroph", "ca-AstroPh.txt.zst"),
    ("cit-hepph", "cit-hepph.txt.zst"),
    ("citeseer", "citeseer.lg"),
    ("cnr-2000", "edges_directed.txt.zst"),
    ("ego-twitter", "ego-twitter.txt.zst"),
    ("email-enron", "email-enron.txt.zst"),
    ("email-eu-core", "email-Eu-core.csv.zst"),
    ("fb100-cornell5", "edges.txt.zst"),
    ("kg-FB15K237", "train2id.txt.zst"),
    ("kg-WN18", "train2id.txt.zst"),
    ("musae-facebook", "edges.csv.zst"),
    ("nr-bio-diseasome", "bio-diseasome.edges.zst"),
    ("p2p-gnutella04", "p2p-gnutella04.txt.zst"),
    ("p2p-gnutella08", "p2p-gnutella08.txt.zst"),
    ("p2p-gnutella31", "p2p-gnutella31.txt.zst"),
    ("polblogs", "polblogs.graph.zst"),
    ("power", "power.graph.zst"),
    ("rmat12", "rmat12.txt.zst"),
    ("rmat15", "rmat15.txt.zst"),
    ("sm-hprd", "HPRD.graph.zst"),
    ("sm-hprd-elabel", "HPRD_elabeled.txt.zst"),
    ("sm-wordnet", "wordnet.graph.zst"),
    ("sm-yeast", "yeast.graph.zst"),
    ("web-stanford", "edges_directed.txt.zst"),
    ("wiki-vote", "wiki-vote.txt.zst"),
];

/// Graphs that `--quick` leaves out: their larger tasks take more than moments.
const SLOW: &[&str] = &["cnr-2000", "web-stanford", "ego-twitter", "fb100-cornell5"];

/// The question of a row of the truth table, if gramer can answer it.
enum Question {
    Count { task: Task, pattern: Pattern },
    MaximalCliques(usize),
    Query(String),
    Skip(&'static str),
}

struct Checker {
    data: PathBuf,
    context: Context,
    quick: bool,
    graphs: HashMap<String, Graph>,
    outcomes: HashMap<(String, String), Outcome>,
    queries: HashMap<String, HashMap<String, Vec<u8>>>,
    checked: usize,
    failed: usize,
    skipped: BTreeMap<String, usize>,
}

fn main() -> Result<ExitCode> {
    let quick = std::env::args().any(|a| a == "--quick");
    let Some(data) = environment::data() else { return Ok(ExitCode::SUCCESS) };
    let begun = Instant::now();
    let mut checker = Checker {
        data,
        context: Context::default(),
        quick,
        graphs: HashMap::new(),
        outcomes: HashMap::new(),
        queries: HashMap::new(),
        checked: 0,
        failed: 0,
        skipped: BTreeMap::new(),
    };
    checker.truth_table()?;
    checker.supports()?;
    for (reason, rows) in &checker.skipped {
        println!("skipped {rows} rows: {reason}");
    }
    let skipped: usize = checker.skipped.values().sum();
    let passed = checker.checked - checker.failed;
    println!("{} rows checked in {:.1} s", checker.checked, begun.elapsed().as_secs_f64());
    println!("{passed} passed, {} failed, {skipped} skipped", checker.failed);
    Ok(if checker.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Checker {
    fn truth_table(&mut self) -> Result<()> {
        let text = std::fs::read_to_string(self.data.join("ground_truth.tsv"))?;
        let mut rows: Vec<Vec<&str>> =
            text.lines().skip(1).map(|l| l.split('\t').collect()).collect();
        // One graph after the other, so that each is loaded once.
        rows.sort_by_key(|row| row[0]);
        for row in rows {
            let [graph, task, value, source] = row[..] else {
                bail!("a row of {} fields", row.len())
            };
            let value: u128 = value.parse().with_context(|| format!("value {value}"))?;
            match self.row(graph, task, source).with_context(|| format!("{graph}, {task}"))? {
                Ok(ours) => self.compare(&format!("{graph}, {task}"), ours, value),
                Err(reason) => *self.skipped.entry(reason.into()).or_default() += 1,
            }
        }
        Ok(())
    }

    fn compare(&mut self, what: &str, ours: u128, truth: u128) {
        self.checked += 1;
        if ours != truth {
            self.failed += 1;
            println!("WRONG {what}: {ours}, but {truth} is right");
        }
    }

    /// Our count for a row, or why there is none.
    fn row(&mut self, graph: &str, task: &str, source: &str) -> Result<Result<u128, &'static str>> {
        let Some(&(_, file)) = GRAPHS.iter().find(|(name, _)| *name == graph) else {
            return Ok(Err("the graph isn't there"));
        };
        // Several copies of a graph were counted; the source says which.
        let copy = source.rsplit(' ').next().unwrap_or_default();
        let folder = self.data.join(graph);
        let file = match source.contains(" over ") {
            true if folder.join(copy).is_file() => copy.to_string(),
            true if folder.join(format!("{copy}.zst")).is_file() => format!("{copy}.zst"),
            true if copy.contains('*') => return Ok(Err("a binary format of another program")),
            _ => file.to_string(),
        };
        let question = question(task)?;
        if self.quick && SLOW.contains(&graph) {
            return Ok(Err("left out by --quick"));
        }
        Ok(match question {
            Question::Skip(reason) => Err(reason),
            Question::Count { task, pattern } => {
                let outcome = self.outcome(graph, &file, &task)?;
                let wanted = pattern.canonical().0;
                Ok(match task {
                    Task::Match { .. } => outcome.results[0].count,
                    _ => {
                        outcome.results.iter().find(|r| r.pattern == wanted).map_or(0, |r| r.count)
                    }
                })
            }
            Question::MaximalCliques(size) => {
                let outcome = self.outcome(graph, &file, &Task::MaximalCliques)?;
                Ok(outcome.results.get(size - 1).map_or(0, |r| r.count))
            }
            Question::Query(name) => {
                let pattern = self.query(graph, &name)?;
                let task = Task::Match {
                    pattern,
                    induced: Induced::Edge,
                    mappings: Some(Mappings::Isomorphism),
                };
                Ok(self.outcome(graph, &file, &task)?.results[0].count)
            }
        })
    }

    fn outcome(&mut self, graph: &str, file: &str, task: &Task) -> Result<&Outcome> {
        let path = format!("{graph}/{file}");
        let key = (path.clone(), format!("{task:?}"));
        if !self.outcomes.contains_key(&key) {
            if !self.graphs.contains_key(&path) {
                self.graphs.clear();
                let read =
                    read_graph(&self.data.join(&path), &ReadOptions::default(), &self.context)?;
                let prepared = gramer::prepare::renumber(&read, &self.context)?;
                self.graphs.insert(path.clone(), prepared);
            }
            let begun = Instant::now();
            let outcome = Cpu.run(&self.graphs[&path], task, None, &self.context)?;
            let seconds = begun.elapsed().as_secs_f64();
            if seconds > 2.0 {
                println!("{path}, {}: {seconds:.1} s", task.name());
            }
            self.outcomes.insert(key.clone(), outcome);
        }
        Ok(&self.outcomes[&key])
    }

    /// A query of one of the query sets, by its path in the archive.
    fn query(&mut self, graph: &str, name: &str) -> Result<Pattern> {
        let set = name.split('/').next().unwrap_or_default();
        let archive = self.data.join(graph).join(format!("{set}.tar.zst"));
        let key = archive.display().to_string();
        if !self.queries.contains_key(&key) {
            let file = std::fs::File::open(&archive).with_context(|| key.clone())?;
            let mut files = HashMap::new();
            for entry in tar::Archive::new(zstd::Decoder::new(file)?).entries()? {
                let mut entry = entry?;
                let path = entry.path()?.display().to_string();
                let mut bytes = vec![];
                entry.read_to_end(&mut bytes)?;
                files.insert(path, bytes);
            }
            self.queries.insert(key.clone(), files);
        }
        let files = &self.queries[&key];
        let found = files.iter().find(|(path, _)| path.ends_with(name));
        let (path, bytes) = found.with_context(|| format!("{name} isn't in {key}"))?;
        Ok(parse_pattern(bytes, Path::new(path))?)
    }

    /// Minimum-image supports of the labelled patterns of citeseer.
    fn supports(&mut self) -> Result<()> {
        let path = self.data.join("ground_truth_files/peregrine_cs-supports.txt");
        let text = std::fs::read_to_string(&path)?;
        let rows: Vec<(Pattern, u128)> = text.lines().map(support_row).collect::<Result<_>>()?;
        let edges = rows.iter().map(|(p, _)| p.edge_count()).max().unwrap_or(0);
        let (limit, measure) = (SizeLimit::MaxEdges(edges), Measure::Mni);
        let task = Task::Fsm { limit, support: 1, measure };
        let outcome = self.outcome("citeseer", "citeseer.lg", &task)?;
        let ours: HashMap<Pattern, u128> =
            outcome.results.iter().map(|r| (r.pattern.clone(), r.count)).collect();
        for (pattern, support) in rows {
            let (canonical, _) = pattern.canonical();
            let found = ours.get(&canonical).copied().unwrap_or(0);
            self.compare(
                &format!("citeseer, minimum-image support of {pattern:?}"),
                found,
                support,
            );
        }
        Ok(())
    }
}

/// A row such as `[1,0-2,2][1,0-3,2] 12`: edges between `vertex,label`, and the support.
fn support_row(line: &str) -> Result<(Pattern, u128)> {
    let (edges, support) = line.rsplit_once(' ').context("no support")?;
    let mut labels = BTreeMap::new();
    let mut pairs = vec![];
    for edge in edges.split_terminator(']') {
        let mut ends = vec![];
        for end in edge.trim_start_matches('[').split('-') {
            let (vertex, label) = end.split_once(',').context("no label")?;
            let vertex: usize = vertex.parse()?;
            labels.insert(vertex - 1, label.parse::<u32>()?);
            ends.push(vertex - 1);
        }
        pairs.push((ends[0], ends[1]));
    }
    let mut pattern = Pattern::from_edges(labels.len(), &pairs);
    for (vertex, label) in labels {
        pattern.set_vertex_label(vertex, label);
    }
    Ok((pattern, support.parse()?))
}

/// Understands a task of the truth table.
fn question(task: &str) -> Result<Question> {
    if let Some((task, pattern)) = ground_truth::counted(task)? {
        return Ok(Question::Count { task, pattern });
    }
    let matching = |name: &str| -> Result<Question> {
        let pattern = named(name).with_context(|| name.to_string())?;
        let task = Task::Match { pattern: pattern.clone(), induced: Induced::Edge, mappings: None };
        Ok(Question::Count { task, pattern })
    };
    let short = task.split(" (").next().unwrap_or(task);
    if let Some(size) = short.strip_prefix("maximal cliques of exactly ") {
        let size = size.split(' ').next().context("no size")?.parse()?;
        return Ok(Question::MaximalCliques(size));
    }
    if let Some(at) = task.find("queries_") {
        return Ok(Question::Query(task[at..].to_string()));
    }
    match short {
        "4-cycle" | "diamond" | "hourglass" => matching(short),
        "pentagon" => matching("5-cycle"),
        "subgraph count q1-triangle" => matching("triangle"),
        "subgraph count q2-square" => matching("4-cycle"),
        "subgraph count q3-chordal-square" => matching("diamond"),
        "subgraph count q4-4clique" => matching("4-clique"),
        "subgraph count q5-5clique" => matching("5-clique"),
        "subgraph count q7-2chordal-square" => {
            Ok(Question::Skip("the edges of the query q7-2chordal-square aren't given"))
        }
        _ => bail!("a task that isn't known"),
    }
}
