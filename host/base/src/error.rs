//! The errors of the library, and the exit code that each becomes.

use std::fmt;
use std::path::{Path, PathBuf};

/// A result whose error is [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where in the input something was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or `<stdin>`.
    pub path: PathBuf,
    /// The line, counted from 1; `None` for binary files and for faults of the whole file.
    pub line: Option<u64>,
}

impl Place {
    /// A whole file.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Place { path: path.as_ref().to_path_buf(), line: None }
    }

    /// One line of a file, counted from 1.
    pub fn line(path: impl AsRef<Path>, line: u64) -> Self {
        Place { path: path.as_ref().to_path_buf(), line: Some(line) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", shown(&self.path)),
            None => write!(f, "{}", shown(&self.path)),
        }
    }
}

/// Most characters of foreign text in a message.
const SHOWN: usize = 60;

/// What is safe on a terminal: control characters and others without a shape are escaped.
fn printable(c: char) -> impl Iterator<Item = char> {
    // Quotes and backslashes are as harmless as letters.
    let plain = matches!(c, '"' | '\'' | '\\');
    let escaped = (!plain).then(|| c.escape_debug()).into_iter().flatten();
    plain.then_some(c).into_iter().chain(escaped)
}

/// Some text of an input for a message: one line, printable, at most 60 characters.
pub fn quote(text: impl AsRef<[u8]>) -> String {
    let text = text.as_ref();
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN + 4)]);
    let mut shown: String = text.chars().take(SHOWN).flat_map(printable).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// The name of a file for a message: whole, but without what a terminal would obey.
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().chars().flat_map(printable).collect()
}

/// What a library says of an input, which may quote it: printable and not too long.
pub fn said(message: &str) -> String {
    const LONGEST: usize = 300;
    let mut shown: String = message.chars().take(LONGEST).flat_map(printable).collect();
    if message.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// Why the system refuses an operation, and what helps.
fn reason(source: &std::io::Error) -> String {
    let text = source.to_string();
    // Of zstd there is the text alone.
    match source.kind() == std::io::ErrorKind::OutOfMemory || text.ends_with("not enough memory") {
        true => format!("not enough memory; {}", crate::memory::remedy()),
        false => text,
    }
}

/// An error. Every message says what is wrong and, if there is one, the remedy.
///
/// Messages name options of this library as ``the setting `max_vertices` `` (a field of one of its
/// structs of options) and engines as ``the engine `cpu` ``. Whoever has other names for them, as the
/// command line does, puts those in their place with [`Error::told`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option, an argument or a field of a job file is out of range or contradicts another.
    #[error("{0}")]
    Usage(String),

    /// A file holds something that it should not.
    #[error("{place}: {what}")]
    Input {
        /// File and, for text, line.
        place: Place,
        /// What was wrong there and what to do.
        what: String,
    },

    /// The operating system refused an operation on a file.
    #[error("{}: cannot {action}: {}", shown(path), reason(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: `read`, `create`, `write`.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },

    /// The chosen device can't do the task (another one may).
    #[error("{0}")]
    Unsupported(String),

    /// A device, or what drives it, failed or isn't there.
    #[error("{0}")]
    Device(String),

    /// The system refused memory.
    #[error("{0}")]
    Memory(String),

    /// The system refused a thread that the work needs.
    #[error("{0}")]
    Threads(String),

    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Wrong usage (exit code 2).
    pub fn usage(what: impl Into<String>) -> Self {
        Error::Usage(what.into())
    }

    /// A fault at a place of an input file.
    pub fn input(place: Place, what: impl Into<String>) -> Self {
        Error::Input { place, what: what.into() }
    }

    /// A refused operation on a file; [`Error::Interrupted`] if that is why it ended.
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: std::io::Error) -> Self {
        let own = source.get_ref().and_then(|own| own.downcast_ref());
        if matches!(own, Some(Error::Interrupted)) {
            return Error::Interrupted;
        }
        Error::Io { path: path.as_ref().to_path_buf(), action, source }
    }

    /// The message, with the caller's own names of settings and engines.
    ///
    /// ```
    /// use gramer_base::Error;
    ///
    /// let error = Error::usage("the setting `max_vertices` is 3; the engine `cpu` has none");
    /// let told = error.told(|setting| format!("--{setting}"), |engine| format!("device {engine}"));
    /// assert_eq!(told, "--max_vertices is 3; device cpu has none");
    /// ```
    pub fn told(
        &self,
        setting: impl Fn(&str) -> String,
        engine: impl Fn(&str) -> String,
    ) -> String {
        told(&self.to_string(), setting, engine)
    }

    /// The exit code of the command line: 2 for usage, 1 for failure, 130 after Ctrl-C.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Interrupted => 130,
            _ => 1,
        }
    }
}

/// A text of this library with the caller's own names of settings and engines; see [`Error::told`].
pub fn told(
    text: &str,
    setting: impl Fn(&str) -> String,
    engine: impl Fn(&str) -> String,
) -> String {
    let name = |rest: &str| {
        let name = rest.split('`').next()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (rest.len() > name.len() && !name.is_empty() && name.chars().all(plain))
            .then(|| name.to_string())
    };
    let (mut told, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("the ") {
        told += &rest[..at];
        rest = &rest[at..];
        let found = [("the setting `", true), ("the engine `", false)]
            .into_iter()
            .find_map(|(begin, of)| Some((begin, of, name(rest.strip_prefix(begin)?)?)));
        match found {
            Some((begin, is_setting, name)) => {
                told += &if is_setting { setting(&name) } else { engine(&name) };
                rest = &rest[begin.len() + name.len() + 1..];
            }
            None => {
                told += &rest[..4];
                rest = &rest[4..];
            }
        }
    }
    told + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_settings_and_engines_are_replaced() {
        let told =
            |text: &str| told(text, |name| format!("--{name}"), |name| format!("engine {name}"));
        for same in [
            "",
            "the end",
            "the setting of the",
            "the setting `a b`",
            "the setting `",
            "the engine ``",
        ] {
            assert_eq!(told(same), same);
        }
        assert_eq!(told("é the the setting `x` or the engine `y`!"), "é the --x or engine y!");
    }

    #[test]
    fn quotes_are_short_and_printable() {
        assert_eq!(quote(b"a\tb\0"), "`a\\tb\\0`");
        assert!(quote([b'x'; 1000]).chars().count() < 70);
        assert_eq!(quote([0xff, b'a']), "`\u{fffd}a`");
        assert_eq!(quote("{\"nodes\": 'a\\b'}"), "`{\"nodes\": 'a\\b'}`");
        assert_eq!(quote("\u{1b}[31m\u{202e}"), "`\\u{1b}[31m\\u{202e}`");
    }

    #[test]
    fn names_of_files_reach_no_terminal_raw() {
        let place = Place::line("a\u{1b}]0;x\u{7}.txt", 3);
        assert_eq!(place.to_string(), "a\\u{1b}]0;x\\u{7}.txt:3");
        let error = Error::io("a\nb", "read", std::io::Error::other("no"));
        assert_eq!(error.to_string(), "a\\nb: cannot read: no");
    }
}
