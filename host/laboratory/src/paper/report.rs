//! The report: Markdown, which also gives the HTML page, with the plots and the CSV beside it; and
//! the rule of its verdicts.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

use gramer_picture::page::{PreEscaped, document};
use pulldown_cmark::{Options, Parser, html};

use crate::explore::plot::Plot;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::write_whole;

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
    fn cell(&self) -> String {
        match self.ours.is_empty() || self.verdict == Verdict::None(NOT_MEASURED) {
            true => self.verdict.to_string(),
            false => format!("{}; {}", self.verdict, self.ours),
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

/// What became of a claim in each order of comparison.
#[derive(Debug, Clone)]
pub enum Answer {
    /// By [`ORDERS`].
    Each([Finding; 2]),
    /// Nothing in it depends on the order.
    Any(Finding),
}

/// Orders of comparison: the paper's, and ours by default.
pub const ORDERS: [&str; 2] = ["ascending", "descending"];

/// A claim of the paper beside ours.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Figure or table.
    pub place: &'static str,
    /// What the paper says.
    pub claim: &'static str,
    /// When a case holds; empty where there is no verdict.
    pub bar: String,
    /// What became of it.
    pub answer: Answer,
    /// Why it differs, or what to keep in mind.
    pub why: String,
}

/// A part of a section.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A table; all columns after the first are numbers.
    Table {
        /// Titles.
        header: Vec<String>,
        /// Rows of as many cells.
        rows: Vec<Vec<String>>,
    },
    /// A plot, in a file of this name (without ending).
    Plot(String, Plot),
    /// A file of numbers behind plots or tables (with ending).
    File(String, String),
}

/// A section of the report.
#[derive(Debug, Clone)]
pub struct Section {
    /// `Figure 12: …`.
    pub title: String,
    /// Its parts.
    pub blocks: Vec<Block>,
    /// The claims that it looks at.
    pub claims: Vec<Claim>,
}

/// The whole report.
///
/// ```
/// use gramer_laboratory::paper::report::{Answer, Block, Cases, Claim, PaperReport, Section};
///
/// // A figure of each case, by order of comparison; a case that was not run has none.
/// let mut cases: [Cases; 2] = Default::default();
/// for (cases, speed) in cases.iter_mut().zip([Some(1.7), None]) {
///     cases.add(speed);
/// }
/// let claim = Claim {
///     place: "figure 12",
///     claim: "the scratchpads are 1.60 times as fast",
///     bar: "from 1.57 times on".into(),
///     answer: Answer::Each(cases.map(|c| c.finding(|speed| speed >= 1.57, 2, " times"))),
///     why: "–".into(),
/// };
/// let numbers = Block::File("figure-12.csv".into(), "graph,times\nciteseer,1.7\n".into());
/// let report = PaperReport {
///     title: "Experiments".into(),
///     opening: vec!["On the machine `small`.".into()],
///     sections: vec![Section {
///         title: "Figure 12: memory".into(),
///         blocks: vec![numbers],
///         claims: vec![claim],
///     }],
/// };
/// let folder = tempfile::tempdir()?;
/// report.write(folder.path(), true)?;
/// let text = std::fs::read_to_string(folder.path().join("README.md"))?;
/// assert!(text.contains("| reproduced, 1 of 1 cases; 1.70 times |"));
/// assert!(text.contains("Numbers: [figure-12.csv](figure-12.csv)"));
/// assert!(folder.path().join("index.html").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PaperReport {
    /// Title.
    pub title: String,
    /// Paragraphs before the table of claims.
    pub opening: Vec<String>,
    /// Sections.
    pub sections: Vec<Section>,
}

impl PaperReport {
    /// Writes README.md, the plots and the CSV into a folder, and index.html if it is asked for.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, folder: &Path, html: bool) -> Result<()> {
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
        let write = |name: &str, text: &str| {
            write_whole(&folder.join(name), |out| out.write_all(text.as_bytes()))
        };
        for block in self.sections.iter().flat_map(|s| &s.blocks) {
            match block {
                Block::Plot(name, plot) => write(&format!("{name}.svg"), &plot.svg())?,
                Block::File(name, text) => write(name, text)?,
                _ => {}
            }
        }
        let markdown = self.markdown();
        if html {
            let plots =
                self.sections.iter().flat_map(|s| &s.blocks).filter_map(|block| match block {
                    Block::Plot(name, plot) => Some((name.as_str(), plot)),
                    _ => None,
                });
            write("index.html", &page(&markdown, plots))?;
        }
        write("README.md", &markdown)
    }

    fn claims(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let header = [
            "paper",
            "claim",
            "a case holds",
            "verdict, ascending (the paper's order)",
            "verdict, descending (the default here)",
            "why",
        ];
        let rows = self.sections.iter().flat_map(|s| &s.claims).map(|c| {
            let [ascending, descending] = match &c.answer {
                Answer::Each(both) => both.each_ref().map(Finding::cell),
                Answer::Any(one) => [one.cell(), "the same: no order in it".into()],
            };
            let bar = if c.bar.is_empty() { "–".into() } else { c.bar.clone() };
            vec![c.place.into(), c.claim.into(), bar, ascending, descending, c.why.clone()]
        });
        (header.map(String::from).to_vec(), rows.collect())
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        for paragraph in &self.opening {
            let _ = writeln!(text, "{paragraph}\n");
        }
        let (header, rows) = self.claims();
        text += &markdown_table(&header, &rows, false);
        for section in &self.sections {
            let _ = writeln!(text, "\n## {}", section.title);
            for block in &section.blocks {
                text.push('\n');
                match block {
                    Block::Text(paragraph) => text += &format!("{paragraph}\n"),
                    Block::Table { header, rows } => text += &markdown_table(header, rows, true),
                    Block::Plot(name, plot) => {
                        text += &format!("![{}]({name}.svg)\n", plot.title);
                    }
                    Block::File(name, _) => text += &format!("Numbers: [{name}]({name})\n"),
                }
            }
        }
        text
    }
}

fn markdown_table(header: &[String], rows: &[Vec<String>], numbers: bool) -> String {
    let cell = |text: &String| text.replace('|', "\\|").replace('\n', " ");
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(cell).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(header);
    let rule = |at: usize| if numbers && at > 0 { "---:" } else { "---" };
    let rules: Vec<&str> = (0..header.len()).map(rule).collect();
    text += &format!("|{}|\n", rules.join("|"));
    text + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// Markdown as an HTML page with the plots in it.
fn page<'a>(markdown: &str, plots: impl Iterator<Item = (&'a str, &'a Plot)>) -> String {
    let mut body = String::new();
    html::push_html(&mut body, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    for (name, plot) in plots {
        let image = format!("<img src=\"{name}.svg\"");
        if let Some((before, rest)) = body.split_once(&image)
            && let Some((_, after)) = rest.split_once("/>")
        {
            body = format!("{before}{}{after}", plot.svg());
        }
    }
    // Wide tables scroll by themselves.
    let body = body.replace("<table>", "<div class=\"scroll\"><table>");
    let body = body.replace("</table>", "</table></div>");
    let title = markdown.lines().next().unwrap_or_default().trim_start_matches("# ");
    document(title, PreEscaped(body))
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
    use crate::explore::plot::Series;

    fn report() -> PaperReport {
        let counted = |holds: &[bool]| Finding {
            verdict: Verdict::of(holds.iter().copied()),
            ours: "1|2".into(),
        };
        let claim = Claim {
            place: "figure 1",
            claim: "a < b",
            bar: "from 2 on".into(),
            answer: Answer::Each([counted(&[true, false]), counted(&[false])]),
            why: "cases".into(),
        };
        let open = Claim {
            place: "table 1",
            claim: "watts",
            bar: String::new(),
            answer: Answer::Any(Finding {
                verdict: Verdict::None("contains the paper's own"),
                ours: String::new(),
            }),
            why: "–".into(),
        };
        let table = Block::Table {
            header: vec!["graph".into(), "cycles".into()],
            rows: vec![vec!["a".into(), "7".into()]],
        };
        let plot = Plot {
            title: "a & b".into(),
            x_title: "x".into(),
            y_title: "y".into(),
            x: vec!["1".into(), "2".into()],
            lines: true,
            logarithmic: false,
            series: vec![Series { name: "s".into(), points: vec![(0, 1.0, 0.0), (1, 2.0, 0.0)] }],
        };
        let section = Section {
            title: "Figure 1".into(),
            blocks: vec![
                table,
                Block::File("f.csv".into(), "x\n1\n".into()),
                Block::Plot("p".into(), plot),
            ],
            claims: vec![claim, open],
        };
        PaperReport {
            title: "T & U".into(),
            opening: vec!["First.".into()],
            sections: vec![section],
        }
    }

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

    #[test]
    fn the_page_is_the_markdown() {
        let folder = tempfile::tempdir().unwrap();
        report().write(folder.path(), false).unwrap();
        assert!(!folder.path().join("index.html").exists(), "it was not asked for");
        report().write(folder.path(), true).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let markdown = read("README.md");
        let row = "| figure 1 | a < b | from 2 on | partly, 1 of 2 cases; 1\\|2 | not reproduced, 0 of 1 \
                   cases; 1\\|2 | cases |";
        assert!(markdown.contains(row), "{markdown}");
        let row = "| table 1 | watts | – | no verdict: contains the paper's own | the same: no order in it \
                   | – |";
        assert!(markdown.contains(row), "{markdown}");
        assert!(markdown.contains("| graph | cycles |\n|---|---:|\n| a | 7 |"), "{markdown}");
        let html = read("index.html");
        assert!(html.contains("<td>partly, 1 of 2 cases; 1|2</td>"), "{html}");
        assert!(html.contains("<td>a &lt; b</td>"), "{html}");
        assert!(html.contains("<h1>T &amp; U</h1>"), "{html}");
        assert_eq!(read("f.csv"), "x\n1\n");
        assert!(html.contains("<svg") && !html.contains("<img"), "the plot is in the page: {html}");
        let (_, body) = html.split_once("<body>").unwrap();
        let (body, _) = body.split_once("</body>").unwrap();
        roxmltree::Document::parse(body).expect("every tag is closed");
    }
}
