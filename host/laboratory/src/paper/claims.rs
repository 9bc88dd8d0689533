//! Claims as rows: of the report's table, and of the file claims.csv.

use super::report::{Answer, Claim, Finding, ORDERS};

/// The file of all claims.
pub(crate) const CLAIMS: &str = "claims.csv";

/// Signs of the verdicts in the table.
const SIGNS: [&str; 4] = ["🟢 ", "🟡 ", "🔴 ", "⚪ "];

/// What stands in the other order's cell.
pub(crate) const SAME: &str = "the same";

/// A row of the table of claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Figure or table.
    pub place: String,
    /// The claim.
    pub claim: String,
    /// When a case holds.
    pub bar: String,
    /// The verdict, or one for each of [`ORDERS`].
    pub verdicts: Vec<String>,
    /// Why it differs.
    pub why: String,
}

impl Row {
    /// A claim's row, in a report with verdicts by order or with one.
    pub fn new(claim: &Claim, ordered: bool) -> Self {
        let verdicts = match &claim.answer {
            Answer::Each(both) => both.iter().map(Finding::cell).collect(),
            Answer::Any(one) if ordered => vec![one.cell(), SAME.into()],
            Answer::Any(one) => vec![one.cell()],
        };
        let bar = if claim.bar.is_empty() { "–".into() } else { claim.bar.clone() };
        let [place, text] = [claim.place, claim.claim].map(String::from);
        Row { place, claim: text, bar, verdicts, why: claim.why.clone() }
    }

    /// A row as it stands in a report.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.strip_prefix("| ")?.strip_suffix(" |")?.replace("\\|", "\u{0}");
        let mut cells: Vec<String> = line.split(" | ").map(|c| c.replace('\u{0}', "|")).collect();
        if !(5..=6).contains(&cells.len()) {
            return None;
        }
        let why = cells.pop()?;
        let verdicts = cells.split_off(3);
        let [place, claim, bar]: [String; 3] = cells.try_into().ok()?;
        Some(Row { place, claim, bar, verdicts, why })
    }

    /// The cells of the table.
    pub fn cells(&self) -> Vec<String> {
        let first = [&self.place, &self.claim, &self.bar].map(Clone::clone).to_vec();
        [first, self.verdicts.clone(), vec![self.why.clone()]].concat()
    }

    /// The verdict in one of [`ORDERS`].
    pub fn verdict(&self, order: usize) -> &str {
        match self.verdicts.get(order) {
            Some(cell) if cell != SAME => cell,
            _ => self.verdicts.first().map_or("", String::as_str),
        }
    }
}

/// Whether a line of a report is a row of the table of claims.
#[cfg(test)]
pub(crate) fn is_claim(line: &str) -> bool {
    line.starts_with("| ") && SIGNS.iter().any(|sign| line.contains(sign))
}

/// A verdict's cell taken apart: its word, cases that hold, all cases, those that were not run, and the rest.
fn parts(cell: &str) -> [String; 5] {
    let text = SIGNS.iter().find_map(|sign| cell.strip_prefix(sign)).unwrap_or(cell);
    if let Some(why) = text.strip_prefix("no verdict: ") {
        return ["none".into(), String::new(), String::new(), String::new(), why.into()];
    }
    let (verdict, figures) = text.split_once("; ").unwrap_or((text, ""));
    let (word, cases) = verdict.split_once(", ").unwrap_or((verdict, ""));
    let (cases, not_run) = cases.split_once(" (").unwrap_or((cases, "0 "));
    let not_run = not_run.split(' ').next().unwrap_or("0");
    let (holds, of) = cases.split_once(" of ").unwrap_or(("", ""));
    let of = of.split(' ').next().unwrap_or("");
    [word, holds, of, not_run, figures].map(String::from)
}

/// All claims as CSV: a line for each verdict.
pub(crate) fn csv(rows: &[Row]) -> String {
    let mut text = String::from("place,claim,bar,order,verdict,holds,of,not_run,figures\n");
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    for row in rows {
        for (order, cell) in row.verdicts.iter().enumerate().filter(|(_, cell)| *cell != SAME) {
            let ordered = row.verdicts.len() == 2 && row.verdicts[1] != SAME;
            let order = if ordered { ORDERS[order] } else { "any" };
            let [word, holds, of, not_run, figures] = parts(cell);
            let first = [&row.place, &row.claim, &row.bar].map(|c| quoted(c)).join(",");
            let figures = quoted(&figures);
            text += &format!("{first},{order},{word},{holds},{of},{not_run},{figures}\n");
        }
    }
    text
}

/// Number of claims with each verdict in one of [`ORDERS`]: `8 of 30 claims reproduced, …`.
pub(crate) fn tally(rows: &[Row], order: usize) -> String {
    let count = |sign: &str| rows.iter().filter(|r| r.verdict(order).starts_with(sign)).count();
    let [reproduced, partly, not, none] = SIGNS.map(count);
    format!(
        "🟢 {reproduced} of {} claims reproduced, 🟡 {partly} partly, 🔴 {not} not reproduced, ⚪ {none} without a verdict",
        rows.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let row = Row {
            place: "figure 12".into(),
            claim: "a | b".into(),
            bar: "from 2 on".into(),
            verdicts: vec![
                "🟡 partly, 3 of 5 (1 not run); 1.0 to 2.0 points".into(),
                "⚪ no verdict: other machines; 7 %".into(),
            ],
            why: "–".into(),
        };
        let cells: Vec<String> = row.cells().iter().map(|c| c.replace('|', "\\|")).collect();
        let line = format!("| {} |", cells.join(" | "));
        assert_eq!(Row::parse(&line).unwrap(), row);
        assert_eq!(
            csv(&[row]).lines().skip(1).collect::<Vec<_>>(),
            [
                "\"figure 12\",\"a | b\",\"from 2 on\",ascending,partly,3,5,1,\"1.0 to 2.0 points\"",
                "\"figure 12\",\"a | b\",\"from 2 on\",descending,none,,,,\"other machines; 7 %\"",
            ]
        );
    }

    #[test]
    fn verdicts_are_counted() {
        let row = |cells: &[&str]| Row {
            place: String::new(),
            claim: String::new(),
            bar: String::new(),
            verdicts: cells.iter().map(|c| c.to_string()).collect(),
            why: String::new(),
        };
        let rows = [
            row(&["🟢 reproduced, 1 of 1", SAME]),
            row(&["🔴 not reproduced, 0 of 1", "🟢 reproduced, 1 of 1"]),
            row(&["⚪ no verdict: a reason", "⚪ no verdict: a reason"]),
        ];
        let text = |reproduced, not| {
            format!(
                "🟢 {reproduced} of 3 claims reproduced, 🟡 0 partly, 🔴 {not} not reproduced, ⚪ 1 without a verdict"
            )
        };
        assert_eq!([tally(&rows, 0), tally(&rows, 1)], [text(1, 1), text(2, 0)]);
    }
}
