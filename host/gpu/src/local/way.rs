//! Whether cliques of many vertices are met one by one or counted by pivots: a part of each is tried.

use std::time::{Duration, Instant};

use gramer_graph::context::Context;
use gramer_graph::error::Result;
use tracing::debug;

use super::pivots::{Counting, Ended, groups_each};
use super::roots::{List, PARTS_EACH, Roots, Task, WHOLE};
use super::{Extra, parts_by_work, run};
use crate::memory::Buffer;
use crate::resident::{Resident, SLOTS};

/// Sets that a compute unit meets in a second where they are many: 132 units met 3.6e10 (10-cliques of
/// ca-astroph) to 2e11 (6-cliques of rmat16).
const SET_RATE: f64 = 7e8;
/// Seconds of sets, by the estimate, which is the most that there can be, for which nothing is tried.
const FEW: f64 = 0.05;
/// Vertices of a clique up to which sets are counted in a sample: loops over more levels take several times as
/// long, and pivots are seldom wrong then.
const MOST_VERTICES: usize = 8;
const DEEP: f64 = 8.0;
/// Sets of 6-cliques, which are known, up to which pivots aren't tried: they seldom pay for so few vertices.
const FEW_OF_SIX: f64 = 2e13;
/// One of so many parts of the sets is counted, or fewer: those of so many seconds by the estimate.
const SHARE: usize = 64;
const TRIED: f64 = 0.02;
/// Sets of a part that is counted, by the estimate: wished, and at most.
const SETS_OF_PART: f64 = 1e7;
const MOST_OF_PART: f32 = 5e7;
/// Parts are made so many times finer at most.
const FINEST: f64 = 1024.0;
/// Seconds of sets for which pivots aren't tried.
const SHORT: f64 = 0.3;
/// Roots of a class in a sample for pivots, about, and how long it may take.
const SAMPLE: usize = 256;
const SAMPLE_TIME: Duration = Duration::from_millis(250);
/// Seconds of sets beyond which a sample of pivots that takes too long says nothing for sets: 8-cliques of rmat15
/// took 1.6 s by sets and 14 s by pivots.
const LONG: f64 = 4.0;

/// How cliques of six vertices and more are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// One by one but for the last two vertices.
    Sets,
    /// By pivots.
    Pivots,
}

/// Of a class: root, element tests, 4-cliques of its graph.
pub(super) type Found = Vec<(u32, f32, u64)>;

impl Way {
    /// The way for cliques of `k`, which have `sets` sets of k − 2 vertices at most; `None` once the run was
    /// asked to stop. The sums are those of samples then.
    ///
    /// # Errors
    /// As [`super::count`].
    pub(super) fn of(
        graph: &Resident,
        roots: &Roots,
        found: &[Found],
        (k, sets): (usize, f64),
        context: &Context,
    ) -> Result<Option<Self>> {
        if let Some(pivots) = graph.device.pivots {
            return Ok(Some(if pivots { Way::Pivots } else { Way::Sets }));
        }
        let many = k > MOST_VERTICES;
        let slower = if many { DEEP } else { 1.0 };
        let rate = SET_RATE * graph.device.limits.units as f64 / slower;
        if sets <= FEW * rate || k == 6 && sets <= FEW_OF_SIX {
            return Ok(Some(Way::Sets));
        }
        // 9-cliques of ego-twitter took 7.0 s by sets and 1.4 s by pivots, 12-cliques of ca-astroph 8 ms by pivots.
        let by_sets = match many {
            true => Some(sets / rate),
            false => by_sets(graph, roots, found, (k, sets), context)?,
        };
        let Some(by_sets) = by_sets else { return Ok(None) };
        debug!(by_sets, "seconds of sets, by the number of some of them or at most");
        if by_sets < SHORT && !many {
            return Ok(Some(Way::Sets));
        }
        Ok(match by_pivots(graph, roots, found, (k, by_sets), context)? {
            Tried::Stopped => None,
            Tried::Late if many || by_sets > LONG => Some(Way::Pivots),
            Tried::Late | Tried::Slower => Some(Way::Sets),
            Tried::Faster => Some(Way::Pivots),
        })
    }
}

/// Seconds that sets take, by the number of those of some parts: cliques of k − 1 are sets of k − 2 vertices
/// beside their roots. `None` once the run was asked to stop. Where all parts are too large to be counted, that
/// is the most that they can take.
fn by_sets(
    graph: &Resident,
    roots: &Roots,
    found: &[Found],
    (k, sets): (usize, f64),
    context: &Context,
) -> Result<Option<f64>> {
    let device = &graph.device;
    let rate = SET_RATE * device.limits.units as f64;
    let finer = sets / (PARTS_EACH * device.limits.units) as f64 / SETS_OF_PART;
    let finer = finer.clamp(SHARE as f64, FINEST);
    let all = parts_by_work(graph, roots, found, (k, Way::Sets), finer);
    let weigh = |parts: &[(f32, Task)]| parts.iter().map(|part| f64::from(part.0)).sum::<f64>();
    let whole: f64 = all.iter().map(|parts| weigh(parts)).sum();
    let small = |parts: Vec<(f32, Task)>| -> Vec<(f32, Task)> {
        parts.into_iter().filter(|part| part.0 <= MOST_OF_PART).collect()
    };
    let all: Vec<_> = all.into_iter().map(small).collect();
    let every = all.iter().map(|parts| weigh(parts)).sum::<f64>() / (TRIED * rate);
    let every = SHARE.max(every as usize);
    let (mut tried, mut lists) = (0.0, vec![]);
    for parts in all {
        let sample: Vec<_> = parts.into_iter().skip(every / 2).step_by(every).collect();
        tried += weigh(&sample);
        lists.push(List::new(device, sample)?);
    }
    if tried == 0.0 {
        return Ok(Some(whole / rate));
    }
    graph.begin()?;
    let sample = Roots { lists, ..roots.without_lists() };
    if !run(graph, &sample, k - 1, Extra::Nothing, context)? {
        return Ok(None);
    }
    let counted = graph.read()?[0] as f64;
    Ok(Some(counted * whole / tried / rate))
}

/// What a sample for pivots says.
enum Tried {
    Faster,
    Slower,
    /// It was not through in its time.
    Late,
    Stopped,
}

/// Whether pivots take less than so many seconds, from a sample of the roots.
fn by_pivots(
    graph: &Resident,
    roots: &Roots,
    found: &[Found],
    (k, by_sets): (usize, f64),
    context: &Context,
) -> Result<Tried> {
    let mut by_pivots = 0.0;
    let units = graph.device.limits.units as f64;
    let place = graph.device.place();
    let sums = Buffer::of(&place, &[0u32; 4 * SLOTS], "sums of a sample")?;
    for (class, found) in roots.classes.iter().zip(found) {
        let sample: Found = found.iter().step_by(found.len() / SAMPLE + 1).copied().collect();
        let weight = |found: &Found| found.iter().map(|root| root.2 as f64).sum::<f64>();
        if sample.is_empty() {
            continue;
        }
        let tasks = sample.iter().map(|&(root, tests, _)| (tests, [root, WHOLE])).collect();
        let list = List::new(&graph.device, tasks)?;
        let mut counting = Counting { graph, roots, k, sums: &sums, limit: None, context };
        counting.program(*class)?;
        // All of them keep more groups busy than the sample does.
        let groups = (groups_each(&graph.device)? as f64 * units).min(found.len() as f64);
        let scale = weight(found) / weight(&sample) * sample.len() as f64 / groups;
        let begun = Instant::now();
        // No longer than sets may take.
        let worth = (by_sets - by_pivots) / scale;
        counting.limit = Some(
            begun + SAMPLE_TIME.min(Duration::try_from_secs_f64(worth).unwrap_or(SAMPLE_TIME)),
        );
        let ended = counting.class(*class, &list)?;
        by_pivots += begun.elapsed().as_secs_f64() * scale;
        debug!(words = class.words, by_pivots, ?ended, "seconds of pivots so far");
        match ended {
            Ended::Stopped => return Ok(Tried::Stopped),
            _ if by_pivots > by_sets => return Ok(Tried::Slower),
            Ended::Late => return Ok(Tried::Late),
            Ended::Done => {}
        }
    }
    Ok(Tried::Faster)
}
