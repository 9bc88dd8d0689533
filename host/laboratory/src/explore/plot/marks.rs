//! Colour, dash and marker of each series.

use gramer_picture::colour::{Colour, SERIES};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::Failure;

/// Shapes of the markers.
pub(super) const MARKERS: usize = 12;
/// Dash and gap of the lines in pixels; the first is solid.
const DASHES: [Option<(i32, i32)>; 5] =
    [None, Some((9, 4)), Some((3, 3)), Some((15, 5)), Some((5, 9))];

/// The colour of series `at`: that of the pages.
pub(super) fn colour(at: usize) -> RGBColor {
    rgb(SERIES[at % SERIES.len()])
}

/// A colour of the pages in the form of plotters.
pub(super) fn rgb(Colour(r, g, b): Colour) -> RGBColor {
    RGBColor(r, g, b)
}

/// The line of series `at`.
pub(super) fn line(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    at: usize,
    path: Vec<(i32, i32)>,
) -> Result<(), Failure> {
    let style = colour(at).stroke_width(2);
    match DASHES[at % DASHES.len()] {
        None => root.draw(&PathElement::new(path, style))?,
        Some((size, gap)) => root.draw(&DashedPathElement::new(path, size, gap, style))?,
    }
    Ok(())
}

/// The marker of series `at`: shape and filling differ from those of its neighbours.
pub(super) fn marker(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    at: usize,
    (x, y): (i32, i32),
) -> Result<(), Failure> {
    let colour = colour(at);
    let outline = colour.stroke_width(2);
    let polygon = |corners: &[(i32, i32)]| -> Vec<(i32, i32)> {
        corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
    };
    let closed = |corners: &[(i32, i32)]| {
        let mut path = polygon(corners);
        path.push(path[0]);
        PathElement::new(path, outline)
    };
    const SQUARE: [(i32, i32); 4] = [(-4, -4), (4, -4), (4, 4), (-4, 4)];
    const TRIANGLE: [(i32, i32); 3] = [(0, -6), (5, 4), (-5, 4)];
    const DIAMOND: [(i32, i32); 4] = [(0, -6), (6, 0), (0, 6), (-6, 0)];
    const INVERTED: [(i32, i32); 3] = [(0, 6), (5, -4), (-5, -4)];
    match at % MARKERS {
        0 => root.draw(&Circle::new((x, y), 5, colour.filled()))?,
        1 => root.draw(&closed(&SQUARE))?,
        2 => root.draw(&Polygon::new(polygon(&TRIANGLE), colour.filled()))?,
        3 => root.draw(&closed(&DIAMOND))?,
        4 => root.draw(&Cross::new((x, y), 5, outline))?,
        5 => root.draw(&Polygon::new(polygon(&SQUARE), colour.filled()))?,
        6 => root.draw(&Circle::new((x, y), 5, outline))?,
        7 => root.draw(&closed(&INVERTED))?,
        8 => root.draw(&Polygon::new(polygon(&DIAMOND), colour.filled()))?,
        9 => {
            root.draw(&PathElement::new([(x - 6, y), (x + 6, y)], outline))?;
            root.draw(&PathElement::new([(x, y - 6), (x, y + 6)], outline))?;
        }
        10 => root.draw(&closed(&TRIANGLE))?,
        _ => root.draw(&Polygon::new(polygon(&INVERTED), colour.filled()))?,
    }
    Ok(())
}
