//! Rules of a description.

use std::path::Path;

use crate::kernels::BANK_STEP;
use crate::streams::Stream;
use crate::{
    Accelerator, Argument, Core, Counter, Error, FILTER_WORD_BYTES, LINE_BYTES, Layout, Result, set,
};

/// Most memory banks: a set core may have each channel of two stacks of HBM as one.
pub(crate) fn most_banks(core: Core) -> u32 {
    match core {
        Core::Paper => 4,
        Core::Set => 32,
    }
}

/// Bits of an id on the AXI4 ports.
const AXI_ID_BITS: u32 = 8;

/// Valid values of a kernel's argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueRange {
    /// A number; of this many bits, where programs pass it as such.
    Scalar(Option<u32>),
    /// The address of a buffer in a bank.
    Buffer,
}

/// The arguments that programs set by name; beside these the core has one buffer a bank, `bank0`
/// and so on. A description that lacks one can't be driven.
const CORE_ARGUMENTS: [(&str, ValueRange); 12] = [
    ("application", ValueRange::Scalar(None)),
    ("k", ValueRange::Scalar(None)),
    ("flags", ValueRange::Scalar(None)),
    ("slots", ValueRange::Scalar(None)),
    ("lambda_eighths", ValueRange::Scalar(None)),
    ("vertex_bound", ValueRange::Scalar(None)),
    ("edge_bound", ValueRange::Scalar(None)),
    ("vertex_sets", ValueRange::Scalar(None)),
    ("edge_sets", ValueRange::Scalar(None)),
    ("result_beats", ValueRange::Scalar(None)),
    ("abort", ValueRange::Buffer),
    ("edge_base", ValueRange::Scalar(None)),
];
/// The same of the set core.
const SET_ARGUMENTS: [(&str, ValueRange); 3] = [
    ("flags", ValueRange::Scalar(None)),
    ("image_lines", ValueRange::Scalar(Some(32))),
    ("abort", ValueRange::Buffer),
];
const FILL_ARGUMENTS: [(&str, ValueRange); 5] = [
    ("head", ValueRange::Buffer),
    ("head_beats", ValueRange::Scalar(Some(32))),
    ("units", ValueRange::Buffer),
    ("units_first", ValueRange::Scalar(Some(32))),
    ("units_beats", ValueRange::Scalar(Some(32))),
];
const DRAIN_ARGUMENTS: [(&str, ValueRange); 2] =
    [("result", ValueRange::Buffer), ("capacity", ValueRange::Scalar(Some(32)))];

/// The message of the YAML reader, with the nearest known key where one isn't known.
pub(crate) fn with_nearest_key(error: &serde_yaml::Error) -> String {
    let message = error.to_string();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if !message.contains("unknown field") && !message.contains("unknown variant") {
        return message;
    }
    let Some((&wrong, known)) = quoted.split_first() else { return message };
    let nearest = known
        .iter()
        .map(|&key| (strsim::damerau_levenshtein(wrong, key), key))
        .min()
        .filter(|&(distance, key)| distance <= key.len() / 2);
    match nearest {
        Some((_, key)) => format!("{message}; did you mean `{key}`?"),
        None => message,
    }
}

/// A rule or several of one kind.
type Rule = fn(&Accelerator) -> Result<(), ValueFault>;

/// Checks every range and every relation between values.
pub(crate) fn check(a: &Accelerator, path: &Path) -> Result<()> {
    let rules: [Rule; 11] = [
        check_ranges,
        check_name,
        set::check,
        check_ids,
        check_depth,
        check_memories,
        check_dictionary,
        check_filter,
        check_kernels,
        check_names,
        check_contract,
    ];
    let path = path.to_path_buf();
    match rules.iter().try_for_each(|rule| rule(a)) {
        Ok(()) => Ok(()),
        Err((key, value, rule)) => Err(Error::Value { path, key, value, rule }),
    }
}

fn wrong(key: &str, value: &dyn std::fmt::Display, rule: String) -> Result<(), ValueFault> {
    Err((key.to_string(), value.to_string(), rule))
}

/// Numbers within their ranges, and powers of two where they must be.
fn check_ranges(a: &Accelerator) -> Result<(), ValueFault> {
    let (m, mem, app) = (&a.machine, &a.memory, &a.applications);
    let ranges: [(&str, u32, u32, u32, bool); 17] = [
        ("machine.processing_units", m.processing_units, 1, 16, true),
        ("machine.slots", m.slots, 2, 32, true),
        ("machine.depth", m.depth, 3, 16, false),
        ("machine.stealing_buffer", m.stealing_buffer, 2, 64, true),
        ("machine.partitions", m.partitions, 1, 16, true),
        ("machine.slr_registers", m.slr_registers, 0, 3, false),
        ("machine.clock_mhz", m.clock_mhz, 1, 1000, false),
        ("memory.misses", mem.misses, 2, 64, true),
        ("memory.stamp_bits", mem.stamp_bits, 4, 32, false),
        ("memory.ddr_banks", mem.ddr_banks, 1, most_banks(a.core), true),
        ("memory.ddr_latency_cycles", mem.ddr_latency_cycles, 1, 10_000, false),
        ("memory.ddr_cycles_a_beat", mem.ddr_cycles_a_beat, 1, 1000, false),
        ("applications.max_motif", app.max_motif, 3, 6, false),
        ("applications.count_bits", app.count_bits, 8, 64, false),
        ("applications.label_bits", app.label_bits, 1, 8, false),
        ("kernels.compute_units", a.kernels.compute_units, 1, 15, false),
        ("applications.pattern_counters", app.pattern_counters, 8, 32768, true),
    ];
    for (key, value, low, high, power) in ranges {
        if !(low..=high).contains(&value) {
            return wrong(key, &value, format!("must be {low} to {high}"));
        }
        if power && !value.is_power_of_two() {
            return wrong(key, &value, "must be a power of two".into());
        }
    }
    Ok(())
}

fn check_name(a: &Accelerator) -> Result<(), ValueFault> {
    let m = &a.machine;
    if m.name.is_empty() || !m.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return wrong(
            "machine.name",
            &format!("`{}`", m.name),
            "must consist of letters, digits and underscores".into(),
        );
    }
    Ok(())
}

/// Partitions that all banks have a part of, and ids that name every read of them.
fn check_ids(a: &Accelerator) -> Result<(), ValueFault> {
    let (m, mem) = (&a.machine, &a.memory);
    if a.core == Core::Set {
        return Ok(()); // its partitions read no memory
    }
    if m.partitions < mem.ddr_banks {
        return wrong(
            "machine.partitions",
            &m.partitions,
            format!("must not be below memory.ddr_banks, {}", mem.ddr_banks),
        );
    }
    // A read's id says which memory of the bank asked, or the abort word, and for which entry.
    let memories = (2 * m.partitions / mem.ddr_banks + 1).next_power_of_two();
    let id_bits = memories.ilog2() + mem.misses.ilog2();
    if id_bits > AXI_ID_BITS {
        return wrong(
            "memory.misses",
            &mem.misses,
            format!(
                "{memories} memories a bank and as many entries need ids of {id_bits} bits, \
                 the AXI ports have {AXI_ID_BITS}: fewer misses or partitions, or more banks"
            ),
        );
    }
    Ok(())
}

fn check_depth(a: &Accelerator) -> Result<(), ValueFault> {
    let (m, app) = (&a.machine, &a.applications);
    if app.max_motif > m.depth {
        return wrong(
            "applications.max_motif",
            &app.max_motif,
            format!("must not exceed machine.depth, {}", m.depth),
        );
    }
    Ok(())
}

/// Sizes of banks, scratchpads and caches.
fn check_memories(a: &Accelerator) -> Result<(), ValueFault> {
    let mem = &a.memory;
    if mem.bank_bytes == 0 || mem.bank_bytes % 4096 != 0 || mem.bank_bytes > BANK_STEP {
        return wrong(
            "memory.bank_bytes",
            &mem.bank_bytes,
            "must be a multiple of 4096 up to 64 GiB".into(),
        );
    }
    if mem.cache_ways != 4 {
        return wrong("memory.cache_ways", &mem.cache_ways, "must be 4".into());
    }
    for (key, bytes, unit) in [
        ("memory.vertex_scratchpad_bytes", mem.vertex_scratchpad_bytes, LINE_BYTES),
        ("memory.edge_scratchpad_bytes", mem.edge_scratchpad_bytes, LINE_BYTES),
        ("memory.vertex_cache_bytes", mem.vertex_cache_bytes, LINE_BYTES * mem.cache_ways),
        ("memory.edge_cache_bytes", mem.edge_cache_bytes, LINE_BYTES * mem.cache_ways),
    ] {
        if bytes < unit || !bytes.is_power_of_two() || bytes > 1 << 24 {
            return wrong(key, &bytes, format!("must be a power of two from {unit} to 2^24"));
        }
    }
    if mem.layout == Layout::Uniform
        && (mem.vertex_cache_bytes != mem.vertex_scratchpad_bytes
            || mem.edge_cache_bytes != mem.edge_scratchpad_bytes)
    {
        return wrong(
            "memory.layout",
            &"uniform",
            "then the scratchpads must be as large as the caches, whose sets double".into(),
        );
    }
    Ok(())
}

/// A dictionary with an entry for every key that motifs and labelled triples make.
fn check_dictionary(a: &Accelerator) -> Result<(), ValueFault> {
    let app = &a.applications;
    let pairs = app.max_motif * (app.max_motif - 1) / 2;
    let key_bits = pairs.max(3 + 3 * app.label_bits);
    let needed = 1u64 << key_bits;
    if u64::from(app.dictionary_entries) != needed {
        return wrong(
            "applications.dictionary_entries",
            &app.dictionary_entries,
            format!(
                "must be {needed}: 2 to the power of the larger of {pairs} (pairs of \
                 max_motif vertices) and {} (3 pairs and 3 labels)",
                3 + 3 * app.label_bits
            ),
        );
    }
    Ok(())
}

/// The kernels' arguments, what links them, and the streams between them.
fn check_kernels(a: &Accelerator) -> Result<(), ValueFault> {
    if !a.kernels.core.arguments.is_empty() {
        return wrong(
            "kernels.core.arguments",
            &"given",
            "the arguments of the core are the section `arguments`".into(),
        );
    }
    for kernel in a.kernels() {
        let section = match kernel.name == a.kernels.core.name {
            true => "arguments".to_string(),
            false => format!("kernels.{}.arguments", kernel.name),
        };
        for argument in a.arguments_of(kernel) {
            check_argument(a, &section, argument)?;
        }
        for port in kernel.reads.iter().chain(&kernel.writes) {
            if !["in", "out"].contains(&port.stream.as_str()) {
                return wrong(
                    &format!("kernels.{}", kernel.name),
                    &format!("linked to stream `{}`", port.stream),
                    "the streams between kernels are `in` and `out`".into(),
                );
            }
        }
    }
    for (name, stream) in
        [("in", &a.streams.input), ("out", &a.streams.output), ("result", &a.streams.result)]
    {
        check_stream(name, stream)?;
    }
    Ok(())
}

/// Names that differ, and that languages take.
fn check_names(a: &Accelerator) -> Result<(), ValueFault> {
    let sections = [
        ("arguments", argument_names(&a.arguments)),
        ("kernels.fill.arguments", argument_names(&a.kernels.fill.arguments)),
        ("kernels.drain.arguments", argument_names(&a.kernels.drain.arguments)),
        ("kernels", a.kernels().iter().map(|k| k.name.as_str()).collect()),
        ("counters.core", names(&a.counters.core)),
        ("counters.pu", names(&a.counters.pu)),
        ("counters.partition", names(&a.counters.partition)),
        ("counters.bank", names(&a.counters.bank)),
    ];
    for (section, names) in sections {
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return wrong(section, &format!("`{name}` twice"), "names must differ".into());
            }
            if name.is_empty()
                || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            {
                return wrong(
                    section,
                    &format!("`{name}`"),
                    "names consist of lower-case letters, digits and underscores".into(),
                );
            }
        }
    }
    Ok(())
}

/// A section of arguments, and those that it must have.
type Contract<'a> = (&'a str, &'a [Argument], Vec<(&'a str, ValueRange)>);

/// Checks that the kernels have every argument that programs set, and that it is passed as they
/// pass it.
fn check_contract(a: &Accelerator) -> Result<(), ValueFault> {
    let banks: Vec<String> = (0..a.core_ports()).map(|bank| format!("bank{bank}")).collect();
    let banks = banks.iter().map(|name| (name.as_str(), ValueRange::Buffer));
    let core = match a.core {
        Core::Paper => &CORE_ARGUMENTS[..],
        Core::Set => &SET_ARGUMENTS[..],
    };
    let kernels: [Contract<'_>; 3] = [
        ("arguments", &a.arguments, core.iter().copied().chain(banks).collect()),
        ("kernels.fill.arguments", &a.kernels.fill.arguments, FILL_ARGUMENTS.into()),
        ("kernels.drain.arguments", &a.kernels.drain.arguments, DRAIN_ARGUMENTS.into()),
    ];
    for (section, arguments, wanted) in kernels {
        for (name, passed) in wanted {
            let Some(argument) = arguments.iter().find(|x| x.name == name) else {
                let value = format!("without `{name}`");
                return Err((section.into(), value, "programs set this argument".into()));
            };
            let key = |field: &str| format!("{section}.{name}.{field}");
            match (passed, argument.bank) {
                (ValueRange::Buffer, None) => {
                    let rule = "it must be the address of a buffer, with port and bank";
                    return Err((key("bank"), "missing".into(), rule.into()));
                }
                (ValueRange::Scalar(_), Some(bank)) => {
                    let rule = "it must be a number, without port and bank";
                    return Err((key("bank"), bank.to_string(), rule.into()));
                }
                (ValueRange::Scalar(Some(bits)), None) if argument.bits != bits => {
                    return Err((
                        key("bits"),
                        argument.bits.to_string(),
                        format!("must be {bits}"),
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Words of the user's filter, which come in one beat.
fn check_filter(a: &Accelerator) -> Result<(), ValueFault> {
    const MOST: u32 = LINE_BYTES / FILTER_WORD_BYTES;
    let (key, words) = ("applications.filter_words", a.applications.filter_words);
    match a.core {
        Core::Set if words > 0 => {
            wrong(key, &words, "a set core has no filter: leave it out".into())
        }
        _ if words > MOST || words > 0 && !words.is_power_of_two() => {
            wrong(key, &words, format!("must be 0 or a power of two up to {MOST}"))
        }
        _ => Ok(()),
    }
}

fn names(counters: &[Counter]) -> Vec<&str> {
    counters.iter().map(Counter::name).collect()
}

fn argument_names(arguments: &[Argument]) -> Vec<&str> {
    arguments.iter().map(|x| x.name.as_str()).collect()
}

/// Error of a value: key, value, rule.
pub(crate) type ValueFault = (String, String, String);

fn check_argument(a: &Accelerator, section: &str, argument: &Argument) -> Result<(), ValueFault> {
    let key = |field: &str| format!("{section}.{}.{field}", argument.name);
    if argument.bits != 32 && argument.bits != 64 {
        return Err((key("bits"), argument.bits.to_string(), "must be 32 or 64".into()));
    }
    let banks = a.memory.ddr_banks;
    match (&argument.port, argument.bank) {
        (None, None) => Ok(()),
        (Some(_), None) => {
            Err((key("port"), "given".into(), "then the bank of the buffer must be given".into()))
        }
        (None, Some(bank)) => {
            Err((key("bank"), bank.to_string(), "then a port must be given".into()))
        }
        (Some(_), Some(_)) if argument.bits != 64 => {
            Err((key("bits"), argument.bits.to_string(), "an address has 64".into()))
        }
        (Some(_), Some(bank)) if bank >= banks => {
            Err((key("bank"), bank.to_string(), format!("there are {banks}, from 0")))
        }
        _ => Ok(()),
    }
}

fn check_stream(name: &str, stream: &Stream) -> Result<(), ValueFault> {
    let line = LINE_BYTES * 8;
    if stream.bits != line {
        let key = format!("streams.{name}.bits");
        return Err((key, stream.bits.to_string(), format!("must be {line}")));
    }
    for part in &stream.parts {
        let key = format!("streams.{name}.{}", part.name);
        let entry = part.each.unwrap_or(line);
        if entry == 0 || line % entry != 0 {
            return Err((key, format!("of {entry} bits"), format!("must divide {line}")));
        }
        for (at, field) in part.fields.iter().enumerate() {
            let end = u64::from(field.at) + u64::from(field.bits);
            let key = format!("{key}.{}", field.name);
            let value = format!("[{}, {}]", field.at, field.bits);
            if field.bits == 0 || end > u64::from(entry) {
                return Err((key, value, format!("must lie in {entry} bits")));
            }
            let before = part.fields[..at].iter();
            let overlaps = |f: &&crate::streams::Field| {
                f.at < field.at + field.bits && field.at < f.at + f.bits
            };
            if let Some(other) = before.into_iter().find(overlaps) {
                return Err((key, value, format!("`{}` has some of these bits", other.name)));
            }
        }
    }
    Ok(())
}
