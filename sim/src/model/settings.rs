//! Verilator settings of a core: blocks that stay functions, and visible registers.

use gramer_machine::{Accelerator, Core};

/// Waveform options: struct fields separately, memory lines (512 bits) as a whole.
pub(super) const TRACING: [&str; 4] =
    ["--trace-fst", "--trace-structs", "--trace-max-width", "512"];

/// Settings of the models, in addition to `rtl/verilator.vlt`. Inlining all blocks would make the core one huge
/// function, slower to compile and to run. [`crate::instances`] shares the functions of multiple instances; this
/// requires instance-specific inputs to be public. (A public clock would become one clock per instance.)
const SETTINGS: &str = "`verilator_config
no_inline -module \"gramer_crossbar\"
no_inline -module \"gramer_crossbar_column\"
no_inline -module \"gramer_partition\"
no_inline -module \"gramer_pu\"
public_flat_rd -module \"gramer_crossbar_column\" -var \"push_i\"
public_flat_rd -module \"gramer_crossbar_column\" -var \"ready_i\"
public_flat_rd -module \"gramer_partition\" -var \"edge_*_i\"
public_flat_rd -module \"gramer_partition\" -var \"fill_*_i\"
public_flat_rd -module \"gramer_partition\" -var \"read_*_i\"
public_flat_rd -module \"gramer_partition\" -var \"vertex_*_i\"
public_flat_rd -module \"gramer_pu\" -var \"edge_*_i\"
public_flat_rd -module \"gramer_pu\" -var \"listed_take_i\"
public_flat_rd -module \"gramer_pu\" -var \"unit_valid_i\"
public_flat_rd -module \"gramer_pu\" -var \"vertex_*_i\"
";

/// Modules and registers shown by [`Model::state`](super::Model::state) and read by [`Model::sum`](super::Model::sum).
pub const STATE: [(&str, &[&str]); 11] = [
    ("gramer_core", &["state_q", "sweep_q", "status_q", "pu_busy", "poll_busy", "work_finished"]),
    ("gramer_prefetcher", &["state_q", "at_q"]),
    ("gramer_pu", &["counters_q", "listed_q", "stall_q"]),
    ("gramer_receiver", &["unit_valid_q"]),
    ("gramer_partition", &["counters_q"]),
    ("gramer_slot_buffer", &["busy_q"]),
    ("gramer_crossbar_column", &["some_q"]),
    ("gramer_miss_unit", &["taken_q"]),
    ("gramer_fifo", &["write_q", "read_q"]),
    ("gramer_axi_reader", &["arvalid_q"]),
    ("gramer_pattern_buffer", &["state_q", "queued_q"]),
];

/// Instance-specific inputs of PUs and partitions on machines with registers between regions.
const OWN: [(&str, &[&str]); 2] = [
    (
        "gramer_pu",
        &[
            "rst_i",
            "clear_i",
            "running_i",
            "kill_i",
            "config_i",
            "unit_i",
            "dictionary_*_i",
            "count_*_i",
            "counter_at_i",
        ],
    ),
    (
        "gramer_partition",
        &["rst_i", "config_i", "forget_i", "forget_set_i", "pad_*_i", "clear_i", "counter_at_i"],
    ),
];

/// [`SETTINGS`] of the set core.
const SET_SETTINGS: &str = "`verilator_config
no_inline -module \"gramer_set_pu\"
public_flat_rd -module \"gramer_set_pu\" -var \"answer_i\"
public_flat_rd -module \"gramer_set_pu\" -var \"push_i\"
public_flat_rd -module \"gramer_set_pu\" -var \"record_ready_i\"
";

/// [`STATE`] of the set core.
const SET_STATE: [(&str, &[&str]); 2] =
    [("gramer_set_pu", &["counters_q"]), ("gramer_fifo", &["write_q", "read_q"])];

/// Public variables of models that count activity (`sim/shim/activity.cpp`): registers, outputs of modules, and enables of
/// block memories, which `constraints/memories.tsv` names.
const ACTIVITY: [&str; 9] =
    ["*_q", "*_o", "valid_i", "read_i", "*_read_i", "write_i", "fill_i", "look_i", "refer_i"];

/// Names of the distributed memories of a source.
fn distributed(source: &str) -> impl Iterator<Item = &str> {
    source.split("ram_style = \"distributed\" *)").skip(1).filter_map(|rest| {
        let declared = rest.split(';').next()?;
        // The last word before the dimension of the array.
        declared.rsplit_once('[')?.0.split_whitespace().last()
    })
}

/// Settings of a core's models; registers of its state are public, and so are the inputs of [`OWN`] where it
/// applies. Models that count activity have modules and their sources: then all variables of [`ACTIVITY`] are public, and
/// distributed memories.
pub(super) fn settings(accelerator: &Accelerator, counted: Option<&[(String, String)]>) -> String {
    let (text, state) = match accelerator.core {
        Core::Paper => (SETTINGS, &STATE[..]),
        Core::Set => (SET_SETTINGS, &SET_STATE[..]),
    };
    let mut text = String::from(text);
    let apart = accelerator.core == Core::Paper && accelerator.machine.slr_registers > 0;
    for (module, names) in OWN.iter().filter(|_| apart) {
        for name in *names {
            text += &format!("public_flat_rd -module \"{module}\" -var \"{name}\"\n");
        }
    }
    for (module, names) in state {
        for name in *names {
            text += &format!("public_flat_rd -module \"{module}\" -var \"{name}\"\n");
        }
    }
    for name in ACTIVITY.iter().filter(|_| counted.is_some()) {
        text += &format!("public_flat_rd -module \"gramer_*\" -var \"{name}\"\n");
    }
    for (module, source) in counted.unwrap_or_default() {
        for name in distributed(source) {
            text += &format!("public_flat_rd -module \"{module}\" -var \"{name}\"\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn distributed_memories_are_found_by_name() {
        let source = "(* ram_style = \"distributed\" *) logic [7:0] mem [4];\n\
                      (* ram_style = \"block\" *) line_t lines [8];\n\
                      (* ram_style = \"distributed\" *) row_t states [SLOTS * DEPTH];\n";
        assert_eq!(super::distributed(source).collect::<Vec<_>>(), ["mem", "states"]);
    }
}
