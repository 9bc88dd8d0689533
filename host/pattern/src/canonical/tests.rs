use super::*;

/// What a pattern is compared by, and ordered by, is all that it has.
#[test]
fn patterns_that_differ_in_one_thing_are_not_equal() {
    let path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    let change = |change: fn(&mut Pattern)| {
        let mut changed = path.clone();
        change(&mut changed);
        changed
    };
    let others = [
        Pattern::from_edges(4, &[(0, 1), (1, 2)]),
        change(|pattern| pattern.add_edge(0, 2)),
        change(|pattern| pattern.set_vertex_label(0, 1)),
        change(|pattern| pattern.set_edge_label(0, 1, 1)),
        change(|pattern| pattern.set_absent(0, 2)),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(&path, other);
        assert_ne!(path.cmp(other), std::cmp::Ordering::Equal);
        assert!(others[..at].iter().all(|before| before != other), "{other:?}");
    }
}

#[test]
fn there_are_as_many_connected_graphs_as_known() {
    // OEIS A001349.
    for (k, graphs) in [(1, 1), (2, 1), (3, 2), (4, 6), (5, 21), (6, 112)] {
        assert_eq!(Dictionary::of(k).patterns().len(), graphs);
    }
}

#[test]
fn the_order_leads_to_the_canonical_form() {
    let d = Dictionary::of(5);
    for bits in 0..1u32 << 10 {
        if let Some(n) = d.number(bits) {
            let order: Vec<usize> = d.order(bits)[..5].iter().map(|&v| v as usize).collect();
            let p = Pattern::from_bits(5, bits as u128);
            assert_eq!(p.permuted(&order), d.patterns()[n]);
        }
    }
}

/// Which vertex comes where follows from how labels compare, and a second time gives what the first did.
#[test]
fn the_order_follows_from_how_labels_compare() {
    let mut state = 7u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    for _ in 0..500 {
        let n = 2 + next(4) as usize;
        let (mut pattern, mut other) = (Pattern::new(n), Pattern::new(n));
        for (i, j) in (1..n).flat_map(|j| (0..j).map(move |i| (i, j))) {
            let (label, is_edge) = (next(2) as Label, i + 1 == j || next(2) == 0);
            for (pattern, label) in [(&mut pattern, 9 * label), (&mut other, label)] {
                if is_edge {
                    pattern.add_edge(i, j);
                    pattern.set_edge_label(i, j, label);
                }
            }
        }
        for v in 0..n {
            let label = next(3) as Label;
            pattern.set_vertex_label(v, 77 * label + 5);
            other.set_vertex_label(v, label * label);
        }
        let (form, order) = pattern.canonical();
        assert_eq!(pattern.canonical(), (pattern.permuted(&order), order.clone()));
        assert_eq!(other.canonical().1, order, "{pattern:?}");
        let turned: Vec<usize> = (0..n).map(|v| (v + 1) % n).collect();
        assert_eq!(pattern.permuted(&turned).canonical().0, form, "{pattern:?}");
    }
}

/// The classes of the dictionary, made by trying all permutations, are those of the library's own form.
#[test]
fn the_library_tells_the_same_patterns_apart() {
    use std::collections::BTreeSet;

    for k in 2..=5 {
        let dictionary = Dictionary::of(k);
        let (mut pairs, mut forms) = (BTreeSet::new(), BTreeSet::new());
        for bits in 0..1u32 << (k * (k - 1) / 2) {
            let Some(number) = dictionary.number(bits) else { continue };
            let pattern = LabelledPattern(Pattern::from_bits(k, bits.into()));
            let morphism = pattern.morphism_to_canonical();
            let form = pattern.apply_morphism(&morphism).0.bits();
            pairs.insert((number, form));
            forms.insert(form);
        }
        assert_eq!(pairs.len(), dictionary.patterns().len(), "a class with several forms");
        assert_eq!(forms.len(), pairs.len(), "a form of several classes");
    }
}

#[test]
fn automorphisms_of_known_graphs() {
    let cycle = Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
    assert_eq!(automorphism_count(&cycle), 10);
    assert_eq!(automorphism_count(&Pattern::clique(16)), (1..=16u128).product());
    let mut labelled = cycle.clone();
    labelled.set_vertex_label(0, 7);
    assert_eq!(automorphism_count(&labelled), 2);
    let mut edge = cycle;
    edge.set_edge_label(0, 1, 3);
    assert_eq!(automorphism_count(&edge), 2);
}

#[test]
fn automorphisms_of_large_graphs() {
    let factorial = |n: u128| (1..=n).product::<u128>();
    let count = |name: &str| automorphism_count(&crate::named(name).unwrap());
    assert_eq!(count("32-clique"), factorial(32));
    assert_eq!(count("31-star"), factorial(31));
    assert_eq!(count("32-path"), 2);
    assert_eq!(count("29-cycle"), 58);
    // Two long paths that differ at their far ends alone.
    let mut edges: Vec<(usize, usize)> = (0..15).map(|i| (i, i + 1)).collect();
    edges.extend([(0, 16)].into_iter().chain((16..29).map(|i| (i, i + 1))));
    edges.extend([(29, 30), (29, 31)]);
    let pattern = Pattern::from_edges(32, &edges);
    assert_eq!(automorphism_count(&pattern), 2);
    let mut labelled = pattern;
    labelled.set_vertex_label(30, 1);
    assert_eq!(automorphism_count(&labelled), 1);
}

/// The cube of five dimensions: any way to say which of them is which, from any of its corners.
#[test]
fn automorphisms_of_a_cube() {
    let edges: Vec<(usize, usize)> = (0..32)
        .flat_map(|v| (0..5).map(move |d| (v, v ^ 1 << d)))
        .filter(|&(u, v)| u < v)
        .collect();
    assert_eq!(automorphism_count(&Pattern::from_edges(32, &edges)), 32 * 120);
}

proptest::proptest! {
    #[test]
    fn isomorphic_patterns_have_one_canonical_form(
        n in 2usize..9,
        bits: u128,
        labels in proptest::collection::vec(0u32..3, 8),
        edge_labels in proptest::collection::vec(0u32..2, 36),
        seed in proptest::collection::vec(0u32..1000, 8),
    ) {
        let mut p = Pattern::from_bits(n, bits & ((1 << (n * (n - 1) / 2)) - 1));
        for (i, &label) in labels[..n].iter().enumerate() {
            p.set_vertex_label(i, label);
        }
        for ((i, j), &label) in p.edges().into_iter().zip(&edge_labels) {
            p.set_edge_label(i, j, label);
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| seed[i]);
        let q = p.permuted(&order);
        let ((canonical, to), (other, _)) = (p.canonical(), q.canonical());
        proptest::prop_assert_eq!(&canonical, &other);
        proptest::prop_assert_eq!(&p.permuted(&to), &canonical);
    }
}
