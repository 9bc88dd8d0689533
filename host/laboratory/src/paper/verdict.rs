//! Verdicts: the share of its cases in which a claim of the paper holds.

use std::fmt;

/// What a case may fall short of the paper's own figure and still count, as a share of the effect that
/// the figure claims: of a speed-up of 1.60 times, 5 % of the 0.60; of 13 points, 5 % of the 13. It is
/// the only slack that a verdict has.
pub const TOLERANCE: f64 = 0.05;
/// The least share of the cases in which a claim that is reproduced holds.
pub const REPRODUCED: f64 = 0.9;
/// The least share of the cases in which a claim that is partly reproduced holds.
pub const PARTLY: f64 = 0.5;

/// The paper's figure less the tolerance: nearer to `without`, what it would be without the effect.
pub fn near(figure: f64, without: f64) -> f64 {
    without + (figure - without) * (1.0 - TOLERANCE)
}

/// The paper's figure and the tolerance: farther from `without`, what it would be without the effect.
pub fn far(figure: f64, without: f64) -> f64 {
    without + (figure - without) * (1.0 + TOLERANCE)
}

/// The rule of the verdicts, for the report.
pub fn rule() -> String {
    format!(
        "Verdicts, with the cases that hold *of* all: *reproduced* if a claim holds in at least {:.0} % of the cases, *partly* from {:.0} % on, \
         else *not reproduced*. A case holds if it reaches the paper's least (or keeps to its most) figure, \
         less {:.0} % of the claimed effect (of a speed-up of 1.60 times, {:.0} % of the 0.60). A case that was \
         not run does not hold; frequent subgraph mining without a frequent pattern is no case. Where the paper's figure \
         is an average, the geometric mean of our cases is the one case. No verdict: \
         figures that contain the paper's own, comparisons of other machines, and vague claims (*nearly linear*).",
        100.0 * REPRODUCED,
        100.0 * PARTLY,
        100.0 * TOLERANCE,
        100.0 * TOLERANCE
    )
}

/// Why a claim without a case gets no verdict.
pub const NOT_MEASURED: &str = "not measured here";

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was held against cases.
    Counted {
        /// Cases in which it holds.
        holds: usize,
        /// All cases.
        of: usize,
        /// How many of these were not run.
        not_run: usize,
    },
    /// It can't be judged, for this reason.
    None(&'static str),
}

impl Verdict {
    /// By how many of the cases a claim holds; no case, no verdict.
    pub fn of(holds: impl IntoIterator<Item = bool>) -> Self {
        Self::with_missing(holds, 0)
    }

    /// The same with cases that could not be run, which are held against the claim.
    pub fn with_missing(holds: impl IntoIterator<Item = bool>, not_run: usize) -> Self {
        let all: Vec<bool> = holds.into_iter().collect();
        match all.is_empty() {
            true => Verdict::None(NOT_MEASURED),
            false => Verdict::Counted {
                holds: all.iter().filter(|&&h| h).count(),
                of: all.len() + not_run,
                not_run,
            },
        }
    }

    /// The verdict in a word, or the reason for none.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::None(why) => why,
            Verdict::Counted { holds, of, .. } => {
                let share = holds as f64 / of as f64;
                match () {
                    () if share >= REPRODUCED => "reproduced",
                    () if share >= PARTLY => "partly",
                    () => "not reproduced",
                }
            }
        }
    }
}

impl Verdict {
    /// A sign before the word, for a table that is looked over: its colour says nothing that the word doesn't.
    pub fn sign(self) -> &'static str {
        match (self, self.word()) {
            (Verdict::None(_), _) => "⚪",
            (_, "reproduced") => "🟢",
            (_, "partly") => "🟡",
            _ => "🔴",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Verdict::None(why) => write!(f, "no verdict: {why}"),
            Verdict::Counted { holds, of, not_run } => {
                write!(f, "{}, {holds} of {of}", self.word())?;
                match not_run {
                    0 => Ok(()),
                    n => write!(f, " ({n} not run)"),
                }
            }
        }
    }
}

/// A verdict with our figures.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What became of the claim.
    pub verdict: Verdict,
    /// Our figures, with their unit.
    pub ours: String,
}

impl Finding {
    pub(super) fn cell(&self) -> String {
        match self.ours.is_empty() || self.verdict == Verdict::None(NOT_MEASURED) {
            true => format!("{} {}", self.verdict.sign(), self.verdict),
            false => format!("{} {}; {}", self.verdict.sign(), self.verdict, self.ours),
        }
    }
}

/// What the cases of a claim gave in one order of comparison.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    /// The figure of each that was run.
    pub values: Vec<f64>,
    /// Number of cases that were not run.
    pub not_run: usize,
}

impl Cases {
    /// A case's figure; none where it was not run.
    pub fn add(&mut self, value: Option<f64>) {
        match value {
            Some(value) => self.values.push(value),
            None => self.not_run += 1,
        }
    }

    /// The geometric mean of the figures as the only case, for a claim that is an average; not run if one of them isn't.
    pub fn mean(&self) -> Cases {
        let logarithms: f64 = self.values.iter().map(|v| v.ln()).sum();
        match (self.values.len(), self.not_run) {
            (0, _) => self.clone(),
            (n, 0) => Cases { values: vec![(logarithms / n as f64).exp()], not_run: 0 },
            _ => Cases { values: vec![], not_run: 1 },
        }
    }

    /// The verdict, where a case holds if its figure does.
    pub fn verdict(&self, holds: impl Fn(f64) -> bool) -> Verdict {
        Verdict::with_missing(self.values.iter().map(|&v| holds(v)), self.not_run)
    }

    /// The verdict alone.
    pub fn finding_count(&self, holds: impl Fn(f64) -> bool) -> Finding {
        Finding { verdict: self.verdict(holds), ours: String::new() }
    }

    /// The verdict, with the least and the most of the figures, `digits` behind the point, and what
    /// stands after them.
    pub fn finding(&self, holds: impl Fn(f64) -> bool, digits: usize, unit: &str) -> Finding {
        let ours = format!("{}{unit}", span(&self.values, digits));
        Finding { verdict: self.verdict(holds), ours }
    }
}

/// Smallest and largest as `1.02 to 1.90`; one number if they are written the same.
pub fn span(values: &[f64], digits: usize) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let [low, high] = [low, high].map(|value| format!("{value:.digits$}"));
    match values {
        [] => "nothing".into(),
        _ if low == high => low,
        _ => format!("{low} to {high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten cases.
    fn of_ten(holds: usize) -> Verdict {
        Verdict::of((0..10).map(|at| at < holds))
    }

    #[test]
    fn a_verdict_needs_nine_of_ten_cases_and_partly_half_of_them() {
        for (holds, word) in [
            (10, "reproduced"),
            (9, "reproduced"),
            (8, "partly"),
            (5, "partly"),
            (4, "not reproduced"),
            (1, "not reproduced"),
            (0, "not reproduced"),
        ] {
            assert_eq!(of_ten(holds).word(), word, "{holds} of 10");
            assert_eq!(of_ten(holds).to_string(), format!("{word}, {holds} of 10"));
        }
        // One of 22, as in figure 12, was once called partly.
        assert_eq!(Verdict::of((0..22).map(|at| at == 3)).word(), "not reproduced");
        assert_eq!(Verdict::of([]), Verdict::None(NOT_MEASURED));
        assert_eq!(Verdict::of([]).to_string(), "no verdict: not measured here");
    }

    #[test]
    fn what_was_not_run_is_held_against_a_claim() {
        let mut cases = Cases::default();
        for value in [Some(2.0), Some(3.0), Some(4.0), None, None] {
            cases.add(value);
        }
        let verdict = cases.verdict(|v| v > 1.0);
        assert_eq!(verdict.to_string(), "partly, 3 of 5 (2 not run)");
        assert_eq!(cases.finding(|v| v > 1.0, 1, " times").ours, "2.0 to 4.0 times");
        let none = Cases { values: vec![], not_run: 2 };
        assert_eq!(none.verdict(|_| true), Verdict::None(NOT_MEASURED));
    }

    #[test]
    fn an_average_is_one_case() {
        let mut cases = Cases { values: vec![1.0, 4.0], not_run: 0 };
        assert_eq!(cases.mean().finding(|v| v > 1.9, 2, " times").ours, "2.00 times");
        assert_eq!(cases.mean().verdict(|v| v > 1.9).to_string(), "reproduced, 1 of 1");
        cases.add(None);
        assert_eq!(cases.mean().verdict(|_| true), Verdict::None(NOT_MEASURED));
        assert!(Cases::default().mean().values.is_empty());
        assert!(rule().contains("the geometric mean of our cases is the one case"), "{}", rule());
    }

    #[test]
    fn the_tolerance_is_a_share_of_the_effect() {
        // Not 5 % of 1.06, which would let a slow-down count.
        assert!((near(1.06, 1.0) - 1.057).abs() < 1e-9);
        assert!((near(13.0, 0.0) - 12.35).abs() < 1e-9);
        assert!((near(0.9159, 1.0) - 0.920_105).abs() < 1e-9);
        assert!((far(0.7169, 1.0) - 0.702_745).abs() < 1e-9);
        assert!((far(1.07, 1.0) - 1.0735).abs() < 1e-9);
        assert!(rule().contains("at least 90 % of the cases, *partly* from 50 %"), "{}", rule());
        assert!(rule().contains("less 5 % of the claimed effect"), "{}", rule());
    }
}
