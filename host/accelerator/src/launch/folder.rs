//! The private folder of an emulation: marked, locked, and removed at the end or by the next launcher.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, StatVfsMountFlags, flock, statvfs};

use gramer_base::error::{Error, Result};

/// Where the runtime puts its sockets, in a folder that is called as `USER` says.
const SOCKETS: &str = "/tmp";
/// What the folders' names begin with, and the file that marks them and that a launcher locks.
const PREFIX: &str = "gramer-emulation-";
const MARKER: &str = "gramer-emulation";
/// What the marker holds, which nothing else does by chance.
const MARK: &str = "A private folder of `gramer --device emulator`, which removes it at its end. If it \
    was killed, the next one does: nobody holds a lock on this file then.\n";
/// A folder that is younger may be one whose lock is just being taken.
const SETTLED: Duration = Duration::from_secs(60);

/// Private folder of this process, removed when it is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    folder: tempfile::TempDir,
    /// Held as long as this process lives.
    _lock: File,
}

impl PrivateFolder {
    /// Marks and locks a new folder, and removes what launchers that were killed have left beside it.
    fn new(folder: tempfile::TempDir) -> Result<Self> {
        let marker = folder.path().join(MARKER);
        let lock = File::create(&marker).map_err(|e| Error::io(&marker, "create", e))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|e| Error::io(&marker, "lock", e.into()))?;
        (&lock).write_all(MARK.as_bytes()).map_err(|e| Error::io(&marker, "write", e))?;
        folder.path().parent().into_iter().for_each(sweep);
        Ok(PrivateFolder { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The private folder, and one for sockets where that is elsewhere. The runtime's sockets are in /tmp/$USER: the
/// folder's name stands for the user, so that runs at the same time don't meet, and all of it goes away with the
/// folder. Programs run in the private folder, so it is in `temporary` (TMPDIR) where /tmp allows none.
///
/// # Errors
/// [`Error::Unsupported`] where neither allows programs, and those of the system.
pub fn folders(temporary: &Path) -> Result<(PrivateFolder, Option<PrivateFolder>)> {
    folders_in(Path::new(SOCKETS), temporary)
}

fn folders_in(tmp: &Path, temporary: &Path) -> Result<(PrivateFolder, Option<PrivateFolder>)> {
    let make = |folder: &Path, name: &str| {
        let builder = || tempfile::Builder::new();
        let made = match name {
            "" => builder().prefix(PREFIX).tempdir_in(folder),
            name => builder().prefix(name).rand_bytes(0).tempdir_in(folder),
        };
        PrivateFolder::new(made.map_err(|e| Error::io(folder, "make a folder in", e))?)
    };
    if !forbids_programs(tmp) {
        return Ok((make(tmp, "")?, None));
    }
    if !temporary.is_absolute() || forbids_programs(temporary) {
        return Err(Error::Unsupported(format!(
            "{} is mounted noexec, so that no program can run there, as those of an emulated device do: name another \
             folder for temporary files in the variable TMPDIR",
            tmp.display()
        )));
    }
    let private = make(temporary, "")?;
    let name = private.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let sockets = make(tmp, &name)?;
    Ok((private, Some(sockets)))
}

/// Whether the system runs no programs that lie in a folder.
fn forbids_programs(folder: &Path) -> bool {
    statvfs(folder).is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

/// Removes the folders of this user's killed launchers: those with their marker
/// whose lock is free. Other files and folders are never touched.
fn sweep(tmp: &Path) {
    for entry in fs::read_dir(tmp).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a folder was made by a launcher of this user that is gone.
fn is_abandoned(folder: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    // The entry itself, not what a link points to.
    let ours = fs::symlink_metadata(folder).is_ok_and(|m| m.is_dir() && m.uid() == user);
    if !ours {
        return false;
    }
    // Neither through a link, nor waiting for a pipe's other end.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let marker =
        OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(folder.join(MARKER));
    let Ok(mut marker) = marker else { return false };
    let Ok(about) = marker.metadata() else { return false };
    let settled = about.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SETTLED));
    if !about.is_file() || about.uid() != user || about.len() != MARK.len() as u64 || !settled {
        return false;
    }
    let mut text = String::new();
    marker.read_to_string(&mut text).is_ok()
        && text == MARK
        && flock(&marker, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn programs_run_where_they_may() {
        let (tmp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (private, sockets) = folders_in(tmp.path(), other.path()).unwrap();
        assert!(private.path().starts_with(tmp.path()) && sockets.is_none());
        // The system's own, where nothing runs.
        let proc = Path::new("/proc");
        if !forbids_programs(proc) {
            return;
        }
        let said = folders_in(proc, proc).err().unwrap().to_string();
        assert!(said.contains("/proc is mounted noexec") && said.contains("TMPDIR"), "{said}");
        // No socket has room there, but the private folder is elsewhere.
        let said = folders_in(proc, other.path()).err().unwrap().to_string();
        assert!(said.contains("/proc: cannot make a folder in"), "{said}");
    }

    /// Folders that look much like a launcher's, and one that is.
    #[test]
    fn only_folders_with_the_mark_are_swept() {
        let tmp = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * SETTLED;
        let make = |folder: &str, file: &str, text: &str| {
            let folder = tmp.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("data"), "precious").unwrap();
            fs::write(folder.join(file), text).unwrap();
            let file = File::options().write(true).open(folder.join(file)).unwrap();
            file.set_modified(old).unwrap();
            file
        };
        make("gramer-notes", "lock", "");
        make("gramer-emulation-notes", "lock", "");
        make("gramer-emulation-empty", MARKER, "");
        make("gramer-emulation-other", MARKER, &MARK.replace("private", "public "));
        make("other-emulation-x", MARKER, MARK);
        make("elsewhere/gramer", MARKER, MARK);
        symlink(tmp.path().join("elsewhere/gramer"), tmp.path().join("gramer-emulation-link"))
            .unwrap();
        fs::create_dir(tmp.path().join("gramer-emulation-linked")).unwrap();
        symlink(
            tmp.path().join("elsewhere/gramer").join(MARKER),
            tmp.path().join("gramer-emulation-linked").join(MARKER),
        )
        .unwrap();
        make("gramer-emulation-young", MARKER, MARK)
            .set_modified(std::time::SystemTime::now())
            .unwrap();
        let held = make("gramer-emulation-held", MARKER, MARK);
        flock(&held, FlockOperation::LockExclusive).unwrap();
        make("gramer-emulation-gone", MARKER, MARK);
        let names = || {
            let entries = fs::read_dir(tmp.path()).unwrap().flatten();
            let mut names: Vec<String> =
                entries.map(|e| e.file_name().to_str().unwrap().to_string()).collect();
            names.sort();
            names
        };
        let mut expected = names();
        sweep(tmp.path());
        expected.retain(|name| name != "gramer-emulation-gone");
        assert_eq!(names(), expected);
        for folder in ["gramer-notes", "gramer-emulation-notes", "elsewhere/gramer"] {
            let data = fs::read_to_string(tmp.path().join(folder).join("data")).unwrap();
            assert_eq!(data, "precious");
        }
    }
}
