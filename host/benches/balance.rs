//! How evenly the CPU engine's threads share the work: CPU seconds of the busiest thread over the mean.
//!
//! `cargo bench --bench balance [-- [--threads N] [FILTER…]]`: tasks that take seconds, on the real
//! graphs (`$GRAMER_DATA`), with 2 threads unless another number is given. FILTER chooses by part of
//! `GRAPH TASK`.
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

#[path = "../tests/common/environment.rs"]
mod environment;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gramer::engine::{Engine, cpu::Cpu};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare::renumber;
use gramer::task::Induced;
use gramer::{Context, Graph, Task};

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
struct Looks {
    phases: Vec<Phase>,
    /// By number of threads that worked together: the CPU seconds of all of them.
    together: BTreeMap<usize, f64>,
}

impl Looks {
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

fn measure(name: &str, graph: &Graph, task: &Task, threads: usize) {
    let context = Context::with_threads(threads);
    let done = AtomicBool::new(false);
    // This thread, which asks, and those that were there before.
    let before = accounts();
    let begun = Instant::now();
    let looks = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let own = std::fs::read_link("/proc/thread-self").ok();
            let own = own.and_then(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
            let mut looks = Looks::default();
            while !done.load(Ordering::Relaxed) {
                let mut workers = accounts();
                workers.retain(|thread, _| !before.contains_key(thread) && Some(*thread) != own);
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
    let main: f64 = accounts().iter().filter_map(|(t, s)| Some(s - before.get(t)?)).sum();
    let (all, busiest, equal) = (looks.sum(), looks.busiest(threads), looks.at_equal_pace(threads));
    println!("{name:28} {threads:7} {wall:8.2} {all:15.2} {main:16.2} {busiest:18.3} {equal:13.3}");
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|a| a != "--bench");
    let (mut threads, mut filters) = (2, vec![]);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--threads" => {
                let number = words.next().and_then(|n| n.parse().ok());
                threads = number.expect("--threads takes a number");
            }
            _ => filters.push(word),
        }
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
