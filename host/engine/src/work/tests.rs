use super::*;

/// A hub with 1000 leaves.
fn star() -> gramer_graph::Graph {
    let mut builder = gramer_graph::Builder::new();
    (1..=1000).for_each(|leaf| builder.edge(0, leaf));
    builder.build()
}

#[test]
fn a_unit_is_halved_down_to_one_position() {
    let unit = WorkUnit { start: 5, first: 2, limit: 5 };
    let [a, b] = unit.halves().unwrap();
    assert_eq!((a.first, a.limit, b.first, b.limit), (2, 3, 3, 5));
    assert_eq!(a.halves(), None);
    assert_eq!(WorkUnit { start: 0, first: 0, limit: 0 }.halves(), None);
}

#[test]
fn shares_of_a_split_are_the_whole_and_a_hub_is_divided() {
    let graph = star();
    let view = graph.view();
    for into in [1, 2, 7, 500] {
        let shares = Share::split(view, into);
        assert!(!shares.is_empty() && shares.len() <= into, "{}", shares.len());
        let mut sum = Share::default();
        for share in &shares {
            assert!(!sum.is_all(view) && !share.is_empty());
            sum = sum.union(share.clone()).unwrap();
        }
        assert!(sum.is_all(view));
        let units: Vec<_> = shares.iter().flat_map(|s| Units::Share(s).iter(view)).collect();
        let positions: usize = units.iter().map(|u| u.range().len()).sum();
        assert_eq!(positions, 2 * graph.edges());
        assert!(into == 1 || units.len() > graph.vertices(), "the hub is divided");
    }
}

#[test]
fn own_lists_are_divided_without_gap_or_overlap() {
    let part = |first, limit| WorkUnit { start: 3, first, limit };
    let shares: Vec<Share> = [(0, 4), (4, 5), (5, 10)]
        .map(|(first, limit)| Share::new([], [part(first, limit)]).unwrap())
        .into();
    for own in [1, 2, 3, 10, 25] {
        let covered: Vec<u32> =
            shares.iter().flat_map(|s| Units::Share(s).positions(3, 10, own)).flatten().collect();
        assert_eq!(covered, (0..own).collect::<Vec<_>>());
        assert_eq!(Units::Share(&shares[0]).positions(2, 10, own).count(), 0);
    }
    let whole = Share::new(std::iter::once(3..4), []).unwrap();
    assert_eq!(Units::Share(&whole).positions(3, 0, 1).next(), Some(0..1), "an empty list");
}

#[test]
fn a_share_comes_back_and_wrong_ones_are_refused() {
    let unit = |start, first, limit| WorkUnit { start, first, limit };
    let share = Share::new([5..9, 0..2], [unit(3, 2, 4), unit(3, 0, 1)]).unwrap();
    let text = serde_json::to_string(&share).unwrap();
    assert_eq!(text, r#"{"whole":[[0,2],[5,9]],"parts":[[3,0,1],[3,2,4]]}"#);
    assert_eq!(serde_json::from_str::<Share>(&text).unwrap(), share);
    for wrong in [
        r#"{"whole":[[0,2],[1,3]],"parts":[]}"#,
        r#"{"whole":[[2,2]],"parts":[]}"#,
        r#"{"whole":[[0,2]],"parts":[[1,0,1]]}"#,
        r#"{"whole":[],"parts":[[1,0,2],[1,1,3]]}"#,
        r#"{"whole":[],"parts":[[1,2,2]]}"#,
    ] {
        assert!(serde_json::from_str::<Share>(wrong).is_err(), "{wrong}");
    }
    let graph = star();
    for wrong in [Share::new(std::iter::once(1000..1002), []), Share::new([], [unit(7, 0, 2)])] {
        assert!(Units::Share(&wrong.unwrap()).check(graph.view()).is_err());
    }
}

#[test]
fn groups_hold_every_unit_once_and_in_order() {
    let graph = star();
    let view = graph.view();
    let units = || Units::All.iter(view).map(|u| (u, u.range().len() as u64));
    for (groups, exceed, most) in [(1, false, 300), (7, false, 5000), (7, true, 5000)] {
        let cut = cut(units, CutSettings { groups, exceed, divide: false, most });
        let starts: Vec<u32> = cut.iter().flatten().map(|u| u.start).collect();
        assert_eq!(starts, (0..=1000).collect::<Vec<_>>());
        assert!(cut.iter().all(|g| !g.is_empty() && g.len() <= most));
        match most {
            300 => {
                assert_eq!(cut.iter().map(<[_]>::len).collect::<Vec<_>>(), [300, 300, 300, 101])
            }
            _ => assert!(exceed || cut.len() <= groups as usize),
        }
    }
}
