//! Files that a program may run or load: those that only their owner can have put there.
//!
//! A program looks for its companions in its own folder and at their places in an installation, never in other parent
//! folders. A file counts if it and its folder belong to this user, to root or to the owner of the running program, and if
//! no one else can write to either.

use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Permission bits of groups and of others that let them write.
const GROUP: u32 = 0o020;
const OTHERS: u32 = 0o002;

/// Why a file, or a folder, isn't trusted.
///
/// # Errors
/// The reason, with the path: others can write to it or to its folder, or it isn't there.
pub fn check(path: &Path) -> Result<(), String> {
    let real = std::fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let about = check_one(&real)?;
    match real.parent().filter(|_| !about.is_dir()) {
        Some(folder) => check_one(folder).map(drop),
        None => Ok(()),
    }
}

fn check_one(path: &Path) -> Result<Metadata, String> {
    let about = std::fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?;
    match reason(&about, &owners()) {
        None => Ok(about),
        Some(reason) => Err(format!("{} {reason}", path.display())),
    }
}

/// The users whose files are trusted: this one, root, and the owner of the running program, who decides what it does
/// anyway.
fn owners() -> Vec<u32> {
    let program = std::env::current_exe().and_then(std::fs::metadata).map(|about| about.uid());
    [rustix::process::geteuid().as_raw(), 0].into_iter().chain(program).collect()
}

/// Why a file with these owner and mode isn't trusted.
fn reason(about: &Metadata, owners: &[u32]) -> Option<String> {
    let (mode, user) = (about.mode(), about.uid());
    // Many systems give each user a group of the same number, which has no other member.
    let shared = mode & OTHERS != 0 || mode & GROUP != 0 && about.gid() != user;
    if !owners.contains(&user) {
        return Some(format!("belongs to the user {user}"));
    }
    shared.then(|| format!("can be written by others (mode {:o})", mode & 0o7777))
}

/// The folders in which a program's companions are: its own, that above where Cargo keeps tests and examples, and the
/// other of `bin` and `lib/gramer` where it is installed in one of them.
fn folders(program: &Path) -> Vec<PathBuf> {
    let Some(own) = program.parent() else { return vec![] };
    let mut all = vec![own.to_path_buf()];
    let prefix = |depth: usize, place: &str| own.ancestors().nth(depth).map(|p| p.join(place));
    match own.file_name().and_then(|name| name.to_str()) {
        Some("deps" | "examples") => all.extend(own.parent().map(Path::to_path_buf)),
        Some("bin") => all.extend(prefix(1, "lib/gramer")),
        Some("libexec") => all.extend(prefix(1, "bin")),
        Some("gramer") if own.ends_with("lib/gramer") => all.extend(prefix(2, "bin")),
        _ => {}
    }
    all
}

/// Result of the search for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The program, if there is one that may run.
    pub found: Option<PathBuf>,
    /// Reasons why others were passed over.
    pub refused: Vec<String>,
}

impl Search {
    /// The reasons as the end of a message; empty without any.
    pub fn reasons(&self) -> String {
        let all = self.refused.iter().map(|reason| format!("; not run: {reason}"));
        all.collect()
    }
}

/// Looks for a companion of the running program `own` in its folder, as the module says, and then in the folders of
/// `path`, which the user chose. `own` itself is never found.
pub fn search(name: &str, own: Option<&Path>, path: impl Iterator<Item = PathBuf>) -> Search {
    let mut refused = vec![];
    let mut beside = own.map(folders).unwrap_or_default().into_iter().map(|f| f.join(name));
    let found = beside.find(|file| {
        if !file.is_file() || Some(&**file) == own {
            return false;
        }
        check(file).map_err(|reason| refused.push(reason)).is_ok()
    });
    // A relative entry of a path depends on the current folder.
    let mut path = path.filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    let found = found.or_else(|| path.find(|file| file.is_file() && Some(&**file) != own));
    Search { found, refused }
}

/// The folder for files that can be made again, `gramer/NAME` in the user's: `XDG_CACHE_HOME`, else `.cache` in `HOME`.
/// Relative paths count as unset, by the XDG Base Directory Specification.
pub fn cache(name: &str) -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(folder.join("gramer").join(name))
}

/// Makes a folder that this user alone can write and read, unless it is there.
///
/// # Errors
/// Errors of the system.
pub fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// A program in its own folder, which only this user can write.
    fn program(folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        mode(folder, 0o755);
        let file = folder.join("helper");
        fs::write(&file, "").unwrap();
        mode(&file, 0o755);
        file
    }

    #[test]
    fn what_others_can_write_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a");
        let file = program(&place);
        assert_eq!(check(&file), Ok(()));
        for wrong in [0o757, 0o777, 0o1777] {
            mode(&place, wrong);
            let said = check(&file).unwrap_err();
            assert!(said.contains("a can be written by others"), "{said}");
        }
        mode(&place, 0o755);
        mode(&file, 0o757);
        assert!(check(&file).unwrap_err().contains("helper can be written by others (mode 757)"));
        // A link is as good as what it leads to.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(check(&link).is_err());
        mode(&file, 0o755);
        assert_eq!(check(&link), Ok(()));
        assert!(check(&folder.path().join("none")).is_err());
    }

    #[test]
    fn owners_and_groups_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = program(folder.path());
        let about = fs::metadata(&file).unwrap();
        assert_eq!(reason(&about, &[about.uid()]), None);
        let said = reason(&about, &[about.uid() + 1]).unwrap();
        assert!(said.contains("belongs to the user"), "{said}");
        mode(&file, 0o775);
        let about = fs::metadata(&file).unwrap();
        let own_group = about.gid() == about.uid();
        assert_eq!(reason(&about, &[about.uid()]).is_none(), own_group);
    }

    #[test]
    fn a_planted_program_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let none = || std::iter::empty();
        let find = |own: &Path| search("helper", Some(own), none());
        // Above the program's folder, and beside it in a folder that all can write.
        let planted = program(folder.path());
        program(&at("x/y"));
        fs::remove_file(at("x/y/helper")).unwrap();
        assert_eq!(find(&at("x/y/gramer")).found, None);
        assert_eq!(find(&at("x/gramer")).found, None);
        program(&at("open"));
        mode(&at("open"), 0o777);
        let refused = find(&at("open/gramer"));
        assert_eq!(refused.found, None);
        assert!(refused.reasons().contains("not run: "), "{refused:?}");
        // Its places in a Cargo build and in an installation.
        fs::create_dir_all(at("deps")).unwrap();
        assert_eq!(find(&at("deps/test-1")).found, Some(planted));
        let installed = program(&at("prefix/lib/gramer"));
        assert_eq!(find(&at("prefix/bin/gramer")).found, Some(installed));
        fs::remove_file(at("prefix/lib/gramer/helper")).unwrap();
        let programs = program(&at("prefix/bin"));
        assert_eq!(find(&at("prefix/lib/gramer/other")).found, Some(programs.clone()));
        assert_eq!(find(&at("prefix/libexec/other")).found, Some(programs.clone()));
        assert_ne!(find(&programs).found, Some(programs.clone()), "a folder is not a helper");
        // Relative folders of the path are ignored.
        let path = |entry: &Path| search("helper", None, std::iter::once(entry.to_path_buf()));
        assert_eq!(path(Path::new(".")).found, None);
        assert_eq!(path(&at("prefix/bin")).found, Some(programs));
    }

    #[test]
    fn a_private_folder_is_this_user_s_alone() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("a/b");
        create_private(&made).unwrap();
        create_private(&made).unwrap();
        assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o700);
    }
}
