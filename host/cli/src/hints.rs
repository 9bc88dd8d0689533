//! What helps somebody who wrote a command in another way than it is read.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use gramer_pattern::named;

use crate::device;

/// A line for a usage fault that clap can't explain.
pub fn hint(e: &clap::Error, words: &[OsString]) -> Option<String> {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) =
        (e.kind(), e.get(ContextKind::InvalidArg))
        && let Some(of) = of_another_device(option)
    {
        return Some(format!("tip: {of}"));
    }
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

/// Which devices have an option that the one at hand doesn't have.
pub fn of_another_device(option: &str) -> Option<String> {
    let option = option.split('=').next().unwrap_or(option);
    let devices: Vec<String> =
        device::with_option(option).map(|kind| format!("--device {}", kind.example)).collect();
    (!devices.is_empty()).then(|| {
        format!("--{} is an option of {}", option.trim_start_matches('-'), devices.join(", "))
    })
}
