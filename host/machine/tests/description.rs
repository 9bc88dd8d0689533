//! Every rule of the description has a test that reads its message.

use std::path::Path;

use gramer_machine::{Accelerator, Check, header, named, verilog, vitis};

const PAPER: &str = include_str!("../../../accelerator.yaml");

fn parse(text: &str) -> Result<Accelerator, String> {
    Accelerator::parse(text, Path::new("machine.yaml")).map_err(|e| e.to_string())
}

fn small() -> Accelerator {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Accelerator::read(root.join("machines/small.yaml")).unwrap()
}

/// A folder with these files, the first of which is read.
fn read(files: &[(&str, &str)]) -> Result<Accelerator, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Accelerator::read(folder.path().join(files[0].0))
        .map_err(|e| e.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

/// The message after one replacement in the paper's machine.
fn message(from: &str, to: &str) -> String {
    assert!(PAPER.contains(from), "`{from}` is not in the description");
    parse(&PAPER.replacen(from, to, 1)).expect_err("must be refused")
}

#[test]
fn the_paper_s_machine_has_the_sizes_of_the_paper() {
    let a = parse(PAPER).unwrap();
    assert_eq!((a.machine.processing_units, a.machine.slots, a.machine.partitions), (8, 16, 8));
    assert_eq!(a.cache_sets(), (512, 1024));
    // 1 MiB and 2 MiB of scratchpad.
    assert_eq!(a.scratchpad_lines(), (16384, 32768));
}

#[test]
fn registers_between_regions_are_none_unless_said_and_three_at_most() {
    let line = "  slr_registers: 0             # registers on each path between regions of the die (SLRs), 0 to 3\n";
    assert!(PAPER.contains(line));
    assert_eq!(parse(&PAPER.replace(line, "")).unwrap().machine.slr_registers, 0);
    assert_eq!(
        message("slr_registers: 0", "slr_registers: 4"),
        "machine.yaml: machine.slr_registers is 4, but must be 0 to 3"
    );
}

#[test]
fn a_filter_has_up_to_a_beat_of_words_and_none_unless_said() {
    let line = PAPER.lines().find(|line| line.contains("filter_words: 0")).unwrap();
    assert_eq!(parse(&PAPER.replace(line, "")).unwrap().applications.filter_words, 0);
    let words = |number: &str| PAPER.replace("filter_words: 0", &format!("filter_words: {number}"));
    for number in ["1", "2", "4", "8"] {
        let machine = parse(&words(number)).unwrap();
        let package = format!("FILTER_WORDS = {number};");
        assert!(verilog::package(&machine).contains(&package));
    }
    for number in ["3", "16"] {
        let said = parse(&words(number)).unwrap_err();
        let expected = format!(
            "machine.yaml: applications.filter_words is {number}, but must be 0 or a power of two up to 8"
        );
        assert_eq!(said, expected);
    }
}

/// A machine counts events unless it says that it doesn't, which `rtl/` learns from its package; the names and
/// positions of all counters stay there. The set core has no such choice.
#[test]
fn performance_counters_are_there_unless_the_machine_leaves_them_out() {
    let line = PAPER.lines().find(|line| line.contains("performance_counters: true")).unwrap();
    let line = format!("{line}\n");
    let (said, silent) = (parse(PAPER).unwrap(), parse(&PAPER.replace(&line, "")).unwrap());
    assert_eq!(said, silent);
    let without = named::named("uncounted").unwrap().unwrap();
    let small = small();
    assert!(small.machine.performance_counters && !without.machine.performance_counters);
    let number = |a: &Accelerator, name: &str| {
        let text = verilog::package(a);
        let found = text.lines().find(|line| line.contains(&format!(" {name} = ")));
        found.unwrap_or_else(|| panic!("{name} is not in {text}")).to_string()
    };
    assert!(number(&small, "PERFORMANCE_COUNTERS").contains("= 1;"));
    assert!(number(&without, "PERFORMANCE_COUNTERS").contains("= 0;"));
    for name in ["PU_COUNTERS", "PARTITION_COUNTERS", "CNT_PU_IDLE_INSIDE"] {
        assert_eq!(number(&small, name), number(&without, name));
    }
    // Of 2 PUs with 10 counters and two for each of 16 depths, and 4 partitions with 8.
    assert_eq!(small.counter_values() - without.counter_values(), 2 * (10 + 2 * 16) + 4 * 8);
    let set = "base: machines/set-small.yaml\nmachine: {performance_counters: false}";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let refused = Accelerator::parse(set, &root.join("uncounted_set.yaml")).unwrap_err();
    assert!(
        refused.to_string().ends_with(
            "machine.performance_counters is false, but the set core always has them: leave the key out"
        ),
        "{refused}"
    );
}

#[test]
fn the_check_is_of_the_embedding_s_lists_unless_said() {
    let line = PAPER.lines().find(|line| line.contains("  check: embedding")).unwrap();
    assert_eq!(parse(&PAPER.replace(&format!("{line}\n"), "")), parse(PAPER));
    let candidate = named::named("candidate").unwrap().unwrap();
    assert_eq!(candidate.machine.check, Check::Candidate);
    for (machine, number) in [(parse(PAPER).unwrap(), 0), (candidate, 1)] {
        assert!(verilog::package(&machine).contains(&format!("CANDIDATE_CHECK = {number};")));
    }
    let refused = message("check: embedding", "check: candidates");
    assert!(refused.starts_with("machine.yaml: machine.check: unknown variant"), "{refused}");
    assert!(refused.contains("line 10 ") && refused.ends_with("did you mean `candidate`?"));
    let set = "base: machines/set-small.yaml\nmachine: {check: candidate}";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let refused = Accelerator::parse(set, &root.join("set.yaml")).unwrap_err().to_string();
    let rule =
        "machine.check is candidate, but the set core intersects whole lists: leave the key out";
    assert!(refused.ends_with(rule), "{refused}");
}

#[test]
fn the_small_machine_is_valid() {
    let a = small();
    assert_eq!(a.machine.processing_units, 2);
    // What it doesn't say is as in its base.
    assert_eq!((a.machine.depth, a.machine.clock_mhz), (16, 200));
}

#[test]
fn arguments_follow_the_offsets_of_vitis_hls() {
    let a = parse(PAPER).unwrap();
    assert_eq!(a.offset("application"), Some(0x10));
    assert_eq!(a.offset("k"), Some(0x18));
    // edge_bound has 64 bits: the next argument is 12 bytes on.
    assert_eq!(a.offset("vertex_sets").unwrap(), a.offset("edge_bound").unwrap() + 12);
    assert_eq!(a.offset("nothing"), None);
}

#[test]
fn the_package_holds_sizes_offsets_and_counters() {
    let text = verilog::package(&small());
    for line in ["PUS = 2;", "SLOTS = 4;", "ARG_APPLICATION = 16;", "CNT_PU_EXTENSIONS = 0;"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_known_one() {
    let text = message("  slots: 16", "  slotz: 16");
    assert!(text.starts_with("machine.yaml: "), "{text}");
    assert!(text.contains("`slotz`") && text.ends_with("did you mean `slots`?"), "{text}");
    assert!(text.contains("line 6"), "{text}");
}

#[test]
fn a_missing_key_is_named() {
    let text = message("  slots: 16", "");
    assert!(text.contains("missing field `slots`"), "{text}");
}

#[test]
fn values_out_of_range_are_named_with_the_rule() {
    let cases = [
        ("  slots: 16 ", "  slots: 12 ", "machine.slots is 12, but must be a power of two"),
        ("  slots: 16 ", "  slots: 1 ", "machine.slots is 1, but must be 2 to 32"),
        ("  depth: 16 ", "  depth: 17 ", "machine.depth is 17, but must be 3 to 16"),
        ("partitions: 8 ", "partitions: 2 ", "must not be below memory.ddr_banks, 4"),
        ("cache_ways: 4", "cache_ways: 8", "memory.cache_ways is 8, but must be 4"),
        ("cache_bytes: 131072", "cache_bytes: 3000", "vertex_cache_bytes is 3000"),
        ("entries: 32768", "entries: 1024", "must be 32768: 2 to the power"),
        ("name: k, bits: 32", "name: k, bits: 16", "arguments.k.bits is 16, but must be 32 or 64"),
        ("name: slots,", "name: k,", "arguments is `k` twice, but names must differ"),
        ("  depth: 16 ", "  depth: 5 ", "max_motif is 6, but must not exceed machine.depth, 5"),
        (
            "bank_bytes: 17179869184",
            "bank_bytes: 5000",
            "bank_bytes is 5000, but must be a multiple",
        ),
        ("units: 1 ", "units: 16 ", "kernels.compute_units is 16, but must be 1 to 15"),
        ("head, bits: 64", "head, bits: 32", "head.bits is 32, but an address has 64"),
        (
            "m_axi_bank0, bank: 0",
            "m_axi_bank0, bank: 4",
            "abort.bank is 4, but there are 4, from 0",
        ),
        ("port: m_axi_gmem, bank: 0", "port: m_axi_gmem", "then the bank of the buffer must be"),
        ("each: 128", "each: 100", "vertex_record is of 100 bits, but must divide 512"),
        ("valid: [96, 1]", "valid: [128, 1]", "in.unit.valid is [128, 1], but must lie in 128"),
        ("limit: [64, 32]", "limit: [63, 32]", "`first` has some of these bits"),
        ("stream: in, port: out", "stream: on, port: out", "linked to stream `on`"),
        ("layout: locality", "layout: unifrom", "did you mean `uniform`?"),
    ];
    for (from, to, part) in cases {
        let text = message(from, to);
        assert!(text.contains(part), "`{to}` gave: {text}");
    }
}

/// Programs set these arguments by their names: without one of them a device can't be driven.
#[test]
fn every_argument_is_missed() {
    let whole = parse(PAPER).unwrap();
    let count = |a: &Accelerator| {
        [a.arguments.len(), a.kernels.fill.arguments.len(), a.kernels.drain.arguments.len()]
    };
    let sections = ["arguments", "kernels.fill.arguments", "kernels.drain.arguments"];
    let of = |a: &mut Accelerator, kernel: usize| match kernel {
        0 => std::mem::take(&mut a.arguments),
        1 => std::mem::take(&mut a.kernels.fill.arguments),
        _ => std::mem::take(&mut a.kernels.drain.arguments),
    };
    let with = |kernel: usize, arguments| {
        let mut a = whole.clone();
        match kernel {
            0 => a.arguments = arguments,
            1 => a.kernels.fill.arguments = arguments,
            _ => a.kernels.drain.arguments = arguments,
        }
        parse(&a.to_yaml())
    };
    for (kernel, section) in sections.iter().enumerate() {
        for at in 0..count(&whole)[kernel] {
            let mut less = of(&mut whole.clone(), kernel);
            let gone = less.remove(at).name;
            let said = with(kernel, less).expect_err("must be refused");
            let expected = format!("{section} is without `{gone}`, but");
            assert!(said.contains(&expected), "{said}");

            // A number in place of an address, and the other way round.
            let mut other = of(&mut whole.clone(), kernel);
            match other[at].bank.take() {
                Some(_) => other[at].port = None,
                None => {
                    other[at].bits = 64;
                    other[at].port = Some("m_axi_gmem".into());
                    other[at].bank = Some(0);
                }
            }
            let said = with(kernel, other).expect_err("must be refused");
            assert!(said.contains(&format!("{section}.{gone}.bank is ")), "{said}");
        }
    }
    let text = message("head_beats, bits: 32", "head_beats, bits: 64");
    assert!(
        text.contains("kernels.fill.arguments.head_beats.bits is 64, but must be 32"),
        "{text}"
    );
}

#[test]
fn built_in_machines_are_those_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<String> = std::fs::read_dir(root.join("machines"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    files.push("paper".into());
    files.sort();
    let mut names: Vec<&str> = named::names().map(|(name, _)| name).collect();
    names.sort_unstable();
    assert_eq!(names, files);
    for name in names {
        let file = match name {
            "paper" => root.join("accelerator.yaml"),
            name => root.join(format!("machines/{name}.yaml")),
        };
        assert_eq!(
            named::named(name).unwrap().unwrap(),
            Accelerator::read(file).unwrap(),
            "{name}"
        );
    }
    assert!(named::named("smal").is_none());
}

#[test]
fn a_missing_file_is_named() {
    let text = Accelerator::read("no/such.yaml").unwrap_err().to_string();
    assert!(text.starts_with("no/such.yaml: cannot read: "), "{text}");
}

#[test]
fn a_description_with_a_base_says_only_what_differs() {
    let base = PAPER.replace("slots: 16 ", "slots: 8 ");
    let middle = "base: b.yaml\nmachine: {name: middle, slots: 4}\n";
    let a = read(&[
        ("a.yaml", "base: m.yaml\nmemory:\n  ddr_banks: 2\n"),
        ("m.yaml", middle),
        ("b.yaml", &base),
    ])
    .unwrap();
    assert_eq!((a.machine.name.as_str(), a.machine.slots), ("middle", 4));
    let banks: Vec<&str> =
        a.arguments.iter().map(|x| x.name.as_str()).filter(|n| n.starts_with("bank")).collect();
    assert_eq!(banks, ["bank0", "bank1"]);
}

#[test]
fn faults_of_a_description_with_a_base_are_named() {
    let unknown = read(&[("a.yaml", "base: b.yaml\nmachine:\n  slotz: 4\n"), ("b.yaml", PAPER)]);
    let text = unknown.unwrap_err();
    assert!(text.starts_with("a.yaml: line 3: unknown field `slotz`"), "{text}");
    let value = read(&[("a.yaml", "base: b.yaml\nmemory: {dram: ddr5}\n"), ("b.yaml", PAPER)]);
    let text = value.unwrap_err();
    assert!(text.starts_with("a.yaml: memory.dram: unknown variant `ddr5`"), "{text}");
    assert!(text.ends_with("did you mean `ddr4`?") && !text.contains(" line "), "{text}");
    let text = read(&[("a.yaml", "base: c.yaml\n")]).unwrap_err();
    assert!(text.starts_with("c.yaml: cannot read"), "{text}");
    let text = read(&[("a.yaml", "base: a.yaml\n")]).unwrap_err();
    assert!(text.contains("a file on itself"), "{text}");
    let text = read(&[("a.yaml", "base: 3\n")]).unwrap_err();
    assert!(text.contains("must be the name of a file"), "{text}");
    let text = read(&[("a.yaml", "base: b.yaml\nmachine: {slots: 5}\n"), ("b.yaml", PAPER)]);
    assert_eq!(text.unwrap_err(), "a.yaml: machine.slots is 5, but must be a power of two");
}

#[test]
fn the_whole_description_reads_back_as_the_same() {
    for a in [parse(PAPER).unwrap(), small()] {
        assert_eq!(parse(&a.to_yaml()).unwrap(), a);
    }
}

#[test]
fn instances_have_addresses_of_their_own() {
    let a = parse(&PAPER.replace("compute_units: 1 ", "compute_units: 2 ")).unwrap();
    let names: Vec<String> = a.instances().into_iter().map(|i| i.name).collect();
    let of = |kernel: &str| [1, 2].map(|unit| format!("gramer_{kernel}_{unit}"));
    assert_eq!(names, [of("core"), of("fill"), of("drain")].concat());
    let bases: Vec<u64> = a.instances().iter().map(|i| i.base).collect();
    assert!(bases.windows(2).all(|w| w[1] - w[0] >= 0x1_0000), "{bases:x?}");
    assert!(a.bank_base(1) - a.bank_base(0) >= a.memory.bank_bytes);
    let offsets = a.offsets_of(&a.kernels.fill);
    let offsets: Vec<(&str, u32)> = offsets.iter().map(|(x, o)| (x.name.as_str(), *o)).collect();
    assert_eq!(
        offsets,
        [
            ("head", 0x10),
            ("head_beats", 0x1c),
            ("units", 0x24),
            ("units_first", 0x30),
            ("units_beats", 0x38)
        ]
    );
}

#[test]
fn fields_of_a_beat_are_read_and_written() {
    let a = small();
    let status = |name: &str| a.streams.output.field("status", name).unwrap();
    let mut beat = [0u8; 64];
    status("next_unit").set(&mut beat, 0x1234_5678_9abc_def0);
    status("saturated").set(&mut beat, 1);
    assert_eq!(beat[16..24], 0x1234_5678_9abc_def0u64.to_le_bytes());
    assert_eq!((beat[3], beat[4]), (0, 1));
    assert_eq!(status("next_unit").get(&beat), 0x1234_5678_9abc_def0);
    assert_eq!((status("status").get(&beat), status("saturated").get(&beat)), (0, 1));
    assert!(a.streams.output.field("status", "nothing").is_none());
}

#[test]
fn the_link_configuration_joins_each_compute_unit_to_banks_and_streams() {
    let a = parse(&PAPER.replace("compute_units: 1 ", "compute_units: 2 ")).unwrap();
    let text = vitis::link_config(&a);
    for line in [
        "nk=gramer_fill:2",
        "sp=gramer_core_2.bank3:DDR[3]",
        "sp=gramer_core_2.abort:DDR[0]",
        "sp=gramer_drain_1.result:DDR[0]",
        "stream_connect=gramer_fill_2.out:gramer_core_2.s_axis_in",
        "stream_connect=gramer_core_1.m_axis_out:gramer_drain_1.in",
        "slr=gramer_core_2:SLR2",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    // The frequency is given to the linker by the build, from the machine, and nowhere else.
    assert!(!text.contains("[clock]") && !text.contains("Freq"), "{text}");
}

#[test]
fn kernel_xml_has_every_argument_port_and_stream() {
    let a = small();
    let text = vitis::kernel_xml(&a, &a.kernels.core);
    for part in [
        "<kernel name=\"gramer_core\" language=\"ip_c\"",
        "<arg name=\"application\" addressQualifier=\"0\" id=\"0\" port=\"s_axi_control\" \
         size=\"0x4\" offset=\"0x10\"",
        "<arg name=\"bank1\" addressQualifier=\"1\" id=\"13\" port=\"m_axi_bank1\" size=\"0x8\" \
         offset=\"0x88\"",
        "<port name=\"m_axi_bank1\" mode=\"master\"",
        "<port name=\"s_axis_in\" mode=\"read_only\" dataWidth=\"512\" portType=\"stream\"/>",
        "<arg name=\"m_axis_out\" addressQualifier=\"4\" id=\"15\"",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("bank2"), "the machine has two banks:\n{text}");
}

#[test]
fn the_vitis_top_names_every_port_of_each_bank() {
    let text = verilog::kernel(&small());
    for port in ["arvalid", "arlock", "arcache", "arprot", "arqos", "arregion", "rlast", "rresp"] {
        for bank in 0..2 {
            assert!(text.contains(&format!(" m_axi_bank{bank}_{port}")), "{port} of bank {bank}");
        }
    }
    assert!(!text.contains("m_axi_bank2_"), "the machine has two banks");
    assert!(text.contains("input  wire [511:0] s_axis_in_tdata,"), "{text}");
    assert!(text.contains("output wire [63:0]  m_axis_out_tkeep,"), "{text}");
    assert!(text.contains(".m_axi_araddr(araddr)"), "{text}");
    assert!(!text.contains("logic"), "the packager takes Verilog alone:\n{text}");
    assert!(text.contains("assign m_axi_bank1_araddr = araddr[127:64];"), "{text}");
}

#[test]
fn the_header_has_the_numbers_of_the_package_and_the_streams() {
    let text = header::cpp(&small());
    for line in [
        "constexpr unsigned PUS = 2; ",
        "constexpr unsigned IN_HEADER_PATTERNS_AT = 96; ",
        "constexpr unsigned IN_UNIT_EACH = 128; ",
        "constexpr unsigned OUT_STATUS_NEXT_UNIT_AT = 128; ",
        "constexpr unsigned FILL_UNITS_FIRST_OFFSET = 48; ",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

fn set() -> Accelerator {
    named::named("set").unwrap().unwrap()
}

#[test]
fn a_set_core_has_its_own_package_beside_what_both_cores_use() {
    let text = verilog::package(&set());
    let (shared, own) = text.split_once("package gramer_set_pkg;").unwrap();
    assert!(shared.contains("package gramer_pkg;") && shared.contains("CONTROL_ADDR_W = "));
    assert!(!shared.contains("SLOTS = "), "sizes of the paper's core mean nothing here");
    for line in ["PARTITION_LINES = 8192;", "SIZE_LONG = 63;", "OP_CLIQUES = 1;", "SUM_CYCLES = 4;"]
    {
        assert!(own.contains(line), "{line} is not in\n{own}");
    }
    for line in ["IN_UNIT_ADDRESS_BITS = 26;", "IN_PLAN_K_AT = 4;", "ARG_IMAGE_LINES = 24;"] {
        assert!(own.contains(line), "{line} is not in\n{own}");
    }
    let header = header::cpp(&set());
    assert!(header.contains("constexpr unsigned MAP_BANKS = 16;"));
    assert!(header.contains("FILL_HEAD_OFFSET"));
}

/// A cluster reads its image from the bank with its number; the movers stay in bank 0.
#[test]
fn compute_units_of_a_set_core_have_banks_of_their_own() {
    let config = vitis::link_config(&named::named("set32").unwrap().unwrap());
    for unit in 1..=4 {
        let line = format!("sp=gramer_set_core_{unit}.bank0:DDR[{}]\n", unit - 1);
        assert!(config.contains(&line), "{line} is not in\n{config}");
        let line = format!("sp=gramer_fill_{unit}.units:DDR[0]\n");
        assert!(config.contains(&line), "{line} is not in\n{config}");
    }
    let top = verilog::kernel(&set());
    assert!(top.contains("gramer_set_core i_core (") && top.contains("m_axi_bank0_araddr"));
    assert!(!top.contains("m_axi_bank1_araddr"), "a cluster has one port");
}

#[test]
fn sizes_of_a_set_core_are_checked() {
    let whole = set().to_yaml();
    let refused = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from} is not in\n{whole}");
        parse(&whole.replacen(from, to, 1)).expect_err("must be refused")
    };
    for (from, to, part) in [
        ("lists: 32", "lists: 12", "set.lists is 12, but must be a power of two from 2 to 32"),
        ("row_words: 512", "row_words: 64", "must be at least 256²"),
        ("list_lines: 16", "list_lines: 4", "must be a power of two from 8 to 32"),
        ("channels: 1", "channels: 3", "set.channels is 3, but must be a power of two from 1 to 8"),
        ("channels: 1", "channels: 8", "must not be below set.channels, 8"),
        (
            "narrow_partitions: 3",
            "narrow_partitions: 9",
            "set.narrow_partitions is 9, but must not be above machine.partitions, 8",
        ),
        ("core: set", "core: paper", "set is given, but then `core` must be `set`"),
        ("name: image_lines", "name: lines", "arguments is without `image_lines`"),
        (
            "quarters:\n        - 26\n        - 12",
            "quarters:\n        - 26\n        - 11",
            "12 bits",
        ),
    ] {
        let said = refused(from, to);
        assert!(said.contains(part), "{said}");
    }
    let plans = named::named("set-plans").unwrap().unwrap().to_yaml();
    for (from, to, part) in [
        (
            "plan_walkers: 8",
            "plan_walkers: 3",
            "set.plan_walkers is 3, but must be a power of two from 1 to 8",
        ),
        ("plan_levels: 7", "plan_levels: 0", "must be 1 without set.plan_levels"),
        ("  - plan_no_line\n", "", "must have `plan_no_line`, since set.plan_levels isn't 0"),
        ("reached: 1024", "reached: 1000", "must be 0 or a power of two from 2 to 4096"),
        ("reached: 1024", "reached: 4", "must be at least 8"),
        (
            "partition_lines: 8192",
            "partition_lines: 16384",
            "must be 0 where the partitions hold more than 262144 quarter-lines",
        ),
    ] {
        assert!(plans.contains(from), "{from} is not in\n{plans}");
        let said = parse(&plans.replacen(from, to, 1)).expect_err("must be refused");
        assert!(said.contains(part), "{said}");
    }
    let said = refused("reached: 0", "reached: 8");
    assert!(said.contains("must be 0 without set.plan_levels"), "{said}");
    let said = refused("  - units\n", "  - units\n  - plan_steps\n");
    assert!(said.contains("must not have `plan_steps` without set.plan_levels"), "{said}");
    let said = parse(&PAPER.replacen("machine:", "core: set\nmachine:", 1)).unwrap_err();
    assert!(said.contains("set is missing, but a set core has its sizes there"), "{said}");
}
