//! Builds models, or finds them in the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, ensure};
use gramer_machine::{Accelerator, trust};

use super::Build;
use super::settings::{TRACING, settings};
use super::sources::{Coverage, LINT, ModelName, ModelRequest, RTL, Sources, asked, name};
use crate::cache::{self, Latest};
use crate::compile::{self, VerilatorOutput};
use crate::verilated;

/// Progress of a model's build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Message for the user.
    Note(String),
    /// Verilator translates the sources.
    Translating,
    /// Number of compiled files, and of all files.
    Compiling(usize, usize),
    /// The library is linked.
    Linking,
}

/// Callback for the steps of a build; an error ends the build.
pub type StepSink<'a> = dyn FnMut(Step) -> Result<()> + 'a;

/// [`build_telling`], without steps.
///
/// # Errors
/// As [`build_telling`].
pub fn build(accelerator: &Accelerator, options: Build) -> Result<PathBuf> {
    build_telling(accelerator, options, &mut |_| Ok(()))
}

/// Builds the model of a machine, or finds it in the folders of [`cache::folders`].
///
/// `GRAMER_RTL` names another folder of sources: a copy of `rtl/` with faults (`make mutants`),
/// of which `GRAMER_MUTANT` chooses one when an instance is created.
///
/// `GRAMER_COVERAGE=lines` collects line coverage, and `toggles` also toggle coverage, in a much larger build
/// (`make coverage`). It omits assertions, whose messages would be lines that never run. With `activity` the model counts
/// how often registers and outputs toggle (`make energy`).
///
/// # Errors
/// If Verilator or the C++ compiler is missing or rejects the sources; the message has their
/// output.
pub fn build_telling(
    accelerator: &Accelerator,
    options: Build,
    tell: &mut StepSink<'_>,
) -> Result<PathBuf> {
    build_of(None, accelerator, options, tell)
}

/// [`build`] from another folder of sources, ignoring `GRAMER_RTL`.
///
/// # Errors
/// As [`build`].
pub fn build_from(rtl: &Path, accelerator: &Accelerator, options: Build) -> Result<PathBuf> {
    build_of(Some(rtl), accelerator, options, &mut |_| Ok(()))
}

fn build_of(
    other: Option<&Path>,
    accelerator: &Accelerator,
    options: Build,
    tell: &mut StepSink<'_>,
) -> Result<PathBuf> {
    let asked = asked(accelerator, options)?;
    let ModelName { hash, folder, sources, folders, mut notes } = name(other, &asked)?;
    let find = |tell: &mut dyn FnMut(&str)| -> Result<Option<PathBuf>> {
        for models in &folders {
            let at = models.join(&folder);
            if let Some(library) = cache::whole(&at, tell)? {
                return Ok(Some(library));
            }
        }
        Ok(None)
    };
    // Threads of one program wait for the first to build it.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let found = find(&mut |note| notes.push(note.to_string()))?;
    notes.into_iter().try_for_each(|note| tell(Step::Note(note)))?;
    let remember = |library: &Path, content: &str| {
        if other.is_none()
            && std::env::var_os(RTL).is_none()
            && let Some(models) = library.parent().and_then(Path::parent)
        {
            let latest = Latest { content: content.into(), name: folder.clone() };
            latest.note(models, &asked.key);
        }
    };
    if let Some(library) = found {
        if let Ok(sources) = &sources {
            remember(&library, &sources.content);
        }
        return Ok(library);
    }
    let sources = sources?;
    let models = cache::writable(&folders)?;
    let turn = BuildLock::wait(&models.join(format!("{UNDER_WAY}{folder}")), tell)?;
    if turn.waited
        && let Some(library) = find(&mut |_| ())?
    {
        return Ok(library);
    }
    let folder = models.join(&folder);
    let library = folder.join("libcore.so");
    // Built next to its final place and renamed: concurrent builds are safe.
    forget(models);
    let work = tempfile::Builder::new().prefix(UNDER_WAY).tempdir_in(models)?;
    let prefix = format!("V{}_{hash}", accelerator.machine.name);
    tell(Step::Translating)?;
    translate(&sources, &asked, accelerator, &prefix, work.path())?;
    if !asked.raw {
        verilated::improve(work.path())?;
    }
    let what = VerilatorOutput {
        folder: work.path(),
        prefix: &prefix,
        shim: sources.wrapper.as_ref().unwrap_or(&sources.shim),
        banks: accelerator.core_ports(),
        trace: asked.trace,
        coverage: matches!(asked.coverage, Some(Coverage::Lines | Coverage::Toggles)),
        header: sources.header.as_deref(),
        // It runs a few small tasks: most of its time is this compiler's.
        optimise: if asked.raw { "-O1" } else { "-O2" },
    };
    compile::library(&what, models, tell)?;
    cache::seal(&work.path().join("libcore.so"))?;
    if fs::rename(work.path(), &folder).is_err() {
        // Somebody else was faster.
        let theirs = trust::check(&library);
        ensure!(theirs.is_ok(), "cannot put the model into {}", folder.display());
    } else {
        let _ = work.keep();
    }
    remember(&library, &sources.content);
    Ok(library)
}

/// Name prefix of build folders.
const UNDER_WAY: &str = "building-";

/// Age of the last write after which a build folder counts as abandoned; no build takes this long.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Removes folders of abandoned builds.
fn forget(models: &Path) {
    for entry in fs::read_dir(models).into_iter().flatten().flatten() {
        let old = |data: fs::Metadata| {
            Some(data.is_dir() && data.modified().ok()?.elapsed().ok()? > ABANDONED)
        };
        let named = entry.file_name().to_string_lossy().starts_with(UNDER_WAY);
        if named && entry.metadata().ok().and_then(old) == Some(true) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Lock on the build of a model, released at the latest when its process ends.
struct BuildLock {
    path: PathBuf,
    /// Locked file; `None` if the file system has no locks, and then nobody waits.
    _file: Option<fs::File>,
    /// Whether another process held the lock first.
    waited: bool,
}

impl BuildLock {
    /// Waits while another process builds the same model: concurrent builds would take twice as long.
    ///
    /// # Errors
    /// Errors of `tell`, which also receives the other process' progress.
    fn wait(path: &Path, tell: &mut StepSink<'_>) -> Result<Self> {
        let (path, mut waited) = (path.to_path_buf(), false);
        let Ok(file) = fs::File::create(&path) else {
            return Ok(BuildLock { path, _file: None, waited });
        };
        while matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            waited = true;
            tell(Step::Translating)?;
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(BuildLock { path, _file: Some(file), waited })
    }
}

impl Drop for BuildLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Runs Verilator, which writes the C++ of a model to `work`.
fn translate(
    sources: &Sources,
    asked: &ModelRequest,
    accelerator: &Accelerator,
    prefix: &str,
    work: &Path,
) -> Result<()> {
    let ModelRequest { coverage, fast, trace, accesses, ref package, .. } = *asked;
    fs::write(work.join("gramer_pkg.sv"), package)?;
    let activity = coverage == Some(Coverage::Activity);
    let read = |file: &PathBuf| -> Result<_> {
        let module = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((module, fs::read_to_string(sources.rtl.join(file))?))
    };
    let texts =
        sources.files.iter().filter(|_| activity).map(read).collect::<Result<Vec<_>, _>>()?;
    let texts = activity.then_some(&texts[..]);
    fs::write(work.join("settings.vlt"), settings(accelerator, texts))?;
    let mut command = compile::start("verilator", work);
    command
        .current_dir(&sources.rtl)
        .args(["--cc", "-sv", "-Wall", "-O3"])
        .args(["--top-module", accelerator.core_module(), "--prefix", prefix])
        // The functions of a waveform are long lists, and a compiler's time grows faster than a function.
        .args(["--output-split", "40000", "--output-split-ctrace", "1000"]);
    // What a register holds before its reset must not matter, nor what is 'x: of a unit that has nothing to do. Where
    // assertions are, it is random.
    let unknown = if fast { "fast" } else { "unique" };
    command.args(["--x-assign", unknown, "--x-initial", unknown]);
    if fast {
        command.arg("-DSYNTHESIS");
    } else {
        command.arg("--assert");
    }
    if trace {
        command.args(TRACING);
    }
    if accesses {
        command.arg("-DGRAMER_ACCESSES");
    }
    if coverage.is_some() && !activity {
        command.arg("--coverage-line");
    }
    if coverage == Some(Coverage::Toggles) {
        command.arg("--coverage-toggle");
    }
    command.arg("--Mdir").arg(work).arg(LINT);
    command.arg(work.join("settings.vlt")).arg(work.join("gramer_pkg.sv")).args(&sources.files);
    compile::check(&mut command, "verilator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_builds_left_goes_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["building-a1", "building-b2", "1a"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("building-lock"), "").unwrap();
        let left = || {
            let entries = folder.path().read_dir().unwrap();
            let mut left: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
            left.sort();
            left
        };
        let before = std::time::SystemTime::now() - 2 * ABANDONED;
        fs::File::open(folder.path().join("building-a1")).unwrap().set_modified(before).unwrap();
        forget(folder.path());
        assert_eq!(left(), ["1a", "building-b2", "building-lock"]);
    }

    #[test]
    fn one_program_builds_and_the_others_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("building");
        let first = BuildLock::wait(&path, &mut |_| Ok(())).unwrap();
        assert!(!first.waited);
        let told = BuildLock::wait(&path, &mut |_| anyhow::bail!("nobody listens")).err().unwrap();
        assert_eq!(told.to_string(), "nobody listens");
        let (mut first, mut heard) = (Some(first), 0);
        let second = BuildLock::wait(&path, &mut |_| {
            heard += 1;
            if heard == 3 {
                first = None;
            }
            Ok(())
        });
        assert!(second.unwrap().waited && heard >= 3);
        assert!(!path.exists());
    }
}
