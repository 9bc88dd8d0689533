//! Which settings change how a task is done.

use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};
use gramer_pattern::task::{Measure, Task};

use gramer_engine::{Ask, Query};

use crate::{Ablation, Join, Order, Settings, Strategy, Tile, Traversal};

impl Settings {
    /// The strategies that answer a task, the fastest first.
    fn able(&self, task: &Task, listed: bool) -> Result<Vec<Strategy>> {
        let any = Settings { strategy: None, ..self.clone() };
        let query = Query::new(task.clone()).list(listed);
        let fits = any.choose(&Ask::new(&query)).fits;
        // Frequent patterns are counted and listed by searches.
        let strategy = |method: &str| Strategy::named(method).unwrap_or(Strategy::Plan);
        Ok(fits.iter().map(|plan| strategy(&plan.method)).collect())
    }

    /// The strategy that answers it with these settings; `None` if there is none, which the run reports.
    fn chosen(&self, task: &Task, listed: bool) -> Result<Option<Strategy>> {
        let able = self.able(task, listed)?;
        Ok(able.into_iter().find(|able| self.strategy.is_none_or(|named| named == *able)))
    }

    /// Rejects an explicit setting without effect on a task, so that the answer isn't attributed to it. `listed` if
    /// embeddings go to a sink.
    ///
    /// What a run of several devices does in another way isn't known here.
    ///
    /// ```
    /// use gramer_gpu::{Lanes, Settings};
    /// use gramer_pattern::Task;
    ///
    /// let settings = Settings { lanes: Some(Lanes::Local), ..Settings::default() };
    /// let clique = Task::Clique { k: 4 };
    /// assert!(settings.check_effect(&clique, false).is_err(), "bitmaps have no such operations");
    /// assert!(settings.check_effect(&clique, true).is_ok(), "a search lists");
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] that names the setting; [`Error::Unsupported`] where the strategy doesn't do the task.
    pub fn check_effect(&self, task: &Task, listed: bool) -> Result<()> {
        let Some(strategy) = self.chosen(task, listed)? else { return Ok(()) };
        let images = matches!(task, Task::Fsm { measure: Measure::Mni, .. });
        let searched = strategy == Strategy::Plan && (listed || !images);
        let joined = strategy == Strategy::Table && matches!(task, Task::Match { .. });
        let by_table = strategy == Strategy::Table;
        // Motifs and frequent patterns are programs over the primitives, which have their own order.
        let extended = by_table && !matches!(task, Task::Motif { .. } | Task::Fsm { .. });
        let of_five = strategy == Strategy::Formula && matches!(task, Task::Motif { k: 5, .. });
        // Sets of six vertices and more are shared out among the lanes of a warp.
        let large = strategy == Strategy::Local
            && matches!(task, Task::Clique { k: 6.. } | Task::CliqueSizes { largest: 6.., .. });
        let tiled = strategy == Strategy::Wide && self.tile.is_some_and(|tile| tile != Tile::Warp);
        let given = [
            ("lanes", self.lanes.is_some(), searched || of_five || large || tiled),
            ("tile", self.tile.is_some(), strategy == Strategy::Wide),
            (
                "signatures",
                self.steps.signatures,
                searched || joined && self.table.join == Join::Prealloc,
            ),
            ("order", self.steps.order != Order::default(), searched || joined),
            ("traversal", self.table.traversal != Traversal::default() && by_table, extended),
            ("without", self.table.without != Ablation::default() && by_table, extended),
            // Cliques are extended in one way.
            ("join", self.table.join != Join::default() && by_table, joined),
        ];
        let Some((setting, ..)) = given.into_iter().find(|&(_, given, acts)| given && !acts) else {
            return Ok(());
        };
        // Where it acts.
        let acts = if setting == "tile" { Strategy::Wide } else { Strategy::Plan };
        let other = match strategy != acts && self.able(task, listed)?.contains(&acts) {
            true => format!(", or have the setting `strategy` be {}", acts.name()),
            false => String::new(),
        };
        Err(Error::usage(format!(
            "the setting `{setting}` has no effect on the task {} with the strategy {}: leave it \
             out{other}",
            task.name(),
            strategy.name()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lanes, Steps, TableSettings};
    use gramer_pattern::Pattern;
    use gramer_pattern::task::{Induced, SizeLimit};

    fn fsm(measure: Measure) -> Task {
        Task::Fsm { limit: SizeLimit::MaxVertices(3), support: 2, measure }
    }

    fn motif(k: usize) -> Task {
        Task::Motif { k, induced: Induced::Vertex }
    }

    #[test]
    fn joins_are_those_of_matches() {
        let table = TableSettings { join: Join::Prealloc, ..TableSettings::default() };
        let settings = Settings { strategy: Some(Strategy::Table), table, ..Settings::default() };
        let error = settings.check_effect(&Task::Clique { k: 4 }, false).unwrap_err();
        assert!(error.to_string().contains("the setting `join`"), "{error}");
    }

    #[test]
    fn tiles_are_those_of_wide() {
        let tile = Some(Tile::Eight);
        let settings = |strategy| Settings { strategy, tile, ..Settings::default() };
        let said = settings(None).check_effect(&motif(4), false).unwrap_err().to_string();
        assert!(said.contains("the setting `tile`"), "{said}");
        assert!(said.ends_with("or have the setting `strategy` be wide"), "{said}");
        let wide = settings(Some(Strategy::Wide));
        wide.check_effect(&motif(4), false).unwrap();
        // Parts of a warp tell each other something in one of the forms.
        Settings { lanes: Some(Lanes::Local), ..wide }.check_effect(&motif(4), false).unwrap();
    }

    #[test]
    fn motifs_and_frequent_patterns_by_tables_have_one_order() {
        let breadth = TableSettings { traversal: Traversal::Breadth, ..TableSettings::default() };
        let without = Ablation { groups: true, ..Ablation::default() };
        let without = TableSettings { without, ..TableSettings::default() };
        for (table, name) in [(breadth, "traversal"), (without, "without")] {
            let strategy = Some(Strategy::Table);
            let settings = Settings { strategy, table, ..Settings::default() };
            settings.check_effect(&Task::Clique { k: 4 }, false).unwrap();
            for task in [motif(4), fsm(Measure::Mni), fsm(Measure::Embeddings)] {
                let said = settings.check_effect(&task, false).unwrap_err().to_string();
                assert!(said.contains(&format!("the setting `{name}`")), "{said}");
            }
        }
    }

    /// By task and strategy: whether lanes, signatures and the paper's order act.
    #[test]
    fn what_acts_is_taken_and_what_does_not_is_named() {
        use Strategy::{Local, Plan, Table, Wide};
        let found =
            Task::Match { pattern: Pattern::clique(3), induced: Induced::Edge, mappings: None };
        let sizes = Task::CliqueSizes { smallest: 3, largest: 6 };
        let joins = |join| TableSettings { join, ..TableSettings::default() };
        for (task, strategy, join, listed, acts) in [
            (Task::Clique { k: 4 }, None, Join::Intersect, false, [false, false, false]),
            (Task::Clique { k: 4 }, Some(Local), Join::Intersect, false, [false, false, false]),
            (Task::Clique { k: 4 }, Some(Plan), Join::Intersect, false, [true, true, true]),
            (Task::Clique { k: 4 }, Some(Table), Join::Intersect, false, [false, false, false]),
            (Task::Clique { k: 4 }, None, Join::Intersect, true, [true, true, true]),
            (Task::Clique { k: 6 }, None, Join::Intersect, false, [true, false, false]),
            (sizes.clone(), None, Join::Intersect, false, [true, false, false]),
            (sizes.clone(), Some(Plan), Join::Intersect, false, [true, true, true]),
            (motif(4), None, Join::Intersect, false, [false, false, false]),
            (motif(5), None, Join::Intersect, false, [true, false, false]),
            (motif(5), Some(Wide), Join::Intersect, false, [false, false, false]),
            (motif(8), None, Join::Intersect, false, [false, false, false]),
            (found.clone(), None, Join::Intersect, false, [true, true, true]),
            (found.clone(), Some(Table), Join::Intersect, false, [false, false, true]),
            (found.clone(), Some(Table), Join::Prealloc, false, [false, true, true]),
            (fsm(Measure::Embeddings), None, Join::Intersect, false, [true, true, true]),
            (fsm(Measure::Mni), None, Join::Intersect, false, [false, false, false]),
            (fsm(Measure::Mni), None, Join::Intersect, true, [true, true, true]),
        ] {
            let table = joins(join);
            let plain = Settings { strategy, table, ..Settings::default() };
            plain.check_effect(&task, listed).unwrap();
            let paper = Steps { order: Order::Paper, ..Steps::default() };
            let signed = Steps { signatures: true, ..Steps::default() };
            for ((settings, name), acts) in [
                (Settings { lanes: Some(Lanes::Local), ..plain.clone() }, "lanes"),
                (Settings { steps: signed, ..plain.clone() }, "signatures"),
                (Settings { steps: paper, ..plain.clone() }, "order"),
            ]
            .into_iter()
            .zip(acts)
            {
                let what = format!("{name}, {task:?} by {strategy:?}, listed: {listed}");
                match settings.check_effect(&task, listed) {
                    Ok(()) => assert!(acts, "{what}"),
                    Err(error) => {
                        let said = error.to_string();
                        assert!(!acts && error.exit_code() == 2, "{what}: {said}");
                        assert!(said.contains(&format!("the setting `{name}`")), "{what}: {said}");
                        let able = plain.able(&task, listed).unwrap();
                        let taken = strategy.unwrap_or(able[0]);
                        let other = taken != Plan && able.contains(&Plan);
                        assert_eq!(said.contains("be plan"), other, "{what}: {said}");
                    }
                }
            }
        }
    }
}
