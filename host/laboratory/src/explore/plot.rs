//! Plots as SVG: axes with units, and series that differ in marker and dash as well as in colour.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height of a plot in pixels.
const SIZE: (u32, u32) = (800, 430);
/// Height of the strip with the title, and of each row of the legend.
const TITLE: i32 = 34;
const ROW: i32 = 20;
/// Legend entries in a row.
const A_ROW: usize = 3;
/// Colours that people with any colour vision tell apart, also where lines are thin: most are Okabe and Ito's.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(80, 80, 80),
    RGBColor(86, 180, 233),
    RGBColor(105, 45, 0),
];
/// Shapes of the markers.
const MARKERS: usize = 12;
/// Dash and gap of the lines in pixels; the first is solid.
const DASHES: [Option<(i32, i32)>; 5] =
    [None, Some((9, 4)), Some((3, 3)), Some((15, 5)), Some((5, 9))];

/// A line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Position on the x axis (an index of [`Plot::x`]), value, and half the interval that the value
    /// is known with (0: exactly).
    pub points: Vec<(usize, f64, f64)>,
}

/// A plot. Its x axis has the points at equal distances, as they are named.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// Title of the x axis, with its unit.
    pub x_title: String,
    /// Title of the y axis, with its unit.
    pub y_title: String,
    /// The points of the x axis.
    pub x: Vec<String>,
    /// Lines between the points of a series; without them the points are categories.
    pub lines: bool,
    /// The y axis in powers of ten. Values that aren't positive are left out.
    pub logarithmic: bool,
    /// The series.
    pub series: Vec<Series>,
}

type Failure = Box<dyn std::error::Error>;

impl Plot {
    /// The plot as an SVG document. Points that aren't finite numbers are left out.
    ///
    /// # Panics
    /// Never for finite numbers: drawing into a string can't fail.
    pub fn svg(&self) -> String {
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            self.draw(&root).expect("a string takes everything");
        }
        text
    }

    fn draw(&self, root: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Failure> {
        root.fill(&WHITE)?;
        let centred = Pos::new(HPos::Center, VPos::Center);
        let title = ("sans-serif", 17).into_font().into_text_style(root).pos(centred);
        root.draw_text(&self.title, &title, (SIZE.0 as i32 / 2, TITLE / 2))?;
        let rows = self.series.len().div_ceil(A_ROW) as i32;
        self.legend(root)?;
        let height = |y: f64| if self.logarithmic { libm::log10(y) } else { y };
        let shown = |y: f64| y.is_finite() && (!self.logarithmic || y > 0.0);
        let (low, high) = self.range();
        let (_, area) = root.split_vertically(TITLE + rows * ROW);
        let last = self.x.len().saturating_sub(1) as f64;
        let x_ticks = (0..self.x.len()).map(|i| i as f64).collect();
        let x_axis = Axis { low: -0.4, high: last + 0.4, ticks: x_ticks };
        let name = |x: &f64| self.x.get(x.round() as usize).cloned().unwrap_or_default();
        let number = |y: &f64| readable(if self.logarithmic { libm::pow(10.0, *y) } else { *y });
        let ticks: Vec<f64> = match self.logarithmic {
            true => (low.floor() as i32..=high.ceil() as i32).map(f64::from).collect(),
            false => {
                let step = step((high - low) / 6.0);
                let from = (low / step).ceil() as i64;
                let to = (high / step).floor() as i64;
                (from..=to).map(|i| i as f64 * step).collect()
            }
        };
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .margin_right(18)
            .x_label_area_size(46)
            .y_label_area_size(74)
            .build_cartesian_2d(x_axis, Axis { low, high, ticks })?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .x_labels(self.x.len().max(1))
            .x_label_formatter(&name)
            .y_label_formatter(&number)
            .x_desc(&self.x_title)
            .y_desc(&self.y_title)
            // Many names stand close to each other.
            .label_style(("sans-serif", if self.x.len() > 9 { 11 } else { 13 }))
            .axis_desc_style(("sans-serif", 14))
            .draw()?;
        let count = self.series.len();
        for (at, series) in self.series.iter().enumerate() {
            // Categories stand side by side, so that no marker hides another.
            let aside = if self.lines { 0.0 } else { (at as f64 + 0.5) / count as f64 * 0.6 - 0.3 };
            let pixel = |x: usize, y: f64| {
                chart.backend_coord(&(x as f64 + aside, height(y).clamp(low, high)))
            };
            let points: Vec<_> = series.points.iter().filter(|p| shown(p.1)).collect();
            if self.lines {
                let path: Vec<(i32, i32)> = points.iter().map(|p| pixel(p.0, p.1)).collect();
                line(root, at, path)?;
            }
            for &&(x, y, half) in &points {
                let colour = COLOURS[at % COLOURS.len()];
                if half > 0.0 {
                    let least = if self.logarithmic { y / 10.0 } else { f64::MIN };
                    let (above, below) = (pixel(x, y + half), pixel(x, (y - half).max(least)));
                    root.draw(&PathElement::new([above, below], colour))?;
                    for (x, y) in [above, below] {
                        root.draw(&PathElement::new([(x - 4, y), (x + 4, y)], colour))?;
                    }
                }
                marker(root, at, pixel(x, y))?;
            }
        }
        Ok(())
    }

    /// Lowest and highest y (their logarithms on a logarithmic axis), with some room.
    fn range(&self) -> (f64, f64) {
        let all = || self.series.iter().flat_map(|s| &s.points).filter(|p| p.1.is_finite());
        if self.logarithmic {
            let logs = || all().filter(|p| p.1 > 0.0).map(|p| libm::log10(p.1));
            let low = logs().fold(f64::INFINITY, f64::min);
            let high = logs().fold(f64::NEG_INFINITY, f64::max);
            return match low <= high {
                true => ((low - 0.1).floor(), (high + 0.1).ceil()),
                false => (0.0, 1.0),
            };
        }
        let low = all().map(|p| p.1 - p.2).fold(0.0, f64::min);
        let high = all().map(|p| p.1 + p.2).fold(low, f64::max);
        let high = if high > low { high } else { low + 1.0 };
        (if low < 0.0 { low - 0.06 * (high - low) } else { 0.0 }, high + 0.06 * (high - low))
    }

    fn legend(&self, root: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Failure> {
        let style = ("sans-serif", 13).into_font().into_text_style(root);
        let style = style.pos(Pos::new(HPos::Left, VPos::Center));
        let width = (SIZE.0 as i32 - 90) / A_ROW as i32;
        for (at, series) in self.series.iter().enumerate() {
            let x = 80 + (at % A_ROW) as i32 * width;
            let y = TITLE + (at / A_ROW) as i32 * ROW + ROW / 2;
            if self.lines {
                line(root, at, vec![(x, y), (x + 44, y)])?;
            }
            marker(root, at, (x + 22, y))?;
            root.draw_text(&series.name, &style, (x + 50, y))?;
        }
        Ok(())
    }
}

/// An axis whose ticks are chosen here.
struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Ranged for Axis {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {}

/// The line of series `at`.
fn line(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    at: usize,
    path: Vec<(i32, i32)>,
) -> Result<(), Failure> {
    let style = COLOURS[at % COLOURS.len()].stroke_width(2);
    match DASHES[at % DASHES.len()] {
        None => root.draw(&PathElement::new(path, style))?,
        Some((size, gap)) => root.draw(&DashedPathElement::new(path, size, gap, style))?,
    }
    Ok(())
}

/// The marker of series `at`: shape and filling differ from those of its neighbours.
fn marker(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    at: usize,
    (x, y): (i32, i32),
) -> Result<(), Failure> {
    let colour = COLOURS[at % COLOURS.len()];
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

/// A distance between ticks that people like: 1, 2 or 5 times a power of ten, at least `least`.
fn step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(least.max(1e-12)).floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|t| t * power >= least).unwrap_or(10.0);
    times * power
}

/// A number of an axis: no more digits than it needs, thousands and millions by a letter.
fn readable(value: f64) -> String {
    let (value, unit) = match value.abs() {
        a if a >= 1e9 => (value / 1e9, " G"),
        a if a >= 1e6 => (value / 1e6, " M"),
        a if a >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let text = format!("{value:.3}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        Plot {
            title: "Cycles & slots".into(),
            x_title: "slots of a PU".into(),
            y_title: "time in ms".into(),
            x: ["1", "2", "4"].map(String::from).to_vec(),
            lines: true,
            logarithmic: false,
            series: ["stealing", "no stealing"]
                .map(|name| Series {
                    name: name.into(),
                    points: vec![(0, 4.0, 0.0), (1, 2.5, 0.5), (2, f64::NAN, 0.0)],
                })
                .to_vec(),
        }
    }

    #[test]
    fn a_plot_names_axes_and_series() {
        let svg = plot().svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
        let texts: Vec<String> = document
            .descendants()
            .filter(|n| n.has_tag_name("text"))
            .map(|n| n.text().unwrap_or_default().trim().to_string())
            .collect();
        for expected in
            ["Cycles & slots", "slots of a PU", "time in ms", "stealing", "no stealing", "1", "4"]
        {
            assert!(texts.iter().any(|t| t == expected), "{expected} is not in {texts:?}");
        }
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn series_differ_in_more_than_colour() {
        let drawn = |at: usize| {
            let mut text = String::new();
            {
                let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
                line(&root, at, vec![(0, 0), (100, 0)]).unwrap();
                marker(&root, at, (50, 0)).unwrap();
            }
            // Without the colours.
            regex_free(&text)
        };
        let all: Vec<String> = (0..4 * MARKERS).map(drawn).collect();
        for (i, one) in all.iter().enumerate() {
            assert!(!all[..i].contains(one), "series {i} looks like another");
        }
    }

    #[test]
    fn the_colour_blind_tell_series_apart() {
        use gramer_picture::colour::{Colour, PAPER, TOLD_APART, apart, contrast};
        let all = COLOURS.map(|RGBColor(r, g, b)| Colour(r, g, b));
        for (i, &a) in all.iter().enumerate() {
            for &b in &all[..i] {
                assert!(apart(a, b) > TOLD_APART, "{a} and {b} look alike: {}", apart(a, b));
            }
            assert!(contrast(a, PAPER) > 2.0, "{a} is pale");
        }
    }

    #[test]
    fn the_published_plots_have_these_colours() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/paper");
        let hex = |RGBColor(r, g, b): RGBColor| format!("{r:02X}{g:02X}{b:02X}");
        let known: Vec<String> =
            COLOURS.map(hex).into_iter().chain([hex(BLACK), hex(WHITE)]).collect();
        let mut plots = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "svg") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for part in text.split("=\"#").skip(1) {
                let colour = &part[..6];
                assert!(known.iter().any(|k| k == colour), "{} has {colour}", path.display());
            }
            plots += 1;
        }
        assert!(plots > 10);
    }

    /// Cuts what follows each `#` (six digits) out.
    fn regex_free(text: &str) -> String {
        let mut parts = text.split('#');
        let first = parts.next().unwrap_or_default().to_string();
        parts.fold(first, |all, part| all + part.get(6..).unwrap_or_default())
    }

    #[test]
    fn odd_values_are_drawn_or_left_out() {
        let mut p = plot();
        p.logarithmic = true;
        p.series[0].points = vec![(0, 0.0, 0.0), (1, 1e6, 2e6), (2, -1.0, 0.0)];
        assert!(p.svg().contains("<svg"));
        p.series.clear();
        assert!(p.svg().contains("<svg"));
        p.logarithmic = false;
        p.x.clear();
        assert!(p.svg().contains("<svg"));
    }

    #[test]
    fn numbers_of_an_axis_are_short() {
        let all = [0.0, 0.25, 12.0, 9000.0, 25e3, 1.5e6, 2e9].map(readable);
        assert_eq!(all, ["0", "0.25", "12", "9000", "25 k", "1.5 M", "2 G"]);
        assert_eq!([step(0.3), step(7.0), step(1000.0)], [0.5, 10.0, 1000.0]);
    }
}
