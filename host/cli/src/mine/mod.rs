//! `gramer mine`: the options that all tasks share, and the run itself.

mod clique;
mod distribute;
mod fsm;
mod kept;
mod matching;
mod motif;
mod per;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::device::{self, DeviceOptions};
use super::graph_args::GraphArgs;
use crate::cluster;
use crate::command_line::warn;
use crate::report::per::PerReport;
use crate::report::{
    self, Answer, Counts, Drawing, ListFormat, ListWriter, Meter, Report, Stopped, Times, json,
    table,
};
use crate::signals;
use distribute::DistributeArgs;
use gramer_cluster::Job;
use gramer_engine::{Engine, Outcome, Precision, Sink};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::{check_output, is_one_file, write_whole};
use gramer_graph::prepare;
use kept::KeptArgs;
use per::PerArgs;

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

impl Task {
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

impl Form {
    /// The form that the name of a file asks for.
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(Form::Html),
            "json" => Some(Form::Json),
            _ => None,
        }
    }
}

/// Options that every task has.
#[derive(Debug, clap::Args)]
pub struct Common {
    #[command(flatten)]
    pub graph: GraphArgs,

    /// What mines
    #[arg(long, default_value = "cpu", value_name = "DEVICE", help_heading = "Run")]
    #[arg(help = device::help())]
    pub device: String,

    /// Worker threads; one for each core by default
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(help_heading = "Run")]
    pub threads: Option<u16>,

    /// How results are printed; by default as the name of the file of --to asks for, else as a table
    #[arg(long, short, value_enum, help_heading = "Output")]
    pub output: Option<Form>,

    /// Write the answer to FILE instead, which appears whole or not at all
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: Option<PathBuf>,

    /// Pictures of the patterns in a table
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN", help_heading = "Output")]
    pub drawing: Drawing,

    /// The same as `--drawing never`
    #[arg(long, conflicts_with = "drawing", help_heading = "Output")]
    pub no_drawing: bool,

    /// How JSON has counts: as numbers, or as strings, for readers that lose integers above 2^53
    #[arg(long, value_enum, default_value = "number", value_name = "AS", help_heading = "Output")]
    pub counts: Counts,

    /// The same as `--output json`
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub json: bool,

    /// Write every embedding to FILE, which is there at the end of the run (`-` is standard output
    /// and gets each as it is found; results then go to standard error)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub list: Option<PathBuf>,

    /// Format of the list, where the name of FILE doesn't say it (.jsonl, .tsv)
    #[arg(long, value_enum, requires = "list", help_heading = "Output")]
    pub list_format: Option<ListFormat>,

    /// Replace files of --to and --list that are there already
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Stop after N embeddings (with --per, lines)
    #[arg(long, value_name = "N", requires = "list", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,

    /// Estimate the counts from a random sample, so that the total is known within P percent with a
    /// confidence of 95 % (CPU engine: cliques of k vertices, motifs, matches)
    #[arg(long, value_name = "P%", value_parser = percent, help_heading = "Estimate")]
    #[arg(conflicts_with = "list")]
    pub estimate: Option<f64>,

    /// Seed of the sample; the same seed gives the same estimate
    #[arg(long, value_name = "N", requires = "estimate", default_value_t = 1)]
    #[arg(help_heading = "Estimate")]
    pub seed: u64,

    /// Stop after so many seconds, reading of the graph included; what was counted until then is
    /// said to be incomplete, and the exit code is 124
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, help_heading = "Run")]
    pub time_limit: Option<Duration>,

    #[command(flatten)]
    pub kept: KeptArgs,

    #[command(flatten)]
    pub distribute: DistributeArgs,

    #[command(flatten)]
    pub options: DeviceOptions,
}

impl Common {
    /// `pattern` is the file that the task came from, if any.
    fn run(
        &self,
        task: &gramer_pattern::Task,
        pattern: Option<&Path>,
        per: Option<&PerArgs>,
        mut context: Context,
    ) -> Result<()> {
        task.check()?;
        let wanted = per.and_then(|args| args.per.map(|per| (per, args)));
        let ranks = self.ranks(task, wanted.is_some())?;
        // Rank 0 stops all.
        let limit = self.time_limit.filter(|_| ranks.is_answering());
        let _alarm = limit.map(|limit| signals::Alarm::set(limit, &context.cancel));
        let list = ranks.list(self.list.as_deref())?;
        let list_format = self.check_list(list.as_deref(), pattern)?;
        let output = match ranks.is_answering() {
            true => self.check_answer(list.as_deref(), pattern)?,
            false => Form::Json,
        };
        if output == Form::Html && wanted.is_some() {
            return Err(Error::usage(
                "a page has no counts per vertex or edge: take --output table or json",
            ));
        }
        // A file is no terminal.
        let terminal = self.to.is_none() && std::io::stdout().is_terminal();
        let drawing = if self.no_drawing { Drawing::Never } else { self.drawing.on(terminal) };
        let keeping = self.keeping(wanted.is_some())?;
        let (many, one);
        let engine: &dyn Engine = match keeping {
            Some(_) if !ranks.is_distributed() => {
                gramer_many::checkpoint::supports(task)?;
                many = Some(self.options.many(&self.device, &context)?);
                many.as_ref().expect("it was opened")
            }
            _ => {
                many = None;
                one = self.options.engine(&self.device, &context)?;
                one.as_ref()
            }
        };
        engine.supports(task, None)?;
        if let Some((per, _)) = wanted {
            engine.supports_per(task, per)?;
        }
        let precision = self.estimate.map(|relative| Precision { relative, seed: self.seed });
        if let Some(precision) = precision {
            if wanted.is_some() {
                return Err(Error::usage(
                    "--estimate gives counts of the whole graph: leave --per out",
                ));
            }
            precision.check()?;
            engine.supports_estimate(task)?;
        }
        if let Some(threads) = self.threads {
            context.threads = threads.into();
        }

        let begun = Instant::now();
        let loaded = self.graph.load(&context)?;
        let load = begun.elapsed();
        let begun = Instant::now();
        let graph = loaded.guarded(|| prepare::renumber(&loaded, &context))?;
        drop(loaded);
        let prepare = begun.elapsed();

        let list = match &list {
            Some(path) if wanted.is_none() => {
                Some(ListWriter::create(path, list_format, self.limit, &graph)?)
            }
            _ => None,
        };
        let begun = Instant::now();
        let (mut columns, mut estimated, mut kept) = (vec![], None, None);
        let outcome = {
            let _meter =
                ranks.is_answering().then(|| Meter::new("mining", context.progress.clone()));
            let sink = list.as_ref().map(|l| l as &dyn Sink);
            graph.guarded(|| match (wanted, precision) {
                (None, None) if ranks.is_distributed() => {
                    let keeping = keeping.as_ref();
                    let job = Job { engine, graph: &graph, task, keeping, sink };
                    let mined = cluster::with(|cluster| {
                        let mined = cluster.mine(&job, &context)?;
                        Ok(mined.map(|mined| (mined.outcome, mined.kept)))
                    });
                    let mined = mined.expect("this process is a rank")?;
                    Ok(mined.map_or_else(Outcome::default, |(outcome, at)| {
                        kept = at;
                        outcome
                    }))
                }
                (None, None) => match (&many, &keeping) {
                    (Some(many), Some(keeping)) => {
                        let (outcome, at) = many.run_kept(&graph, task, keeping, &context)?;
                        kept = Some(at);
                        Ok(outcome)
                    }
                    _ => engine.run(&graph, task, sink, &context),
                },
                (None, Some(precision)) => {
                    let prepared = engine.prepare(&graph, &context)?;
                    let found = prepared.estimate(task, precision, &context)?;
                    let complete = found.complete;
                    estimated = Some((precision, found));
                    Ok(Outcome::new(vec![], complete))
                }
                (Some((per, _)), _) => {
                    let found = engine.prepare(&graph, &context)?.run_per(task, per, &context)?;
                    let mut outcome = Outcome::new(found.results, found.complete);
                    outcome.larger_cliques = found.larger_cliques;
                    columns = found.columns;
                    Ok(outcome)
                }
            })?
        };
        let mine = begun.elapsed();
        for warning in &outcome.warnings {
            warn(warning);
        }

        let limited = list.as_ref().is_some_and(|l| l.limit_reached());
        let mut listed = list.map(ListWriter::finish).transpose()?;
        if let (true, Some(own)) = (ranks.is_distributed(), listed) {
            listed = cluster::with(|cluster| cluster.listed(own)).transpose()?;
        }
        if !ranks.is_answering() {
            return Ok(());
        }
        let numbers = wanted
            .filter(|_| outcome.complete)
            .map(|(per, args)| PerReport::new(&graph, per, &columns, args.top, args.histogram));
        if let (Some(path), Some(PerReport { per, .. })) = (&self.list, &numbers) {
            let list = report::per::list;
            listed = Some(list(path, list_format, self.limit, &graph, *per, &columns)?);
        }
        let stopped = match outcome.complete {
            true => None,
            false if limited => Some(Stopped::Limit),
            false if signals::is_time_up() => Some(Stopped::TimeLimit),
            false => Some(Stopped::Interrupt),
        };
        let source = self.graph.graph.to_string_lossy();
        let device = ranks.device(engine.name());
        let answer = Answer {
            task,
            source: &source,
            graph: &graph,
            device: &device,
            threads: context.threads(),
            outcome: &outcome,
            stopped,
            listed,
            times: Times { load, prepare, mine },
        };
        let report = Report {
            answer,
            per: numbers.as_ref(),
            estimated: estimated.as_ref().map(|(precision, found)| (*precision, found)),
        };
        self.write(output, drawing, &report)?;
        if let Some(kept) = kept.filter(|_| outcome.complete) {
            kept.remove()?;
        }
        match stopped {
            Some(Stopped::Interrupt | Stopped::TimeLimit) => Err(Error::Interrupted),
            Some(Stopped::Limit) | None => Ok(()),
        }
    }

    /// Writes an answer where it is wanted.
    fn write(&self, output: Form, drawing: Drawing, report: &Report<'_>) -> Result<()> {
        let write = |out: &mut dyn std::io::Write| match output {
            Form::Table => table(report, drawing, out),
            Form::Json => json(report, self.counts, out),
            Form::Html => out.write_all(report.page().as_bytes()),
        };
        match &self.to {
            Some(to) => {
                // Somebody may have written it while this run went on.
                let written = check_output(to, self.force, &[]);
                written.and_then(|()| write_whole(to, write)).inspect_err(|_| {
                    warn("the answer could not go where it was wanted, and is printed instead");
                    let _ = super::print(|out| match output {
                        Form::Json => write(out),
                        Form::Table | Form::Html => table(report, drawing, out),
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
        if let Some(to) = &self.to {
            check_output(to, self.force, &self.inputs(pattern))?;
        }
        let named = [("--to", self.to.as_deref()), ("--list", list)];
        let named = named.into_iter().chain([("--profile", self.options.profile())]);
        let named: Vec<_> = named.filter_map(|(option, path)| Some((option, path?))).collect();
        for (at, (option, path)) in named.iter().enumerate() {
            if let Some((other, _)) =
                named[..at].iter().find(|(_, other)| path == other || is_one_file(path, other))
            {
                let both = format!("{other} and {option} name one file; give each its own");
                return Err(Error::usage(both));
            }
        }
        let named = self.to.as_deref().and_then(Form::of);
        let output = match self.json {
            true => Form::Json,
            false => self.output.or(named).unwrap_or(Form::Table),
        };
        if output == Form::Html && self.estimate.is_some() {
            return Err(Error::usage("a page has no estimates: take --output table or json"));
        }
        if output == Form::Html && self.to.is_none() && std::io::stdout().is_terminal() {
            return Err(Error::usage(
                "a page is nothing for a terminal: name its file, for example --to answer.html",
            ));
        }
        Ok(output)
    }

    /// Files that are read.
    fn inputs<'a>(&'a self, pattern: Option<&'a Path>) -> Vec<&'a Path> {
        self.graph.inputs().chain(pattern).collect()
    }

    /// Refuses a list that would destroy something, before anything is read; returns its format.
    fn check_list(&self, list: Option<&Path>, pattern: Option<&Path>) -> Result<ListFormat> {
        let Some(path) = list else { return Ok(ListFormat::Jsonl) };
        check_output(path, self.force, &self.inputs(pattern))?;
        match self.list_format {
            Some(format) => Ok(format),
            None => ListFormat::of(path),
        }
    }
}

/// A share from the command line: `1%`, `0.5%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    number
        .map(|percent| percent / 100.0)
        .filter(|share| (0.0001..=0.5).contains(share))
        .ok_or_else(|| "a precision is 0.01% to 50%, with the sign".into())
}

/// Seconds from the command line, with a unit or without: `90`, `1.5`, `10s`, `5m`, `2h`.
fn time_limit(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| text.strip_suffix(name).map(|number| (number, *unit)))
        .unwrap_or((text, 1.0));
    let seconds = number.parse::<f64>().ok().filter(|s| *s > 0.0).map(|s| s * unit);
    seconds
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .ok_or_else(|| "a time is a number above 0, of seconds or with s, m or h behind it".into())
}
