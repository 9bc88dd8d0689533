//! Whether a machine fits a card: the shares of the card's regions that it takes.
//!
//! `scripts/fit.py --write` writes the table from `constraints/boards.yaml` and the areas that `make synth` maps.

use gramer_base::error::{Error, Result};
use gramer_machine::{Accelerator, named, verilog};

/// Shares in percent, rounded up: machine, board, card, whether the platform's regions are published, place, and a
/// column for each of [`RESOURCES`].
const TABLE: &str = include_str!("fit.tsv");

/// The resources of a region, and last those of the whole card alone.
const RESOURCES: [&str; 6] = ["LUT", "FF", "BRAM", "URAM", "DSP", "memory banks"];

/// A place of a card, and what a machine takes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    machine: &'static str,
    board: &'static str,
    card: &'static str,
    known: bool,
    place: &'static str,
    percent: Vec<u32>,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().skip(2).map(|line| {
        let mut words = line.split('\t');
        let mut next = || words.next().unwrap_or_default();
        Row {
            machine: next(),
            board: next(),
            card: next(),
            known: next() == "known",
            place: next(),
            percent: words.filter_map(|number| number.parse().ok()).collect(),
        }
    })
}

/// How certain the fit of an accepted machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It fits.
    Fits,
    /// It fits if the platform leaves an equal part of each region, which isn't published.
    InDoubt,
    /// The area of the machine isn't known.
    Unknown,
}

/// Checks that a machine fits the regions of a card.
///
/// # Errors
/// A usage error for a board that isn't known, and [`Error::Unsupported`] with the resources of which the machine
/// needs too much.
pub fn check(machine: &Accelerator, board: &str) -> Result<Fit> {
    let mut boards: Vec<&str> = rows().map(|row| row.board).collect();
    boards.dedup();
    if !boards.contains(&board) {
        boards.sort_unstable();
        boards.dedup();
        return Err(Error::usage(format!("no board {board}; boards: {}", boards.join(", "))));
    }
    let Some(name) = known(machine) else { return Ok(Fit::Unknown) };
    let own: Vec<Row> = rows().filter(|row| row.machine == name).collect();
    let here = || own.iter().filter(|row| row.board == board);
    let excess: Vec<String> = here().flat_map(excess_of).collect();
    let Some(first) = here().next() else { return Ok(Fit::Unknown) };
    if excess.is_empty() {
        return Ok(if first.known { Fit::Fits } else { Fit::InDoubt });
    }
    let mut fitting: Vec<&str> = own.iter().map(|row| row.card).collect();
    fitting.dedup();
    fitting.retain(|card| !own.iter().any(|row| row.card == *card && excess_of(row).count() > 0));
    let fitting = if fitting.is_empty() { "none".to_string() } else { fitting.join(", ") };
    Err(Error::Unsupported(format!(
        "machine {} does not fit the {}: it needs {}. Cards that it fits: {fitting}",
        machine.machine.name,
        first.card,
        excess.join("; "),
    )))
}

/// What a machine takes beyond all of a place.
fn excess_of(row: &Row) -> impl Iterator<Item = String> {
    let shares = RESOURCES.iter().zip(&row.percent).filter(|(_, percent)| **percent > 100);
    shares.map(|(resource, percent)| format!("{percent} % of the {resource} of {}", row.place))
}

/// The machine of the table that has the sizes and compute units of this one.
fn known(machine: &Accelerator) -> Option<&'static str> {
    let sizes = |a: &Accelerator| {
        let package = verilog::package(a);
        // The first line has the machine's name.
        (package.split_once('\n').map(|(_, text)| text.to_string()), a.kernels.compute_units)
    };
    let own = sizes(machine);
    named::names().map(|(name, _)| name).filter(|name| rows().any(|row| row.machine == *name)).find(
        |name| {
            named::named(name).and_then(std::result::Result::ok).is_some_and(|a| sizes(&a) == own)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str) -> Accelerator {
        named::named(name).unwrap().unwrap()
    }

    #[test]
    fn every_row_is_whole() {
        assert!(rows().count() > 20);
        for row in rows() {
            assert_eq!(row.percent.len(), RESOURCES.len(), "{row:?}");
            assert!(named::named(row.machine).is_some(), "{row:?}");
        }
    }

    #[test]
    fn machines_are_known_by_their_sizes() {
        assert_eq!(known(&machine("paper")), Some("paper"));
        let mut renamed = machine("set");
        renamed.machine.name = "mine".into();
        assert_eq!(known(&renamed), Some("set"));
        renamed.kernels.compute_units = 4;
        assert_eq!(known(&renamed), Some("set32"));
        renamed.kernels.compute_units = 3;
        assert_eq!(known(&renamed), None);
        assert_eq!(check(&renamed, "u200").unwrap(), Fit::Unknown);
    }

    #[test]
    fn what_is_too_large_is_refused_with_numbers() {
        assert_eq!(check(&machine("paper"), "u250").unwrap(), Fit::InDoubt);
        assert_eq!(check(&machine("set"), "u200").unwrap(), Fit::Fits);
        let said = check(&machine("set-plans"), "u200").unwrap_err();
        assert_eq!(said.exit_code(), 1);
        assert!(said.to_string().contains("% of the LUT of SLR2"), "{said}");
        let said = check(&machine("paper"), "u99").unwrap_err();
        assert_eq!(said.exit_code(), 2);
        assert!(said.to_string().contains("boards: u200, u250, u280, u50, u55c"), "{said}");
    }
}
