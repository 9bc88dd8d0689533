//! Ratios of what windows count, with their standard errors.

use serde_json::Value;

/// Student's t for a two-sided 95 %, by degrees of freedom from 1.
const STUDENT: [f64; 16] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120,
];
/// Numbers of windows of a sample.
pub const WINDOWS: std::ops::RangeInclusive<usize> = 4..=24;

/// A ratio with half of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Half of its interval.
    pub half: f64,
}

impl Ratio {
    /// Σ y / Σ x of pairs (y, x) of windows, one in each of equal parts of the time, in their order: the ratio estimator of
    /// survey sampling. Its variance is that of successive differences of the residuals, which a trend hardly changes; they
    /// have two thirds of the degrees of freedom.
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        let n = pairs.len() as f64;
        let x: f64 = pairs.iter().map(|p| p.1).sum();
        let value = pairs.iter().map(|p| p.0).sum::<f64>() / x;
        let residuals: Vec<f64> = pairs.iter().map(|p| p.0 - value * p.1).collect();
        let differences: f64 = residuals.windows(2).map(|r| (r[1] - r[0]).powi(2)).sum();
        let freedom = (pairs.len().saturating_sub(1) * 2 / 3).clamp(1, STUDENT.len());
        let half = STUDENT[freedom - 1] * (differences / 2.0 * n / (n - 1.0)).sqrt() / x;
        Ratio { value, half }
    }
}

/// Hits and misses of a kind of memory in a part of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hits {
    /// Hits of high-priority data.
    pub high: f64,
    /// Other hits.
    pub low: f64,
    /// Misses.
    pub misses: f64,
}

impl Hits {
    /// All accesses.
    pub fn accesses(self) -> f64 {
        self.high + self.low + self.misses
    }

    /// Hits of both kinds.
    pub fn hits(self) -> f64 {
        self.high + self.low
    }
}

/// A timeline of `gramer-lab simulate`.
pub struct Bins<'a> {
    timeline: &'a Value,
    /// Cycle in which each of its windows ends.
    ends: Vec<f64>,
}

impl<'a> Bins<'a> {
    /// The timeline of a run's only pass.
    pub fn of(run: &'a Value) -> Self {
        let timeline = &run["passes"][0]["timeline"];
        let cycles = timeline["windows"].as_array().into_iter().flatten();
        let mut end = 0.0;
        let ends = cycles.map(|n| {
            end += n.as_f64().unwrap_or(f64::NAN);
            end
        });
        Bins { timeline, ends: ends.collect() }
    }

    /// Cycles of its windows between two cycles, and the hits and misses of vertices and edges in them.
    pub fn between(&self, from: f64, to: f64) -> (f64, [Hits; 2]) {
        let first = self.ends.partition_point(|&end| end < from);
        let last = self.ends.partition_point(|&end| end <= to);
        // The window in which `from` lies is left out.
        let within = (first + 1).min(last)..last;
        let event = |kind: &str, name: &str| -> f64 {
            let counts = self.timeline["events"][format!("{kind}_{name}")].as_array();
            let counts = counts.map_or(&[][..], Vec::as_slice);
            within.clone().filter_map(|at| counts.get(at)?.as_f64()).sum()
        };
        let of = |kind: &str| Hits {
            high: event(kind, "high_hits"),
            low: event(kind, "low_hits"),
            misses: event(kind, "misses"),
        };
        let begin = within.start.checked_sub(1).map_or(0.0, |at| self.ends[at]);
        let cycles = self.ends.get(last.wrapping_sub(1)).map_or(0.0, |end| end - begin);
        (cycles.max(0.0), ["vertex", "edge"].map(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_ratio_has_its_standard_error() {
        assert_eq!(
            Ratio::of(&[(2.0, 1.0), (4.0, 2.0), (6.0, 3.0)]),
            Ratio { value: 2.0, half: 0.0 }
        );
        // Residuals 1, -1, 1, -1: s² = 3 · 2² / 6; Σ x = 8; t of two degrees of freedom.
        let Ratio { value, half } = Ratio::of(&[(3.0, 2.0), (1.0, 2.0), (3.0, 2.0), (1.0, 2.0)]);
        assert!(value == 1.0 && (half - 4.303 * 8.0f64.sqrt() / 8.0).abs() < 1e-9, "{half}");
        // A trend is no noise.
        let trend: Vec<(f64, f64)> = (0..10).map(|i| (100.0 + f64::from(i), 1.0)).collect();
        assert!(Ratio::of(&trend).half < 0.03 * Ratio::of(&trend).value);
    }

    #[test]
    fn whole_windows_of_the_timeline_count() {
        let events = json!({
            "vertex_high_hits": [1, 2, 4, 8], "vertex_low_hits": [0, 1, 1, 0],
            "vertex_misses": [1, 1, 1, 1], "edge_high_hits": [0, 0, 0, 0],
            "edge_low_hits": [5, 5, 5, 5], "edge_misses": [0, 0, 2, 0],
        });
        let run = json!({
            "passes": [{ "timeline": { "windows": [10, 10, 10, 5], "events": events } }]
        });
        let (cycles, [vertices, edges]) = Bins::of(&run).between(5.0, 32.0);
        assert_eq!(cycles, 20.0);
        assert_eq!(vertices, Hits { high: 6.0, low: 2.0, misses: 2.0 });
        assert_eq!((edges.accesses(), edges.hits()), (12.0, 10.0));
    }
}
