//! The machines that are built into the program, so that their names work in any folder.

use std::path::Path;

use crate::{Accelerator, Error, Result};

/// Names of the machines, what each is for, and its description as it lies in the repository.
const MACHINES: [(&str, &str, &str); 16] = [
    ("paper", "the paper's machine", include_str!("../accelerator.yaml")),
    ("card", "the paper's machine for a card", include_str!("../machines/card.yaml")),
    ("small", "small and fast to simulate", include_str!("../machines/small.yaml")),
    ("explore", "that of quick sweeps", include_str!("../machines/explore.yaml")),
    ("saturating", "counts of 8 bits", include_str!("../machines/saturating.yaml")),
    (
        "uncompacted",
        "ancestor buffers with whole states",
        include_str!("../machines/uncompacted.yaml"),
    ),
    (
        "uncounted",
        "small, without performance counters",
        include_str!("../machines/uncounted.yaml"),
    ),
    ("candidate", "the paper's connectivity check", include_str!("../machines/candidate.yaml")),
    ("uniform", "all on-chip memory is cache", include_str!("../machines/uniform.yaml")),
    ("set", "the set core, 16 PUs", include_str!("../machines/set.yaml")),
    (
        "set-hbm",
        "the set core on HBM, 16 PUs, 16 channels",
        include_str!("../machines/set-hbm.yaml"),
    ),
    ("set32", "the set core, 32 PUs", include_str!("../machines/set32.yaml")),
    (
        "set-plans",
        "the set core with search plans, 16 PUs",
        include_str!("../machines/set-plans.yaml"),
    ),
    (
        "set-plans12",
        "the set core with search plans, 12 PUs in clusters that fit a card's regions",
        include_str!("../machines/set-plans12.yaml"),
    ),
    (
        "set-plans32",
        "the set core with search plans, 32 PUs",
        include_str!("../machines/set-plans32.yaml"),
    ),
    (
        "set-small",
        "the set core, small and fast to simulate",
        include_str!("../machines/set-small.yaml"),
    ),
];

/// The file of the paper's machine, which others build on.
const PAPER_FILE: &str = "accelerator.yaml";

/// Names of the built-in machines and what each is for, the paper's first.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    MACHINES.iter().map(|&(name, what, _)| (name, what))
}

/// A built-in machine; `None` if none has this name.
///
/// ```
/// for (name, _) in gramer_machine::named::names() {
///     let machine = gramer_machine::named::named(name).expect("it is built in")?;
///     assert!(machine.machine.clock_mhz > 0);
/// }
/// assert!(gramer_machine::named::named("no such machine").is_none());
/// # Ok::<(), gramer_machine::Error>(())
/// ```
///
/// # Errors
/// [`enum@Error`] if its description breaks a rule, which a test excludes.
pub fn named(name: &str) -> Option<Result<Accelerator>> {
    let (_, _, text) = MACHINES.iter().find(|(known, _, _)| *known == name)?;
    Some(Accelerator::parse_with(text, Path::new(name), &|base| {
        let file = base.file_name().unwrap_or_default().to_string_lossy();
        let name = if file == PAPER_FILE { "paper" } else { file.trim_end_matches(".yaml") };
        let found = MACHINES.iter().find(|(known, _, _)| *known == name);
        found.map(|(_, _, text)| (*text).to_string()).ok_or_else(|| Error::Format {
            path: base.to_path_buf(),
            what: "is not among the built-in machines".into(),
        })
    }))
}
