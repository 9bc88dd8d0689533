//! The speed of the GPU engine beside public CUDA programs: `make bench-gpu`.
//!
//! usage: bench DEVICE PEERS.csv RESULTS.json [--best N] [--tasks a,b,…] [--strategy NAME] [--cpu]
//!        [--labels N] [--signatures] [--order-paper] [--classes W:LANES:ROOTS:TILE,…] [--checked] [--leave] GRAPH...
//!
//! Tasks: `tc`, `4cl` (cliques), `4mc` (motifs), `match:0-1,1-2` (mappings; with labels a vertex is
//! `0.LABEL`), `mni:EDGES:S` and `embeddings:VERTICES:S` (frequent patterns). `--labels` gives each vertex
//! one of N labels, by its number. `--cpu` runs the CPU engine as well, compares each count with its own, and
//! shows its time. `--leave` ends the process without closing the device.
//!
//! A row is a task on a graph that lies on the device: the time from the first command to the counts
//! in the host's memory, best of N runs after one that isn't counted. A graph is called by its file's
//! name up to the first dot. Beside it stands the shortest kernel time of PEERS with a right count, and
//! every count that PEERS has for a clique is compared.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use gramer_engine::cpu::Cpu;
use gramer_engine::{Engine, Outcome, Units};
use gramer_gpu::{ClassShape, Gpu, Order, Settings, Strategy};
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

type Failure = Box<dyn std::error::Error>;

/// A task by its name; cliques and motifs as PEERS calls them.
fn task(name: &str) -> Option<Task> {
    if name == "tc" {
        return Some(Task::Clique { k: 3 });
    }
    if let Some(edges) = name.strip_prefix("match:") {
        let pattern = pattern(edges)?;
        return Some(Task::Match { pattern, induced: Induced::Edge, mappings: true });
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

/// By task and graph: seconds of the best peer, its name, and the right count of a clique.
type Peers = BTreeMap<(String, String), (f64, String, Option<u128>)>;

/// The best peer by task and graph.
fn peers(path: &str) -> Result<Peers, Failure> {
    let mut best = Peers::new();
    for line in std::fs::read_to_string(path)?.lines().skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let [system, task, graph, kernel, _, _, "ok", _, count] = field[..] else { continue };
        let Ok(seconds) = kernel.parse::<f64>() else { continue };
        // These count wrongly on some graphs; their times are no measure there.
        if system.starts_with("gamma") || system.ends_with("asis") {
            continue;
        }
        let clique = task == "tc" || task.ends_with("cl");
        let count = if clique { count.parse().ok() } else { None };
        let row =
            best.entry((task.into(), graph.into())).or_insert((f64::MAX, String::new(), count));
        if clique && row.2 != count {
            return Err(format!("{path}: {task} {graph}: the peers disagree").into());
        }
        if seconds < row.0 {
            (row.0, row.1) = (seconds, system.into());
        }
    }
    Ok(best)
}

fn counts(outcome: &Outcome) -> Vec<u128> {
    outcome.results.iter().map(|r| r.count).collect()
}

unsafe extern "C" {
    /// Ends the process without what was registered for its end.
    fn _exit(code: i32) -> !;
}

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: bench DEVICE PEERS.csv RESULTS.json [OPTIONS] GRAPH...";
    let mut next = || words.next().ok_or(usage);
    let (device, peers_file, results) = (next()?, next()?, next()?);
    let (mut best, mut graphs) = (5u32, vec![]);
    let (mut labels, mut cpu, mut leave) = (0u32, false, false);
    let mut settings = Settings { cache: gramer_gpu::default_cache(), ..Settings::default() };
    let mut tasks: Vec<String> =
        ["tc", "3mc", "4cl", "5cl", "6cl", "7cl", "4mc"].map(String::from).into();
    while let Ok(word) = next() {
        match word.as_str() {
            "--best" => best = next()?.parse()?,
            "--classes" => settings.classes = next()?.split(',').map(ClassShape::parse).collect(),
            "--tasks" => {
                let text = next()?;
                let parting = if text.contains(';') { ';' } else { ',' };
                tasks = text.split(parting).map(String::from).collect();
            }
            "--strategy" => {
                let name = next()?;
                let found = Strategy::ALL.iter().find(|s| s.1 == name);
                settings.strategy = Some(found.ok_or("no such strategy")?.0);
            }
            "--signatures" => settings.steps.signatures = true,
            "--order-paper" => settings.steps.order = Order::Paper,
            "--labels" => labels = next()?.parse()?,
            "--cpu" => cpu = true,
            "--leave" => leave = true,
            "--checked" => settings.checked = true,
            _ => graphs.push(word),
        }
    }
    let peers = peers(&peers_file)?;
    let begun = Instant::now();
    let gpu = Gpu::open(&device, &settings)?;
    let opened = begun.elapsed();
    let found = gpu.found().clone();
    println!("{} on {}, driver {}", found.name, found.platform, found.driver);
    println!("opened in {:.1} ms", 1e3 * opened.as_secs_f64());
    println!(
        "{:12} {:5} {:>10} {:>10} {:>10} {:>7}  {:8} count",
        "graph", "task", "first ms", "best ms", "anchor ms", "ratio", "anchor"
    );
    let mut rows = vec![];
    let mut wrong = 0;
    for path in &graphs {
        let file = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = file.split('.').next().unwrap_or_default().to_string();
        let context = Context::default();
        let begun = Instant::now();
        let mut graph = read_graph(Path::new(path), &ReadOptions::default(), &context)?;
        if labels > 0 {
            // Scattered, and the same in each run.
            let label = |v: u32| (v.wrapping_mul(0x9e37_79b9) >> 16) % labels;
            let all = (0..graph.vertices() as u32).map(label).collect();
            graph = graph.with_vertex_labels(Some(all));
        }
        let read = begun.elapsed();
        let begun = Instant::now();
        let prepared = gpu.prepare(&graph, &context)?;
        println!(
            "{name}: {} vertices, {} edges; read in {:.1} ms, put on the device in {:.1} ms",
            graph.vertices(),
            graph.edges(),
            1e3 * read.as_secs_f64(),
            1e3 * begun.elapsed().as_secs_f64()
        );
        for (label, task) in tasks.iter().filter_map(|t| Some((t, task(t)?))) {
            let run = || -> Result<(f64, Outcome), Failure> {
                let begun = Instant::now();
                let outcome = prepared.run(&task, Units::All, None, &context)?;
                Ok((1e3 * begun.elapsed().as_secs_f64(), outcome))
            };
            let (first, outcome) = run()?;
            let mut least = f64::MAX;
            for _ in 0..best {
                let (took, again) = run()?;
                least = least.min(took);
                if counts(&again) != counts(&outcome) {
                    wrong += 1;
                    println!("{name} {label}: the counts of two runs differ");
                }
                // A row of seconds needs no repetition.
                if took > 3e3 {
                    break;
                }
            }
            let mut right = outcome.complete;
            let mut host = f64::NAN;
            if cpu {
                let begun = Instant::now();
                let by = Cpu.run(&graph, &task, None, &context)?;
                host = 1e3 * begun.elapsed().as_secs_f64();
                right &= by.results == outcome.results;
                let said = if right { "equal" } else { "DIFFERENT" };
                println!("{name} {label}: the CPU engine took {host:.3} ms; its answer is {said}");
                wrong += usize::from(!right);
            }
            let peer = peers.get(&(label.clone(), name.clone()));
            let counted = counts(&outcome);
            let verdict = match peer.and_then(|p| p.2) {
                Some(right) if counted != [right] => {
                    wrong += 1;
                    "WRONG"
                }
                Some(_) => "right",
                None => "",
            };
            let (anchor, ratio, who) = match peer {
                Some((seconds, who, _)) => {
                    let ms = 1e3 * seconds;
                    (format!("{ms:.3}"), format!("{:.2}", ms / least), who.as_str())
                }
                None => ("-".into(), "-".into(), ""),
            };
            let sum: u128 = counted.iter().sum();
            let shown = if counted.len() > 8 {
                format!("{} counts, sum {sum}", counted.len())
            } else {
                format!("{counted:?}")
            };
            println!(
                "{name:12} {label:5} {first:10.3} {least:10.3} {anchor:>10} {ratio:>7}  {who:8} {shown} {verdict}"
            );
            rows.push(format!(
                "  {{\"graph\": \"{name}\", \"task\": \"{label}\", \"first_ms\": {first:.4}, \"best_ms\": \
                 {least:.4}, \"anchor_ms\": {}, \"anchor\": \"{who}\", \"counts\": {counted:?}, \"cpu_ms\": {}, \"verdict\": \
                 \"{verdict}\"}}",
                if peer.is_some() { anchor.as_str() } else { "null" },
                if cpu { format!("{host:.3}") } else { "null".into() },
            ));
        }
    }
    let text = format!(
        "{{\"device\": {:?}, \"platform\": {:?}, \"driver\": {:?}, \"best_of\": {best}, \"rows\": [\n{}\n]}}\n",
        found.name,
        found.platform,
        found.driver,
        rows.join(",\n")
    );
    std::fs::write(&results, text)?;
    if wrong > 0 {
        return Err(format!("{wrong} counts are wrong").into());
    }
    if leave {
        // What the driver would do at the process' end isn't waited for.
        std::mem::forget(gpu);
        // SAFETY: it takes any number, and nothing here is needed any more.
        unsafe { _exit(0) };
    }
    Ok(())
}
