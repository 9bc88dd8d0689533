//! Compiles Verilator's C++ to a library.
//!
//! Verilator writes a model in some fifty files, and the compiler needs a second per file to read the headers, which
//! dominates the build time. So files are combined into a few compilation units: the `make` build of Verilator takes
//! five times as long. Verilator's runtime and headers are the same in every model: they are compiled once and stored
//! with the models.

mod diagnostics;
mod own;

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use self::own::{Header, Runtime, headers};
use crate::model::{Step, StepSink};

/// Target size of an optimised unit in bytes: large enough to read headers rarely, small enough to use several
/// processors.
const UNIT: usize = 600_000;

/// Output of Verilator.
pub(crate) struct VerilatorOutput<'a> {
    /// Folder of the files and of the resulting library.
    pub folder: &'a Path,
    /// Prefix of Verilator's files and of the model's class.
    pub prefix: &'a str,
    pub shim: &'a Path,
    pub banks: u32,
    pub trace: bool,
    pub coverage: bool,
    /// Included before the code that runs once.
    pub header: Option<&'a Path>,
    /// Compiler options of code that runs in each clock.
    pub optimise: &'static str,
}

impl VerilatorOutput<'_> {
    /// Macros for Verilator's headers.
    fn switches(&self) -> [String; 3] {
        let (coverage, trace) = (u8::from(self.coverage), u8::from(self.trace));
        [
            format!("-DVM_COVERAGE={coverage}"),
            format!("-DVM_TRACE={trace}"),
            format!("-DVM_TRACE_FST={trace}"),
        ]
    }
}

/// Compiler options of code that runs once, at the start.
const SLOW: &str = "-O0";

/// A command of this name with its temporary files in `work`, since the user's temporary folder may be
/// missing.
pub(crate) fn start(name: impl AsRef<OsStr>, work: &Path) -> Command {
    let mut command = Command::new(name);
    command.env("TMPDIR", work).stdin(Stdio::null());
    command
}

/// Runs a command. The error message has the diagnostics of the sources, or else the last lines of the output.
pub(crate) fn check(command: &mut Command, name: &str) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot start {name}"))?;
    let said = [output.stdout, output.stderr].concat();
    let sources = command.get_current_dir().unwrap_or(Path::new("."));
    let faults = diagnostics::faults(&String::from_utf8_lossy(&said), sources);
    match faults.filter(|_| !output.status.success()) {
        Some(faults) => bail!("{name} refuses the sources:\n{faults}"),
        None => succeeded(output.status, &said, name),
    }
}

/// An error with the last lines of a program's output, if it failed.
fn succeeded(status: ExitStatus, said: &[u8], name: &str) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(said);
    if text.trim().is_empty() {
        // On a full disk there is no room for what it says, either.
        bail!(
            "{name} failed ({status}) and said nothing: is there room on the disk of the models?"
        );
    }
    let tail: Vec<&str> = text.lines().rev().take(40).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    bail!("{name} failed:\n{}", tail.join("\n"));
}

/// The C++ compiler of the models: clang if available, since its code is faster than g++'s.
pub fn compiler() -> &'static str {
    static FOUND: OnceLock<bool> = OnceLock::new();
    if *FOUND.get_or_init(|| version(CLANG).is_some()) { CLANG } else { GCC }
}

const CLANG: &str = "clang++";

/// Compiler options for this processor. With AVX2, whose registers hold half a memory line, a model of the paper's
/// core runs 10 % faster; the set core gains nothing. Model names depend on the options, since other processors may
/// share the cache.
pub(crate) fn processor() -> &'static [&'static str] {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt") {
            return &["-mavx2", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"];
        }
    }
    &[]
}

/// Compiler of the runtime, and linker: clang's atomics need a library that may be missing.
const GCC: &str = "g++";

/// Version text of a compiler, if it exists.
fn version(name: &str) -> Option<String> {
    let done = Command::new(name).arg("--version").output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Options of this Verilator installation (`verilated.mk`), and its header folders.
struct Options {
    include: PathBuf,
    words: Vec<String>,
}

impl Options {
    fn find() -> Result<Self> {
        let output = Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]).output()?;
        let include = Path::new(String::from_utf8(output.stdout)?.trim()).join("include");
        let path = include.join("verilated.mk");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let setting = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.split_once('='));
            value.map_or(vec![], |(_, value)| value.split_whitespace().map(String::from).collect())
        };
        let mut words = setting("CFG_CXXFLAGS_STD_NEWEST");
        if words.is_empty() {
            words.push("-std=gnu++17".into());
        }
        words.extend(setting("CFG_CXXFLAGS_NO_UNUSED"));
        // Warnings about Verilator's output don't concern users.
        words.extend(processor().iter().map(ToString::to_string));
        words.extend(["-fPIC", "-w", "-DVL_USER_STOP", "-DVM_SC=0"].map(String::from));
        for folder in [include.clone(), include.join("vltstd")] {
            words.push(format!("-I{}", folder.display()));
        }
        Ok(Options { include, words })
    }

    /// A compiler with these options.
    fn compiler(&self, name: &str, work: &Path) -> Command {
        let mut command = start(name, work);
        command.current_dir(work).args(&self.words);
        command
    }
}

/// A command that makes a file.
struct Job {
    command: Command,
    log: PathBuf,
}

impl Job {
    fn new(command: Command, object: &Path) -> Self {
        Job { command, log: object.with_extension("log") }
    }

    fn name(&self) -> String {
        self.command.get_program().to_string_lossy().into_owned()
    }

    fn spawn(&mut self) -> Result<Child> {
        let log = fs::File::create(&self.log)?;
        let child = self.command.stdout(log.try_clone()?).stderr(log).spawn();
        child.with_context(|| format!("cannot start {}", self.name()))
    }
}

/// Compiles Verilator's output and links `libcore.so` in the same folder. `models` caches the runtime.
///
/// # Errors
/// If a compiler is missing or fails, with its message; errors of `tell`, which also stop running
/// compilers.
pub(crate) fn library(
    what: &VerilatorOutput<'_>,
    models: &Path,
    tell: &mut StepSink<'_>,
) -> Result<()> {
    let options = Options::find()?;
    let mut jobs = VecDeque::new();
    let headers = headers(&options, what, models, tell)?;
    let runtime = Runtime::find(&options, what, models, tell)?;
    // They take longest.
    jobs.extend(runtime.jobs(&options, what.folder));
    let (units, more) = units(&options, what, &headers)?;
    jobs.extend(more);
    let first: VecDeque<Job> =
        headers.iter().filter_map(|header| header.job(&options, what)).collect();
    let (before, count) = (first.len(), first.len() + jobs.len());
    all(first, 0, count, tell)?;
    all(jobs, before, count, tell)?;
    runtime.objects.iter().for_each(|object| object.keep(what.folder));
    headers.into_iter().for_each(|header| header.leave(what.folder));

    tell(Step::Linking)?;
    let mut link = start(GCC, what.folder);
    link.current_dir(what.folder)
        // Calls between its functions need not be open to other libraries.
        .args(["-shared", "-Wl,-Bsymbolic", "-o", "libcore.so"])
        .args(units)
        .args(runtime.objects.iter().map(|object| object.at(what.folder)))
        .args(["-lpthread", "-lz"].iter().take(if what.trace { 2 } else { 1 }));
    check(&mut link, GCC)
}

/// Writes the units of a model; returns the object and the compile job of each.
fn units(
    options: &Options,
    what: &VerilatorOutput<'_>,
    headers: &[Header],
) -> Result<(Vec<PathBuf>, Vec<Job>)> {
    let mut files = vec![];
    for entry in fs::read_dir(what.folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "cpp") {
            let bytes = fs::metadata(&path)?.len() as usize;
            files
                .push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes));
        }
    }
    files.sort();
    // What runs once, at the start: Verilator's `VM_CLASSES_SLOW` and `VM_SUPPORT_SLOW`.
    let is_slow = |name: &str| name.ends_with("Slow.cpp") || name.ends_with("__Syms.cpp");
    let (slow, fast): (Vec<_>, Vec<_>) = files.into_iter().partition(|(name, _)| is_slow(name));
    let mut units = vec![];
    for (number, names) in packed(&fast).into_iter().enumerate() {
        units.push((format!("unit{number}.cc"), names, what.optimise));
    }
    if let Some((_, names, _)) = units.first_mut() {
        names.push(what.shim.to_string_lossy().into_owned());
    }
    let slow = slow.iter().map(|(name, _)| name.clone()).collect();
    units.push(("slow.cc".into(), slow, SLOW));

    let (mut objects, mut jobs) = (vec![], vec![]);
    for (unit, names, optimise) in units {
        let header = what.header.filter(|_| optimise == SLOW).map(|h| h.display().to_string());
        let text: String =
            header.iter().chain(&names).map(|name| format!("#include \"{name}\"\n")).collect();
        fs::write(what.folder.join(&unit), text)?;
        let object = what.folder.join(&unit).with_extension("o");
        let mut command = options.compiler(compiler(), what.folder);
        command.arg(optimise).args(what.switches());
        if let Some(header) = headers.iter().find(|header| header.optimise == optimise) {
            command.arg("-include-pch").arg(header.object.at(what.folder));
        }
        command
            .arg("-I.")
            .arg(format!("-DMODEL_HEADER=\"{}.h\"", what.prefix))
            .arg(format!("-DMODEL_CLASS={}", what.prefix))
            .arg(format!("-DBANKS={}", what.banks))
            .args(["-c", &unit, "-o"])
            .arg(&object);
        jobs.push(Job::new(command, &object));
        objects.push(object);
    }
    Ok((objects, jobs))
}

/// Distributes files over units: largest first, each to the smallest unit so far.
fn packed(files: &[(String, usize)]) -> Vec<Vec<String>> {
    let whole: usize = files.iter().map(|(_, bytes)| bytes).sum();
    let mut lists = vec![(0, vec![]); whole.div_ceil(UNIT).max(1)];
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by_key(|(name, bytes)| (usize::MAX - bytes, name));
    for (name, bytes) in files {
        if let Some((sum, list)) = lists.iter_mut().min_by_key(|(sum, _)| *sum) {
            *sum += bytes;
            list.push(name.clone());
        }
    }
    lists.retain(|(_, list)| !list.is_empty());
    lists.into_iter().map(|(_, list)| list).collect()
}

/// Runs all jobs, one per processor at a time, and reports how many of `count` are finished, `done` of them
/// before the call.
fn all(
    mut waiting: VecDeque<Job>,
    mut done: usize,
    count: usize,
    tell: &mut StepSink<'_>,
) -> Result<()> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let (end, mut told) = (done + waiting.len(), None);
    let mut running: Vec<(Job, Child)> = vec![];
    let outcome = (|| {
        while done < end {
            while running.len() < at_once
                && let Some(mut job) = waiting.pop_front()
            {
                let child = job.spawn()?;
                running.push((job, child));
            }
            if told != Some(done) {
                tell(Step::Compiling(done, count))?;
                told = Some(done);
            }
            std::thread::sleep(Duration::from_millis(20));
            let mut at = 0;
            while let Some((job, child)) = running.get_mut(at) {
                let Some(status) = child.try_wait()? else {
                    at += 1;
                    continue;
                };
                succeeded(status, &fs::read(&job.log)?, &job.name())?;
                running.swap_remove(at);
                done += 1;
            }
        }
        Ok(())
    })();
    for (_, mut child) in running {
        let _ = child.kill();
        let _ = child.wait();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_packed_into_units_of_about_one_size() {
        let files = |sizes: &[usize]| -> Vec<(String, usize)> {
            sizes.iter().enumerate().map(|(n, &size)| (format!("f{n}"), size)).collect()
        };
        assert_eq!(packed(&files(&[])), Vec::<Vec<String>>::new());
        assert_eq!(packed(&files(&[5, 9])), [["f1", "f0"]]);
        let lists = packed(&files(&[UNIT / 2, 10, UNIT, 20]));
        assert_eq!(lists, [vec!["f2"], vec!["f0", "f3", "f1"]]);
    }

    #[test]
    fn a_compiler_that_fails_is_heard_and_the_others_are_ended() {
        let work = tempfile::tempdir().unwrap();
        let job = |number: usize, script: &str| {
            let mut command = start("sh", work.path());
            command.args(["-c", script]);
            Job::new(command, &work.path().join(format!("{number}.o")))
        };
        let begun = std::time::Instant::now();
        let jobs = ["exec sleep 60", "echo no such header >&2; exit 1", "exec sleep 60"];
        let jobs = jobs.iter().enumerate().map(|(n, script)| job(n, script));
        // On one processor the first is alone until it ends.
        let jobs = if std::thread::available_parallelism().is_ok_and(|n| n.get() > 1) {
            jobs.collect()
        } else {
            jobs.skip(1).collect()
        };
        let said = all(jobs, 0, 3, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(said.contains("failed:\nno such header"), "{said}");
        // One whose listener has gone.
        let jobs = VecDeque::from([job(0, "exec sleep 60")]);
        let said = all(jobs, 0, 1, &mut |_| bail!("nobody listens")).unwrap_err().to_string();
        assert_eq!(said, "nobody listens");
        assert!(begun.elapsed() < Duration::from_secs(30));

        let mut steps = vec![];
        let jobs = VecDeque::from([job(0, "true"), job(1, "true")]);
        let mut keep = |step| {
            steps.push(step);
            Ok(())
        };
        all(jobs, 1, 3, &mut keep).unwrap();
        assert_eq!(steps[0], Step::Compiling(1, 3));
    }
}
