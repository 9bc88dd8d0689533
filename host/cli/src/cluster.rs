//! `--distribute`: this process as a rank among others.
//!
//! Messages of ranks above 0 go to rank 0, which prints them; all ranks end with its exit code.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use gramer_base::error::{Error, Place, Result};
use gramer_cluster::{Cluster, Link};

use crate::signals;

/// The rank of this process, once it is known.
static RANK: OnceLock<usize> = OnceLock::new();

thread_local! {
    /// The ranks, from when they are opened to the end of the program.
    static OPEN: RefCell<Option<Cluster>> = const { RefCell::new(None) };
}

/// Time to end after a signal: the job's launcher kills remaining processes within a second.
const AFTER_SIGNAL: Duration = Duration::from_millis(700);
/// Time to end after a time limit, which the launcher does not enforce.
const AFTER_TIME_LIMIT: Duration = Duration::from_secs(10);
/// Time for which a rank with an invalid command line waits for rank 0 to report it: the launcher kills all ranks when
/// the first one ends.
const RANK_0_SPEAKS: Duration = Duration::from_secs(1);

/// Becomes a rank.
///
/// # Errors
/// [`Error::Unsupported`] where this program is built without MPI.
pub fn open() -> Result<()> {
    let mut cluster = Cluster::new(link()?);
    cluster.settings.grace = || match signals::is_time_up() {
        true => AFTER_TIME_LIMIT,
        false => AFTER_SIGNAL,
    };
    let _ = RANK.set(cluster.rank());
    OPEN.set(Some(cluster));
    Ok(())
}

#[cfg(feature = "mpi")]
fn link() -> Result<Box<dyn Link>> {
    Ok(match gramer_cluster::mpi::launched_as() {
        Some(_) => Box::new(gramer_cluster::mpi::Mpi::open()?),
        // Nobody else is there, and MPI isn't needed.
        None => Box::new(gramer_cluster::SingleRank),
    })
}

#[cfg(not(feature = "mpi"))]
fn link() -> Result<Box<dyn Link>> {
    Err(Error::Unsupported(
        "the setting `distribute` needs MPI, and this program is built without it: build it with `cargo \
         build --release -p gramer-cli --features mpi` (docs/guide/cluster.md)"
            .into(),
    ))
}

/// Works with the ranks, if there are some.
pub fn with<R>(work: impl FnOnce(&mut Cluster) -> R) -> Option<R> {
    OPEN.with_borrow_mut(|open| open.as_mut().map(work))
}

/// Returns this process' rank unless it is 0; the rank prefixes its output.
pub fn above_0() -> Option<usize> {
    RANK.get().copied().filter(|rank| *rank > 0)
}

/// Whether a failure is sent to rank 0, which prints it.
pub fn tells(e: &Error) -> bool {
    above_0().is_some() && with(|cluster| cluster.failed(e)).is_some()
}

/// The end of the program: all ranks have the exit code of rank 0.
pub fn ends(code: u8) -> u8 {
    OPEN.take().map_or(code, |cluster| cluster.end(code))
}

/// The end of a program with a fault: the others can't go on.
pub fn aborts(code: u8) {
    if let Some(cluster) = OPEN.take() {
        cluster.abort(code);
    }
}

/// True on ranks above 0, after the time that rank 0 needs to report a fault in these arguments.
pub fn rank_0_speaks(words: &[OsString]) -> bool {
    #[cfg(feature = "mpi")]
    if words.iter().any(|word| word == "--distribute")
        && gramer_cluster::mpi::launched_as().is_some_and(|rank| rank > 0)
    {
        std::thread::sleep(RANK_0_SPEAKS);
        return true;
    }
    let _ = (words, RANK_0_SPEAKS);
    false
}

/// The list of a rank: `found.tsv` is `found.rank-3.tsv`.
pub fn list_of(path: &Path, rank: usize) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!(".rank-{rank}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Refuses existing lists of ranks that this job doesn't have: a reader of all lists would include them.
///
/// # Errors
/// [`Error::Usage`] with the name of one.
pub fn check_lists(path: &Path, ranks: usize) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // One that can't be read is refused where the list is begun.
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Ok(()) };
    let of_rank = |name: &str| {
        let stem = path.file_stem()?.to_str()?;
        let rest = name.strip_prefix(stem)?.strip_prefix(".rank-")?;
        let number = match path.extension() {
            Some(extension) => rest.strip_suffix(extension.to_str()?)?.strip_suffix('.')?,
            None => rest,
        };
        number.parse::<usize>().ok()
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(of_rank).is_some_and(|rank| rank >= ranks) {
            return Err(Error::usage(format!(
                "{}: this list of another run would be taken for one of this run, which has {ranks} \
                 ranks; remove it, or name another list",
                Place::file(path.with_file_name(name))
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_a_list_and_those_of_others_are_noticed() {
        for (name, of_3) in [
            ("found.tsv", "found.rank-3.tsv"),
            ("a.b/found", "a.b/found.rank-3"),
            ("x/a.b.jsonl", "x/a.b.rank-3.jsonl"),
        ] {
            assert_eq!(list_of(Path::new(name), 3), Path::new(of_3));
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["found.tsv", "found"] {
            let list = folder.path().join(name);
            std::fs::write(list_of(&list, 3), "").unwrap();
            std::fs::write(folder.path().join("found.rank-x.tsv"), "").unwrap();
            assert!(check_lists(&list, 4).is_ok());
            let text = check_lists(&list, 3).unwrap_err().to_string();
            assert!(text.contains("rank-3") && text.contains("has 3 ranks; remove it"), "{text}");
        }
        assert!(check_lists(Path::new("/no/where/list.tsv"), 1).is_ok());
    }
}
