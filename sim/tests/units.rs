//! Unit benches: each module of `rtl/` with state against its own model, in `sim/units/`.
//!
//! `GRAMER_SEED=N cargo test -p gramer-sim --test units NAME` repeats a bench with a seed.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use environment::root;
use gramer_machine::{Accelerator, verilog};
use gramer_sim::{compiler, model};
use gramer_testing::environment;
use xxhash_rust::xxh3::Xxh3;

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

/// What every bench includes before its own module: all of this is read by the compiler once.
const COMMON: &str = "#include <verilated.h>
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>
";

/// Compiles Verilator's runtime and links: clang's atomics need a library that may be missing.
const GCC: &str = "g++";

/// How benches are compiled: a precompiled header is used only under the options that it was made with.
const OPTIONS: [&str; 3] = ["-std=c++17", "-O1", "-w"];

/// What is compiled once for all benches.
struct Runtime {
    /// Verilator's include folders.
    include: [PathBuf; 2],
    /// [`COMMON`], and beside it its precompiled form.
    header: PathBuf,
    /// Verilator's own sources.
    library: PathBuf,
}

/// Verilator's runtime and the precompiled header, made by the first bench.
fn runtime(version: &str) -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let output = run(Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]));
        let include = Path::new(String::from_utf8(output.stdout).unwrap().trim()).join("include");
        let include = [include.clone(), include.join("vltstd")];
        // A compiler refuses what another of its versions precompiled.
        let compilers =
            [compiler(), GCC].map(|name| run(Command::new(name).arg("--version")).stdout);
        let mut hash = Xxh3::new();
        hash.update(format!("{version}{OPTIONS:?}{COMMON}").as_bytes());
        compilers.iter().for_each(|said| hash.update(said));
        let models = root().join("target/models");
        fs::create_dir_all(&models).unwrap();
        let at = |end: &str| models.join(format!("units-runtime-{:016x}{end}", hash.digest()));
        // A precompiled header belongs to its source file, which must not change.
        let (header, library) = (at(".hpp"), at(".so"));
        let mut text = tempfile::NamedTempFile::new_in(&models).unwrap();
        text.write_all(COMMON.as_bytes()).unwrap();
        let _ = text.persist_noclobber(&header);
        // Others may do the same at the same time: each puts whole files there.
        let make = |made: &Path, name: &str, words: &mut dyn FnMut(&mut Command)| {
            if made.exists() {
                return;
            }
            let work = tempfile::tempdir_in(&models).unwrap();
            let mut command = Command::new(name);
            command.args(OPTIONS).arg("-I").arg(&include[0]).arg("-I").arg(&include[1]);
            words(&mut command);
            run(command.arg("-o").arg(work.path().join("made")));
            fs::rename(work.path().join("made"), made).unwrap();
        };
        // Where the compiler looks for it by itself.
        let precompiled = at(if compiler() == GCC { ".hpp.gch" } else { ".hpp.pch" });
        make(&precompiled, compiler(), &mut |command| {
            command.args(["-x", "c++-header"]).arg(&header);
        });
        make(&library, GCC, &mut |command| {
            let sources = ["verilated.cpp", "verilated_threads.cpp"].map(|f| include[0].join(f));
            command.args(["-fPIC", "-shared"]).args(sources).arg("-lpthread");
        });
        Runtime { include, header, library }
    })
}

/// What Verilator wrote in `folder` and the bench as one translation unit: the headers, which take
/// longest, are read once. What runs once, at the start, is not optimised.
fn unit(folder: &Path, bench: &Path) -> String {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name.ends_with(".cpp"));
    names.sort();
    let slow = |name: &String| name.ends_with("Slow.cpp") || name.ends_with("__Syms.cpp");
    let (slow, fast): (Vec<_>, Vec<_>) = names.into_iter().partition(slow);
    let included = |names: Vec<String>| -> String {
        names.iter().map(|name| format!("#include \"{name}\"\n")).collect()
    };
    format!(
        "#include \"Vdut__Syms.h\"\n#ifdef __clang__\n#pragma clang optimize off\n#else\n\
         #pragma GCC push_options\n#pragma GCC optimize (\"O0\")\n#endif\n{}\
         #ifdef __clang__\n#pragma clang optimize on\n#else\n#pragma GCC pop_options\n#endif\n\
         {}#include \"{}\"\n",
        included(slow),
        included(fast),
        bench.display()
    )
}

/// Builds the bench of a module, or finds it in `target/models/units-<hash>`.
fn build(version: &str, name: &str, top: &str, parameters: &[&str], machine: &str) -> PathBuf {
    let root = root();
    let mut machine = Accelerator::parse(machine, &root.join("machines/of_a_bench.yaml")).unwrap();
    // The benches drive what belongs to a partition for two of them, of each channel where there are several.
    let channels = machine.set.as_ref().map_or(1, |set| set.channels);
    machine.machine.partitions = 2 * channels;
    let package = verilog::package(&machine);
    // Only what the bench is made of is compiled: Verilator drops modules that its top doesn't need.
    // A copy of rtl/ with faults (`make mutants`), of which GRAMER_MUTANT chooses one.
    let rtl = std::env::var_os("GRAMER_RTL").map_or(root.join("rtl"), PathBuf::from);
    let units = root.join("sim/units");
    let bench = units.join(format!("{name}.cpp"));
    let sources: Vec<PathBuf> = model::files::files(&root, machine.core)
        .unwrap()
        .into_iter()
        .map(|file| rtl.join(file))
        .collect();
    let models = root.join("target/models");
    let runtime = runtime(version);
    let work = tempfile::tempdir_in(&models).unwrap();
    fs::write(work.path().join("gramer_pkg.sv"), &package).unwrap();
    // A set core has two packages, which share what is around either core.
    let mut seen = HashSet::new();
    let numbers: String = package
        .lines()
        .filter_map(|line| line.trim().strip_prefix("localparam int unsigned "))
        .filter(|line| seen.insert(*line))
        .map(|line| format!("static const unsigned long long {line}\n"))
        .collect();
    fs::write(work.path().join("gramer_pkg.hpp"), numbers).unwrap();
    let mut verilator = Command::new("verilator");
    verilator
        .current_dir(&rtl)
        .args(["--cc", "-sv", "--assert", "-Wno-lint", "-Wno-style", "-O3", "--prefix", "Vdut"])
        // Nothing may depend on what a register holds before its reset.
        .args(["--x-assign", "unique", "--x-initial", "unique"])
        // A compiler's time grows faster than a function.
        .args(["--output-split", "40000", "--top-module", top])
        .args(parameters.iter().map(|p| format!("-G{p}")))
        .arg("--Mdir")
        .arg(work.path());
    let mut hash = Xxh3::new();
    let how = format!("split {OPTIONS:?}{}", compiler());
    hash.update(format!("{version}{top}{parameters:?}{package}unique{how}").as_bytes());
    let included = [
        "bench.hpp",
        "messages.hpp",
        "onchip_memory.cpp",
        "set_image.hpp",
        "set_plans.hpp",
        "set_widths.hpp",
    ]
    .map(|name| units.join(name));
    for source in sources.iter().chain([&bench]).chain(&included) {
        hash.update(&fs::read(source).unwrap());
    }
    let done = models.join(format!("units-{name}-{:016x}", hash.digest()));
    if done.exists() {
        return done;
    }
    run(verilator.arg(work.path().join("gramer_pkg.sv")).args(&sources));
    fs::write(work.path().join("all.cc"), unit(work.path(), &bench)).unwrap();
    let made = work.path().join("bench");
    // clang takes two thirds of the time of g++ for the functions of a cluster of set PUs.
    let object = work.path().join("all.o");
    run(Command::new(compiler())
        .current_dir(work.path())
        .args(OPTIONS)
        .arg("-include")
        .arg(&runtime.header)
        .args(["-I.", "-I"])
        .arg(&runtime.include[0])
        .arg("-I")
        .arg(&runtime.include[1])
        .arg("-I")
        .arg(&units)
        .args(["-c", "all.cc", "-o"])
        .arg(&object));
    run(Command::new(GCC).arg(&object).arg(&runtime.library).arg("-o").arg(&made).arg("-lpthread"));
    fs::rename(made, &done).unwrap();
    done
}

/// Seeds of the benches: those of `GRAMER_BENCH_SEEDS` (a commit's, those of a night), that of `GRAMER_SEED`, or 1.
fn seeds() -> String {
    let given = |name| std::env::var(name).ok();
    given("GRAMER_BENCH_SEEDS").or_else(|| given("GRAMER_SEED")).unwrap_or_else(|| "1".into())
}

/// Runs the bench of a module with `parameters` of a machine, a description as in `machines/`.
fn bench(name: &str, top: &str, parameters: &[&str], machine: &str) {
    let Some(version) = model::verilator() else {
        let missing = "there is no verilator on the PATH (scripts/setup-rtl.sh installs it)";
        return environment::skip(environment::RTL, missing);
    };
    let program = build(&version, name, top, parameters, machine);
    for seed in seeds().split_whitespace() {
        let output = run(Command::new(&program).arg(seed));
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }

    // The table names the bench, its model and each of its points.
    let table = fs::read_to_string(root().join("sim/units/benches.tsv")).unwrap();
    let row = table
        .lines()
        .find(|line| line.starts_with(&format!("{name}\t")))
        .unwrap_or_else(|| panic!("sim/units/benches.tsv has no row for {name}"));
    let listed = row.split('\t').nth(2).unwrap();
    let points = run(Command::new(&program).arg("--points")).stdout;
    let points: Vec<String> =
        String::from_utf8(points).unwrap().lines().map(String::from).collect();
    assert_eq!(
        listed,
        points.join("; "),
        "sim/units/benches.tsv does not list the points of {name}"
    );
}

const SMALL: &str = "base: small.yaml";
const SET: &str = "base: set-small.yaml";
const HBM: &str = "base: set-small.yaml
machine: {processing_units: 8, partitions: 8}
set: {channels: 4, partition_lines: 256}
memory: {ddr_banks: 4}";

macro_rules! benches {
    ($machine:ident: $($name:ident: $top:literal [$($parameter:literal),*];)*) => {
        $(#[test] fn $name() { bench(stringify!($name), $top, &[$($parameter),*], $machine); })*
    };
}

benches! {
    SMALL:
    fifo: "gramer_fifo" [];
    rr_arbiter: "gramer_rr_arbiter" ["REQUESTS=5"];
    slot_buffer: "gramer_slot_buffer" [];
    stealing_buffer: "gramer_stealing_buffer" [];
    ancestor_buffer: "gramer_ancestor_buffer" [];
    crossbar: "gramer_crossbar" ["INPUTS=3", "OUTPUTS=2"];
    slr_link: "gramer_slr_link" ["WIDTH=8", "STAGES=2"];
    scratchpad: "gramer_scratchpad" ["LINES=8"];
    miss_unit: "gramer_miss_unit" ["WORD_W=2"];
    skid: "gramer_skid" [];
    control: "gramer_control" ["ADDR_W=8"];
    embedding_table: "gramer_embedding_table" [];
    prefetcher: "gramer_prefetcher" [];
    axi_reader: "gramer_axi_reader" [];
    abort_poller: "gramer_abort_poller" ["PERIOD=16"];
    pattern_buffer: "gramer_pattern_buffer" [];
    arbitrator: "gramer_arbitrator" [];
    extender: "gramer_extender" [];
    filter: "gramer_filter" [];
    filter_program: "gramer_filter_program" [];
    partition: "gramer_partition" [];
    scheduler: "gramer_scheduler" [];
    pu: "gramer_pu" [];
}

// On several memory channels.
benches! {
    HBM:
    set_channels: "gramer_set_channels" [];
}

// The set core.
benches! {
    SET:
    set_cluster: "gramer_set_cluster" [];
    set_intersector: "gramer_set_intersector" [];
    set_loader: "gramer_set_loader" [];
    set_map_bank: "gramer_set_map_bank" [];
    set_plan: "gramer_set_plan" [];
    set_plan_asker: "gramer_set_plan_asker" [];
    set_plan_lister: "gramer_set_plan_lister" [];
    set_plan_merger: "gramer_set_plan_merger" [];
    set_plan_packer: "gramer_set_plan_packer" [];
    set_plan_walker: "gramer_set_plan_walker" [];
    set_reached: "gramer_set_reached" [];
    set_recorder: "gramer_set_recorder" [];
    set_triple_sums: "gramer_set_triple_sums" [];
    set_wedge_sums: "gramer_set_wedge_sums" [];
}

// Sums of so few bits that the largest products fill them.
#[test]
fn set_triple_products() {
    let machine = "base: set-small.yaml\napplications: {count_bits: 32}";
    bench("set_triple_products", "gramer_set_triple_products", &[], machine);
}

// Full and narrow ids.
#[test]
fn set_list_buffer() {
    for machine in [SET, "base: set.yaml"] {
        bench("set_list_buffer", "gramer_set_list_buffer", &[], machine);
    }
}

// Lines of 400 bits in five or four columns of UltraRAM, of 512 in seven; the rest in block RAM.
#[test]
fn set_partition_memory() {
    let top = "gramer_set_partition_memory";
    for (narrow, machine) in [("0", "base: set.yaml"), ("1", "base: set.yaml"), ("0", SET)] {
        bench("set_partition_memory", top, &[&format!("NARROW={narrow}")], machine);
    }
}

// Enough PUs with room for several halves that there is a choice.
#[test]
fn set_distributor() {
    let machine = "base: set-small.yaml\nmachine: {processing_units: 4}\nset: {unit_queue: 16}";
    bench("set_distributor", "gramer_set_distributor", &[], machine);
}

// Stamps so short that they are aged every few dozen accesses.
#[test]
fn onchip_memory() {
    let machine = "base: small.yaml\nmemory: {stamp_bits: 6}";
    bench("onchip_memory", "gramer_onchip_memory", &["ANSWER_W=128"], machine);
}

// Counts that are full after moments.
#[test]
fn process_stage() {
    bench("process_stage", "gramer_process_stage", &[], "base: saturating.yaml");
}

#[test]
fn uniform_memory() {
    let machine = "base: small.yaml\n\
                   memory: {layout: uniform, vertex_cache_bytes: 256, edge_cache_bytes: 512, \
                   stamp_bits: 6}";
    bench("uniform_memory", "gramer_onchip_memory", &["ANSWER_W=128"], machine);
}

// A report without sections of PUs and partitions.
#[test]
fn pattern_buffer_uncounted() {
    bench("pattern_buffer", "gramer_pattern_buffer", &[], "base: uncounted.yaml");
}

// The extender that reads the candidate's record and list.
#[test]
fn extender_candidate() {
    bench("extender", "gramer_extender", &[], "base: small.yaml\nmachine: {check: candidate}");
}

// The scheduler that keeps whole states in its ancestor buffers.
#[test]
fn scheduler_whole() {
    bench("scheduler", "gramer_scheduler", &[], "base: uncompacted.yaml");
}
