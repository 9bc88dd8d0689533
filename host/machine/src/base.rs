//! Descriptions that only have the differences from another.

use std::path::Path;

use serde_yaml::Value;

use crate::{Error, Result};

/// Most files that one description may build on.
const MAX_BASES: usize = 8;

/// The description with its bases put under it, or `None` where it has no base.
///
/// Mappings are merged key by key; everything else replaces what the base says. `text_of` gives
/// the text of a base by its path.
pub(crate) fn merged(
    text: &str,
    path: &Path,
    text_of: &dyn Fn(&Path) -> Result<String>,
) -> Result<Option<Value>> {
    let mut value = read(text, path)?;
    let Some(mut base) = take_base(&mut value, path)? else { return Ok(None) };
    let mut at = path.to_path_buf();
    for _ in 0..MAX_BASES {
        at = at.parent().unwrap_or(Path::new("")).join(&base);
        let text = text_of(&at)?;
        let mut under = read(&text, &at)?;
        let next = take_base(&mut under, &at)?;
        put(&mut under, value);
        value = under;
        match next {
            Some(next) => base = next,
            None => return Ok(Some(value)),
        }
    }
    Err(Error::Format {
        path: path.to_path_buf(),
        what: format!("more than {MAX_BASES} files build on each other, or a file on itself"),
    })
}

fn read(text: &str, path: &Path) -> Result<Value> {
    serde_yaml::from_str(text)
        .map_err(|error| Error::Format { path: path.to_path_buf(), what: error.to_string() })
}

/// Takes the key `base` out.
fn take_base(value: &mut Value, path: &Path) -> Result<Option<String>> {
    let Value::Mapping(fields) = value else { return Ok(None) };
    match fields.remove("base") {
        None => Ok(None),
        Some(Value::String(base)) => Ok(Some(base)),
        Some(_) => Err(Error::Format {
            path: path.to_path_buf(),
            what: "base: must be the name of a file".into(),
        }),
    }
}

/// Puts `over` onto `under`.
fn put(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Mapping(under), Value::Mapping(over)) => {
            for (key, value) in over {
                match under.get_mut(&key) {
                    Some(below) => put(below, value),
                    None => {
                        under.insert(key, value);
                    }
                }
            }
        }
        (under, over) => *under = over,
    }
}

/// The message of an error in a merged description, with the line of a key that isn't known in `text` instead of the
/// place in the merged one.
pub(crate) fn of_text(text: &str, error: &serde_yaml::Error, message: String) -> String {
    const UNKNOWN: &str = "unknown field `";
    let message = match error.location() {
        Some(at) => message.replace(&format!(" at line {} column {}", at.line(), at.column()), ""),
        None => message,
    };
    let Some(unknown) = message.find(UNKNOWN).map(|at| &message[at..]) else { return message };
    let key = unknown[UNKNOWN.len()..].split('`').next().unwrap_or_default();
    let has_key = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    match text.lines().position(has_key) {
        Some(line) => format!("line {}: {unknown}", line + 1),
        None => message,
    }
}
