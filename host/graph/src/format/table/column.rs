//! Columns that settings name.

use crate::format::Sink;
use crate::read::names as column_names;
use gramer_base::error::{Result, quote};

/// The column with a name, or with a number from 1.
pub(super) fn column(
    names: &[String],
    wanted: &str,
    setting: &str,
    width: usize,
    sink: &Sink<'_>,
) -> Result<usize> {
    let exact = names.iter().position(|name| name == wanted);
    let plain = || {
        let wanted = column_names::plain(wanted);
        names.iter().position(|name| !wanted.is_empty() && column_names::plain(name) == wanted)
    };
    let place =
        || wanted.parse().ok().filter(|at| (1..=width).contains(at)).map(|at: usize| at - 1);
    exact.or_else(plain).or_else(place).ok_or_else(|| {
        let have = match names.is_empty() {
            true => format!("they have no names, only numbers from 1 to {width}"),
            false => format!("they are {}", names.iter().map(quote).collect::<Vec<_>>().join(", ")),
        };
        let what = format!(
            "the setting `{setting}` is {}, but no column is called so: {have}",
            quote(wanted)
        );
        sink.usage(what)
    })
}
