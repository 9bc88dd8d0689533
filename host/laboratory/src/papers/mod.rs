//! One table of all experiments of the four papers, by the claims of the reports `paper` and `paper-gpu`.

mod list;

use std::fmt::Write as _;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

use gramer_base::error::{Error, Result};
use gramer_base::output::write_files;

use crate::paper::claims::Row;
use crate::paper::earlier::Report;
use crate::paper::report::REPORT;
use list::{EXPERIMENTS, Experiment};

/// What [`run`] reads and writes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of the report of `gramer-lab paper`.
    pub paper: PathBuf,
    /// Folder of the report of `gramer-lab paper-gpu`.
    pub paper_gpu: PathBuf,
    /// Folder of the table.
    pub out: PathBuf,
    /// Whether its files may replace others.
    pub force: bool,
}

/// The files of the table.
pub const FILES: [&str; 2] = [REPORT, "experiments.csv"];

/// The outcome of an experiment; see [`RULE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Reproduced,
    InPart,
    Not,
    NoVerdict,
    NotRun,
}

/// Place of claims on the report's own samples, which no paper makes.
pub(crate) const OWN: &str = "sampling";

/// The rule of the table.
const RULE: &str = "An experiment is *reproduced* if all of its decided claims are, *not reproduced* if none of them is \
                    reproduced or partly reproduced, and else *in part*. *No verdict*: it was run, but no claim of it \
                    can be decided. GRAMER's claims count in \
                    the paper's order (ascending). Claims, bars, cases and numbers are in the two reports.";

/// The rows of GRAMER's table III, by the files `table-3*.csv` of its report.
const TABLE_III: &str = "Of the 42 rows of GRAMER's table III, 17 are simulated on graphs at hand, whole but for 5-CF of \
                         ca-astroph in ascending order: a sample, ≈ 489 million cycles. 4-MC of ca-astroph isn't run: 1.6 · \
                         10⁹ cycles by the paper's time. The graphs of 24 rows, Mico, Patents, YT and LJ, aren't at hand; \
                         [samples of other graphs of their sizes](../paper/README.md#table-iii-at-the-size-of-mico) stand for \
                         nine. The other 15 aren't run: FSM isn't sampled, and single units of the rest have too much work to \
                         be counted.";

impl Status {
    const ALL: [Status; 5] =
        [Status::Reproduced, Status::InPart, Status::Not, Status::NoVerdict, Status::NotRun];

    fn of(rows: &[&Row]) -> Self {
        let count = |sign: &str| rows.iter().filter(|r| r.verdict(0).starts_with(sign)).count();
        let [reproduced, partly, not] = ["🟢", "🟡", "🔴"].map(count);
        match (reproduced, partly, not) {
            _ if rows.is_empty() => Status::NotRun,
            (0, 0, 0) => Status::NoVerdict,
            (_, 0, 0) => Status::Reproduced,
            (0, 0, _) => Status::Not,
            _ => Status::InPart,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Status::Reproduced => "reproduced",
            Status::InPart => "in part",
            Status::Not => "not reproduced",
            Status::NoVerdict => "no verdict",
            Status::NotRun => "not run",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Status::Reproduced => "🟢",
            Status::InPart => "🟡",
            Status::Not => "🔴",
            Status::NoVerdict | Status::NotRun => "⚪",
        }
    }
}

/// An experiment with its outcome.
struct Line<'a> {
    experiment: &'a Experiment,
    status: Status,
    reproduced: usize,
    claims: usize,
}

/// Writes the table.
///
/// # Errors
/// Errors of reading and writing; [`Error::Usage`] if a report has a claim of an experiment that the table doesn't
/// know.
pub fn run(options: &Options) -> Result<()> {
    let mut rows = vec![];
    for folder in [&options.paper, &options.paper_gpu] {
        rows.extend(Report::read(folder)?.rows());
    }
    let lines = lines(&rows)?;
    let files = [(FILES[0], page(&lines)), (FILES[1], csv(&lines))];
    write_files(&options.out, &files, options.force)
}

fn lines(rows: &[Row]) -> Result<Vec<Line<'static>>> {
    for row in rows.iter().filter(|row| row.place != OWN) {
        if !EXPERIMENTS.iter().any(|e| e.places.contains(&&*row.place)) {
            return Err(Error::usage(format!(
                "no experiment of the papers has the claims of {:?}; add it to papers/list.rs",
                row.place
            )));
        }
    }
    let line = |experiment: &'static Experiment| {
        let own: Vec<&Row> =
            rows.iter().filter(|row| experiment.places.contains(&&*row.place)).collect();
        let reproduced = own.iter().filter(|r| r.verdict(0).starts_with("🟢")).count();
        Line { experiment, status: Status::of(&own), reproduced, claims: own.len() }
    };
    Ok(EXPERIMENTS.iter().map(line).collect())
}

fn page(lines: &[Line<'_>]) -> String {
    let mut text = String::from("# Every experiment of the four papers\n\n");
    let _ = writeln!(
        text,
        "Written by `gramer-lab papers` from the claims of [GRAMER](../paper/README.md) and of \
         [DuMato, GSI with SGSI, and GAMMA](../paper-gpu/README.md). {RULE}\n"
    );
    let count = |status| lines.iter().filter(|line| line.status == status).count();
    let counts = Status::ALL.map(|s| format!("{} {} {}", s.sign(), count(s), s.word()));
    let _ = writeln!(text, "- {} experiments: {}\n", lines.len(), counts.join(", "));
    text += "| experiment | what it shows | outcome | claims |\n|---|---|---|---:|\n";
    for line in lines.iter().filter(|line| line.status != Status::NotRun) {
        let Experiment { paper, name, what, .. } = line.experiment;
        let status = format!("{} {}", line.status.sign(), line.status.word());
        let claims = format!("{}/{}", line.reproduced, line.claims);
        let _ = writeln!(text, "| {paper} {name} | {what} | {status} | {claims} |");
    }
    let _ = writeln!(
        text,
        "\nParts of these that were not run, such as graphs that are not at hand: column `note` of [{0}]({0}).\n\n\
         {TABLE_III}\n\n## Not run\n",
        FILES[1]
    );
    let left: Vec<&Line<'_>> = lines.iter().filter(|l| l.status == Status::NotRun).collect();
    let mut reasons: Vec<&str> = vec![];
    for line in &left {
        if !reasons.contains(&line.experiment.note) {
            reasons.push(line.experiment.note);
        }
    }
    for reason in reasons {
        let same = left.iter().filter(|line| line.experiment.note == reason);
        let names: Vec<String> =
            same.map(|l| format!("{} {}", l.experiment.paper, l.experiment.name)).collect();
        let _ = writeln!(text, "- {}: {reason}", names.join(", "));
    }
    text
}

fn csv(lines: &[Line<'_>]) -> String {
    let mut text = String::from("paper,experiment,what,outcome,reproduced,claims,note\n");
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    for line in lines {
        let Experiment { paper, name, what, note, .. } = line.experiment;
        let [name, what, note] = [name, what, note].map(|c| quoted(c));
        let (status, reproduced, claims) = (line.status.word(), line.reproduced, line.claims);
        let _ = writeln!(text, "{paper},{name},{what},{status},{reproduced},{claims},{note}");
    }
    text
}

/// The table in the folder of the results, for a test: whether it follows from the reports beside it.
#[cfg(test)]
fn published(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn row(place: &str, verdict: &str) -> Row {
        let [claim, bar, why] = [const { String::new() }; 3];
        Row { place: place.into(), claim, bar, verdicts: vec![verdict.into()], why }
    }

    #[test]
    fn outcomes_follow_from_the_claims() {
        let of = |verdicts: &[&str]| {
            let rows: Vec<Row> = verdicts.iter().map(|v| row("figure 12", v)).collect();
            Status::of(&rows.iter().collect::<Vec<_>>())
        };
        let [yes, partly, no, none] =
            ["🟢 reproduced, 1 of 1", "🟡 partly", "🔴 not", "⚪ no verdict: x"];
        assert_eq!(of(&[]), Status::NotRun);
        assert_eq!(of(&[none, none]), Status::NoVerdict);
        assert_eq!(of(&[yes, none]), Status::Reproduced);
        assert_eq!(of(&[no, none]), Status::Not);
        assert_eq!(of(&[yes, no]), Status::InPart);
        assert_eq!(of(&[partly]), Status::InPart);
        let lines =
            lines(&[row("figure 12 (a tenth)", yes), row("figure 12 (a fifth)", no)]).unwrap();
        let line = lines.iter().find(|l| l.experiment.name == "figure 12").unwrap();
        assert_eq!((line.status, line.reproduced, line.claims), (Status::InPart, 1, 2));
        assert!(super::lines(&[row("figure 99", yes)]).is_err());
    }

    #[test]
    fn what_is_not_run_has_a_reason_and_names_are_unique() {
        let rows: Vec<Row> = ["paper", "paper-gpu"]
            .iter()
            .flat_map(|name| Report::read(&published(name)).unwrap().rows())
            .collect();
        for line in lines(&rows).unwrap() {
            let Experiment { paper, name, note, .. } = line.experiment;
            assert!(line.claims > 0 || !note.is_empty(), "{paper}, {name}");
            let same = EXPERIMENTS.iter().filter(|e| (e.paper, e.name) == (*paper, *name)).count();
            assert_eq!(same, 1, "{paper}, {name}");
        }
    }

    /// `gramer-lab papers --force` writes it.
    #[test]
    fn the_published_table_follows_from_the_reports() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            paper: published("paper"),
            paper_gpu: published("paper-gpu"),
            out: folder.path().into(),
            force: false,
        };
        run(&options).unwrap();
        for name in FILES {
            let read = |folder: &Path| fs::read_to_string(folder.join(name)).unwrap();
            assert!(
                read(&published("papers")) == read(folder.path()),
                "docs/results/papers/{name} isn't that of the reports; run gramer-lab papers --force"
            );
        }
    }
}
