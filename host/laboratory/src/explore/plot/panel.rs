//! One panel of a plot: its axes and what is drawn on them.

use gramer_picture::colour::{INK, MUTED, PAPER};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{every, readable, wrapped};
use super::{Axis, Failure, Kind, Plot, colour, line, marker, name, rgb};

/// Size of the letters of the x axis.
const SMALL: i32 = 12;
/// Height of a line of them.
const LINE: i32 = 14;
/// Maximum number of dots that are labelled with their value.
const VALUES: usize = 12;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// The names below the x axis.
struct Names {
    lines: Vec<Vec<String>>,
    every: usize,
}

impl Plot {
    /// Draws the series of a panel.
    pub(super) fn panel(
        &self,
        root: &Area<'_>,
        area: &Area<'_>,
        panel: &str,
        series_names: &[&str],
        y_title: &str,
    ) -> Result<(), Failure> {
        let last = self.x.len().saturating_sub(1) as f64;
        let across = area.dim_in_pixel().0 as i32 - 100;
        let spacing = across / self.x.len().max(1) as i32;
        let lines: Vec<_> = self.x.iter().map(|x| wrapped(x, SMALL, spacing - 6)).collect();
        let names = Names { every: every(&lines, SMALL, spacing), lines };
        let high = names.lines.iter().map(Vec::len).max().unwrap_or(1) as i32 * LINE;
        let below = high + if self.groups.is_empty() { 0 } else { LINE + 8 } + 26;
        let y_axis = Axis::of_values(self);
        let range = (y_axis.low, y_axis.high);
        let x_axis = Axis { low: -0.5, high: last + 0.5, ticks: vec![] };
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(18)
            .caption(panel, ("sans-serif", 14).into_font().color(&rgb(INK)))
            .x_label_area_size(below)
            .y_label_area_size(if y_title.is_empty() { 52 } else { 72 })
            .build_cartesian_2d(x_axis, y_axis)?;
        let number = |y: &f64| name(*y, self.logarithmic);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(rgb(MUTED).mix(0.3))
            .axis_style(rgb(MUTED))
            .y_label_formatter(&number)
            .x_desc(&self.x_title)
            .y_desc(y_title)
            .label_style(("sans-serif", 13).into_font().color(&rgb(INK)))
            .axis_desc_style(("sans-serif", 14).into_font().color(&rgb(INK)))
            .draw()?;
        self.names_below(root, &chart, &names, range.0)?;
        match self.kind {
            Kind::Stacked => self.stacked(root, &chart, panel, series_names),
            _ => self.points(root, &chart, panel, series_names, range),
        }
    }

    /// The names of the points of the x axis, and below them those of groups.
    fn names_below(
        &self,
        root: &Area<'_>,
        chart: &Chart<'_, '_>,
        names: &Names,
        low: f64,
    ) -> Result<(), Failure> {
        let style = ("sans-serif", SMALL).into_font().color(&rgb(INK)).into_text_style(root);
        let style = style.pos(Pos::new(HPos::Center, VPos::Center));
        let mut most = 0;
        for (at, lines) in names.lines.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(at as f64, low));
            root.draw(&PathElement::new([(x, y), (x, y + 5)], rgb(MUTED)))?;
            if at % names.every > 0 {
                continue;
            }
            for (number, text) in lines.iter().enumerate() {
                root.draw_text(text, &style, (x, y + 14 + number as i32 * LINE))?;
                most = most.max(number as i32 + 1);
            }
        }
        let mut at = 0;
        for group in self.groups.chunk_by(|a, b| a == b) {
            let (from, y) = chart.backend_coord(&(at as f64 - 0.42, low));
            at += group.len();
            let (to, _) = chart.backend_coord(&(at as f64 - 0.58, low));
            let y = y + 10 + most * LINE;
            root.draw(&PathElement::new([(from, y), (to, y)], rgb(MUTED)))?;
            let shown = wrapped(&group[0], SMALL, to - from).concat();
            root.draw_text(&shown, &style, ((from + to) / 2, y + 9))?;
        }
        Ok(())
    }

    /// The series of a panel, each with the place of its name.
    fn of<'a>(
        &'a self,
        panel: &'a str,
        names: &'a [&str],
    ) -> impl Iterator<Item = (usize, &'a super::Series)> {
        let series = self.series.iter().filter(move |s| s.panel == panel);
        series.map(|s| (names.iter().position(|name| *name == s.name).unwrap_or(0), s))
    }

    /// Bars whose parts lie on each other.
    fn stacked(
        &self,
        root: &Area<'_>,
        chart: &Chart<'_, '_>,
        panel: &str,
        names: &[&str],
    ) -> Result<(), Failure> {
        let mut tops = vec![0.0; self.x.len()];
        for (at, series) in self.of(panel, names) {
            for &(x, y, _) in series.points.iter().filter(|p| p.1.is_finite()) {
                let Some(top) = tops.get_mut(x) else { continue };
                let from = chart.backend_coord(&(x as f64 - 0.32, *top));
                *top += y;
                let to = chart.backend_coord(&(x as f64 + 0.32, *top));
                root.draw(&Rectangle::new([from, to], colour(at).filled()))?;
                // Parts differ by more than their colour: a line between them.
                root.draw(&PathElement::new([(from.0, to.1), to], rgb(PAPER)))?;
            }
        }
        Ok(())
    }

    /// Lines or dots.
    fn points(
        &self,
        root: &Area<'_>,
        chart: &Chart<'_, '_>,
        panel: &str,
        names: &[&str],
        (low, high): (f64, f64),
    ) -> Result<(), Failure> {
        let height = |y: f64| if self.logarithmic { libm::log10(y) } else { y };
        let shown = |y: f64| y.is_finite() && (!self.logarithmic || y > 0.0);
        let count = names.len().max(1);
        let few = self.series.iter().map(|s| s.points.len()).sum::<usize>() <= VALUES;
        let style = ("sans-serif", SMALL).into_font().color(&rgb(INK)).into_text_style(root);
        let style = style.pos(Pos::new(HPos::Center, VPos::Bottom));
        for (at, series) in self.of(panel, names) {
            // Categories stand side by side, so that no marker hides another.
            let aside = match self.kind {
                Kind::Lines => 0.0,
                _ => (at as f64 + 0.5) / count as f64 * 0.6 - 0.3,
            };
            let pixel = |x: usize, y: f64| {
                chart.backend_coord(&(x as f64 + aside, height(y).clamp(low, high)))
            };
            let points: Vec<_> = series.points.iter().filter(|p| shown(p.1)).collect();
            if self.kind == Kind::Lines {
                let path: Vec<(i32, i32)> = points.iter().map(|p| pixel(p.0, p.1)).collect();
                line(root, at, path)?;
            }
            for &&(x, y, half) in &points {
                if half > 0.0 {
                    let least = if self.logarithmic { y / 10.0 } else { f64::MIN };
                    let (above, below) = (pixel(x, y + half), pixel(x, (y - half).max(least)));
                    root.draw(&PathElement::new([above, below], colour(at)))?;
                    for (x, y) in [above, below] {
                        root.draw(&PathElement::new([(x - 4, y), (x + 4, y)], colour(at)))?;
                    }
                }
                let place = pixel(x, y);
                marker(root, at, place)?;
                if self.kind == Kind::Dots && few {
                    root.draw_text(&readable(y), &style, (place.0, place.1 - 8))?;
                }
            }
        }
        Ok(())
    }
}
