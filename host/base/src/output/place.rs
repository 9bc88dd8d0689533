//! The target of an output: what exists there, and whether the output may replace it.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result, shown};
use crate::input::{STDIN, second_file};

/// What exists at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathTarget {
    /// Nothing: the file can be made.
    Nothing,
    /// A device or a pipe, which is written directly.
    Stream,
    /// A file.
    File,
    /// A symbolic link, with its target in words.
    Link(String),
}

/// Looks at the place of an output.
///
/// # Errors
/// [`Error::Usage`] if the path cannot take an output, [`Error::Io`] if the system refuses.
pub(super) fn look(path: &Path) -> Result<PathTarget> {
    let refused = |what: &str| Err(Error::usage(format!("{}: {what}", Place::file(path))));
    let folder = || refused("is a folder; name a file");
    let name = path.as_os_str().as_bytes();
    if name.is_empty() || name.ends_with(b"/") {
        return folder();
    }
    let there = match fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(e) => {
            // Most reasons are the folder's.
            check_folder(path)?;
            return match e.kind() {
                io::ErrorKind::NotFound => Ok(PathTarget::Nothing),
                _ => Err(Error::io(path, "create", e)),
            };
        }
    };
    let is_link = there.is_symlink();
    let target = match fs::metadata(path) {
        Ok(target) => target,
        Err(e) if is_link => return Ok(PathTarget::Link(broken(path, &e))),
        Err(e) => return Err(Error::io(path, "create", e)),
    };
    let kind = target.file_type();
    if kind.is_dir() {
        return folder();
    }
    if kind.is_file() {
        return match is_link {
            true if is_descriptor(path) => refused(
                "is a file that this program has open; name that file, or `-` for standard output",
            ),
            true => Ok(PathTarget::Link(leads_to(path))),
            false => Ok(PathTarget::File),
        };
    }
    if kind.is_block_device() || kind.is_socket() {
        let kind = if kind.is_socket() { "socket" } else { "block device" };
        return refused(&format!("is a {kind}, which is never written; name a file"));
    }
    let writable = rustix::fs::access(path, rustix::fs::Access::WRITE_OK);
    writable.map_err(|e| Error::io(path, "write", e.into()))?;
    Ok(PathTarget::Stream)
}

/// Where a symbolic link leads, in words.
fn leads_to(link: &Path) -> String {
    let target = fs::read_link(link).unwrap_or_default();
    format!("a symbolic link to {}", shown(&target))
}

/// The same for a link without a file at its end.
fn broken(link: &Path, reason: &io::Error) -> String {
    match reason.kind() {
        io::ErrorKind::NotFound => format!("{}, which is not there", leads_to(link)),
        _ if reason.raw_os_error() == Some(libc::ELOOP) => {
            "a symbolic link that leads back to itself".into()
        }
        _ => format!("{} ({reason})", leads_to(link)),
    }
}

/// Whether a link ends at an open file of a process, as `/dev/stdout` does. Such a link must never be replaced.
fn is_descriptor(path: &Path) -> bool {
    // As many as the system follows.
    const LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let of_system = fs::canonicalize(folder_of(&path)).is_ok_and(|f| f.starts_with("/proc"));
        let Ok(target) = fs::read_link(&path) else { return of_system };
        if of_system {
            return true;
        }
        path = folder_of(&path).join(target);
    }
    true
}

/// Refuses an output before anything is read or written:
///
/// - an input of the same command, by whatever name, also with `force`;
/// - a file that is there already, without `force`;
/// - a symbolic link, without `force`; with it the link is replaced and its target stays as it is;
/// - a folder, a socket, a block device, and a file whose folder is missing or can't be written to.
///
/// Devices and pipes are for writing to, and `-` is standard output.
///
/// # Errors
/// [`Error::Usage`] with the reason, [`Error::Io`] where the system refuses.
pub fn check_output(path: &Path, force: bool, inputs: &[&Path]) -> Result<()> {
    check(path, force, inputs, true)
}

/// The same for a file that no option replaces.
///
/// # Errors
/// As [`check_output`].
pub fn check_new(path: &Path, inputs: &[&Path]) -> Result<()> {
    check(path, false, inputs, false)
}

fn check(path: &Path, force: bool, inputs: &[&Path], replaceable: bool) -> Result<()> {
    if path.as_os_str() == STDIN {
        return Ok(());
    }
    let found = look(path)?;
    spare_inputs(path, &found, inputs)?;
    let place = Place::file(path);
    let or = if replaceable { ", or replace it with the setting `force`" } else { "" };
    match found {
        PathTarget::Nothing | PathTarget::Stream => Ok(()),
        PathTarget::File | PathTarget::Link(_) if force => check_folder(path),
        PathTarget::File => {
            Err(Error::usage(format!("{place}: is there already; name another file{or}")))
        }
        PathTarget::Link(link) => {
            let what = "outputs do not follow links";
            Err(Error::usage(format!("{place}: is {link}; {what}: name another file{or}")))
        }
    }
}

/// Refuses an output that is an input as well.
pub(super) fn spare_inputs(path: &Path, found: &PathTarget, inputs: &[&Path]) -> Result<()> {
    if matches!(found, PathTarget::Nothing | PathTarget::Stream) {
        return Ok(());
    }
    let Ok(target) = fs::metadata(path) else { return Ok(()) };
    let is_target = |input: &PathBuf| {
        input.as_os_str() != STDIN && fs::metadata(input).is_ok_and(|input| same(&input, &target))
    };
    // Some graphs are two files.
    let mut inputs =
        inputs.iter().flat_map(|&input| [Some(input.to_path_buf()), second_file(input)]);
    match inputs.by_ref().flatten().find(is_target) {
        None => Ok(()),
        Some(input) => Err(Error::usage(format!(
            "{}: writing there would destroy {}, which is read; name another file",
            Place::file(path),
            Place::file(&input)
        ))),
    }
}

/// Refuses a file that a program reads, replaces and removes as its own, unless it is a plain file that is no
/// input, or can be made. `what` is the file in a word.
///
/// # Errors
/// As [`check_output`].
pub fn check_own(path: &Path, what: &str, inputs: &[&Path]) -> Result<()> {
    let refused = |reason: &str| {
        Err(Error::usage(format!(
            "{}: {reason}: a {what} is read, replaced and removed, which only a file can be; name one",
            Place::file(path)
        )))
    };
    if path.as_os_str() == STDIN {
        return refused("is standard output");
    }
    let found = look(path)?;
    spare_inputs(path, &found, inputs)?;
    match found {
        PathTarget::Nothing => Ok(()),
        PathTarget::File => check_folder(path),
        PathTarget::Stream => refused("is a device or a pipe"),
        PathTarget::Link(link) => refused(&format!("is {link}")),
    }
}

/// Removes the file or symbolic link at a place that [`check_output`] allowed, for a writer that would follow the
/// link.
///
/// # Errors
/// As [`check_output`].
pub fn clear(path: &Path) -> Result<()> {
    match look(path)? {
        PathTarget::Nothing | PathTarget::Stream => Ok(()),
        PathTarget::File | PathTarget::Link(_) => {
            fs::remove_file(path).map_err(|e| Error::io(path, "replace", e))
        }
    }
}

/// Gives a new file the owner and group of the plain file that it will replace, where the system allows it, and its
/// mode.
///
/// # Errors
/// That of the system for the mode.
pub(super) fn take_after(file: &File, replaced: &Path) -> io::Result<()> {
    let Ok(there) = fs::symlink_metadata(replaced) else { return Ok(()) };
    if !there.is_file() {
        return Ok(());
    }
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (there.uid(), there.gid()) {
        // Only the superuser gives files away; others may choose among their own groups.
        let _ = fchown(file, Some(there.uid()), Some(there.gid()))
            .or_else(|_| fchown(file, None, Some(there.gid())));
    }
    // Neither a program's rights nor the sticky bit are an output's.
    let mut mode = there.mode() & 0o777;
    if file.metadata()?.gid() != there.gid() {
        // Rights of the old group must not become rights of this one.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// True if two outputs are the same file, under any names.
pub fn is_one_file(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => a.is_file() && same(&a, &b),
        (Err(_), Err(_)) if a.file_name() == b.file_name() => {
            let folders = (fs::metadata(folder_of(a)), fs::metadata(folder_of(b)));
            a == b || matches!(folders, (Ok(a), Ok(b)) if same(&a, &b))
        }
        _ => false,
    }
}

/// Refuses a file whose folder will not take the temporary file that it begins as.
pub(super) fn check_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let refused = |source: io::Error| {
        let reason = format!("its folder {}: {source}", Place::file(folder));
        Error::io(path, "create", io::Error::new(source.kind(), reason))
    };
    if !fs::metadata(folder).map_err(refused)?.is_dir() {
        return Err(refused(io::Error::from_raw_os_error(libc::ENOTDIR)));
    }
    rustix::fs::access(folder, access).map_err(|e| refused(e.into()))
}

/// The folder that a file is in, or would be.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether both are one file.
pub(super) fn same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(test)]
mod tests {
    use super::super::{write_output, write_own};
    use super::*;

    #[test]
    fn a_file_that_replaces_another_has_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |name: &str| fs::metadata(at(name)).unwrap().mode() & 0o7777;
        let write =
            |name: &str| write_output(&at(name), true, |out| out.write_all(b"new")).unwrap();
        write("new");
        let default = mode("new");
        for (given, expected) in [(0o600, 0o600), (0o640, 0o640), (0o444, 0o444), (0o4755, 0o755)] {
            fs::write(at("old"), "old").unwrap();
            fs::set_permissions(at("old"), fs::Permissions::from_mode(given)).unwrap();
            write("old");
            assert_eq!((mode("old"), fs::read(at("old")).unwrap()), (expected, b"new".to_vec()));
            // What others may change is no mode for a file that this program trusts.
            fs::set_permissions(at("old"), fs::Permissions::from_mode(0o666)).unwrap();
            write_own(&at("old"), |out| out.write_all(b"own")).unwrap();
            assert_eq!(mode("old"), default);
            fs::remove_file(at("old")).unwrap();
        }
        // The target of a link stays, with its mode.
        fs::set_permissions(at("new"), fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("new", at("link")).unwrap();
        write("link");
        assert_eq!((mode("link"), mode("new")), (default, 0o600));
        // The superuser keeps the owner as well.
        if rustix::process::geteuid().is_root() {
            fs::write(at("theirs"), "old").unwrap();
            std::os::unix::fs::chown(at("theirs"), Some(1234), Some(4321)).unwrap();
            write("theirs");
            let there = fs::metadata(at("theirs")).unwrap();
            assert_eq!((there.uid(), there.gid()), (1234, 4321));
        }
    }
}
