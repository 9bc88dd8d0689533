//! Dictionaries of the core: patterns by the key of an embedding.

use std::collections::{HashMap, HashSet};

use gramer_graph::Label;
use gramer_pattern::{Dictionary, Pattern};

use super::stream::KNOWN;

/// The core's numbers of the applications.
pub(crate) const CLIQUE: u32 = 0;
const MOTIF: u32 = 1;
const FSM: u32 = 2;
/// Vertices of the largest labelled pattern, and the pairs of them.
pub(crate) const FSM_VERTICES: usize = 3;
const FSM_PAIRS: u32 = 3;

/// The dictionary of a pass.
pub struct Table {
    /// The core's number of the application.
    pub(crate) application: u32,
    /// Whether motifs that it lacks are dropped.
    pub(crate) select: bool,
    /// By adjacency bits and labels (of frequent patterns 3, then `label_bits` a vertex): bit 15 known, below it the
    /// number.
    pub dictionary: Vec<u16>,
    /// The patterns that are counted, by number.
    pub patterns: Vec<Pattern>,
}

impl Table {
    /// For motifs of `size` vertices, by their numbers in the [`Dictionary`]. With `keeps` it has only the patterns, of
    /// 2 vertices and more, whose embeddings are kept.
    pub fn motifs(size: usize, keeps: Option<&dyn Fn(&Pattern) -> bool>) -> Self {
        let mut dictionary = vec![0; 1 << (size * (size - 1) / 2)];
        // The last vertex has a neighbour, so that keys of fewer vertices are lower.
        for vertices in if keeps.is_some() { 2 } else { size }..=size {
            let all = Dictionary::of(vertices);
            let first = 1 << ((vertices - 1) * (vertices - 2) / 2);
            for key in first..1u32 << (vertices * (vertices - 1) / 2) {
                let number = all.number(key);
                let kept = number.filter(|&n| keeps.is_none_or(|keeps| keeps(&all.patterns()[n])));
                if let Some(number) = kept {
                    let number = if vertices < size { 0 } else { number as u16 };
                    dictionary[key as usize] = KNOWN | number;
                }
            }
        }
        let patterns = Dictionary::of(size).patterns().to_vec();
        Table { application: MOTIF, select: keeps.is_some(), dictionary, patterns }
    }

    /// Of labelled patterns, for embeddings of `size` vertices whose smaller prefixes are embeddings of reported
    /// patterns; those of wanted patterns are counted. `names` are the labels by number, where
    /// the patterns have any.
    pub fn new(
        label_bits: u32,
        labels: usize,
        names: Option<&[Label]>,
        size: usize,
        reported: &HashSet<Pattern>,
        wanted: &dyn Fn(&Pattern) -> bool,
    ) -> Self {
        let mut dictionary = vec![0; 1 << (FSM_PAIRS + FSM_VERTICES as u32 * label_bits)];
        let mut numbers: HashMap<Pattern, u16> = HashMap::new();
        let mut patterns = vec![];
        // Positions 0 and 1 are always neighbours: bit 0. Bits 1 and 2 are 0–2 and 1–2.
        for vertices in 2..=size {
            let shapes: &[u32] = if vertices == 2 { &[0b001] } else { &[0b011, 0b101, 0b111] };
            for &edges in shapes {
                for all in 0..labels.pow(vertices as u32) {
                    let digits = (0..vertices).scan(all, |rest, _| {
                        let digit = *rest % labels;
                        *rest /= labels;
                        Some(digit)
                    });
                    let digits: Vec<usize> = digits.collect();
                    let mut pattern = Pattern::from_bits(vertices, edges.into());
                    let mut key = edges as usize;
                    for (i, &label) in digits.iter().enumerate() {
                        key |= label << (FSM_PAIRS + i as u32 * label_bits);
                        if let Some(names) = names {
                            pattern.set_vertex_label(i, names[label]);
                        }
                    }
                    let pattern = pattern.canonical().0;
                    dictionary[key] = if vertices < size {
                        // Extended, not counted.
                        if reported.contains(&pattern) { KNOWN } else { 0 }
                    } else if wanted(&pattern) {
                        let next = patterns.len() as u16;
                        KNOWN
                            | *numbers.entry(pattern).or_insert_with_key(|pattern| {
                                patterns.push(pattern.clone());
                                next
                            })
                    } else {
                        0
                    };
                }
            }
        }
        Table { application: FSM, select: false, dictionary, patterns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_machine::Accelerator;
    use gramer_pattern::task::parts_reported;

    fn machine(name: &str) -> Accelerator {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        crate::xclbin::build::read_machine(Some(&root.join(name))).unwrap()
    }

    #[test]
    fn a_table_knows_every_order_of_a_pattern() {
        let names = [5, 9];
        let none = HashSet::new();
        let pairs = Table::new(2, 2, Some(&names), 2, &none, &|_| true);
        // Edges 5-5, 5-9 and 9-9.
        assert_eq!(pairs.patterns.len(), 3);
        let key = |edges: usize, labels: &[usize]| {
            labels.iter().enumerate().fold(edges, |key, (i, l)| key | l << (3 + 2 * i))
        };
        let number = |table: &Table, key: usize| {
            let entry = table.dictionary[key];
            (entry & KNOWN != 0).then_some(usize::from(entry & !KNOWN))
        };
        assert_eq!(number(&pairs, key(1, &[0, 1])), number(&pairs, key(1, &[1, 0])));
        assert_ne!(number(&pairs, key(1, &[0, 1])), number(&pairs, key(1, &[1, 1])));
        assert_eq!(number(&pairs, key(1, &[2, 0])), None, "no such label");

        // With 5-9 reported alone, wedges of these edges can be counted, and no triangle.
        let mixed = pairs.patterns[number(&pairs, key(1, &[0, 1])).unwrap()].clone();
        let reported = HashSet::from([mixed]);
        let wanted = |p: &Pattern| parts_reported(p, &reported);
        let triples = Table::new(2, 2, Some(&names), 3, &reported, &wanted);
        assert_eq!(number(&triples, key(1, &[0, 1])), Some(0), "extended");
        assert_eq!(number(&triples, key(1, &[1, 1])), None, "not reported");
        assert_eq!(triples.patterns.len(), 2, "5-9-5 and 9-5-9");
        // Both orders in which 5-9-5 is reached: from its middle, and from an end.
        let from_middle = number(&triples, key(0b011, &[1, 0, 0]));
        assert!(from_middle.is_some());
        assert_eq!(from_middle, number(&triples, key(0b101, &[0, 1, 0])));
        assert_eq!(number(&triples, key(0b111, &[0, 1, 0])), None);
    }

    #[test]
    fn a_table_without_labels_has_the_two_shapes() {
        let none = HashSet::new();
        let table = Table::new(2, 1, None, 3, &none, &|_| true);
        assert_eq!(table.patterns.len(), 2);
        assert!(table.patterns.iter().all(|p| p.vertex_labels().is_empty()));
    }

    /// A key tells the number of vertices: no prefix is taken for a motif of another size.
    #[test]
    fn a_table_of_motifs_has_the_patterns_of_every_size_that_are_kept() {
        let (triangle, star) = (Pattern::clique(3), gramer_pattern::named("3-star").unwrap());
        let keeps = |p: &Pattern| *p != triangle && *p != star;
        let table = Table::motifs(4, Some(&keeps));
        let whole = Table::motifs(4, None);
        assert!(table.select && !whole.select);
        assert_eq!((table.patterns.len(), &table.patterns), (6, &whole.patterns));
        for (key, (&entry, &all)) in table.dictionary.iter().zip(&whole.dictionary).enumerate() {
            let known = match key {
                0 => false,
                1 => true,                                    // an edge
                2..8 => [0b011, 0b101, 0b110].contains(&key), // wedges
                _ => all & KNOWN != 0 && table.patterns[usize::from(all & !KNOWN)] != star,
            };
            assert_eq!(entry & KNOWN != 0, known, "key {key}");
            assert!(!known || key < 8 || entry == all, "key {key}");
        }
    }

    /// What the paper's machine has room for is enough for all its labels.
    #[test]
    fn the_counters_hold_every_labelled_pattern() {
        for name in ["accelerator.yaml", "machines/small.yaml"] {
            let a = machine(name);
            let labels = 1usize << a.applications.label_bits;
            let none = HashSet::new();
            let table = Table::new(a.applications.label_bits, labels, None, 3, &none, &|_| true);
            assert!(table.dictionary.len() <= a.applications.dictionary_entries as usize);
            // Unlabelled here, so count: wedges by middle and unordered ends, triangles.
            let wedges = labels * (labels * (labels + 1) / 2);
            let triangles = labels * (labels + 1) * (labels + 2) / 6;
            assert!(wedges + triangles <= a.applications.pattern_counters as usize, "{name}");
        }
    }
}
