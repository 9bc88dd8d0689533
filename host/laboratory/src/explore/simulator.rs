//! Points on the simulated core: one child process `gramer-lab simulate` for each, several at a time. Each result is
//! cached in its own file, so a stopped sweep continues.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use super::parameter::Point;
use gramer_base::context::Context;
use gramer_base::error::{Error, Place, Result};
use gramer_base::output::write_own;
use gramer_base::parallel::for_items;
use gramer_engine::WorkUnit;
use gramer_graph::{Graph, image};
use gramer_machine::Accelerator;

/// The command of this program that simulates.
pub const COMMAND: &str = "simulate";
/// Names a program that simulates in its place.
pub const VARIABLE: &str = "GRAMER_SIM";

/// A task as the simulator takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedTask {
    /// `motif:3` and the like.
    pub name: String,
    /// The words of `gramer-lab simulate` that stand for it.
    pub words: Vec<String>,
}

/// Content of a point's file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PointFile {
    /// Hash of model and simulation.
    pub identity: String,
    /// Task.
    pub task: String,
    /// Options of the run.
    pub options: Vec<String>,
    /// Its output.
    pub result: Value,
}

/// Outcome of a point's run.
#[derive(Debug, Clone)]
pub enum RunOutcome {
    /// Complete, simulated or from the cache.
    Done(Box<PointFile>),
    /// Exceeded the limit of cycles.
    Limit,
    /// Failed, with the simulator's message.
    Failed(String),
}

/// The simulator, its cache and how much may run at a time.
#[derive(Debug, Clone)]
pub struct Simulator {
    program: PathBuf,
    /// Its first words.
    command: &'static [&'static str],
    cache: PathBuf,
    jobs: usize,
    pub(super) max_cycles: u64,
    /// Whether nothing is simulated.
    cached: bool,
}

/// The program that simulates and its first words: this one, unless the variable `GRAMER_SIM` names another.
///
/// # Errors
/// [`Error::Unsupported`] if there is no such file.
fn find() -> Result<(PathBuf, &'static [&'static str])> {
    let Some(path) = std::env::var_os(VARIABLE).filter(|p| !p.is_empty()).map(PathBuf::from) else {
        let own = std::env::current_exe().map_err(|e| Error::io("<self>", "find", e))?;
        return Ok((own, &[COMMAND]));
    };
    match path.is_file() {
        true => Ok((fs::canonicalize(&path).map_err(|e| Error::io(&path, "find", e))?, &[])),
        false => Err(Error::Unsupported(format!(
            "{VARIABLE} is {}, but there is no such file",
            path.display()
        ))),
    }
}

impl Simulator {
    /// A simulator with a cache folder, which is made if it is missing.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if `GRAMER_SIM` names no file; and if the folder can't be made.
    pub fn new(cache: &Path, jobs: usize, max_cycles: u64) -> Result<Self> {
        let (program, command) = find()?;
        let machines = cache.join("machines");
        fs::create_dir_all(&machines).map_err(|e| Error::io(&machines, "create", e))?;
        Ok(Simulator {
            program,
            command,
            cache: cache.to_path_buf(),
            jobs: jobs.max(1),
            max_cycles,
            cached: false,
        })
    }

    /// Most cycles of a point.
    pub fn max_cycles(&self) -> u64 {
        self.max_cycles
    }

    /// Whether points without a kept result are left out.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// The same that simulates nothing: points without a kept result are [`RunOutcome::Limit`].
    pub fn cached_alone(&self) -> Self {
        Simulator { cached: true, ..self.clone() }
    }

    /// The same with another limit.
    pub fn limited_to(&self, max_cycles: u64) -> Self {
        Simulator { max_cycles, ..self.clone() }
    }

    /// Runs the points that aren't in the cache and returns an outcome for each, in their order. `told` is called
    /// with the number of finished points and the point that has finished.
    ///
    /// # Errors
    /// [`Error::Interrupted`], and what concerns all points: the simulator or the cache.
    pub fn run(
        &self,
        graph: &Graph,
        task: &SimulatedTask,
        points: &[Point],
        context: &Context,
        told: &(dyn Fn(usize, usize, &RunOutcome) + Sync),
    ) -> Result<Vec<RunOutcome>> {
        let (file, hash) = self.image(graph)?;
        // Points of the same machine share its file, its identity and the lock of its build.
        let mut machines: BTreeMap<String, Machine> = BTreeMap::new();
        for point in points {
            let yaml = point.machine.to_yaml();
            if let Entry::Vacant(entry) = machines.entry(yaml) {
                let machine = self.machine(entry.key(), context)?;
                entry.insert(machine);
            }
        }
        let works: Vec<SimulatorJob> = points
            .iter()
            .map(|point| {
                let machine = &machines[&point.machine.to_yaml()];
                let words = [&task.words[..], &point.options[..]].concat();
                let key = key(&[&machine.identity, &hash, &words.join("\n")]);
                let [kept, limit] =
                    ["json", "limit"].map(|end| self.cache.join(format!("{key}.{end}")));
                SimulatorJob { machine, words, kept, limit }
            })
            .collect();
        let done = AtomicUsize::new(0);
        let outcomes = for_items(self.jobs, &works, |at, work| {
            let ran = self.point(work, task, &file, &points[at].options, context)?;
            told(done.fetch_add(1, Ordering::Relaxed) + 1, at, &ran);
            Ok(ran)
        });
        outcomes.into_iter().collect()
    }

    /// The identity of a machine's model and its simulation, as results have it; a machine that can't be simulated has none.
    ///
    /// # Errors
    /// [`Error::Interrupted`], and what concerns all points: the simulator, the sources of the model, or the cache.
    pub fn identity(&self, machine: &Accelerator, context: &Context) -> Result<String> {
        self.machine(&machine.to_yaml(), context).map(|machine| machine.identity)
    }

    /// Writes work units into a file of the cache that is named by its content.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn units(&self, units: &[WorkUnit]) -> Result<PathBuf> {
        let line = |u: &WorkUnit| format!("{} {} {}\n", u.start, u.first, u.limit);
        let text: String = units.iter().map(line).collect();
        let folder = self.cache.join("units");
        fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, "create", e))?;
        let path = folder.join(format!("{}.txt", key(&[&text])));
        if !path.exists() {
            write_own(&path, |out| out.write_all(text.as_bytes()))?;
        }
        Ok(path)
    }

    /// The graph as an image in the cache, and the hash of what is mined.
    fn image(&self, graph: &Graph) -> Result<(PathBuf, String)> {
        let view = graph.view();
        let mut hash = Xxh3::new();
        hash.update(bytemuck::cast_slice(view.offsets));
        hash.update(bytemuck::cast_slice(view.neighbours));
        hash.update(bytemuck::cast_slice(view.vertex_labels.unwrap_or(&[])));
        let hash = format!("{:032x}", hash.digest128());
        let path = self.cache.join(format!("{hash}.gramer"));
        if !path.exists() {
            image::write(&path, graph, "")?;
        }
        Ok((path, hash))
    }

    /// Writes a machine's file and asks the simulator for its identity.
    fn machine(&self, yaml: &str, context: &Context) -> Result<Machine> {
        let path = self.cache.join("machines").join(format!("{}.yaml", key(&[yaml])));
        if !path.exists() {
            write_own(&path, |out| out.write_all(yaml.as_bytes()))?;
        }
        let words = ["--identity".into(), "--machine".into(), path.display().to_string()];
        match self.child(&words, context)? {
            Ok(identity) => Ok(Machine {
                path,
                identity: identity.trim().to_string(),
                built: Mutex::new(false),
            }),
            Err(said) => Err(Error::Device(format!("the simulator: {said}"))),
        }
    }

    fn point(
        &self,
        work: &SimulatorJob,
        task: &SimulatedTask,
        graph: &Path,
        options: &[String],
        context: &Context,
    ) -> Result<RunOutcome> {
        context.cancel.check()?;
        if work.kept.exists() {
            let text =
                fs::read_to_string(&work.kept).map_err(|e| Error::io(&work.kept, "read", e))?;
            let kept: PointFile = serde_json::from_str(&text).map_err(|e| {
                let what = format!("is not a result of a point ({e}); remove the file");
                Error::input(Place::file(&work.kept), what)
            })?;
            return Ok(RunOutcome::Done(Box::new(kept)));
        }
        if self.cached {
            return Ok(RunOutcome::Limit);
        }
        // A point that was given up before is, unless it may take longer now.
        let before = fs::read_to_string(&work.limit).ok().and_then(|text| text.trim().parse().ok());
        if before.is_some_and(|cycles: u64| cycles >= self.max_cycles) {
            return Ok(RunOutcome::Limit);
        }
        let machine = ["--machine".to_string(), work.machine.path.display().to_string()];
        {
            // One builds, the others of this machine wait.
            let mut built = work.machine.built.lock().expect("no panic with the lock");
            if !*built {
                let words = [&["--model".to_string()][..], &machine].concat();
                if let Err(said) = self.child(&words, context)? {
                    return Ok(RunOutcome::Failed(said));
                }
                *built = true;
            }
        }
        let mut words = work.words.clone();
        words.push(graph.display().to_string());
        words.extend(machine);
        words.extend(["--json".into(), "--max-cycles".into(), self.max_cycles.to_string()]);
        let said = match self.child(&words, context)? {
            Ok(said) => said,
            Err(said) if said.contains("no end after") => {
                let text = format!("{}\n", self.max_cycles);
                write_own(&work.limit, |out| out.write_all(text.as_bytes()))?;
                return Ok(RunOutcome::Limit);
            }
            Err(said) => return Ok(RunOutcome::Failed(said)),
        };
        let result: Value = match serde_json::from_str(&said) {
            Ok(result) => result,
            Err(e) => {
                return Ok(RunOutcome::Failed(format!("printed something else than JSON: {e}")));
            }
        };
        let kept = PointFile {
            identity: work.machine.identity.clone(),
            task: task.name.clone(),
            options: options.to_vec(),
            result,
        };
        write_own(&work.kept, |out| Ok(serde_json::to_writer_pretty(out, &kept)?))?;
        Ok(RunOutcome::Done(Box::new(kept)))
    }

    /// Runs the simulator to its end: what it printed, or what it said when it failed.
    fn child(&self, words: &[String], context: &Context) -> Result<Result<String, String>> {
        let file = || tempfile::tempfile().map_err(|e| Error::io("<temporary>", "create", e));
        let (out, said) = (file()?, file()?);
        let same = |f: &File| f.try_clone().map_err(|e| Error::io("<temporary>", "open", e));
        let child = Command::new(&self.program)
            .args(self.command)
            .args(words)
            // Its last lines are its reason, not how it got there.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(same(&out)?)
            .stderr(same(&said)?)
            .spawn()
            .map_err(|e| Error::io(&self.program, "start", e))?;
        let mut child = ChildGuard(child);
        let begun = Instant::now();
        let status = loop {
            match child.0.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {}
                Err(e) => return Err(Error::io(&self.program, "wait for", e)),
            }
            // The child is killed on the way out.
            context.cancel.check()?;
            let short = begun.elapsed() < Duration::from_millis(500);
            std::thread::sleep(Duration::from_millis(if short { 2 } else { 25 }));
        };
        let text = |file: &mut File| -> Result<String> {
            use std::io::{Read, Seek};
            let mut bytes = vec![];
            file.rewind()
                .and_then(|()| file.read_to_end(&mut bytes))
                .map_err(|e| Error::io("<temporary>", "read", e))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (mut out, mut said) = (out, said);
        match status.success() {
            true => Ok(Ok(text(&mut out)?)),
            false => {
                let lines = text(&mut said)?;
                // Its error comes after its progress, and what an assertion says before both.
                let told = [text(&mut out)?, lines].concat();
                Ok(Err(reason(&told, &status.to_string())))
            }
        }
    }
}

/// Why the simulator failed: its error, whole (a fault of the sources has several lines), or the last that it printed.
fn reason(printed: &str, status: &str) -> String {
    const LINES: usize = 16;
    /// How errors begin: those of this program, and those of programs in its place.
    const BEGINS: [&str; 2] = ["gramer-lab: ", "error: "];
    let error = |line: &str| BEGINS.iter().find_map(|begin| line.strip_prefix(begin)).is_some();
    let lines: Vec<&str> = printed.lines().filter(|l| !l.trim().is_empty()).collect();
    match lines.iter().rposition(|line| error(line)) {
        Some(from) => {
            let to = lines.len().min(from + LINES);
            let text = lines[from..to].join("\n");
            text.split_once(": ").map_or(text.clone(), |(_, error)| error.into())
        }
        None => format!("{status}: {}", lines[lines.len().saturating_sub(4)..].join("; ")),
    }
}

/// Child process that is killed when it is dropped.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Debug)]
struct Machine {
    path: PathBuf,
    identity: String,
    built: Mutex<bool>,
}

#[derive(Debug)]
struct SimulatorJob<'a> {
    machine: &'a Machine,
    words: Vec<String>,
    kept: PathBuf,
    /// Holds the cycles after which the point was given up.
    limit: PathBuf,
}

fn key(parts: &[&str]) -> String {
    let mut hash = Xxh3::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update(b"\0");
    }
    format!("{:032x}", hash.digest128())
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn an_error_is_whole_and_anything_else_is_short() {
        let printed = "building\nerror: verilator refuses the sources:\n%Error: a.sv:7:1: x\n    7 | end\n      | ^\n";
        for printed in [printed, &printed.replace("error: verilator", "gramer-lab: verilator")] {
            assert_eq!(
                reason(printed, "exit status: 1"),
                "verilator refuses the sources:\n%Error: a.sv:7:1: x\n    7 | end\n      | ^"
            );
        }
        assert_eq!(reason("1\n2\n3\n4\n5\n", "signal: 6"), "signal: 6: 2; 3; 4; 5");
    }
}
