//! Options whose values are those of a library type.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gramer_base::choice::Choice;

/// Parses the name of a value of `T`; help lists the names with what they mean.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(
        T::ALL.iter().map(|(_, name, what)| PossibleValue::new(name).help(what)),
    )
    .map(|name| T::named(&name).expect("the parser knows the names"))
}
