//! Folders of outputs: files of known names that are written together.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::Output;
use super::place::{Found, check_folder, look, spare_inputs};
use crate::error::{Error, Place, Result};

/// Names of files that a message lists.
const LISTED: usize = 6;

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
    let refused = |what: String| Err(Error::usage(format!("{}: {what}", Place::file(folder))));
    match fs::metadata(folder) {
        Ok(there) if there.is_dir() => {}
        Ok(_) => return refused("is no folder; name one".into()),
        Err(_) if fs::symlink_metadata(folder).is_ok() => {
            return refused("is a symbolic link that leads to no folder; name a folder".into());
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
            Found::Nothing => {}
            Found::File => there.push(name.to_string()),
            Found::Link(link) => there.push(format!("{name} ({link})")),
            Found::Stream => {
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
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    let write = |(name, bytes): &(_, _)| {
        let (name, bytes): (&str, &[u8]) = (AsRef::as_ref(name), AsRef::as_ref(bytes));
        let mut output = Output::create(&folder.join(name), force)?;
        let written = output.write_all(bytes);
        written.map_err(|e| Error::io(output.path(), "write", e))?;
        Ok(output)
    };
    let outputs: Vec<Output> = files.iter().map(write).collect::<Result<_>>()?;
    // One that can't take its place keeps no other from it.
    let finished: Vec<Result<()>> = outputs.into_iter().map(Output::finish).collect();
    finished.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("file", "is no folder"),
            ("file/in", "Not a directory"),
            ("file/in/it", "Not a directory"),
            ("dangling", "leads to no folder"),
            ("dangling/in", "No such file"),
            ("out", "out/a: is a folder"),
        ] {
            let said = check_files(&at(name), &["a"], true, &[]).unwrap_err().to_string();
            assert!(said.contains(expected), "{name}: {said}");
        }
        assert!(check_files(&at("new/er"), &["a"], false, &[]).is_ok());
    }
}
