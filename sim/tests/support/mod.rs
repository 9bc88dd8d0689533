//! What the tests of the core compare with: algorithm 1 of the paper, as plainly as it can be
//! written, and a dictionary from adjacency bits to pattern numbers. Nothing is shared with the
//! core but the graph.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use gramer_machine::Accelerator;
use gramer_sim::image::Csr;
use gramer_sim::model::{self, Build, Model};

/// The repository.
pub fn root() -> PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A machine and a fresh instance of its core, or `None` where Verilator is missing and
/// `GRAMER_REQUIRE_RTL` isn't 1.
pub fn core(machine: &str) -> Option<(Accelerator, PathBuf)> {
    if model::verilator().is_none() {
        assert!(
            std::env::var("GRAMER_REQUIRE_RTL").as_deref() != Ok("1"),
            "GRAMER_REQUIRE_RTL=1, but there is no verilator on the PATH"
        );
        eprintln!("skipped: no verilator on the PATH (scripts/setup-rtl.sh installs it)");
        return None;
    }
    let accelerator = Accelerator::read(root().join(machine)).unwrap();
    let library = model::build(&accelerator, Build::default()).unwrap();
    Some((accelerator, library))
}

/// A fresh instance.
pub fn instance(library: &std::path::Path) -> Model {
    Model::load(library).unwrap()
}

/// Pattern numbers by adjacency bits: bit j (j - 1) / 2 + i is the edge i-j. Isomorphic bits get
/// one number; only connected ones are known.
pub struct Patterns {
    pub dictionary: Vec<u16>,
    pub number: usize,
}

fn permutations(k: usize) -> Vec<Vec<usize>> {
    if k == 0 {
        return vec![vec![]];
    }
    permutations(k - 1)
        .into_iter()
        .flat_map(|p| {
            (0..k).map(move |at| {
                let mut q = p.clone();
                q.insert(at, k - 1);
                q
            })
        })
        .collect()
}

fn bit(i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    j * (j - 1) / 2 + i
}

/// All connected patterns of `k` vertices.
pub fn motifs(k: usize) -> Patterns {
    let orders = permutations(k);
    let mut dictionary = vec![0u16; 1 << (k * (k - 1) / 2)];
    let mut numbers = BTreeMap::new();
    for key in 0..dictionary.len() {
        let edge = |i: usize, j: usize| i != j && key >> bit(i, j) & 1 == 1;
        let mut seen = 1usize;
        for _ in 0..k {
            for i in 0..k {
                for j in 0..k {
                    if seen >> i & 1 == 1 && edge(i, j) {
                        seen |= 1 << j;
                    }
                }
            }
        }
        if seen + 1 != 1 << k {
            continue;
        }
        let canonical = orders
            .iter()
            .map(|order| {
                let mut bits = 0usize;
                for j in 1..k {
                    for i in 0..j {
                        bits |= usize::from(edge(order[i], order[j])) << bit(i, j);
                    }
                }
                bits
            })
            .min()
            .unwrap();
        let next = numbers.len();
        dictionary[key] = 0x8000 | *numbers.entry(canonical).or_insert(next) as u16;
    }
    Patterns { dictionary, number: numbers.len() }
}

/// What algorithm 1 finds.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
pub struct Reference {
    pub counts: Vec<u64>,
    /// By number of vertices, from 1.
    pub candidates: Vec<u64>,
    pub embeddings: Vec<u64>,
}

/// Algorithm 1 with the paper's primitives, depth first. A candidate is a neighbour of vertex i
/// that lies beyond the root and beyond the vertices after position i, and isn't in the embedding.
pub struct Mine<'a> {
    pub graph: &'a Csr,
    pub k: usize,
    pub ascending: bool,
    pub clique: bool,
    /// Pattern number of adjacency bits (and labels), or `None`: not known.
    pub lookup: &'a dyn Fn(&[u32], usize) -> Option<usize>,
    /// Extend only what `lookup` knows, from 2 vertices on.
    pub filtered: bool,
}

impl Mine<'_> {
    pub fn all(&self, patterns: usize, depth: usize) -> Reference {
        let mut found = Reference {
            counts: vec![0; patterns],
            candidates: vec![0; depth],
            embeddings: vec![0; depth],
        };
        for v in 0..self.graph.vertices() as u32 {
            found.embeddings[0] += 1;
            self.extend(&mut vec![v], 0, &mut found);
        }
        found
    }

    fn beyond(&self, a: u32, b: u32) -> bool {
        if self.ascending { a > b } else { a < b }
    }

    fn extend(&self, embedding: &mut Vec<u32>, bits: usize, found: &mut Reference) {
        let m = embedding.len();
        let lists = if self.clique { 1 } else { m };
        for i in 0..lists {
            for &w in self.graph.list(embedding[i]) {
                let in_order = self.beyond(w, embedding[0])
                    && embedding[i + 1..].iter().all(|&v| self.beyond(w, v));
                if !in_order || embedding.contains(&w) {
                    continue;
                }
                found.candidates[m] += 1;
                let adjacent: Vec<bool> = embedding
                    .iter()
                    .map(|&v| self.graph.list(v).binary_search(&w).is_ok())
                    .collect();
                if adjacent[..i].contains(&true) || (self.clique && adjacent.contains(&false)) {
                    continue;
                }
                let mut grown = bits;
                for (j, _) in adjacent.iter().enumerate().filter(|(_, a)| **a) {
                    if m < 6 {
                        grown |= 1 << bit(j, m);
                    }
                }
                embedding.push(w);
                let number = (self.lookup)(embedding, grown);
                if !self.filtered || number.is_some() {
                    found.embeddings[m] += 1;
                    if m + 1 == self.k {
                        found.counts[number.expect("a known pattern")] += 1;
                    } else {
                        self.extend(embedding, grown, found);
                    }
                }
                embedding.pop();
            }
        }
    }
}

/// A random graph: sparse, dense, or with hubs.
pub fn random_graph(rng: &mut fastrand::Rng, most_vertices: usize) -> Csr {
    let n = rng.usize(1..=most_vertices);
    let edges: Vec<(u32, u32)> = match rng.u32(0..4) {
        0 => (0..rng.usize(0..=2 * n)).map(|_| (rng.u32(0..n as u32), rng.u32(0..n as u32))).collect(),
        1 => {
            let density = rng.f64();
            let mut edges = vec![];
            let n = n.min(24) as u32;
            for u in 0..n {
                for v in 0..u {
                    if rng.f64() < density {
                        edges.push((u, v));
                    }
                }
            }
            edges
        }
        2 => {
            // A few hubs.
            let hubs = rng.u32(1..=3).min(n as u32);
            (0..rng.usize(0..=3 * n)).map(|_| (rng.u32(0..hubs), rng.u32(0..n as u32))).collect()
        }
        _ => {
            // Preferential attachment.
            let mut ends = vec![0u32];
            let mut edges = vec![];
            for v in 1..n as u32 {
                for _ in 0..rng.u32(1..=3) {
                    let u = ends[rng.usize(0..ends.len())];
                    edges.push((u, v));
                    ends.push(u);
                }
                ends.push(v);
            }
            edges
        }
    };
    Csr::new(n, &edges, vec![])
}
