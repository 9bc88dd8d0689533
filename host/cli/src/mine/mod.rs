//! `gramer mine`: the options that all tasks share, and the run itself.

mod clique;
mod distribute;
mod explain;
mod filter;
mod form;
mod fsm;
mod kept;
pub mod matching;
mod motif;
mod per;
mod run;
mod statistic;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::device::{self, DeviceOptions};
use super::graph_args::GraphArgs;
use crate::output::JsonArgs;
use crate::program::warn;
use crate::report::{Answer, Counts, Drawing, ListFormat, json, rows, table};
use crate::usage::threads;
use distribute::DistributeArgs;
pub use form::Form;
use gramer_base::choice::Choice;
use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Place, Result};
use gramer_base::output::{check_new, check_output, check_own, is_one_file, write_output};
use gramer_graph::Graph;
use gramer_pattern::{Filter, Statistic};
use kept::KeptArgs;
use per::PerArgs;

/// The options of a task, and what they ask.
pub trait Options {
    /// The task.
    ///
    /// # Errors
    /// [`Error::Usage`] for options that exclude each other; errors of reading a pattern.
    fn task(&self, cancel: &Cancel) -> Result<gramer_pattern::Task>;

    /// The task with the numbers of labels that it has by name, where it has some.
    ///
    /// # Errors
    /// [`Error::Usage`] for a label that the graph doesn't have.
    fn resolved(&self, graph: &Graph) -> Result<Option<gramer_pattern::Task>> {
        let _ = graph;
        Ok(None)
    }

    /// Condition on the vertices of embeddings, if there is one.
    fn filter(&self) -> Option<&Filter> {
        None
    }

    /// Least number of embeddings of each pattern on the way to an embedding, if there is one.
    fn support(&self) -> Option<u64> {
        None
    }

    /// Options for columns per vertex or per edge, if the task has them.
    fn per(&self) -> Option<&PerArgs> {
        None
    }

    /// The file that the task comes from, if there is one.
    fn file(&self) -> Option<&Path> {
        None
    }
}

/// Function that adds the options of a task to its command.
type AddOptions = fn(clap::Command) -> clap::Command;

/// The tasks with parameters: a subcommand each, with its options.
macro_rules! tasks {
    ($($(#[$doc:meta])* $name:ident $word:literal $args:ty;)*) => {
        /// The tasks.
        #[derive(Debug, clap::Subcommand)]
        pub enum Task {
            $($(#[$doc])* #[command(name = $word)] $name($args),)*
            /// One without parameters
            #[command(flatten)]
            Statistic(statistic::Args),
        }

        /// The options of each task, for who asks for one task alone.
        const OPTIONS: &[(&str, AddOptions)] = &[$(($word, <$args as clap::Args>::augment_args),)*];

        impl Task {
            fn options(&self) -> &dyn Options {
                match self {
                    $(Task::$name(args) => args,)*
                    Task::Statistic(args) => args,
                }
            }

            fn common(&self) -> &Common {
                match self {
                    $(Task::$name(args) => &args.common,)*
                    Task::Statistic(args) => &args.common,
                }
            }

            fn common_mut(&mut self) -> &mut Common {
                match self {
                    $(Task::$name(args) => &mut args.common,)*
                    Task::Statistic(args) => &mut args.common,
                }
            }
        }
    };
}

tasks! {
    /// Cliques of k vertices, or all maximal cliques
    Clique "clique" clique::Args;
    /// Every connected pattern of k vertices, with its count
    Motif "motif" motif::Args;
    /// Frequent labelled patterns
    Fsm "fsm" fsm::Args;
    /// The occurrences of a pattern
    Match "match" matching::Args;
}

impl Task {
    /// The command of one task with its options, without those of a device.
    pub fn command(name: &str) -> Option<clap::Command> {
        if let Some(row) = Statistic::ALL.iter().find(|(_, known, _)| *known == name) {
            return Some(statistic::command(row));
        }
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
        let options = self.options();
        let task = options.task(&context.cancel)?;
        self.common().run(task, options, context)
    }

    /// The device, where it is one alone.
    pub fn only_device(&self) -> Option<&str> {
        let devices = &self.common().device;
        (device::split(devices).len() == 1).then_some(devices)
    }

    /// The task of a job: its file is an input, which no output may replace.
    pub fn of_job(mut self, job: PathBuf) -> Self {
        self.common_mut().job = Some(job);
        self
    }
}

/// Options that every task has.
#[derive(Debug, clap::Args)]
pub struct Common {
    #[command(flatten)]
    pub graph: GraphArgs,

    /// cpu, gpu, emulator or FILE.xclbin
    #[arg(long, default_value = "cpu", value_name = "DEVICE", help_heading = "Run")]
    #[arg(long_help = device::help())]
    pub device: String,

    /// Worker threads [default: one for each core]
    ///
    /// 0 and auto are one for each core.
    #[arg(long, short, value_name = "N", value_parser = threads)]
    #[arg(help_heading = "Run")]
    pub threads: Option<u16>,

    /// table, json, csv, html, … [default: by --to, else table]
    ///
    /// The format of the results: table, json, jsonl, csv, tsv, md, html or svg. Without this option the ending of
    /// --to decides.
    #[cfg_attr(feature = "columnar", doc = " This build also writes parquet.")]
    #[arg(
        long,
        short,
        value_enum,
        help_heading = "Output",
        value_name = "FORM",
        hide_possible_values = true
    )]
    pub output: Option<Form>,

    /// Write results to FILE (.txt, .json, .csv, .html, …)
    ///
    /// The name ends with .txt, .json, .jsonl, .csv, .tsv, .md, .html or .svg. The file is written atomically.
    /// Without an ending, and with .log or .out, it is a table. With --per, .csv, .tsv, .jsonl and .md have a row for
    /// each vertex or edge. A page is written to a file or a pipe.
    #[cfg_attr(
        feature = "columnar",
        doc = " This build also writes .parquet, with the rows of .csv."
    )]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: Option<PathBuf>,

    /// Pictures of patterns in a table
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub drawing: Drawing,

    /// Counts and ids above 2^53 in JSON: numbers, or strings for readers that lose digits
    #[arg(long, value_enum, default_value = "number", value_name = "AS", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub counts: Counts,

    // Options below name their own headings, since this one stays.
    #[command(flatten, next_help_heading = "Output")]
    pub json: JsonArgs,

    /// Write every embedding to FILE (.jsonl, .tsv)
    ///
    /// The file appears at the end of the run. `-` is standard output, which gets each embedding at once; results
    /// then go to standard error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub list: Option<PathBuf>,

    /// Format of the list [default: by the ending of FILE, .jsonl or .tsv]
    #[arg(long, value_enum, requires = "list", help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub list_format: Option<ListFormat>,

    /// Replace existing files of --to and --list
    ///
    /// The target of a link is not replaced.
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Stop after N embeddings (with --per, lines)
    ///
    /// Without --list, embeddings are visited and counted up to N. A count of N then means at least N; a smaller
    /// one is the whole count.
    #[arg(long, value_name = "N", conflicts_with = "estimate", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(hide_short_help = true)]
    pub limit: Option<u64>,

    /// Estimate counts from a sample, within P percent
    ///
    /// The 95 % confidence interval of the total is at most ± P percent. The CPU engine estimates cliques of k
    /// vertices, motifs and matches.
    #[arg(long, value_name = "P%", value_parser = percent, help_heading = per::HEADING)]
    #[arg(conflicts_with = "list")]
    pub estimate: Option<f64>,

    /// Seed of the sample; the same seed gives the same estimate
    #[arg(long, value_name = "N", requires = "estimate", default_value_t = 1)]
    #[arg(help_heading = per::HEADING)]
    #[arg(hide_short_help = true)]
    pub seed: u64,

    /// Stop after 90, 10s, 5m or 2h with partial counts
    ///
    /// The exit code is 124. The time includes reading the graph. The answer says that it is incomplete.
    #[arg(long, value_name = "TIME", value_parser = time_limit, help_heading = "Run")]
    pub time_limit: Option<Duration>,

    #[command(flatten)]
    pub kept: KeptArgs,

    #[command(flatten)]
    pub distribute: DistributeArgs,

    #[command(flatten)]
    pub options: DeviceOptions,

    /// The job that these options come from
    #[arg(skip)]
    pub job: Option<PathBuf>,
}

impl Common {
    /// Writes an answer where it is wanted.
    fn write(&self, output: Form, drawing: Drawing, answer: &Answer<'_>) -> Result<()> {
        let write = |out: &mut dyn std::io::Write| match (output, output.rows()) {
            (_, Some(form)) => rows(answer, form, self.counts, out),
            (Form::Json, _) => json(answer, self.counts, out),
            (Form::Html, _) => out.write_all(answer.page().as_bytes()),
            (Form::Svg, _) => out.write_all(answer.sheet().as_bytes()),
            _ => table(answer, drawing, out),
        };
        match &self.to {
            Some(to) => {
                // Somebody may have written it while this run went on.
                let written = check_output(to, self.force, &[]);
                written.and_then(|()| write_output(to, self.force, write)).inspect_err(|_| {
                    warn("the answer could not be written to its file and is printed instead");
                    let _ = super::print(|out| match output {
                        Form::Html | Form::Svg => table(answer, drawing, out),
                        _ => write(out),
                    });
                })
            }
            None if self.list.as_ref().is_some_and(|path| path.as_os_str() == "-") => {
                write(&mut std::io::stderr().lock()).map_err(|e| Error::io("<stderr>", "write", e))
            }
            None => super::print(write),
        }
    }

    /// Returns the form of the answer; rejects a file that would overwrite an input, before anything is read.
    fn check_answer(&self, list: Option<&Path>, pattern: Option<&Path>) -> Result<Form> {
        if self.force && self.list.is_none() && self.to.is_none() {
            return Err(Error::usage("--force needs --to or --list: this command writes no file"));
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
        let asked = if self.json.json { Some(Form::Json) } else { self.output };
        let output = match &self.to {
            Some(to) => Form::of(to, asked)?,
            None => asked.unwrap_or(Form::Table),
        };
        let drawn = matches!(output, Form::Html | Form::Svg);
        if drawn && self.to.is_none() && std::io::stdout().is_terminal() {
            return Err(Error::usage(
                "a page or a picture is not written to a terminal: name its file, for example --to answer.html",
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
        inputs.map(Path::to_path_buf).chain(device::files(&self.device)).collect()
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
///
/// # Errors
/// What a time is.
pub fn time_limit(text: &str) -> Result<Duration, String> {
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
