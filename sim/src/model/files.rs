//! Files of a core: those listed in `Bender.yml`, in its order.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use gramer_machine::Core;
use serde::Deserialize;

/// Manifest, in the folder above `rtl/`.
pub const MANIFEST: &str = "Bender.yml";

#[derive(Deserialize)]
struct Manifest {
    sources: Vec<Group>,
}

/// Files of a target, or all files without a target.
#[derive(Deserialize)]
struct Group {
    target: Option<String>,
    files: Vec<PathBuf>,
}

/// Returns the files of a core, relative to `rtl/`, without the default machine's package: a model uses the
/// package of its machine.
///
/// # Errors
/// If the manifest in `root` can't be read, or lists a file outside of `rtl/`, or none.
pub fn files(root: &Path, core: Core) -> Result<Vec<PathBuf>> {
    let path = root.join(MANIFEST);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let manifest: Manifest =
        serde_yaml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
    let own = match core {
        Core::Paper => "gramer_paper",
        Core::Set => "gramer_set",
    };
    let groups = manifest.sources.iter();
    let groups = groups.filter(|g| g.target.as_deref().is_none_or(|target| target == own));
    let listed: Vec<PathBuf> = groups
        .flat_map(|group| &group.files)
        .map(|file| {
            let within = file.strip_prefix("rtl").map(Path::to_path_buf);
            within.with_context(|| format!("{}: {} is not in rtl/", path.display(), file.display()))
        })
        .collect::<Result<_>>()?;
    ensure!(!listed.is_empty(), "{} lists no file for the target {own}", path.display());
    Ok(listed)
}
