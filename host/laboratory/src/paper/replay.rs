//! Figure 12 by raw accesses: those of algorithm 1, one after the other, through the three hierarchies.
//!
//! No machine reorders, merges or keeps anything here: what is left is the replacement. An access is to the record of a
//! vertex or to an entry of a list, as section II-B of the paper has them; entries of one line in a row are one access.

use std::ops::ControlFlow;

use gramer_base::error::{Error, Result};
use gramer_engine::reference::{Access, Cliques, Comparison, Explorer, Motifs, Primitives};
use gramer_engine::{Units, WorkUnit};
use gramer_machine::{ENTRIES_A_LINE, RECORDS_A_LINE};
use gramer_pattern::task::Task;

use super::checks::{CHECKS, ORDERS};
use super::hierarchies::{HitsBySize, size_claims};
use super::inputs::MICO;
use super::report::{Block, Claim, Section};
use super::steps::{FROM, HitGains};
use super::{Input, Lab, csv_table};
use crate::explore::parameter::{Point, Variation, combinations};
use crate::explore::task;

/// Title of the section.
pub(super) const TITLE: &str = "Figure 12 by a replay of raw accesses";
const POLICIES: [&str; 3] = ["uniform-lru", "static-lru", "locality"];
/// Shares of the data on the chip, as in figure 12.
const SHARES: [&str; 2] = ["10%", "20%"];
const THREE: &str = "motif:3";
const FOUR: &str = "motif:4";
const TASKS: [&str; 5] = ["clique:3", "clique:4", "clique:5", THREE, FOUR];
/// The paper's points of vertices and of edges: static over uniform LRU, and locality-aware over static.
const GAINS: [[f64; 2]; 2] = [[12.96, 8.42], [1.01, 1.11]];
/// λ of equation (2), as in figure 12.
const LAMBDA: u64 = 1;

/// Task on graphs of Mico's size, with the smaller share: the chip has no room for the larger one.
const TASK_OF_SIZE: [&str; 1] = ["clique:3"];

/// Hit ratios of the hierarchies on P2P, and on graphs of Mico's size.
pub fn replay(lab: &Lab<'_>) -> Result<Section> {
    let mut found = Found::default();
    let tasks = if lab.quick { &TASKS[..1] } else { &TASKS[..] };
    let small = lab.p2p.iter().map(|input| (input, tasks, &SHARES[..]));
    let large = lab.mico.iter().map(|input| (input, &TASK_OF_SIZE[..], &SHARES[..1]));
    for (input, tasks, shares) in small.chain(large) {
        for name in tasks {
            for (which, order) in ORDERS.iter().enumerate() {
                for (check, check_name) in CHECKS.iter().enumerate() {
                    (lab.tell)(&format!("  {} {name} {}, {check_name}", input.name, order.0));
                    let mut all = hierarchies(lab, input, shares)?;
                    run(lab, input, name, (order.1, check == 1), &mut all)?;
                    found.add(input, name, [which, check], &all);
                }
            }
        }
    }
    Ok(found.section())
}

/// The hierarchies by share and policy, as figure 12 has them.
fn hierarchies(lab: &Lab<'_>, input: &Input, shares: &[&str]) -> Result<Vec<Hierarchy>> {
    let mut all = vec![];
    for share in shares {
        for policy in POLICIES {
            let settings = [format!("on_chip={share}"), format!("policy={policy}")];
            let settings = settings.iter().map(|text| Variation::parse(text));
            let settings = combinations(&settings.collect::<Result<Vec<_>>>()?);
            let point = Point::new(&lab.base, input.graph.view(), &settings[0])?;
            all.push(Hierarchy::of(&point, policy != POLICIES[2]));
        }
    }
    Ok(all)
}

/// Runs algorithm 1, whose accesses go to all hierarchies.
fn run(
    lab: &Lab<'_>,
    input: &Input,
    name: &str,
    how: (Comparison, bool),
    all: &mut [Hierarchy],
) -> Result<()> {
    let (_, mined) = task(name)?;
    match mined {
        Task::Clique { k } => explore(lab, input, Cliques::new(k), how, all),
        Task::Motif { k, .. } => explore(lab, input, Motifs::new(k), how, all),
        _ => Err(Error::Unsupported("only accesses of cliques and motifs are replayed".into())),
    }
}

fn explore<P: Primitives>(
    lab: &Lab<'_>,
    input: &Input,
    primitives: P,
    (comparison, candidate): (Comparison, bool),
    all: &mut [Hierarchy],
) -> Result<()> {
    let view = input.graph.view();
    let observer = |access| all.iter_mut().for_each(|hierarchy| hierarchy.access(access));
    let explorer = Explorer::new(view, comparison, primitives, lab.context).with_observer(observer);
    let mut explorer = if candidate { explorer.with_candidate_check() } else { explorer };
    let units: Vec<WorkUnit> = Units::All.iter(view).collect();
    match explorer.run_units(&units) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(_) => Err(Error::Interrupted),
    }
}

/// The memories of vertices and of edges of all partitions.
struct Hierarchy {
    memories: [Memory; 2],
    /// The line of edges that was accessed last.
    line: Option<u64>,
}

impl Hierarchy {
    fn of(point: &Point, lru: bool) -> Self {
        let machine = &point.machine.machine;
        let [vertices, edges, vertex_sets, edge_sets] =
            point.on_chip().expect("a share of the data was set");
        let (all_vertex_sets, all_edge_sets) = point.machine.cache_sets();
        let ways = point.machine.memory.cache_ways as usize;
        let partitions = u64::from(machine.partitions);
        let memory = |high, sets: u64, all_sets: u32| Memory {
            high,
            partitions,
            sets,
            all_sets: all_sets.into(),
            lru,
            ways,
            lines: vec![Line::default(); (partitions * sets) as usize * ways],
            accesses: 0,
            hits: 0,
        };
        Hierarchy {
            memories: [
                memory(vertices, vertex_sets, all_vertex_sets),
                memory(edges, edge_sets, all_edge_sets),
            ],
            line: None,
        }
    }

    fn access(&mut self, access: Access) {
        let [vertices, edges] = &mut self.memories;
        match access {
            Access::Record(v) => vertices.access(u64::from(v / RECORDS_A_LINE), v),
            Access::Entry { at, list } => {
                let line = at as u64 / u64::from(ENTRIES_A_LINE);
                if self.line.replace(line) != Some(line) {
                    edges.access(line, list);
                }
            }
        }
    }

    /// Hit ratios of vertices and of edges in %.
    fn hits(&self) -> [f64; 2] {
        self.memories.each_ref().map(|m| 100.0 * m.hits as f64 / m.accesses.max(1) as f64)
    }
}

/// A line in a cache.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    /// Its number and 1; 0: none.
    number: u64,
    /// Rank of the vertex.
    rank: u32,
    /// The access by which it was last used.
    last: u64,
}

/// A scratchpad, and a cache behind it; see [`Point::on_chip`].
struct Memory {
    /// Lines below are in the scratchpad.
    high: u64,
    partitions: u64,
    /// Sets in use of a partition's cache, and all of them.
    sets: u64,
    all_sets: u64,
    ways: usize,
    lru: bool,
    lines: Vec<Line>,
    accesses: u64,
    hits: u64,
}

impl Memory {
    fn access(&mut self, line: u64, rank: u32) {
        self.accesses += 1;
        if line < self.high {
            self.hits += 1;
            return;
        }
        let partition = line % self.partitions;
        // As in `gramer_onchip_memory`: the low bits in reverse order, scaled to the sets in use.
        let low = line / self.partitions % self.all_sets;
        let reversed = low.reverse_bits() >> self.all_sets.leading_zeros() >> 1;
        let set = reversed * self.sets / self.all_sets;
        let first = (partition * self.sets + set) as usize * self.ways;
        let ways = &mut self.lines[first..first + self.ways];
        let now = self.accesses;
        if let Some(held) = ways.iter_mut().find(|way| way.number == line + 1) {
            held.last = now;
            self.hits += 1;
            return;
        }
        let lru = self.lru;
        // Equation (2); of equals the first way goes.
        let worth = |way: &Line| match way.number {
            0 => u64::MAX,
            _ if lru => now - way.last,
            _ => u64::from(way.rank) + LAMBDA * (now - way.last),
        };
        let victim = ways.iter_mut().rev().max_by_key(|way| worth(way)).expect("a set has ways");
        *victim = Line { number: line + 1, rank, last: now };
    }
}

/// Rows and cases.
#[derive(Default)]
struct Found {
    rows: Vec<Vec<String>>,
    /// By check, share, step between hierarchies, and vertices or edges.
    gains: [[[[HitGains; 2]; 2]; 2]; 2],
    /// The same by the paper's check and the smaller share on graphs of Mico's size.
    of_size: [[HitGains; 2]; 2],
    /// Hit ratio of the vertices by the paper's check and the smaller share: by size of motifs, order and policy.
    by_size: HitsBySize,
}

impl Found {
    /// A run; claims are held against the graph that the paper has, and those of the size of one that it has.
    fn add(&mut self, input: &Input, name: &str, [order, check]: [usize; 2], all: &[Hierarchy]) {
        for (share, all) in all.chunks(POLICIES.len()).enumerate() {
            let hits: Vec<[f64; 2]> = all.iter().map(Hierarchy::hits).collect();
            for ((policy, hierarchy), hits) in POLICIES.iter().zip(all).zip(&hits) {
                let setting =
                    [&*input.name, name, CHECKS[check], SHARES[share], ORDERS[order].0, policy];
                let accesses = hierarchy.memories.each_ref().map(|m| m.accesses.to_string());
                let hits = hits.map(|ratio| format!("{ratio:.3}"));
                self.rows.push([&setting.map(String::from)[..], &hits, &accesses].concat());
            }
            let gains = match input.paper {
                Some(MICO) if check == 1 => &mut self.of_size,
                None | Some(MICO) => continue,
                Some(_) => &mut self.gains[check][share],
            };
            for (pair, gains) in hits.windows(2).zip(gains) {
                for (kind, gains) in gains.iter_mut().enumerate() {
                    gains.add(order, Some([pair[0][kind], pair[1][kind], f64::NAN]));
                }
            }
            if input.paper == Some(MICO) {
                continue;
            }
            let size = [THREE, FOUR].iter().position(|motif| *motif == name);
            if let Some(size) = size.filter(|_| share == 0 && check == 1) {
                let of_policy = |policy: usize| Some(hits[policy][0]);
                self.by_size[size][order] = [0, 1, 2].map(of_policy);
            }
        }
    }

    fn section(self) -> Section {
        let header = [
            "graph",
            "task",
            "check",
            "on_chip",
            "order",
            "policy",
            "vertex_hits",
            "edge_hits",
            "vertex_accesses",
            "edge_accesses",
        ];
        let text = "All accesses of algorithm 1 to records and list entries, one after the other, through the hierarchies of \
                    figure 12 (λ = 1): hit ratios without a machine that keeps records, reads whole lines or runs 128 slots at \
                    a time. Entries of one line in a row are one access. Claims of Mico's size are of ego-twitter \
                    and rmat-17, 3-CF.";
        Section {
            title: TITLE.into(),
            blocks: vec![
                Block::Text(text.into()),
                Block::File("figure-12-replay.csv".into(), csv_table(&header, &self.rows)),
            ],
            claims: self.claims(),
        }
    }

    fn claims(&self) -> Vec<Claim> {
        const PLACES: [[&str; 2]; 2] = [
            ["figure 12 (a tenth, replay)", "figure 12 (a fifth, replay)"],
            ["figure 12 (a tenth, candidate, replay)", "figure 12 (a fifth, candidate, replay)"],
        ];
        const TEXTS: [[&str; 2]; 2] = [
            ["static: vertices by 12.96", "edges by 8.42"],
            ["LAMH: vertices by 1.01", "edges by 1.11"],
        ];
        let places = PLACES.as_flattened().iter().zip(self.gains.as_flattened());
        let of_size = ("figure 12 (Mico's size, candidate, replay)", &self.of_size);
        let mut claims = vec![];
        for (place, steps) in places.map(|(place, steps)| (*place, steps)).chain([of_size]) {
            for (((texts, least), step), from) in TEXTS.iter().zip(GAINS).zip(steps).zip(FROM) {
                for ((claim, least), gains) in texts.iter().zip(least).zip(step) {
                    claims.push(gains.claim(place, claim, least, from));
                }
            }
        }
        let why = "10 % on the chip, the paper's check";
        claims.extend(size_claims(&self.by_size, "figure 12 (by size, replay)", why));
        claims
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hits of accesses to these lines in a memory with one set of four ways.
    fn hits(high: u64, lru: bool, lines: &[u64]) -> u64 {
        let mut memory = Memory {
            high,
            partitions: 1,
            sets: 1,
            all_sets: 1,
            ways: 4,
            lru,
            lines: vec![Line::default(); 4],
            accesses: 0,
            hits: 0,
        };
        lines.iter().for_each(|&line| memory.access(line, 10 * line as u32));
        memory.hits
    }

    #[test]
    fn what_the_policies_evict_was_worked_out_by_hand() {
        let in_turn = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5];
        assert_eq!(hits(0, true, &in_turn), 0);
        // Ranks are far apart: 4 goes for 5, 5 for 4, and 4 for 5.
        assert_eq!(hits(0, false, &in_turn), 3);
        // Lines 1 and 2 are in the scratchpad.
        assert_eq!(hits(3, true, &in_turn), 4 + 3);
        // 1 has rested for so long that it goes before 9, which came last but one: 10 + 103 against 90 + 2.
        let rested = [&[1][..], &[2; 100], &[9, 3, 4, 9]].concat();
        assert_eq!(hits(0, false, &rested), 99 + 1);
    }
}
