//! Which of several plans visits the fewest elements, by samples of their searches.
//!
//! The cost model takes the parts of a pattern for independent. In graphs with few labels a plan may visit 200 times
//! as many elements as it says, and another that is said to cost more a tenth of them.

use std::sync::Arc;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_pattern::Pattern;
use gramer_pattern::plan::search::SearchPlan;
use tracing::debug;

use super::search::Allowance;
use super::space::Space;
use super::{Execution, Job, units};

/// First vertices in a sample.
const STARTS: usize = 256;
/// The first vertices of a class are sampled at this rate at most: one in so many.
const RAREST: usize = 256;
/// Elements after which the sample of the first plan ends.
const LONGEST: f64 = 4e6;
/// A search that visits fewer elements is not worth samples of others.
const WORTHWHILE: f64 = 1e7;
/// What the samples of all other plans may visit, as a share of the first plan's search.
const SHARE: f64 = 0.03;
/// A plan is better than another if it visits at most this share of its elements; less may be chance.
const CLEARLY: f64 = 0.6;

/// The plan that visits the fewest elements. `plans` are ordered by their estimates; `given` is the requested pattern.
pub(super) fn best(
    plans: Vec<SearchPlan>,
    space: &mut Space<'_>,
    given: &Pattern,
    job: Job<'_>,
) -> Result<SearchPlan> {
    best_of(plans, space, given, job, (WORTHWHILE, SHARE))
}

fn best_of(
    mut plans: Vec<SearchPlan>,
    space: &mut Space<'_>,
    given: &Pattern,
    job: Job<'_>,
    (worthwhile, share): (f64, f64),
) -> Result<SearchPlan> {
    let first = sample(&plans[0], space, given, job, LONGEST)?;
    let (mut best, mut least) = (0, first.elements * first.rate);
    if least < worthwhile {
        return Ok(plans.swap_remove(0));
    }
    let mut left = share * least;
    for (number, plan) in plans.iter().enumerate().skip(1) {
        if left <= 0.0 {
            break;
        }
        let rate = rate(plan, space);
        let other = sample(plan, space, given, job, left.min(CLEARLY * least / rate))?;
        left -= other.elements;
        if other.complete && other.elements * rate < CLEARLY * least {
            (best, least) = (number, other.elements * rate);
        }
    }
    debug!(estimated = plans[0].cost, sampled = least, best, "plans were compared by samples");
    Ok(plans.swap_remove(best))
}

/// The result of a sample.
struct Sample {
    /// Elements visited.
    elements: f64,
    /// One first vertex in so many was taken.
    rate: f64,
    /// Whether no first vertex was left out for want of an allowance.
    complete: bool,
}

fn rate(plan: &SearchPlan, space: &Space<'_>) -> f64 {
    (space.candidates(plan.steps[0].vertex) / STARTS).clamp(1, RAREST) as f64
}

/// Searches below some first vertices, until `most` elements are visited.
fn sample(
    plan: &SearchPlan,
    space: &mut Space<'_>,
    given: &Pattern,
    job: Job<'_>,
    most: f64,
) -> Result<Sample> {
    let lists = space.build_lists(plan, &job.context.cancel)?;
    let (space, rate) = (&*space, rate(plan, space));
    let context = Context { progress: Arc::default(), ..job.context.clone() };
    let job = Job { context: &context, ..job };
    let units = units(plan, space, &lists, rate as u32, job);
    let search = Execution { plan, space, lists: &lists, given, representative: None, job };
    let end = search.run::<u128>(&units, Some(&Allowance::new(most)));
    Ok(Sample { elements: end.elements as f64, rate, complete: end.complete })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Elements that the search of the plan visits which samples choose, however small the search, and of the first.
    pub(in super::super) fn visited(
        plans: Vec<SearchPlan>,
        space: &mut Space<'_>,
        job: Job<'_>,
    ) -> (f64, f64) {
        let pattern = plans[0].pattern.clone();
        let elements = |plan: &SearchPlan, space: &mut Space<'_>| {
            sample(plan, space, &pattern, job, f64::MAX).unwrap().elements
        };
        let first = elements(&plans[0], space);
        let best = best_of(plans, space, &pattern, job, (0.0, f64::MAX)).unwrap();
        (elements(&best, space), first)
    }
}
