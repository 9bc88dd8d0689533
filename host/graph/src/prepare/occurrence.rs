//! ON_k, equation (1) of the paper.

use super::fill;
use crate::{VertexId, View};
use gramer_base::context::{Cancel, Context};
use gramer_base::error::Result;
use gramer_base::memory::zeroed;

/// Vertices that a thread takes at a time where each costs about its degree.
const CHUNK: usize = 1024;

/// The occurrence number ON_k of every vertex, equation (1) of the paper with c = 1:
/// the product over dist = 0 … k of the sum of the degrees of the vertices at distance exactly
/// dist. A distance at which there is no vertex ends the product. Saturates at `u128::MAX`.
///
/// ON_0 is the degree; ON_1(v) = deg(v) · Σ deg(u) over the neighbours u of v, which is below
/// 2^96 for every graph. k from 2 on explores the surroundings of every vertex, which costs up to
/// V · E and is there for comparison (figure 8 of the paper).
///
/// # Errors
/// [`gramer_base::Error::Interrupted`] if the run was cancelled.
pub fn on_k(view: View<'_>, k: usize, context: &Context) -> Result<Vec<u128>> {
    let mut on: Vec<u128> = zeroed(view.vertices())?;
    match k {
        0 => fill(&mut on, CHUNK, context, || (), |(), v| view.degree(v as VertexId) as u128)?,
        1 => {
            // Degrees alone are half as large as offsets and need one access instead of two.
            let mut degrees: Vec<u32> = zeroed(view.vertices())?;
            fill(&mut degrees, CHUNK, context, || (), |(), v| view.degree(v as VertexId) as u32)?;
            fill(&mut on, CHUNK, context, || (), |(), v| on_1(view, &degrees, v as VertexId))?;
        }
        _ => {
            let make = || NeighbourhoodSearch::new(view, &context.cancel);
            fill(&mut on, 1, context, make, |s, v| s.on_k(k, v as VertexId))?;
        }
    }
    Ok(on)
}

/// The sum is at most the number of edge entries, so that neither it nor the product overflows.
fn on_1(view: View<'_>, degrees: &[u32], v: VertexId) -> u128 {
    let around: u64 = view.neighbours(v).iter().map(|&u| degrees[u as usize] as u64).sum();
    degrees[v as usize] as u128 * around as u128
}

/// Breadth-first search from one vertex after another, without clearing its marks.
struct NeighbourhoodSearch<'a> {
    view: View<'a>,
    cancel: &'a Cancel,
    /// The search in which a vertex was met last.
    met: Vec<u64>,
    search: u64,
    level: Vec<VertexId>,
    next: Vec<VertexId>,
}

impl<'a> NeighbourhoodSearch<'a> {
    fn new(view: View<'a>, cancel: &'a Cancel) -> Self {
        let met = vec![0; view.vertices()];
        NeighbourhoodSearch { view, cancel, met, search: 0, level: vec![], next: vec![] }
    }

    /// ON_k of `v`; a meaningless number once the run was cancelled.
    fn on_k(&mut self, k: usize, v: VertexId) -> u128 {
        self.search += 1;
        self.met[v as usize] = self.search;
        self.level.clear();
        self.level.push(v);
        let mut product = self.view.degree(v) as u128;
        for _ in 0..k {
            self.next.clear();
            let mut degrees = 0u128;
            for &u in &self.level {
                if self.cancel.is_cancelled() {
                    return 0;
                }
                for &w in self.view.neighbours(u) {
                    if self.met[w as usize] != self.search {
                        self.met[w as usize] = self.search;
                        degrees += self.view.degree(w) as u128;
                        self.next.push(w);
                    }
                }
            }
            if self.next.is_empty() {
                break;
            }
            product = product.saturating_mul(degrees);
            std::mem::swap(&mut self.level, &mut self.next);
        }
        product
    }
}
