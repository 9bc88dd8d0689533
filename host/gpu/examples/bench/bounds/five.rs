//! What motifs of five vertices read and count (`kernels/five.cl`, `kernels/wheels.cl`).

use super::{Arcs, TILE, Tests, comparisons};

/// The common neighbours of the ends of each arc, ascending.
struct Lists {
    places: Vec<usize>,
    lists: Vec<u32>,
}

impl Lists {
    fn of(&self, arc: usize) -> &[u32] {
        &self.lists[self.places[arc]..self.places[arc + 1]]
    }

    /// Triangles of an arc.
    fn triangles(&self, arc: usize) -> u64 {
        (self.places[arc + 1] - self.places[arc]) as u64
    }
}

/// Sectors of memory that hold the counters of consecutive entries of a list, where [`TILE`] lanes take a step together: of
/// each prefix.
struct Sectors(Vec<u64>);

impl Sectors {
    /// Words of a sector.
    const WORDS: u32 = 8;

    fn of(list: &[u32]) -> Self {
        let mut sums = vec![0];
        let mut sum = 0;
        for (at, &v) in list.iter().enumerate() {
            let same = at % TILE != 0 && list[at - 1] / Self::WORDS == v / Self::WORDS;
            sum += u64::from(!same);
            sums.push(sum);
        }
        Sectors(sums)
    }
}

impl Arcs {
    /// What the passes read and count, without those of triangles by bitmaps, which are few, and with cliques of five.
    pub fn five(&self) -> Tests {
        let mut tests = self.by_bitmaps(5);
        let lists = self.common_neighbours(&mut tests);
        self.triangles_at_arcs(&lists, &mut tests);
        self.wedges_at_roots(&lists, &mut tests);
        self.edges_below_roots(&lists, &mut tests);
        self.wheels(&lists, &mut tests);
        self.cycles(&mut tests);
        tests
    }

    /// `five_lists`: each neighbour of an arc's lower end is searched among the other's.
    fn common_neighbours(&self, tests: &mut Tests) -> Lists {
        let (mut places, mut lists) = (vec![0], vec![]);
        let mut marks = vec![false; self.vertices()];
        for u in 0..self.vertices() {
            self.near(u).iter().for_each(|&w| marks[w as usize] = true);
            for &v in self.of_vertex(u) {
                let other = self.near(v as usize);
                let before = lists.len();
                lists.extend(other.iter().filter(|&&w| marks[w as usize]));
                places.push(lists.len());
                if lists.len() > before {
                    let (shorter, longer) = (self.near(u).len(), other.len());
                    tests.read_list(shorter);
                    tests.search(shorter, longer);
                }
            }
            self.near(u).iter().for_each(|&w| marks[w as usize] = false);
        }
        Lists { places, lists }
    }

    /// `five_arcs`: of each triangle at each of its arcs the other two arcs are searched.
    fn triangles_at_arcs(&self, lists: &Lists, tests: &mut Tests) {
        for u in 0..self.vertices() as u32 {
            for arc in self.arcs_of(u) {
                for &w in lists.of(arc) {
                    for end in [u, self.targets[arc]] {
                        tests.search(1, self.of_vertex(end.min(w) as usize).len());
                    }
                }
            }
        }
    }

    /// `five_roots`: the ends of wedges are counted, read and cleared.
    fn wedges_at_roots(&self, lists: &Lists, tests: &mut Tests) {
        for x in 0..self.vertices() as u32 {
            let near = self.near(x as usize);
            let sectors = Sectors::of(near).0[near.len()];
            // A neighbour with another one reads the list of x, and again to clear what it counted.
            let readers = near.iter().filter(|&&u| self.near(u as usize).len() > 1).count() as u64;
            tests.read_lists(2 * readers, near.len());
            tests.increment(readers * near.len().saturating_sub(1) as u64, readers * sectors);
            for arc in self.arcs_of(x) {
                if lists.triangles(arc) == 0 {
                    continue;
                }
                let end = self.near(self.targets[arc] as usize);
                tests.read_list(end.len());
                tests.read_counters(end.len() as u64 - 1);
            }
        }
    }

    /// `five_edges`: the ends of wedges below a root with triangles are counted and cleared, and lists below it read. The
    /// parts of a root, which each count these ends, are one here.
    fn edges_below_roots(&self, lists: &Lists, tests: &mut Tests) {
        let mut meets = vec![false; self.vertices()];
        for u in 0..self.vertices() as u32 {
            for arc in self.arcs_of(u).filter(|&arc| lists.triangles(arc) > 0) {
                meets[u as usize] = true;
                meets[self.targets[arc] as usize] = true;
            }
        }
        for u in 0..self.vertices() {
            let sectors = Sectors::of(self.near(u)).0;
            for (at, _) in self.near(u).iter().enumerate().filter(|(_, x)| meets[**x as usize]) {
                tests.read_prefixes(2, 2 * at as u64);
                tests.increment(at as u64, sectors[at]);
            }
        }
        for arc in 0..self.len() {
            let below = Sectors::of(lists.of(arc)).0.len() as u64 - 1;
            let all = below * below.saturating_sub(1) / 2;
            tests.read_prefixes(below, all);
            tests.read_counters(all);
        }
    }

    /// `five_wheels_local` and `five_wheels_small`: from a corner a of the neighbours of v, over the common neighbours b, those below a of v and b, in
    /// local memory.
    fn wheels(&self, lists: &Lists, tests: &mut Tests) {
        for u in 0..self.vertices() as u32 {
            for arc in self.arcs_of(u) {
                let list = lists.of(arc);
                for v in [u, self.targets[arc]] {
                    for (below, &a) in list.iter().enumerate() {
                        if lists.triangles(self.arc(v, a)) > 1 {
                            tests.read_prefixes(1, below as u64);
                            tests.increments += below as u64;
                        }
                    }
                }
            }
        }
    }

    /// `five_cycles`: paths of two edges below their highest end a are counted, then the edges among their ends read.
    fn cycles(&self, tests: &mut Tests) {
        let below: Vec<usize> =
            (0..self.vertices()).map(|v| self.near(v).partition_point(|&w| w < v as u32)).collect();
        for (b, &first) in below.iter().enumerate() {
            let sectors = Sectors::of(self.near(b)).0;
            for (at, &touched) in sectors.iter().enumerate().take(self.near(b).len()).skip(first) {
                tests.read_prefixes(1, at as u64);
                tests.increment(at as u64, touched);
            }
        }
        let mut seen = vec![u32::MAX; self.vertices()];
        for a in 0..self.vertices() {
            for &b in &self.near(a)[..below[a]] {
                for &c in self.near(b as usize).iter().take_while(|&&c| (c as usize) < a) {
                    if std::mem::replace(&mut seen[c as usize], a as u32) != a as u32 {
                        tests.read_list(below[c as usize]);
                        tests.read_counters(below[c as usize] as u64);
                    }
                }
            }
        }
    }

    /// The place of the arc between two neighbours.
    fn arc(&self, a: u32, b: u32) -> usize {
        let (low, high) = (a.min(b), a.max(b));
        let own = self.of_vertex(low as usize);
        self.offsets[low as usize] + own.partition_point(|&t| t < high)
    }

    /// The places of the arcs of a vertex.
    fn arcs_of(&self, v: u32) -> std::ops::Range<usize> {
        self.offsets[v as usize]..self.offsets[v as usize + 1]
    }
}

impl Tests {
    /// Lists that are read whole, or as far as counted, but not looked up.
    fn read_list(&mut self, length: usize) {
        self.read_lists(1, length);
    }

    fn read_lists(&mut self, times: u64, length: usize) {
        self.read_prefixes(times, times * length as u64);
    }

    /// Prefixes of lists, and all numbers in them.
    fn read_prefixes(&mut self, lists: u64, numbers: u64) {
        self.lists += lists;
        self.read += numbers;
    }

    /// This many numbers that are searched in a list of a length.
    fn search(&mut self, numbers: usize, length: usize) {
        self.searches += numbers as u64;
        self.comparisons += numbers as u64 * comparisons(length);
    }

    /// Increments of counters in global memory, and the sectors of these counters.
    fn increment(&mut self, counters: u64, sectors: u64) {
        self.global_increments += counters;
        self.sectors += sectors;
    }

    /// Reads of counters in global memory.
    fn read_counters(&mut self, counters: u64) {
        self.global_reads += counters;
    }
}
