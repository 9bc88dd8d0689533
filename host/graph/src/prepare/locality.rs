//! Extension locality: how much of the accesses a few vertices and edges take (the paper's figure
//! 5), and how well ON_k finds them (figure 8a).

/// Number of items in the top `share` (0 to 1) of `items`, at least 1 of any.
fn top_size(items: usize, share: f64) -> usize {
    ((items as f64 * share).floor() as usize).clamp(items.min(1), items)
}

/// The share of all accesses that goes to the most accessed `share` of the items, 0 to 1: what
/// the best choice could keep. 0 if there are no accesses.
pub fn share_of_most_accessed(counts: &[u64], share: f64) -> f64 {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    share_of_first(&sorted, share)
}

/// The share of all accesses that goes to the first `share` of the items. In the order of
/// Rank(ON_1) those are the ones that ON_1 chooses.
pub fn share_of_first(counts: &[u64], share: f64) -> f64 {
    let all: u128 = counts.iter().map(|&c| u128::from(c)).sum();
    let first: u128 = counts[..top_size(counts.len(), share)].iter().map(|&c| u128::from(c)).sum();
    if all == 0 { 0.0 } else { first as f64 / all as f64 }
}

/// The proportion of the `share` of the vertices with the largest `on` that belongs to the most
/// accessed `share`, 0 to 1. A vertex with as many accesses as the last of those belongs to them,
/// so that ties don't favour any numbering.
pub fn accuracy(on: &[u128], counts: &[u64], share: f64) -> f64 {
    let top = top_size(counts.len(), share);
    if top == 0 {
        return 0.0;
    }
    let mut chosen: Vec<usize> = (0..on.len()).collect();
    chosen.sort_by_key(|&v| (std::cmp::Reverse(on[v]), v));
    let mut sorted = counts.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let least = sorted[top - 1];
    chosen[..top].iter().filter(|&&v| counts[v] >= least).count() as f64 / top as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_few() {
        let counts = [1, 90, 3, 6, 0, 0, 0, 0, 0, 0];
        assert_eq!(share_of_most_accessed(&counts, 0.1), 0.9);
        assert_eq!(share_of_first(&counts, 0.1), 0.01);
        assert_eq!(share_of_first(&counts, 0.2), 0.91);
        // At least one item is taken.
        assert_eq!(share_of_most_accessed(&counts, 0.01), 0.9);
        assert_eq!(share_of_first(&[0, 0], 0.5), 0.0);
        assert_eq!(share_of_first(&[], 0.5), 0.0);
    }

    #[test]
    fn accuracy_compares_the_top_sets() {
        let counts = [9, 8, 1, 1];
        assert_eq!(accuracy(&[7, 7, 1, 0], &counts, 0.5), 1.0);
        assert_eq!(accuracy(&[7, 0, 9, 0], &counts, 0.5), 0.5);
        assert_eq!(accuracy(&[0, 0, 9, 9], &counts, 0.5), 0.0);
    }
}
