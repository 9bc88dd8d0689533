//! What is Verilator's own, and the same in every model: its runtime, compiled, and its headers, read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xxhash_rust::xxh3::xxh3_64;

use super::{CLANG, GCC, Job, Options, SLOW, Translated, compiler, version};
use crate::cache;
use crate::model::{Step, Tell};

/// What a compiler makes of a file of Verilator's own.
pub(super) struct Object {
    source: PathBuf,
    /// Its name while it is not kept.
    name: String,
    /// Where it is kept.
    kept: PathBuf,
    /// Whether it was there already.
    found: bool,
}

impl Object {
    /// Finds it among `models`, where its name has the hash of what it is made of.
    fn find(
        source: PathBuf,
        extension: &str,
        made_of: &[u8],
        models: &Path,
        tell: &mut Tell<'_>,
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

    /// Keeps it, if it was made now, for the next model. It is a convenience: this one has its own.
    pub(super) fn keep(&self, work: &Path) {
        if !self.found {
            let _ = cache::keep(&self.at(work), &self.kept);
        }
    }

    /// Where it is for a model that is built in `work`.
    pub(super) fn at(&self, work: &Path) -> PathBuf {
        if self.found { self.kept.clone() } else { work.join(&self.name) }
    }
}

/// Verilator's runtime, as far as a model needs it.
pub(super) struct Runtime {
    pub(super) objects: Vec<Object>,
}

/// How it is compiled: what runs in each clock is in headers.
const RUNTIME_OPTIMISE: &str = "-O1";

impl Runtime {
    pub(super) fn find(
        options: &Options,
        what: &Translated<'_>,
        models: &Path,
        tell: &mut Tell<'_>,
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

    /// What compiles the objects that weren't found.
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

/// Verilator's headers as the compiler has read them, for units of one level of optimisation.
pub(super) struct Header {
    pub(super) object: Object,
    pub(super) optimise: &'static str,
}

/// Verilator's headers for the units of a model: half of a unit's time would be spent on reading them.
/// Of clang alone, which every model is compiled with where it is.
pub(super) fn headers(
    options: &Options,
    what: &Translated<'_>,
    models: &Path,
    tell: &mut Tell<'_>,
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
    /// What reads them, if they weren't found.
    pub(super) fn job(&self, options: &Options, what: &Translated<'_>) -> Option<Job> {
        let made = self.object.at(what.folder);
        let mut command = options.compiler(CLANG, what.folder);
        command.arg(self.optimise).args(what.switches());
        command.args(["-x", "c++-header"]).arg(&self.object.source).arg("-o").arg(&made);
        (!self.object.found).then(|| Job::new(command, &made))
    }

    /// Keeps them, if they were made now, and none beside the model, which is compiled by now.
    pub(super) fn leave(self, work: &Path) {
        self.object.keep(work);
        if !self.object.found {
            let _ = fs::remove_file(self.object.at(work));
        }
    }
}
