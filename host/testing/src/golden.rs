//! Checked-in files that tests compare. `GRAMER_BLESS=1` makes the test rewrite them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Whether files are written rather than compared.
pub fn is_blessed() -> bool {
    std::env::var("GRAMER_BLESS").as_deref() == Ok("1")
}

/// A table of answers: a row for each question, a column for each engine, tabs between them.
///
/// A cell that begins with `=` begins as the first column's does; `-` was not asked. The part of a cell from
/// [`APART`] on is the engine's own.
#[derive(Debug, Clone)]
pub struct Table {
    /// The file.
    pub path: PathBuf,
    /// Names of the columns that make up a question.
    pub question: &'static [&'static str],
    /// Names of the columns of answers.
    pub engines: &'static [&'static str],
}

/// What stands before the part of a cell that is not compared with the first column.
pub const APART: &str = " @";
/// A cell that was not asked.
const NOT_ASKED: &str = "-";
/// Most differences that a failure shows.
const SHOWN: usize = 20;

/// A question, and the answer of each engine.
type Row = (Vec<String>, Vec<String>);

/// A cell in two parts, at [`APART`].
fn parts(cell: &str) -> (&str, &str) {
    cell.split_at(cell.find(APART).unwrap_or(cell.len()))
}

/// The parts of a cell, between commas and semicolons, that another one lacks.
fn only_in(cell: &str, other: &str) -> String {
    let parts =
        |text: &'_ str| text.split([',', ';']).map(|p| p.trim().to_string()).collect::<Vec<_>>();
    let others = parts(other);
    let own: Vec<String> = parts(cell).into_iter().filter(|part| !others.contains(part)).collect();
    if own.is_empty() { cell.to_string() } else { own.join(", ") }
}

impl Table {
    /// Compares the answers of one engine to some of the questions, or writes them.
    ///
    /// # Panics
    /// If an answer differs, or a question is not in the file; the message shows both answers.
    pub fn check(&self, engine: &str, answers: &[(Vec<String>, String)]) {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.engines.iter().position(|name| *name == engine).expect("a known engine");
        if is_blessed() {
            return self.write(at, answers);
        }
        let kept: BTreeMap<Vec<String>, Vec<String>> = self.read().into_iter().collect();
        let mut differences = vec![];
        for (question, answer) in answers {
            let of_file = kept.get(question).map_or("no such row", |cells| &cells[at]);
            if of_file != answer {
                let question = question.join(", ");
                let (file, found) = (only_in(of_file, answer), only_in(answer, of_file));
                differences.push(format!("{question}:\n  file  {file}\n  found {found}"));
            }
        }
        let count = differences.len();
        differences.truncate(SHOWN);
        assert!(
            count == 0,
            "{engine}: {count} of {} answers differ from {} (GRAMER_BLESS=1 writes it):\n{}",
            answers.len(),
            self.path.display(),
            differences.join("\n")
        );
    }

    /// All rows, with every cell in full.
    ///
    /// # Panics
    /// If the file can't be read or has other columns.
    pub fn read(&self) -> Vec<Row> {
        let text = fs::read_to_string(&self.path)
            .unwrap_or_else(|e| panic!("{}: {e} (GRAMER_BLESS=1 writes it)", self.path.display()));
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(self.head().as_str()), "{}", self.path.display());
        lines.map(|line| self.row(line)).collect()
    }

    fn head(&self) -> String {
        [self.question, self.engines].concat().join("\t")
    }

    fn row(&self, line: &str) -> Row {
        let cells: Vec<String> = line.split('\t').map(String::from).collect();
        let columns = self.question.len() + self.engines.len();
        assert_eq!(cells.len(), columns, "{}: {line}", self.path.display());
        let (question, cells) = cells.split_at(self.question.len());
        let first = parts(&cells[0]).0;
        let whole = |cell: &String| match cell.strip_prefix('=') {
            Some(apart) => format!("{first}{apart}"),
            None => cell.clone(),
        };
        (question.to_vec(), cells.iter().map(whole).collect())
    }

    /// Writes one engine's answers beside those of the others, in the order of the questions.
    fn write(&self, at: usize, answers: &[(Vec<String>, String)]) {
        let mut rows = if self.path.exists() { self.read() } else { vec![] };
        for (question, answer) in answers {
            let row = match rows.iter().position(|row| row.0 == *question) {
                Some(row) => &mut rows[row],
                None => {
                    let cells = vec![NOT_ASKED.to_string(); self.engines.len()];
                    rows.push((question.clone(), cells));
                    rows.last_mut().expect("it has just been pushed")
                }
            };
            row.1[at].clone_from(answer);
        }
        rows.sort();
        let mut text = self.head() + "\n";
        for (question, cells) in rows {
            let first = parts(&cells[0]).0.to_string();
            let short = |(at, cell): (usize, &String)| match parts(cell) {
                (answer, apart) if at > 0 && answer == first && answer != NOT_ASKED => {
                    format!("={apart}")
                }
                _ => cell.clone(),
            };
            let cells: Vec<String> = cells.iter().enumerate().map(short).collect();
            text += &format!("{}\t{}\n", question.join("\t"), cells.join("\t"));
        }
        fs::write(&self.path, text).expect("the file can be written");
    }
}

/// 32 bits of a text as eight hexadecimal digits (FNV-1a), for cells that would be too long to be read.
pub fn digest(text: &str) -> String {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    format!("{:08x}", text.bytes().fold(0x811c_9dc5, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(folder: &std::path::Path) -> Table {
        let path = folder.join("table.tsv");
        Table { path, question: &["task", "graph"], engines: &["first", "second"] }
    }

    fn answer(question: [&str; 2], answer: &str) -> (Vec<String>, String) {
        (question.map(String::from).to_vec(), answer.to_string())
    }

    #[test]
    fn answers_come_back_and_equal_ones_are_short() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(folder.path());
        table.write(0, &[answer(["b", "x"], "7"), answer(["a", "x"], "3")]);
        table.write(1, &[answer(["b", "x"], "7 @12"), answer(["a", "x"], "4 @5")]);
        let text = fs::read_to_string(&table.path).unwrap();
        assert_eq!(text, "task\tgraph\tfirst\tsecond\na\tx\t3\t4 @5\nb\tx\t7\t= @12\n");
        assert_eq!(table.read()[1].1, ["7", "7 @12"]);
        table.check("second", &[answer(["b", "x"], "7 @12")]);
    }

    #[test]
    fn only_the_parts_that_differ_are_shown() {
        assert_eq!(only_in("3 a, 4 b; 2 of 2", "3 a, 5 b; 2 of 2"), "4 b");
        assert_eq!(only_in("3 a", "3 a, 5 b"), "3 a");
    }

    #[test]
    #[should_panic(expected = "1 of 2 answers differ")]
    fn a_difference_fails() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(folder.path());
        let own = [answer(["a", "x"], "3"), answer(["b", "x"], "7")];
        table.write(0, &own);
        table.check("first", &[own[0].clone(), answer(["b", "x"], "8")]);
    }

    #[test]
    #[should_panic(expected = "no such row")]
    fn a_question_that_the_file_lacks_fails() {
        let folder = tempfile::tempdir().unwrap();
        let table = table(folder.path());
        table.write(0, &[answer(["a", "x"], "3")]);
        table.check("first", &[answer(["b", "x"], "3")]);
    }
}
