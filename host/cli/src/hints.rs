//! Tips for commands that are nearly right.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use gramer_pattern::named;

use crate::device;

/// Words of other programs, and of the field, for commands of this one.
const OTHER_WORDS: [(&[&str], &str); 13] = [
    (&["count", "census", "motifs", "graphlet", "graphlets", "orbits"], "gramer mine motif"),
    (&["cliques", "maximal", "maximum", "kclique", "k-clique"], "gramer mine clique"),
    (&["frequent", "patterns", "fsg", "gspan"], "gramer mine fsm"),
    (
        &["find", "search", "query", "subgraph", "isomorphism", "list", "enumerate"],
        "gramer mine match",
    ),
    (&["stats", "statistics", "summary", "describe", "show", "degree"], "gramer graph info"),
    (&["import", "export", "write", "save", "read"], "gramer graph convert"),
    (&["random", "rmat", "create"], "gramer graph generate"),
    (&["version"], "gramer --version"),
    (&["gpu", "gpus", "device"], "gramer devices"),
    // Commands of the other program.
    (&["explore", "sweep"], "gramer-lab explore"),
    (&["paper"], "gramer-lab paper"),
    (&["paper-gpu"], "gramer-lab paper-gpu"),
    (&["sim", "simulate", "simulator"], "gramer-lab simulate"),
];

/// A line for a usage fault that clap can't explain.
pub fn hint(e: &clap::Error, command: &mut clap::Command, words: &[OsString]) -> Option<String> {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) =
        (e.kind(), e.get(ContextKind::InvalidArg))
        && let Some(of) = of_setting(option)
    {
        return Some(format!("tip: {of}: give it with --set NAME=VALUE"));
    }
    let all = command.clone();
    let (at, named_by) = command_of(command, words);
    let task = at.get_name();
    let words: Vec<&str> = words.iter().map_while(|word| word.to_str()).collect();
    let rest = words.get(named_by..).unwrap_or_default();
    let missing = |wanted: &str| match e.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.iter().any(|one| one.contains(wanted)),
        _ => false,
    };
    if e.kind() == ErrorKind::UnknownArgument
        && let Some((option, value)) = apart(at, rest)
    {
        return Some(format!("tip: a value of {option} follows an equals sign: {option}={value}"));
    }
    match e.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(wrong)) = e.get(ContextKind::InvalidSubcommand) else {
                return None;
            };
            let one = wrong.strip_suffix('s').unwrap_or(wrong);
            if let Some(pattern) = [wrong, one].into_iter().find(|word| named(word).is_some()) {
                return Some(format!(
                    "tip: gramer mine match --pattern {pattern} GRAPH counts the occurrences of a pattern"
                ));
            }
            // clap has named one that is spelt alike.
            if e.get(ContextKind::SuggestedSubcommand).is_some() {
                return None;
            }
            let alike = alike(wrong, &all);
            (!alike.is_empty()).then(|| format!("tip: did you mean {}?", alike.join(" or ")))
        }
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument
            if task == "match" && (missing("--pattern") || e.kind() == ErrorKind::UnknownArgument) =>
        {
            let given = rest.iter().any(|w| w.starts_with("-p") || w.starts_with("--p"));
            (!given).then(|| pattern_of_match(&operands(at, rest)))
        }
        ErrorKind::MissingRequiredArgument if task == "clique" && missing("--maximal") => Some(
            "tip: -k K counts the cliques of K vertices, with --up-to SIZE those of all sizes from K to SIZE;\n       \
             --maximal counts all maximal cliques by size; --maximum finds one of the largest"
                .into(),
        ),
        _ => None,
    }
}

/// An option whose value must follow an equals sign, and one of its values behind a space.
fn apart<'a>(command: &clap::Command, words: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let is_value = |option: &clap::Arg, word: &str| {
        option.get_possible_values().iter().any(|value| value.matches(word, false))
    };
    words.windows(2).map(|two| (two[0], two[1])).find(|&(option, value)| {
        let name = option.strip_prefix("--");
        let known = name.and_then(|n| command.get_arguments().find(|o| o.get_long() == Some(n)));
        known.is_some_and(|option| option.is_require_equals_set() && is_value(option, value))
    })
}

/// Advice on how to give `mine match` its pattern, which is one of these operands or none.
fn pattern_of_match(operands: &[&str]) -> String {
    let is_name = |word: &&&str| named(word).is_some();
    let (pattern, graph) = match operands {
        [] => ("PATTERN", "GRAPH"),
        [one] if is_name(&one) => (*one, "GRAPH"),
        [graph] => ("PATTERN", *graph),
        [graph, pattern, ..] if is_name(&pattern) => (*pattern, *graph),
        [pattern, graph, ..] => (*pattern, *graph),
    };
    let what = match pattern {
        "PATTERN" => " (a name such as triangle, or a file; gramer plan --list lists the names)",
        _ => "",
    };
    format!("tip: the pattern is an option: gramer mine match --pattern {pattern} {graph}{what}")
}

/// The words that are neither options nor their values.
fn operands<'a>(command: &clap::Command, words: &[&'a str]) -> Vec<&'a str> {
    let takes_value = |word: &str| {
        let options = &mut command.get_arguments();
        let option = match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => options.find(|option| option.get_long() == Some(long)),
            (_, Some(short)) if short.chars().count() == 1 => {
                options.find(|option| option.get_short() == short.chars().next())
            }
            _ => None,
        };
        option.is_some_and(|option| {
            option.get_action().takes_values() && !option.is_require_equals_set()
        })
    };
    let mut operands = vec![];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            operands.push(*word);
        } else if takes_value(word) {
            words.next();
        }
    }
    operands
}

/// Finds the command named by the leading words, and the index of the first word after its name.
pub fn command_of<'a>(
    command: &'a mut clap::Command,
    words: &[OsString],
) -> (&'a mut clap::Command, usize) {
    let mut command = command;
    for (at, word) in words.iter().enumerate().skip(1) {
        let name = word.to_str().unwrap_or_default();
        if command.find_subcommand(name).is_none() {
            // Options of all commands may stand before a name.
            if name.starts_with('-') && command.has_subcommands() {
                continue;
            }
            return (command, at);
        }
        command = command.find_subcommand_mut(name).expect("it was found");
    }
    (command, words.len())
}

/// The commands that a word may mean, as written on a command line.
fn alike(wrong: &str, command: &clap::Command) -> Vec<String> {
    let wrong = wrong.to_ascii_lowercase();
    if let Some((_, meant)) = OTHER_WORDS.iter().find(|(words, _)| words.contains(&&*wrong)) {
        return vec![(*meant).into()];
    }
    let mut all = vec![];
    paths(command, command.get_name(), &mut all);
    let distance = |path: &str| {
        let name = path.rsplit(' ').next().unwrap_or_default();
        strsim::damerau_levenshtein(name, &wrong)
    };
    // A slip of the pen: a letter in three.
    let most = wrong.chars().count() / 3;
    let nearest = all.iter().map(|path| distance(path)).min().filter(|&nearest| nearest <= most);
    all.into_iter().filter(|path| Some(distance(path)) == nearest).collect()
}

/// All commands, as written on a command line.
fn paths(command: &clap::Command, before: &str, all: &mut Vec<String>) {
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        let path = format!("{before} {}", sub.get_name());
        match sub.has_subcommands() {
            true => paths(sub, &path, all),
            false => all.push(path),
        }
    }
}

/// Returns a hint for an unknown option that is the name of a device setting.
pub fn of_setting(option: &str) -> Option<String> {
    let name = option.split('=').next().unwrap_or(option).trim_start_matches('-').replace('-', "_");
    let devices: Vec<String> =
        device::readers_of(&name).map(|kind| format!("--device {}", kind.example)).collect();
    let of = devices.join(" or ");
    (!devices.is_empty()).then(|| format!("{name} is a setting of {of}"))
}
