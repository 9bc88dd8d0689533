//! GAMMA, figures 24 and 25: times by density of Kronecker graphs, and by number of warps.

use gramer_base::error::Result;
use gramer_gpu::TableSettings;
use gramer_graph::generate::{Model, Recipe, generate};
use gramer_pattern::task::Task;

use super::gamma::{patterns, table};
use super::point::{Point, points_file};
use super::{Input, Lab};
use crate::paper::report::{Answer, Cases, Claim, Finding, Section};

/// Exponents of a growth that is approximately linear.
const LINEAR: std::ops::RangeInclusive<f64> = 0.75..=1.25;
/// R-MAT graphs of figure 24: scale, and edges of a vertex.
const SCALE: u32 = 16;
const DENSITIES: [usize; 4] = [2, 4, 8, 16];
/// Warps of figure 25.
const WARPS: [usize; 6] = [1, 4, 16, 64, 256, 1024];

/// A Kronecker graph.
fn kronecker(lab: &Lab<'_>, scale: u32, edge_factor: usize) -> Result<Input> {
    let model = Model::Rmat { scale, edge_factor: edge_factor as u64, a: 0.57, b: 0.19, c: 0.19 };
    let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
    let graph = generate(&recipe, lab.context)?;
    Ok(Input { name: format!("rmat{scale} of {edge_factor}"), graph })
}

/// The exponent of a growth from the first point to the last: of speed by warps, or of time by edges.
fn exponent(points: &[Option<Point>], factor: f64) -> Option<f64> {
    let (first, last) = (points.first()?.as_ref()?, points.last()?.as_ref()?);
    let whole = points.iter().all(|p| p.as_ref().is_some_and(|p| !p.stopped));
    whole.then(|| (last.seconds / first.seconds).ln() / factor.ln())
}

fn claim(place: &'static str, claim: &'static str, finding: Finding, why: &str) -> Claim {
    let bar = format!("with an exponent of {} to {}", LINEAR.start(), LINEAR.end());
    Claim { place, claim, bar, answer: Answer::Any(finding), why: why.into() }
}

/// Figure 24.
pub fn density(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let (scale, densities) = match lab.options.quick {
        true => (6, &DENSITIES[..2]),
        false => (SCALE, &DENSITIES[..]),
    };
    let graphs: Vec<Input> =
        densities.iter().map(|&d| kronecker(lab, scale, d)).collect::<Result<_>>()?;
    let mut tasks = vec![("cliques of 4".to_string(), Task::Clique { k: 4 })];
    tasks.extend(patterns().into_iter().take(if lab.options.quick { 0 } else { 2 }));
    let mut cases = Cases::default();
    for (name, task) in &tasks {
        let mut points = vec![];
        for input in &graphs {
            let all = [table("all", None, TableSettings::default())];
            let task = std::slice::from_ref(task);
            points.extend(lab.compare("figure 24", input, (name, task), &all)?);
        }
        let edges = |input: &Input| input.graph.edges() as f64;
        let factor = edges(&graphs[graphs.len() - 1]) / edges(&graphs[0]);
        cases.add(exponent(&points, factor));
    }
    Ok(vec![Section {
        title: "GAMMA, figure 24: density".into(),
        blocks: vec![points_file()],
        claims: vec![claim(
            "GAMMA, figure 24",
            "times grow approximately linearly with the density of Kronecker graphs",
            cases.finding(|e| LINEAR.contains(&e), 2, " as the exponent"),
            "cliques of 4, cycles, diamonds; R-MAT of 2^16 vertices, 2 to 16 edges each",
        )],
    }])
}

/// Figure 25.
pub fn warps(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let mut cases = Cases::default();
    let numbers = if lab.options.quick { &WARPS[..2] } else { &WARPS[..] };
    for input in lab.plain.iter().filter(|input| input.name != "citeseer") {
        let settings: Vec<_> = numbers
            .iter()
            .map(|&n| {
                let warps = Some(n);
                table(&format!("{n} warps"), None, TableSettings { warps, ..Default::default() })
            })
            .collect();
        let task = [Task::Clique { k: 4 }];
        let points = lab.compare("figure 25", input, ("cliques of 4", &task), &settings)?;
        let factor = numbers[numbers.len() - 1] as f64 / numbers[0] as f64;
        cases.add(exponent(&points, 1.0 / factor));
    }
    Ok(vec![Section {
        title: "GAMMA, figure 25: number of warps".into(),
        blocks: vec![points_file()],
        claims: vec![claim(
            "GAMMA, figure 25",
            "speed grows approximately linearly with the number of warps",
            cases.finding(|e| LINEAR.contains(&e), 2, " as the exponent"),
            "1 to 1024 warps",
        )],
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_is_that_of_the_ends() {
        let point = |seconds| Some(Point::of(seconds, 1));
        let growth = exponent(&[point(1.0), point(3.0), point(16.0)], 4.0).unwrap();
        assert!((growth - 2.0).abs() < 1e-12);
        let speed = exponent(&[point(8.0), point(2.0)], 1.0 / 4.0).unwrap();
        assert!((speed - 1.0).abs() < 1e-12);
        assert_eq!(exponent(&[point(8.0), None, point(2.0)], 4.0), None);
    }
}
