//! Verdicts: in how many of its cases a claim of the paper holds.

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
        "A verdict says in how many of the cases a claim holds: *reproduced* from {:.0} % of them on, \
         *partly* from {:.0} %, else *not reproduced*. A case holds if it reaches the paper's own \
         least (or keeps to its most), less {:.0} % of the effect that the paper claims: of a \
         speed-up of 1.60 times, {:.0} % of the 0.60; this is the only tolerance. A case that was \
         not run counts as one that doesn't hold. Frequent subgraph mining that finds no frequent \
         pattern is no case. A figure of ours that contains figures of the paper gets no \
         verdict, nor does a comparison of other machines, or a claim that says too little to \
         decide a case (*nearly linear*).",
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

    /// In a word, or why there is none.
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

/// How many claims have which verdict: `8 of 30 claims reproduced, …`.
pub fn tally(verdicts: &[Verdict]) -> String {
    let count = |sign: &str| verdicts.iter().filter(|v| v.sign() == sign).count();
    format!(
        "🟢 {} of {} claims reproduced, 🟡 {} partly, 🔴 {} not reproduced, ⚪ {} without a verdict",
        count("🟢"),
        verdicts.len(),
        count("🟡"),
        count("🔴"),
        count("⚪")
    )
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Verdict::None(why) => write!(f, "no verdict: {why}"),
            Verdict::Counted { holds, of, not_run } => {
                write!(f, "{}, {holds} of {of} cases", self.word())?;
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
    /// How many were not run.
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

    /// The verdict, where a case holds if its figure does.
    pub fn verdict(&self, holds: impl Fn(f64) -> bool) -> Verdict {
        Verdict::with_missing(self.values.iter().map(|&v| holds(v)), self.not_run)
    }

    /// The verdict, with the least and the most of the figures, `digits` behind the point, and what
    /// stands after them.
    pub fn finding(&self, holds: impl Fn(f64) -> bool, digits: usize, unit: &str) -> Finding {
        let ours = format!("{}{unit}", span(&self.values, digits));
        Finding { verdict: self.verdict(holds), ours }
    }
}

/// Smallest and largest as `1.02 to 1.90`.
pub fn span(values: &[f64], digits: usize) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values.is_empty() {
        true => "nothing".into(),
        false => format!("{low:.digits$} to {high:.digits$}"),
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
            assert_eq!(of_ten(holds).to_string(), format!("{word}, {holds} of 10 cases"));
        }
        // One of 22, as in figure 12, was once called partly.
        assert_eq!(Verdict::of((0..22).map(|at| at == 3)).word(), "not reproduced");
        assert_eq!(Verdict::of([]), Verdict::None(NOT_MEASURED));
        assert_eq!(Verdict::of([]).to_string(), "no verdict: not measured here");
    }

    #[test]
    fn verdicts_are_counted() {
        let all = [of_ten(10), of_ten(9), of_ten(6), of_ten(0), Verdict::None("a reason")];
        assert_eq!(
            tally(&all),
            "🟢 2 of 5 claims reproduced, 🟡 1 partly, 🔴 1 not reproduced, ⚪ 1 without a verdict"
        );
    }

    #[test]
    fn what_was_not_run_is_held_against_a_claim() {
        let mut cases = Cases::default();
        for value in [Some(2.0), Some(3.0), Some(4.0), None, None] {
            cases.add(value);
        }
        let verdict = cases.verdict(|v| v > 1.0);
        assert_eq!(verdict.to_string(), "partly, 3 of 5 cases (2 not run)");
        assert_eq!(cases.finding(|v| v > 1.0, 1, " times").ours, "2.0 to 4.0 times");
        let none = Cases { values: vec![], not_run: 2 };
        assert_eq!(none.verdict(|_| true), Verdict::None(NOT_MEASURED));
    }

    #[test]
    fn the_tolerance_is_a_share_of_the_effect() {
        // Not 5 % of 1.06, which would let a slow-down count.
        assert!((near(1.06, 1.0) - 1.057).abs() < 1e-9);
        assert!((near(13.0, 0.0) - 12.35).abs() < 1e-9);
        assert!((near(0.9159, 1.0) - 0.920_105).abs() < 1e-9);
        assert!((far(0.7169, 1.0) - 0.702_745).abs() < 1e-9);
        assert!((far(1.07, 1.0) - 1.0735).abs() < 1e-9);
        assert!(rule().contains("from 90 % of them on, *partly* from 50 %"), "{}", rule());
        assert!(rule().contains("less 5 % of the effect"), "{}", rule());
    }
}
