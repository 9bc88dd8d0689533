//! Sizes and formats of the set core (`docs/reference/set-core.md`).
//!
//! Sizes are in the section `set` of a description. Constants here are formats that all machines share; the fields of units
//! and plans are in the section `streams`.

use serde::{Deserialize, Serialize};

use crate::check::ValueFault;
use crate::{Accelerator, Check, Core, ENTRIES_A_LINE, verilog};

mod products;

pub use products::{FACTORS, FACTORS_OF, PRODUCTS_OPEN, factor};

/// Section `set`: sizes of a cluster.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SetCore {
    /// Memory channels from which a cluster's image is loaded at the same time, a power of two up to 8 and to the
    /// partitions: line n lies in channel n mod `channels`.
    #[serde(default = "one")]
    pub channels: u32,
    /// Lines of 64 bytes that a partition holds, a power of two.
    pub partition_lines: u32,
    /// Partitions of a cluster with one column (72 bits) of UltraRAM less than their lines fill; its bits lie in block RAM.
    #[serde(default)]
    pub narrow_partitions: u32,
    /// Units that wait in a PU, a power of two, at least half a beat of them.
    pub unit_queue: u32,
    /// Lists of roots in the list buffer of a PU, a power of two.
    pub lists: u32,
    /// Lines of a list in the list buffer, 8 to 32, a power of two.
    pub list_lines: u32,
    /// Lines in flight to a PU, a power of two.
    pub answers: u32,
    /// Sub-banks of the row memory, a power of two up to 8.
    pub row_banks: u32,
    /// Words of 64 bits of a sub-bank, a power of two.
    pub row_words: u32,
    /// Banks of the map, a power of two up to 16.
    pub map_banks: u32,
    /// Words of a bank of the map, a power of two.
    pub map_words: u32,
    /// Vertices of a search plan that are placed one after another, before the last one is counted: 2
    /// to [`PLAN_LEVELS`]; 0: no plans.
    #[serde(default)]
    pub plan_levels: u32,
    /// Units of a PU that go through a search plan at the same time, each in a part of the memory for sets: a power of
    /// two up to [`PLAN_WALKERS`].
    #[serde(default = "one")]
    pub plan_walkers: u32,
    /// Ends of a root's wedges that each bank of the map can note, a power of two up to 4,096: with it the core counts
    /// houses and 5-cycles. 0: it doesn't.
    #[serde(default)]
    pub reached: u32,
}

/// Default: one.
fn one() -> u32 {
    1
}

/// Bits of an entry that are the id of a vertex: the quarter-line address of its block.
pub const ID_BITS: u32 = 26;
/// Bits above them: the quarter-lines to read.
pub const SIZE_BITS: u32 = 6;
/// An entry's size that says: read the block's lengths.
pub const SIZE_LONG: u32 = (1 << SIZE_BITS) - 1;
/// A unit's number of quarter-lines that says the same.
pub const QUARTERS_LONG: u32 = (1 << 12) - 1;
/// The end of a unit's range that says: to the end.
pub const LAST_ALL: u32 = (1 << 12) - 1;
/// Padding; not a valid entry.
pub const PADDING: u32 = u32::MAX;
/// Entries of a quarter-line.
pub const QUARTER_ENTRIES: u32 = 4;
/// Quarter-lines of a line.
pub const LINE_QUARTERS: u32 = ENTRIES_A_LINE / QUARTER_ENTRIES;
/// Word of the quarter-line of lengths that holds the quarter-lines of the up list.
pub const LENGTH_UP: u32 = 0;
/// Word of it that holds the quarter-lines of the block.
pub const LENGTH_BLOCK: u32 = 1;
/// Units of a beat.
pub const UNITS_A_BEAT: u32 = 8;
/// Units of a half of a beat, which go to one PU.
pub const UNITS_A_GROUP: u32 = 4;
/// Plans of a run.
pub const PLANS: u32 = 4;
/// Sums of a run.
pub const SUMS: u32 = 8;
/// Sums of products behind those, on a machine that counts 5-motifs.
pub const PRODUCTS: u32 = 24;
/// All of them.
pub const SUMS_MOST: u32 = SUMS + PRODUCTS;

/// Smallest and largest k.
pub const K_RANGE: (u32, u32) = (3, 16);
/// Entries of a word of the map.
pub const MAP_ENTRIES: u32 = 4;
/// Bits of a counter of the map: of its root's level and what it counted above that. `LEVEL_W` of
/// `rtl/set/gramer_set_types_pkg.sv`, which a test holds equal.
pub const LEVEL_BITS: u32 = 17;
/// Most lines of the block of a root whose counters fit: its level is 1 after a clearing, that of the
/// next root lies two above what a counter for each entry could reach.
pub const MAP_LINES: u32 = ((1 << LEVEL_BITS) - 3) / ENTRIES_A_LINE;

/// Most memory channels of a cluster.
pub const CHANNELS: u32 = 8;
/// Most vertices that a search plan places before the one that it counts.
pub const PLAN_LEVELS: u32 = 7;
/// Most units of a PU that go through a search plan at the same time.
pub const PLAN_WALKERS: u32 = 8;
/// Most ends of a root's wedges that a bank of the map can note.
pub const REACHED: u32 = 1 << 12;
/// Words of a search plan at the most, whole beats of them.
pub const PLAN_WORDS: u32 = 40;
/// Words of a beat.
pub const WORDS_A_BEAT: u32 = 8;
/// Labels that the words of a search plan can name; 0 is any label.
pub const PLAN_LABELS: u32 = 8;
/// Sets that the words of a search plan can name.
pub const PLAN_SETS: u32 = 32;
/// In the image for plans: sizes below it are quarter-lines, from it on they are rounded
/// ([`size_quarters`]).
pub const SIZE_ROUNDED: u32 = 32;

/// In the image for wedges: low bits of an entry that are the id.
pub const WEDGE_ID_BITS: u32 = 19;
/// In the image for wedges: bits above those that are the size of the list of neighbours before that vertex. The bit
/// between them and the size of the block is 0, but in padding.
pub const WEDGE_UP_BITS: u32 = 6;

/// Vertices of a listed embedding whose record takes half a beat; with more it takes a whole one.
pub const RECORD_NARROW: u32 = 6;

/// Kinds of a search plan's words, by number.
pub const WORD_KINDS: [(&str, &str); 4] = [
    ("make", "a set is made and stored"),
    ("count", "a set is counted; on to the next candidate"),
    ("walk", "the members of a set are the candidates of the next vertex"),
    (
        "list",
        "the members of a set are listed, each with the images before it; on to the next candidate",
    ),
];

/// Quarter-lines that a size in the image for plans stands for: itself below [`SIZE_ROUNDED`], then four
/// to each doubling.
///
/// ```
/// use gramer_machine::set::size_quarters;
/// assert_eq!([31, 32, 33, 36, 63].map(size_quarters), [31, 32, 40, 64, 7168]);
/// ```
pub const fn size_quarters(size: u32) -> u32 {
    match size {
        0..SIZE_ROUNDED => size,
        _ => (4 + size % 4) << ((size - SIZE_ROUNDED) / 4 + 3),
    }
}

/// Counters of a PU that a machine with plans has besides those of all: what the cycles are for in which a search plan's
/// sets are made, counted and gone along. In the others there is no operation, or records have no room.
pub const PLAN_COUNTERS: [&str; 3] = ["plan_steps", "plan_passes", "plan_no_line"];

/// Operations of a plan, by their numbers.
pub const OPERATIONS: [(&str, &str); 8] = [
    ("none", "the unit does nothing"),
    ("cliques", "cliques of k vertices whose last vertex is the root"),
    ("edges", "triangles of each edge down from the root, and what is summed over them"),
    ("paths", "the same, and 4-cycles whose first vertex is the root"),
    ("plan", "the search plan whose words follow, for every unit"),
    (
        "houses",
        "the products of triangles and 4-cycles on each edge down from the root, for every unit",
    ),
    (
        "five_cycles",
        "the 5-cycles whose first vertex is the root, and what is too much of them, for every unit",
    ),
    (
        "motifs5",
        "for 5-motifs products over the connected sets of three vertices with the root in the middle, for every unit",
    ),
];

/// The sums, in order.
pub const SUM_NAMES: [(&str, &str); SUMS as usize] = [
    ("cliques", "cliques of k vertices, unless their plan names one of sums 1 to 3"),
    ("triangles", "sum of t over edges: three times the triangles"),
    ("pairs", "sum of t (t - 1) / 2 over edges"),
    ("degrees", "sum of t (deg u + deg v) over edges"),
    ("cycles", "4-cycles, with chords and without"),
    ("paths", "paths of 2 that were counted for the 4-cycles"),
    ("marks", "neighbours of roots that were marked"),
    ("embeddings", "what a search plan counts, or products for houses and 5-cycles"),
];

/// Status of a run, by their numbers.
const STATUS: [(&str, &str); 6] = [
    ("done", "every unit was explored"),
    ("full", "the sets of a search plan or its records had no room"),
    ("aborted", "the abort word said so"),
    ("error", "a read was answered with an error"),
    ("refused", "an argument is out of range"),
    ("cut", "the in-stream had no last beat"),
];

impl Accelerator {
    /// Whether there is a set core with the operations over the image for wedges: houses, 5-cycles and 5-motifs.
    pub fn has_wedges(&self) -> bool {
        self.set.as_ref().is_some_and(SetCore::has_wedges)
    }

    /// Sums that a run of the set core has.
    pub fn set_sums(&self) -> u32 {
        self.set.as_ref().map_or(SUMS, SetCore::sums)
    }

    /// Quarter-lines of the image that a cluster of the set core holds on chip; 0 without a set core.
    pub fn set_quarters(&self) -> u32 {
        self.set.as_ref().map_or(0, |s| s.partition_lines * self.machine.partitions * LINE_QUARTERS)
    }
}

impl SetCore {
    /// Most entries of the list of a root.
    pub fn list_entries(&self) -> u32 {
        self.list_lines * ENTRIES_A_LINE
    }

    /// Lines of a PU's memory for the sets of a plan: that of its list buffer.
    pub fn plan_lines(&self) -> u32 {
        self.lists * self.list_lines
    }

    /// Entries of a bank of the map in the smallest range that a unit can name: ranges are told apart by the high 12 bits
    /// of an entry's place in its bank.
    pub fn range_entries(&self) -> u32 {
        (self.map_words * MAP_ENTRIES / (LAST_ALL + 1)).max(1)
    }

    /// Whether its map can note which vertices a root reaches.
    pub fn has_wedges(&self) -> bool {
        self.reached > 0
    }

    /// Sums of products that a run has behind the others.
    pub fn products(&self) -> u32 {
        if self.has_wedges() { PRODUCTS } else { 0 }
    }

    /// Sums that a run has.
    pub fn sums(&self) -> u32 {
        SUMS + self.products()
    }

    /// Vertices that the map has an entry for.
    pub fn map_entries(&self) -> u32 {
        self.map_banks * self.map_words * MAP_ENTRIES
    }
}

/// Name, value and meaning of every number of a set core.
pub(crate) fn numbers(a: &Accelerator) -> Vec<(String, u32, String)> {
    let Some(s) = &a.set else { return vec![] };
    let mut all = vec![];
    let mut number =
        |name: &str, value: u32, what: &str| all.push((name.to_string(), value, what.to_string()));
    number("PUS", a.machine.processing_units, "processing units of a cluster");
    number("PARTITIONS", a.machine.partitions, "of a cluster");
    number("SLR_REGISTERS", a.machine.slr_registers, "on each path between regions of the die");
    number("COUNT_W", a.applications.count_bits, "bits of a sum");
    number("CHANNELS", s.channels, "memory channels of a cluster");
    number("PARTITION_LINES", s.partition_lines, "lines of a partition");
    number("NARROW_PARTITIONS", s.narrow_partitions, "partitions with a column of UltraRAM less");
    number("UNIT_QUEUE", s.unit_queue, "units that wait in a PU");
    number("LISTS", s.lists, "lists in a PU's list buffer");
    number("LIST_LINES", s.list_lines, "lines of one of them");
    number("ANSWERS", s.answers, "lines under way to a PU");
    number("ROW_BANKS", s.row_banks, "sub-banks of the row memory");
    number("ROW_WORDS", s.row_words, "words of 64 bits of a sub-bank");
    number("MAP_BANKS", s.map_banks, "banks of the map");
    number("MAP_WORDS", s.map_words, "words of a bank");
    number("MAP_ENTRIES", MAP_ENTRIES, "entries of a word");
    number("PLAN_LEVELS", s.plan_levels, "vertices that a search plan places; 0: no plans");
    number("PLAN_WALKERS", s.plan_walkers, "units of a PU that go through one at the same time");
    number("REACHED", s.reached, "ends of wedges that a bank of the map can note; 0: none");
    number("WEDGE_ID_W", WEDGE_ID_BITS, "in the image for wedges: low bits of an entry, the id");
    number("WEDGE_UP_W", WEDGE_UP_BITS, "above them: the size of the list before that vertex");
    number("PLAN_WORDS", PLAN_WORDS, "words of a search plan at the most");
    number(
        "PLAN_LABELS",
        PLAN_LABELS,
        "labels that its words can name, each a range of ids; 0 is any",
    );
    number("PLAN_SETS", PLAN_SETS, "sets that they can name");
    number("WORDS_A_BEAT", WORDS_A_BEAT, "words of a beat");
    number("RECORD_NARROW", RECORD_NARROW, "vertices of a listed embedding that takes half a beat");
    number("SIZE_ROUNDED", SIZE_ROUNDED, "in the image for plans: the first size that is rounded");
    number("LINE_W", ENTRIES_A_LINE * 32, "bits of a line");
    number("LINE_ENTRIES", ENTRIES_A_LINE, "entries of a line");
    number("LINE_QUARTERS", LINE_QUARTERS, "quarter-lines of a line");
    number("QUARTER_ENTRIES", QUARTER_ENTRIES, "entries of a quarter-line");
    number("ID_W", ID_BITS, "low bits of an entry: id, a quarter-line address");
    number("SIZE_W", SIZE_BITS, "high bits of an entry: quarter-lines to read");
    number("SIZE_LONG", SIZE_LONG, "as size: read the block's lengths");
    number("QUARTERS_LONG", QUARTERS_LONG, "as a unit's quarter-lines: the same");
    number("LAST_ALL", LAST_ALL, "as the end of a unit's range: to the end");
    number("LENGTH_UP", LENGTH_UP, "word of the lengths: of the up list");
    number("LENGTH_BLOCK", LENGTH_BLOCK, "word of the lengths: of the block");
    number("UNITS_A_BEAT", UNITS_A_BEAT, "units of a beat");
    number("UNITS_A_GROUP", UNITS_A_GROUP, "units that go to one PU");
    number("PLANS", PLANS, "plans of a run");
    number("SUMS", SUMS, "sums of a run");
    number("PRODUCTS", s.products(), "sums of products for 5-motifs behind those");
    products::numbers(&mut number);
    number("K_LEAST", K_RANGE.0, "smallest k");
    number("K_MOST", K_RANGE.1, "largest k");
    for (at, (name, what)) in (0..).zip(OPERATIONS) {
        number(&format!("OP_{}", name.to_uppercase()), at, what);
    }
    for (at, (name, what)) in (0..).zip(WORD_KINDS) {
        number(&format!("WORD_{}", name.to_uppercase()), at, what);
    }
    for (at, (name, what)) in (0..).zip(SUM_NAMES) {
        number(&format!("SUM_{}", name.to_uppercase()), at, what);
    }
    for (at, (name, what)) in (0..).zip(STATUS) {
        number(&format!("STATUS_{}", name.to_uppercase()), at, what);
    }
    all.extend(verilog::surroundings(a));
    // The RTL names them in what a machine without plans leaves out.
    for name in PLAN_COUNTERS.iter().filter(|_| s.plan_levels == 0) {
        let name = format!("CNT_PU_{}", name.to_uppercase());
        all.push((name, 0, "not there".into()));
    }
    all.extend(a.streams.numbers());
    all
}

/// Fields that programs and the core use, with their bits.
const FIELDS: [(&str, &str, u32); 22] = [
    ("plan", "operation", 4),
    ("plan", "k", 5),
    ("plan", "sum", 2),
    ("label", "low", ID_BITS),
    ("label", "high", ID_BITS),
    ("word", "kind", 2),
    ("word", "difference", 1),
    ("word", "pairs", 1),
    ("word", "stored", 1),
    ("word", "streams", 1),
    ("word", "of", 3),
    ("word", "from", 5),
    ("word", "to", 5),
    ("word", "bounds", PLAN_LEVELS),
    ("word", "conflicts", PLAN_LEVELS),
    ("word", "label", PLAN_LABELS.ilog2()),
    ("word", "term", 2),
    ("unit", "address", ID_BITS),
    ("unit", "quarters", 12),
    ("unit", "plan", 2),
    ("unit", "first", 12),
    ("unit", "last", 12),
];

/// Checks what houses and 5-cycles want.
fn check_reached(a: &Accelerator, s: &SetCore) -> Result<(), ValueFault> {
    if s.reached == 0 {
        return Ok(());
    }
    let wrong = |rule: String| Err(("set.reached".into(), s.reached.to_string(), rule));
    if !(2..=REACHED).contains(&s.reached) || !s.reached.is_power_of_two() {
        return wrong(format!("must be 0 or a power of two from 2 to {REACHED}"));
    }
    if s.plan_levels == 0 {
        return wrong("must be 0 without set.plan_levels".into());
    }
    if s.reached < s.range_entries() * 2 {
        return wrong(format!(
            "must be at least {}, twice the entries of a bank in a range",
            2 * s.range_entries()
        ));
    }
    let most = s.map_entries().min(1 << WEDGE_ID_BITS);
    if a.set_quarters() > most {
        return wrong(format!(
            "must be 0 where the partitions hold more than {most} quarter-lines, which is what the map has entries and \
             the image for wedges has ids for"
        ));
    }
    Ok(())
}

/// Why a set core has no [`Check`].
const NO_CHECK: &str = "the set core intersects whole lists: leave the key out";

/// Checks banks and narrow partitions against the memory and the partitions that there are.
fn check_parts(a: &Accelerator, s: &SetCore) -> Result<(), ValueFault> {
    if a.memory.ddr_banks < s.channels {
        let rule = format!("must not be below set.channels, {}", s.channels);
        return Err(("memory.ddr_banks".into(), a.memory.ddr_banks.to_string(), rule));
    }
    if s.narrow_partitions > a.machine.partitions {
        let rule = format!("must not be above machine.partitions, {}", a.machine.partitions);
        return Err(("set.narrow_partitions".into(), s.narrow_partitions.to_string(), rule));
    }
    Ok(())
}

/// Checks the section, and what the set core wants of the others.
pub(crate) fn check(a: &Accelerator) -> Result<(), ValueFault> {
    let s = match (&a.set, a.core) {
        (None, Core::Paper) => return Ok(()),
        (Some(s), Core::Set) => s,
        (Some(_), Core::Paper) => {
            return Err(("set".into(), "given".into(), "then `core` must be `set`".into()));
        }
        (None, Core::Set) => {
            return Err(("set".into(), "missing".into(), "a set core has its sizes there".into()));
        }
    };
    if !a.machine.performance_counters {
        let rule = "the set core always has them: leave the key out";
        return Err(("machine.performance_counters".into(), "false".into(), rule.into()));
    }
    if a.machine.check == Check::Candidate {
        return Err(("machine.check".into(), "candidate".into(), NO_CHECK.into()));
    }
    for (key, value, low, high) in [
        ("set.channels", s.channels, 1, a.machine.partitions.min(CHANNELS)),
        ("set.partition_lines", s.partition_lines, 16, 1 << 16),
        ("set.unit_queue", s.unit_queue, UNITS_A_GROUP, 64),
        ("set.lists", s.lists, 2, 32),
        ("set.list_lines", s.list_lines, 8, 32),
        ("set.answers", s.answers, 2, 64),
        ("set.row_banks", s.row_banks, 1, 8),
        ("set.row_words", s.row_words, 1, 1 << 16),
        ("set.map_banks", s.map_banks, 1, 16),
        ("set.map_words", s.map_words, 16, 1 << 16),
        ("set.plan_walkers", s.plan_walkers, 1, PLAN_WALKERS),
    ] {
        if !(low..=high).contains(&value) || !value.is_power_of_two() {
            let rule = format!("must be a power of two from {low} to {high}");
            return Err((key.into(), value.to_string(), rule));
        }
    }
    check_parts(a, s)?;
    if s.plan_levels != 0 && !(2..=PLAN_LEVELS).contains(&s.plan_levels) {
        let rule = format!("must be 0 or from 2 to {PLAN_LEVELS}");
        return Err(("set.plan_levels".into(), s.plan_levels.to_string(), rule));
    }
    if s.plan_levels == 0 && s.plan_walkers != 1 {
        let rule = "must be 1 without set.plan_levels".into();
        return Err(("set.plan_walkers".into(), s.plan_walkers.to_string(), rule));
    }
    check_reached(a, s)?;
    for wanted in PLAN_COUNTERS {
        if (s.plan_levels != 0) != a.counters.pu.iter().any(|counter| counter.name() == wanted) {
            let rule = match s.plan_levels {
                0 => format!("must not have `{wanted}` without set.plan_levels"),
                _ => format!("must have `{wanted}`, since set.plan_levels isn't 0"),
            };
            return Err(("counters.pu".into(), "a list".into(), rule));
        }
    }
    let entries = s.list_entries();
    if s.row_banks * s.row_words * 64 < entries * entries {
        let rule = format!("set.row_banks × set.row_words × 64 must be at least {entries}²");
        return Err(("set.row_words".into(), s.row_words.to_string(), rule));
    }
    for (part, field, bits) in FIELDS {
        let found = a.streams.input.field(part, field);
        if found.is_none_or(|f| f.bits != bits) {
            let key = format!("streams.in.{part}.{field}");
            let value = found.map_or("missing".into(), |f| format!("of {} bits", f.bits));
            return Err((key, value, format!("the set core wants it with {bits} bits")));
        }
    }
    for (part, each) in [("plan", 32), ("label", 64), ("word", 64), ("unit", 64)] {
        let value = a.streams.input.part(part).and_then(|p| p.each).unwrap_or(0);
        if value != each {
            let key = format!("streams.in.{part}.each");
            return Err((key, value.to_string(), format!("must be {each}")));
        }
    }
    Ok(())
}
