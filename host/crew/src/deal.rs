//! Portions of work units, and who has which.
//!
//! Units are cut into blocks of about as many edges, in the order of the graph; portion p gets the
//! blocks p, p + n, p + 2 n, … of n portions. Each portion thus has a similar mix of hubs and leaves.
//! A device takes several portions together while there are many, which fills it better, and fewer in
//! the end, so that all devices end at about the same time; but enough for some milliseconds, since
//! starting and ending a run has a fixed cost.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use gramer_base::error::Result;
use gramer_engine::work::{CutSettings, Share, Units, WorkUnit, cut};
use gramer_graph::{VertexId, View};

/// Portions of a run that keeps a checkpoint: those that are begun when it is stopped are lost.
pub const PORTIONS_KEPT: usize = 1024;
/// Portions for each taker.
const PORTIONS_EACH: usize = 64;
/// Blocks of a portion.
const BLOCKS: usize = 16;
/// A taker gets what is left divided by this and by the number of takers.
const PART: usize = 2;

/// Units that stay together.
#[derive(Debug, Clone)]
enum Block {
    /// Vertices with their whole lists.
    Whole(Range<VertexId>),
    /// A part of a hub's list.
    Part(WorkUnit),
    /// Units of a share.
    Some(Vec<WorkUnit>),
}

/// Units in portions.
#[derive(Debug)]
pub struct Portions {
    blocks: Vec<Block>,
    count: usize,
}

impl Portions {
    /// Units for this many takers; lists stay whole if `whole` is set.
    pub fn new(view: View<'_>, units: Units<'_>, takers: usize, whole: bool) -> Self {
        Portions::of(view, units, PORTIONS_EACH * takers.max(1), whole)
    }

    /// Units in at most this many portions; lists stay whole if `whole` is set.
    pub fn of(view: View<'_>, units: Units<'_>, count: usize, whole: bool) -> Self {
        let wished = (BLOCKS * count) as u64;
        let blocks = match units {
            Units::All => all(view, wished, whole),
            Units::Share(_) => {
                let limits =
                    CutSettings { groups: wished, exceed: false, divide: !whole, most: usize::MAX };
                let with_work = || units.iter(view).map(|unit| (unit, unit.range().len() as u64));
                cut(with_work, limits).iter().map(|units| Block::Some(units.to_vec())).collect()
            }
        };
        // One without units is still a run, which says what there is of nothing.
        let count = count.min(blocks.len()).max(1);
        Portions { blocks, count }
    }

    /// Number of portions, at least one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The units of some portions.
    ///
    /// # Errors
    /// [`gramer_base::Error::Usage`] for a portion that is named twice.
    pub fn share(&self, view: View<'_>, portions: &[usize]) -> Result<Share> {
        let own = |&portion: &usize| self.blocks.iter().skip(portion).step_by(self.count);
        let (mut whole, mut parts) = (vec![], vec![]);
        for block in portions.iter().flat_map(own) {
            match block {
                Block::Whole(range) => whole.push(range.clone()),
                Block::Part(unit) => parts.push(*unit),
                Block::Some(units) => {
                    let all = |u: &WorkUnit| *u == WorkUnit::whole(view, u.start);
                    whole.extend(units.iter().filter(|u| all(u)).map(|u| u.start..u.start + 1));
                    parts.extend(units.iter().filter(|u| !all(u)));
                }
            }
        }
        Share::new(whole, parts)
    }
}

/// All units in about this many blocks with equally many edges.
fn all(view: View<'_>, wished: u64, whole: bool) -> Vec<Block> {
    let vertices = view.vertices();
    // A vertex without edges is a little work, too.
    let before = |v: usize| view.offsets[v] + v as u64;
    let size = before(vertices).div_ceil(wished.max(1)).max(1);
    let (mut blocks, mut v) = (vec![], 0);
    while v < vertices {
        let degree = view.degree(v as VertexId) as u64;
        if degree > size && !whole {
            let pieces = degree.div_ceil(size);
            let at = |piece: u64| (degree * piece / pieces) as u32;
            let start = v as VertexId;
            blocks.extend((0..pieces).map(|piece| {
                Block::Part(WorkUnit { start, first: at(piece), limit: at(piece + 1) })
            }));
            v += 1;
            continue;
        }
        // The last end within the size; the work before a vertex grows with it.
        let (limit, mut low, mut high) = (before(v) + size, v + 1, vertices);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match before(middle) <= limit {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        blocks.push(Block::Whole(v as VertexId..low as VertexId));
        v = low;
    }
    blocks
}

/// How many portions a taker should take together.
#[derive(Debug)]
pub struct Pace {
    least: usize,
    most: usize,
    kept: bool,
}

impl Pace {
    /// What portions of a run with a checkpoint should last: what is begun when it is stopped is lost.
    const KEPT: Duration = Duration::from_secs(1);
    /// Least duration of a take, by the number of portions.
    const LEAST: Duration = Duration::from_millis(20);

    /// For a run with a checkpoint or without: one portion, or any number, until it is known how long one
    /// takes.
    pub fn new(kept: bool) -> Self {
        Pace { least: 1, most: if kept { 1 } else { usize::MAX }, kept }
    }

    /// Pace of a taker that takes its whole part of the portions at once.
    pub fn of_part(portions: usize) -> Self {
        Pace { least: portions.max(1), most: portions.max(1), kept: false }
    }

    /// The least number, at least one, and the largest.
    pub fn portions(&self) -> (usize, usize) {
        (self.least, self.most)
    }

    /// Records that this many portions took this long.
    pub fn took(&mut self, portions: usize, time: Duration) {
        let fits = |wished: Duration| {
            let fits = portions as f64 * wished.as_secs_f64() / time.as_secs_f64().max(1e-6);
            (fits as usize).max(1)
        };
        if self.kept {
            self.most = fits(Self::KEPT).min(2 * self.most);
        }
        self.least = fits(Self::LEAST).min(self.most);
    }
}

/// What is left, and how much others have.
///
/// ```
/// use gramer_crew::deal::Deal;
///
/// let mut deal = Deal::new(0..9, 2);
/// let mine = deal.take();
/// assert_eq!(mine, [0, 1]);
/// let theirs = deal.take();
/// deal.done(&mine);
/// deal.give_back(theirs);
/// assert_eq!((deal.left(), deal.out()), (7, 0));
/// ```
#[derive(Debug)]
pub struct Deal {
    waiting: VecDeque<usize>,
    takers: usize,
    out: usize,
}

impl Deal {
    /// A deal of these portions among this many takers.
    pub fn new(portions: impl IntoIterator<Item = usize>, takers: usize) -> Self {
        Deal { waiting: portions.into_iter().collect(), takers: takers.max(1), out: 0 }
    }

    /// The next portions for a taker; nothing if none wait.
    pub fn take(&mut self) -> Vec<usize> {
        self.take_between((1, usize::MAX))
    }

    /// As [`Deal::take`], with at most this many portions and at least one. Fewer than the least number are taken
    /// only if more would exceed the taker's part of the rest.
    pub fn take_between(&mut self, (least, most): (usize, usize)) -> Vec<usize> {
        let left = self.waiting.len();
        // Another one that has more than is left will not be back before that is done.
        let others = self.out / (self.takers - 1).max(1);
        let wished = match left <= least && left <= others {
            true => left,
            false => (left / (PART * self.takers)).max(least.min(left.div_ceil(self.takers))),
        };
        let taken: Vec<usize> = self.waiting.drain(..wished.min(most).max(1).min(left)).collect();
        self.out += taken.len();
        taken
    }

    /// These are finished.
    pub fn done(&mut self, portions: &[usize]) {
        self.out -= portions.len();
    }

    /// These will never be finished by who has them.
    pub fn give_back(&mut self, portions: Vec<usize>) {
        self.out -= portions.len();
        self.takers = (self.takers - 1).max(1);
        portions.into_iter().rev().for_each(|portion| self.waiting.push_front(portion));
    }

    /// Portions that wait.
    pub fn left(&self) -> usize {
        self.waiting.len()
    }

    /// Portions that takers have.
    pub fn out(&self) -> usize {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub() -> gramer_graph::Graph {
        let mut builder = gramer_graph::Builder::new();
        (1..=3000).for_each(|leaf| builder.edge(0, leaf));
        (1..3000).for_each(|leaf| builder.edge(leaf, leaf + 1));
        builder.build()
    }

    #[test]
    fn portions_are_all_units_once_and_alike() {
        let graph = hub();
        let view = graph.view();
        for (takers, whole) in [(1, false), (3, false), (2, true)] {
            let portions = Portions::new(view, Units::All, takers, whole);
            let mut sum = Share::default();
            let mut sizes = vec![];
            for portion in 0..portions.count() {
                let share = portions.share(view, &[portion]).unwrap();
                let units = Units::Share(&share);
                assert!(!whole || units.iter(view).all(|u| u == WorkUnit::whole(view, u.start)));
                sizes.push(units.iter(view).map(|u| u.range().len()).sum::<usize>());
                sum = sum.union(share).unwrap();
            }
            assert!(sum.is_all(view));
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(whole || *most <= 4 * least.max(&10), "{sizes:?}");
            // A share of the graph in portions is that share.
            let half = Share::split(view, 2).remove(0);
            let of_half = Portions::new(view, Units::Share(&half), takers, false);
            let all: Vec<usize> = (0..of_half.count()).collect();
            assert_eq!(of_half.share(view, &all).unwrap(), half);
        }
    }

    #[test]
    fn a_graph_without_vertices_is_one_portion() {
        let graph = gramer_graph::Builder::new().build();
        let portions = Portions::new(graph.view(), Units::All, 2, false);
        assert_eq!(portions.count(), 1);
        assert!(portions.share(graph.view(), &[0]).unwrap().is_empty());
    }

    #[test]
    fn a_pace_comes_near_a_second_and_grows_slowly() {
        let mut pace = Pace::new(true);
        let mut seen = vec![];
        for _ in 0..6 {
            let most = pace.portions().1;
            seen.push(most);
            pace.took(most, Duration::from_millis(90) * most as u32);
        }
        assert_eq!(seen, [1, 2, 4, 8, 11, 11]);
        pace.took(11, Duration::from_secs(60));
        assert_eq!(pace.portions(), (1, 1));
        let mut deal = Deal::new(0..128, 1);
        assert_eq!((deal.take_between((1, 3)).len(), deal.take().len()), (3, 62));
    }

    #[test]
    fn little_work_is_not_dealt_out_in_many_runs() {
        // Two takers, whose portions last for a hundredth of a millisecond.
        let mut deal = Deal::new(0..128, 2);
        let mut pace = Pace::new(false);
        let (first, second) =
            (deal.take_between(pace.portions()), deal.take_between(pace.portions()));
        assert_eq!((first.len(), second.len()), (32, 24));
        pace.took(first.len(), Duration::from_millis(1) / 3);
        deal.done(&first);
        let first = deal.take_between(pace.portions());
        assert_eq!(first.len(), 36, "its half");
        deal.done(&second);
        assert_eq!(
            deal.take_between(pace.portions()).len(),
            36,
            "all, since the other one has as much"
        );
        // Portions that last long are dealt out one by one in the end.
        pace.took(1, Duration::from_secs(1));
        let mut deal = Deal::new(0..6, 2);
        assert_eq!(deal.take_between(pace.portions()).len(), 1);
        assert_eq!(deal.take_between(pace.portions()).len(), 1);
    }

    #[test]
    fn alike_takers_may_have_their_parts_at_once() {
        let mut deal = Deal::new(0..128, 2);
        let mut pace = Pace::of_part(64);
        let first = deal.take_between(pace.portions());
        assert_eq!((first.len(), deal.take_between(pace.portions()).len()), (64, 64));
        // What a lost one leaves is dealt out.
        deal.give_back(first);
        pace.took(64, Duration::from_secs(64));
        assert_eq!(deal.take_between(pace.portions()).len(), 32);
    }

    #[test]
    fn much_is_taken_at_first_and_all_in_the_end() {
        let mut deal = Deal::new(0..128, 2);
        let mut sizes = vec![];
        while deal.left() > 0 {
            let taken = deal.take();
            sizes.push(taken.len());
            deal.done(&taken);
        }
        assert_eq!(sizes.iter().sum::<usize>(), 128);
        assert_eq!((sizes[0], sizes[sizes.len() - 1]), (32, 1));
        assert!(sizes.is_sorted_by(|a, b| a >= b) && deal.take().is_empty());
    }
}
