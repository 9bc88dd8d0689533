//! Gains of a memory hierarchy of figure 12 over another.

use super::report::{Answer, Cases, Claim, ORDERS, near, span};
use super::speed_up;
use crate::explore::measures::{Measures, Metric};

/// The hierarchies that are beaten, by step.
pub(super) const FROM: [&str; 2] = ["uniform LRU", "static + LRU"];
/// Why a gain differs if no number explains it.
const NO_REASON: &str = "the data give no reason";

/// Adds the runs of a case, by policy.
pub(super) fn add(steps: &mut [Step; 2], which: usize, found: [Option<&Measures>; 3]) {
    for (step, pair) in steps.iter_mut().zip(found.windows(2)) {
        step.add(which, pair[0].zip(pair[1]));
    }
}

/// What a hierarchy gains over another, by order.
#[derive(Default)]
pub(super) struct Step {
    pub(super) vertices: HitGains,
    pub(super) edges: HitGains,
    /// Times as few DDR lines.
    pub(super) lines: [Cases; 2],
    /// Times as fast.
    pub(super) speed: [Cases; 2],
}

impl Step {
    /// A case: the runs with the one and with the other, if there are both.
    fn add(&mut self, order: usize, runs: Option<(&Measures, &Measures)>) {
        for (gains, [hits, high]) in [&mut self.vertices, &mut self.edges]
            .into_iter()
            .zip([[Metric::VertexHits, Metric::VertexHigh], [Metric::EdgeHits, Metric::EdgeHigh]])
        {
            let both = runs.map(|(from, to)| [from.shown(hits), to.shown(hits), to.shown(high)]);
            gains.add(order, both.filter(|[from, to, _]| !(to - from).is_nan()));
        }
        let lines = runs.map(|(from, to)| from.get(Metric::Beats) / to.get(Metric::Beats));
        self.lines[order].add(lines.filter(|lines| !lines.is_nan()));
        self.speed[order].add(runs.map(|(from, to)| speed_up(from, to).0));
    }

    /// Claims on vertices, edges and speed; `from` is the hierarchy that is beaten.
    pub(super) fn claims(
        &self,
        place: &'static str,
        least: [f64; 3],
        texts: &[&'static str; 3],
        from: &str,
    ) -> [Claim; 3] {
        let bar = near(least[2], 1.0);
        let speed = self.speed.each_ref().map(|c| c.finding(|speed| speed >= bar, 2, " times"));
        [
            self.vertices.claim(place, texts[0], least[0], from),
            self.edges.claim(place, texts[1], least[1], from),
            Claim {
                place,
                claim: texts[2],
                bar: format!("from {bar:.3} times on"),
                answer: Answer::Each(speed),
                why: self.reason(),
            },
        ]
    }

    /// Lines, and the speed for these, in the paper's order.
    fn reason(&self) -> String {
        let pairs = self.speed[0].values.iter().zip(&self.lines[0].values);
        let of_lines: Vec<f64> = pairs.map(|(speed, lines)| speed / lines).collect();
        format!(
            "ascending it reads {}; its speed is {} times what these imply",
            in_lines(&self.lines[0].values),
            span(&of_lines, 2)
        )
    }
}

/// Points that a hit ratio gains, by order.
#[derive(Default)]
pub(super) struct HitGains {
    pub(super) points: [Cases; 2],
    /// Hit ratio of the hierarchy that is beaten, in %.
    before: [Vec<f64>; 2],
    /// Accesses to the scratchpads of the other one, in %; not a number if they were not counted.
    scratchpads: [Vec<f64>; 2],
}

impl HitGains {
    /// A case, if it was run: hit ratios of the one and of the other, and accesses to the other's scratchpads, in %.
    pub(super) fn add(&mut self, order: usize, both: Option<[f64; 3]>) {
        self.points[order].add(both.map(|[from, to, _]| to - from));
        if let Some([from, _, high]) = both {
            self.before[order].push(from);
            self.scratchpads[order].push(high);
        }
    }

    /// A claim of at least so many points over the hierarchy `from`.
    pub(super) fn claim(
        &self,
        place: &'static str,
        claim: &'static str,
        least: f64,
        from: &str,
    ) -> Claim {
        let bar = near(least, 0.0);
        let answer = self.points.each_ref().map(|c| c.finding(|gain| gain >= bar, 1, " points"));
        let missed = answer.iter().position(|found| found.verdict.word() != "reproduced");
        let why = missed.map_or("–".into(), |order| self.reason(order, bar, from));
        let bar = format!("from {bar:.2} points on");
        Claim { place, claim, bar, answer: Answer::Each(answer), why }
    }

    /// Why gains miss the bar in an order: there is too little left to gain, or the scratchpads, half of the lines, take
    /// less than half of the hits that LRU has with all of them.
    fn reason(&self, order: usize, bar: f64, from: &str) -> String {
        let (before, scratchpads) = (&self.before[order], &self.scratchpads[order]);
        let few = before.iter().filter(|&&hits| 100.0 - hits < bar).count();
        let mut pairs = before.iter().zip(scratchpads);
        let order = ORDERS[order];
        if 2 * few > before.len() {
            let of = before.len();
            format!("{order}: {from} misses less than {bar:.2} % in {few} of {of}")
        } else if from == FROM[0] && pairs.all(|(&hits, &high)| high < hits / 2.0) {
            format!(
                "{order}: scratchpads, half of the lines, hit {} %; {from} {} %",
                span(scratchpads, 1),
                span(before, 1)
            )
        } else if order == ORDERS[0] {
            NO_REASON.into()
        } else {
            format!("{order}: {NO_REASON}")
        }
    }
}

/// Lines in words, given how many times fewer there are in each case.
fn in_lines(fewer: &[f64]) -> String {
    match fewer.iter().all(|&times| times >= 1.0) {
        true => format!("{} times fewer DDR lines", span(fewer, 2)),
        false => {
            let more: Vec<f64> = fewer.iter().map(|times| 1.0 / times).collect();
            format!("{} times as many DDR lines", span(&more, 2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_follow_from_the_cases() {
        let why = |from, cases: &[[f64; 3]]| {
            let mut gains = HitGains::default();
            for order in 0..ORDERS.len() {
                cases.iter().for_each(|&case| gains.add(order, Some(case)));
            }
            gains.claim("figure 12", "", 10.0, from).why
        };
        let [uniform, fixed] = FROM;
        assert_eq!(why(uniform, &[[60.0, 75.0, 20.0]]), "–");
        assert_eq!(
            why(uniform, &[[95.0, 96.0, 20.0], [92.0, 93.0, 50.0], [60.0, 61.0, 20.0]]),
            "ascending: uniform LRU misses less than 9.50 % in 2 of 3"
        );
        let split = [[60.0, 61.0, 20.0], [50.0, 49.0, 24.0]];
        assert_eq!(
            why(uniform, &split),
            "ascending: scratchpads, half of the lines, hit 20.0 to 24.0 %; uniform LRU 50.0 to 60.0 %"
        );
        assert_eq!(why(fixed, &split), NO_REASON);
        assert_eq!(why(uniform, &[[60.0, 61.0, f64::NAN]]), NO_REASON);
    }

    #[test]
    fn more_lines_are_not_called_fewer() {
        assert_eq!(in_lines(&[1.5, 2.0]), "1.50 to 2.00 times fewer DDR lines");
        assert_eq!(in_lines(&[0.5, 0.8]), "1.25 to 2.00 times as many DDR lines");
        assert_eq!(in_lines(&[0.8, 1.25]), "0.80 to 1.25 times as many DDR lines");
    }
}
