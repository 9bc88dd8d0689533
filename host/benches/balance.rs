//! How evenly the CPU engine's threads share the work: CPU seconds of the busiest thread over the mean.
//!
//! `cargo bench --bench balance [-- [--speed-up] [--threads N] [FILTER…]]`: tasks that take seconds, on the real
//! graphs (`$GRAMER_DATA`), with 2 threads unless another number is given. FILTER chooses by part of
//! `GRAPH TASK`.
//!
//! With `--speed-up` it prints something else: the wall seconds of each task with one thread and with N (the least of
//! [`REPEAT`] runs) and their ratio, on the real graphs and on random ones, which it makes itself; reading, making and
//! ranking of graphs are not counted, all that follows is. The ratio of a task that takes one thread less than
//! [`LONG`] seconds is in brackets, and the last line is of the others. Where its CPU seconds are fewer than its wall
//! seconds, the machine had other work and the ratio says little. Both must give the same answer. Then follow, of one
//! more run that is looked at, the CPU seconds of all its threads and what follows below, *before and after* and *at
//! equal pace*. With `--copies` the last column is the machine's own limit: N times as many runs of one thread
//! each, all at once, over the time that they take beside that of one alone. Memory and caches that threads share
//! keep it below N. After `--seconds S` (240) no run is begun any more, and the rows that are left say so.
//!
//! The system's account of each thread is read every millisecond, so a thread's last millisecond may
//! be missing. *Before and after* is what the calling thread did itself, while no other worked: ranking is
//! done, but not the orientation.
//!
//! Threads take the next work unit when they are done with one. On a machine that is busy one of them may be held up
//! and so get less of the work, which leaves both at work to the end and says nothing of how the work is divided. What
//! does is how much is left when others have run out of it. So *at equal pace* adds up the CPU seconds of all threads
//! by how many there were meanwhile, divides each by that number, and the sum by the mean of all threads: the time that
//! the run takes if each thread has a processor for itself, in that which it takes if none ever waits for another. It
//! is the busiest thread over the mean where none is held up. *Busiest* is that of the seconds as they were: the busiest
//! threads of the phases, which follow each other, are added up, and so are the means.

#[path = "common/cpu_time.rs"]
mod cpu_time;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gramer::cpu::Cpu;
use gramer::engine::{Count, EngineExt};
use gramer::graph::generate::{Labels, Model, Recipe, generate};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare::renumber;
use gramer::task::{Induced, Mappings, Measure, SizeLimit};
use gramer::{Context, Graph, Pattern, Task};
use gramer_testing::environment;

/// CPU seconds of each thread of this process, by number.
fn accounts() -> BTreeMap<u32, f64> {
    let folder = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let account = |entry: std::fs::DirEntry| {
        let thread = entry.file_name().to_str()?.parse().ok()?;
        let told = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
        let nanoseconds: f64 = told.split_whitespace().next()?.parse().ok()?;
        Some((thread, nanoseconds / 1e9))
    };
    folder.filter_map(account).collect()
}

/// Threads that work at the same time, with the CPU seconds of each.
type Phase = BTreeMap<u32, f64>;

/// What looks at the threads have found.
#[derive(Default)]
struct Samples {
    phases: Vec<Phase>,
    /// By number of threads that worked together: the CPU seconds of all of them.
    together: BTreeMap<usize, f64>,
}

impl Samples {
    /// Takes one look into account: threads that follow when all of a phase have ended begin the next.
    fn look(&mut self, workers: BTreeMap<u32, f64>) {
        if workers.is_empty() {
            return;
        }
        let phases = &mut self.phases;
        if phases.last().is_none_or(|phase| workers.keys().all(|t| !phase.contains_key(t))) {
            phases.push(Phase::new());
        }
        let phase = phases.last_mut().expect("it was just pushed");
        let since = workers.iter().map(|(t, s)| s - phase.get(t).unwrap_or(&0.0)).sum::<f64>();
        *self.together.entry(workers.len()).or_default() += since;
        phase.extend(workers);
    }

    /// CPU seconds of all threads.
    fn sum(&self) -> f64 {
        self.phases.iter().flat_map(|phase| phase.values()).sum()
    }

    /// Those of the busiest thread over the mean of `threads` threads, over all phases.
    fn busiest(&self, threads: usize) -> f64 {
        let busiest = self.phases.iter().map(|phase| phase.values().copied().fold(0.0, f64::max));
        busiest.sum::<f64>() / (self.sum() / threads as f64)
    }

    /// The same if all threads had the same pace.
    fn at_equal_pace(&self, threads: usize) -> f64 {
        let each = self.together.iter().map(|(&workers, seconds)| seconds / workers as f64);
        each.sum::<f64>() / (self.sum() / threads as f64)
    }
}

/// A run that was looked at.
struct ObservedRun {
    looks: Samples,
    wall: f64,
    /// CPU seconds of the calling thread.
    own: f64,
}

impl ObservedRun {
    fn run(graph: &Graph, task: &Task, threads: usize) -> Self {
        let context = Context::with_threads(threads);
        let done = AtomicBool::new(false);
        // This thread, which asks, and those that were there before.
        let before = accounts();
        let begun = Instant::now();
        let looks = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let own = std::fs::read_link("/proc/thread-self").ok();
                let own = own.and_then(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
                let mut looks = Samples::default();
                while !done.load(Ordering::Relaxed) {
                    let mut workers = accounts();
                    workers
                        .retain(|thread, _| !before.contains_key(thread) && Some(*thread) != own);
                    looks.look(workers);
                    std::thread::sleep(Duration::from_millis(1));
                }
                looks
            });
            let outcome = Cpu.run(graph, task, None, &context).expect("an outcome");
            assert!(outcome.complete, "nothing interrupts it");
            done.store(true, Ordering::Relaxed);
            watch.join().expect("the watch")
        });
        let wall = begun.elapsed().as_secs_f64();
        let own = accounts().iter().filter_map(|(t, s)| Some(s - before.get(t)?)).sum();
        ObservedRun { looks, wall, own }
    }
}

fn measure(name: &str, graph: &Graph, task: &Task, threads: usize) {
    let ObservedRun { looks, wall, own } = ObservedRun::run(graph, task, threads);
    let (all, busiest, equal) = (looks.sum(), looks.busiest(threads), looks.at_equal_pace(threads));
    println!("{name:28} {threads:7} {wall:8.2} {all:15.2} {own:16.2} {busiest:18.3} {equal:13.3}");
}

/// Runs with many threads, of which the shortest counts.
const REPEAT: usize = 2;
/// Seconds of one thread from which on a ratio counts.
const LONG: f64 = 5.0;
/// Speed-up that one thread per core should reach, as a share of the cores: 12 with 16.
const SHARE: f64 = 0.75;

fn main() {
    let mut words = std::env::args().skip(1).filter(|a| a != "--bench");
    let (mut threads, mut filters, mut speed_up) = (2, vec![], false);
    let (mut copies, mut budget) = (false, 240.0);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--threads" => {
                let number = words.next().and_then(|n| n.parse().ok());
                threads = number.expect("--threads takes a number");
            }
            "--seconds" => {
                let number = words.next().and_then(|n| n.parse().ok());
                budget = number.expect("--seconds takes a number");
            }
            "--speed-up" => speed_up = true,
            "--copies" => copies = true,
            _ => filters.push(word),
        }
    }
    if speed_up {
        return speed_ups(threads, copies, budget, &filters);
    }
    let Some(data) = environment::data() else { return };
    let motif = |k| Task::Motif { k, induced: Induced::Vertex };
    let tasks: [(&str, &str, &str, Task); 9] = [
        ("ego-twitter", "ego-twitter.txt.zst", "6-clique", Task::Clique { k: 6 }),
        (
            "ego-twitter",
            "ego-twitter.txt.zst",
            "4-motif",
            Task::Motif { k: 4, induced: Induced::Vertex },
        ),
        (
            "ca-astroph",
            "ca-AstroPh.txt.zst",
            "5-motif",
            Task::Motif { k: 5, induced: Induced::Vertex },
        ),
        ("ego-twitter", "ego-twitter.txt.zst", "maximal", Task::MaximalCliques),
        ("web-stanford", "edges_directed.txt.zst", "4-clique", Task::Clique { k: 4 }),
        ("rmat15", "rmat15.txt.zst", "6-clique", Task::Clique { k: 6 }),
        ("email-enron", "email-enron.txt.zst", "5-motif", motif(5)),
        ("rmat15", "rmat15.txt.zst", "5-motif", motif(5)),
        ("wiki-vote", "wiki-vote.txt.zst", "6-motif", motif(6)),
    ];
    println!(
        "{:28} threads   wall s  threads' CPU s  before and after  busiest over mean  at equal pace",
        "graph and task"
    );
    for (folder, file, name, task) in tasks {
        let name = format!("{folder} {name}");
        if filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str())) {
            measure(&name, &graph(&data.join(folder).join(file)), &task, threads);
        }
    }
}

/// A graph, ranked.
fn graph(path: &Path) -> Graph {
    let context = Context::with_threads(1);
    let graph = read_graph(path, &ReadOptions::default(), &context).expect("a graph");
    renumber(&graph, &context).expect("not interrupted")
}

/// Where a graph comes from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// A file below the folder of the real graphs.
    File(&'static str),
    /// R-MAT with the probabilities of Graph500: log2 of the number of vertices, edges per vertex, and labels.
    Rmat(u32, u64, Option<Labels>),
    /// Each edge with this probability.
    Random(u64, f64),
    /// Barabási and Albert's model: vertices, edges per vertex.
    Preferential(u64, u64),
}

impl Origin {
    /// The graph, ranked; `None` if the real graphs aren't there.
    fn graph(self, context: &Context) -> Option<Graph> {
        let graph = match self {
            Origin::File(file) => {
                let path = environment::data()?.join(file);
                read_graph(&path, &ReadOptions::default(), context)
            }
            Origin::Rmat(scale, edge_factor, vertex_labels) => {
                let model = Model::Rmat { scale, edge_factor, a: 0.57, b: 0.19, c: 0.19 };
                generate(&Recipe { model, seed: 1, vertex_labels, edge_labels: None }, context)
            }
            Origin::Random(vertices, p) => {
                let model = Model::ErdosRenyiProbability { vertices, p };
                generate(
                    &Recipe { model, seed: 1, vertex_labels: None, edge_labels: None },
                    context,
                )
            }
            Origin::Preferential(vertices, edges_per_vertex) => {
                let model = Model::BarabasiAlbert { vertices, edges_per_vertex };
                generate(
                    &Recipe { model, seed: 1, vertex_labels: None, edge_labels: None },
                    context,
                )
            }
        };
        let graph = graph.expect("a graph");
        Some(renumber(&graph, context).expect("not interrupted"))
    }
}

/// The tasks of `--speed-up`, those on one graph together.
fn long_tasks() -> Vec<(&'static str, Origin, &'static str, Task)> {
    let motif = |k| Task::Motif { k, induced: Induced::Vertex };
    let fsm = |max_vertices, support, measure| Task::Fsm {
        limit: SizeLimit::MaxVertices(max_vertices),
        support,
        measure,
    };
    // Two 4-cycles that share an edge, with a diagonal, and two leaves.
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 4), (4, 5), (5, 2), (0, 2), (3, 6), (5, 7)];
    let mut ladder = Pattern::from_edges(8, &edges);
    (0..8).for_each(|v| ladder.set_vertex_label(v, v as u32 % 4));
    let ladder = Task::Match {
        pattern: ladder,
        induced: Induced::Vertex,
        mappings: Some(Mappings::Isomorphism),
    };
    let labels = |count| Some(Labels { count, exponent: 0.0 });
    let (rmat15, wiki) = ("rmat15/rmat15.txt.zst", "wiki-vote/wiki-vote.txt.zst");
    let stanford = "web-stanford/edges_directed.txt.zst";
    vec![
        ("rmat15", Origin::File(rmat15), "8-clique", Task::Clique { k: 8 }),
        ("rmat15", Origin::File(rmat15), "5-motif", motif(5)),
        ("wiki-vote", Origin::File(wiki), "6-motif", motif(6)),
        ("web-stanford", Origin::File(stanford), "5-motif", motif(5)),
        ("random R-MAT 2^18x20", Origin::Rmat(18, 20, None), "5-clique", Task::Clique { k: 5 }),
        ("random R-MAT 2^18x20", Origin::Rmat(18, 20, None), "4-motif", motif(4)),
        ("random G(470, 0.5)", Origin::Random(470, 0.5), "maximal", Task::MaximalCliques),
        ("random BA 2^17x8", Origin::Preferential(1 << 17, 8), "5-motif", motif(5)),
        (
            "labelled R-MAT 2^12x16",
            Origin::Rmat(12, 16, labels(8)),
            "fsm",
            fsm(4, 1000, Measure::Embeddings),
        ),
        (
            "labelled R-MAT 2^16x16",
            Origin::Rmat(16, 16, labels(8)),
            "fsm mni",
            fsm(4, 1000, Measure::Mni),
        ),
        ("labelled R-MAT 2^13x16", Origin::Rmat(13, 16, labels(8)), "match", ladder),
    ]
}

/// Wall seconds of a task, CPU seconds of the calling thread, and the answer.
fn timed(graph: &Graph, task: &Task, threads: usize) -> (f64, f64, Vec<Count>) {
    let context = Context::with_threads(threads);
    let (begun, before) = (Instant::now(), cpu_time::of_thread());
    let outcome = Cpu.run(graph, task, None, &context).expect("an outcome");
    let cpu = (cpu_time::of_thread() - before).as_secs_f64();
    let seconds = begun.elapsed().as_secs_f64();
    assert!(outcome.complete, "nothing interrupts it");
    (seconds, cpu, outcome.results)
}

/// How many runs of one thread are done in the time of one where `threads` of them go at once.
fn at_once(graph: &Graph, task: &Task, threads: usize, one: f64) -> f64 {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| drop(scope.spawn(|| timed(graph, task, 1))));
    });
    threads as f64 * one / begun.elapsed().as_secs_f64()
}

/// Prints how much sooner `threads` threads are done than one.
fn speed_ups(threads: usize, copies: bool, budget: f64, filters: &[String]) {
    let begun = Instant::now();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("{cores} cores");
    println!(
        "{:36} threads  1 thread s  its CPU s  wall s  times  threads' CPU s  before and after  at equal pace{}",
        "graph and task",
        if copies { "  copies at once" } else { "" }
    );
    let mut last: Option<(Origin, Option<Graph>)> = None;
    let (mut least, mut rows, mut enough) = (f64::INFINITY, 0, 0);
    for (folder, origin, name, task) in long_tasks() {
        let name = format!("{folder} {name}");
        if !filters.is_empty() && !filters.iter().any(|f| name.contains(f.as_str())) {
            continue;
        }
        if begun.elapsed().as_secs_f64() > budget {
            println!("{name:36} not run: {budget:.0} s were used up");
            continue;
        }
        if last.as_ref().is_none_or(|(made, _)| *made != origin) {
            last = Some((origin, origin.graph(&Context::with_threads(threads))));
        }
        let Some((_, Some(graph))) = &last else {
            println!("{name:36} not run: the real graphs aren't there");
            continue;
        };
        // One thread mines on the thread that asks.
        let (one, cpu, answer) = timed(graph, &task, 1);
        let mut many = f64::INFINITY;
        for _ in 0..REPEAT {
            let (seconds, _, same) = timed(graph, &task, threads);
            assert_eq!(same, answer, "{name}: the answer depends on the number of threads");
            many = many.min(seconds);
        }
        let times = one / many;
        let long = one >= LONG;
        let shown = if long { format!("{times:.2}") } else { format!("({times:.2})") };
        print!("{name:36} {threads:7} {one:11.2} {cpu:10.2} {many:7.2}  {shown:7}");
        let ObservedRun { looks, own, .. } = ObservedRun::run(graph, &task, threads);
        let (all, equal) = (looks.sum(), looks.at_equal_pace(threads));
        print!(" {all:13.2} {own:17.3} {equal:14.3}");
        match copies {
            true => println!(" {:15.2}", at_once(graph, &task, threads, one)),
            false => println!(),
        }
        if long {
            rows += 1;
            least = least.min(times);
            enough += usize::from(times >= SHARE * threads as f64);
        }
    }
    let aim = SHARE * threads as f64;
    println!(
        "{rows} tasks of {LONG:.0} s or more: {enough} at {aim:.1} times or above, the least {least:.2}; {:.0} s in all",
        begun.elapsed().as_secs_f64()
    );
}
