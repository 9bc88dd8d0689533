//! A search plan as a chain: one vertex after another, and one measure at the end.

use gramer_pattern::plan::search::{Formula, NextStep, SearchPlan, Source, Step};

/// The steps of a plan in their order, and what is counted at the end.
pub(super) struct Chain<'a> {
    pub steps: Vec<&'a Step>,
    pub source: &'a Source,
    /// The set that is measured and belongs to no step.
    pub measured: Option<usize>,
    pub pairs: bool,
    /// Mappings for each that is counted.
    pub times: u128,
    /// Two vertices are counted that have no edge: the other one's set. Their images differ.
    pub other: Option<&'a Source>,
}

/// The chain that a plan is, if it is one.
pub(super) fn chain(plan: &SearchPlan) -> Option<Chain<'_>> {
    let mut steps = vec![plan.steps.first()?];
    loop {
        let last = *steps.last()?;
        let whole = |steps, source, measured, pairs, times| {
            Some(Chain { steps, source, measured, pairs, times, other: None })
        };
        match last.then.as_slice() {
            [NextStep::Step(next)] => steps.push(&plan.steps[*next]),
            [NextStep::Emit] => {
                steps.pop();
                return whole(steps, last.source.as_ref()?, None, false, 1);
            }
            [NextStep::Formula(Formula::One(source))] => {
                return whole(steps, source, None, false, 1);
            }
            [NextStep::Formula(Formula::Intersection(source))] => {
                return whole(steps, source, Some(source.set), false, 1);
            }
            [NextStep::Formula(Formula::Partitions(parts))] => {
                let [one, other] = &parts.sources[..] else { return None };
                if parts.blocks != [1, 2, 3] || parts.terms != [(1, vec![0, 1]), (-1, vec![2])] {
                    return None;
                }
                // The set that is made last, of the last vertex' list: it needn't be stored.
                let made = |source: &Source| last.sets.contains(&source.set);
                let (source, other) = match (made(one), made(other)) {
                    (true, _) if holds(plan, other.set, one.set) => (one, other),
                    (_, true) if holds(plan, one.set, other.set) => (other, one),
                    _ => return None,
                };
                let whole = whole(steps, source, None, false, 1);
                return whole.map(|chain| Chain { other: Some(other), ..chain });
            }
            [NextStep::Formula(Formula::Same { source, vertices: 2, ordered })] => {
                return whole(steps, source, None, true, if *ordered { 1 } else { 2 });
            }
            _ => return None,
        }
    }
}

/// Whether a set's parent has all members of another set, so that those of both are the other's members that the set's last
/// word leaves; a set without parent is a list. The other one must not need the set, which isn't stored.
fn holds(plan: &SearchPlan, other: usize, set: usize) -> bool {
    let above = |&at: &usize| plan.sets[at].parent;
    let mut chain = std::iter::successors(Some(other), above);
    if chain.clone().any(|at| at == set) {
        return false;
    }
    plan.sets[set].parent.is_none_or(|parent| chain.any(|at| at == parent))
}
