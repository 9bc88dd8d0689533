//! Parts of Verilator that are the same in every model: the compiled runtime and precompiled headers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xxhash_rust::xxh3::xxh3_64;

use super::{CLANG, GCC, Job, Options, SLOW, VerilatorOutput, compiler, version};
use crate::cache;
use crate::model::{Step, StepSink};

/// Object compiled from one of Verilator's own files.
pub(super) struct Object {
    source: PathBuf,
    /// File name until it is cached.
    name: String,
    /// Path in the cache.
    kept: PathBuf,
    /// Whether the cache had it.
    found: bool,
}

impl Object {
    /// Looks it up in `models`, by the hash of its inputs.
    fn find(
        source: PathBuf,
        extension: &str,
        made_of: &[u8],
        models: &Path,
        tell: &mut StepSink<'_>,
    ) -> Result<Self> {
        let hash = xxh3_64(made_of);
        let name = source.with_extension(extension);
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kept = models.join(format!("runtime-{hash:016x}-{name}"));
        let mut note = None;
        let found = cache::whole_file(&kept, &mut |text| note = Some(text.to_string()))?;
        if let Some(text) = note {
            tell(Step::Note(text))?;
        }
        // Two of one source may be made at a time.
        Ok(Object { source, name: format!("{hash:016x}-{name}"), kept, found })
    }

    /// Caches a new one for the next model. Best effort: this model uses its local copy.
    pub(super) fn keep(&self, work: &Path) {
        if !self.found {
            let _ = cache::keep(&self.at(work), &self.kept);
        }
    }

    /// Path for a model built in `work`.
    pub(super) fn at(&self, work: &Path) -> PathBuf {
        if self.found { self.kept.clone() } else { work.join(&self.name) }
    }
}

/// Files of Verilator's runtime that a model needs.
pub(super) struct Runtime {
    pub(super) objects: Vec<Object>,
}

/// Compiler options of the runtime: its code for each clock is in headers.
const RUNTIME_OPTIMISE: &str = "-O1";

impl Runtime {
    pub(super) fn find(
        options: &Options,
        what: &VerilatorOutput<'_>,
        models: &Path,
        tell: &mut StepSink<'_>,
    ) -> Result<Self> {
        let mut names = vec!["verilated.cpp", "verilated_threads.cpp"];
        if what.trace {
            names.push("verilated_fst_c.cpp");
        }
        if what.coverage {
            names.push("verilated_cov.cpp");
        }
        let gcc = version(GCC);
        let mut objects = vec![];
        for name in names {
            let source = options.include.join(name);
            let mut about =
                fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
            about.extend(fs::read(options.include.join("verilated.h"))?);
            about.extend(fs::read(options.include.join("verilated_config.h"))?);
            about.extend(format!("{gcc:?}{RUNTIME_OPTIMISE}{:?}", options.words).bytes());
            objects.push(Object::find(source, "o", &about, models, tell)?);
        }
        Ok(Runtime { objects })
    }

    /// Jobs that compile the objects missing in the cache.
    pub(super) fn jobs(&self, options: &Options, work: &Path) -> Vec<Job> {
        let job = |object: &Object| {
            let made = object.at(work);
            let mut command = options.compiler(GCC, work);
            command.arg(RUNTIME_OPTIMISE).arg("-c").arg(&object.source).arg("-o").arg(&made);
            Job::new(command, &made)
        };
        self.objects.iter().filter(|object| !object.found).map(job).collect()
    }
}

/// Verilator's precompiled header for units of one optimisation level.
pub(super) struct Header {
    pub(super) object: Object,
    pub(super) optimise: &'static str,
}

/// Verilator's precompiled headers for the units of a model, which halve the compile time of a unit. With clang
/// only, the preferred compiler.
pub(super) fn headers(
    options: &Options,
    what: &VerilatorOutput<'_>,
    models: &Path,
    tell: &mut StepSink<'_>,
) -> Result<Vec<Header>> {
    if compiler() != CLANG {
        return Ok(vec![]);
    }
    // Clang refuses one if a header that it was read from was touched since, so its time counts too. Those of
    // C++ belong to g++.
    let mut about = format!(
        "{:?}{:?}{:?}{:?}{:?}",
        version(CLANG),
        version(GCC),
        options.include,
        options.words,
        what.switches()
    );
    let mut files: Vec<_> = fs::read_dir(&options.include)
        .with_context(|| format!("cannot read {}", options.include.display()))?
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.path().extension().is_some_and(|e| e == "h"));
    files.sort_by_key(fs::DirEntry::file_name);
    for file in files {
        let known = fs::metadata(file.path())?;
        about += &format!("{:?} {} {:?}", file.file_name(), known.len(), known.modified()?);
    }
    let find = |optimise: &'static str| {
        let source = options.include.join("verilated.h");
        let made_of = format!("{about}{optimise}");
        let object = Object::find(source, "pch", made_of.as_bytes(), models, tell)?;
        Ok(Header { object, optimise })
    };
    [what.optimise, SLOW].into_iter().map(find).collect()
}

impl Header {
    /// Jobs that precompile headers missing in the cache.
    pub(super) fn job(&self, options: &Options, what: &VerilatorOutput<'_>) -> Option<Job> {
        let made = self.object.at(what.folder);
        let mut command = options.compiler(CLANG, what.folder);
        command.arg(self.optimise).args(what.switches());
        command.args(["-x", "c++-header"]).arg(&self.object.source).arg("-o").arg(&made);
        (!self.object.found).then(|| Job::new(command, &made))
    }

    /// Caches new headers, and removes them from the folder of the model, which is compiled by now.
    pub(super) fn leave(self, work: &Path) {
        self.object.keep(work);
        if !self.object.found {
            let _ = fs::remove_file(self.object.at(work));
        }
    }
}
