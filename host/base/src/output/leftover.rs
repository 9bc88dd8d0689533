//! Temporary files of programs that were killed: the next program that writes into their folder removes them.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::super::mapping::PendingFile;
use super::place::same;

/// A temporary file's name is this, [`RANDOM`] letters or digits, and [`END`].
const BEGINNING: &str = ".gramer-";
const END: &str = ".part";
const RANDOM: usize = 12;

/// Begins a temporary file in a folder. It is locked while it is open, so no other program takes it for a leftover, and
/// known before it is there, so that a process which ends at once leaves none.
pub(super) fn begin(folder: &Path) -> std::io::Result<(NamedTempFile, PendingFile)> {
    // A program that removes leftovers may lock the file before this one does, and then removes it.
    const TRIES: usize = 10;
    let mut builder = tempfile::Builder::new();
    builder.prefix(BEGINNING).suffix(END).rand_bytes(RANDOM);
    let make = || {
        let mut pending = None;
        let file = builder.make_in(folder, |path| {
            let own = PendingFile::new(path);
            // As any new file; otherwise only its owner could read it.
            let file =
                File::options().read(true).write(true).create_new(true).mode(0o666).open(path)?;
            pending = Some(own);
            Ok(file)
        })?;
        Ok::<_, std::io::Error>((file, pending.expect("the file was made")))
    };
    let mut made = make()?;
    for _ in 0..TRIES {
        let file = made.0.as_file();
        let taken = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))
            || file.metadata()?.nlink() == 0;
        if !taken {
            break;
        }
        made = make()?;
    }
    Ok(made)
}

/// Removes what killed programs left in a folder; once for each folder, since that reads it.
pub(super) fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.iter().any(|known| known == folder) {
        sweep(folder);
        swept.push(folder.to_path_buf());
    }
}

/// Removes the files of this user's that have the name of a temporary one and that no program has locked. Where a
/// file system has no locks, nothing is removed.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name())) {
        let path = entry.path();
        let mut options = OpenOptions::new();
        // Network file systems lock for writing alone. What isn't a file must not stop this program.
        options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let Ok(file) = options.open(&path) else { continue };
        let Ok(opened) = file.metadata() else { continue };
        let own = opened.is_file() && opened.uid() == rustix::process::geteuid().as_raw();
        if !own || file.try_lock().is_err() {
            continue;
        }
        // Its program may have put it in its place meanwhile.
        if fs::symlink_metadata(&path).is_ok_and(|there| same(&there, &opened)) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|n| n.strip_prefix(BEGINNING)?.strip_suffix(END));
    random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let in_use = begin(folder.path()).unwrap();
        let left = begin(folder.path()).unwrap().0.keep().unwrap().1;
        let kept =
            [".gramer-notes", ".gramer-config.part", ".gramer-abcdefghijkl", "abcdefghijkl.part"];
        kept.iter().for_each(|name| fs::write(at(name), "mine").unwrap());
        std::os::unix::fs::symlink(at(kept[0]), at(".gramer-abcdefghijkl.part")).unwrap();
        fs::create_dir(at(".gramer-abcdefghijkm.part")).unwrap();
        sweep(folder.path());
        assert!(!left.exists() && in_use.0.path().exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), kept.len() + 3);
        let place = in_use.0.path().to_path_buf();
        drop(in_use.0.keep().unwrap());
        sweep(folder.path());
        assert!(!place.exists());
    }
}
