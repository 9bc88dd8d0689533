//! A graph of twice the memory that a run may take, under a limit of the system on its own memory
//! (`ulimit -d`), and with the pages of mapped files within a fifth more: the system says how many were resident
//! at most.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use gramer_base::context::Cancel;
use gramer_base::{Budget, Context};
use gramer_cpu::Cpu;
use gramer_engine::EngineExt;
use gramer_graph::{Builder, image};
use gramer_pattern::Task;

const LIMIT: u64 = 32 << 20;
const CHILD: &str = "GRAMER_TEST_OF_BUDGET";

/// Every vertex next to those at a few hundred distances from it.
fn write_graph(plain: &Path, packed: &Path) {
    const VERTICES: u64 = 60_000;
    let mut builder = Builder::new();
    for i in 0..140 {
        // No distance is twice there.
        let distance = 1 + i * 97 + i * i % 89;
        (0..VERTICES).for_each(|v| builder.edge(v, (v + distance) % VERTICES));
    }
    let graph = builder.build();
    image::write(plain, &graph, "").unwrap();
    let rows = image::PackedRows::new(&graph, &Cancel::default()).unwrap();
    let mut out = std::fs::File::create(packed).unwrap();
    image::write_packed_to(&mut out, &graph, &rows, "").unwrap();
}

/// The number of cliques of k vertices and the most that was resident, as the child says.
fn mine(graph: &Path, k: usize, limit: Option<u64>) {
    // More threads than many machines have cores, so that some are interrupted.
    let context = Context::with_threads(4);
    let budget = limit.map(|bytes| Budget { bytes, folder: graph.parent().unwrap().into() });
    let _keeper = budget.as_ref().map(|budget| budget.keep(&context.cancel));
    let context = Context { budget: budget.map(Arc::new), ..context };
    let options = gramer_graph::read::ReadOptions::default();
    let graph = gramer_graph::read::read_graph(graph, &options, &context).unwrap();
    let found = Cpu.run(&graph, &Task::Clique { k }, None, &context).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    println!("found {} {most}", found.results[0].count);
}

/// This program again, under a limit of the system on anonymous memory.
fn child(graph: &Path, k: usize, limit: Option<u64>) -> [u64; 2] {
    // `data seg size` is RLIMIT_DATA, in KiB: all private memory that can be written to.
    let (kib, asked) = match limit {
        Some(bytes) => ((bytes >> 10).to_string(), bytes),
        None => ("unlimited".into(), 0),
    };
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -d "$0" && exec "$@""#, &kib])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_graph_of_twice_the_memory_is_mined_within_it", "--nocapture"])
        .env(CHILD, format!("{k} {asked} {}", graph.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = text.lines().find_map(|line| Some(line.split_once("found ")?.1.to_string()));
    let found = found.unwrap_or_else(|| panic!("{text} {:?}", output.stderr.escape_ascii()));
    let mut numbers = found.split(' ').map(|number| number.parse().unwrap());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

#[test]
fn a_graph_of_twice_the_memory_is_mined_within_it() {
    if let Ok(asked) = std::env::var(CHILD) {
        let mut words = asked.splitn(3, ' ');
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        let (k, limit) = (number() as usize, number());
        return mine(Path::new(words.next().unwrap()), k, (limit > 0).then_some(limit));
    }
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("p.gramer"), folder.path().join("c.gramer"));
    write_graph(&plain, &packed);
    assert!(std::fs::metadata(&plain).unwrap().len() >= 2 * LIMIT);
    let [expected, most] = child(&plain, 3, None);
    assert!(expected > 0 && most << 10 > 2 * LIMIT, "{most} KiB: nothing is limited by itself");
    for graph in [&plain, &packed] {
        let [count, most] = child(graph, 3, Some(LIMIT));
        eprintln!("triangles of {}: {most} KiB resident at most", graph.display());
        assert_eq!(count, expected);
        assert!(most << 10 <= LIMIT + LIMIT / 5, "{most} KiB were resident");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "what was written is gone");
}
