//! Other models of the small machine's core must do the same, cycle by cycle: Verilator's output as
//! it wrote it, registers that begin otherwise, and registers that are late by what the timing
//! exceptions allow. And a run in which nothing moves must be ended.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use gramer_machine::Accelerator;
use gramer_sim::image::Csr;
use gramer_sim::model::{self, Build, Model, Pins};
use gramer_sim::run::{
    Application, CUT, DONE, Outcome, STREAM_WAIT, Settings, Simulation, run, whole_units,
};
use regex_lite::{Captures, Regex};
use support::{compare, core, environment, instance, motifs, random_graph, root, settings};

/// A graph, and how it is mined.
type Task = (Csr, Settings, Simulation);

/// Ten tasks: cliques that are listed, cliques, motifs, labelled patterns, with all switches and with
/// back-pressure in half of them. A task without a list is before each that has one.
fn tasks(a: &Accelerator) -> Vec<Task> {
    let task = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(400 + seed);
        let kinds =
            [Application::Motif, Application::Clique, Application::Fsm, Application::Clique];
        let application = kinds[seed as usize % 4];
        let mut graph = random_graph(&mut rng, 40).ranked();
        if application == Application::Clique {
            // Dense enough to have some.
            let pairs = (0..16).flat_map(|v| (0..v).map(move |u| (u, v)));
            let edges: Vec<(u32, u32)> = pairs.filter(|_| rng.u32(0..10) < 7).collect();
            graph = Csr::new(16, &edges, vec![]).ranked();
        }
        while graph.edges.len() < 40 || graph.edges.len() > 200 {
            graph = random_graph(&mut rng, 40).ranked();
        }
        let mut s = settings(a, application, 3 + (seed / 4) as u32);
        match application {
            Application::Clique if seed % 4 == 1 => s.list = Some(2000),
            Application::Clique => {}
            Application::Motif => (s.dictionary, s.patterns) = motifs(s.k as usize),
            Application::Fsm => {
                s.k = 3;
                s.patterns = 7;
                let entry = |_| u16::from(rng.u32(0..4) > 0) << 15 | rng.u16(0..7);
                s.dictionary = (0..1 << (3 + 3 * a.applications.label_bits)).map(entry).collect();
                let labels = 1 << a.applications.label_bits;
                graph.labels = (0..graph.vertices()).map(|_| rng.u32(0..labels)).collect();
            }
        }
        s.ascending = seed % 3 == 1;
        s.lru = seed % 3 == 2;
        s.stealing = seed % 5 != 4;
        s.slots = a.machine.slots - (seed % 2) as u32;
        s.lambda_eighths = [8, 0, 64][seed as usize % 3];
        s.tau = [None, Some(0.1), Some(0.4)][seed as usize % 3];
        s.capacity = [1.0, 0.5][seed as usize / 5];
        let mut simulation = Simulation { seed, max_cycles: 2_000_000, ..Simulation::of(a) };
        if seed % 2 == 1 {
            (simulation.back_pressure, simulation.timing.back_pressure) = (3, 3);
            simulation.timing.reorder = true;
        }
        (graph, s, simulation)
    };
    (0..10).map(task).collect()
}

/// What an instance says to each task, one after the other.
fn outcomes(a: &Accelerator, model: &mut Model, tasks: &[Task]) -> Vec<anyhow::Result<Outcome>> {
    let one =
        |(graph, s, simulation): &Task| run(a, model, graph, &whole_units(graph), s, simulation);
    tasks.iter().map(one).collect()
}

/// The same of the model that all other tests use, compared with algorithm 1.
fn expected(a: &Accelerator, library: &Path, tasks: &[Task]) -> Vec<Outcome> {
    expected_of(a, &mut instance(library), tasks)
}

/// The same of an instance of that model.
fn expected_of(a: &Accelerator, model: &mut Model, tasks: &[Task]) -> Vec<Outcome> {
    let outcomes = outcomes(a, model, tasks);
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(Result::unwrap).collect();
    for ((graph, s, _), outcome) in tasks.iter().zip(&outcomes) {
        assert_eq!(outcome.status, DONE);
        compare(a, graph, &whole_units(graph), s, outcome).unwrap();
    }
    assert!(outcomes.iter().any(|o| o.records.len() > 20), "lists are too short to prove anything");
    assert!(outcomes.iter().all(|o| o.counts.iter().sum::<u64>() > 0), "a task without a result");
    outcomes
}

/// Panics with the first task that differs from what was expected.
fn equal(what: &str, expected: &[Outcome], got: &[anyhow::Result<Outcome>]) {
    for (number, (expected, got)) in expected.iter().zip(got).enumerate() {
        match got {
            Ok(got) if got == expected => {}
            Ok(got) => panic!(
                "{what}: task {number} ends with status {} after {} cycles, counts {:?}; expected \
                 {} after {}, {:?}",
                got.status,
                got.cycles,
                got.counts,
                expected.status,
                expected.cycles,
                expected.counts
            ),
            Err(error) => panic!("{what}: task {number}: {error:#}"),
        }
    }
}

/// All results and all counters are those of Verilator's own output, which nothing has changed
/// ([`Build::raw`]).
#[test]
fn the_improved_model_does_what_verilator_s_does() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let raw = model::build(&a, Build { raw: true, ..Build::default() }).unwrap();
    assert_ne!(raw, library);
    let tasks = tasks(&a);
    let expected = expected(&a, &library, &tasks);
    equal("raw", &expected, &outcomes(&a, &mut instance(&raw), &tasks));
}

/// What registers hold before the reset changes nothing, not even a cycle.
#[test]
fn registers_may_begin_with_any_value() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let tasks = tasks(&a);
    let expected = expected(&a, &library, &tasks);
    for seed in 2..8 {
        let mut model = Model::start(&library, seed, &[]).unwrap();
        equal(&format!("GRAMER_INITIAL={seed}"), &expected, &outcomes(&a, &mut model, &tasks));
    }
}

/// A reset in the middle of a run leaves nothing of it behind.
#[test]
fn a_run_after_a_reset_in_the_middle_of_another_is_clean() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let tasks = tasks(&a);
    let mut model = instance(&library);
    for (number, (graph, s, simulation)) in tasks.iter().enumerate() {
        let units = whole_units(graph);
        let expected = run(&a, &mut instance(&library), graph, &units, s, simulation).unwrap();
        // From the sets that are forgotten to the report.
        let cycles = expected.cycles * (number as u64 + 1) / (tasks.len() as u64 + 1);
        let cut = Simulation { max_cycles: cycles, ..simulation.clone() };
        let error = run(&a, &mut model, graph, &units, s, &cut).unwrap_err().to_string();
        assert!(error.starts_with("no end after"), "{error}");
        model.fresh = true;
        let again = run(&a, &mut model, graph, &units, s, simulation);
        equal(&format!("task {number} after a reset"), &[expected], &[again]);
    }
}

// ------------------------------------------------------------------ timing exceptions

/// A register of the core, or a field of one, and the cycles that its value may take.
struct Exception {
    name: String,
    field: Option<String>,
    cycles: u32,
}

fn exception(register: &str, cycles: u32) -> Exception {
    let (name, field) = match register.split_once('.') {
        Some((name, field)) => (name, Some(field.to_string())),
        None => (register, None),
    };
    Exception { name: name.into(), field, cycles }
}

/// `constraints/exceptions.tsv`, from which scripts/board.py writes the cards' constraints.
fn exceptions() -> Vec<Exception> {
    let text = fs::read_to_string(root().join("constraints/exceptions.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    rows.map(|row| exception(row[0], row[1].parse().unwrap())).collect()
}

/// Copies the core's sources to a folder, where registers can be late. Every place that reads one of
/// them sees it through its own delay. Plusargs choose what happens:
///
///   late=MASK   the registers that are late, bit n for exception n, in hexadecimal
///   skew=N      0: everywhere by all cycles that are allowed; else places differ, N ways
///   noise=1     until the new value is there, bits are wrong instead of old
fn copy_with_late_registers(exceptions: &[Exception], folder: &Path) {
    environment::copy_rtl(folder);
    let path = folder.join("paper/gramer_core.sv");
    let mut text = fs::read_to_string(&path).unwrap();
    let mut by_name = BTreeMap::<&str, Vec<(usize, &Exception)>>::new();
    for (bit, exception) in exceptions.iter().enumerate() {
        by_name.entry(&exception.name).or_default().push((bit, exception));
    }
    let mut logic = String::new();
    for (name, parts) in by_name {
        let cycles = parts.iter().map(|(_, e)| e.cycles).max().unwrap();
        let declaration = Regex::new(&format!(
            r"(?m)^ +(logic|\w+_t)\s*((?:\[[^\]]*\]\s*)*)([^;=()]*\b{name}\b[^;=()]*);\n"
        ))
        .unwrap();
        let found = declaration.captures(&text);
        let found = found.unwrap_or_else(|| panic!("gramer_core.sv has no register {name}"));
        let kind = format!("{} {}", &found[1], &found[2]);
        let listed =
            found[3].split(',').map(str::trim).find(|v| v.split_whitespace().next() == Some(name));
        let array = listed.unwrap().strip_prefix(name).unwrap().trim().to_string();
        let whole = found.get(0).unwrap().range();

        // Writes keep the name, reads get numbers.
        let place =
            Regex::new(&format!(r"\b{name}\b(?P<write>(?:\.\w+|\[[^\]]*\])*\s*<=)?")).unwrap();
        let (before, rest) = (text[..whole.end].to_string(), text[whole.end..].to_string());
        assert!(!place.is_match(&before[..whole.start]), "{name} is used before it is declared");
        let mut places = 0;
        let rest = place.replace_all(&rest, |found: &Captures<'_>| match found.name("write") {
            Some(_) => found[0].to_string(),
            None => {
                places += 1;
                format!("{name}_seen[{}]", places - 1)
            }
        });
        assert!(places > 0, "nothing reads {name}");
        let declared = format!(
            "  {kind} {name}_stage [{cycles}]{array}, {name}_seen [{places}]{array};\n  \
             {kind} {name}_mask, {name}_ones;\n  \
             logic [$bits({name}_mask)-1:0] {name}_new, {name}_old, {name}_put;\n"
        );
        text = [before.as_str(), &declared, &rest].concat();

        let (each, at) = match array.trim_matches(['[', ']']) {
            "" => (String::new(), ""),
            elements => (format!("for (int b = 0; b < int'({elements}); b++) "), "[b]"),
        };
        write!(
            logic,
            "
  always_ff @(posedge clk) begin
    {name}_stage[0] <= {name};
    for (int s = 1; s < {cycles}; s++) {name}_stage[s] <= {name}_stage[s - 1];
  end
  always_comb begin
    {name}_ones = '1;
    {name}_mask = '0;
    {name}_new  = '0;
    {name}_old  = '0;
    {name}_put  = '0;
    for (int n = 0; n < {places}; n++) begin
      {name}_seen[n] = {name};
"
        )
        .unwrap();
        for (bit, part) in parts {
            let mask = match &part.field {
                Some(field) => format!("{name}_mask.{field} = {name}_ones.{field};"),
                None => format!("{name}_mask = '1;"),
            };
            let most = part.cycles - 1;
            write!(
                logic,
                "      if (late[{bit}]) begin
        {name}_mask = '0;
        {mask}
        {each}begin
          {name}_new = {name}{at};
          {name}_old = skew == 0 ? {name}_stage[{most} - 1]{at}
                     : (n + skew) % {cycles} == 0 ? {name}_new
                     : {name}_stage[(n + skew) % {cycles} - 1]{at};
          {name}_put = noise != 0 && (({name}_old ^ {name}_new) & {name}_mask) != '0
                     ? ~{name}_new : {name}_old;
          {name}_seen[n]{at} = ({name}_seen[n]{at} & ~{name}_mask) | ({name}_put & {name}_mask);
        end
      end
"
            )
            .unwrap();
        }
        logic += "    end\n  end\n";
    }
    let head = text.find("\n);\n").unwrap() + "\n);\n".len();
    text.insert_str(
        head,
        "  bit [63:0] late;\n  int skew, noise;\n  initial begin\n    \
         if (!$value$plusargs(\"late=%h\", late)) late = '0;\n    \
         if (!$value$plusargs(\"skew=%d\", skew)) skew = 0;\n    \
         if (!$value$plusargs(\"noise=%d\", noise)) noise = 0;\n  end\n",
    );
    let end = text.rfind("endmodule").unwrap();
    text.insert_str(end, &logic);
    fs::write(path, text).unwrap();
    let lint = folder.join("verilator.vlt");
    let text = fs::read_to_string(&lint).unwrap();
    fs::write(
        lint,
        text + "\nlint_off -file \"*/gramer_core.sv\"\nlint_off -file \"gramer_core.sv\"\n",
    )
    .unwrap();
}

/// An instance of the copy after a reset that lasts, and a while after its end, as on a card.
fn late(library: &Path, mask: u64, skew: u32, noise: bool) -> Model {
    let plusargs =
        [format!("late={mask:x}"), format!("skew={skew}"), format!("noise={}", u32::from(noise))];
    let plusargs: Vec<&str> = plusargs.iter().map(String::as_str).collect();
    after_reset(Model::start(library, 1, &plusargs).unwrap())
}

/// An instance 32 clocks after a long reset.
fn after_reset(mut model: Model) -> Model {
    let mut pins = Pins::new();
    for clock in 0..48 {
        pins.reset_n = u8::from(clock >= 16);
        model.cycle(&mut pins).unwrap();
    }
    model.fresh = false;
    model
}

/// Every register of the list of exceptions late by all that it is allowed: the same results in the
/// same cycles. Registers that are not on the list, and must not be, show that the test sees it.
#[test]
fn registers_may_be_late_as_the_exceptions_say() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let mut all = exceptions();
    let listed = (1u64 << all.len()) - 1;
    assert!(all.len() > 5 && all.iter().all(|e| e.cycles > 1), "the list is not read");
    // The pattern buffer and the slots take these in the cycle after they were written.
    let wrong = [("result_beats_q", 3), ("config_q.slots", 3)];
    all.extend(wrong.map(|(register, cycles)| exception(register, cycles)));
    let folder = tempfile::tempdir().unwrap();
    copy_with_late_registers(&all, folder.path());
    let copy = model::build_from(folder.path(), &a, Build::default()).unwrap();

    let tasks = tasks(&a);
    // A reset of the same length: which of two requests comes first may depend on it.
    let expected = expected_of(&a, &mut after_reset(instance(&library)), &tasks);
    let run = |mask, skew, noise| outcomes(&a, &mut late(&copy, mask, skew, noise), &tasks);
    equal("nothing late", &expected, &run(0, 0, false));
    equal("all late", &expected, &run(listed, 0, false));
    equal("all late, with wrong bits", &expected, &run(listed, 0, true));
    equal("late by place", &expected, &run(listed, 1, true));
    equal("late by place, another way", &expected, &run(listed, 2, true));
    for (n, (register, _)) in wrong.iter().enumerate() {
        let got = run(1 << (all.len() - wrong.len() + n), 0, false);
        let same = |(got, expected): (&anyhow::Result<Outcome>, &Outcome)| {
            got.as_ref().is_ok_and(|got| got == expected)
        };
        let differ = got.iter().zip(&expected).filter(|pair| !same(*pair)).count();
        eprintln!("{register} late: {differ} of {} tasks differ", tasks.len());
        assert!(differ > 0, "{register} is late, and no test notices");
    }
}

// ------------------------------------------------------------------ liveness

/// A read without an answer: the run ends soon, and the message names the waiting parts.
/// The polls of the abort word go on, so that it is not for want of traffic.
#[test]
fn a_run_in_which_nothing_moves_is_ended() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let graph = random_graph(&mut fastrand::Rng::with_seed(3), 80).ranked();
    let mut s = settings(&a, Application::Clique, 3);
    s.tau = Some(0.0);
    let units = whole_units(&graph);
    let ended = Regex::new(r"to (\d+), though").unwrap();
    for (lost, reorder) in [(0, false), (7, false), (15, true)] {
        let mut simulation = Simulation { max_cycles: 10_000_000, ..Simulation::of(&a) };
        simulation.timing.lost_at = Some(lost);
        simulation.timing.reorder = reorder;
        let error = run(&a, &mut instance(&library), &graph, &units, &s, &simulation).unwrap_err();
        let error = error.to_string();
        for part in ["no progress from cycle", "pu_busy", "busy_q", "taken_q", "due never"] {
            assert!(error.contains(part), "lost {lost}: {part} is missing in: {error}");
        }
        let cycle = ended.captures(&error).unwrap()[1].to_string();
        assert!(cycle.parse::<u64>().unwrap() < 100_000, "lost {lost}: {error}");
    }
}

/// The same where the core itself is broken: no reader sees what the memories ask for.
#[test]
fn a_core_in_which_a_handshake_never_answers_is_ended() {
    let Some((a, _)) = core("machines/small.yaml") else { return };
    let folder = tempfile::tempdir().unwrap();
    environment::copy_rtl(folder.path());
    let path = folder.path().join("paper/gramer_memory_system.sv");
    let (right, wrong) = (".read_valid_i (bank_read_valid),", ".read_valid_i ('0),");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(right).count(), 1);
    fs::write(&path, text.replace(right, wrong)).unwrap();
    let lint = folder.path().join("verilator.vlt");
    let text = fs::read_to_string(&lint).unwrap() + "\nlint_off -rule UNUSEDSIGNAL\n";
    fs::write(lint, text).unwrap();
    let broken = model::build_from(folder.path(), &a, Build::default()).unwrap();

    let (graph, s, simulation) = tasks(&a).swap_remove(1);
    let units = whole_units(&graph);
    let error = run(&a, &mut instance(&broken), &graph, &units, &s, &simulation).unwrap_err();
    let error = error.to_string();
    // Lines that were requested and never came, by the memory that waits for them.
    let waits = Regex::new(r"gen_partition\[\d\]\.i_partition\S*: taken_q 0x").unwrap();
    assert!(error.contains("no progress from cycle"), "{error}");
    assert!(waits.is_match(&error), "{error}");
}

/// A stream without its last beat ends a run after [`STREAM_WAIT`] cycles; one that has not begun, once the run is
/// stopped.
#[test]
fn a_stream_without_its_last_beat_is_ended() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let (graph, s, simulation) = tasks(&a).swap_remove(3);
    let units = whole_units(&graph);
    let mut model = instance(&library);
    for (cut, abort) in [(0, Some((5_000, 1))), (1, None), (4, None)] {
        let cut = Simulation { cut: Some(cut), abort, ..simulation.clone() };
        let outcome = run(&a, &mut model, &graph, &units, &s, &cut).unwrap();
        assert_eq!((outcome.status, outcome.next_unit), (CUT, 0), "{:?} beats", cut.cut);
        let most = STREAM_WAIT + 100_000;
        assert!((STREAM_WAIT..most).contains(&outcome.cycles), "{} cycles", outcome.cycles);
        let whole = run(&a, &mut model, &graph, &units, &s, &simulation).unwrap();
        compare(&a, &graph, &units, &s, &whole).unwrap();
    }
}

/// A slow host is no standstill: the bound knows its pauses, which are longer than what the core may take.
#[test]
fn a_slow_host_is_no_standstill() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let (graph, s, simulation) = tasks(&a).swap_remove(3);
    let units = whole_units(&graph);
    let mut model = instance(&library);
    let slow = Simulation { in_pause: 15_000, out_pause: 15_000, ..simulation };
    let outcome = run(&a, &mut model, &graph, &units, &s, &slow).unwrap();
    compare(&a, &graph, &units, &s, &outcome).unwrap();
}

/// Several cores of a thread, as in the emulated device: what one finds wrong is its own.
#[test]
fn a_thread_may_have_several_cores() {
    let Some((a, library)) = core("machines/small.yaml") else { return };
    let tasks = tasks(&a);
    let (graph, s, simulation) = &tasks[3];
    let units = whole_units(graph);
    let mut first = instance(&library);
    let before = run(&a, &mut first, graph, &units, s, simulation).unwrap();
    drop(instance(&library));
    let mut second = instance(&library);
    let after = run(&a, &mut second, graph, &units, s, simulation).unwrap();
    assert_eq!(before, after);
    drop(second);
    run(&a, &mut first, graph, &units, s, simulation).unwrap();
}
