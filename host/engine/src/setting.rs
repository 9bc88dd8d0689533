//! Settings of engines for experiments: one table an engine, which command lines, jobs and documents read.

use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};

/// A setting of an engine whose settings are an `S`. No answer depends on it.
pub struct Setting<S> {
    /// Name.
    pub name: &'static str,
    /// Accepted values, in words.
    pub takes: fn() -> String,
    /// The value where none is given, in words.
    pub default: &'static str,
    /// Meaning.
    pub meaning: &'static str,
    /// Sets a value; returns false if the text is invalid.
    pub set: fn(&mut S, &str) -> bool,
}

/// Name, values and meaning of a setting.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SettingInfo {
    /// Name.
    pub name: &'static str,
    /// Accepted values.
    pub takes: String,
    /// The value where none is given.
    pub default: &'static str,
    /// Meaning.
    pub meaning: &'static str,
}

impl<S> Setting<S> {
    /// The setting as a list shows it.
    pub fn described(&self) -> SettingInfo {
        let Setting { name, takes, default, meaning, .. } = self;
        SettingInfo { name, takes: takes(), default, meaning }
    }

    /// Applies values to `settings`. Ignores names that the table lacks.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid value of a setting.
    pub fn apply<'a>(
        table: &[Setting<S>],
        settings: &mut S,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<()> {
        for (name, value) in given {
            let Some(setting) = table.iter().find(|setting| setting.name == name) else { continue };
            if !(setting.set)(settings, value) {
                return Err(Error::usage(format!(
                    "the setting `{name}` is {}, but must be {}",
                    gramer_base::error::quote(value),
                    (setting.takes)()
                )));
            }
        }
        Ok(())
    }
}

/// Stores a value if there is one.
pub fn put<T>(place: &mut T, value: Option<T>) -> bool {
    value.map(|value| *place = value).is_some()
}

/// A switch: on or off.
pub fn switch(text: &str) -> Option<bool> {
    match text {
        "on" | "true" => Some(true),
        "off" | "false" => Some(false),
        _ => None,
    }
}

/// The values of a switch, in words.
pub fn of_switch() -> String {
    "on or off".into()
}

/// The names of the values of a type, in words.
pub fn of_choice<T: Choice>() -> String {
    let names: Vec<&str> = T::ALL.iter().map(|(_, name, _)| *name).collect();
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A number within a range.
pub fn within<T>(text: &str, range: std::ops::RangeInclusive<T>) -> Option<T>
where
    T: std::str::FromStr + PartialOrd,
{
    text.parse().ok().filter(|number| range.contains(number))
}

/// A number of bytes, with K, M or G for powers of 1,024.
pub fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|&n| n > 0);
    number.and_then(|n| n.checked_mul(1 << shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Two {
        on: bool,
        size: u32,
    }

    const TABLE: &[Setting<Two>] = &[
        Setting {
            name: "on",
            takes: of_switch,
            default: "off",
            meaning: "",
            set: |two, text| put(&mut two.on, switch(text)),
        },
        Setting {
            name: "size",
            takes: || "1 to 9".into(),
            default: "0",
            meaning: "",
            set: |two, text| put(&mut two.size, within(text, 1..=9)),
        },
    ];

    #[test]
    fn values_are_put_and_others_are_refused_by_name() {
        let mut two = Two::default();
        Setting::apply(TABLE, &mut two, [("on", "on"), ("size", "7"), ("of another", "?")])
            .unwrap();
        assert!(two.on && two.size == 7);
        for (name, value, takes) in [("on", "yes", "on or off"), ("size", "10", "1 to 9")] {
            let said = Setting::apply(TABLE, &mut two, [(name, value)]).unwrap_err().to_string();
            assert_eq!(said, format!("the setting `{name}` is `{value}`, but must be {takes}"));
        }
        assert!(two.on && two.size == 7);
    }

    #[test]
    fn sizes_have_units() {
        let all = ["4096", "3K", "2m", "80G"].map(bytes);
        assert_eq!(all, [4096, 3 << 10, 2 << 20, 80 << 30].map(Some));
        for wrong in ["", "K", "0", "-1", "1T", "99999999999G"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
