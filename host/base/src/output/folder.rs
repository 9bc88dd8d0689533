//! Folders of outputs: files of known names that are written together.
//!
//! A folder of a run ([`check_run`], [`write_run`]) has a record of its files, so that the next run replaces what this
//! one wrote, and nothing that was changed since or is somebody else's.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Output;
use super::place::{PathTarget, check_folder, look, spare_inputs};
use crate::error::{Error, Place, Result};

/// Names of files that a message lists.
const LISTED: usize = 6;
/// The record of a run's folder: [`RECORD_HEAD`], then for each file that the run wrote its hash and its name.
const RECORD: &str = ".gramer-run";
const RECORD_HEAD: &str = "files of the last run, which the next one may replace";

/// Refuses a folder of outputs before any work: without `force` one that has files of these names, also with it
/// one whose files are inputs, and one that can't be made or written to.
///
/// # Errors
/// [`Error::Usage`] with the reason, [`Error::Io`] where the system refuses.
pub fn check_files(
    folder: &Path,
    names: &[impl AsRef<str>],
    force: bool,
    inputs: &[&Path],
) -> Result<()> {
    check(folder, names, force, inputs, &Record::default())
}

/// The same for the folder of a run: unchanged files of an earlier [`write_run`] are replaced without `force`.
///
/// # Errors
/// As [`check_files`].
pub fn check_run(
    folder: &Path,
    names: &[impl AsRef<str>],
    force: bool,
    inputs: &[&Path],
) -> Result<()> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).chain([RECORD]).collect();
    check(folder, &names, force, inputs, &Record::read(folder))
}

fn check(
    folder: &Path,
    names: &[impl AsRef<str>],
    force: bool,
    inputs: &[&Path],
    record: &Record,
) -> Result<()> {
    let refused = |what: String| Err(Error::usage(format!("{}: {what}", Place::file(folder))));
    match fs::metadata(folder) {
        Ok(there) if there.is_dir() => {}
        Ok(_) => return refused("is not a folder; name one".into()),
        Err(_) if fs::symlink_metadata(folder).is_ok() => {
            return refused("is a symbolic link, but not to a folder; name a folder".into());
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => return check_parent(folder),
        Err(e) => return Err(Error::io(folder, "create", e)),
    }
    check_folder(&folder.join("file"))?;
    let mut there = vec![];
    for name in names.iter().map(AsRef::as_ref) {
        let path = folder.join(name);
        let found = look(&path)?;
        spare_inputs(&path, &found, inputs)?;
        match found {
            PathTarget::Nothing => {}
            PathTarget::File if record.has(folder, name) => {}
            PathTarget::File => there.push(name.to_string()),
            PathTarget::Link(link) => there.push(format!("{name} ({link})")),
            PathTarget::Stream => {
                let what = "is a device or a pipe; name another folder";
                return Err(Error::usage(format!("{}: {what}", Place::file(&path))));
            }
        }
    }
    if force || there.is_empty() {
        return Ok(());
    }
    let more = match there.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more files"),
    };
    there.truncate(LISTED);
    let (those, them) = match (there.len(), more.is_empty()) {
        (1, true) => ("is", "it"),
        _ => ("are", "them"),
    };
    refused(format!(
        "{}{more} {those} there already; name another folder, or replace {them} with the setting `force`",
        there.join(", ")
    ))
}

/// Refuses a folder that can't be made.
fn check_parent(folder: &Path) -> Result<()> {
    let parents = folder.ancestors().skip(1);
    let parent = parents.map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p });
    let parent = parent.into_iter().find(|p| fs::symlink_metadata(p).is_ok());
    check_folder(&parent.unwrap_or(Path::new(".")).join("folder")).map_err(|e| match e {
        Error::Io { source, .. } => Error::io(folder, "create", source),
        other => other,
    })
}

/// Writes files into a folder, which is made if it is missing: first all of them under temporary names, then each
/// takes its place, so that a failed write leaves the folder as it was. Without `force` none replaces another, as
/// in [`write_output`](super::write_output).
///
/// # Errors
/// As [`check_files`]; [`Error::Io`].
pub fn write_files(
    folder: &Path,
    files: &[(impl AsRef<str>, impl AsRef<[u8]>)],
    force: bool,
) -> Result<()> {
    write(folder, files, |_| force)
}

/// The same for the folder of a run, with a record of the files. Without `force` they replace those alone that an
/// earlier run wrote and nobody changed.
///
/// # Errors
/// As [`write_files`].
pub fn write_run(
    folder: &Path,
    files: &[(impl AsRef<str>, impl AsRef<[u8]>)],
    force: bool,
) -> Result<()> {
    let before = Record::read(folder);
    let files = files.iter().map(|(name, bytes)| (name.as_ref(), bytes.as_ref()));
    let mut files: Vec<(&str, &[u8])> = files.collect();
    let record = Record::of(&files).text();
    files.push((RECORD, record.as_bytes()));
    write(folder, &files, |name| force || before.has(folder, name))
}

fn write(
    folder: &Path,
    files: &[(impl AsRef<str>, impl AsRef<[u8]>)],
    replace: impl Fn(&str) -> bool,
) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    let write = |(name, bytes): &(_, _)| {
        let (name, bytes): (&str, &[u8]) = (AsRef::as_ref(name), AsRef::as_ref(bytes));
        let mut output = Output::create(&folder.join(name), replace(name))?;
        let written = output.write_all(bytes);
        written.map_err(|e| Error::io(output.path(), "write", e))?;
        Ok(output)
    };
    let outputs: Vec<Output> = files.iter().map(write).collect::<Result<_>>()?;
    // One that can't take its place keeps no other from it.
    let finished: Vec<Result<()>> = outputs.into_iter().map(Output::finish).collect();
    finished.into_iter().collect()
}

/// What a run wrote into its folder: names with hashes of their content.
#[derive(Debug, Default, PartialEq, Eq)]
struct Record {
    /// Whether the folder has one.
    there: bool,
    files: Vec<(u64, String)>,
}

impl Record {
    fn of(files: &[(&str, &[u8])]) -> Self {
        let files = files.iter().map(|(name, bytes)| (xxh3_64(bytes), name.to_string()));
        Record { there: true, files: files.collect() }
    }

    /// That of a folder; an empty one if it has none that can be read.
    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(RECORD)).unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() != Some(RECORD_HEAD) {
            return Record::default();
        }
        let file = |line: &str| {
            let (hash, name) = line.split_once(' ')?;
            Some((u64::from_str_radix(hash, 16).ok()?, name.to_string()))
        };
        Record { there: true, files: lines.filter_map(file).collect() }
    }

    fn text(&self) -> String {
        let lines = self.files.iter().map(|(hash, name)| format!("{hash:016x} {name}\n"));
        lines.fold(format!("{RECORD_HEAD}\n"), |text, line| text + &line)
    }

    /// Whether a file of the folder is as the run wrote it.
    fn has(&self, folder: &Path, name: &str) -> bool {
        if name == RECORD {
            return self.there;
        }
        let Some((hash, _)) = self.files.iter().find(|(_, known)| known == name) else {
            return false;
        };
        let path = folder.join(name);
        let plain = fs::symlink_metadata(&path).is_ok_and(|there| there.is_file());
        plain && fs::read(&path).is_ok_and(|bytes| xxh3_64(&bytes) == *hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_replaces_what_the_last_one_wrote_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let names = ["a.txt", "b.txt"];
        let check = || check_run(&at("out"), &names, false, &[]);
        let run = |a: &str| write_run(&at("out"), &[("a.txt", a), ("b.txt", "2")], false);
        // A folder with a file of the user's is no run's.
        fs::create_dir(at("out")).unwrap();
        fs::write(at("out/b.txt"), "mine").unwrap();
        assert!(check().unwrap_err().to_string().contains("b.txt is there already"));
        assert!(run("1").is_err());
        assert_eq!(fs::read(at("out/b.txt")).unwrap(), b"mine");
        fs::remove_dir_all(at("out")).unwrap();
        for a in ["1", "3"] {
            check().unwrap();
            run(a).unwrap();
            assert_eq!(fs::read(at("out/a.txt")).unwrap(), a.as_bytes());
        }
        // A file that was changed, before the run or during it.
        fs::write(at("out/a.txt"), "mine").unwrap();
        let said = check().unwrap_err().to_string();
        assert!(said.contains("a.txt is there already"), "{said}");
        assert!(run("4").is_err());
        assert_eq!(fs::read(at("out/a.txt")).unwrap(), b"mine");
        // A symbolic link is never one of our files.
        fs::write(at("precious"), "2").unwrap();
        fs::remove_file(at("out/b.txt")).unwrap();
        std::os::unix::fs::symlink("../precious", at("out/b.txt")).unwrap();
        let said = check().unwrap_err().to_string();
        assert!(said.contains("b.txt (a symbolic link"), "{said}");
        // A file with the record's name that is not a record.
        fs::remove_dir_all(at("out")).unwrap();
        fs::create_dir(at("out")).unwrap();
        fs::write(at("out").join(RECORD), "mine").unwrap();
        assert!(check().unwrap_err().to_string().contains(".gramer-run is there already"));
        write_run(&at("out"), &[("a.txt", "5")], true).unwrap();
        check().unwrap();
    }

    #[test]
    fn files_of_a_folder_stay_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let names = ["a.txt", "b.txt"];
        let check = |force| check_files(&at("out"), &names, force, &[]);
        let files = [("a.txt", "1"), ("b.txt", "2")];
        check(false).unwrap();
        assert!(!at("out").exists(), "to look makes nothing");
        write_files(&at("out"), &files, false).unwrap();
        let said = check(false).unwrap_err();
        assert!(
            said.exit_code() == 2 && said.to_string().contains("a.txt, b.txt are there already")
        );
        check(true).unwrap();
        fs::write(at("precious"), "mine").unwrap();
        fs::remove_file(at("out/a.txt")).unwrap();
        std::os::unix::fs::symlink("../precious", at("out/a.txt")).unwrap();
        let said = check(false).unwrap_err().to_string();
        assert!(said.contains("a.txt (a symbolic link to ../precious), b.txt are"), "{said}");
        write_files(&at("out"), &files, true).unwrap();
        assert_eq!(fs::read(at("precious")).unwrap(), b"mine");
        assert_eq!(fs::read(at("out/a.txt")).unwrap(), b"1");
        for force in [false, true] {
            let input = at("out/../out/b.txt");
            let said = check_files(&at("out"), &names, force, &[&input]).unwrap_err().to_string();
            assert!(said.contains("would destroy"), "{said}");
        }
    }

    #[test]
    fn folders_that_can_not_be_written_are_refused_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        fs::create_dir_all(at("out/a")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
        for (name, expected) in [
            ("file", "is not a folder"),
            ("file/in", "Not a directory"),
            ("file/in/it", "Not a directory"),
            ("dangling", "is a symbolic link, but not to a folder"),
            ("dangling/in", "No such file"),
            ("out", "out/a: is a folder"),
        ] {
            let said = check_files(&at(name), &["a"], true, &[]).unwrap_err().to_string();
            assert!(said.contains(expected), "{name}: {said}");
        }
        assert!(check_files(&at("new/er"), &["a"], false, &[]).is_ok());
    }
}
