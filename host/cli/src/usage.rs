//! What is wrong with a command line, in the words of this program.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::hints;

/// Messages of Rust's library on values, and their replacements.
const WORDS: [(&str, &str); 7] = [
    ("invalid digit found in string", "this is not a whole number"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("cannot parse integer from empty string", "a whole number is missing"),
    ("cannot parse float from empty string", "a number is missing"),
    ("invalid float literal", "this is not a number"),
    ("unrecognized subcommand", "there is no command"),
];

/// A fault as printed: with colours if `coloured`, and with the program's `name` in front, as all errors.
pub fn text(
    mut fault: clap::Error,
    mut command: clap::Command,
    words: &[OsString],
    name: &str,
    coloured: bool,
) -> String {
    // `-- -q` is no help for a flag that is wrong.
    if fault.kind() == ErrorKind::UnknownArgument {
        fault.insert(ContextKind::Suggested, ContextValue::None);
    }
    command.build();
    if fault.get(ContextKind::Usage).is_some() {
        // That of the help, not one made from the words at hand.
        let usage = hints::command_of(&mut command, words).0.render_usage();
        fault.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    let styled = fault.render();
    let text = if coloured { styled.ansi().to_string() } else { styled.to_string() };
    let text = in_words(&text.replacen("error:", &format!("{name}:"), 1));
    let Some(tip) = hints::hint(&fault, &mut command, words) else { return text };
    // Behind what is wrong, before the usage.
    let end = text.find("Usage:").or(text.find("For more")).unwrap_or(text.len());
    let end = text[..end].rfind("\n\n").unwrap_or(text.len());
    format!("{}\n\n  {tip}{}", &text[..end], &text[end..])
}

/// Reads the words of a command line with a command's options.
///
/// # Errors
/// What clap refuses.
pub fn of_words<C: clap::FromArgMatches>(
    command: clap::Command,
    words: &[OsString],
) -> Result<C, clap::Error> {
    C::from_arg_matches(&with_negative_numbers(command).try_get_matches_from(words)?)
}

/// Lets every option accept a negative number, so that its own check can explain the valid values.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let options = command.mut_args(|option| match option.get_action().takes_values() {
        true if !option.is_positional() => option.allow_negative_numbers(true),
        _ => option,
    });
    options.mut_subcommands(with_negative_numbers)
}

/// Describes the fault in one line, without the usage.
pub fn short(fault: &clap::Error) -> String {
    let text = fault.render().to_string();
    let ends = ["\n\nUsage:", "\n\nFor more"].into_iter().filter_map(|end| text.find(end));
    let said = &text[..ends.min().unwrap_or(text.len())];
    in_words(said.trim_start_matches("error: ").trim_end())
}

/// Replaces the words of libraries, and ranges as Rust writes them.
fn in_words(text: &str) -> String {
    let mut text = WORDS
        .iter()
        .fold(text.to_string(), |text, (of_library, own)| text.replacen(of_library, own, 1));
    // `17 is not in 1..=16`
    if let Some((before, range)) = text.split_once(" is not in ") {
        let end = range.find('\n').unwrap_or(range.len());
        let (range, after) = range.split_at(end);
        let said = match range.split_once("..") {
            Some((from, to)) => match (from, to.trim_start_matches('=')) {
                (from, "") => format!("at least {from}"),
                ("", to) => format!("at most {to}"),
                // Without the sign the end is beyond the range.
                (from, end) if is_most(end) => format!("at least {from}"),
                (from, end) if !to.starts_with('=') => format!("{from} to below {end}"),
                (from, to) => format!("{from} to {to}"),
            },
            None => range.to_string(),
        };
        let before = before.rsplit_once(": ").map_or(before, |(before, _)| before);
        text = format!("{before}: it must be {said}{after}");
    }
    text
}

/// Whether a number is the largest of its type, which bounds nothing.
fn is_most(number: &str) -> bool {
    number.parse() == Ok(u64::MAX) || number.parse() == Ok(u32::MAX)
}

/// A whole number of an option, with what is allowed and an example.
pub fn whole<T: std::str::FromStr + Clone + Send + Sync + 'static>(
    allowed: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| text.parse().map_err(|_| format!("it must be {allowed}"))
}

/// Threads: a number, or all with `0` and `auto`, for which the context has 0.
///
/// # Errors
/// What a number of threads is.
pub fn threads(text: &str) -> Result<u16, String> {
    const MOST: u16 = 1024;
    match text {
        "auto" => Ok(0),
        _ => text.parse().ok().filter(|&n| n <= MOST).ok_or_else(|| {
            format!("it must be 1 to {MOST}, or 0 or auto for one thread for each core")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_numbers_are_in_words() {
        let cases = [
            (
                "invalid value '17' for '--n <N>': 17 is not in 1..=16\n\nFor",
                "'--n <N>': it must be 1 to 16\n\nFor",
            ),
            (
                "invalid value '0' for '--n <N>': 0 is not in 1..",
                "'--n <N>': it must be at least 1",
            ),
            (
                "invalid value '0' for '--n <N>': 0 is not in 1..18446744073709551615",
                "'--n <N>': it must be at least 1",
            ),
            (
                "invalid value 'x' for '--n <N>': invalid digit found in string",
                "this is not a whole number",
            ),
            ("invalid value 'x' for '--a <A>': invalid float literal", "this is not a number"),
        ];
        for (of_library, own) in cases {
            let said = in_words(of_library);
            assert!(said.ends_with(own) && said.starts_with("invalid value"), "{said}");
        }
        assert_eq!(in_words("unrecognized subcommand 'x'"), "there is no command 'x'");
    }

    #[test]
    fn all_threads_have_two_names() {
        assert_eq!((threads("0"), threads("auto"), threads("7")), (Ok(0), Ok(0), Ok(7)));
        for wrong in ["-1", "1025", "many", "", "99999999"] {
            assert!(threads(wrong).unwrap_err().contains("1 to 1024"), "{wrong}");
        }
    }
}
