//! What helps somebody who wrote a command in another way than it is read.

use std::ffi::OsString;

use clap::error::ErrorKind;

use gramer_accelerator::settings::HEADING;
use gramer_pattern::named;

/// The command as clap knows it, without the options of the accelerator where another device mines.
pub fn command(words: &[OsString]) -> clap::Command {
    let asks = |word: &OsString| word.to_str().is_some_and(|w| w.starts_with("--device"));
    let command = super::command();
    if words.iter().any(asks) {
        return command;
    }
    command.mut_subcommand("mine", |mine| {
        mine.mut_subcommands(|task| {
            let name = task.get_name().to_string();
            let task = task.mut_args(|arg| match arg.get_help_heading() {
                Some(HEADING) => arg.hide(true),
                _ => arg,
            });
            let after = task.get_after_help().map_or(String::new(), |text| format!("{text}\n\n"));
            task.after_help(format!(
                "{after}Options of the accelerator: gramer mine {name} --device emulator --help"
            ))
        })
    })
}

/// A line for a usage fault that clap can't explain.
pub fn hint(e: &clap::Error, words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().skip(1).map_while(|word| word.to_str()).collect();
    let ["mine", what, rest @ ..] = &words[..] else { return None };
    match e.kind() {
        ErrorKind::InvalidSubcommand if named(what).is_some() => Some(format!(
            "tip: the occurrences of a pattern are counted by: gramer mine match --pattern {what} \
             GRAPH"
        )),
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument
            if *what == "match"
                && !rest.iter().any(|w| w.starts_with("-p") || w.starts_with("--p")) =>
        {
            let mut operands = rest.iter().filter(|word| !word.starts_with('-'));
            let pattern = operands.next().unwrap_or(&"PATTERN");
            let graph = operands.next().unwrap_or(&"GRAPH");
            Some(format!(
                "tip: the pattern is an option: gramer mine match --pattern {pattern} {graph}"
            ))
        }
        _ => None,
    }
}
