//! How fast query sets are matched: CPU seconds of one thread.
//!
//! `cargo bench --bench queries [-- [--seconds S] [--slowest N] [--first N] [FILTER…]]`: the sets
//! `queries_rapids` of sm-yeast, sm-hprd and sm-wordnet, 4 to 32 vertices a query, once up to 10^5
//! embeddings a query, as the literature does it, and once counting all. A query is given up after
//! S CPU seconds (10). Of each set the first N queries are taken (all). FILTER chooses by part of
//! `GRAPH/SET/MODE`, as in `sm-hprd/query_dense_8/all`. Needs the real graphs (`$GRAMER_DATA`).

#[path = "common/cpu_time.rs"]
mod cpu_time;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use gramer::cpu::Cpu;
use gramer::engine::{EngineExt, Sink};
use gramer::graph::VertexId;
use gramer::task::{Induced, Mappings};
use gramer::{Context, Graph, Pattern, Task};
use gramer_testing::environment;
use gramer_testing::query_sets;

/// Embeddings after which a query ends in the first mode.
const LIMIT: u64 = 100_000;

const SETS: &[(&str, &str)] = &[
    ("sm-yeast", "yeast.graph.zst"),
    ("sm-hprd", "HPRD.graph.zst"),
    ("sm-wordnet", "wordnet.graph.zst"),
];

struct Limit(AtomicU64);

impl Sink for Limit {
    fn embedding(&self, _: &Pattern, _: &[VertexId]) -> ControlFlow<()> {
        match self.0.fetch_add(1, Ordering::Relaxed) + 1 < LIMIT {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// What came out of a set.
#[derive(Default)]
struct Sum {
    queries: usize,
    seconds: f64,
    embeddings: u128,
    given_up: usize,
    slowest: Vec<(f64, String)>,
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|a| a != "--bench");
    let (mut patience, mut slowest, mut first, mut filters) = (10.0, 1, usize::MAX, vec![]);
    while let Some(word) = words.next() {
        let number = |next: Option<String>| {
            next.and_then(|n| n.parse().ok())
                .expect("--seconds, --slowest and --first take a number")
        };
        match word.as_str() {
            "--seconds" => patience = number(words.next()),
            "--slowest" => slowest = number(words.next()) as usize,
            "--first" => first = number(words.next()) as usize,
            _ => filters.push(word),
        }
    }
    let wanted =
        |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
    let Some(data) = environment::data() else { return };
    println!(
        "set                              queries  CPU s   given up  embeddings  slowest query"
    );
    for (folder, file) in SETS {
        let folder_path = data.join(folder);
        let graph = query_sets::graph(&folder_path.join(file));
        let mut sets: BTreeMap<(usize, String), Vec<(String, Pattern)>> = BTreeMap::new();
        let chosen = |name: &str| size(name).is_some();
        for (name, pattern) in
            query_sets::queries(&folder_path.join("queries_rapids.tar.zst"), chosen)
        {
            let set = name.rsplit_once('_').expect("a number").0.to_string();
            sets.entry((size(&name).expect("a size"), set)).or_default().push((name, pattern));
        }
        for queries in sets.values_mut() {
            queries.sort_by_key(|(name, _)| number_of(name));
            queries.truncate(first);
        }
        for mode in ["limit", "all"] {
            for ((_, set), queries) in &sets {
                let name = format!("{folder}/{set}/{mode}");
                if wanted(&name) {
                    report(&name, run(&graph, queries, mode == "limit", patience), slowest);
                }
            }
        }
    }
}

/// The number of vertices in `query_dense_16_7`.
fn size(name: &str) -> Option<usize> {
    name.split('_').nth(2)?.parse().ok()
}

/// How often it is looked how long a query has taken.
const LOOK: Duration = Duration::from_millis(5);

/// The system's account of the calling thread.
fn account() -> PathBuf {
    let thread = std::fs::read_link("/proc/thread-self").expect("a thread's account in /proc");
    Path::new("/proc").join(thread).join("schedstat")
}

/// CPU seconds of a thread so far.
fn spent(account: &Path) -> f64 {
    let told = std::fs::read_to_string(account).unwrap_or_default();
    told.split_whitespace().next().and_then(|ns| ns.parse().ok()).map_or(0.0, |ns: f64| ns / 1e9)
}

/// The 7 in `query_dense_16_7`.
fn number_of(name: &str) -> Option<usize> {
    name.rsplit_once('_')?.1.parse().ok()
}

fn run(graph: &Graph, queries: &[(String, Pattern)], limited: bool, patience: f64) -> Sum {
    let mut sum = Sum { queries: queries.len(), ..Sum::default() };
    for (name, pattern) in queries {
        let task = Task::Match {
            pattern: pattern.clone(),
            induced: Induced::Edge,
            mappings: Some(Mappings::Isomorphism),
        };
        let context = Context::with_threads(1);
        let cancel = context.cancel.clone();
        let (done, finished) = std::sync::mpsc::channel::<()>();
        let account = account();
        let begun = spent(&account);
        let watch = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(LOOK) {
                if spent(&account) - begun > patience {
                    return cancel.cancel();
                }
            }
        });
        let sink = Limit(AtomicU64::new(0));
        // One thread mines on the thread that asks.
        let before = cpu_time::of_thread();
        let outcome = Cpu
            .run(graph, &task, limited.then_some(&sink as &dyn Sink), &context)
            .expect("matches");
        let seconds = (cpu_time::of_thread() - before).as_secs_f64();
        let _ = done.send(());
        watch.join().expect("the watch");
        sum.given_up += usize::from(context.cancel.is_cancelled());
        sum.seconds += seconds;
        sum.embeddings += outcome.results[0].count;
        sum.slowest.push((seconds, name.clone()));
    }
    sum.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
    sum
}

fn report(name: &str, sum: Sum, slowest: usize) {
    let slow: Vec<String> =
        sum.slowest.iter().take(slowest).map(|(s, name)| format!("{name} {s:.3} s")).collect();
    println!(
        "{name:32} {:7} {:7.3} {:9} {:11.3e}  {}",
        sum.queries,
        sum.seconds,
        sum.given_up,
        sum.embeddings as f64,
        slow.join(", ")
    );
}
