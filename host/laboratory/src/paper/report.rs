//! The report as Markdown and HTML, with plots and CSV files, and the rule of its verdicts.

use std::fmt::Write as _;
use std::path::Path;

use gramer_picture::page::{PreEscaped, document};
use pulldown_cmark::{Options, Parser, html};

use super::claims::{CLAIMS, Row, csv, tally};
pub use super::earlier::EarlierSection;
pub use super::verdict::{
    Cases, Finding, NOT_MEASURED, PARTLY, REPRODUCED, TOLERANCE, Verdict, far, near, rule, span,
};
use crate::explore::plot::Plot;
use gramer_base::error::Result;
use gramer_base::output::write_files;

/// The report's file, and that of its page.
pub(crate) const REPORT: &str = "README.md";
pub(crate) const PAGE: &str = "index.html";

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
    /// The paper's claim.
    pub claim: &'static str,
    /// When a case holds; empty where there is no verdict.
    pub bar: String,
    /// The finding.
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

/// A section that was measured, or one of an earlier report.
#[derive(Debug, Clone)]
pub enum Part {
    /// Measured by this run.
    Measured(Section),
    /// As it stands in the report that this one replaces; its files stay.
    Earlier(EarlierSection),
}

impl From<Section> for Part {
    fn from(section: Section) -> Self {
        Part::Measured(section)
    }
}

impl Part {
    fn title(&self) -> &str {
        match self {
            Part::Measured(section) => &section.title,
            Part::Earlier(earlier) => &earlier.title,
        }
    }

    fn blocks(&self) -> &[Block] {
        match self {
            Part::Measured(section) => &section.blocks,
            Part::Earlier(_) => &[],
        }
    }
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
///     parts: vec![
///         Section {
///             title: "Figure 12: memory".into(),
///             blocks: vec![numbers],
///             claims: vec![claim],
///         }
///         .into(),
///     ],
/// };
/// let folder = tempfile::tempdir()?;
/// report.write(folder.path(), true, false)?;
/// let text = std::fs::read_to_string(folder.path().join("README.md"))?;
/// assert!(text.contains("| 🟢 reproduced, 1 of 1; 1.70 times |"));
/// assert!(text.contains("\n[figure-12.csv](figure-12.csv)"));
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
    pub parts: Vec<Part>,
}

impl PaperReport {
    /// Writes README.md, claims.csv, the plots and the CSV into a folder, and index.html if `html`. Without `force` no file
    /// replaces another.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn write(&self, folder: &Path, html: bool, force: bool) -> Result<()> {
        let blocks = || self.parts.iter().flat_map(|part| part.blocks());
        let mut files: Vec<(String, String)> = blocks()
            .filter_map(|block| match block {
                Block::Plot(name, plot) => Some((format!("{name}.svg"), plot.svg())),
                Block::File(name, text) => Some((name.clone(), text.clone())),
                _ => None,
            })
            .collect();
        let markdown = self.markdown();
        if html {
            let plots = blocks().filter_map(|block| match block {
                Block::Plot(name, plot) => Some((name.as_str(), plot)),
                _ => None,
            });
            files.push((PAGE.into(), page(&markdown, plots)));
        }
        files.push((REPORT.into(), markdown));
        files.push((CLAIMS.into(), csv(&self.rows())));
        write_files(folder, &files, force)
    }

    /// Whether verdicts depend on the order of comparison.
    fn ordered(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Measured(section) => {
                section.claims.iter().any(|c| matches!(c.answer, Answer::Each(_)))
            }
            Part::Earlier(earlier) => earlier.rows.iter().any(|row| row.verdicts.len() == 2),
        })
    }

    fn rows(&self) -> Vec<Row> {
        let ordered = self.ordered();
        let of = |part: &Part| match part {
            Part::Measured(section) => {
                section.claims.iter().map(|c| Row::new(c, ordered)).collect()
            }
            Part::Earlier(earlier) => earlier.rows.clone(),
        };
        self.parts.iter().flat_map(of).collect()
    }

    /// How many claims have which verdict, by order of comparison.
    fn tally(&self, rows: &[Row]) -> String {
        if !self.ordered() {
            return format!("- {}", tally(rows, 0));
        }
        let line = |order: usize| format!("- {} order: {}", ORDERS[order], tally(rows, order));
        format!("{}\n{}", line(0), line(1))
    }

    fn header(&self) -> Vec<String> {
        // Where no claim has to do with orders, one verdict says all.
        let verdicts: &[&str] = match self.ordered() {
            true => &[
                "verdict, ascending (the paper's order)",
                "verdict, descending (the default here)",
            ],
            false => &["verdict"],
        };
        let header = [&["paper", "claim", "a case holds"], verdicts, &["why"]].concat();
        header.into_iter().map(String::from).collect()
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        for paragraph in &self.opening {
            let _ = writeln!(text, "{paragraph}\n");
        }
        let rows = self.rows();
        let _ = writeln!(text, "{}\n", self.tally(&rows));
        let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
        text += &markdown_table(&self.header(), &cells, false);
        let _ = writeln!(text, "\nThe same rows: [{CLAIMS}]({CLAIMS})");
        for part in &self.parts {
            let _ = writeln!(text, "\n## {}", part.title());
            if let Part::Earlier(earlier) = part {
                let _ = write!(text, "\n{}", earlier.body);
            }
            for block in part.blocks() {
                text.push('\n');
                match block {
                    Block::Text(paragraph) => text += &format!("{paragraph}\n"),
                    Block::Table { header, rows } => text += &markdown_table(header, rows, true),
                    Block::Plot(name, plot) => {
                        text += &format!("![{}]({name}.svg)\n", plot.title);
                    }
                    Block::File(name, _) => text += &format!("[{name}]({name})\n"),
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
            body = format!("{before}<span class=\"scroll\">{}</span>{after}", plot.svg());
        }
    }
    let body = tallies(&body);
    // The first table has the claims. Wide tables scroll by themselves.
    let body = match body.split_once("</table>") {
        Some((claims, rest)) => format!("{}</table>{rest}", cards(claims)),
        None => body,
    };
    let body = body.replace("<table", "<div class=\"scroll\"><table");
    let body = body.replace("</table>", "</table></div>");
    let title = markdown.lines().next().unwrap_or_default().trim_start_matches("# ");
    document(title, PreEscaped(body))
}

/// The table of claims, whose rows are cards on a narrow screen: each cell has its title, and each verdict its colour.
fn cards(table: &str) -> String {
    let titles: Vec<String> = table
        .split("<th>")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("</th>")?.0.replace('"', "&quot;")))
        .collect();
    let mut rows = table.split("<tr><td>");
    let mut text = rows.next().unwrap_or_default().replace("<table>", "<table class=\"claims\">");
    for row in rows {
        text += "<tr>";
        for (at, cell) in row.split("<td>").enumerate() {
            let title = titles.get(at).map_or("", String::as_str);
            let _ = write!(text, "<td data-title=\"{title}\">{}", badge(cell));
        }
    }
    text
}

/// The items of the lists of counts, each as a badge: not every font has the signs.
fn tallies(body: &str) -> String {
    let mut parts = body.split("<li>");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        text += "<li>";
        let Some((item, rest)) = part.split_once("</li>") else {
            text += part;
            continue;
        };
        let badges: Vec<String> = item
            .split(", ")
            .map(|one| match SIGNS.iter().find_map(|sign| Some((sign, one.split_once(sign.0)?))) {
                Some(((_, class, sign), (before, count))) => {
                    format!("{before}<span class=\"verdict {class}\">{sign} {count}</span>")
                }
                None => one.into(),
            })
            .collect();
        let _ = write!(text, "{}</li>{rest}", badges.join(" "));
    }
    text
}

/// Signs of verdicts with their class in the style and a sign that every font has.
const SIGNS: [(&str, &str, &str); 4] =
    [("🟢 ", "reproduced", "✓"), ("🟡 ", "partly", "◐"), ("🔴 ", "not", "✗"), ("⚪ ", "none", "–")];

/// A cell whose sign and verdict are a badge.
fn badge(cell: &str) -> String {
    let found = SIGNS.iter().find_map(|sign| Some((sign, cell.strip_prefix(sign.0)?)));
    let Some(((_, class, sign), rest)) = found else { return cell.to_string() };
    let end = rest.find([',', ':', '<']).unwrap_or(rest.len());
    let (verdict, said) = rest.split_at(end);
    let said = said.trim_start_matches([',', ':']).trim_start();
    format!("<span class=\"verdict {class}\">{sign} {verdict}</span> <span class=\"said\">{said}")
        .replacen("</td>", "</span></td>", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::plot::{Kind, Series};

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
            groups: vec![],
            kind: Kind::Lines,
            logarithmic: false,
            series: vec![Series { points: vec![(0, 1.0, 0.0), (1, 2.0, 0.0)], ..Series::new("s") }],
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
            parts: vec![section.into()],
        }
    }

    #[test]
    fn the_page_is_the_markdown() {
        let folder = tempfile::tempdir().unwrap();
        report().write(folder.path(), false, false).unwrap();
        assert!(!folder.path().join("index.html").exists(), "it was not asked for");
        report().write(folder.path(), true, true).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let markdown = read("README.md");
        let row = "| figure 1 | a < b | from 2 on | 🟡 partly, 1 of 2; 1\\|2 | 🔴 not reproduced, 0 of 1; \
                   1\\|2 | cases |";
        assert!(markdown.contains(row), "{markdown}");
        let row =
            "| table 1 | watts | – | ⚪ no verdict: contains the paper's own | the same | – |";
        assert!(markdown.contains(row), "{markdown}");
        assert!(markdown.contains("| graph | cycles |\n|---|---:|\n| a | 7 |"), "{markdown}");
        let html = read("index.html");
        let tally = "- ascending order: 🟢 0 of 2 claims reproduced, 🟡 1 partly, 🔴 0 not reproduced, ⚪ 1 without a \
                     verdict\n- descending order: 🟢 0 of 2 claims";
        assert!(markdown.contains(tally), "{markdown}");
        let badge = "<td data-title=\"verdict, ascending (the paper's order)\"><span class=\"verdict partly\">◐ \
                     partly</span> <span class=\"said\">1 of 2; 1|2</span></td>";
        assert!(html.contains(badge), "{html}");
        assert!(html.contains("<td data-title=\"claim\">a &lt; b</td>"), "{html}");
        assert!(html.contains("<h1>T &amp; U</h1>"), "{html}");
        assert_eq!(read("f.csv"), "x\n1\n");
        assert!(html.contains("<svg") && !html.contains("<img"), "the plot is in the page: {html}");
        let (_, body) = html.split_once("<body>").unwrap();
        let (body, _) = body.split_once("</body>").unwrap();
        roxmltree::Document::parse(body).expect("every tag is closed");
    }
}
