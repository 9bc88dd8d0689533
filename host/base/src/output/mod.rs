//! Files that are written atomically and never replace a user's file without permission.
//!
//! Every file that a command writes for its user goes through this module:
//!
//! | of | before the work | then |
//! |---|---|---|
//! | a file that the user names | [`check_output`], [`check_new`] | [`write_output`] or [`Output`] |
//! | files of a folder | [`check_files`] | [`write_files`] |
//! | files of a folder that the next run replaces | [`check_run`] | [`write_run`] |
//! | a state that a later run goes on from | [`check_own`] | [`write_held`], [`write_own`] |
//! | an entry of a cache | | [`write_own`] |
//! | a file that another library writes | [`check_output`] | [`clear`] |
//!
//! A file is written under a temporary name in its folder and then renamed. A symbolic link to a file is therefore
//! replaced, never followed: its target is kept. A file that replaces one of the user's takes over its mode, and its
//! owner and group where the system allows it. Links to devices and pipes, such as `/dev/stdout`, are
//! followed.

mod folder;
mod leftover;
mod place;
mod stream;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::mapping::PendingFile;
use crate::error::{Error, Place, Result};
use crate::input::STDIN;
use place::{PathTarget, check_folder, folder_of, look, same};

pub use super::mapping::remove_unfinished;
pub use folder::{check_files, check_run, write_files, write_run};
pub use place::{check_new, check_output, check_own, clear, is_one_file};
pub use stream::wait_until;

/// A file that is being written. What is written goes to a temporary file in the folder of the
/// target, which takes its place in [`Output::finish`]; without that, or after a failure, the
/// target is as it was. `-` is standard output; it, devices and pipes are written directly.
pub struct Output {
    /// As the user wrote it, for messages.
    path: PathBuf,
    to: Destination,
}

enum Destination {
    Direct(Box<dyn Write + Send>),
    Whole {
        file: NamedTempFile,
        /// True if it may replace another file.
        force: bool,
        /// Whether it then has that file's mode and owner.
        like_other: bool,
        _unfinished: PendingFile,
    },
}

impl Output {
    /// Begins a file. Without `force` it replaces none, whenever that came to be.
    ///
    /// # Errors
    /// [`Error::Usage`] if the output cannot be written or replaced, [`Error::Io`] if the system refuses.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        if path.as_os_str() == STDIN {
            let to = Destination::Direct(crate::standard_output::writer());
            return Ok(Output { path: "<stdout>".into(), to });
        }
        let failed = |source| Error::io(path, "create", source);
        if look(path)? == PathTarget::Stream {
            let to = Destination::Direct(stream::open(path)?);
            return Ok(Output { path: path.to_path_buf(), to });
        }
        check_folder(path)?;
        let folder = folder_of(path);
        leftover::sweep_once(folder);
        let (file, _unfinished) = leftover::begin(folder).map_err(failed)?;
        Ok(Output {
            path: path.to_path_buf(),
            to: Destination::Whole { file, force, like_other: true, _unfinished },
        })
    }

    /// Gives the file a default mode and owner, not those of the file that it replaces, which others may be able to
    /// write.
    fn with_own_mode(mut self) -> Self {
        if let Destination::Whole { like_other, .. } = &mut self.to {
            *like_other = false;
        }
        self
    }

    /// What messages call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place. Where another program has made a file of that name meanwhile, both stay:
    /// the message says under which name this one does.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses.
    pub fn finish(mut self) -> Result<()> {
        let written = self.flush();
        let failed = |action| {
            let path = self.path.clone();
            move |source| Error::io(path, action, source)
        };
        written.map_err(failed("write"))?;
        let Destination::Whole { file, force, like_other, .. } = self.to else { return Ok(()) };
        if force && like_other {
            place::take_after(file.as_file(), &self.path).map_err(failed("create"))?;
        }
        file.as_file().sync_data().map_err(failed("write"))?;
        if force {
            return file.persist(&self.path).map(|_| ()).map_err(|e| failed("create")(e.error));
        }
        let Err(refused) = file.persist_noclobber(&self.path) else { return Ok(()) };
        let file = refused.file;
        if fs::symlink_metadata(&self.path).is_err() {
            // Not every file system can do it.
            return file.persist(&self.path).map(|_| ()).map_err(|e| failed("create")(e.error));
        }
        let mut beside = self.path.clone().into_os_string();
        beside.push(format!(".{}", std::process::id()));
        let beside = PathBuf::from(beside);
        file.persist_noclobber(&beside).map_err(|e| failed("create")(e.error))?;
        let text = format!(
            "another program created this file meanwhile: it was kept, and the output is {}",
            Place::file(&beside)
        );
        let reason = io::Error::new(io::ErrorKind::AlreadyExists, text);
        Err(failed("create")(reason))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Destination::Direct(out) => out.write(bytes),
            // Not through the temporary file, which would put its own name into a message.
            Destination::Whole { file, .. } => file.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Destination::Direct(out) => out.flush(),
            Destination::Whole { file, .. } => file.flush(),
        }
    }
}

/// Writes a file of the user's through `write`, as an [`Output`]. Without `force` it replaces none, whenever that came
/// to be: then both stay, and the message says under which name this one does.
///
/// ```
/// use gramer_base::output::write_output;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("answer.txt");
/// let failed = write_output(&path, false, |out| {
///     out.write_all(b"half of")?;
///     Err(std::io::Error::other("no more"))
/// });
/// assert!(failed.is_err() && !path.exists());
/// write_output(&path, false, |out| out.write_all(b"all"))?;
/// assert!(write_output(&path, false, |out| out.write_all(b"another")).is_err());
/// assert_eq!(std::fs::read(&path).unwrap(), b"all");
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Io`] that names the file where the system refuses, for example a full disk or a
/// closed pipe, and for a file that must stay.
pub fn write_output(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let _phase = crate::memory::Phase::begin(&"writing a file");
    begun(path, force, write)?.finish()
}

/// The same for a file of the program's own, such as an entry of a cache: it replaces an earlier one.
///
/// # Errors
/// As [`write_output`].
pub fn write_own(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let _phase = crate::memory::Phase::begin(&"writing a file");
    begun(path, true, write)?.with_own_mode().finish()
}

/// A file with its content, which isn't in its place yet.
fn begun(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Output> {
    let mut output = Output::create(path, force)?;
    let written = {
        let mut out = BufWriter::with_capacity(BUFFER, &mut output);
        write(&mut out).and_then(|()| out.flush())
    };
    written.map_err(|source| Error::io(output.path(), "write", source))?;
    Ok(output)
}

/// The same for a file that belongs to one program at a time: it is locked ([`hold`]) before it is in its
/// place, so that no other program can take it in between. The lock is held as long as what is returned.
/// With `first` there must be no such file: `None` if there is one, which stays.
///
/// # Errors
/// As [`write_own`].
pub fn write_held(
    path: &Path,
    first: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Option<File>> {
    let output = begun(path, !first, write)?;
    let failed = |action| move |source| Error::io(path, action, source);
    let Destination::Whole { file, .. } = output.to else {
        return Err(failed("lock")(io::Error::other("it is a device or a pipe")));
    };
    file.as_file().sync_data().map_err(failed("write"))?;
    // A lock belongs to the open file: it survives the rename and is shared by a second handle.
    let held = file.as_file().try_clone().map_err(failed("lock"))?;
    let refused = match first {
        true => file.persist_noclobber(path),
        false => file.persist(path),
    };
    match refused {
        Ok(_) => Ok(Some(held)),
        Err(e) if first && e.error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(e) => Err(failed("create")(e.error)),
    }
}

/// Locks an existing file against other programs that use this function; `None` if there is no file. On a file system
/// without locks it succeeds. The lock is released when the result is dropped.
///
/// # Errors
/// [`Error::Usage`] if another program holds it; [`Error::Io`].
pub fn hold(path: &Path) -> Result<Option<File>> {
    // A killed program may leave a child process that needs a moment to end.
    const PATIENCE: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    loop {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(path, "read", e)),
        };
        if matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            if begun.elapsed() < PATIENCE {
                std::thread::sleep(PATIENCE / 50);
                continue;
            }
            return Err(Error::usage(format!(
                "{}: another run uses it: wait until it ends, or name another file",
                Place::file(path)
            )));
        }
        // Its holder may have put a new one in its place, or taken it away, before it let go.
        let now = file.metadata().map_err(|e| Error::io(path, "read", e))?;
        match fs::metadata(path) {
            Ok(there) if same(&there, &now) => return Ok(Some(file)),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(path, "read", e)),
        }
    }
}

const BUFFER: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        write_own(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_own(&path, |out| {
            out.write_all(&[b'x'; 2 * BUFFER])?;
            Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"))
        });
        let message = error.unwrap_err().to_string();
        assert_eq!(message, format!("{}: cannot write: no space left", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
        write_own(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_held_file_is_of_one_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let write = |first| write_held(&path, first, |out| out.write_all(b"state")).unwrap();
        assert!(hold(&path).unwrap().is_none(), "nothing is there");
        let first = write(true).unwrap();
        assert!(write(true).is_none(), "it is there");
        let refused = |path: &Path| {
            let error = hold(path).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains("state: another run uses it"), "{error}");
        };
        refused(&path);
        let second = write(false).unwrap();
        drop(first);
        refused(&path);
        drop(second);
        let third = hold(&path).unwrap().unwrap();
        refused(&path);
        drop(third);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn inputs_and_files_of_the_user_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (graph, out) = (at("g.txt"), at("out.txt"));
        fs::write(&graph, "0 1").unwrap();
        assert!(check_output(&out, false, &[&graph]).is_ok());
        fs::write(&out, "mine").unwrap();
        let message = check_output(&out, false, &[&graph]).unwrap_err().to_string();
        assert!(message.ends_with("replace it with the setting `force`"), "{message}");
        assert!(check_output(&out, true, &[&graph]).is_ok());
        // The same file by other names, even when forced.
        std::os::unix::fs::symlink(&graph, at("link")).unwrap();
        fs::hard_link(&graph, at("twin")).unwrap();
        for name in ["g.txt", "link", "twin", "../g.txt"] {
            let path = match name.strip_prefix("../") {
                Some(name) => at(".").join(name),
                None => at(name),
            };
            for force in [false, true] {
                let error = check_output(&path, force, &[&at("none"), &graph]).unwrap_err();
                assert!(error.to_string().contains("would destroy"), "{error}");
                assert_eq!(error.exit_code(), 2);
            }
        }
        for path in ["-", "/dev/null"] {
            assert!(check_output(Path::new(path), false, &[Path::new(path)]).is_ok());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_named() {
        let error = write_own(Path::new("/dev/full"), |out| out.write_all(b"x")).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("/dev/full: cannot write: No space left"), "{message}");
    }

    #[test]
    fn folders_that_are_missing_or_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_own(folder.path(), |_| Ok(())).unwrap_err().to_string();
        assert!(error.ends_with("is a folder; name a file"), "{error}");
        for forced in [false, true] {
            let named = folder.path().join("new/");
            for folder in [folder.path(), &named] {
                let said = check_output(folder, forced, &[]).unwrap_err();
                assert!(
                    said.to_string().contains("is a folder") && said.exit_code() == 2,
                    "{said}"
                );
            }
        }
        // Before anything is computed, and when it is written.
        let path = folder.path().join("no/where");
        for refused in [check_output(&path, true, &[]), write_own(&path, |_| Ok(()))] {
            let message = refused.unwrap_err().to_string();
            let reason = "no/where: cannot create: its folder ";
            assert!(message.contains(reason) && message.contains("no: No such file"), "{message}");
            assert!(!message.contains(".gramer-"), "{message}");
        }
    }

    #[test]
    fn a_file_that_appears_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut outputs = [(); 2].map(|()| Output::create(&path, false).unwrap());
        outputs[0].write_all(b"first").unwrap();
        outputs[1].write_all(b"second").unwrap();
        let [first, second] = outputs;
        first.finish().unwrap();
        let error = second.finish().unwrap_err().to_string();
        let beside = format!("{}.{}", path.display(), std::process::id());
        assert!(error.contains("meanwhile: it was kept") && error.ends_with(&beside), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read(&beside).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        let mut third = Output::create(&path, true).unwrap();
        third.write_all(b"third").unwrap();
        third.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
    }

    #[test]
    fn a_file_is_replaced_where_that_was_asked_for_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let write =
            |force, text: &str| write_output(&path, force, |out| out.write_all(text.as_bytes()));
        write(false, "first").unwrap();
        // Another program may have made it after this one looked, and before this one began it.
        let error = write(false, "second").unwrap_err().to_string();
        assert!(error.contains("meanwhile: it was kept"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(true, "third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        let beside = format!("{}.{}", path.display(), std::process::id());
        assert_eq!(fs::read(beside).unwrap(), b"second");
    }

    /// A link to a file is replaced, if that is asked for; its target never changes.
    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
        fs::write(at("precious"), "mine").unwrap();
        fs::create_dir(at("inner")).unwrap();
        for (to, said) in [
            ("precious", "is a symbolic link to precious;"),
            ("nowhere", "is a symbolic link to nowhere, which is not there;"),
            ("no/where", "is a symbolic link to no/where, which is not there;"),
            ("link", "is a symbolic link that leads back to itself;"),
        ] {
            link(to, "link");
            let error = check_output(&at("link"), false, &[]).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(said), "{error}");
            let error = check_own(&at("link"), "checkpoint", &[]).unwrap_err().to_string();
            assert!(error.contains("link: is a symbolic link"), "{error}");
            check_output(&at("link"), true, &[]).unwrap();
            write_own(&at("link"), |out| out.write_all(b"new")).unwrap();
            assert!(fs::symlink_metadata(at("link")).unwrap().is_file());
            assert_eq!(fs::read(at("precious")).unwrap(), b"mine");
            fs::remove_file(at("link")).unwrap();
        }
        link("inner", "link");
        assert!(check_output(&at("link"), true, &[]).unwrap_err().to_string().contains("a folder"));
        link("/dev/null", "nothing");
        check_output(&at("nothing"), false, &[]).unwrap();
        // As `/dev/stdout` is where standard output is a file.
        let open = File::open(at("precious")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        link(&format!("/proc/self/fd/{number}"), "open");
        for path in [at("open"), format!("/dev/fd/{number}").into()] {
            let said = check_output(&path, true, &[]).unwrap_err().to_string();
            assert!(said.contains("is a file that this program has open"), "{said}");
        }
    }

    #[test]
    fn one_file_has_many_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for there in [false, true] {
            if there {
                fs::write(at("a"), "").unwrap();
                fs::write(at("b"), "").unwrap();
            }
            assert!(is_one_file(&at("a"), &at("a")));
            assert!(is_one_file(&at("a"), &at("./a")));
            assert!(is_one_file(&folder.path().join(".").join("a"), &at("a")));
            assert!(!is_one_file(&at("a"), &at("b")));
            assert!(!is_one_file(&at("a"), &at("no/a")));
        }
        assert!(is_one_file(&at("no/a"), &at("no/a")));
        assert!(!is_one_file(Path::new("/dev/null"), Path::new("/dev/null")));
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        assert!(is_one_file(&at("a"), &at("link")));
    }
}
