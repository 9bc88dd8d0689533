use super::*;

// Also by the arithmetic of a debug build.
#[test]
fn consecutive_ids_may_begin_anywhere() {
    let mut b = Builder::new();
    b.edge(9, 8);
    let g = b.build();
    assert_eq!((g.original_ids(), g.view().neighbours(1)), (&[8, 9][..], &[0][..]));
}

#[test]
fn loops_and_duplicates_are_dropped_and_counted() {
    let mut b = Builder::new();
    for (u, v) in [(7, 3), (3, 7), (7, 7), (1_000_000_000_000, 3), (7, 3)] {
        b.edge(u, v);
    }
    let g = b.build();
    assert_eq!((g.vertices(), g.edges()), (3, 2));
    assert_eq!(g.original_ids(), [3, 7, 1_000_000_000_000]);
    assert_eq!(g.view().neighbours(0), [1, 2]);
    assert_eq!(g.view().neighbours(1), [0]);
    let expected = BuildStats { raw_edges: 5, self_loops: 1, duplicates: 2, label_conflicts: 0 };
    assert_eq!(g.stats(), expected);
}

#[test]
fn of_two_edge_labels_the_smaller_is_kept() {
    let mut b = Builder::new();
    b.labelled_edge(0, 1, 9);
    b.labelled_edge(1, 0, 4);
    b.labelled_edge(1, 2, 5);
    let g = b.build();
    assert_eq!(g.view().edge_label(0, 1), Some(4));
    assert_eq!(g.view().edge_label(1, 0), Some(4));
    assert_eq!(g.view().edge_label(2, 1), Some(5));
    assert_eq!(g.view().edge_label(0, 2), None);
    assert_eq!(g.stats().label_conflicts, 1);
}
