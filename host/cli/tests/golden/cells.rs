//! The cells of the matrix: runs of the program, and what they answer in a few words.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gramer::Pattern;
use gramer_testing::golden::digest;
use gramer_testing::schema::check_answer;
use gramer_testing::truth::{Counts, Small};
use serde_json::Value;

use super::questions::{Form, Question};

/// The program under test: the one built with the test, or one to compare.
pub fn program() -> PathBuf {
    let other = std::env::var_os("GRAMER_GOLDEN_PROGRAM").map(PathBuf::from);
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_gramer").into())
}

/// What a question becomes on a device.
pub struct Cell {
    pub text: String,
    /// Counts of patterns that occur, where the answer is counts.
    pub counts: Option<Counts>,
    /// Whether the refusal is the same for every graph.
    pub for_all: bool,
}

/// A device.
pub struct Runner<'a> {
    pub device: &'a str,
    /// Words in front of the program, and behind its options.
    pub around: [&'a [&'a str]; 2],
    /// Where files of a run are.
    pub folder: &'a Path,
}

impl Runner<'_> {
    fn run(&self, command: &str, question: &Question, graph: &str, more: &[&str]) -> Output {
        let program = program();
        let [front, behind] = self.around;
        let mut words = front.iter().map(OsStr::new).chain([program.as_os_str()]);
        let mut run = Command::new(words.next().expect("the program"));
        run.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        run.args(words).arg(command).args(&question.words).arg(graph);
        run.args(["--json", "--threads", "2", "--device", self.device]).args(more).args(behind);
        run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        run.output().expect("the program starts")
    }

    fn file(&self, name: &str) -> String {
        let path = self.folder.join(format!("{name}-{}", self.device.replace([':', ','], "-")));
        let _ = fs::remove_file(&path);
        path.to_str().expect("UTF-8").into()
    }

    /// The answer, or the refusal with its exit code.
    pub fn cell(&self, question: &Question, form: Form, graph: &str) -> Cell {
        let list = self.file("list") + ".jsonl";
        let options: Vec<&str> = match form {
            Form::Count | Form::Kept => vec![],
            Form::List => vec!["--force", "--list", &list],
            Form::PerVertex => vec!["--per", "vertex", "--top", "1000"],
            Form::PerEdge => vec!["--per", "edge", "--top", "1000"],
            Form::Estimate => vec!["--estimate", "5%"],
        };
        let mined = match form {
            Form::Kept => self.kept(question, graph),
            _ => self.run("mine", question, graph, &options),
        };
        if !mined.status.success() {
            return self.refusal(question, graph, &options, &mined);
        }
        let document: Value = serde_json::from_slice(&mined.stdout).expect("a document");
        check_answer(&document);
        assert_eq!(document["complete"], true);
        let rows: Vec<Row> =
            document["results"].as_array().expect("results").iter().map(Row::of).collect();
        let mut text = match form {
            Form::Estimate => estimated(&document),
            Form::PerVertex | Form::PerEdge => columns(&document),
            _ => counted(&rows),
        };
        if form == Form::List {
            text = format!("{} listed, {}; {text}", document["listed"], listed(&list));
        }
        if let Some(cycles) = document["devices"][0]["metrics"]["run.cycles"]["value"].as_u64() {
            text += &format!("{}{cycles} cycles", gramer_testing::golden::APART);
        }
        let counts = (form != Form::Estimate).then(|| in_numbers(&rows));
        Cell { text, counts, for_all: false }
    }

    /// A run with a checkpoint that may be stopped by a short limit, and the one that continues it.
    fn kept(&self, question: &Question, graph: &str) -> Output {
        let file = self.file("checkpoint");
        let kept = ["--checkpoint", &file, "--checkpoint-interval", "0.001"];
        let limit = [&kept[..], &["--time-limit", "0.005"]].concat();
        let first = self.run("mine", question, graph, &limit);
        let resume = PathBuf::from(&file).exists();
        assert!(!resume || first.status.code() == Some(124), "an unfinished run exits with 124");
        let more: &[&str] = if resume { &["--resume"] } else { &[] };
        let second = self.run("mine", question, graph, &[&kept[..], more].concat());
        assert!(!second.status.success() || !PathBuf::from(&file).exists(), "it is removed");
        second
    }

    /// The exit code, and the classes of the reasons of all methods.
    fn refusal(&self, question: &Question, graph: &str, options: &[&str], mined: &Output) -> Cell {
        let said = String::from_utf8_lossy(&mined.stderr);
        let code = mined.status.code().unwrap_or(-1);
        assert!(said.contains("gramer: ") || said.contains("error"), "{}: {said}", question.name);
        assert!(!said.contains("panicked"), "{}: {said}", question.name);
        let cell = |class: &str, for_all| Cell {
            text: format!("exit {code}: {class}"),
            counts: None,
            for_all,
        };
        let plan = self.run("plan", question, graph, options);
        let Ok(plan) = serde_json::from_slice::<Value>(&plan.stdout) else {
            return cell(if code == 2 { "usage" } else { "not explained" }, false);
        };
        if code == 2 && !plan["runs"].is_null() && said.contains("label") {
            // The graph lacks the labels that are asked for.
            return cell("usage", false);
        }
        if !plan["runs"].is_null() {
            // What the planner wasn't asked: shares, or what only the run knows. A failure of the test shows it.
            eprintln!("{} on {graph}: {said}", question.name);
            return cell("in shares", false);
        }
        let mut classes: Vec<String> =
            plan["not"].as_array().expect("reasons").iter().map(|not| class(&not[1])).collect();
        classes.sort();
        classes.dedup();
        if classes.len() > 1 {
            classes.retain(|class| class != "task");
        }
        cell(&classes.join(", "), true)
    }
}

/// The class of a reason, with the needs that aren't met.
fn class(reason: &Value) -> String {
    let Some((name, of)) = reason.as_object().and_then(|reason| reason.iter().next()) else {
        return reason.as_str().expect("a class").into();
    };
    match name.as_str() {
        "member" => class(&of["reason"]),
        "needs" => {
            let needs = of.as_array().expect("needs").iter().filter_map(Value::as_str);
            format!("needs {}", needs.collect::<Vec<_>>().join("+"))
        }
        _ => name.clone(),
    }
}

/// A pattern with its number.
struct Row {
    name: String,
    pattern: Pattern,
    count: u128,
}

impl Row {
    fn of(entry: &Value) -> Self {
        let labels = |field: &str| match &entry["pattern"][field] {
            Value::Null => String::new(),
            labels => labels.to_string(),
        };
        let name = entry["name"].as_str().expect("a name");
        let name = format!("{name}{}{}", labels("labels"), labels("edge_labels"));
        let pattern = serde_json::from_value(entry["pattern"].clone()).expect("a pattern");
        Row { name, pattern, count: entry["count"].as_u64().unwrap_or(0).into() }
    }
}

fn in_numbers(rows: &[Row]) -> Counts {
    let some = rows.iter().filter(|row| row.count > 0);
    some.map(|row| (Small::of_pattern(&row.pattern).key(), row.count)).collect()
}

/// Counts in the order of the answer, without those that are 0, and the number of rows.
fn counted(rows: &[Row]) -> String {
    let some: Vec<String> =
        rows.iter().filter(|r| r.count > 0).map(|r| format!("{} {}", r.count, r.name)).collect();
    let of = format!("of {} rows", rows.len());
    if some.is_empty() {
        return format!("none {of}");
    }
    format!("{}; {} {of}", some.join(", "), some.len())
}

/// Estimates to three digits after the point, with the hits.
fn estimated(document: &Value) -> String {
    let rows = document["results"].as_array().expect("results");
    let row = |row: &Value| {
        let estimate = &row["estimate"];
        let value = estimate["value"].as_f64().expect("a value");
        format!(
            "{value:.3} {} ({} hits)",
            row["name"].as_str().unwrap_or_default(),
            estimate["hits"]
        )
    };
    let some: Vec<String> = rows.iter().map(row).collect();
    let samples = &document["estimate"]["samples"];
    format!("about {}; {samples} samples", some.join(", "))
}

/// Sums of columns, and a digest of all numbers in them.
fn columns(document: &Value) -> String {
    let columns = document["per"]["columns"].as_array().expect("columns");
    let all: String = columns.iter().map(|column| column.to_string()).collect();
    let sum =
        |column: &Value| format!("{} {}", column["sum"], column["name"].as_str().unwrap_or(""));
    let sums: Vec<String> = columns.iter().take(4).map(sum).collect();
    let more = if columns.len() > 4 { ", …" } else { "" };
    format!("{} columns: {}{more}; {}", columns.len(), sums.join(", "), digest(&all))
}

/// A digest of the lines of a list in any order: pattern, and the set of vertices.
fn listed(path: &str) -> String {
    let text = fs::read_to_string(path).expect("a list");
    let line = |line: &str| {
        let entry: Value = serde_json::from_str(line).expect("a line of JSON");
        let mut vertices: Vec<u64> =
            entry["vertices"].as_array().expect("ids").iter().filter_map(Value::as_u64).collect();
        vertices.sort_unstable();
        format!("{} {vertices:?}\n", entry["pattern"])
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort();
    digest(&lines.concat())
}
