//! The settings of the engine by name, and which of them go together.

use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};
use gramer_engine::setting::{Setting, bytes, of_choice, of_switch, put, switch, within};
use gramer_pattern::task::Task;

use crate::{
    Ablation, Access, FirstEdge, Join, Lanes, Layers, Mechanism, Order, Rows, Settings, Strategy,
    Tile, Traversal,
};

/// Largest number of segments of a join.
const SEGMENTS: u32 = 1_000_000;

/// The settings for experiments. Those that users need are fields of [`Settings`] that programs set by themselves.
pub const TABLE: &[Setting<Settings>] = &[
    Setting {
        name: "traversal",
        takes: of_choice::<Traversal>,
        default: "depth",
        meaning: "order in which the strategy table extends its tables",
        set: |s, text| put(&mut s.table.traversal, Traversal::named(text)),
    },
    Setting {
        name: "access",
        takes: of_choice::<Access>,
        default: "heat",
        meaning: "pages of the graph that the strategy table copies to a device without room for all",
        set: |s, text| put(&mut s.table.access, Access::named(text)),
    },
    Setting {
        name: "host_memory",
        takes: || "bytes, or a number with K, M or G".into(),
        default: "half of what is available",
        meaning: "memory of the host for tables, beyond which they go to a file in the spill folder",
        set: |s, text| put(&mut s.table.host_memory, bytes(text).map(Some)),
    },
    Setting {
        name: "join",
        takes: of_choice::<Join>,
        default: "intersect",
        meaning: "how the strategy table joins the next vertex of a pattern: as GAMMA extends, or as SGSI joins",
        set: |s, text| put(&mut s.table.join, Join::named(text)),
    },
    Setting {
        name: "first_edge",
        takes: of_choice::<FirstEdge>,
        default: "row",
        meaning: "edge of a row that gives the size of its buffer, with the join prealloc",
        set: |s, text| put(&mut s.table.join_settings.first, FirstEdge::named(text)),
    },
    Setting {
        name: "balance",
        takes: of_choice::<Layers>,
        default: "none",
        meaning: "division of rows by their work, with the join prealloc",
        set: |s, text| put(&mut s.table.join_settings.layers, Layers::named(text)),
    },
    Setting {
        name: "segments",
        takes: || format!("1 to {SEGMENTS}"),
        default: "as few as fit",
        meaning: "least number of parts of the edges of each label, with the join prealloc",
        set: |s, text| put(&mut s.table.join_settings.segments, within(text, 1..=SEGMENTS)),
    },
    Setting {
        name: "pairs",
        takes: || "2 to 16".into(),
        default: "16",
        meaning: "pairs of a group of PCSR, with the join prealloc; 16 are 128 bytes",
        set: |s, text| put(&mut s.table.join_settings.pairs, within(text, 2..=16)),
    },
    Setting {
        name: "rows",
        takes: of_choice::<Rows>,
        default: "groups",
        meaning: "where neighbours by edge label are found, with the join prealloc",
        set: |s, text| put(&mut s.table.join_settings.rows, Rows::named(text)),
    },
    Setting {
        name: "without",
        takes: || format!("one or several, separated by commas, of {}", of_choice::<Mechanism>()),
        default: "none",
        meaning: "mechanisms of the strategy table to leave out",
        set: |s, text| {
            let all: Option<Ablation> = text.split(',').map(Mechanism::named).collect();
            put(&mut s.table.without, all)
        },
    },
    Setting {
        name: "signatures",
        takes: of_switch,
        default: "off",
        meaning: "find the candidates of each pattern vertex by signatures first, as SGSI does",
        set: |s, text| put(&mut s.steps.signatures, switch(text)),
    },
    Setting {
        name: "order",
        takes: of_choice::<Order>,
        default: "cost",
        meaning: "order in which the vertices of a pattern get their images",
        set: |s, text| put(&mut s.steps.order, Order::named(text)),
    },
    Setting {
        name: "tile",
        takes: of_choice::<Tile>,
        default: "32",
        meaning: "lanes that take an embedding together in the strategy wide",
        set: |s, text| put(&mut s.tile, Tile::named(text).map(Some)),
    },
    Setting {
        name: "lanes",
        takes: of_choice::<Lanes>,
        default: "the fastest that passes a self-test",
        meaning: "how lanes of a warp exchange values, in searches, motifs of 5 and cliques of 6 and more",
        set: |s, text| put(&mut s.lanes, Lanes::named(text).map(Some)),
    },
    Setting {
        name: "checked",
        takes: of_switch,
        default: "off",
        meaning: "test every index that a kernel uses, which takes longer",
        set: |s, text| put(&mut s.checked, switch(text)),
    },
];

/// Settings of the strategy `table`; the first four belong to its default join, the last five to SGSI's.
const OF_TABLE: [&str; 11] = [
    "traversal",
    "access",
    "host_memory",
    "spill",
    "join",
    "without",
    "first_edge",
    "balance",
    "segments",
    "pairs",
    "rows",
];

impl Settings {
    /// Refuses given settings that have no effect next to the others. `given` are their names, those of the table and
    /// `spill`.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the setting.
    pub fn check_together(&self, given: &[&str]) -> Result<()> {
        let first = |of: &[&'static str]| of.iter().find(|name| given.contains(name)).copied();
        let goes_with = |name: &str, what: &str| {
            Err(Error::usage(format!("the setting `{name}` needs {what}")))
        };
        let by_table = self.strategy == Some(Strategy::Table);
        let prealloc = self.table.join == Join::Prealloc;
        if let (Some(name), false) = (first(&OF_TABLE), by_table) {
            return goes_with(name, "the strategy table");
        }
        if self.steps.signatures && by_table && !prealloc {
            return goes_with(
                "signatures",
                "the join prealloc, or with another strategy than table",
            );
        }
        if let (Some(name), false) = (first(&OF_TABLE[6..]), prealloc) {
            return goes_with(name, "the join prealloc");
        }
        if let (Some(name), true) = (first(&OF_TABLE[..4]), prealloc) {
            return goes_with(
                name,
                "the join intersect: the other join keeps no pages and spills nothing",
            );
        }
        let mechanisms = Mechanism::ALL.iter().map(|(one, ..)| *one);
        let left_out = |one: &Mechanism| self.table.without.has(*one);
        if let Some(one) = mechanisms
            .filter(left_out)
            .find(|one| given.contains(&"without") && one.is_of_join() != prealloc)
        {
            let other = if prealloc { Join::Intersect } else { Join::Prealloc };
            let what = format!("the join {}", other.name());
            return Err(Error::usage(format!(
                "{} in the setting `without` needs {what}",
                one.name()
            )));
        }
        Ok(())
    }

    /// Refuses room for tables outside the device where a task keeps none there: motifs and frequent patterns always
    /// do. `given` as in [`Settings::check_together`].
    ///
    /// # Errors
    /// [`Error::Usage`] that names the setting.
    pub fn check_room(&self, task: &Task, given: &[&str]) -> Result<()> {
        let keeps = self.table.traversal == Traversal::Breadth
            || matches!(task, Task::Motif { .. } | Task::Fsm { .. });
        match ["host_memory", "spill"].iter().find(|name| given.contains(name)) {
            Some(name) if !keeps => Err(Error::usage(format!(
                "the setting `{name}` needs the traversal breadth: nothing else leaves the device in the task {}",
                task.name()
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: &[(&str, &str)]) -> Result<Settings> {
        let mut settings = Settings { strategy: Some(Strategy::Table), ..Settings::default() };
        Setting::apply(TABLE, &mut settings, given.iter().copied())?;
        let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        settings.check_together(&names)?;
        Ok(settings)
    }

    /// Each setting of the table takes the value that it has where none is given, if that is one.
    #[test]
    fn defaults_are_values_or_words() {
        let plain = Settings::default();
        for setting in TABLE {
            let mut changed = plain.clone();
            let takes = (setting.takes)();
            let value = takes.contains(setting.default);
            assert_eq!((setting.set)(&mut changed, setting.default), value, "{}", setting.name);
            if value && !["tile", "lanes"].contains(&setting.name) {
                assert_eq!(changed, plain, "{}", setting.name);
            }
        }
    }

    #[test]
    fn what_goes_together_is_taken() {
        let both = settings(&[("join", "prealloc"), ("without", "pcsr,write-cache")]).unwrap();
        assert!(both.table.without.pcsr && both.table.without.write_cache);
        for (given, expected) in [
            (&[("segments", "2")][..], "`segments` needs the join prealloc"),
            (&[("without", "pcsr")], "pcsr in the setting `without` needs the join prealloc"),
            (&[("join", "prealloc"), ("access", "cold")], "`access` needs the join intersect"),
            (&[("pairs", "17")], "`pairs` is `17`, but must be 2 to 16"),
        ] {
            let said = settings(given).unwrap_err().to_string();
            assert!(said.contains(expected), "{given:?}: {said}");
        }
    }
}
