//! `gramer run`: a job from a YAML file.
//!
//! The fields of a job are the options of `gramer mine TASK`, so they are turned into a command
//! line and read by the same parser: neither can have an option that the other lacks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};
use serde_yaml::Value;

use crate::command_line::{Cli, Command};
use crate::{hints, usage};
use gramer_base::context::Context;
use gramer_base::error::{Error, Place, Result, quote, said};
use gramer_base::input::{MAX_SMALL_FILE, check_yaml, read_small};

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
#[command(after_help = "A job:\n  \
    task: motif\n  graph: graph.txt\n  k: 4\n  output: json\n\n\
    Fields are the options of `gramer mine TASK` without dashes in front, `task` and `graph`;\n\
    switches are true or false. `set` holds settings of the device as fields. Paths are relative to the current folder, as on the command line.")]
pub struct Args {
    /// The job
    #[arg(value_name = "JOB")]
    job: PathBuf,
}

impl Args {
    /// Runs the job.
    ///
    /// # Errors
    /// [`Error::Usage`] for a field that isn't known or has a wrong value, and those of the task.
    pub fn run(self, context: Context) -> Result<()> {
        let text = read_small(&self.job, MAX_SMALL_FILE, "job", &context.cancel)?;
        let text = String::from_utf8(text)
            .map_err(|_| Error::usage(format!("{}: this is not text", Place::file(&self.job))))?;
        let line = command_line(&self.job, &text)?;
        let cli = Cli::of_words(&line).map_err(|e| refused(&self.job, &text, &e))?;
        match cli.command {
            Command::Mine(task) => task.of_job(self.job).run(context),
            _ => Err(Error::usage(format!("{}: a job is a mining task", Place::file(&self.job)))),
        }
    }
}

/// Location of a field.
fn place(path: &Path, text: &str, key: &str) -> Place {
    let starts = |line: &str| {
        // Both ways of writing a name of two words are in use.
        let line = line.trim_start().trim_start_matches(['"', '\'']).replace('_', "-");
        line.strip_prefix(&key.replace('_', "-"))
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    };
    match text.lines().position(starts) {
        Some(line) => Place::line(path, line as u64 + 1),
        None => Place::file(path),
    }
}

/// Error of clap, with the location of its field.
fn refused(path: &Path, job: &str, e: &clap::Error) -> Error {
    let said = usage::short(e);
    let place = match e.get(ContextKind::InvalidArg) {
        // `--threads <N>`
        Some(ContextValue::String(option)) => {
            let name = option.trim_start_matches('-').split([' ', '=', '<']).next();
            place(path, job, name.unwrap_or_default())
        }
        _ => Place::file(path),
    };
    Error::usage(format!("{place}: {said}"))
}

/// A job's file, for error messages.
#[derive(Clone, Copy)]
struct Job<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Job<'_> {
    /// Error at a field.
    fn at(&self, key: &str, what: String) -> Error {
        self.fault(place(self.path, self.text, key), what)
    }

    /// Error of the whole job.
    fn whole(&self, what: String) -> Error {
        self.fault(Place::file(self.path), what)
    }

    fn fault(&self, place: Place, what: String) -> Error {
        Error::usage(format!("{place}: {what}"))
    }

    fn missing(&self, key: &str) -> Error {
        self.whole(format!("the field `{key}` is missing"))
    }

    /// Returns its fields.
    fn fields(&self) -> Result<serde_yaml::Mapping> {
        let line_of = |line: Option<u64>| match line {
            Some(line) => Place::line(self.path, line),
            None => Place::file(self.path),
        };
        check_yaml(self.text).map_err(|(line, what)| self.fault(line_of(line), what))?;
        let value: Value = serde_yaml::from_str(self.text).map_err(|e| {
            let place = line_of(e.location().map(|l| l.line() as u64));
            self.fault(place, format!("this is not YAML: {}", said(&e.to_string())))
        })?;
        match value {
            Value::Mapping(fields) => Ok(fields),
            _ => Err(self.whole("a job is a list of fields such as `task: motif`".into())),
        }
    }

    /// The value of a field in one word.
    fn scalar(&self, key: &str, value: &Value) -> Result<String> {
        match value {
            Value::String(s) => Ok(s.clone()),
            Value::Number(n) => Ok(n.to_string()),
            Value::Bool(b) => Ok(b.to_string()),
            _ => {
                let what = format!("the value of {} must be one word or number", quote(key));
                Err(self.at(key, what))
            }
        }
    }

    /// The word that a field which is an option stands for; none for a switch that is off.
    fn option(&self, key: &str, value: &Value, option: &clap::Arg) -> Result<Option<OsString>> {
        // Both ways of writing a name of two words are in use.
        let long = key.replace('_', "-");
        let text = self.scalar(key, value)?;
        let optional = option.get_num_args().is_some_and(|number| number.min_values() == 0);
        let switched = optional && value.is_bool();
        if option.get_action().takes_values() && !switched {
            return Ok(Some(format!("--{long}={text}").into()));
        }
        match value {
            Value::Bool(true) => Ok(Some(format!("--{long}").into())),
            Value::Bool(false) => Ok(None),
            _ => {
                let what = format!("the value of {} must be true or false", quote(key));
                Err(self.at(key, what))
            }
        }
    }

    /// The words for the settings of a device: its fields are names.
    fn settings(&self, value: &Value) -> Result<Vec<OsString>> {
        let Value::Mapping(fields) = value else {
            return Err(
                self.at("set", "the value of `set` must be fields such as `tau: 0.1`".into())
            );
        };
        let word = |(name, value): (&Value, &Value)| {
            let name = self.scalar("set", name)?;
            Ok(format!("--set={name}={}", self.scalar(&name, value)?).into())
        };
        fields.iter().map(word).collect()
    }

    /// Refuses a field that the task's command doesn't have.
    fn no_field(&self, key: &str, options: &clap::Command) -> Error {
        let long = key.replace('_', "-");
        let known = options.get_arguments().filter(|a| !a.is_hide_set());
        let known = known.filter_map(|a| name_of(a));
        let known: Vec<&str> = known.chain(["task", "graph"]).filter(|&k| k != "help").collect();
        let distance = |k: &str| strsim::damerau_levenshtein(k, &long);
        let nearest = known.iter().copied().min_by_key(|k| distance(k));
        // One that shares no more than half of its letters is no slip of the pen.
        let hint = match nearest.filter(|k| 2 * distance(k) < k.len().max(long.len())) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; its fields are {}", known.join(", ")),
        };
        let hint = match hints::of_setting(&long) {
            Some(of) => format!("; {of}: write it below `set`"),
            None => hint,
        };
        self.at(key, format!("there is no field {}{hint}", quote(key)))
    }
}

/// The name of a field for an option; that of `-k` is an alias that no help shows.
fn name_of(option: &clap::Arg) -> Option<&str> {
    option.get_long().or_else(|| option.get_all_aliases()?.first().copied())
}

/// The words of the command line that a job stands for.
fn command_line(path: &Path, text: &str) -> Result<Vec<OsString>> {
    let job = Job { path, text };
    let fields = job.fields()?;
    let mine = Cli::command();
    let mine = mine.find_subcommand("mine").expect("mine is a subcommand");
    let tasks: Vec<&str> = mine.get_subcommands().map(|c| c.get_name()).collect();
    let task = job.scalar("task", fields.get("task").ok_or_else(|| job.missing("task"))?)?;
    let options = mine.find_subcommand(&task).ok_or_else(|| {
        let what = format!("there is no task {}; the tasks are {}", quote(&task), tasks.join(", "));
        job.at("task", what)
    })?;

    let mut line: Vec<OsString> = vec!["gramer".into(), "mine".into(), task.into()];
    let mut graph = None;
    for (key, value) in &fields {
        let Value::String(key) = key else {
            return Err(
                job.whole(format!("{} is not the name of a field", quote(format!("{key:?}"))))
            );
        };
        match key.as_str() {
            "task" => {}
            "graph" => graph = Some(job.scalar(key, value)?),
            "set" => line.extend(job.settings(value)?),
            _ => {
                let long = key.replace('_', "-");
                let option = options.get_arguments().find(|a| name_of(a) == Some(&long));
                let option = option.ok_or_else(|| job.no_field(key, options))?;
                line.extend(job.option(key, value, option)?);
            }
        }
    }
    line.push("--".into());
    line.push(graph.ok_or_else(|| job.missing("graph"))?.into());
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<String> {
        let line = command_line(Path::new("job.yaml"), text)?;
        Ok(line.iter().map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    fn message(text: &str) -> String {
        words(text).expect_err("the job is wrong").to_string()
    }

    #[test]
    fn a_job_becomes_a_command_line() {
        let text =
            "task: match\ngraph: -x y.txt\npattern: house\nmappings: true\nlist_format: tsv\n";
        let expected = "gramer mine match --pattern=house --mappings --list-format=tsv -- -x y.txt";
        assert_eq!(words(text).unwrap(), expected);
        let line = |mappings: &str| {
            let text = format!("task: match\ngraph: g\npattern: house\nmappings: {mappings}\n");
            words(&text).unwrap().replace("gramer mine match --pattern=house ", "")
        };
        assert_eq!(line("homomorphism"), "--mappings=homomorphism -- g");
        assert_eq!(line("false"), "-- g");
        let text = "task: motif\ngraph: g\nset:\n  tau: 0.5\n  lru: true\n";
        assert_eq!(words(text).unwrap(), "gramer mine motif --set=tau=0.5 --set=lru=true -- g");
    }

    #[test]
    fn wrong_jobs_say_what_is_wrong_and_where() {
        let text = "task: motif\ngraph: g\nk: 4\nindused: edge\n";
        assert_eq!(
            message(text),
            "job.yaml:4: there is no field `indused`; did you mean `induced`?"
        );
        let said = message("task: motif\ngraph: g\ntau: 0.5\n");
        assert!(
            said.ends_with("tau is a setting of --device emulator: write it below `set`"),
            "{said}"
        );
        let said = message("task: motif\ngraph: g\nset: tau\n");
        assert_eq!(said, "job.yaml:3: the value of `set` must be fields such as `tau: 0.1`");
        // Nothing is called alike.
        let said = message("task: motif\ngraph: g\nk: 4\nfoo: 3\n");
        assert!(
            said.starts_with("job.yaml:4: there is no field `foo`; its fields are k, "),
            "{said}"
        );
        assert_eq!(message("graph: g\n"), "job.yaml: the field `task` is missing");
        assert_eq!(message("task: motif\nk: 3\n"), "job.yaml: the field `graph` is missing");
        let text = "graph: g\ntask: motiv\n";
        let said = message(text);
        assert!(
            said.starts_with("job.yaml:2: there is no task `motiv`; the tasks are clique, motif, "),
            "{said}"
        );
        let text = "task: clique\ngraph: g\nmaximal: 3\n";
        assert_eq!(message(text), "job.yaml:3: the value of `maximal` must be true or false");
        assert!(message("task: [a\n").starts_with("job.yaml:"));
        assert_eq!(
            message("task: motif\ngraph: g\nk: [3]\n"),
            "job.yaml:3: the value of `k` must be one word or number"
        );
        assert!(message("- 3").starts_with("job.yaml: a job is a list of fields"));
    }
}
