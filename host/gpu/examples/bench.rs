//! The speed of the GPU engine beside public CUDA programs: `make bench-gpu`.
//!
//! usage: bench DEVICE PEERS.csv RESULTS.json [--best N] [--classes W:LANES:ROOTS:TILE,…] [--tasks a,b,…]
//!        GRAPH...
//!
//! A row is a task on a graph that lies on the device: the time from the first command to the counts
//! in the host's memory, best of N runs after one that isn't counted. A graph is called by its file's
//! name up to the first dot. Beside it stands the shortest kernel time of PEERS with a right count, and
//! every count that PEERS has for a clique is compared.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use gramer_engine::{Engine, Outcome, Units};
use gramer_gpu::{ClassShape, Gpu, Settings};
use gramer_graph::context::Context;
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_pattern::task::{Induced, Task};

type Failure = Box<dyn std::error::Error>;

/// Tasks as PEERS calls them.
fn task(name: &str) -> Option<Task> {
    let k = || name[..1].parse::<usize>().ok();
    match name {
        "tc" => Some(Task::Clique { k: 3 }),
        "3mc" | "4mc" => Some(Task::Motif { k: k()?, induced: Induced::Vertex }),
        _ => {
            let k = name.strip_suffix("cl")?.parse().ok()?;
            Some(Task::Clique { k })
        }
    }
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

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let usage =
        "usage: bench DEVICE PEERS.csv RESULTS.json [--best N] [--classes …] [--tasks …] GRAPH...";
    let mut next = || words.next().ok_or(usage);
    let (device, peers_file, results) = (next()?, next()?, next()?);
    let (mut best, mut graphs) = (5u32, vec![]);
    let mut settings = Settings { cache: gramer_gpu::default_cache(), ..Settings::default() };
    let mut tasks: Vec<String> =
        ["tc", "3mc", "4cl", "5cl", "6cl", "7cl", "4mc"].map(String::from).into();
    while let Ok(word) = next() {
        match word.as_str() {
            "--best" => best = next()?.parse()?,
            "--classes" => settings.classes = next()?.split(',').map(ClassShape::parse).collect(),
            "--tasks" => tasks = next()?.split(',').map(String::from).collect(),
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
        let graph = read_graph(Path::new(path), &ReadOptions::default(), &context)?;
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
            println!(
                "{name:12} {label:5} {first:10.3} {least:10.3} {anchor:>10} {ratio:>7}  {who:8} {counted:?} {verdict}"
            );
            rows.push(format!(
                "  {{\"graph\": \"{name}\", \"task\": \"{label}\", \"first_ms\": {first:.4}, \"best_ms\": \
                 {least:.4}, \"anchor_ms\": {}, \"anchor\": \"{who}\", \"counts\": {counted:?}, \"verdict\": \
                 \"{verdict}\"}}",
                if peer.is_some() { anchor.as_str() } else { "null" },
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
    Ok(())
}
