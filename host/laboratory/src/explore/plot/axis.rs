//! Axes: positions of ticks, and labels that do not overlap.

use std::ops::Range;

use gramer_picture::number::{grouped, power_of_ten};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::Plot;

/// An axis whose ticks are chosen here.
pub(super) struct Axis {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<f64>,
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

impl Axis {
    /// The y axis of a plot, the same for all of its panels; of logarithms on a logarithmic one.
    pub(super) fn of_values(plot: &Plot) -> Axis {
        let (low, high) = if plot.logarithmic { logarithms(plot) } else { values(plot) };
        let ticks = match plot.logarithmic {
            true => (low as i32..=high as i32).map(f64::from).collect(),
            false => {
                let step = step((high - low) / 6.0);
                let from = (low / step).ceil() as i64;
                let to = (high / step).floor() as i64;
                (from..=to).map(|i| i as f64 * step).collect()
            }
        };
        Axis { low, high, ticks }
    }
}

/// Decades around the values.
fn logarithms(plot: &Plot) -> (f64, f64) {
    let all = plot.series.iter().flat_map(|s| &s.points).map(|p| p.1);
    let logs = || all.clone().filter(|y| y.is_finite() && *y > 0.0).map(libm::log10);
    let low = logs().fold(f64::INFINITY, f64::min);
    let high = logs().fold(f64::NEG_INFINITY, f64::max);
    match low <= high {
        true => ((low - 0.05).floor(), (high + 0.05).ceil()),
        false => (0.0, 1.0),
    }
}

/// Lowest and highest value, with some room. Areas begin at 0; so do lines and dots, unless 0 would leave most of the
/// plot empty: they show differences, which the axis has in numbers.
fn values(plot: &Plot) -> (f64, f64) {
    if plot.kind == super::Kind::Stacked {
        return (0.0, 100.0);
    }
    let all = || plot.series.iter().flat_map(|s| &s.points).filter(|p| p.1.is_finite());
    let low = all().map(|p| p.1 - p.2).fold(f64::INFINITY, f64::min);
    let high = all().map(|p| p.1 + p.2).fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return (0.0, 1.0);
    }
    // Less than a fiftieth is no difference to look at.
    let spread = (high - low).max(0.02 * high);
    let far = high > low && low > 2.0 * spread;
    let low = if far { high - spread } else { low.min(0.0) };
    let high = if high > low { high } else { low + 1.0 };
    let room = 0.06 * (high - low);
    (if low == 0.0 { 0.0 } else { low - room }, high + room)
}

/// A distance between ticks that people like: 1, 2 or 5 times a power of ten, at least `least`.
fn step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(least.max(1e-12)).floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|t| t * power >= least).unwrap_or(10.0);
    times * power
}

/// The name of a tick.
pub(super) fn name(value: f64, logarithmic: bool) -> String {
    match logarithmic {
        true if value >= 0.0 => power_of_ten(value.round() as u32),
        true => readable(libm::pow(10.0, value)),
        false => readable(value),
    }
}

/// A number of an axis: no more digits than it needs, millions by a letter.
pub(super) fn readable(value: f64) -> String {
    let (value, unit) = match value.abs() {
        a if a >= 1e9 => (value / 1e9, " G"),
        a if a >= 1e6 => (value / 1e6, " M"),
        a if a >= 1e3 && value.fract() == 0.0 => {
            let sign = if value < 0.0 { "-" } else { "" };
            return format!("{sign}{}", grouped(a as u128));
        }
        _ => (value, ""),
    };
    let text = format!("{value:.3}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// About the width of a text in pixels: no font is at hand to measure it, and this is that of a wide one.
pub(super) fn width(text: &str, size: i32) -> i32 {
    (text.chars().count() as f64 * f64::from(size) * 0.56).ceil() as i32
}

/// Names in lines, broken at spaces, none wider than `room`; a name that can't be broken so stays long.
pub(super) fn wrapped(name: &str, size: i32, room: i32) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// Every how many ticks have a name, so that none lies on the next.
pub(super) fn every(names: &[Vec<String>], size: i32, spacing: i32) -> usize {
    let widest = names.iter().flatten().map(|line| width(line, size)).max().unwrap_or(0);
    ((widest + 2) as usize).div_ceil(spacing.max(1) as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_axis_are_short() {
        let all = [0.0, 0.25, 12.0, 9000.0, 25e3, 1.5e6, 2e9].map(readable);
        assert_eq!(all, ["0", "0.25", "12", "9,000", "25,000", "1.5 M", "2 G"]);
        assert_eq!([step(0.3), step(7.0), step(1000.0)], [0.5, 10.0, 1000.0]);
        assert_eq!([name(0.0, true), name(5.0, true)], ["10⁰", "10⁵"]);
    }

    #[test]
    fn names_that_have_no_room_are_broken_or_left_out() {
        assert_eq!(wrapped("uniform-lru and more", 12, 80), ["uniform-lru", "and more"]);
        let names: Vec<Vec<String>> = (0..20).map(|n| vec![format!("1000{n}")]).collect();
        assert_eq!(every(&names, 12, 60), 1);
        assert_eq!(every(&names, 12, 30), 2);
    }
}
