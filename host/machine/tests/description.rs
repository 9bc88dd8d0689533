//! Every rule of the description has a test that reads its message.

use std::path::Path;

use gramer_machine::{Accelerator, verilog};

const PAPER: &str = include_str!("../../../accelerator.yaml");
const SMALL: &str = include_str!("../../../machines/small.yaml");

fn parse(text: &str) -> Result<Accelerator, String> {
    Accelerator::parse(text, Path::new("machine.yaml")).map_err(|e| e.to_string())
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
fn the_small_machine_is_valid() {
    let a = parse(SMALL).unwrap();
    assert_eq!(a.machine.processing_units, 2);
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
    let text = verilog::package(&parse(SMALL).unwrap());
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
        ("layout: locality", "layout: unifrom", "did you mean `uniform`?"),
    ];
    for (from, to, part) in cases {
        let text = message(from, to);
        assert!(text.contains(part), "`{to}` gave: {text}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let text = Accelerator::read("no/such.yaml").unwrap_err().to_string();
    assert!(text.starts_with("no/such.yaml: cannot read: "), "{text}");
}
