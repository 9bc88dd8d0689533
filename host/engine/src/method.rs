//! Methods: the algorithms of an engine, each an entry of a table.
//!
//! An engine is a table of methods in order of preference. [`choose`] asks each of them whether it answers a question
//! under the terms of a run, without a graph and without an open device; the first that fits runs. A method that finds
//! out while it runs that it can't go on retreats with the reason, and the next that fits takes over
//! ([`PreparedGraph::mine`](crate::PreparedGraph::mine)).

use serde::{Deserialize, Serialize};
use tracing::info;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};

use crate::division::Division;
use crate::query::{Ask, Needs, Query};
use crate::reason::{Reason, refusal};
use crate::{Outcome, Peers, SampledCounts, Sink, Units};

/// Engine as seen by its methods: settings, and the machine as known before opening.
pub trait Kit: Send + Sync {
    /// A graph that the engine has made ready, with what its methods derive from it.
    type DeviceGraph;
    /// Name of the engine in [`Scheme::Own`]. Engines of one kind that choose equal methods with equal settings divide
    /// work alike.
    const KIND: &'static str;
}

/// One algorithm.
pub trait Method<K: Kit>: Sync {
    /// Name in plans, logs and documents.
    fn name(&self) -> &'static str;

    /// The needs that it meets, on this machine.
    fn offers(&self, kit: &K) -> Needs;

    /// Returns whether the method answers the question: checks the task, its sizes, and conflicting needs. Needs that
    /// are not [offered](Method::offers) are rejected before this call.
    fn fit(&self, ask: &Ask<'_>, kit: &K) -> Fit;

    /// Which results its results add up with.
    fn scheme(&self, ask: &Ask<'_>, kit: &K) -> Scheme {
        let _ = kit;
        match ask.terms.has(Needs::BY_IDS) {
            true => Scheme::Ids { ascending: false },
            false => Scheme::own::<K>(self.name(), []),
        }
    }

    /// Whether the order of the vertices does not affect its speed.
    fn any_order(&self, ask: &Ask<'_>) -> bool {
        let _ = ask;
        false
    }

    /// Answers a question for which it fits.
    ///
    /// # Errors
    /// [`Failure::Retreat`] where only running could tell that another method must do it.
    fn run(
        &self,
        query: &Query,
        held: &K::DeviceGraph,
        plan: &Plan,
        run: &Run<'_>,
    ) -> Result<Reply, Failure>;
}

/// The methods of an engine, in order of preference.
pub type Methods<K> = [&'static dyn Method<K>];

/// Whether a method answers a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// The method fits.
    Yes,
    /// The method does not fit.
    No(Reason),
}

impl From<bool> for Fit {
    /// Converts a flag: whether it is a task of the method.
    fn from(is: bool) -> Self {
        if is { Fit::Yes } else { Fit::No(Reason::Task) }
    }
}

impl Fit {
    /// Whether a number is in the method's range.
    pub fn within(what: &'static str, value: usize, least: usize, most: usize) -> Self {
        match (least..=most).contains(&value) {
            true => Fit::Yes,
            false => Fit::No(Reason::size(what, value, least, most)),
        }
    }

    /// Returns this reason, or else the other one.
    #[must_use]
    pub fn and(self, other: impl FnOnce() -> Fit) -> Fit {
        match self {
            Fit::Yes => other(),
            no => no,
        }
    }

    /// Refuses needs that don't go together: all of `needs` at once.
    pub fn not_together(ask: &Ask<'_>, needs: Needs) -> Self {
        match ask.needs().has(needs) {
            true => Fit::No(Reason::Needs(needs)),
            false => Fit::Yes,
        }
    }
}

/// Assignment of embeddings to work units by a method. The results of two parts of a run add up if and only if their
/// schemes are equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// By ids, as algorithm 1 of the paper: a clique and a vertex-induced motif belong to their vertex with the largest
    /// number, or with the smallest in ascending order. A match belongs to the image of the first vertex of the plan that
    /// [`SearchPlan::of`] makes for listing, whose conditions of symmetry ask for falling numbers.
    ///
    /// [`SearchPlan::of`]: gramer_pattern::plan::search::SearchPlan::of
    Ids {
        /// Whether smaller ids come first.
        ascending: bool,
    },
    /// Level by level: members examine the same candidates and join the same bytes.
    Levels,
    /// In the method's own way.
    Own {
        /// [`Kit::KIND`].
        kind: String,
        /// The name of the method.
        method: String,
        /// Settings that the division depends on.
        settings: Vec<(String, String)>,
    },
}

impl Scheme {
    /// Scheme of an engine's method, with the settings that it depends on.
    pub fn own<K: Kit>(
        method: &str,
        settings: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        let settings = settings.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Scheme::Own { kind: K::KIND.into(), method: method.into(), settings }
    }
}

impl std::fmt::Display for Scheme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scheme::Ids { ascending: false } => f.write_str("ids"),
            Scheme::Ids { ascending: true } => f.write_str("ids, ascending"),
            Scheme::Levels => f.write_str("levels"),
            Scheme::Own { kind, method, settings } => {
                write!(f, "{kind}, {method}")?;
                settings.iter().try_for_each(|(name, value)| write!(f, ", {name} {value}"))
            }
        }
    }
}

/// Method that answers a question, as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the method.
    pub method: String,
    /// Which results its results add up with.
    pub scheme: Scheme,
    /// Whether the order of the vertices does not affect its speed.
    pub any_order: bool,
}

/// Fit of each method of an engine to a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Choices {
    /// Methods that answer it. The first runs; the next takes over where it retreats.
    pub fits: Vec<Plan>,
    /// Methods that don't, with the reason.
    pub not: Vec<(String, Reason)>,
}

impl Choices {
    /// Returns the plan that runs.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with the device and the reasons of its methods.
    pub fn first(&self, device: &str, ask: &Ask<'_>) -> Result<&Plan> {
        self.fits.first().ok_or_else(|| refusal(device, ask, self))
    }
}

/// Evaluates the fit of each method of a table.
pub fn choose<K: Kit>(methods: &Methods<K>, ask: &Ask<'_>, kit: &K) -> Choices {
    let mut choices = Choices::default();
    for method in methods {
        let missing = ask.needs().without(method.offers(kit));
        let fit = match method.fit(ask, kit) {
            // Of another task, it doesn't matter what is missing.
            Fit::No(Reason::Task) => Fit::No(Reason::Task),
            _ if ask.only.is_some_and(|only| only != method.name()) => Fit::No(Reason::NotNamed),
            _ if !missing.is_none() => Fit::No(Reason::Needs(missing)),
            fit => fit,
        };
        match fit {
            Fit::Yes => choices.fits.push(Plan {
                method: method.name().into(),
                scheme: method.scheme(ask, kit),
                any_order: method.any_order(ask),
            }),
            Fit::No(reason) => choices.not.push((method.name().into(), reason)),
        }
    }
    choices
}

/// Parameters of a run in addition to its question.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Work units of the run.
    pub units: Units<'a>,
    /// Receiver of embeddings. Present if and only if [`Query::list`] is set.
    pub sink: Option<&'a dyn Sink>,
    /// The other members that work on the same question.
    pub peers: Option<&'a dyn Peers>,
    /// Division among several members.
    pub division: Option<&'a Division>,
    /// Threads, memory, cancelling, progress.
    pub context: &'a Context,
}

impl<'a> Run<'a> {
    /// All units of a graph, counted on one device.
    pub fn new(context: &'a Context) -> Self {
        Run { units: Units::All, sink: None, peers: None, division: None, context }
    }

    /// Whether embeddings belong to units by [`Scheme::Ids`].
    pub fn by_ids(&self) -> bool {
        self.division.is_some_and(Division::by_ids)
    }

    /// Terms of the run.
    pub fn terms(&self) -> Needs {
        let share = if self.units.share().is_some() { Needs::SHARE } else { Needs::NONE };
        let peers = if self.peers.is_some() { Needs::PEERS } else { Needs::NONE };
        self.division.map_or(Needs::NONE, |division| division.terms) | share | peers
    }
}

/// An answer, in the form that [`Query::answer`] requests.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// Numbers of the whole graph or of a share, and columns by vertex or edge if requested.
    Counts(Box<Outcome>),
    /// Counts from a sample.
    Estimate(SampledCounts),
}

impl From<Outcome> for Reply {
    fn from(outcome: Outcome) -> Self {
        Reply::Counts(Box::new(outcome))
    }
}

/// End of a run without an answer.
#[derive(Debug)]
pub enum Failure {
    /// The next method that fits takes over. Allowed in a run of all units that has handed nothing to a sink.
    Retreat(Reason),
    /// The run ends.
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// Runs the method that a plan names.
///
/// # Errors
/// Those of the method. A retreat in a share is an error, since the other shares are of this method.
pub fn run_plan<K: Kit>(
    methods: &Methods<K>,
    query: &Query,
    held: &K::DeviceGraph,
    plan: &Plan,
    run: &Run<'_>,
) -> Result<Reply, Failure> {
    let unknown = || Error::Unsupported(format!("{} has no method {}", K::KIND, plan.method));
    let method = methods.iter().find(|m| m.name() == plan.method).ok_or_else(unknown)?;
    info!(
        engine = K::KIND,
        task = query.task.name(),
        method = method.name(),
        share = run.units.share().is_some(),
        listed = run.sink.is_some(),
        "the method is chosen"
    );
    let mut found = method.run(query, held, plan, run)?;
    if let Reply::Counts(outcome) = &mut found {
        outcome.share = run.units.share().cloned();
    }
    Ok(found)
}
