//! Rotation of a layout.

use super::{Point, bounds, cost};

/// The layout, turned so that it stands well: symmetric to the left and right, edges level, the
/// narrow side up.
pub(super) fn best(places: Vec<Point>, edges: &[(usize, usize)]) -> Vec<Point> {
    use std::f64::consts::{FRAC_PI_2, PI};
    let places = super::unit(places);
    let levels = edges.iter().map(|&(a, b)| {
        let along = places[b].minus(places[a]);
        -libm::atan2(along.y, along.x)
    });
    let uprights = cost::axes(&places).into_iter().map(|axis| FRAC_PI_2 - axis);
    let angles = levels.chain(uprights).flat_map(|a| [a, a + FRAC_PI_2, a + PI, a - FRAC_PI_2]);
    let turned = |angle: f64| -> Vec<Point> {
        super::unit(places.iter().map(|p| p.turned(angle)).collect())
    };
    let rated = angles.chain([0.0]).map(|angle| {
        let places = turned(angle);
        (stands(&places, edges), places)
    });
    // The first of equals, ignoring rounding.
    let better = |best: (f64, Vec<Point>), next: (f64, Vec<Point>)| {
        if next.0 > best.0 + 1e-6 { next } else { best }
    };
    rated.reduce(better).map(|(_, places)| places).unwrap_or_default()
}

/// How well it stands: the larger the better.
fn stands(places: &[Point], edges: &[(usize, usize)]) -> f64 {
    use std::f64::consts::FRAC_PI_2;
    let has_edge = |i: usize, j: usize| edges.contains(&(i.min(j), i.max(j)));
    let mirrors = |angle| f64::from(u8::from(cost::mirrors(places, angle, &has_edge)));
    let level = |&&(a, b): &&(usize, usize)| (places[a].y - places[b].y).abs() < 0.02;
    let (_, high) = bounds(places);
    let ground = |edge: &&(usize, usize)| level(edge) && high.y - places[edge.0].y < 0.02;
    let levels = edges.iter().filter(level).count() as f64 / edges.len().max(1) as f64;
    let ground = f64::from(u8::from(edges.iter().any(|edge| ground(&edge))));
    let mean = places.iter().map(|p| p.y).sum::<f64>() / places.len().max(1) as f64;
    let heavy = if high.y > 0.0 { mean / high.y } else { 0.5 };
    3.0 * mirrors(FRAC_PI_2) + mirrors(0.0) + levels + ground + heavy + 0.5 * (high.x - high.y)
}
