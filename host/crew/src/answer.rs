//! How the answers of members become one. Nothing else here looks into an [`Outcome`].

use gramer_base::error::{Error, Result};
use gramer_engine::Outcome;
use gramer_engine::metrics::DeviceMetrics;

use crate::order::{Job, Record};

/// The answer of a member that has a fixed part of the task and no candidates.
pub const PART_OF: &str = "share.portions";

/// Takes what devices measured out of an answer, and adds it to what they measured before.
pub fn take_devices(known: &mut Vec<DeviceMetrics>, outcome: &mut Outcome) {
    for new in outcome.devices.drain(..) {
        match known.iter_mut().find(|known| known.device == new.device) {
            Some(known) => known.absorb(&new),
            None => known.push(new),
        }
    }
}

/// Adds the answer of a share to those of a member, or to the checkpoint if there is one: the member has then what is
/// to say besides.
pub fn add(known: &mut Option<Outcome>, mut new: Outcome, job: &Job<'_>) -> Result<()> {
    let (task, graph) = (&job.query.task, job.graph);
    let Some(kept) = job.kept else {
        let all = known.take().into_iter().chain([new]);
        *known = Some(Outcome::merge(task, graph, all)?);
        return Ok(());
    };
    let mut said = known.take().unwrap_or_else(|| Outcome::new(vec![], true));
    said.complete &= new.complete;
    said.warnings.append(&mut new.warnings);
    *known = Some(said);
    kept.add(new)
}

/// The answer of members that have shares; whole if all were `finished`.
pub fn of_shares(found: Vec<Outcome>, finished: bool, job: &Job<'_>) -> Result<Outcome> {
    let mut outcome = match job.kept {
        None if found.is_empty() => Outcome::new(vec![], false),
        None => Outcome::merge(&job.query.task, job.graph, found)?,
        Some(_) => {
            let mut said = Outcome::new(vec![], found.iter().all(|one| one.complete));
            found.into_iter().for_each(|one| warn(&mut said, one.warnings));
            said
        }
    };
    outcome.complete &= finished;
    outcome.devices.clear();
    Ok(outcome)
}

/// The answer of members that work in phases: all have the same. After a stop each has only the counts of its part.
pub fn of_phases(found: Vec<Outcome>, records: &[Record]) -> Result<Outcome> {
    let part = |record: &Record| record.devices.iter().any(|d| d.get(PART_OF).is_some());
    let own = found.iter().all(|outcome| !outcome.complete) && records.iter().all(part);
    let mut found = found.into_iter();
    let mut outcome = found.next().ok_or(Error::Interrupted)?;
    for more in found {
        if own {
            for (count, more) in outcome.results.iter_mut().zip(&more.results) {
                count.count += more.count;
            }
        }
    }
    Ok(outcome)
}

/// Adds warnings, each once.
pub fn warn(outcome: &mut Outcome, warnings: impl IntoIterator<Item = String>) {
    for warning in warnings {
        if !outcome.warnings.contains(&warning) {
            outcome.warnings.push(warning);
        }
    }
}

/// Puts warnings before those of an answer.
pub fn warn_first(outcome: &mut Outcome, warnings: &[String]) {
    outcome.warnings.splice(0..0, warnings.iter().cloned());
}

/// The answer of a run with a checkpoint: what is kept, with what is to say of the run.
pub fn of_kept(kept: Option<Outcome>, run: Outcome) -> Outcome {
    let mut outcome = kept.unwrap_or_else(|| Outcome::new(vec![], false));
    outcome.complete = run.complete;
    outcome.devices = run.devices;
    outcome.warnings = run.warnings;
    outcome
}
