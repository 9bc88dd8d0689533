//! Sections of a report that lies in the folder, for a run of some of the experiments.

use std::fs;
use std::path::Path;

use gramer_base::error::{Error, Place, Result};

use super::claims::Row;
use super::report::REPORT;

/// Section of an existing report: its rows of the table of claims, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierSection {
    /// The title.
    pub title: String,
    /// The claims.
    pub rows: Vec<Row>,
    /// What stands below the title.
    pub body: String,
}

/// A report that was read.
#[derive(Debug)]
pub(crate) struct Report {
    /// The paragraphs before the table of claims.
    pub opening: Vec<String>,
    sections: Vec<EarlierSection>,
    path: std::path::PathBuf,
}

impl Report {
    /// The report in a folder.
    ///
    /// # Errors
    /// [`Error::Io`] if it can't be read, [`Error::Usage`] if there is none or it is no report.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(REPORT);
        let text = fs::read_to_string(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::usage(format!(
                "{}: there is no report whose other sections can stay; run all experiments first",
                Place::file(&path)
            )),
            _ => Error::io(&path, "read", e),
        })?;
        parse(&text, &path).ok_or_else(|| {
            Error::usage(format!(
                "{}: not a report of gramer-lab; run all experiments",
                Place::file(&path)
            ))
        })
    }

    /// All claims.
    pub fn rows(self) -> Vec<Row> {
        self.sections.into_iter().flat_map(|section| section.rows).collect()
    }

    /// The section with this title.
    ///
    /// # Errors
    /// [`Error::Usage`] if the report has none.
    pub fn section(&self, title: &str) -> Result<EarlierSection> {
        let found = self.sections.iter().find(|section| section.title == title);
        found.cloned().ok_or_else(|| {
            Error::usage(format!(
                "{}: the report has no section {title:?}; run its experiment, too",
                Place::file(&self.path)
            ))
        })
    }
}

fn parse(text: &str, path: &Path) -> Option<Report> {
    let mut parts = text.split("\n## ");
    let head = parts.next()?;
    let (before, table) = head.split_once("\n| paper | claim |")?;
    let mut rows: Vec<Row> = vec![];
    for line in table.lines().filter(|line| line.starts_with("| ")) {
        rows.push(Row::parse(line)?);
    }
    let paragraphs = before.split("\n\n").skip(1).map(str::trim);
    let opening = paragraphs.filter(|p| !p.is_empty() && !p.starts_with("- ")).map(String::from);
    let sections: Vec<(String, String)> = parts
        .map(|part| {
            let (title, body) = part.split_once('\n').unwrap_or((part, ""));
            (title.to_string(), format!("{}\n", body.trim_matches('\n')))
        })
        .collect();
    // A section's rows are those of its figures and tables.
    let mut all: Vec<EarlierSection> = sections
        .into_iter()
        .map(|(title, body)| EarlierSection { title, rows: vec![], body })
        .collect();
    for row in rows {
        let of = all.iter_mut().find(|section| names(&section.title, &row.place))?;
        of.rows.push(row);
    }
    Some(Report { opening: opening.collect(), sections: all, path: path.into() })
}

/// Whether a section with this title has the claims of a figure or table: `Figures 4 and 5: …` has those of
/// `figure 5a`, `Figure 12 by a replay …` those of `figure 12 (by size, replay)`, `GAMMA, figures 26, 27 and 32 to 34: …` those of `GAMMA, figure 33`.
fn names(title: &str, place: &str) -> bool {
    let (title, _) = title.split_once(':').unwrap_or((title, ""));
    let paper = |text: &str| text.split_once(", ").map(|(paper, _)| paper.to_lowercase());
    let known = ["dumato", "gsi", "sgsi", "gamma"];
    let paper = |text: &str| paper(text).filter(|paper| known.contains(&&**paper));
    let replay = |text: &str| text.contains("replay");
    paper(title) == paper(place)
        && replay(title) == replay(place)
        && numbers(place).iter().all(|n| numbers(title).contains(n))
        && kind(title) == kind(place)
        // What is neither a figure nor a table is named by a word of its section.
        && (kind(place).is_some() || title.to_lowercase().contains(place))
}

/// Figures or tables.
fn kind(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    ["figure", "table", "section"].into_iter().find(|kind| text.contains(kind))
}

/// The numbers of figures or tables in a text, with ranges in full: `32 to 34` as 32, 33, 34.
fn numbers(text: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    let mut range = false;
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        // `5a` is part of 5, and `6.5` and `A.1` are numbers of a thesis.
        let number = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let is = number.chars().any(|c| c.is_ascii_digit()) || ROMAN.contains(&number);
        if let (true, true, Some(last)) =
            (range, is, all.last().and_then(|n| n.parse::<u32>().ok()))
            && let Ok(to) = number.parse::<u32>()
        {
            all.extend((last + 1..=to).map(|n| n.to_string()));
        } else if is {
            all.push(number.into());
        }
        range = word == "to";
    }
    all
}

/// Tables of GRAMER.
const ROMAN: [&str; 4] = ["I", "II", "III", "IV"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_belong_to_the_sections_of_their_figures() {
        assert!(names("Figures 4 and 5: extension locality", "figure 5a"));
        assert!(names("GAMMA, figures 26, 27 and 32 to 34: mechanisms", "GAMMA, figure 33"));
        assert!(names("Table III: running times", "table III"));
        assert!(names("Tables II and IV: resources", "tables II, IV"));
        assert!(names("DuMato, table 6.7: balance", "DuMato, table 6.7"));
        assert!(!names("DuMato, table 6.6: donations", "DuMato, figure 6.6"));
        assert!(!names("Figure 3: waits", "table III"));
        assert!(!names("GSI, table 3: steps", "SGSI, table 3"));
        assert!(!names("Figure 14: τ and λ", "figure 4"));
        assert!(names(super::super::replay::TITLE, "figure 12 (by size, replay)"));
        assert!(!names(super::super::replay::TITLE, "figure 12 (by size)"));
        assert!(!names("Figure 12: the memory hierarchy", "figure 12 (by size, replay)"));
        assert!(names("Sampling of large runs", "sampling"));
        assert!(!names("Noise by the order of the work units", "sampling"));
    }

    #[test]
    fn the_published_report_is_read() {
        for name in ["paper", "paper-gpu"] {
            let folder =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results").join(name);
            let report = Report::read(&folder).unwrap();
            let text = fs::read_to_string(folder.join(REPORT)).unwrap();
            let (rows, sections) = (
                report.sections.iter().map(|s| s.rows.len()).sum::<usize>(),
                report.sections.iter().map(|s| s.title.as_str()).collect::<Vec<_>>(),
            );
            assert_eq!(rows, text.lines().filter(|l| super::super::claims::is_claim(l)).count());
            assert_eq!(sections.len(), text.matches("\n## ").count());
            assert!(
                report.opening[0].starts_with("Written by `gramer-lab"),
                "{:?}",
                report.opening
            );
            assert!(report.section("No such section").is_err());
        }
    }
}
