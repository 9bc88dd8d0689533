//! Positions of the vertices of a drawn pattern.
//!
//! Of several layouts (vertices on a circle, one of them in the middle, distances as in the pattern) the most readable one
//! is taken: few crossings, no overlaps, symmetric. The result is the same in every run.

mod candidates;
mod cost;
mod orientation;

use gramer_pattern::Pattern;
use gramer_pattern::plan::search::bits;

/// A place; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

impl Point {
    fn minus(self, other: Point) -> Point {
        Point { x: self.x - other.x, y: self.y - other.y }
    }

    fn length(self) -> f64 {
        libm::hypot(self.x, self.y)
    }

    fn cross(self, other: Point) -> f64 {
        self.x * other.y - self.y * other.x
    }

    fn dot(self, other: Point) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// Turned by an angle in radians.
    fn turned(self, angle: f64) -> Point {
        let (sin, cos) = libm::sincos(angle);
        Point { x: cos * self.x - sin * self.y, y: sin * self.x + cos * self.y }
    }
}

/// A layout: one place per vertex, in a box from (0, 0) whose longer side is 1.
///
/// ```
/// use gramer_picture::layout::Layout;
/// use gramer_pattern::named;
///
/// let layout = Layout::of(&named("house").unwrap());
/// assert_eq!(layout.places.len(), 5);
/// assert_eq!(layout.crossings(), 0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Of each vertex.
    pub places: Vec<Point>,
    /// Width of the box.
    pub width: f64,
    /// Height of the box.
    pub height: f64,
    edges: Vec<(usize, usize)>,
}

impl Layout {
    /// The layout of a pattern; its labels don't matter.
    pub fn of(pattern: &Pattern) -> Layout {
        let n = pattern.vertices();
        let edges = pattern.edges();
        let all: Vec<usize> = (0..n).collect();
        let places = if n < 2 {
            vec![Point::default(); n]
        } else if !pattern.is_connected() {
            side_by_side(pattern)
        } else if let Some(order) = path(pattern) {
            zigzag(&order)
        } else if edges.len() == n * (n - 1) / 2 {
            orientation::best(candidates::circle(&all), &edges)
        } else {
            orientation::best(best(pattern, &edges), &edges)
        };
        fitted(places, edges)
    }

    /// Pairs of edges that cross.
    pub fn crossings(&self) -> usize {
        cost::crossings(&self.places, &self.edges)
    }

    /// The smallest distance between two vertices; 1 where there are no two.
    pub fn least_distance(&self) -> f64 {
        let pairs = (0..self.places.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let distances = pairs.map(|(i, j)| self.places[i].minus(self.places[j]).length());
        distances.fold(1.0, f64::min)
    }
}

/// The layouts of the components, from left to right.
fn side_by_side(pattern: &Pattern) -> Vec<Point> {
    const GAP: f64 = 0.5;
    let mut places = vec![Point::default(); pattern.vertices()];
    let mut left = 0.0;
    for component in pattern.components() {
        let vertices: Vec<usize> = bits(component).collect();
        let layout = Layout::of(&pattern.induced(&vertices));
        for (&v, place) in vertices.iter().zip(&layout.places) {
            places[v] = Point { x: left + place.x, y: place.y + (1.0 - layout.height) / 2.0 };
        }
        left += layout.width + GAP;
    }
    places
}

/// The layout that costs least, of those that look promising the most symmetric.
fn best(pattern: &Pattern, edges: &[(usize, usize)]) -> Vec<Point> {
    /// Number of candidates that are refined.
    const PROMISING: usize = 24;
    let mut found: Vec<(f64, Vec<Point>)> = candidates::of(pattern, edges)
        .into_iter()
        .map(|places| {
            let places = unit(places);
            (cost::cost(&places, edges), places)
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(PROMISING);
    let rated = found.into_iter().map(|(cost, places)| {
        let symmetries = cost::symmetries(&places, pattern);
        (cost - 1.5 * libm::log2(symmetries as f64), places)
    });
    rated.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, places)| places).unwrap_or_default()
}

/// The vertices of a path from one end to the other; `None` for other patterns.
fn path(pattern: &Pattern) -> Option<Vec<usize>> {
    let n = pattern.vertices();
    let end = (0..n).find(|&v| pattern.degree(v) == 1)?;
    if pattern.edge_count() != n - 1 || (0..n).any(|v| pattern.degree(v) > 2) {
        return None;
    }
    let mut order = vec![end];
    while order.len() < n {
        let last = order[order.len() - 1];
        let next = (0..n).find(|v| pattern.has_edge(last, *v) && !order.contains(v))?;
        order.push(next);
    }
    Some(order)
}

/// Two rows between which a path goes up and down.
fn zigzag(order: &[usize]) -> Vec<Point> {
    let depth = if order.len() == 2 { 0.0 } else { 0.8 };
    let mut places = vec![Point::default(); order.len()];
    for (at, &vertex) in order.iter().enumerate() {
        places[vertex] = Point { x: at as f64, y: if at % 2 == 0 { depth } else { 0.0 } };
    }
    places
}

fn bounds(places: &[Point]) -> (Point, Point) {
    let fold = |f: fn(f64, f64) -> f64, of: fn(&Point) -> f64| {
        places.iter().map(of).reduce(f).unwrap_or(0.0)
    };
    let low = Point { x: fold(f64::min, |p| p.x), y: fold(f64::min, |p| p.y) };
    let high = Point { x: fold(f64::max, |p| p.x), y: fold(f64::max, |p| p.y) };
    (low, high)
}

/// Moved and scaled so that the longer side of the box is 1.
fn unit(places: Vec<Point>) -> Vec<Point> {
    let (low, high) = bounds(&places);
    let side = (high.x - low.x).max(high.y - low.y);
    let scale = if side > 0.0 { 1.0 / side } else { 1.0 };
    let moved = |p: Point| Point { x: (p.x - low.x) * scale, y: (p.y - low.y) * scale };
    places.into_iter().map(moved).collect()
}

fn fitted(places: Vec<Point>, edges: Vec<(usize, usize)>) -> Layout {
    let places = unit(places);
    let (_, high) = bounds(&places);
    Layout { places, width: high.x, height: high.y, edges }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_pattern::{Dictionary, named};

    #[test]
    fn patterns_that_have_a_plane_drawing_in_mind_get_it() {
        let single = gramer_pattern::names().into_iter().filter(|name| named(name).is_some());
        let sized = ["3-star", "4-path", "4-cycle", "4-wheel", "7-cycle", "9-path", "12-star"];
        for name in single.chain(sized.map(String::from)) {
            let layout = Layout::of(&named(&name).unwrap());
            assert_eq!(layout.crossings(), 0, "{name}");
        }
        // Complete patterns are drawn on a circle, as everybody draws them.
        assert_eq!(Layout::of(&Pattern::clique(4)).crossings(), 1);
        assert_eq!(Layout::of(&Pattern::clique(5)).crossings(), 5);
    }

    #[test]
    fn nothing_lies_on_anything_else() {
        for k in 1..=6 {
            for pattern in Dictionary::of(k).patterns() {
                let layout = Layout::of(pattern);
                assert!(layout.least_distance() > 0.22, "{pattern:?}: {layout:?}");
                let free = cost::least_gap(&layout.places, &layout.edges);
                assert!(free > 0.09, "{pattern:?}: an edge is {free} from a vertex");
                assert!(layout.width <= 1.0 && layout.height <= 1.0);
            }
        }
    }

    #[test]
    fn few_of_all_motifs_have_crossings() {
        let crossed = |k| -> Vec<String> {
            let all = Dictionary::of(k).patterns().iter();
            let crossed = all.filter(|p| Layout::of(p).crossings() > 0);
            crossed
                .map(|p| format!("{} {}", gramer_pattern::name(p), Layout::of(p).crossings()))
                .collect()
        };
        assert_eq!(crossed(4), ["4-clique 1"]);
        // One of them isn't planar; dense ones read better on a circle.
        let five = ["5v7e.0 1", "5v7e.1 1", "5v8e.0 1", "K5-e 3", "5-clique 5"];
        assert_eq!(crossed(5), five);
    }

    #[test]
    fn the_largest_patterns_are_laid_out_the_same_each_time() {
        let mut pattern = named("16-cycle").unwrap();
        pattern.add_edge(0, 5);
        pattern.add_edge(3, 12);
        let layout = Layout::of(&pattern);
        assert_eq!(layout, Layout::of(&pattern));
        assert!(layout.places.iter().all(|p| p.x.is_finite() && p.y.is_finite()));
        assert!(layout.least_distance() > 0.05);
        let one = Layout::of(&Pattern::new(1));
        assert_eq!((one.places.len(), one.width, one.height), (1, 0.0, 0.0));
        assert!(Layout::of(&Pattern::new(0)).places.is_empty());
    }
}
