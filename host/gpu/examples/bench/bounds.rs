//! What bounds a row: the least that launches, the device's memory and cache or tests take, by the device's own
//! yardsticks.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use gramer_gpu::{CYCLE_WINDOW, Yardsticks};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

/// Sets that are narrowed to count the tests of a row; a row of more has no bound by tests.
const MOST_SETS: u64 = 2_000_000_000;

/// Lanes of a warp.
const LANES: u64 = 32;

/// The arcs from lower to higher degrees, by numbers in this order.
pub struct Arcs {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    /// Wedges from a vertex over a lower neighbour to a vertex below it, and the pieces of lists that hold their ends: a list
    /// is read once per window of [`CYCLE_WINDOW`] ends.
    wedges: [u64; 2],
}

/// Tests that a clique's algorithm makes, and what it reads for them.
#[derive(Clone, Copy, Default)]
pub struct Tests {
    /// Lists of targets that are read, and their numbers.
    pub lists: u64,
    read: u64,
    /// Numbers that are looked up in tables of targets.
    lookups: u64,
    /// Words of bitmaps of which common members are counted, and members whose rows these are.
    words: u64,
    members: u64,
    /// Members if every lane of a warp takes as long as the one with the largest set.
    waited: u64,
    /// Sets of the current warp, and the members of the largest.
    warp: (u64, u64),
    /// Counters of wedges by their ends.
    increments: u64,
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
}

impl Arcs {
    pub fn of(graph: &Graph) -> Self {
        let (n, graph) = (graph.vertices(), graph.view());
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&v| (graph.degree(v), v));
        let mut number = vec![0; n];
        (0u32..).zip(&order).for_each(|(at, &v)| number[v as usize] = at);
        let (mut offsets, mut targets) = (vec![0], vec![]);
        for &v in &order {
            let begin = targets.len();
            let own = number[v as usize];
            targets.extend(
                graph.neighbours(v).iter().map(|&u| number[u as usize]).filter(|&u| u > own),
            );
            targets[begin..].sort_unstable();
            offsets.push(targets.len());
        }
        let wedges = |v: u32| {
            let mut own: Vec<u32> =
                graph.neighbours(v).iter().map(|&u| number[u as usize]).collect();
            own.sort_unstable();
            let lower = number[v as usize];
            let (mut steps, mut pieces, mut so_far, mut window) = (0, 0, 0, None);
            for (before, &u) in own.iter().enumerate() {
                if u > lower {
                    steps += before as u64;
                    pieces += so_far;
                }
                so_far += u64::from(window.replace(u / CYCLE_WINDOW) != Some(u / CYCLE_WINDOW));
            }
            [steps, pieces]
        };
        let all = (0..n as u32).map(wedges);
        let wedges = all.fold([0, 0], |[a, b], [steps, pieces]| [a + steps, b + pieces]);
        Arcs { offsets, targets, wedges }
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

    /// The tests of a task whose algorithm has them counted here: triangles (and with them motifs of three), and
    /// cliques of four to six vertices. Motifs of four have those of their cliques of four, and cycles are counted by the
    /// ends of wedges.
    pub fn tests(&self, task: &Task) -> Option<Tests> {
        match *task {
            Task::Clique { k: 3 } | Task::Motif { k: 3, .. } => Some(self.by_heads()),
            Task::Clique { k: k @ 4..=6 } => self.by_bitmaps(k),
            Task::Motif { k: 4, .. } => {
                let cliques = self.by_bitmaps(4)?;
                Some(Tests {
                    increments: self.wedges[0],
                    lists: cliques.lists + self.wedges[1],
                    read: cliques.read + self.wedges[0],
                    ..cliques
                })
            }
            _ => None,
        }
    }

    /// The tests of cliques by bitmaps: what is looked up to fill them, the words up to each member by which a set is
    /// narrowed, and those up to each member of each set that k − 3 vertices below a root leave.
    fn by_bitmaps(&self, k: usize) -> Option<Tests> {
        let (next, sets) = (AtomicUsize::new(0), AtomicU64::new(0));
        let part = || {
            let mut tests = Tests::default();
            loop {
                let root = next.fetch_add(1, Relaxed);
                if root >= self.vertices() || sets.load(Relaxed) > MOST_SETS {
                    return tests;
                }
                sets.fetch_add(self.root(root, k, &mut tests), Relaxed);
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let all = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(part)).collect();
            let done = running.into_iter().map(|t| t.join().expect("it counts only"));
            done.fold(Tests::default(), |a, b| Tests {
                lists: a.lists + b.lists,
                read: a.read + b.read,
                lookups: a.lookups + b.lookups,
                words: a.words + b.words,
                members: a.members + b.members,
                waited: a.waited + b.waited,
                ..a
            })
        });
        (sets.load(Relaxed) <= MOST_SETS).then_some(all)
    }

    /// The tests of a root; how many sets were narrowed.
    fn root(&self, root: usize, k: usize, tests: &mut Tests) -> u64 {
        let targets = self.of_vertex(root);
        let Some(&last) = targets.last() else { return 0 };
        let words = targets.len().div_ceil(32);
        let mut rows = vec![0u32; targets.len() * words];
        for (i, &v) in targets.iter().enumerate() {
            let own = self.of_vertex(v as usize);
            let own = &own[..own.partition_point(|&w| w <= last)];
            tests.add_list(own.len());
            let mut at = 0;
            for &w in own {
                at += targets[at..].partition_point(|&t| t < w);
                if targets[at] == w {
                    rows[at * words + i / 32] |= 1 << (i % 32);
                }
            }
        }
        let set = vec![u32::MAX; words];
        let rows = Rows { rows: &rows, words, n: targets.len() };
        let sets = rows.narrowed(&set, k - 3, tests);
        tests.end_warp();
        sets
    }
}

/// The bitmaps of a root: row j has those i < j that have an arc to j.
struct Rows<'a> {
    rows: &'a [u32],
    words: usize,
    n: usize,
}

impl Rows<'_> {
    /// Narrows `set` by each of its members, `levels` times; adds the words that are tested then, and says how many
    /// sets there were.
    fn narrowed(&self, set: &[u32], levels: usize, tests: &mut Tests) -> u64 {
        if levels == 0 {
            tests.add_set(set.iter().map(|w| u64::from(w.count_ones())).sum());
            tests.words += (1..).zip(set).map(|(x, w)| x * u64::from(w.count_ones())).sum::<u64>();
            return 1;
        }
        let members = (0..self.n).filter(|j| set[j / 32] >> (j % 32) & 1 == 1);
        let below = members.map(|j| {
            let row = &self.rows[j * self.words..][..self.words];
            tests.members += 1;
            tests.waited += 1;
            tests.words += j as u64 / 32 + 1;
            let inner: Vec<u32> = row.iter().zip(set).map(|(a, b)| a & b).collect();
            self.narrowed(&inner, levels - 1, tests)
        });
        below.sum()
    }
}

/// The least times of a row, in ms, and which is the largest.
pub struct Bound {
    pub ms: f64,
    pub of: &'static str,
}

impl Bound {
    /// Of this many launches, bytes that are read, and tests, whose lists come at this many words per second.
    pub fn of(by: &Yardsticks, launches: u64, bytes: u64, tests: Option<(Tests, f64)>) -> Self {
        let (tests, lists) = tests.unzip();
        let listed = tests.zip(lists).map_or(0.0, |(t, rate)| t.read as f64 / rate);
        let times = [
            ("launches", by.answer + by.launch * launches.saturating_sub(1) as f64),
            ("memory", bytes as f64 / by.bytes),
            ("lists", listed),
            ("lookups", tests.map_or(0.0, |t| t.lookups as f64 / by.lookups)),
            // A member's first word is found with it.
            (
                "words",
                tests.map_or(0.0, |t| {
                    t.waited as f64 / by.members + (t.words - t.members) as f64 / by.words
                }),
            ),
            ("increments", tests.map_or(0.0, |t| t.increments as f64 / by.increments)),
        ];
        let (of, seconds) = times.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("six");
        Bound { ms: 1e3 * seconds, of }
    }
}
