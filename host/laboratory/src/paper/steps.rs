//! Gains of a memory hierarchy of figure 12 over another.

use super::report::{Answer, Cases, Claim, Finding, near, span};
use super::speed_up;
use crate::explore::measures::{Measures, Metric};

/// Adds the runs of a case, by policy.
pub(super) fn add(steps: &mut [Step; 2], which: usize, found: [Option<&Measures>; 3]) {
    for (step, pair) in steps.iter_mut().zip(found.windows(2)) {
        step.add(which, pair[0].zip(pair[1]));
    }
}

/// What a hierarchy gains over another, by order.
#[derive(Default)]
pub(super) struct Step {
    /// Points of the hit ratio.
    pub(super) vertices: [Cases; 2],
    pub(super) edges: [Cases; 2],
    /// Times as few DDR lines.
    pub(super) lines: [Cases; 2],
    /// Times as fast.
    pub(super) speed: [Cases; 2],
}

impl Step {
    /// A case: the runs with the one and with the other, if there are both.
    fn add(&mut self, order: usize, runs: Option<(&Measures, &Measures)>) {
        let points = |metric| {
            let gain = runs.map(|(from, to)| to.shown(metric) - from.shown(metric));
            gain.filter(|gain| !gain.is_nan())
        };
        self.vertices[order].add(points(Metric::VertexHits));
        self.edges[order].add(points(Metric::EdgeHits));
        let lines = runs.map(|(from, to)| from.get(Metric::Beats) / to.get(Metric::Beats));
        self.lines[order].add(lines.filter(|lines| !lines.is_nan()));
        self.speed[order].add(runs.map(|(from, to)| speed_up(from, to).0));
    }

    pub(super) fn claims(
        &self,
        place: &'static str,
        least: [f64; 3],
        texts: &[&'static str; 3],
    ) -> [Claim; 3] {
        let claim = |at: usize, bar: String, answer: [Finding; 2], why| Claim {
            place,
            claim: texts[at],
            bar,
            answer: Answer::Each(answer),
            why,
        };
        let points = |at: usize, cases: &[Cases; 2]| {
            let bar = near(least[at], 0.0);
            let answer = cases.each_ref().map(|c| c.finding(|gain| gain >= bar, 1, " points"));
            claim(at, format!("from {bar:.2} points on"), answer, "–".into())
        };
        let bar = near(least[2], 1.0);
        let speed = self.speed.each_ref().map(|c| c.finding(|speed| speed >= bar, 2, " times"));
        [
            points(0, &self.vertices),
            points(1, &self.edges),
            claim(2, format!("from {bar:.3} times on"), speed, self.reason()),
        ]
    }

    /// Lines, and the speed for these, in the paper's order.
    fn reason(&self) -> String {
        let pairs = self.speed[0].values.iter().zip(&self.lines[0].values);
        let of_lines: Vec<f64> = pairs.map(|(speed, lines)| speed / lines).collect();
        format!(
            "ascending it reads {} from DDR; its speed is {} times what these imply",
            in_lines(&self.lines[0].values),
            span(&of_lines, 2)
        )
    }
}

/// Lines in words, given how many times fewer there are in each case.
fn in_lines(fewer: &[f64]) -> String {
    match fewer.iter().all(|&times| times >= 1.0) {
        true => format!("{} times fewer lines", span(fewer, 2)),
        false => {
            let more: Vec<f64> = fewer.iter().map(|times| 1.0 / times).collect();
            format!("{} times as many lines", span(&more, 2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_lines_are_not_called_fewer() {
        assert_eq!(in_lines(&[1.5, 2.0]), "1.50 to 2.00 times fewer lines");
        assert_eq!(in_lines(&[0.5, 0.8]), "1.25 to 2.00 times as many lines");
        assert_eq!(in_lines(&[0.8, 1.25]), "0.80 to 1.25 times as many lines");
    }
}
