//! Cliques of k vertices, or of all sizes in a range, per vertex and per edge.

use std::ops::{ControlFlow, Range};

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::{Error, Result};
use gramer_base::memory::{collected, with_room, zeroed};
use gramer_graph::{VertexId, View};

use super::super::clique::local::Local;
use super::super::oriented::Oriented;
use super::super::reach::{Form, NOWHERE, Places, by_form};
use super::super::{Job, Resident, StartVertices, run_units};
use super::sums::Sums;
use super::tree::{self, Tally};
use gramer_engine::per::{Column, Numbers, Per};
use gramer_engine::{Outcome, Subject};

/// A column for each size from `smallest` to `largest` that has a clique, and for `smallest`.
pub(super) fn run(
    graph: &Resident,
    smallest: usize,
    largest: usize,
    per: Per,
    context: &Context,
) -> Result<Outcome> {
    let oriented = graph.oriented(context)?;
    // No clique is larger than a start vertex and its targets.
    let sizes = smallest..largest.min(oriented.degeneracy() + 1).max(smallest) + 1;
    let mut numbers = numbers(graph, oriented, sizes.clone(), per, context)?;
    while numbers.len() > 1 && numbers.last().is_some_and(|n| n.iter().all(|n| n == 0)) {
        numbers.pop();
    }
    let mut outcome = Outcome::new(vec![], true);
    for (size, counts) in sizes.zip(numbers) {
        let column = Column { of: Subject::clique(size), orbit: None, counts };
        // Every clique is in as many numbers as it has vertices, or edges.
        let count = column.occurrences(per).ok_or_else(too_many)?;
        outcome.push(column.of.clone(), count);
        outcome.columns.push(column);
    }
    Ok(outcome)
}

fn too_many() -> Error {
    Error::Unsupported("a count needs more than 128 bits".into())
}

/// By size, the number of each vertex or edge.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Unsupported`] for a number of more than 128 bits.
pub(crate) fn numbers(
    graph: &Resident,
    oriented: &Oriented,
    sizes: Range<usize>,
    per: Per,
    context: &Context,
) -> Result<Vec<Numbers>> {
    let view = graph.graph.view();
    let count = sizes.len();
    let items = match per {
        Per::Vertex => oriented.vertices(),
        Per::Edge => oriented.arcs(),
        Per::Graph => unreachable!("graphs are counted one by one"),
    };
    let sums = Sums::new(items * count);
    let list = |n| {
        let targets = oriented.targets(n).len();
        if targets + 1 < sizes.start { 0 } else { targets }
    };
    let units =
        StartVertices::numbered(view, &oriented.vertex)
            .units(Job::whole(context), list, |n| (list(n) as u64).pow(3));
    let complete = by_form!(oriented.vertices(), 4, F => run_units(
        &units,
        context,
        || {
            let tally = Tally::new(sizes.clone(), oriented.degeneracy(), per == Per::Edge);
            let vertices = if per == Per::Edge { oriented.vertices() } else { 0 };
            (Local::new(true), tally, Places::<F>::new(vertices, 1))
        },
        |(local, tally, place), unit| {
            local.enter(oriented, unit.start);
            if !tree::count(local, unit.range(), tally, &context.cancel) {
                return ControlFlow::Break(());
            }
            match per {
                Per::Vertex => add_vertices(oriented, unit.start, tally, &sums, count),
                Per::Edge => add_edges(oriented, unit.start, tally, &sums, count, place),
                Per::Graph => unreachable!("graphs are counted one by one"),
            }
            if tally.overflow {
                sums.overflow();
            }
            match sums.overflows() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
    ).1);
    if sums.overflows() {
        return Err(too_many());
    }
    if !complete {
        return Err(Error::Interrupted);
    }
    let order: Vec<u32> = match per {
        Per::Vertex => collected(oriented.numbers().iter().copied())?,
        Per::Edge => arcs_of_edges(view, oriented, context)?,
        Per::Graph => unreachable!("graphs are counted one by one"),
    };
    (0..count).map(|size| sums.get(order.iter().map(|&n| n as usize * count + size))).collect()
}

fn add_vertices(oriented: &Oriented, start: u32, tally: &Tally, sums: &Sums, sizes: usize) {
    let add = |n: u32, numbers: &[u128]| {
        for (size, &number) in numbers.iter().enumerate() {
            sums.add(n as usize * sizes + size, number);
        }
    };
    add(start, &tally.all);
    for (&t, numbers) in oriented.targets(start).iter().zip(tally.by_member.chunks(sizes)) {
        add(t, numbers);
    }
}

/// By arc of the oriented graph. `place` is of no vertex between calls.
fn add_edges<'a, F: Form>(
    oriented: &'a Oriented,
    start: u32,
    tally: &Tally,
    sums: &Sums,
    sizes: usize,
    place: &mut Places<'a, F>,
) {
    let add = |arc: usize, numbers: &[u128]| {
        for (size, &number) in numbers.iter().enumerate() {
            sums.add(arc * sizes + size, number);
        }
    };
    let members = oriented.targets(start);
    for (arc, numbers) in oriented.row(start).zip(tally.by_member.chunks(sizes)) {
        add(arc, numbers);
    }
    place.enter(members);
    for (i, &t) in members.iter().enumerate() {
        if tally.by_member[i * sizes..(i + 1) * sizes].iter().all(|&n| n == 0) {
            continue;
        }
        for (arc, &u) in oriented.row(t).zip(oriented.targets(t)) {
            let j = place.of(u);
            if j != NOWHERE {
                add(arc, tally.pair(i, j as usize));
            }
        }
    }
    place.leave();
}

/// The arc of each edge, in the order of [`gramer_engine::per::edges`].
fn arcs_of_edges(view: View<'_>, oriented: &Oriented, context: &Context) -> Result<Vec<u32>> {
    let mut looks = CancelPoll::new(&context.cancel);
    let mut first = with_room(view.vertices())?;
    let mut edges = 0;
    for v in 0..view.vertices() as VertexId {
        first.push(edges);
        edges += view.neighbours(v).partition_point(|&u| u < v);
    }
    let mut arcs: Vec<u32> = zeroed(edges)?;
    for n in 0..oriented.vertices() as u32 {
        looks.check(1 + oriented.targets(n).len())?;
        let v = oriented.vertex[n as usize];
        for (arc, &t) in oriented.row(n).zip(oriented.targets(n)) {
            let u = oriented.vertex[t as usize];
            let (smaller, larger) = (u.min(v), u.max(v));
            let at = view.neighbours(larger).partition_point(|&w| w < smaller);
            arcs[first[larger as usize] + at] = arc as u32;
        }
    }
    Ok(arcs)
}
