//! What a device measured of itself: numbers with a name and a unit, which a report prints without
//! knowing the device.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Measurements of one device during a task.
///
/// ```
/// use gramer_engine::metrics::{DeviceMetrics, Value};
///
/// let mut metrics = DeviceMetrics::of("card");
/// metrics.headline("core.cycles", "cycles", Value::Count(1200));
/// metrics.detail("cache.hits", "", Value::Counts(vec![3, 4]));
/// assert_eq!(metrics.count("core.cycles"), Some(1200));
/// assert_eq!(metrics.metrics[0].to_string(), "core.cycles: 1200 cycles");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceMetrics {
    /// The device's name.
    pub device: String,
    /// Metrics in the order of output; names are unique.
    pub metrics: Vec<Metric>,
}

/// A number with its name and unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// `section.name`.
    pub name: Cow<'static, str>,
    /// `cycles`, `bytes`, `s`, `MHz`; empty for a number of things that the name says, and for text.
    pub unit: Cow<'static, str>,
    /// Measured value.
    pub value: Value,
    /// Whether tables for people show it, too.
    pub headline: bool,
}

/// Value of a metric; its kind decides how the values of two shares are merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Value {
    /// A number of events or things; adds up.
    Count(u64),
    /// Numbers of the same things in several places, such as depths or compute units; add up by place.
    Counts(Vec<u64>),
    /// A length of time in seconds; adds up.
    Seconds(f64),
    /// The part of a whole; both add up.
    Share {
        /// Part of the whole, in its unit.
        part: f64,
        /// 0 where there was nothing.
        whole: f64,
    },
    /// A property of the device, such as its clock.
    Setting(u64),
    /// A property in words.
    Text(String),
    /// Activity of a device's parts over time; later runs are appended.
    Timeline(Timeline),
}

/// Activity of the parts of a device, in consecutive windows of time.
///
/// ```
/// use gramer_engine::metrics::Timeline;
///
/// let mut timeline = Timeline {
///     part: "PU".into(),
///     states: vec!["busy".into(), "no_work".into()],
///     windows: vec![100, 50],
///     spent: vec![vec![vec![100, 10], vec![0, 40]]], // one PU: busy, then without work
/// };
/// timeline.append(&timeline.clone());
/// assert_eq!(timeline.windows, [100, 50, 100, 50]);
/// assert_eq!(timeline.total(0, 1), 80);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Name of one part, such as `PU`.
    #[serde(default)]
    pub part: Cow<'static, str>,
    /// States of a part: at most one at a time.
    pub states: Vec<Cow<'static, str>>,
    /// Length of each window, in the unit of the metric. A single one is the whole: totals alone are known.
    pub windows: Vec<u64>,
    /// Time spent, by part, state and window.
    pub spent: Vec<Vec<Vec<u64>>>,
}

impl Timeline {
    /// Maximum number of windows over several runs.
    const MOST: usize = 512;

    /// Whether each part has all states, and each state all windows.
    pub fn is_whole(&self) -> bool {
        let part = |part: &Vec<Vec<u64>>| {
            part.len() == self.states.len() && part.iter().all(|s| s.len() == self.windows.len())
        };
        self.spent.iter().all(part)
    }

    /// Time of a part in a state, summed over all windows; 0 for an unknown part or state.
    pub fn total(&self, part: usize, state: usize) -> u64 {
        self.spent.get(part).and_then(|p| p.get(state)).map_or(0, |windows| windows.iter().sum())
    }

    /// Appends another run of the same parts; returns `false` without a change if the parts differ. Merges pairs of
    /// consecutive windows if there are too many.
    pub fn append(&mut self, later: &Timeline) -> bool {
        let same = self.states == later.states && self.spent.len() == later.spent.len();
        if !same || !self.is_whole() || !later.is_whole() {
            return false;
        }
        self.windows.extend(&later.windows);
        let halves = self.windows.len() > Self::MOST;
        let halve = |values: &mut Vec<u64>| {
            *values = values.chunks(2).map(|pair| pair.iter().sum()).collect();
        };
        let pairs = self.spent.iter_mut().flatten().zip(later.spent.iter().flatten());
        for (windows, more) in pairs {
            windows.extend(more);
            if halves {
                halve(windows);
            }
        }
        if halves {
            halve(&mut self.windows);
        }
        true
    }
}

impl Value {
    /// A length of time.
    pub fn time(time: Duration) -> Self {
        Value::Seconds(time.as_secs_f64())
    }

    /// The number, where it is a single one: of a share 0 to 1, 0 of nothing.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Count(n) | Value::Setting(n) => Some(*n as f64),
            Value::Seconds(s) => Some(*s),
            Value::Share { part, whole } => Some(if *whole == 0.0 { 0.0 } else { part / whole }),
            Value::Counts(_) | Value::Text(_) | Value::Timeline(_) => None,
        }
    }

    fn join(&mut self, other: &Value) -> bool {
        match (self, other) {
            (Value::Count(a), Value::Count(b)) => *a = a.saturating_add(*b),
            (Value::Counts(a), Value::Counts(b)) => {
                a.resize(a.len().max(b.len()), 0);
                a.iter_mut().zip(b).for_each(|(a, b)| *a = a.saturating_add(*b));
            }
            (Value::Seconds(a), Value::Seconds(b)) => *a += b,
            (Value::Share { part, whole }, Value::Share { part: p, whole: w }) => {
                *part += p;
                *whole += w;
            }
            (Value::Timeline(a), Value::Timeline(b)) => return a.append(b),
            (a, b) => return a == b,
        }
        true
    }
}

impl std::fmt::Display for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.value {
            Value::Count(n) | Value::Setting(n) => write!(f, "{n}")?,
            Value::Counts(all) => write!(f, "{all:?}")?,
            Value::Seconds(s) => write!(f, "{s}")?,
            share @ Value::Share { .. } => {
                return write!(f, "{:.2} %", 100.0 * share.number().unwrap_or(0.0));
            }
            Value::Text(text) => f.write_str(text)?,
            Value::Timeline(all) => {
                write!(f, "{} {}s in {} windows of", all.spent.len(), all.part, all.windows.len())?;
            }
        }
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

impl DeviceMetrics {
    /// No metrics yet of a device with this name.
    pub fn of(device: impl Into<String>) -> Self {
        DeviceMetrics { device: device.into(), metrics: vec![] }
    }

    fn push(&mut self, name: Cow<'static, str>, unit: &'static str, value: Value, headline: bool) {
        debug_assert!(self.get(&name).is_none(), "{name} is repeated");
        self.metrics.push(Metric { name, unit: unit.into(), value, headline });
    }

    /// Adds a metric for people and programs.
    pub fn headline(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        unit: &'static str,
        value: Value,
    ) {
        self.push(name.into(), unit, value, true);
    }

    /// Adds a metric for programs.
    pub fn detail(&mut self, name: impl Into<Cow<'static, str>>, unit: &'static str, value: Value) {
        self.push(name.into(), unit, value, false);
    }

    /// The value of a metric.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.metrics.iter().find(|m| m.name == name).map(|m| &m.value)
    }

    /// The value of a metric that is a count.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Some(Value::Count(n)) => Some(*n),
            _ => None,
        }
    }

    /// Merges the measurements of a later share on the same device: counts are added, of settings (such as peak
    /// memory) the larger one is kept, and of texts the last one.
    pub fn absorb(&mut self, later: &DeviceMetrics) {
        for new in &later.metrics {
            match self.metrics.iter_mut().find(|m| m.name == new.name) {
                None => self.metrics.push(new.clone()),
                Some(known) => match (&mut known.value, &new.value) {
                    (Value::Setting(a), Value::Setting(b)) => *a = (*a).max(*b),
                    (value, new) => {
                        if !value.join(new) {
                            *value = new.clone();
                        }
                    }
                },
            }
        }
    }

    /// Adds what the same device measured of another share; `false`, and nothing happens, if they
    /// aren't metrics of the same device.
    pub fn join(&mut self, other: &DeviceMetrics) -> bool {
        let mut joined = self.clone();
        let same = self.device == other.device
            && self.metrics.len() == other.metrics.len()
            && joined
                .metrics
                .iter_mut()
                .zip(&other.metrics)
                .all(|(a, b)| a.name == b.name && a.unit == b.unit && a.value.join(&b.value));
        if same {
            *self = joined;
        }
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_shares_are_joined_by_what_they_are() {
        let of = |clock, cycles, hits: &[u64]| {
            let mut m = DeviceMetrics::of("card");
            m.headline("core.clock", "MHz", Value::Setting(clock));
            m.headline("core.cycles", "cycles", Value::Count(cycles));
            m.headline(
                "cache.hit_share",
                "",
                Value::Share { part: cycles as f64 / 4.0, whole: 10.0 },
            );
            m.detail("cache.hits", "", Value::Counts(hits.to_vec()));
            m
        };
        let mut sum = of(200, 8, &[1, 2]);
        assert!(sum.join(&of(200, 12, &[1, 2, 3])));
        assert_eq!(sum.count("core.cycles"), Some(20));
        assert_eq!(sum.get("core.clock"), Some(&Value::Setting(200)));
        assert_eq!(sum.get("cache.hit_share").and_then(Value::number), Some(0.25));
        assert_eq!(sum.get("cache.hits"), Some(&Value::Counts(vec![2, 4, 3])));
        let mut all = sum.clone();
        all.absorb(&of(150, 5, &[1]));
        assert_eq!(all.count("core.cycles"), Some(25));
        assert_eq!(all.get("core.clock"), Some(&Value::Setting(200)), "the larger one");
        let before = sum.clone();
        assert!(!sum.join(&of(300, 1, &[1])), "another clock");
        assert_eq!(sum, before);
        let timeline = |window, spent: u64| {
            Value::Timeline(Timeline {
                part: "PU".into(),
                states: vec!["busy".into()],
                windows: vec![window; 300],
                spent: vec![vec![vec![spent; 300]]],
            })
        };
        let mut pus = DeviceMetrics::of("card");
        pus.detail("pu_time.by_pu", "cycles", timeline(10, 4));
        let mut later = DeviceMetrics::of("card");
        later.detail("pu_time.by_pu", "cycles", timeline(20, 1));
        assert!(pus.join(&later));
        let Some(Value::Timeline(joined)) = pus.get("pu_time.by_pu") else { panic!("{pus:?}") };
        // Two windows became one, and nothing is lost.
        assert_eq!((joined.windows.len(), joined.windows[0], joined.windows[299]), (300, 20, 40));
        assert_eq!(joined.total(0, 0), 300 * 5);
        assert!(joined.is_whole());
        let text = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<DeviceMetrics>(&text).unwrap(), sum);
    }
}
