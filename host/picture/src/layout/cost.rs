//! Readability of a layout.

use gramer_pattern::Pattern;

use super::Point;

/// Vertices should be at least so far apart, in widths of the picture.
const APART: f64 = 0.3;
/// An edge should pass at least so far from a vertex that it doesn't end at.
const GAP: f64 = 0.16;
/// Edges at a vertex should be at least so far apart, in radians.
const ANGLE: f64 = 0.45;

/// Cost of a layout whose longer side is 1; smaller is better.
pub(super) fn cost(places: &[Point], edges: &[(usize, usize)]) -> f64 {
    let mut cost = 9.0 * crossings(places, edges) as f64;
    for i in 0..places.len() {
        for j in 0..i {
            let distance = places[i].minus(places[j]).length();
            cost += 25.0 * (1.0 - distance / APART).max(0.0);
        }
    }
    for (vertex, edge) in apart(places, edges) {
        cost += 25.0 * (1.0 - distance_to(places, vertex, edge) / GAP).max(0.0);
    }
    cost + angles(places, edges) + 5.0 * spread_of_lengths(places, edges)
}

/// Pairs of edges that cross.
pub(super) fn crossings(places: &[Point], edges: &[(usize, usize)]) -> usize {
    let crosses = |&(a, b): &(usize, usize), &(c, d): &(usize, usize)| {
        if a == c || a == d || b == c || b == d {
            return false;
        }
        let side = |from: usize, to: usize, of: usize| {
            places[to].minus(places[from]).cross(places[of].minus(places[from]))
        };
        side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
    };
    let with = |(at, edge)| edges[..at].iter().filter(move |other| crosses(edge, other)).count();
    edges.iter().enumerate().map(with).sum()
}

/// The smallest distance of an edge from a vertex that is not its end; 1 if there is no such vertex.
#[cfg(test)]
pub(super) fn least_gap(places: &[Point], edges: &[(usize, usize)]) -> f64 {
    apart(places, edges).map(|(v, e)| distance_to(places, v, e)).fold(1.0, f64::min)
}

/// Each vertex with each edge that it is not an end of.
fn apart<'a>(
    places: &'a [Point],
    edges: &'a [(usize, usize)],
) -> impl Iterator<Item = (usize, (usize, usize))> + 'a {
    let of = move |vertex: usize| edges.iter().map(move |&edge| (vertex, edge));
    (0..places.len()).flat_map(of).filter(|&(vertex, (a, b))| vertex != a && vertex != b)
}

/// The distance of a vertex from an edge.
fn distance_to(places: &[Point], vertex: usize, (a, b): (usize, usize)) -> f64 {
    let along = places[b].minus(places[a]);
    let to = places[vertex].minus(places[a]);
    let length = along.dot(along);
    let part = if length > 0.0 { (to.dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
    to.minus(Point { x: along.x * part, y: along.y * part }).length()
}

/// Narrow angles between edges of a vertex.
fn angles(places: &[Point], edges: &[(usize, usize)]) -> f64 {
    let mut cost = 0.0;
    for (vertex, place) in places.iter().enumerate() {
        let ends = edges.iter().filter_map(|&(a, b)| match vertex {
            v if v == a => Some(b),
            v if v == b => Some(a),
            _ => None,
        });
        let direction = |end: usize| {
            let to = places[end].minus(*place);
            libm::atan2(to.y, to.x)
        };
        let mut around: Vec<f64> = ends.map(direction).collect();
        around.sort_by(f64::total_cmp);
        if around.len() < 2 {
            continue;
        }
        let turn = around[0] + std::f64::consts::TAU - around[around.len() - 1];
        let between = around.windows(2).map(|pair| pair[1] - pair[0]).chain([turn]);
        cost += between.map(|angle| 2.0 * (1.0 - angle / ANGLE).max(0.0)).sum::<f64>();
    }
    cost
}

/// Standard deviation of the lengths of the edges, over their mean.
fn spread_of_lengths(places: &[Point], edges: &[(usize, usize)]) -> f64 {
    let length = |&(a, b): &(usize, usize)| places[a].minus(places[b]).length();
    let count = edges.len().max(1) as f64;
    let mean = edges.iter().map(length).sum::<f64>() / count;
    let square = edges.iter().map(|edge| (length(edge) - mean).powi(2)).sum::<f64>() / count;
    if mean > 0.0 { square.sqrt() / mean } else { 0.0 }
}

fn middle(places: &[Point]) -> Point {
    let count = places.len().max(1) as f64;
    let sum = |of: fn(&Point) -> f64| places.iter().map(of).sum::<f64>() / count;
    Point { x: sum(|p| p.x), y: sum(|p| p.y) }
}

/// Whether a mirror through the middle, whose axis has this angle, shows the same picture.
pub(super) fn mirrors(
    places: &[Point],
    angle: f64,
    has_edge: &dyn Fn(usize, usize) -> bool,
) -> bool {
    /// Layouts by distances are symmetric up to about this.
    const NEAR: f64 = 0.03;
    let middle = middle(places);
    let axis = Point { x: libm::cos(angle), y: libm::sin(angle) };
    let image = |p: &Point| {
        let p = p.minus(middle);
        let along = 2.0 * p.dot(axis);
        Point { x: along * axis.x - p.x, y: along * axis.y - p.y }
    };
    let mut to = Vec::with_capacity(places.len());
    for place in places {
        let wanted = image(place);
        let near = |p: &Point| p.minus(middle).minus(wanted).length() < NEAR;
        match places.iter().position(near) {
            Some(vertex) => to.push(vertex),
            None => return false,
        }
    }
    let n = places.len();
    (0..n).all(|i| (0..i).all(|j| has_edge(i, j) == has_edge(to[i], to[j])))
}

/// The number of mirrors through the middle that show the same picture, and one.
pub(super) fn symmetries(places: &[Point], pattern: &Pattern) -> usize {
    let has_edge = |i: usize, j: usize| i != j && pattern.has_edge(i, j);
    1 + axes(places).into_iter().filter(|&angle| mirrors(places, angle, &has_edge)).count()
}

/// Angles of axes that map one vertex to another, or to itself: 0 to π, each once.
pub(super) fn axes(places: &[Point]) -> Vec<f64> {
    use std::f64::consts::PI;
    let middle = middle(places);
    let around = places.iter().map(|p| p.minus(middle)).filter(|p| p.length() > 1e-6);
    let around: Vec<(f64, f64)> = around.map(|p| (libm::atan2(p.y, p.x), p.length())).collect();
    let mut found: Vec<f64> = vec![];
    for (i, &(a, far)) in around.iter().enumerate() {
        for &(b, other) in &around[..=i] {
            let angle = ((a + b) / 2.0).rem_euclid(PI);
            let known = found.iter().any(|f| {
                let apart = (f - angle).abs();
                apart < 0.02 || PI - apart < 0.02
            });
            if (far - other).abs() < 0.03 && !known {
                found.push(angle);
            }
        }
    }
    found
}
