//! Files that appear whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::read::STDIN;
use crate::error::{Error, Result};

/// Writes a file through `write`. The content goes to a temporary file of the same folder, which
/// takes the place of `path` once all of it is written; after a failure `path` is as it was.
/// `-` is standard output; devices and pipes are written directly.
///
/// # Errors
/// [`Error::Io`] that names the file where the system refuses, for example a full disk or a
/// closed pipe.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    if path.as_os_str() == STDIN {
        let shown = PathBuf::from("<stdout>");
        let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        return write(&mut out)
            .and_then(|()| out.flush())
            .map_err(|source| Error::io(&shown, "write", source));
    }
    let failed = |action: &'static str| move |source| Error::io(path, action, source);
    // A link is followed, so that it stays one.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if let Ok(kind) = fs::metadata(&target).map(|m| m.file_type()) {
        if kind.is_dir() {
            let reason = io::Error::new(io::ErrorKind::IsADirectory, "is a directory");
            return Err(Error::io(path, "create", reason));
        }
        if !kind.is_file() {
            let file =
                fs::OpenOptions::new().write(true).open(&target).map_err(failed("create"))?;
            let mut out = BufWriter::with_capacity(BUFFER, file);
            return write(&mut out).and_then(|()| out.flush()).map_err(failed("write"));
        }
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gramer-");
    // As any new file; otherwise only its owner could read it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(failed("create"))?;
    {
        let mut out = BufWriter::with_capacity(BUFFER, &mut file);
        write(&mut out).and_then(|()| out.flush()).map_err(failed("write"))?;
    }
    file.as_file().sync_data().map_err(failed("write"))?;
    file.persist(&target).map_err(|e| failed("create")(e.error))?;
    Ok(())
}

const BUFFER: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_whole(&path, |out| {
            out.write_all(&[b'x'; 2 * BUFFER])?;
            Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"))
        });
        let message = error.unwrap_err().to_string();
        assert_eq!(message, format!("{}: cannot write: no space left", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_named() {
        let error = write_whole(Path::new("/dev/full"), |out| out.write_all(b"x")).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("/dev/full: cannot write: No space left"), "{message}");
    }

    #[test]
    fn folders_that_are_missing_or_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_whole(folder.path(), |_| Ok(())).unwrap_err().to_string();
        assert!(error.ends_with("cannot create: is a directory"), "{error}");
        let error = write_whole(&folder.path().join("no/where"), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("no/where: cannot create: No such file"), "{error}");
    }
}
