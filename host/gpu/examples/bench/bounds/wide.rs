//! What motifs of four vertices read by DuMato's exploration (`kernels/wide.cl`).

use super::{Arcs, Tests, sample};

impl Arcs {
    /// The lists that extend each embedding of up to three vertices, and the searches for edges of what is in them.
    pub fn wide(&self) -> Tests {
        let mut roots: Vec<u32> = (0..self.vertices() as u32).collect();
        roots.sort_by_key(|&v| std::cmp::Reverse(self.near(v as usize).len()));
        let weight = |&root: &u32| (self.near(root as usize).len() as f64).powi(2);
        sample::all(&roots, weight, |&root, tests| {
            for &second in self.extensions(&[root], tests).iter() {
                for &third in self.extensions(&[root, second], tests).iter() {
                    self.extensions(&[root, second, third], tests);
                }
            }
        })
    }

    /// Vertices that extend an embedding, in Arabesque's canonical order.
    fn extensions(&self, own: &[u32], tests: &mut Tests) -> Vec<u32> {
        let mut found = vec![];
        for (at, &v) in own.iter().enumerate() {
            let list = self.near(v as usize);
            tests.lists += 1;
            tests.read += list.len() as u64;
            for &u in list {
                if u <= own[0] || own[at + 1..].iter().any(|&w| u <= w) {
                    continue;
                }
                if own[..at].iter().any(|&w| u == w || self.is_edge(u, w, tests)) {
                    continue;
                }
                if own.len() == 3 {
                    own[at + 1..].iter().for_each(|&w| _ = self.is_edge(u, w, tests));
                } else {
                    found.push(u);
                }
            }
        }
        found
    }

    /// Searches the shorter list as the kernel does.
    fn is_edge(&self, u: u32, v: u32, tests: &mut Tests) -> bool {
        let (a, b) = (self.near(u as usize), self.near(v as usize));
        let (mut list, sought) = if b.len() < a.len() { (b, u) } else { (a, v) };
        tests.searches += 1;
        while !list.is_empty() {
            tests.comparisons += 1;
            let middle = list.len() / 2;
            match list[middle].cmp(&sought) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => list = &list[middle + 1..],
                std::cmp::Ordering::Greater => list = &list[..middle],
            }
        }
        false
    }
}
