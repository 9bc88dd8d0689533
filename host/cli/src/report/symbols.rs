//! Which characters tables, bars and times are written with.

use std::sync::OnceLock;
use std::time::Duration;

use comfy_table::{Table, presets};
use gramer_picture::number;

/// Characters for drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbols {
    /// Lines and blocks.
    Unicode,
    /// Symbols that every terminal shows.
    Ascii,
}

/// Returns the symbols of this process: Unicode if the locale is UTF-8 and the terminal isn't `dumb`.
pub fn symbols() -> Symbols {
    static FOUND: OnceLock<Symbols> = OnceLock::new();
    *FOUND.get_or_init(|| of(&|variable| std::env::var(variable).ok()))
}

fn of(variable: &dyn Fn(&str) -> Option<String>) -> Symbols {
    // The order in which the system looks at them.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable);
    let locale = locale.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
    let locale = locale.to_lowercase();
    let utf8 = locale.ends_with("utf-8") || locale.ends_with("utf8");
    let dumb = variable("TERM").as_deref() == Some("dumb");
    if utf8 && !dumb { Symbols::Unicode } else { Symbols::Ascii }
}

/// An empty table in the style of this program.
pub fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(match symbols() {
        Symbols::Unicode => presets::UTF8_FULL_CONDENSED,
        Symbols::Ascii => presets::ASCII_FULL_CONDENSED,
    });
    table
}

/// A length of time in a unit that fits, with the characters that there are.
pub fn time(time: Duration) -> String {
    plain(number::seconds(time))
}

/// Formats a number of seconds.
pub fn seconds(seconds: f64) -> String {
    time(Duration::from_secs_f64(seconds))
}

/// Formats a computed number of seconds.
pub fn exact_time(seconds: f64) -> String {
    plain(number::exact_seconds(seconds))
}

fn plain(text: String) -> String {
    match symbols() {
        Symbols::Unicode => text,
        Symbols::Ascii => text.replace('µ', "u"),
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_where_locale_and_terminal_have_them() {
        let of = |values: &[(&str, &str)]| {
            of(&|name| values.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).into()))
        };
        assert_eq!(of(&[("LANG", "de_DE.UTF-8")]), Symbols::Unicode);
        assert_eq!(of(&[("LC_ALL", ""), ("LANG", "C.utf8"), ("TERM", "xterm")]), Symbols::Unicode);
        assert_eq!(of(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]), Symbols::Ascii);
        assert_eq!(of(&[("LANG", "en_US.UTF-8"), ("TERM", "dumb")]), Symbols::Ascii);
        assert_eq!(of(&[]), Symbols::Ascii);
    }
}
