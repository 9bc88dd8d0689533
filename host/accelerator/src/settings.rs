//! Run-time switches of the accelerator.

use gramer_machine::{Accelerator, Layout, lambda_range, lambda_steps};

use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};
use gramer_engine::reference::Comparison;
use gramer_engine::setting::{Setting, of_choice, of_switch, put, switch, within};
use gramer_pattern::task::{Measure, Task};

/// How the accelerator runs. Of it, only [`Settings::comparison`] changes answers: those that depend on the order of
/// algorithm 1.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Order in which the accelerator compares ids
    pub comparison: Comparison,

    /// Without work stealing between slots
    pub no_stealing: bool,

    /// Replace the least recently used line instead of by rank and recency
    pub lru: bool,

    /// Slots of a PU in use; all by default
    pub slots: Option<u32>,

    /// Weight of recency in replacement: λ of equation (2), in the range of
    /// [`gramer_machine::lambda_steps`].
    pub lambda: f64,

    /// Share of the graph with high priority, 0 to 1; by default the paper's
    /// min(50 %, memory / (2 (V + E)))
    pub tau: Option<f64>,

    /// Share of the on-chip memory in use, above 0 to 1
    pub capacity: f64,

    /// Number of kernel runs; automatic by default
    pub runs: Option<u32>,

    /// Beats of 64 bytes for listed embeddings of one run
    pub result_beats: Option<u32>,

    /// Give up if one run of the kernels takes longer than this many seconds
    pub time_limit: Option<u64>,
}

/// The settings by name.
pub const TABLE: &[Setting<Settings>] = &[
    Setting {
        name: "comparison",
        takes: of_choice::<Comparison>,
        default: "descending",
        meaning: "order in which the core compares ids",
        set: |s, text| put(&mut s.comparison, Comparison::named(text)),
    },
    Setting {
        name: "no_stealing",
        takes: of_switch,
        default: "off",
        meaning: "no work stealing between slots",
        set: |s, text| put(&mut s.no_stealing, switch(text)),
    },
    Setting {
        name: "lru",
        takes: of_switch,
        default: "off",
        meaning: "replace the least recently used line instead of by rank and recency",
        set: |s, text| put(&mut s.lru, switch(text)),
    },
    Setting {
        name: "slots",
        takes: || "a whole number, at most the slots of a PU".into(),
        default: "all",
        meaning: "slots of a PU in use",
        set: |s, text| put(&mut s.slots, text.parse().ok().map(Some)),
    },
    Setting {
        name: "lambda",
        takes: lambda_range,
        default: "1",
        meaning: "weight of recency in replacement, λ of equation (2)",
        set: |s, text| put(&mut s.lambda, text.parse().ok()),
    },
    Setting {
        name: "tau",
        takes: || "0 to 1".into(),
        default: "min(50 %, memory / (2 (V + E)))",
        meaning: "share of the graph with high priority",
        set: |s, text| put(&mut s.tau, text.parse().ok().map(Some)),
    },
    Setting {
        name: "capacity",
        takes: || "above 0 to 1".into(),
        default: "1",
        meaning: "share of the on-chip memory in use",
        set: |s, text| put(&mut s.capacity, text.parse().ok()),
    },
    Setting {
        name: "runs",
        takes: || "a whole number from 1 on".into(),
        default: "automatic",
        meaning: "number of kernel runs",
        set: |s, text| put(&mut s.runs, within(text, 1..=u32::MAX).map(Some)),
    },
    Setting {
        name: "result_beats",
        takes: || "a whole number from 1 on".into(),
        default: "automatic",
        meaning: "beats of 64 bytes for listed embeddings of one run",
        set: |s, text| put(&mut s.result_beats, within(text, 1..=u32::MAX).map(Some)),
    },
    Setting {
        name: "time_limit",
        takes: || "a whole number of seconds from 1 on".into(),
        default: "none",
        meaning: "seconds that one run of the kernels may take",
        set: |s, text| put(&mut s.time_limit, within(text, 1..=u64::MAX).map(Some)),
    },
];

impl Default for Settings {
    fn default() -> Self {
        Settings {
            comparison: Comparison::default(),
            no_stealing: false,
            lru: false,
            slots: None,
            lambda: 1.0,
            tau: None,
            capacity: 1.0,
            runs: None,
            result_beats: None,
            time_limit: None,
        }
    }
}

impl Settings {
    /// Checks ranges, and refuses settings without effect on this machine or with the other settings.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the setting.
    pub fn check(&self, machine: &Accelerator) -> Result<()> {
        let most = machine.machine.slots;
        if let Some(slots) = self.slots.filter(|s| !(1..=most).contains(s)) {
            return Err(Error::usage(format!(
                "the setting `slots` is {slots}, but must be 1 to {most}"
            )));
        }
        let (lambda, capacity) = (self.lambda, self.capacity);
        if lambda_steps(lambda).is_none() {
            let range = lambda_range();
            return Err(Error::usage(format!(
                "the setting `lambda` is {lambda}, but must be {range}"
            )));
        }
        if self.lru && lambda != Settings::default().lambda {
            return Err(Error::usage(
                "the setting `lambda` weighs recency against rank, and the setting `lru` leaves rank out: leave \
                 out one of them",
            ));
        }
        if self.tau.is_some() && machine.memory.layout == Layout::Uniform {
            return Err(Error::usage(format!(
                "the setting `tau` is a share of scratchpads, and machine {} has none: leave it out",
                machine.machine.name
            )));
        }
        if let Some(tau) = self.tau.filter(|t| !(0.0..=1.0).contains(t)) {
            return Err(Error::usage(format!("the setting `tau` is {tau}, but must be 0 to 1")));
        }
        if !(capacity > 0.0 && capacity <= 1.0) {
            return Err(Error::usage(format!(
                "the setting `capacity` is {capacity}, but must be above 0 to 1"
            )));
        }
        Ok(())
    }

    /// Rejects settings of lists if nothing is listed, neither for the caller nor, for minimum images, for the
    /// host.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the setting.
    pub fn check_effect(&self, task: &Task, listed: bool) -> Result<()> {
        let images = matches!(task, Task::Fsm { measure: Measure::Mni, .. });
        if self.result_beats.is_some() && !listed && !images {
            return Err(Error::usage(
                "the setting `result_beats` is room for listed embeddings, and none are listed: leave it out, or \
                 give the setting `list` too",
            ));
        }
        Ok(())
    }

    /// The argument `flags` of the core.
    pub fn flags(&self, list: bool, filter: bool, select: bool) -> u32 {
        u32::from(self.comparison == Comparison::Ascending)
            | u32::from(!self.no_stealing) << 1
            | u32::from(self.lru) << 2
            | u32::from(list) << 3
            | u32::from(filter) << 4
            | u32::from(select) << 5
    }

    /// The argument `lambda_eighths` of the core, once [`Settings::check`] has passed.
    pub fn lambda_eighths(&self) -> u32 {
        lambda_steps(self.lambda).unwrap_or_default()
    }

    /// Cache sets in use of all there are.
    pub fn sets(&self, all: u32) -> u32 {
        ((f64::from(all) * self.capacity).floor() as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_machine::named::named;
    use gramer_pattern::task::SizeLimit;

    #[test]
    fn what_changes_nothing_is_refused() {
        let [paper, uniform] = ["paper", "uniform"].map(|name| named(name).unwrap().unwrap());
        let plain = Settings::default();
        let said = |settings: &Settings, machine| {
            let error = settings.check(machine).expect_err("it is refused");
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        let both = Settings { lru: true, lambda: 2.0, ..plain.clone() };
        assert!(said(&both, &paper).contains("the setting `lambda`"));
        Settings { lru: false, ..both.clone() }.check(&paper).unwrap();
        Settings { lambda: plain.lambda, ..both }.check(&paper).unwrap();
        let share = Settings { tau: Some(0.5), ..plain.clone() };
        assert!(said(&share, &uniform).contains("the setting `tau`"));
        share.check(&paper).unwrap();
        let room = Settings { result_beats: Some(4), ..plain };
        let clique = Task::Clique { k: 3 };
        assert!(room.check_effect(&clique, true).is_ok());
        assert!(room.check_effect(&clique, false).is_err());
        let frequent = |measure| {
            let task = Task::Fsm { limit: SizeLimit::MaxVertices(3), support: 1, measure };
            room.check_effect(&task, false)
        };
        assert!(frequent(Measure::Mni).is_ok() && frequent(Measure::Embeddings).is_err());
    }
}
