//! Candidate layouts.

use gramer_pattern::Pattern;

use super::{Point, cost, unit};

/// Maximum number of vertices for which all orders on a circle are tried.
const ALL_ORDERS: usize = 7;
/// Random starts where they aren't.
const STARTS: usize = 4;

/// Layouts of a connected pattern of three or more vertices.
pub(super) fn of(pattern: &Pattern, edges: &[(usize, usize)]) -> Vec<Vec<Point>> {
    let n = pattern.vertices();
    let all: Vec<usize> = (0..n).collect();
    let mut found = around(&all, edges, &circle);
    for centre in 0..n {
        let others: Vec<usize> = all.iter().copied().filter(|&v| v != centre).collect();
        let wheel = |order: &[usize]| with_centre(order, centre);
        found.extend(around(&others, edges, &wheel));
    }
    let mut rated: Vec<(f64, Vec<Point>)> = found
        .into_iter()
        .map(|places| (cost::cost(&unit(places.clone()), edges), places))
        .collect();
    rated.sort_by(|a, b| a.0.total_cmp(&b.0));
    rated.truncate(32);
    let mut found: Vec<Vec<Point>> = rated.into_iter().map(|(_, places)| places).collect();
    let steps = distances(pattern);
    let starts: Vec<Vec<Point>> = found.iter().take(8).cloned().collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let scattered = (0..2 * STARTS).map(|_| scattered(n, &mut random)).collect::<Vec<_>>();
    found.extend(starts.into_iter().chain(scattered).map(|start| relaxed(start, &steps)));
    found
}

/// Vertices on a circle, the first at the top.
pub(super) fn circle(order: &[usize]) -> Vec<Point> {
    use std::f64::consts::{FRAC_PI_2, TAU};
    let mut places = vec![Point::default(); order.iter().max().map_or(0, |v| v + 1)];
    for (at, &vertex) in order.iter().enumerate() {
        let angle = TAU * at as f64 / order.len() as f64 - FRAC_PI_2;
        places[vertex] = Point { x: libm::cos(angle), y: libm::sin(angle) };
    }
    places
}

/// One vertex in the middle of the circle of the others.
fn with_centre(order: &[usize], centre: usize) -> Vec<Point> {
    let mut places = circle(order);
    places.resize(order.len() + 1, Point::default());
    places[centre] = Point::default();
    places
}

/// Orders of these vertices around something: all of few, of many those that exchanging two doesn't
/// make better.
fn around(
    vertices: &[usize],
    edges: &[(usize, usize)],
    place: &dyn Fn(&[usize]) -> Vec<Point>,
) -> Vec<Vec<Point>> {
    if vertices.len() <= ALL_ORDERS {
        let mut found = vec![];
        // The first stays where it is: turning an order makes no other picture.
        let mut order = vertices.to_vec();
        orders(&mut order, 1, &mut |order| {
            // Nor does its mirror image.
            if order.len() < 3 || order[1] < order[order.len() - 1] {
                found.push(place(order));
            }
        });
        return found;
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let climb = |mut order: Vec<usize>| {
        let rate = |order: &[usize]| cost::cost(&unit(place(order)), edges);
        let mut best = rate(&order);
        loop {
            let before = best;
            for i in 0..order.len() {
                for j in 0..i {
                    order.swap(i, j);
                    let cost = rate(&order);
                    if cost < best - 1e-9 {
                        best = cost;
                    } else {
                        order.swap(i, j);
                    }
                }
            }
            if best >= before {
                return place(&order);
            }
        }
    };
    let start = |at: usize| {
        let mut order = vertices.to_vec();
        if at > 0 {
            random.shuffle(&mut order);
        }
        order
    };
    (0..STARTS).map(start).map(climb).collect()
}

/// Calls `each` with every order of the elements from `from` on.
fn orders(order: &mut [usize], from: usize, each: &mut dyn FnMut(&[usize])) {
    if from + 1 >= order.len() {
        return each(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        orders(order, from + 1, each);
        order.swap(from, at);
    }
}

/// The number of edges between each two vertices.
fn distances(pattern: &Pattern) -> Vec<Vec<f64>> {
    let n = pattern.vertices();
    let mut steps = vec![vec![n as f64; n]; n];
    for (i, row) in steps.iter_mut().enumerate() {
        for (j, step) in row.iter_mut().enumerate() {
            if i == j {
                *step = 0.0;
            } else if pattern.has_edge(i, j) {
                *step = 1.0;
            }
        }
    }
    for via in 0..n {
        for i in 0..n {
            for j in 0..n {
                steps[i][j] = steps[i][j].min(steps[i][via] + steps[via][j]);
            }
        }
    }
    steps
}

/// Moves vertices until their distances are about those in the pattern: stress majorisation (Gansner,
/// Koren and North, Graph Drawing 2004), one vertex at a time.
fn relaxed(mut places: Vec<Point>, steps: &[Vec<f64>]) -> Vec<Point> {
    const ROUNDS: usize = 150;
    for _ in 0..ROUNDS {
        for i in 0..places.len() {
            let (mut sum, mut weights) = (Point::default(), 0.0);
            for (j, other) in places.iter().enumerate().filter(|&(j, _)| j != i) {
                let wanted = steps[i][j];
                let weight = wanted.powi(-2);
                let between = places[i].minus(*other);
                let scale = wanted / between.length().max(1e-9);
                sum.x += weight * (other.x + between.x * scale);
                sum.y += weight * (other.y + between.y * scale);
                weights += weight;
            }
            places[i] = Point { x: sum.x / weights, y: sum.y / weights };
        }
    }
    places
}

fn scattered(n: usize, random: &mut Random) -> Vec<Point> {
    (0..n).map(|_| Point { x: random.next(), y: random.next() }).collect()
}

/// Marsaglia's xorshift: layouts must be the same in every run.
struct Random(u64);

impl Random {
    /// 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for at in (1..items.len()).rev() {
            items.swap(at, ((at + 1) as f64 * self.next()) as usize);
        }
    }
}
