//! The report: the same blocks as Markdown and as one HTML page, the plots and the CSV beside them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::explore::plot::Plot;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::write_whole;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Ours says the same.
    Reproduced,
    /// The direction is the same, or it holds for some cases.
    Partly,
    /// Ours says otherwise.
    Not,
    /// Nothing here was measured for it.
    Open,
}

impl Verdict {
    /// By how many of the cases a claim holds.
    pub fn of(holds: impl IntoIterator<Item = bool>) -> Self {
        let all: Vec<bool> = holds.into_iter().collect();
        match all.iter().filter(|&&h| h).count() {
            _ if all.is_empty() => Verdict::Open,
            0 => Verdict::Not,
            n if n == all.len() => Verdict::Reproduced,
            _ => Verdict::Partly,
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Partly => "partly",
            Verdict::Not => "not reproduced",
            Verdict::Open => "not measured here",
        }
    }
}

/// A claim of the paper beside ours.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Figure or table.
    pub place: &'static str,
    /// What the paper says.
    pub claim: &'static str,
    /// What became of it.
    pub verdict: Verdict,
    /// Our figure.
    pub ours: String,
    /// Why it differs, or what to keep in mind.
    pub why: String,
}

/// A part of a section.
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
#[derive(Debug, Clone)]
pub struct Report {
    /// Title.
    pub title: String,
    /// Paragraphs before the table of claims.
    pub opening: Vec<String>,
    /// Sections.
    pub sections: Vec<Section>,
}

impl Report {
    /// Writes README.md, index.html, the plots and the CSV into a folder.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, folder: &Path) -> Result<()> {
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
        write("index.html", &self.html())?;
        write("README.md", &self.markdown())
    }

    fn claims(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let header = ["paper", "claim", "verdict", "ours", "why"].map(String::from).to_vec();
        let rows = self.sections.iter().flat_map(|s| &s.claims).map(|c| {
            let verdict = c.verdict.word().to_string();
            vec![c.place.into(), c.claim.into(), verdict, c.ours.clone(), c.why.clone()]
        });
        (header, rows.collect())
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

    fn html(&self) -> String {
        let mut text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <title>{0}</title>\n<style>\nbody {{ font-family: sans-serif; max-width: 64em; \
             margin: 2em auto; padding: 0 1em; line-height: 1.4; }}\n\
             table {{ border-collapse: collapse; font-size: 90%; }}\n\
             td, th {{ border: 1px solid #bbb; padding: 0.2em 0.5em; text-align: left; \
             vertical-align: top; }}\ntable.numbers td + td {{ text-align: right; }}\n\
             svg {{ max-width: 100%; height: auto; }}\n</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
            escaped(&self.title)
        );
        for paragraph in &self.opening {
            let _ = writeln!(text, "<p>{}</p>", escaped(paragraph));
        }
        let (header, rows) = self.claims();
        text += &html_table(&header, &rows, "claims");
        for section in &self.sections {
            let _ = writeln!(text, "<h2>{}</h2>", escaped(&section.title));
            for block in &section.blocks {
                match block {
                    Block::Text(paragraph) => {
                        let _ = writeln!(text, "<p>{}</p>", escaped(paragraph));
                    }
                    Block::Table { header, rows } => text += &html_table(header, rows, "numbers"),
                    Block::Plot(_, plot) => {
                        let _ = writeln!(text, "<figure>{}</figure>", plot.svg());
                    }
                    Block::File(name, _) => {
                        let _ = writeln!(text, "<p>Numbers: <a href=\"{name}\">{name}</a></p>");
                    }
                }
            }
        }
        text + "</body>\n</html>\n"
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

fn html_table(header: &[String], rows: &[Vec<String>], class: &str) -> String {
    let row = |cells: &[String], tag: &str| {
        let cells: String =
            cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escaped(c))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let body: String = rows.iter().map(|r| row(r, "td")).collect();
    format!("<table class=\"{class}\">\n{}{body}</table>\n", row(header, "th"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let claim = Claim {
            place: "figure 1",
            claim: "a < b",
            verdict: Verdict::of([true, false]),
            ours: "1|2".into(),
            why: "cases".into(),
        };
        let table = Block::Table {
            header: vec!["graph".into(), "cycles".into()],
            rows: vec![vec!["a".into(), "7".into()]],
        };
        let section = Section {
            title: "Figure 1".into(),
            blocks: vec![table, Block::File("f.csv".into(), "x\n1\n".into())],
            claims: vec![claim],
        };
        Report { title: "T".into(), opening: vec!["First.".into()], sections: vec![section] }
    }

    #[test]
    fn verdicts_count_the_cases() {
        assert_eq!(Verdict::of([]), Verdict::Open);
        assert_eq!(Verdict::of([true, true]), Verdict::Reproduced);
        assert_eq!(Verdict::of([true, false]), Verdict::Partly);
        assert_eq!(Verdict::of([false]), Verdict::Not);
    }

    #[test]
    fn markdown_and_html_say_the_same() {
        let folder = tempfile::tempdir().unwrap();
        report().write(folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let markdown = read("README.md");
        assert!(markdown.contains("| figure 1 | a < b | partly | 1\\|2 | cases |"), "{markdown}");
        assert!(markdown.contains("| graph | cycles |\n|---|---:|\n| a | 7 |"), "{markdown}");
        let html = read("index.html");
        assert!(html.contains("<td>a &lt; b</td><td>partly</td><td>1|2</td>"), "{html}");
        assert_eq!(read("f.csv"), "x\n1\n");
        let body =
            html.split_once("<!DOCTYPE html>\n").unwrap().1.replace("<meta charset=\"utf-8\">", "");
        roxmltree::Document::parse(&body).expect("every tag is closed");
    }
}
