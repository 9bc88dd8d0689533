//! Location of the core's sources, and cache of built models.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use gramer_machine::trust;
use xxhash_rust::xxh3::xxh3_64;

use crate::model::files;

/// Environment variable: folder with `Bender.yml`, `rtl/` and `sim/shim/`, if they aren't found automatically.
pub const SOURCES: &str = "GRAMER_SOURCES";
/// Environment variable: folder for built models.
pub const MODELS: &str = "GRAMER_MODELS";

/// File that identifies the core's sources.
const CORE: &str = "rtl/paper/gramer_core.sv";
/// Inputs of a model: files and folders that other users must not be able to write.
const BUILT_FROM: [&str; 6] = ["rtl", "rtl/common", "rtl/paper", "rtl/set", CORE, files::MANIFEST];
/// File name of the model in its folder, which also holds the hash of its bytes.
const LIBRARY: &str = "libcore.so";
/// Number of parent folders of a program to examine as repository or prefix: `target/debug/deps/` has four.
const ABOVE: usize = 4;

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns the folder with `Bender.yml`, `rtl/` and `sim/shim/`: `GRAMER_SOURCES`, else the repository around this
/// program, else `share/gramer` of its installation prefix. Sources become code that runs as this user, so folders
/// that other users can write are skipped.
///
/// # Errors
/// If there is none, with the reasons for skipping folders.
pub fn sources() -> Result<PathBuf> {
    let has = |folder: &Path| folder.join(CORE).is_file();
    if let Some(folder) = named(SOURCES) {
        return match has(&folder) {
            true => Ok(folder),
            false => bail!("{SOURCES} is {}, but there is no rtl/ in it", folder.display()),
        };
    }
    let program = std::env::current_exe().unwrap_or_default();
    let mut refused = String::new();
    sources_near(&program, &mut refused).with_context(|| {
        format!(
            "the sources of the core (rtl/) are not near {}: name the repository in {SOURCES}{refused}",
            program.display()
        )
    })
}

/// Sources around a program that other users can't have written; adds reasons for skipping folders to `refused`.
fn sources_near(program: &Path, refused: &mut String) -> Option<PathBuf> {
    let above = program.ancestors().skip(1).take(ABOVE);
    let mut folders = above.flat_map(|f| [f.to_path_buf(), f.join("share/gramer")]);
    folders.find(|folder| {
        folder.join(CORE).is_file()
            && BUILT_FROM.iter().map(|path| folder.join(path)).chain([folder.clone()]).all(|path| {
                let checked = trust::check(&path);
                checked.map_err(|reason| *refused += &format!("; not used: {reason}")).is_ok()
            })
    })
}

/// Returns the folders that may hold models, by preference: only `GRAMER_MODELS` if it is set; else `target/models` of
/// the repository and `gramer/models` in the user's cache. A model is code that runs as this user: folders that other
/// users can write are skipped and reported to `tell`.
pub fn folders(sources: Option<&Path>, tell: &mut dyn FnMut(&str)) -> Vec<PathBuf> {
    let own =
        |folder: &Path| folder.join("Cargo.toml").is_file().then(|| folder.join("target/models"));
    // Without sources, the models of the repository that the program lies in.
    let program = std::env::current_exe().unwrap_or_default();
    let near = || sources_near(&program, &mut String::new());
    let repository = sources.map(Path::to_path_buf).or_else(near);
    let all = match named(MODELS) {
        Some(folder) => vec![folder],
        None => {
            repository.as_deref().and_then(own).into_iter().chain(trust::cache("models")).collect()
        }
    };
    let mut trusted = |folder: &PathBuf| {
        let checked = if folder.exists() { trust::check(folder) } else { Ok(()) };
        let note =
            |reason| tell(&format!("models are neither kept nor looked for there: {reason}"));
        checked.map_err(note).is_ok()
    };
    all.into_iter().filter(|folder| trusted(folder)).collect()
}

/// Returns the first writable folder; creates it with access for this user alone if it is missing.
///
/// # Errors
/// If no folder is writable.
pub fn writable(folders: &[PathBuf]) -> Result<&Path> {
    let mut refused = vec![];
    for folder in folders {
        let tried = trust::create_private(folder).and_then(|()| tempfile::tempfile_in(folder));
        match tried {
            Ok(_) => return Ok(folder),
            Err(e) => refused.push(format!("{}: {e}", folder.display())),
        }
    }
    bail!("no folder for the model can be written: name one in {MODELS} ({})", refused.join("; "))
}

/// File with the hash of another file's bytes.
fn checksum(file: &Path) -> PathBuf {
    file.with_extension("xxh3")
}

/// Writes the hash of a file's bytes next to it, and removes write permission for other users regardless of the umask:
/// a file that others can write is not loaded.
///
/// # Errors
/// I/O errors.
pub fn seal(file: &Path) -> Result<()> {
    let bytes = fs::read(file)?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))?;
    Ok(fs::write(checksum(file), format!("{:016x}\n", xxh3_64(&bytes)))?)
}

/// Whether the bytes match the hash stored next to a file.
fn sealed(file: &Path, bytes: &[u8]) -> bool {
    let sum = fs::read_to_string(checksum(file)).unwrap_or_default();
    sum.trim_end() == format!("{:016x}", xxh3_64(bytes))
}

/// Whether a file exists and matches its stored hash ([`keep`]). A truncated or modified file is removed and
/// reported to `tell`.
///
/// # Errors
/// If a damaged file can't be removed.
pub fn whole_file(file: &Path, tell: &mut dyn FnMut(&str)) -> Result<bool> {
    let Ok(bytes) = fs::read(file) else {
        return Ok(false);
    };
    if let Err(reason) = trust::check(file) {
        tell(&format!("it is made again: {reason}"));
        return Ok(false);
    }
    // Its hash came before it.
    if sealed(file, &bytes) {
        return Ok(true);
    }
    tell(&format!("{} is damaged and is made again", file.display()));
    match fs::remove_file(file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            bail!("{} is damaged; remove it: {e}", file.display())
        }
        _ => Ok(false),
    }
}

/// Stores a copy of a file with its hash; safe against concurrent processes, since the copy is renamed into
/// place.
///
/// # Errors
/// I/O errors.
pub fn keep(made: &Path, kept: &Path) -> Result<()> {
    let folder = kept.parent().context("a file is in a folder")?;
    let copy = tempfile::NamedTempFile::new_in(folder)?;
    let bytes = fs::read(made)?;
    fs::write(copy.path(), &bytes)?;
    let sum = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(sum.path(), format!("{:016x}\n", xxh3_64(&bytes)))?;
    sum.persist(checksum(kept))?;
    copy.persist(kept)?;
    Ok(())
}

/// Returns the model in a folder, if it exists and is intact. A truncated or modified model is removed and
/// reported to `tell`.
///
/// # Errors
/// If a damaged model can't be removed.
pub fn whole(folder: &Path, tell: &mut dyn FnMut(&str)) -> Result<Option<PathBuf>> {
    let library = folder.join(LIBRARY);
    let Ok(bytes) = fs::read(&library) else {
        return Ok(None);
    };
    let trusted = trust::check(&library);
    if sealed(&library, &bytes) && trusted.is_ok() {
        return Ok(Some(library));
    }
    tell(&match trusted {
        Err(reason) => format!("a model is built again: {reason}"),
        Ok(()) => format!("the model in {} is damaged and is built again", folder.display()),
    });
    // Moved away first: another process may look at it now.
    let grave = folder.parent().and_then(|models| tempfile::tempdir_in(models).ok());
    let grave = grave.with_context(|| {
        format!("the model in {} is damaged; remove that folder", folder.display())
    })?;
    match fs::rename(folder, grave.path().join("damaged")) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            bail!("the model in {} is damaged; remove that folder: {e}", folder.display())
        }
        _ => Ok(None),
    }
}

/// Record of the last model of a description: hash of its sources, and name of its folder. It locates a model
/// when sources or Verilator are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latest {
    /// Hash of the sources.
    pub content: String,
    /// Name of the model's folder.
    pub name: String,
}

impl Latest {
    fn path(models: &Path, key: &str) -> PathBuf {
        models.join(format!("latest-{key}"))
    }

    /// Stores the record for the description with this key. Best effort: a folder that can't be written gets
    /// none.
    pub fn note(&self, models: &Path, key: &str) {
        if Self::read(models, key).as_ref() == Some(self) {
            return;
        }
        let _ = tempfile::NamedTempFile::new_in(models).map(|file| {
            let text = format!("{} {}\n", self.content, self.name);
            let written = fs::write(file.path(), text);
            written.map(|()| file.persist(Self::path(models, key)))
        });
    }

    /// Folder of the records.
    pub fn read(models: &Path, key: &str) -> Option<Self> {
        let text = fs::read_to_string(Self::path(models, key)).ok()?;
        let (content, name) = text.trim_end().split_once(' ')?;
        // A name alone, so that nothing outside of the folder is reached.
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        plain.then(|| Latest { content: content.into(), name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_was_cut_is_removed_and_a_whole_one_is_found() {
        let models = tempfile::tempdir().unwrap();
        let folder = models.path().join("abc-1");
        fs::create_dir(&folder).unwrap();
        let mut said = vec![];
        assert_eq!(whole(&folder, &mut |line| said.push(line.to_string())).unwrap(), None);
        fs::write(folder.join(LIBRARY), "a model").unwrap();
        seal(&folder.join(LIBRARY)).unwrap();
        let found = whole(&folder, &mut |line| said.push(line.to_string())).unwrap();
        assert_eq!((found, said.len()), (Some(folder.join(LIBRARY)), 0));
        for damaged in ["a mode", ""] {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(LIBRARY), "a model").unwrap();
            seal(&folder.join(LIBRARY)).unwrap();
            fs::write(folder.join(LIBRARY), damaged).unwrap();
            let found = whole(&folder, &mut |line| said.push(line.to_string())).unwrap();
            assert_eq!(found, None);
            assert!(said.pop().unwrap().contains("abc-1 is damaged"));
            assert_eq!(fs::read_dir(models.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_file_that_was_kept_is_found_until_it_is_cut() {
        let models = tempfile::tempdir().unwrap();
        let (made, kept) = (models.path().join("made.o"), models.path().join("kept.o"));
        let mut said = vec![];
        let mut found = |kept: &Path| whole_file(kept, &mut |line| said.push(line.to_string()));
        assert!(!found(&kept).unwrap());
        fs::write(&made, "an object").unwrap();
        keep(&made, &kept).unwrap();
        assert!(found(&kept).unwrap() && fs::read(&kept).unwrap() == b"an object");
        fs::write(&kept, "an obj").unwrap();
        assert!(!found(&kept).unwrap() && !kept.exists());
        keep(&made, &kept).unwrap();
        assert!(found(&kept).unwrap());
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("kept.o is damaged"), "{said:?}");
    }

    #[test]
    fn the_latest_model_is_noted_and_names_no_other_folder() {
        let models = tempfile::tempdir().unwrap();
        assert_eq!(Latest::read(models.path(), "k"), None);
        let latest = Latest { content: "12".into(), name: "00ab-12".into() };
        latest.note(models.path(), "k");
        assert_eq!(Latest::read(models.path(), "k"), Some(latest));
        fs::write(models.path().join("latest-k"), "12 ../elsewhere\n").unwrap();
        assert_eq!(Latest::read(models.path(), "k"), None);
    }

    #[test]
    fn what_others_can_write_is_neither_built_from_nor_loaded() {
        let root = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let program = root.path().join("target/debug/deps/test");
        for folder in ["common", "paper", "set"] {
            fs::create_dir_all(root.path().join("rtl").join(folder)).unwrap();
        }
        fs::write(root.path().join(files::MANIFEST), "").unwrap();
        fs::create_dir_all(root.path().join("target/models")).unwrap();
        fs::write(root.path().join(CORE), "").unwrap();
        fs::write(root.path().join("Cargo.toml"), "").unwrap();
        let mut refused = String::new();
        assert_eq!(sources_near(&program, &mut refused).as_deref(), Some(root.path()));
        mode(&root.path().join("rtl"), 0o777);
        assert_eq!(sources_near(&program, &mut refused), None);
        assert!(refused.contains("rtl can be written by others (mode 777)"), "{refused}");
        mode(&root.path().join("rtl"), 0o755);
        mode(&root.path().join("rtl/set"), 0o777);
        assert_eq!(sources_near(&program, &mut String::new()), None);
        // Far above the program, and in no folder of it.
        let far = root.path().join("a/b/c/d/e/test");
        assert_eq!(sources_near(&far, &mut String::new()), None);

        let (mut said, own) = (vec![], root.path().join("target/models"));
        let mut found = || folders(Some(root.path()), &mut |note| said.push(note.to_string()));
        if std::env::var_os(MODELS).is_none() {
            assert_eq!(found()[0], own);
            mode(&own, 0o777);
            assert!(!found().contains(&own));
            assert!(
                said.len() == 1 && said[0].contains("models can be written by others"),
                "{said:?}"
            );
        }
        mode(&own, 0o755);
        let model = own.join("abc-1");
        fs::create_dir(&model).unwrap();
        fs::write(model.join(LIBRARY), "a model").unwrap();
        seal(&model.join(LIBRARY)).unwrap();
        mode(&model.join(LIBRARY), 0o666);
        let mut said = vec![];
        assert_eq!(whole(&model, &mut |line| said.push(line.to_string())).unwrap(), None);
        assert!(said[0].contains("can be written by others") && !model.exists(), "{said:?}");
    }

    #[test]
    fn the_first_folder_that_can_be_written_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let (no, yes) = (file.join("models"), folder.path().join("a/models"));
        assert_eq!(writable(&[no.clone(), yes.clone()]).unwrap(), yes);
        let said = writable(&[no]).unwrap_err().to_string();
        assert!(said.contains("GRAMER_MODELS"), "{said}");
    }
}
