//! Plots as SVG: axes with units, and series that differ in marker and dash as well as in colour. Many lines are
//! drawn as small multiples on the same axes, one panel for each graph.

mod axis;
mod marks;
mod panel;

use gramer_picture::colour::{INK, PAPER, dark_style};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use axis::{Axis, name, width};
use marks::{colour, line, marker, rgb};

/// Width of a plot in pixels, and height of its one panel or of each row of several.
const WIDTH: u32 = 800;
const HEIGHT: i32 = 370;
const LOW: i32 = 270;
/// Height of the strip with the title, and of each row of the legend.
const TITLE: i32 = 34;
const ROW: i32 = 20;
/// Most panels side by side.
const ACROSS: usize = 3;
/// Size of the legend's letters.
const LETTERS: i32 = 13;

/// How values are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines between the points of a series: the x axis has an order.
    Lines,
    /// Dots: the points of the x axis are categories.
    Dots,
    /// Bars of categories, with the series on each other: parts of 100 %.
    Stacked,
}

/// A line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Panel that it is drawn in; all empty for a plot of one.
    pub panel: String,
    /// Position on the x axis (an index of [`Plot::x`]), value, and half the interval that the value
    /// is known with (0: exactly).
    pub points: Vec<(usize, f64, f64)>,
}

impl Series {
    /// A series without points, in a plot of one panel.
    pub fn new(name: &str) -> Series {
        Series::of("", name.to_string())
    }

    /// A series without points in a panel.
    pub fn of(panel: &str, name: String) -> Series {
        Series { name, panel: panel.to_string(), points: vec![] }
    }
}

/// A plot. Its x axis has the points at equal distances, as they are named.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Title.
    pub title: String,
    /// Title of the x axis, with its unit.
    pub x_title: String,
    /// Title of the y axis, with its unit.
    pub y_title: String,
    /// The points of the x axis.
    pub x: Vec<String>,
    /// Common label of consecutive points, printed below their names; may be empty.
    pub groups: Vec<String>,
    /// How values are drawn.
    pub kind: Kind,
    /// The y axis in powers of ten. Values that aren't positive are left out.
    pub logarithmic: bool,
    /// The series.
    pub series: Vec<Series>,
}

type Failure = Box<dyn std::error::Error>;

impl Plot {
    /// The plot as an SVG document with a title and a description, which follows the viewer's choice of a dark
    /// screen. Points that aren't finite numbers are left out.
    ///
    /// # Panics
    /// Never for finite numbers: drawing into a string can't fail.
    pub fn svg(&self) -> String {
        let mut text = String::new();
        let (panels, names) = (self.panels(), self.names());
        let across = panels.len().min(ACROSS);
        let legend = Legend::of(&names);
        let rows = panels.len().div_ceil(across);
        let row = if panels.len() > 1 { LOW } else { HEIGHT };
        let top = TITLE + legend.rows() * ROW + 6;
        let size = (WIDTH, (top + rows as i32 * row) as u32);
        {
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            self.draw(&root, top, (rows, across), &panels, &names)
                .expect("a string takes everything");
        }
        let start =
            format!("<svg class=\"gramer\" role=\"img\" aria-label=\"{}\" ", escaped(&self.title));
        let text = text.replacen("<svg ", &start, 1);
        let head = format!(
            "<title>{}</title>\n<desc>{}</desc>\n<style>{}</style>",
            escaped(&self.title),
            escaped(&self.description(&panels, &names)),
            dark_style()
        );
        match text.split_once('>') {
            Some((start, rest)) => format!("{start}>\n{head}{rest}"),
            None => text,
        }
    }

    /// The panels, in the order of their first series; one at least.
    fn panels(&self) -> Vec<&str> {
        let mut all: Vec<&str> = vec![];
        for series in &self.series {
            if !all.contains(&series.panel.as_str()) {
                all.push(&series.panel);
            }
        }
        if all.is_empty() { vec![""] } else { all }
    }

    /// The names of the series, each once; its place is its colour.
    fn names(&self) -> Vec<&str> {
        let mut all: Vec<&str> = vec![];
        for series in &self.series {
            if !all.contains(&series.name.as_str()) {
                all.push(&series.name);
            }
        }
        all
    }

    /// What the plot shows, for those who don't see it.
    fn description(&self, panels: &[&str], names: &[&str]) -> String {
        let values = || self.series.iter().flat_map(|s| &s.points).map(|p| p.1);
        let finite = || values().filter(|y| y.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let y = match low <= high {
            true => format!(", {} to {}", axis::readable(low), axis::readable(high)),
            false => String::new(),
        };
        let scale = if self.logarithmic { " (logarithmic)" } else { "" };
        let panels = match panels.len() {
            1 => String::new(),
            _ => format!(" Panels: {}.", panels.join(", ")),
        };
        format!(
            "x axis: {} ({}). y axis: {}{scale}{y}. Series: {}.{panels}",
            self.x_title,
            self.x.join(", "),
            self.y_title,
            names.join(", ")
        )
    }

    fn draw(
        &self,
        root: &DrawingArea<SVGBackend<'_>, Shift>,
        top: i32,
        shape: (usize, usize),
        panels: &[&str],
        names: &[&str],
    ) -> Result<(), Failure> {
        root.fill(&rgb(PAPER))?;
        let centred = Pos::new(HPos::Center, VPos::Center);
        let title =
            ("sans-serif", 17).into_font().color(&rgb(INK)).into_text_style(root).pos(centred);
        root.draw_text(&self.title, &title, (WIDTH as i32 / 2, TITLE / 2))?;
        self.legend(root, names)?;
        let (_, area) = root.split_vertically(top);
        for (at, (area, panel)) in area.split_evenly(shape).iter().zip(panels).enumerate() {
            let y_title = if at % shape.1 == 0 { self.y_title.as_str() } else { "" };
            self.panel(root, area, panel, names, y_title)?;
        }
        Ok(())
    }

    fn legend(
        &self,
        root: &DrawingArea<SVGBackend<'_>, Shift>,
        names: &[&str],
    ) -> Result<(), Failure> {
        let style = ("sans-serif", LETTERS).into_font().color(&rgb(INK)).into_text_style(root);
        let style = style.pos(Pos::new(HPos::Left, VPos::Center));
        let legend = Legend::of(names);
        if legend.rows() == 0 {
            return Ok(());
        }
        for (at, name) in names.iter().enumerate() {
            let x = 60 + (at % legend.across) as i32 * legend.width;
            let y = TITLE + (at / legend.across) as i32 * ROW + ROW / 2;
            match self.kind {
                Kind::Stacked => {
                    let corners = [(x + 14, y - 6), (x + 26, y + 6)];
                    root.draw(&Rectangle::new(corners, colour(at).filled()))?;
                }
                Kind::Lines => {
                    line(root, at, vec![(x, y), (x + 40, y)])?;
                    marker(root, at, (x + 20, y))?;
                }
                Kind::Dots => marker(root, at, (x + 20, y))?,
            }
            root.draw_text(name, &style, (x + 46, y))?;
        }
        Ok(())
    }
}

/// Where the names of the series stand.
struct Legend {
    names: usize,
    across: usize,
    /// Of each name, in pixels.
    width: i32,
}

impl Legend {
    fn of(names: &[&str]) -> Self {
        let room = WIDTH as i32 - 80;
        let longest = names.iter().map(|name| width(name, LETTERS)).max().unwrap_or(0);
        let width = (longest + 60).min(room);
        Legend { names: names.len(), across: (room / width).max(1) as usize, width }
    }

    /// One series needs no legend: the title and the axis name it.
    fn rows(&self) -> i32 {
        if self.names < 2 { 0 } else { self.names.div_ceil(self.across) as i32 }
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use gramer_picture::colour::{Colour, MUTED, SERIES};

    use super::marks::MARKERS;
    use super::*;

    fn plot() -> Plot {
        Plot {
            title: "Cycles & slots".into(),
            x_title: "slots of a PU".into(),
            y_title: "time in ms".into(),
            x: ["1", "2", "4"].map(String::from).to_vec(),
            groups: vec![],
            kind: Kind::Lines,
            logarithmic: false,
            series: ["stealing", "no stealing"]
                .map(|name| Series {
                    name: name.into(),
                    panel: String::new(),
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
                let root = SVGBackend::with_string(&mut text, (WIDTH, 400)).into_drawing_area();
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
    fn the_published_plots_have_these_colours() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/paper");
        let hex = |c: Colour| c.to_string().trim_start_matches('#').to_uppercase();
        let known: Vec<String> = SERIES.into_iter().chain([INK, MUTED, PAPER]).map(hex).collect();
        let mut plots = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "svg") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            // The rules for a dark screen name them as well.
            let (_, drawn) = text.split_once("</style>").expect("it has a style");
            for part in drawn.split("=\"#").skip(1) {
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
    fn a_plot_has_a_title_a_description_and_a_dark_form() {
        let svg = plot().svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
        let root = document.root_element();
        let names: Vec<&str> =
            root.children().filter(|n| n.is_element()).map(|n| n.tag_name().name()).collect();
        assert_eq!(names[..4], ["title", "desc", "style", "rect"]);
        let said = root.children().find(|n| n.has_tag_name("desc")).and_then(|n| n.text()).unwrap();
        assert_eq!(
            said,
            "x axis: slots of a PU (1, 2, 4). y axis: time in ms, 2.5 to 4. Series: stealing, no stealing."
        );
        assert_eq!(
            (root.attribute("class"), root.attribute("role")),
            (Some("gramer"), Some("img"))
        );
    }

    #[test]
    fn one_series_has_no_legend_and_many_have_panels() {
        let texts = |plot: &Plot| {
            let svg = plot.svg();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let texts = document.descendants().filter(|n| n.has_tag_name("text"));
            texts.map(|n| n.text().unwrap_or_default().trim().to_string()).collect::<Vec<_>>()
        };
        let mut p = plot();
        p.series.truncate(1);
        assert!(!texts(&p).contains(&"stealing".to_string()));
        let mut p = plot();
        p.series = ["a", "b", "c", "d"]
            .into_iter()
            .flat_map(|panel| {
                plot().series.into_iter().map(move |s| Series { panel: panel.into(), ..s })
            })
            .collect();
        let found = texts(&p);
        let count = |wanted: &str| found.iter().filter(|t| *t == wanted).count();
        assert_eq!(
            ["a", "d", "stealing", "time in ms", "slots of a PU"].map(count),
            [1, 1, 1, 2, 4]
        );
    }

    #[test]
    fn parts_lie_on_each_other() {
        let mut p = plot();
        p.kind = Kind::Stacked;
        p.series[0].points = vec![(0, 30.0, 0.0), (1, 20.0, 0.0)];
        p.series[1].points = vec![(0, 70.0, 0.0), (1, 80.0, 0.0)];
        let svg = p.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let number = |n: roxmltree::Node<'_, '_>, name: &str| {
            n.attribute(name).unwrap().parse::<f64>().unwrap()
        };
        let bars = |colour: &str| {
            let of = document
                .descendants()
                .filter(|n| n.has_tag_name("rect") && n.attribute("fill") == Some(colour));
            // The first is of the legend.
            of.skip(1).map(|n| (number(n, "y"), number(n, "height"))).collect::<Vec<_>>()
        };
        let (lower, upper) = (bars("#0072B2"), bars("#C97200"));
        assert_eq!((lower.len(), upper.len()), (2, 2));
        for (low, up) in lower.iter().zip(&upper) {
            assert!((up.0 + up.1 - low.0).abs() < 1.5, "{up:?} on {low:?}");
        }
    }

    #[test]
    fn values_far_from_zero_fill_the_plot() {
        let ticks = |low: f64, high: f64| {
            let mut p = plot();
            p.series.truncate(1);
            p.series[0].points = vec![(0, low, 0.0), (1, high, 0.0)];
            Axis::of_values(&p).low
        };
        assert!(ticks(95.0, 99.0) > 90.0);
        assert_eq!(ticks(10.0, 99.0), 0.0);
        assert_eq!(ticks(5.0, 5.0), 0.0);
    }
}
