use super::*;
use gramer_machine::named::named;
use gramer_pattern::Dictionary;

#[test]
fn every_pattern_of_up_to_six_vertices_has_words_that_are_read_as_they_were_written() {
    let machine = named("set-small").unwrap().unwrap();
    for k in 3..=6 {
        for pattern in Dictionary::of(k).patterns() {
            for induced in [Induced::Vertex, Induced::Edge] {
                let program = Program::counting(pattern, induced, 7).unwrap();
                let beats = program.beats(&machine, |_| [0, 0]);
                assert_eq!(beats.len() % 64, 0);
                assert_eq!(Program::read(&machine, &beats).1, program.words);
            }
        }
    }
}

#[test]
fn the_largest_patterns_fit() {
    // Vertex-induced, a path has the most sets.
    let most = (3..=8).map(|n| Pattern::from_edges(n, &path(n)));
    for pattern in most.chain([Pattern::clique(8)]) {
        for induced in [Induced::Vertex, Induced::Edge] {
            let program = Program::counting(&pattern, induced, 7).unwrap();
            assert!(program.words.len() <= PLAN_WORDS as usize);
        }
    }
    let nine = Pattern::from_edges(9, &path(9));
    let said = Program::counting(&nine, Induced::Edge, 7).unwrap_err();
    assert_eq!(said, "matches patterns of 3 to 8 vertices");
    let mut labelled = Pattern::clique(3);
    labelled.set_edge_label(0, 1, 2);
    let said = Program::counting(&labelled, Induced::Edge, 7).unwrap_err();
    assert_eq!(said, "matches patterns without labels of edges");
}

#[test]
fn eight_labels_have_numbers_and_the_ranges_that_are_given() {
    let machine = named("set-small").unwrap().unwrap();
    let mut labelled = Pattern::from_edges(8, &path(8));
    (0..8).for_each(|v| labelled.set_vertex_label(v, 10 * v as u32));
    for induced in [Induced::Vertex, Induced::Edge] {
        let program = Program::counting(&labelled, induced, 7).unwrap();
        let mut all: Vec<Label> = program.labels.iter().copied().chain(program.root).collect();
        all.sort_unstable();
        assert_eq!(all, (0..8).map(|v| 10 * v).collect::<Vec<Label>>());
        let beats = program.beats(&machine, |label| [label, label + 5]);
        let (ranges, words) = Program::read(&machine, &beats);
        assert_eq!((ranges[0], words), ([0, (1 << ID_BITS) - 1], program.words.clone()));
        for (range, &label) in ranges[1..].iter().zip(&program.labels) {
            assert_eq!(*range, [label, label + 5]);
        }
        let makes = program.words.iter().filter(|word| word.kind == Kind::Make);
        assert!(makes.into_iter().all(|word| word.label > 0));
    }
}

fn path(n: usize) -> Vec<(usize, usize)> {
    (1..n).map(|v| (v - 1, v)).collect()
}

#[test]
fn a_diamond_is_counted_by_pairs() {
    let diamond = Pattern::from_edges(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]);
    let program = Program::counting(&diamond, Induced::Edge, 7).unwrap();
    let count = program.words.last().unwrap();
    assert!(count.pairs && count.kind == Kind::Count, "{:?}", program.words);
    assert_eq!(program.levels, 2);
}
