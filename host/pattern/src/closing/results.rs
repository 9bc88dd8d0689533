//! The order of results, and which patterns are frequent.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::Count;
use crate::task::{Measure, Task, parts_reported};

/// The order of frequent patterns: smaller ones first (by vertices, then edges), more frequent ones
/// first among those of one size, then by canonical form.
pub fn sort(results: &mut [Count]) {
    let key = |at: usize| {
        let Count { pattern, count } = &results[at];
        (pattern.vertices(), pattern.edge_count(), Reverse(*count), at)
    };
    let mut order: Vec<_> = (0..results.len()).map(key).collect();
    // Patterns are compared where all else is equal, and none is copied.
    order.sort_unstable_by(|a, b| {
        let patterns = || results[a.3].pattern.cmp(&results[b.3].pattern);
        (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)).then_with(patterns).then(a.3.cmp(&b.3))
    });
    let mut place = vec![0; results.len()];
    order.iter().zip(0..).for_each(|(from, to)| place[from.3] = to);
    for at in 0..results.len() {
        while place[at] != at {
            let to = place[at];
            results.swap(at, to);
            place.swap(at, to);
        }
    }
}

/// Puts the results of joined parts in the order of the task.
pub fn arrange(task: &Task, results: &mut [Count]) {
    match task {
        // A share has no sizes above its largest, so others come later.
        Task::CliqueSizes { .. } | Task::MaximalCliques => {
            results.sort_by_key(|r| r.pattern.vertices());
        }
        Task::Fsm { .. } => sort(results),
        // Only those that occur are there.
        Task::Motif { k: 7.., .. } => {
            results.sort_by_key(|r| (r.pattern.edge_count(), r.pattern.bits()));
        }
        _ => {}
    }
}

/// Leaves the frequent patterns of a whole graph, in which [`arrange`]d parts have all that occur: by embeddings, those
/// whose parts are frequent too.
pub fn apply_threshold(task: &Task, results: &mut Vec<Count>) {
    let Task::Fsm { support, measure: Measure::Embeddings, .. } = task else { return };
    let mut reported = HashSet::new();
    // Smaller ones come first.
    results.retain(|Count { pattern, count }| {
        let frequent = *count >= u128::from(*support) && parts_reported(pattern, &reported);
        if frequent {
            reported.insert(pattern.clone());
        }
        frequent
    });
}
