//! What bounds a row: the least that launches, the device's memory and cache or tests take, by the device's own
//! yardsticks.

mod bitmaps;
mod five;
mod pivots;
mod sample;
mod small_sets;
mod wide;

use gramer_gpu::{CYCLE_WINDOW, Strategy, Yardsticks};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

/// Lanes of a warp.
const LANES: u64 = 32;
/// Lanes that take a list of motifs of five vertices together.
const TILE: usize = 8;

/// The neighbours of vertices numbered by ascending degree, and the arcs from lower to higher numbers.
pub struct Arcs {
    near: Vec<u32>,
    rows: Vec<usize>,
    offsets: Vec<usize>,
    targets: Vec<u32>,
    /// Wedges from a vertex over a lower neighbour to a vertex below it, and the pieces of lists that hold their ends: a list
    /// is read once per window of [`CYCLE_WINDOW`] ends.
    wedges: [u64; 2],
}

/// Tests that an algorithm makes, and what it reads for them.
#[derive(Clone, Copy, Default)]
pub struct Tests {
    /// Lists that are read, and their numbers.
    pub lists: u64,
    pub read: u64,
    /// Numbers that are looked up in tables of local memory.
    pub lookups: u64,
    /// Words of bitmaps of which common members are counted, and members whose rows these are.
    pub words: u64,
    pub members: u64,
    /// Members if every lane of a warp takes as long as the one with the largest set.
    pub waited: u64,
    /// Sets of the current warp, and the members of the largest.
    warp: (u64, u64),
    /// Increments of counters in local memory.
    pub increments: u64,
    /// Searches of numbers in lists, and their comparisons.
    pub searches: u64,
    pub comparisons: u64,
    /// Increments of counters in global memory, the sectors of these counters, and reads of counters there.
    pub global_increments: u64,
    pub sectors: u64,
    pub global_reads: u64,
    /// States of walks by pivots that choose one, and the words that their candidates alone would take.
    pub states: u64,
    pub candidates: u64,
    /// Sets of cliques that are estimated.
    estimated: u64,
    /// Of a sample: two standard errors, by which the sums are reduced, as a part of them.
    pub error: f64,
}

/// Least comparisons of a search in a list of this length.
fn comparisons(length: usize) -> u64 {
    u64::from((length + 1).ilog2())
}

impl Tests {
    /// A list whose numbers are looked up.
    fn add_list(&mut self, length: usize) {
        self.lists += u64::from(length > 0);
        self.read += length as u64;
        self.lookups += length as u64;
    }

    /// Adds a set, whose members one lane counts.
    fn add_set(&mut self, members: u64) {
        self.members += members;
        self.warp = (self.warp.0 + 1, self.warp.1.max(members));
        if self.warp.0 == LANES {
            self.end_warp();
        }
    }

    /// Ends a warp, also one with idle lanes: those of the next root are in another warp.
    fn end_warp(&mut self) {
        let (lanes, most) = std::mem::take(&mut self.warp);
        self.waited += lanes * most;
    }

    /// Numbers that are read of a list, on average.
    pub fn length(&self) -> usize {
        (self.read / self.lists.max(1)).max(1) as usize
    }

    /// Comparisons of a search, on average.
    pub fn levels(&self) -> u32 {
        (self.comparisons / self.searches.max(1)).clamp(1, 30) as u32
    }

    /// Distance of counters that are incremented together: so that they touch as many sectors as on average.
    pub fn gap(&self) -> usize {
        ((TILE as u64 * self.sectors / self.global_increments.max(1)) as usize).clamp(1, TILE)
    }

    /// Operations of the host that the count of these tests takes, about.
    fn work(&self) -> f64 {
        (self.read + self.words + self.members + 4 * self.comparisons) as f64
    }

    /// The sums with their names.
    fn sums(&mut self) -> [(&'static str, &mut u64); 15] {
        [
            ("lists", &mut self.lists),
            ("numbers", &mut self.read),
            ("lookups", &mut self.lookups),
            ("words", &mut self.words),
            ("members", &mut self.members),
            ("waited", &mut self.waited),
            ("increments", &mut self.increments),
            ("searches", &mut self.searches),
            ("comparisons", &mut self.comparisons),
            ("global_increments", &mut self.global_increments),
            ("sectors", &mut self.sectors),
            ("global_reads", &mut self.global_reads),
            ("states", &mut self.states),
            ("candidates", &mut self.candidates),
            ("estimated", &mut self.estimated),
        ]
    }

    fn plus(mut self, other: &Self) -> Self {
        let mut other = *other;
        self.sums().into_iter().zip(other.sums()).for_each(|((_, a), (_, b))| *a += *b);
        self
    }

    fn times(mut self, factor: f64) -> Self {
        self.sums().into_iter().for_each(|(_, sum)| *sum = (*sum as f64 * factor) as u64);
        self
    }

    /// The elements of lists that an extension of tables tests: each is read, or searched in its list. How many lists these
    /// are is not known; long ones are read fastest.
    pub fn of_table(tested: u64) -> Self {
        const LONG: u64 = 512;
        Tests { lists: tested.div_ceil(LONG), read: tested, ..Tests::default() }
    }

    /// The sums that aren't 0, and the error of a sample.
    pub fn json(mut self) -> String {
        let sums = self.sums().into_iter().filter(|(_, sum)| **sum > 0);
        let mut text: Vec<String> = sums.map(|(name, sum)| format!("\"{name}\": {sum}")).collect();
        if self.error > 0.0 {
            text.push(format!("\"error\": {:.4}", self.error));
        }
        format!("{{{}}}", text.join(", "))
    }
}

impl Arcs {
    pub fn of(graph: &Graph) -> Self {
        let (n, graph) = (graph.vertices(), graph.view());
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&v| (graph.degree(v), v));
        let mut number = vec![0; n];
        (0u32..).zip(&order).for_each(|(at, &v)| number[v as usize] = at);
        let (mut rows, mut near) = (vec![0], vec![]);
        let (mut offsets, mut targets) = (vec![0], vec![]);
        for (own, &v) in (0u32..).zip(&order) {
            let begin = near.len();
            near.extend(graph.neighbours(v).iter().map(|&u| number[u as usize]));
            near[begin..].sort_unstable();
            rows.push(near.len());
            targets.extend(near[begin..].iter().filter(|&&u| u > own));
            offsets.push(targets.len());
        }
        let mut arcs = Arcs { near, rows, offsets, targets, wedges: [0; 2] };
        for v in 0..n {
            let [steps, pieces] = arcs.wedges(v);
            arcs.wedges[0] += steps;
            arcs.wedges[1] += pieces;
        }
        arcs
    }

    /// The wedges over a vertex, and the pieces of its list that they read.
    fn wedges(&self, v: usize) -> [u64; 2] {
        let (mut steps, mut pieces, mut so_far, mut window) = (0, 0, 0, None);
        for (before, &u) in self.near(v).iter().enumerate() {
            if u as usize > v {
                steps += before as u64;
                pieces += so_far;
            }
            so_far += u64::from(window.replace(u / CYCLE_WINDOW) != Some(u / CYCLE_WINDOW));
        }
        [steps, pieces]
    }

    /// The neighbours of a vertex.
    fn near(&self, v: usize) -> &[u32] {
        &self.near[self.rows[v]..self.rows[v + 1]]
    }

    fn of_vertex(&self, v: usize) -> &[u32] {
        &self.targets[self.offsets[v]..self.offsets[v + 1]]
    }

    /// Tests of triangles, counted at the head of their lowest arc: the part of each list behind a head is looked up
    /// among the head's targets.
    fn by_heads(&self) -> Tests {
        let mut tests = Tests::default();
        for tail in 0..self.vertices() {
            let end = self.offsets[tail + 1];
            for place in self.offsets[tail]..end {
                if !self.of_vertex(self.targets[place] as usize).is_empty() {
                    tests.add_list(end - place - 1);
                }
            }
        }
        tests
    }

    fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Bytes of the arcs, which are read once at least.
    pub fn bytes(&self) -> u64 {
        4 * (self.offsets.len() + self.targets.len()) as u64
    }

    /// The tests of a task by this strategy, or by the default one, if they are counted here: of triangles
    /// (and with them motifs of three), cliques, and motifs of four and five. Motifs of four have those of their cliques of
    /// four, and cycles are counted by the ends of wedges.
    pub fn tests(&self, task: &Task, strategy: Option<Strategy>) -> Option<Tests> {
        match (task, strategy) {
            (Task::Motif { k: 4, .. }, Some(Strategy::Wide)) => Some(self.wide()),
            (_, Some(_)) => None,
            (Task::Clique { k: 3 } | Task::Motif { k: 3, .. }, None) => Some(self.by_heads()),
            (&Task::Clique { k: k @ 4..=6 }, None) => Some(self.by_bitmaps(k)),
            (&Task::Clique { k: k @ 7.. }, None) => self.by_pivots(k),
            (Task::Motif { k: 4, .. }, None) => {
                let cliques = self.by_bitmaps(4);
                Some(Tests {
                    increments: self.wedges[0],
                    lists: cliques.lists + self.wedges[1],
                    read: cliques.read + self.wedges[0],
                    ..cliques
                })
            }
            (Task::Motif { k: 5, .. }, None) => Some(self.five()),
            _ => None,
        }
    }
}

/// Rates of a device, and those that depend on a row's lists and counters, per second.
#[derive(Clone, Copy, Default)]
pub struct Rates {
    pub device: Yardsticks,
    /// Numbers of lists of the row's mean length.
    pub lists: f64,
    /// Comparisons of searches in lists of the row's mean length.
    pub comparisons: f64,
    /// Increments and reads of counters in global memory.
    pub global_increments: f64,
    pub global_reads: f64,
}

impl Rates {
    fn all(&mut self) -> [(&'static str, &mut f64); 11] {
        let Yardsticks { launch, answer, bytes, words, members, lookups, increments } =
            &mut self.device;
        [
            ("launch", launch),
            ("answer", answer),
            ("bytes", bytes),
            ("words", words),
            ("members", members),
            ("lookups", lookups),
            ("increments", increments),
            ("lists", &mut self.lists),
            ("comparisons", &mut self.comparisons),
            ("global_increments", &mut self.global_increments),
            ("global_reads", &mut self.global_reads),
        ]
    }

    pub fn json(mut self) -> String {
        let known = self.all().into_iter().filter(|(_, rate)| **rate > 0.0);
        let text: Vec<String> =
            known.map(|(name, rate)| format!("\"{name}\": {rate:.4e}")).collect();
        format!("{{{}}}", text.join(", "))
    }

    /// Rates as `name=per second,...`; the others are unknown, and nothing is bounded by them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rates = Rates::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, rate) = part.split_once('=')?;
            let mut all = rates.all();
            let (_, known) = all.iter_mut().find(|known| known.0 == name)?;
            **known = rate.parse().ok()?;
        }
        Some(rates)
    }
}

/// The least times of a row, in ms, and which is the largest.
pub struct Bound {
    pub ms: f64,
    pub of: &'static str,
}

impl Bound {
    /// Of this many launches, bytes that are read, and tests.
    pub fn of(by: &Rates, launches: u64, bytes: u64, tests: &Tests) -> Self {
        let time = |number: u64, rate: f64| if rate > 0.0 { number as f64 / rate } else { 0.0 };
        // A member's first word is found with it.
        let words = tests.words.saturating_sub(tests.members);
        let device = &by.device;
        let counters = time(tests.global_increments, by.global_increments)
            + time(tests.global_reads, by.global_reads);
        let times = [
            ("launches", device.answer + device.launch * launches.saturating_sub(1) as f64),
            ("memory", time(bytes, device.bytes)),
            ("lists", time(tests.read, by.lists)),
            ("lookups", time(tests.lookups, device.lookups)),
            ("words", time(tests.waited, device.members) + time(words, device.words)),
            ("increments", time(tests.increments, device.increments)),
            ("searches", time(tests.comparisons, by.comparisons)),
            ("counters", counters),
        ];
        let (of, seconds) = times.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("eight");
        Bound { ms: 1e3 * seconds, of }
    }
}
