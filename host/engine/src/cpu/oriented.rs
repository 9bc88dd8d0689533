//! The graph oriented by degeneracy: every edge leads from a vertex that is peeled earlier to one
//! that is peeled later.

use gramer_graph::context::{Cancel, Looks};
use gramer_graph::error::Result;
use gramer_graph::{VertexId, View};

/// A directed acyclic copy of a graph. Vertices are numbered so that edges lead to smaller
/// numbers, and no vertex has more than the graph's degeneracy of them.
#[derive(Debug)]
pub(crate) struct Oriented {
    offsets: Vec<u64>,
    targets: Vec<u32>,
    /// The graph's vertex, by number in this copy.
    pub vertex: Vec<VertexId>,
}

impl Oriented {
    /// Orients a graph, in O(V + E): vertices are peeled by smallest remaining degree
    /// (Matula and Beck, 1983).
    ///
    /// # Errors
    /// [`gramer_graph::Error::Interrupted`] once `cancel` is raised.
    pub fn by_degeneracy(graph: View<'_>, cancel: &Cancel) -> Result<Self> {
        let vertices = graph.vertices();
        let mut looks = Looks::new(cancel);
        let mut degree: Vec<u32> = Vec::with_capacity(vertices);
        for v in 0..vertices as VertexId {
            looks.check(1)?;
            degree.push(graph.degree(v) as u32);
        }
        let largest = degree.iter().copied().max().unwrap_or(0) as usize;
        // `queue` holds the vertices by remaining degree; `start[d]` is where degree d begins.
        let mut start = vec![0usize; largest + 2];
        for &d in &degree {
            start[d as usize + 1] += 1;
        }
        for d in 0..=largest {
            start[d + 1] += start[d];
        }
        let mut cursor = start.clone();
        let mut queue = vec![0; vertices];
        let mut place = vec![0u32; vertices];
        // Descending, so that of equal vertices the least valuable one is peeled first.
        for v in (0..vertices as VertexId).rev() {
            looks.check(1)?;
            let at = &mut cursor[degree[v as usize] as usize];
            queue[*at] = v;
            place[v as usize] = *at as u32;
            *at += 1;
        }
        for at in 0..vertices {
            let v = queue[at];
            let d = degree[v as usize];
            looks.check(1 + graph.degree(v))?;
            for &u in graph.neighbours(v) {
                let du = degree[u as usize];
                if du > d {
                    // Move u to the front of its degree, then shift the border over it.
                    let front = start[du as usize].max(at + 1);
                    let first = queue[front];
                    let here = place[u as usize] as usize;
                    queue.swap(front, here);
                    place[u as usize] = front as u32;
                    place[first as usize] = here as u32;
                    start[du as usize] = front + 1;
                    degree[u as usize] = du - 1;
                }
            }
        }
        // Peeled last becomes number 0.
        queue.reverse();
        Oriented::by_order(graph, queue, cancel)
    }

    /// Orients every edge towards the vertex that comes earlier in `vertex`.
    fn by_order(graph: View<'_>, vertex: Vec<VertexId>, cancel: &Cancel) -> Result<Self> {
        let mut looks = Looks::new(cancel);
        let vertices = graph.vertices();
        let mut number = vec![0u32; vertices];
        for (n, &v) in vertex.iter().enumerate() {
            looks.check(1)?;
            number[v as usize] = n as u32;
        }
        let mut offsets = Vec::with_capacity(vertices + 1);
        offsets.push(0u64);
        let mut end = 0;
        for (n, &v) in vertex.iter().enumerate() {
            looks.check(1 + graph.degree(v))?;
            let smaller =
                graph.neighbours(v).iter().filter(|&&u| (number[u as usize] as usize) < n);
            end += smaller.count() as u64;
            offsets.push(end);
        }
        // Sources in ascending order fill every list in ascending order.
        let mut cursor: Vec<u64> = offsets[..vertices].to_vec();
        let mut targets = vec![0u32; end as usize];
        for (n, &v) in vertex.iter().enumerate() {
            looks.check(1 + graph.degree(v))?;
            for &u in graph.neighbours(v) {
                let to = number[u as usize] as usize;
                if to > n {
                    targets[cursor[to] as usize] = n as u32;
                    cursor[to] += 1;
                }
            }
        }
        Ok(Oriented { offsets, targets, vertex })
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertex.len()
    }

    /// The vertices that `n` leads to, ascending; all smaller than `n`.
    #[inline]
    pub fn targets(&self, n: u32) -> &[u32] {
        &self.targets[self.offsets[n as usize] as usize..self.offsets[n as usize + 1] as usize]
    }

    /// The largest number of targets: the degeneracy.
    pub fn degeneracy(&self) -> usize {
        self.offsets.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    #[test]
    fn a_clique_with_tails_has_the_degeneracy_of_the_clique() {
        let mut b = Builder::new();
        for u in 0..6u64 {
            for v in 0..u {
                b.edge(u, v);
            }
            for tail in 0..20 {
                b.edge(u, 100 + 20 * u + tail);
            }
        }
        let g = b.build();
        let o = Oriented::by_degeneracy(g.view(), &Cancel::default()).unwrap();
        assert_eq!(o.degeneracy(), 5);
        let arcs: usize = (0..o.vertices() as u32).map(|n| o.targets(n).len()).sum();
        assert_eq!(arcs, g.edges());
        for n in 0..o.vertices() as u32 {
            assert!(o.targets(n).is_sorted());
            for &t in o.targets(n) {
                assert!(t < n);
                assert!(g.view().has_edge(o.vertex[n as usize], o.vertex[t as usize]));
            }
        }
    }
}
