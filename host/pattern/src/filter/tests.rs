use proptest::prelude::*;

use super::*;

fn said(text: &str) -> String {
    let error = text.parse::<Filter>().expect_err(text);
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

#[test]
fn wrong_filters_are_refused_at_the_character() {
    for (text, at, part) in [
        ("", 1, "the filter ends here; expected `label(u)`"),
        ("label(u) = label(v)", 10, "`=` is not `==`, `!=`"),
        ("label(u) == ", 13, "the filter ends here"),
        ("label u == 1", 7, "`u` is not `(`"),
        ("label(w) == 1", 7, "`w` is not `u` or `v`"),
        ("labels(u) == 1", 1, "`labels` is not `label(u)`"),
        ("label(u) == degree(v)", 13, "a label is compared with a label"),
        ("label(u) == label(u)", 13, "both sides are of one vertex"),
        ("degree(u) > 1, 3 < 4", 16, "both sides are numbers"),
        ("degree(u) > 4294967296", 13, "`4294967296` is above 4294967295"),
        ("degree(u) > 1 and degree(u) < 9", 15, "`and` is not `,`, `or` or the end"),
        ("adjacent(u, u)", 13, "no vertex is adjacent to itself"),
        ("size < size", 8, "`size` is compared with a number"),
        ("degree(u) > size", 13, "`size` is compared with a number"),
        ("size < degree(v)", 8, "`size` is compared with a number"),
        ("pattern < triangle", 9, "`<` is not `==` or `!=`"),
        ("pattern == trangle", 12, "is not the name of a pattern; did you mean triangle?"),
        ("pattern != nothing, size < 3", 12, "`nothing` is not the name of a pattern, such as"),
        ("pattern == edge+edge", 12, "is not a connected pattern of 2 vertices or more"),
        ("pattern == vertex", 12, "is not a connected pattern of 2 vertices or more"),
        ("size < 3,  pattern == edge or degree(u) > 1", 12, "compare only `size` with a number"),
        ("3 < pattern", 5, "`pattern` is not"),
        ("sizes < 3", 1, "`sizes` is not"),
        ("degree(u) >= 1,  degree(v) < degree(u)", 18, "no pair of vertices passes"),
        ("not degree(u) <= degree(v)", 1, "no pair of vertices passes"),
    ] {
        let said = said(text);
        assert!(said.contains(&format!(", character {at}: ")) && said.contains(part), "{said}");
    }
    assert!(said(&"x".repeat(10_001)).contains("more than 10000 characters"));
}

#[test]
fn a_filter_is_written_as_it_is_read() {
    for (text, written) in [
        ("label(u)!=label(v)", "label(u) != label(v)"),
        ("not not adjacent(v,u)or 3<=degree(v)", "adjacent(u, v) or 3 <= degree(v)"),
        ("not size<3 or 4 == size", "size >= 3 or 4 == size"),
        (
            "pattern==K3,3,not pattern != 4-cycle or size<3,label(u) > 1",
            "label(u) > 1, pattern == K3,3, pattern == 4-cycle or size < 3",
        ),
        ("not degree(u) < 4 , not adjacent(u, v)", "degree(u) >= 4, not adjacent(u, v)"),
    ] {
        let filter: Filter = text.parse().unwrap();
        assert_eq!(filter.to_string(), written);
        let json = serde_json::to_string(&filter).unwrap();
        assert_eq!(json, format!("\"{written}\""));
        assert_eq!(serde_json::from_str::<Filter>(&json).unwrap(), filter);
    }
    assert!(serde_json::from_str::<Filter>("\"label\"").is_err());
}

#[test]
fn conditions_on_patterns_keep_those_that_meet_all() {
    let filter: Filter =
        "pattern != triangle, pattern == 4-cycle or size < 4, size > 1".parse().unwrap();
    assert_eq!((filter.conditions().len(), filter.pattern_conditions().len()), (1, 2));
    for (name, kept) in [
        ("edge", true),
        ("wedge", true),
        ("triangle", false),
        ("4-cycle", true),
        ("4-path", false),
        ("5-cycle", false),
    ] {
        assert_eq!(filter.keeps(&crate::named(name).unwrap()), kept, "{name}");
    }
    assert!(!filter.reads(Attribute::Degree));
}

#[test]
fn conditions_are_about_each_vertex_or_about_pairs() {
    let of_pairs = |text: &str| -> Vec<bool> {
        let filter: Filter = text.parse().unwrap();
        filter.conditions().iter().map(Condition::is_of_pairs).collect()
    };
    let text = "degree(v) > 1, label(u) != label(v), adjacent(u, v), degree(u) > 1 or label(v) == 2, size < 3";
    assert_eq!(of_pairs(text), [false, true, true, true, false]);
    let filter: Filter = "degree(u) > 3 or label(v) == 2".parse().unwrap();
    assert!(filter.reads(Attribute::Label) && filter.reads(Attribute::Degree));
    let filter: Filter = "adjacent(u, v)".parse().unwrap();
    assert!(!filter.reads(Attribute::Label) && !filter.reads(Attribute::Degree));
}

fn operand() -> impl Strategy<Value = (Attribute, bool)> {
    (prop_oneof![Just(Attribute::Label), Just(Attribute::Degree)], any::<bool>())
}

fn variable(is_u: bool) -> Variable {
    if is_u { Variable::U } else { Variable::V }
}

/// Any comparison that can be written.
fn comparison() -> impl Strategy<Value = Comparison> {
    let relation = (0..6usize).prop_map(|at| Relation::SIGNS[at].0);
    prop_oneof![
        any::<bool>().prop_map(Comparison::Adjacent),
        (operand(), relation.clone()).prop_map(|((a, u), relation)| {
            let sides = (Operand::Of(a, variable(u)), Operand::Of(a, variable(!u)));
            Comparison::Numbers(sides.0, relation, sides.1)
        }),
        (operand(), relation, any::<bool>(), 0..5u32).prop_map(|((a, u), relation, first, n)| {
            let (of, number) = (Operand::Of(a, variable(u)), Operand::Number(n));
            let (left, right) = if first { (of, number) } else { (number, of) };
            Comparison::Numbers(left, relation, right)
        }),
    ]
}

/// A comparison with `size`.
fn of_size() -> impl Strategy<Value = Comparison> {
    ((0..6usize), any::<bool>(), 0..7u32).prop_map(|(at, first, n)| {
        let (left, right) = (Operand::Size, Operand::Number(n));
        let (left, right) = if first { (left, right) } else { (right, left) };
        Comparison::Numbers(left, Relation::SIGNS[at].0, right)
    })
}

/// A comparison in a condition on patterns.
fn of_pattern() -> impl Strategy<Value = PatternComparison> {
    let named = |(name, wanted): (&str, bool)| PatternComparison::Is {
        name: name.into(),
        pattern: crate::named(name).expect("a name"),
        wanted,
    };
    let name = prop::sample::select(vec!["edge", "triangle", "K3,3", "4-star", "6v8e.3", "K5-e"]);
    prop_oneof![(name, any::<bool>()).prop_map(named), of_size().prop_map(PatternComparison::Size),]
}

fn filter(
    comparison: impl Strategy<Value = Comparison> + 'static,
) -> impl Strategy<Value = Filter> {
    let condition = prop::collection::vec(comparison, 1..4).prop_map(Condition);
    prop::collection::vec(condition, 1..4)
        .prop_map(|vertices| Filter { vertices, patterns: vec![] })
}

/// The definition: every condition for every vertex or for every ordered pair.
fn passes(
    filter: &Filter,
    vertices: &[VertexFacts],
    adjacent: &dyn Fn(usize, usize) -> bool,
) -> bool {
    filter.conditions().iter().all(|condition| {
        (0..vertices.len()).all(|i| {
            (0..vertices.len()).all(|j| match condition.is_of_pairs() {
                true => i == j || condition.holds(0, vertices[i], vertices[j], adjacent(i, j)),
                false => condition.holds(0, vertices[i], vertices[i], false),
            })
        })
    })
}

proptest! {
    #[test]
    fn any_filter_comes_back_from_its_text(
        mut filter in filter(prop_oneof![comparison(), of_size()]),
        patterns in prop::collection::vec(prop::collection::vec(of_pattern(), 1..4), 0..3),
    ) {
        // One without a pattern is a condition on vertices.
        let is = |c: &PatternComparison| matches!(c, PatternComparison::Is { .. });
        let conditions = patterns.into_iter().filter(|all| all.iter().any(is));
        filter.patterns = conditions.map(PatternCondition).collect();
        match filter.to_string().parse::<Filter>() {
            Ok(read) => prop_assert_eq!(read, filter),
            Err(error) => prop_assert!(error.to_string().contains("no pair of vertices passes")),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[luv()a-z!=<>, 0-9]{0,40}") {
        if let Err(error) = text.parse::<Filter>() {
            prop_assert_eq!(error.exit_code(), 2);
        }
    }

    /// In any order of the vertices, vertex by vertex.
    #[test]
    fn a_set_passes_vertex_by_vertex_in_any_order(
        filter in filter(comparison()),
        facts in prop::collection::vec((0..4u32, 0..5u32), 1..5),
        edges in any::<u16>(),
        turn in any::<usize>(),
    ) {
        let vertices: Vec<VertexFacts> =
            facts.iter().map(|&(label, degree)| VertexFacts { label, degree }).collect();
        let adjacent = |i: usize, j: usize| edges >> (4 * i.min(j) + i.max(j)) & 1 == 1;
        let mut order: Vec<usize> = (0..vertices.len()).collect();
        order.rotate_left(turn % vertices.len());
        if turn & 1 == 1 {
            order.reverse();
        }
        let stepwise = (0..order.len()).all(|at| {
            let others = order[..at].iter().map(|&i| (vertices[i], adjacent(i, order[at])));
            filter.accepts(vertices[order[at]], others)
        });
        prop_assert_eq!(stepwise, passes(&filter, &vertices, &adjacent));
    }

    /// A condition with `size` is another one at each size: it holds, or is as without that comparison.
    #[test]
    fn a_comparison_of_size_decides_by_the_number_of_vertices(
        filter in filter(comparison()),
        size in of_size(),
        at in any::<prop::sample::Index>(),
        facts in prop::collection::vec((0..4u32, 0..5u32, any::<bool>()), 1..5),
    ) {
        let facts: Vec<(VertexFacts, bool)> = facts
            .iter()
            .map(|&(label, degree, adjacent)| (VertexFacts { label, degree }, adjacent))
            .collect();
        let ((new, _), others) = facts.split_last().expect("one vertex");
        let mut with_size = filter.clone();
        let at = at.index(filter.vertices.len());
        with_size.vertices[at].0.push(size);
        let of = |side| if let Operand::Number(n) = side { n } else { facts.len() as u32 };
        let Comparison::Numbers(left, relation, right) = size else { unreachable!() };
        let mut without = filter.clone();
        if relation.holds(of(left), of(right)) {
            without.vertices.remove(at);
        }
        let accepts = |filter: &Filter| filter.accepts(*new, others.iter().copied());
        prop_assert_eq!(accepts(&with_size), accepts(&without));
    }
}
