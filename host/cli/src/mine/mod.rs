//! `gramer mine`: the options that all tasks share, and the run itself.

mod clique;
mod distribute;
mod explain;
mod fsm;
mod kept;
mod matching;
mod motif;
mod per;
mod run;
mod share;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use super::device::{self, DeviceOptions};
use super::graph_args::GraphArgs;
use crate::command_line::warn;
use crate::report::{Answer, Counts, Drawing, ListFormat, json, table};
use crate::usage::threads;
use distribute::DistributeArgs;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Place, Result, quote};
use gramer_graph::output::{check_new, check_output, check_own, is_one_file, write_output};
use kept::KeptArgs;
use share::ShareArgs;

/// The tasks.
#[derive(Debug, clap::Subcommand)]
pub enum Task {
    /// Cliques of k vertices, or all maximal cliques
    Clique(clique::Args),
    /// Every connected pattern of k vertices, with its count
    Motif(motif::Args),
    /// Frequent labelled patterns
    Fsm(fsm::Args),
    /// The occurrences of a pattern
    Match(matching::Args),
}

/// What adds the options of a task to its command, by its name.
type Add = fn(clap::Command) -> clap::Command;

/// The options of each task, for who asks for one task alone.
const OPTIONS: [(&str, Add); 4] = [
    ("clique", <clique::Args as clap::Args>::augment_args),
    ("motif", <motif::Args as clap::Args>::augment_args),
    ("fsm", <fsm::Args as clap::Args>::augment_args),
    ("match", <matching::Args as clap::Args>::augment_args),
];

impl Task {
    /// The command of one task with its options, without those of a device.
    pub fn command(name: &str) -> Option<clap::Command> {
        let (name, add) = OPTIONS.iter().find(|(task, _)| *task == name)?;
        Some(add(clap::Command::new(*name)))
    }

    /// Runs the task.
    ///
    /// # Errors
    /// Those of reading, mining and writing.
    pub fn run(self, context: Context) -> Result<()> {
        // First of all: what is wrong is then said by rank 0 alone.
        self.common().become_rank()?;
        match self {
            Task::Clique(args) => args.common.run(&args.task()?, None, Some(&args.per), context),
            Task::Motif(args) => args.common.run(&args.task()?, None, Some(&args.per), context),
            Task::Fsm(args) => args.common.run(&args.task()?, None, None, context),
            Task::Match(args) => {
                let task = args.task(&context.cancel)?;
                args.common.run(&task, Some(&args.pattern), None, context)
            }
        }
    }

    fn common(&self) -> &Common {
        match self {
            Task::Clique(args) => &args.common,
            Task::Motif(args) => &args.common,
            Task::Fsm(args) => &args.common,
            Task::Match(args) => &args.common,
        }
    }

    /// The task of a job: its file is an input, which no output may replace.
    pub fn of_job(mut self, job: PathBuf) -> Self {
        let common = match &mut self {
            Task::Clique(args) => &mut args.common,
            Task::Motif(args) => &mut args.common,
            Task::Fsm(args) => &mut args.common,
            Task::Match(args) => &mut args.common,
        };
        common.job = Some(job);
        self
    }
}

/// How results of other commands are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// For people
    Table,
    /// For programs
    Json,
}

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// For people
    Table,
    /// For programs
    Json,
    /// One page with pictures, for people: to a file that --to names, or to a pipe
    Html,
}

/// Endings of names that say nothing of a form.
const PLAIN: [&str; 5] = ["", "txt", "text", "log", "out"];

impl Form {
    /// The form of an answer in a file: the one that is asked for, else the one that the file's name ends with, else
    /// a table.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that ends as one of another form, or of a form that answers don't have.
    fn of(path: &Path, asked: Option<Self>) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let named = match ending {
            "html" | "htm" => Some(Form::Html),
            "json" => Some(Form::Json),
            // A number or a date.
            _ if !ending.contains(char::is_alphabetic) || PLAIN.contains(&ending) => None,
            _ => {
                return Err(Error::usage(format!(
                    "{}: an answer is not written as {}; end the name with .txt (--output table), .json (--output \
                     json) or .html (--output html)",
                    Place::file(path),
                    quote(ending)
                )));
            }
        };
        match (named, asked) {
            (Some(named), Some(asked)) if named != asked => {
                let word = |form: Form| form.to_possible_value().map(|v| v.get_name().to_string());
                Err(Error::usage(format!(
                    "{}: the name ends with {ending}, but the answer is written as {}; change the name or --output",
                    Place::file(path),
                    word(asked).unwrap_or_default()
                )))
            }
            _ => Ok(asked.or(named).unwrap_or(Form::Table)),
        }
    }
}

/// Options that every task has.
#[derive(Debug, clap::Args)]
pub struct Common {
    #[command(flatten)]
    pub graph: GraphArgs,

    /// Device that mines: cpu, gpu, emulator, FILE.xclbin; `gramer devices` lists them
    #[arg(long, default_value = "cpu", value_name = "DEVICE", help_heading = "Run")]
    #[arg(long_help = device::help())]
    pub device: String,

    /// Worker threads; 0 or auto is one for each core [default: auto]
    #[arg(long, short, value_name = "N", value_parser = threads)]
    #[arg(help_heading = "Run")]
    pub threads: Option<u16>,

    /// Format of the results [default: that of the name of --to, else table]
    #[arg(long, short, value_enum, help_heading = "Output")]
    pub output: Option<Form>,

    /// Write results to FILE (atomically): a table (no ending, .txt, .log, .out), .json or .html
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: Option<PathBuf>,

    /// Pictures of patterns in a table
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub drawing: Drawing,

    /// The same as `--drawing never`
    #[arg(long, conflicts_with = "drawing", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub no_drawing: bool,

    /// Counts and ids above 2^53 in JSON: numbers, or strings for readers that lose digits
    #[arg(long, value_enum, default_value = "number", value_name = "AS", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub counts: Counts,

    /// The same as `--output json`
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub json: bool,

    /// Write every embedding to FILE (.jsonl, .tsv)
    ///
    /// The file is there at the end of the run. `-` is standard output and gets each embedding as it is found;
    /// results then go to standard error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub list: Option<PathBuf>,

    /// Format of the list, where the name of FILE doesn't say it (.jsonl, .tsv)
    #[arg(long, value_enum, requires = "list", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub list_format: Option<ListFormat>,

    /// Replace existing files of --to and --list (not the target of a link)
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Stop after N embeddings (with --per, lines)
    #[arg(long, value_name = "N", requires = "list", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(hide_short_help = true)]
    pub limit: Option<u64>,

    /// Estimate the counts from a sample, the total within P percent
    ///
    /// The interval of P percent holds with a confidence of 95 %. The CPU engine estimates cliques of k
    /// vertices, motifs and matches.
    #[arg(long, value_name = "P%", value_parser = percent, help_heading = per::HEADING)]
    #[arg(conflicts_with = "list")]
    pub estimate: Option<f64>,

    /// Seed of the sample; the same seed gives the same estimate
    #[arg(long, value_name = "N", requires = "estimate", default_value_t = 1)]
    #[arg(help_heading = per::HEADING)]
    #[arg(hide_short_help = true)]
    pub seed: u64,

    /// Stop after this time (90, 10s, 5m, 2h) with what was counted, exit code 124
    ///
    /// The time includes reading the graph. The answer says that it is incomplete.
    #[arg(long, value_name = "TIME", value_parser = time_limit, help_heading = "Run")]
    pub time_limit: Option<Duration>,

    #[command(flatten)]
    pub kept: KeptArgs,

    #[command(flatten)]
    pub distribute: DistributeArgs,

    #[command(flatten)]
    pub share: ShareArgs,

    #[command(flatten)]
    pub options: DeviceOptions,

    /// The job that these options come from
    #[arg(skip)]
    pub job: Option<PathBuf>,
}

impl Common {
    /// Writes an answer where it is wanted.
    fn write(&self, output: Form, drawing: Drawing, answer: &Answer<'_>) -> Result<()> {
        let write = |out: &mut dyn std::io::Write| match output {
            _ if self.share.share.is_some() => {
                serde_json::to_writer(&mut *out, answer.outcome).map_err(std::io::Error::from)
            }
            Form::Table => table(answer, drawing, out),
            Form::Json => json(answer, self.counts, out),
            Form::Html => out.write_all(answer.page().as_bytes()),
        };
        match &self.to {
            Some(to) => {
                // Somebody may have written it while this run went on.
                let written = check_output(to, self.force, &[]);
                written.and_then(|()| write_output(to, self.force, write)).inspect_err(|_| {
                    warn("the answer could not go where it was wanted, and is printed instead");
                    let _ = super::print(|out| match output {
                        Form::Json => write(out),
                        Form::Table | Form::Html => table(answer, drawing, out),
                    });
                })
            }
            None if self.list.as_ref().is_some_and(|path| path.as_os_str() == "-") => {
                write(&mut std::io::stderr().lock()).map_err(|e| Error::io("<stderr>", "write", e))
            }
            None => super::print(write),
        }
    }

    /// How the answer is written; refuses a file that would destroy something, before anything is read.
    fn check_answer(&self, list: Option<&Path>, pattern: Option<&Path>) -> Result<Form> {
        if self.force && self.list.is_none() && self.to.is_none() {
            return Err(Error::usage("--force goes with --to or --list: no file is written"));
        }
        self.check_one_file_each(list)?;
        let inputs = self.inputs(pattern);
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        if let Some(to) = &self.to {
            check_output(to, self.force, &inputs)?;
        }
        if let Some(profile) = self.options.profile() {
            check_new(profile, &inputs)?;
        }
        if let Some(file) = &self.kept.checkpoint {
            check_own(file, "checkpoint", &inputs)?;
        }
        let asked = if self.json { Some(Form::Json) } else { self.output };
        let output = match &self.to {
            // The library's outcome, whatever form an answer would have.
            Some(to) if self.share.share.is_some() => Form::of(to, Some(Form::Json))?,
            Some(to) => Form::of(to, asked)?,
            None => asked.unwrap_or(Form::Table),
        };
        if output == Form::Html && self.to.is_none() && std::io::stdout().is_terminal() {
            return Err(Error::usage(
                "a page is nothing for a terminal: name its file, for example --to answer.html",
            ));
        }
        Ok(output)
    }

    /// Refuses two outputs in one file.
    fn check_one_file_each(&self, list: Option<&Path>) -> Result<()> {
        let outputs = [
            ("--to", self.to.as_deref()),
            ("--list", list),
            ("--profile", self.options.profile()),
            ("--checkpoint", self.kept.checkpoint.as_deref()),
        ];
        let outputs = outputs.into_iter().filter_map(|(option, path)| Some((option, path?)));
        let outputs: Vec<_> = outputs.collect();
        for (at, (option, path)) in outputs.iter().enumerate() {
            let same = |(_, other): &&(&str, &Path)| path == other || is_one_file(path, other);
            if let Some((other, _)) = outputs[..at].iter().find(same) {
                return Err(Error::usage(format!(
                    "{other} and {option} name one file, {}; give each its own",
                    Place::file(path)
                )));
            }
        }
        Ok(())
    }

    /// Files that are read.
    fn inputs(&self, pattern: Option<&Path>) -> Vec<PathBuf> {
        let inputs = self.graph.inputs().chain(pattern).chain(self.job.as_deref());
        let inputs = inputs.chain(self.share.share.as_deref()).map(Path::to_path_buf);
        inputs.chain(device::files(&self.device)).collect()
    }

    /// Refuses a list that would destroy something, before anything is read; returns its format.
    fn check_list(&self, list: Option<&Path>, pattern: Option<&Path>) -> Result<ListFormat> {
        let Some(path) = list else { return Ok(ListFormat::Jsonl) };
        let inputs = self.inputs(pattern);
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        check_output(path, self.force, &inputs)?;
        ListFormat::of(path, self.list_format)
    }
}

/// A share from the command line: `1%`, `0.5%`; a number from 1 on needs no sign.
fn percent(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(number) => number.trim().parse::<f64>().ok(),
        // 0.01 may be meant as a share or as a percentage.
        None => text.parse::<f64>().ok().filter(|&number| number >= 1.0),
    };
    number.map(|percent| percent / 100.0).filter(|share| (0.0001..=0.5).contains(share)).ok_or_else(
        || "it must be a percentage from 0.01% to 50%, for example --estimate 1%".into(),
    )
}

/// Seconds from the command line, with a unit or without: `90`, `1.5`, `10s`, `5m`, `2h`.
pub(crate) fn time_limit(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| text.strip_suffix(name).map(|number| (number, *unit)))
        .unwrap_or((text, 1.0));
    let seconds = number.parse::<f64>().ok().filter(|s| *s > 0.0).map(|s| s * unit);
    seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()).ok_or_else(|| {
        "it must be a time above 0 in seconds, or with s, m or h: 90, 10s, 5m, 2h".into()
    })
}
