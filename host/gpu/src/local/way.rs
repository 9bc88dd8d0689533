//! Whether cliques of many vertices are met one by one or counted by pivots.

use crate::device::Device;

/// Vertices of a clique up to which sets are met one by one: on an H200 6-cliques took 0.4 to 7 ms by sets and 1 to
/// 54 ms by pivots, 7-cliques 0.8 to 92 and 1 to 42 ms, 8-cliques 7 to 1,441 ms by sets.
const MOST_VERTICES: usize = 6;
/// Sets of a compute unit that take less time than a walk needs to begin.
const FEW: f64 = 1e5;

/// Method for cliques of six or more vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// One by one except the last two vertices.
    Sets,
    /// By pivots.
    Pivots,
}

impl Method {
    /// The way for cliques of `k`, given the most sets of k − 2 vertices of each root, which are added up until they are many.
    pub(super) fn of(device: &Device, k: usize, sets: impl IntoIterator<Item = f64>) -> Self {
        let most = FEW * device.limits.units as f64;
        let few = || {
            let mut sum = 0.0;
            sets.into_iter().all(|sets| {
                sum += sets;
                sum <= most
            })
        };
        match device.pivots {
            Some(true) => Method::Pivots,
            Some(false) => Method::Sets,
            None if k <= MOST_VERTICES || few() => Method::Sets,
            None => Method::Pivots,
        }
    }
}
