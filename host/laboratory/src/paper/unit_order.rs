//! Noise by the order of the work units, on the smallest graph.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::report::{Block, ORDERS, Section, span};
use super::{Lab, NOT_RUN, csv_table, short};
use crate::explore::measures::Metric;
use gramer_base::error::Result;
use gramer_engine::{Units, WorkUnit};

/// Orders that are drawn.
const SEEDS: u64 = 5;

/// Cycles of tasks whose work units are dealt in drawn orders.
pub fn unit_order(lab: &Lab<'_>) -> Result<Section> {
    let input = &lab.inputs[0];
    let (mut rows, mut numbers) = (vec![], vec![]);
    for task in ["clique:5", "motif:3"] {
        for order in ORDERS {
            let in_order = format!("order={order}");
            let mut all = vec![];
            for seed in 0..=SEEDS {
                // The first is the order of ranks.
                let units =
                    (seed > 0).then(|| dealt(Units::All.iter(input.graph.view()).collect(), seed));
                let points = lab.with_units(input, task, &[&in_order], units.as_deref())?;
                let cycles = points[0].measures.as_ref().ok().map(|m| m.get(Metric::Cycles));
                let cell = cycles.map_or(NOT_RUN.into(), |cycles| cycles.to_string());
                numbers.push(vec![
                    input.name.clone(),
                    task.to_string(),
                    order.into(),
                    if seed == 0 { "rank".into() } else { seed.to_string() },
                    cell,
                ]);
                all.extend(cycles);
            }
            let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
            let shares: Vec<f64> = all.iter().map(|cycles| cycles / mean).collect();
            let by_rank = all.first().map_or(NOT_RUN.into(), |cycles| format!("{cycles:.0}"));
            let name = format!("{} {} {}", input.name, short(task), &order[..3]);
            rows.push(vec![name, by_rank, format!("{mean:.0}"), span(&shares, 3)]);
        }
    }
    let header = ["case", "cycles in the order of ranks", "mean", "of the mean"];
    Ok(Section {
        title: "Noise by the order of the work units".into(),
        blocks: vec![
            Block::Text(format!(
                "The units of a task on {} in the order of ranks, as in all other sections, and in {SEEDS} drawn orders. \
                 Where a few giant trees decide, a point of the other sections is one draw of such a range.",
                input.name
            )),
            Block::File("unit-order-spread.csv".into(), csv_table(&header, &rows)),
            Block::File(
                "unit-order.csv".into(),
                csv_table(&["graph", "task", "order", "seed", "cycles"], &numbers),
            ),
        ],
        claims: vec![],
    })
}

/// The units in a drawn order.
fn dealt(mut units: Vec<WorkUnit>, seed: u64) -> Vec<WorkUnit> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for at in (1..units.len()).rev() {
        units.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_order_has_all_units() {
        let units: Vec<WorkUnit> =
            (0..50).map(|start| WorkUnit { start, first: 0, limit: start }).collect();
        let mut one = dealt(units.clone(), 1);
        assert!(one != units && one != dealt(units.clone(), 2) && one == dealt(units.clone(), 1));
        one.sort_unstable();
        assert_eq!(one, units);
    }
}
