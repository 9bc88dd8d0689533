//! Patterns as characters, for terminals: the dots of Braille's alphabet.

use gramer_pattern::Pattern;

use crate::layout::{Layout, Point};

/// Dots of a character, across and down.
const DOTS: (usize, usize) = (2, 4);
/// Rows of characters of a picture.
pub const ROWS: usize = 3;
/// Characters of a row.
pub const COLUMNS: usize = 6;

/// A grid of dots.
struct Dots {
    set: [[bool; COLUMNS * DOTS.0]; ROWS * DOTS.1],
}

impl Dots {
    fn dot(&mut self, x: f64, y: f64) {
        let (x, y) = (x.round().max(0.0) as usize, y.round().max(0.0) as usize);
        if let Some(dot) = self.set.get_mut(y).and_then(|row| row.get_mut(x)) {
            *dot = true;
        }
    }

    fn line(&mut self, from: Point, to: Point) {
        let steps = (to.x - from.x).abs().max((to.y - from.y).abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            self.dot(from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part);
        }
    }

    fn vertex(&mut self, at: Point) {
        // Two dots by two, which are wider than a line.
        let (x, y) = (at.x.floor(), at.y.floor());
        for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            self.dot(x + dx, y + dy);
        }
    }

    fn text(&self) -> Vec<String> {
        /// The bit of each dot of a character, by row and column (Unicode, block Braille Patterns).
        const BITS: [[u32; DOTS.0]; DOTS.1] =
            [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let character = |row: usize, column: usize| {
            let mut bits = 0x2800;
            for (y, line) in BITS.iter().enumerate() {
                for (x, bit) in line.iter().enumerate() {
                    if self.set[row * DOTS.1 + y][column * DOTS.0 + x] {
                        bits |= bit;
                    }
                }
            }
            // A space is narrower in some fonts than an empty pattern of dots.
            char::from_u32(bits).unwrap_or(' ')
        };
        (0..ROWS).map(|row| (0..COLUMNS).map(|column| character(row, column)).collect()).collect()
    }
}

/// A pattern as [`ROWS`] lines of [`COLUMNS`] characters.
///
/// ```
/// let triangle = gramer_pattern::named("triangle").unwrap();
/// let lines = gramer_picture::characters::drawn(&triangle);
/// assert_eq!((lines.len(), lines[0].chars().count()), (3, 6));
/// ```
pub fn drawn(pattern: &Pattern) -> Vec<String> {
    let layout = Layout::of(pattern);
    let (width, height) = ((COLUMNS * DOTS.0) as f64 - 2.0, (ROWS * DOTS.1) as f64 - 2.0);
    // Dots are as far from each other down as across in most fonts.
    let scale = |side: f64, room: f64| if side > 0.0 { room / side } else { room };
    let scale = scale(layout.width, width).min(scale(layout.height, height));
    let (left, top) =
        ((width - layout.width * scale) / 2.0, (height - layout.height * scale) / 2.0);
    let place = |p: &Point| Point { x: left + p.x * scale, y: top + p.y * scale };
    let places: Vec<Point> = layout.places.iter().map(place).collect();
    let mut dots = Dots { set: Default::default() };
    let middle = |p: Point| Point { x: p.x + 0.5, y: p.y + 0.5 };
    for (i, j) in pattern.edges() {
        dots.line(middle(places[i]), middle(places[j]));
    }
    places.iter().for_each(|&place| dots.vertex(place));
    dots.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_pattern::{Dictionary, named};
    use std::collections::HashMap;

    #[test]
    fn pictures_have_one_size_and_patterns_of_a_size_differ() {
        for k in 1..=5 {
            let mut seen: HashMap<Vec<String>, &Pattern> = HashMap::new();
            for pattern in Dictionary::of(k).patterns() {
                let lines = drawn(pattern);
                assert_eq!(lines.len(), ROWS);
                assert!(lines.iter().all(|line| line.chars().count() == COLUMNS));
                if let Some(other) = seen.insert(lines, pattern) {
                    panic!("{pattern:?} and {other:?} look alike");
                }
            }
        }
    }

    #[test]
    fn the_largest_patterns_fit() {
        for name in ["16-clique", "15-star", "16-path"] {
            assert_eq!(drawn(&named(name).unwrap()).len(), ROWS);
        }
    }
}
