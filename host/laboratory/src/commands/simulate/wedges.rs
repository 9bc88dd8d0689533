//! Houses and 5-cycles on the simulated set core, by the map.

use std::time::Instant;

use anyhow::{Result, ensure};
use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::numbers::SUM_EMBEDDINGS;
use gramer::accelerator::set::sums::Total;
use gramer::accelerator::set::wedges::Shape;
use gramer::accelerator::set::wedges::image::WedgeImage;
use gramer::accelerator::set::wedges::units::{deal, units};
use gramer::engine::Units;
use gramer::graph::View;
use gramer_models::wedges as reference;
use gramer_sim::model::Model;
use gramer_sim::run::{DONE, status_name};

use super::plans::{PatternRequest, PatternResult, ProgramRuns, cluster, has_room, sample};

/// Runs a shape.
///
/// # Errors
/// A graph without room on chip, and everything that goes wrong on the way: sums that differ from those of the
/// functional model, too.
pub fn mine(asked: &PatternRequest<'_>, shape: Shape, view: View<'_>) -> Result<PatternResult> {
    let machine = asked.accelerator;
    let image = WedgeImage::new(view)?;
    has_room(machine, &image)?;
    let mut core = Model::load(asked.library)?;
    let empty = deal(machine, shape, vec![], 1)[0].whole();
    cluster(asked, &mut core, (&image, &empty), true)?;
    let count = machine.kernels.compute_units as usize;
    let all = units(machine, view, Units::All, &image, shape);
    let mut done = ProgramRuns { units: (all.len(), 0), ..ProgramRuns::default() };
    let mut total = Total::default();
    let streams = deal(machine, shape, sample(all, asked.part), count);
    for stream in streams.iter().take(asked.clusters) {
        let (stream, clock) = (stream.whole(), Instant::now());
        let outcome = cluster(asked, &mut core, (&image, &stream), false)?;
        ensure!(outcome.status == DONE, "the core ended early: {}", status_name(outcome.status));
        let wanted = reference::run(machine, image.words(), &stream);
        ensure!(
            wanted.is_some_and(|wanted| outcome.counts == wanted.values),
            "the core's sums are {:?}, unlike the functional model's",
            outcome.counts
        );
        total.iter_mut().zip(&outcome.counts).for_each(|(sum, &own)| *sum += u128::from(own));
        done.units.1 += outcome.sum("core.work_units") as usize;
        done.cycles = done.cycles.max(outcome.sum("core.cycles"));
        done.clusters.push((outcome, clock.elapsed().as_secs_f64()));
    }
    done.count = total[SUM_EMBEDDINGS];
    let whole = done.units.0 == done.units.1;
    Ok(PatternResult { count: whole.then(|| shape.occurrences(&total)), runs: vec![done] })
}
