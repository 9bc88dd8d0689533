//! Cliques on several devices of one kind together.
//!
//! All have the same lists of tasks, of which each has every n-th. So each has as much of every kind of root, and what a
//! device needs for its part is made once for a graph. From six vertices on each device weighs its part of the roots; all
//! hear the weights, and the same lists of heavy roots' parts follow from them on each.
//!
//! Nothing is dealt out on the way: with the last 5 to 15 % of the work in portions for who is done first, two H100 took 59 to 73 ms
//! for the 5-cliques of a random graph of 2^20 vertices and 1.14 to 1.32 s for its 6-cliques; so they take 53 ms and 1.04 s,
//! and one of them 104 ms and 2.03 s. A few tasks don't fill a device.

use std::ops::Range;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::Peers;
use xxhash_rust::xxh3::Xxh3Default;

use super::{Extra, Roots, UNWEIGHED, Weights, by_weights, not_light, run, weights as weights_of};
use crate::resident::Resident;

/// Which of several devices one is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub own: usize,
    pub of: usize,
}

impl Member {
    /// Its fraction of evenly divided work.
    pub fn part(self) -> f64 {
        1.0 / self.of as f64
    }
}

/// State of a device for cliques counted together with others.
pub(crate) struct Part {
    member: Member,
    /// Its tasks of large roots' arcs and of roots, as [`Roots::with_large`] has them.
    roots: Vec<Roots>,
}

impl Part {
    /// Member that has this part.
    pub fn member(&self) -> Member {
        self.member
    }

    fn of(graph: &Resident, roots: &Roots, member: Member) -> Result<Self> {
        let parts = roots.with_large(UNWEIGHED);
        let own = |(roots, _): (&Roots, usize)| roots.every(graph, (member.own, member.of));
        Ok(Part { member, roots: parts.into_iter().map(own).collect::<Result<_>>()? })
    }
}

impl Roots {
    /// Fingerprint of the inputs on which devices must agree to have the same tasks.
    fn fingerprint(&self, graph: &Resident) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let mut hash = Xxh3Default::new();
            let limits = [graph.device.limits.units, graph.device.pivots.map_or(2, usize::from)];
            let mut numbers = limits.to_vec();
            for (roots, _) in self.with_large(UNWEIGHED) {
                for class in &roots.classes {
                    numbers.extend([class.words, class.lanes, class.roots, class.tile]);
                }
                for list in &roots.lists {
                    numbers.push(list.tasks.len());
                    let words: Vec<u8> =
                        list.tasks.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
                    hash.update(&words);
                }
                for small in roots.small.iter().flat_map(|small| small.roots()) {
                    hash.update(&small.root.to_le_bytes());
                }
            }
            numbers.iter().for_each(|&number| hash.update(&(number as u64).to_le_bytes()));
            hash.digest()
        })
    }

    /// The device's place among those that do a task with these roots; see [`member`].
    pub fn member(&self, graph: &Resident, number: u64, together: &dyn Peers) -> Result<Member> {
        member(number, self.fingerprint(graph), together)
    }
}

/// The device's place among those that do a task, which must agree in `same`; `number` is another one for each.
///
/// # Errors
/// [`Error::Unsupported`] on all devices where they don't agree; those of `together`.
pub(crate) fn member(number: u64, same: u64, together: &dyn Peers) -> Result<Member> {
    let said = [number.to_le_bytes(), same.to_le_bytes()].concat();
    let mut all = together.join(0, said.clone())?;
    all.sort_unstable();
    // Numbers are those of one process.
    let twice = all.windows(2).any(|pair| pair[0][..8] == pair[1][..8]);
    if twice || all.iter().any(|other| other[8..] != said[8..]) {
        return Err(Error::Unsupported("GPUs that differ count in shares".into()));
    }
    let own = all.iter().position(|other| *other == said);
    Ok(Member { own: own.expect("the device has said it"), of: all.len() })
}

/// Queues the device's part of the cliques of `k` into sum 0: `roots` are those of the graph, and `kept` is what an
/// earlier run has left; `false` once the run was cancelled.
///
/// # Errors
/// [`Error::Unsupported`] where devices have different roots, or the budget no room; [`Error::Device`]; those of `together`.
pub(crate) fn count_together(
    graph: &Resident,
    roots: &Roots,
    k: usize,
    (number, kept): (u64, &mut Option<Part>),
    together: &dyn Peers,
    context: &Context,
) -> Result<bool> {
    let member = roots.member(graph, number, together)?;
    if kept.as_ref().is_none_or(|kept| kept.member != member) {
        *kept = Some(Part::of(graph, roots, member)?);
    }
    let own = &kept.as_ref().expect("it was set above").roots;
    let parts = roots.with_large(k);
    let mut heavy = vec![];
    for (at, (&(roots, k), own)) in parts.iter().zip(own).enumerate() {
        if k <= UNWEIGHED {
            heavy.push(None);
            continue;
        }
        let found = weights(graph, (roots, own), k, member, (1 + at, together), context)?;
        let Some(found) = found else { return Ok(false) };
        let Weights { roots, way } = by_weights(graph, roots, &found, k)?;
        let roots = roots.every(graph, (member.own, member.of))?;
        heavy.push(Some(Weights { roots, way }));
    }
    for ((&(_, k), own), heavy) in parts.iter().zip(own).zip(&heavy) {
        let done = match heavy {
            None => run(graph, own, k, Extra::Nothing, context)?,
            Some(weighed) => weighed.count(graph, k, Extra::Nothing, context)?,
        };
        if !done {
            return Ok(false);
        }
    }
    // Tasks must not be freed before the kernels have read them.
    graph.device.finish()?;
    Ok(true)
}

/// The weights of all roots' first tasks, by list, of which this device finds its part; `None` once the run was cancelled.
fn weights(
    graph: &Resident,
    (roots, own): (&Roots, &Roots),
    k: usize,
    Member { own: place, of }: Member,
    (level, together): (usize, &dyn Peers),
    context: &Context,
) -> Result<Option<Vec<Vec<u32>>>> {
    let all: Vec<usize> = not_light(&graph.device, roots, k).iter().map(|r| r.len()).collect();
    let weighed: Vec<Range<usize>> =
        all.iter().map(|&all| 0..(all + of - 1 - place) / of).collect();
    let found = weights_of(graph, own, &weighed, k, Extra::Nothing, context)?;
    let Some(found) = found else { return Ok(None) };
    let mut said = (place as u32).to_le_bytes().to_vec();
    said.extend(found.iter().flatten().flat_map(|weight| weight.to_le_bytes()));
    let mut weights: Vec<Vec<u32>> = all.iter().map(|&all| vec![0; all]).collect();
    for heard in together.join(level, said)? {
        let (words, _) = heard.as_chunks::<4>();
        let mut words = words.iter().map(|&word| u32::from_le_bytes(word));
        let place = words.next().map_or(0, |place| place as usize);
        for weights in &mut weights {
            for (weight, word) in weights.iter_mut().skip(place).step_by(of).zip(words.by_ref()) {
                *weight = word;
            }
        }
    }
    Ok(Some(weights))
}
