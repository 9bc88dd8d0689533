//! The user's filter as words of the paper's core (`docs/reference/paper-core.md`, "Filter").

use gramer_machine::{Accelerator, FILTER_WORD_BYTES};

use super::image::LINE;
use gramer_graph::Label;
use gramer_pattern::Filter;
use gramer_pattern::filter::{Attribute, Comparison, Condition, Operand, Relation, Variable};

/// Bytes of a word.
const WORD: usize = FILTER_WORD_BYTES as usize;

/// First operand of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Label,
    Degree,
    Constant,
    Size,
}

/// Second operand of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Right {
    Label,
    Degree,
    Adjacent,
    Constant,
}

/// One comparison: the core compares the new vertex, the size, or a constant, with each earlier vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    left: Left,
    relation: Relation,
    right: Right,
    constant: u32,
}

impl Word {
    /// Number of the relation, and whether it is negated.
    fn relation(self) -> (u64, bool) {
        match self.relation {
            Relation::Equal => (0, false),
            Relation::NotEqual => (0, true),
            Relation::Less => (1, false),
            Relation::AtLeast => (1, true),
            Relation::Greater => (2, false),
            Relation::AtMost => (2, true),
        }
    }
}

/// Number of words that a filter has, whatever the labels of a graph.
pub fn length(filter: &Filter) -> usize {
    conditions(filter, None).map(|(_, words)| words.len()).sum()
}

/// Fields of a word.
pub(crate) const FIELDS: [&str; 8] =
    ["constant", "left", "right", "relation", "negated", "ends", "pairs", "last"];

/// The beat of a filter in the in-stream; `labels` are those of the graph, ascending, which the device numbers from 0.
///
/// # Panics
/// If the filter has more words than a beat, which the method's choice excludes.
pub fn beat(machine: &Accelerator, filter: &Filter, labels: &[Label]) -> [u8; LINE] {
    let mut words = vec![];
    for (of_pairs, condition) in conditions(filter, Some(labels)) {
        let last = condition.len() - 1;
        words
            .extend(condition.into_iter().enumerate().map(|(i, word)| (word, of_pairs, i == last)));
    }
    assert!(words.len() <= LINE / WORD, "a filter of {} words", words.len());
    let (last, mut beat) = (words.len() - 1, [0; LINE]);
    for (at, (word, of_pairs, ends)) in words.into_iter().enumerate() {
        let (relation, negated) = word.relation();
        let values: [u64; FIELDS.len()] = [
            word.constant.into(),
            word.left as u64,
            word.right as u64,
            relation,
            negated.into(),
            ends.into(),
            of_pairs.into(),
            (at == last).into(),
        ];
        let bytes = &mut beat[at * WORD..(at + 1) * WORD];
        for (name, value) in FIELDS.into_iter().zip(values) {
            machine.streams.input.field("filter", name).expect("checked field").set(bytes, value);
        }
    }
    beat
}

/// The words of each condition, with whether it is about pairs. The core tests the new vertex with each earlier one: a
/// condition whose sides are not alike comes twice, with the new vertex in either place.
fn conditions<'a>(
    filter: &'a Filter,
    labels: Option<&'a [Label]>,
) -> impl Iterator<Item = (bool, Vec<Word>)> + 'a {
    filter.conditions().iter().flat_map(move |condition| {
        let of = |new| words(condition, new, labels);
        let plain = |new| words(condition, new, None);
        if !condition.is_of_pairs() {
            // Its one name is of the new vertex.
            let names_u = condition.comparisons().iter().any(|c| c.names(Variable::U));
            return vec![(false, of(if names_u { Variable::U } else { Variable::V }))];
        }
        let (one, other) = (plain(Variable::U), plain(Variable::V));
        let within = |some: &[Word], all: &[Word]| some.iter().all(|word| all.contains(word));
        let alike = within(&one, &other) && within(&other, &one);
        let names = if alike { &[Variable::U][..] } else { &[Variable::U, Variable::V] };
        names.iter().map(|name| (true, of(*name))).collect()
    })
}

/// The comparisons of a condition, where `new` is the name of the new vertex. Without `labels`, constants stay.
fn words(condition: &Condition, new: Variable, labels: Option<&[Label]>) -> Vec<Word> {
    let side = |attribute| match attribute {
        Attribute::Label => (Left::Label, Right::Label),
        Attribute::Degree => (Left::Degree, Right::Degree),
    };
    let word = |comparison: &Comparison| match *comparison {
        Comparison::Adjacent(wanted) => {
            let relation = if wanted { Relation::Equal } else { Relation::NotEqual };
            Word { left: Left::Constant, relation, right: Right::Adjacent, constant: 1 }
        }
        Comparison::Numbers(Operand::Of(a, x), relation, Operand::Of(..)) => {
            let relation = if x == new { relation } else { relation.exchanged() };
            Word { left: side(a).0, relation, right: side(a).1, constant: 0 }
        }
        Comparison::Numbers(Operand::Of(a, x), relation, Operand::Number(n))
        | Comparison::Numbers(Operand::Number(n), relation, Operand::Of(a, x)) => {
            let first = matches!(comparison, Comparison::Numbers(Operand::Of(..), ..));
            let relation = if first { relation } else { relation.exchanged() };
            let (relation, constant) = match (a, labels) {
                (Attribute::Label, Some(labels)) => numbered(relation, n, labels),
                _ => (relation, n),
            };
            match x == new {
                true => Word { left: side(a).0, relation, right: Right::Constant, constant },
                false => Word {
                    left: Left::Constant,
                    relation: relation.exchanged(),
                    right: side(a).1,
                    constant,
                },
            }
        }
        Comparison::Numbers(Operand::Size, relation, Operand::Number(constant)) => {
            Word { left: Left::Size, relation, right: Right::Constant, constant }
        }
        Comparison::Numbers(Operand::Number(constant), relation, Operand::Size) => Word {
            left: Left::Size,
            relation: relation.exchanged(),
            right: Right::Constant,
            constant,
        },
        Comparison::Numbers(..) => {
            unreachable!("a filter that was read compares a vertex, or the size with a number")
        }
    };
    condition.comparisons().iter().map(word).collect()
}

/// A comparison of a label with a constant, in the device's numbers of the labels.
fn numbered(relation: Relation, label: Label, labels: &[Label]) -> (Relation, u32) {
    let below = |passes: &dyn Fn(&Label) -> bool| labels.partition_point(passes) as u32;
    let less = || below(&|&l| l < label);
    let at_most = || below(&|&l| l <= label);
    match relation {
        // No label of the device is as large.
        Relation::Equal | Relation::NotEqual => {
            (relation, labels.binary_search(&label).map_or(u32::MAX, |at| at as u32))
        }
        Relation::Less | Relation::AtLeast => (relation, less()),
        Relation::AtMost => (Relation::Less, at_most()),
        Relation::Greater => (Relation::AtLeast, at_most()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_machine::named::named;

    fn lengths(text: &str) -> Vec<(bool, usize)> {
        let filter: Filter = text.parse().unwrap();
        conditions(&filter, None).map(|(of_pairs, words)| (of_pairs, words.len())).collect()
    }

    #[test]
    fn a_condition_comes_twice_unless_its_sides_are_alike() {
        assert_eq!(lengths("label(u) != label(v)"), [(true, 1)]);
        assert_eq!(lengths("degree(v) > 1, adjacent(u, v)"), [(false, 1), (true, 1)]);
        assert_eq!(lengths("label(u) == 1 or label(v) == 1"), [(true, 2)]);
        assert_eq!(lengths("degree(u) < degree(v) or degree(u) > degree(v)"), [(true, 2)]);
        assert_eq!(lengths("label(u) == 1 or label(v) == 2"), [(true, 2), (true, 2)]);
        assert_eq!(lengths("degree(u) <= degree(v)"), [(true, 1), (true, 1)]);
        assert_eq!(lengths("size < 4, size < 4 or degree(v) > 1"), [(false, 1), (false, 2)]);
        assert_eq!(lengths("3 < size or adjacent(u, v)"), [(true, 2)]);
    }

    #[test]
    fn a_word_lies_where_the_core_reads_it() {
        let small = named("small").unwrap().unwrap();
        let filter =
            "not adjacent(u, v) or 3 < label(v), degree(u) >= 7 or 4 >= size".parse().unwrap();
        let beat = beat(&small, &filter, &[2, 3, 9]);
        let words: Vec<u64> =
            beat.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        let word = |constant: u64, left: u64, right: u64, relation: u64, flags: u64| {
            constant | left << 32 | right << 34 | relation << 36 | flags << 38
        };
        // Flags: 1 negated, 2 ends, 4 pairs, 8 last. Labels above 3 are the third.
        let not_adjacent = word(1, 2, 2, 0, 1 + 4);
        let expected = [
            not_adjacent,
            word(2, 2, 0, 2, 1 + 2 + 4), // the constant is at most the earlier vertex' label
            not_adjacent,
            word(2, 0, 3, 1, 1 + 2 + 4), // the new vertex' label is at least the constant
            word(7, 1, 3, 1, 1),
            word(4, 3, 3, 2, 1 + 2 + 8), // the size is at most 4
        ];
        assert_eq!(words[..6], expected);
        assert_eq!(words[6..], [0; 2]);
    }

    #[test]
    fn labels_are_compared_in_the_device_s_numbers() {
        let labels = [4, 7, 8];
        for label in 0..10 {
            for relation in [
                Relation::Equal,
                Relation::NotEqual,
                Relation::Less,
                Relation::AtMost,
                Relation::Greater,
                Relation::AtLeast,
            ] {
                let (on_device, constant) = numbered(relation, label, &labels);
                for (at, &of) in labels.iter().enumerate() {
                    let holds = on_device.holds(at as u32, constant);
                    assert_eq!(holds, relation.holds(of, label), "{of} {relation:?} {label}");
                }
            }
        }
    }
}
