//! How several members (devices, processes) answer one question together.

use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::method::Scheme;
use crate::query::{Ask, Needs};

/// Hardware of an engine, as known before opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Name in results: `cpu`, `reference`, or the device's name.
    pub name: String,
    /// `cpu`, `gpu`, `accelerator`, or what an engine of another kind calls itself.
    pub kind: String,
    /// Which of that kind: the product, or the file that programs it. Numbers of slots are not in it.
    pub model: String,
    /// Whether each run has a high fixed cost, so that many small shares cost more than a large one.
    pub runs_cost: bool,
}

impl Device {
    /// Creates the only device of its kind.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        Device { kind: name.clone(), name, model: String::new(), runs_cost: false }
    }

    /// Whether it is as fast as another device: same kind and model.
    pub fn equals(&self, other: &Device) -> bool {
        (&self.kind, &self.model) == (&other.kind, &other.model)
    }
}

/// The terms under which members work together, and the scheme that all of them have then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    /// One of [`TERMS`].
    pub terms: Needs,
    /// Scheme with which results add up, or phases are alike.
    pub scheme: Scheme,
}

/// Terms in order of preference. In phases every member has the whole answer at the end; shares add up.
pub const TERMS: [Needs; 4] =
    [Needs::PEERS, Needs::PEERS.and(Needs::TWINS), Needs::SHARE, Needs::SHARE.and(Needs::BY_IDS)];

/// Terms of shares alone, which a checkpoint keeps.
pub const SHARES: [Needs; 2] = [TERMS[2], TERMS[3]];

/// Schemes of a member for a question, by terms.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Offer(Vec<(Needs, Vec<Scheme>)>);

impl Offer {
    /// Offer of an engine.
    pub fn of(engine: &dyn Engine, ask: &Ask<'_>) -> Self {
        let schemes = |terms| {
            let fits = engine.choose(&ask.terms(ask.terms | terms)).fits;
            fits.into_iter().map(|plan| plan.scheme).collect()
        };
        Offer(TERMS.iter().map(|&terms| (terms, schemes(terms))).collect())
    }

    /// Whether a member answers no part of it under any of these terms.
    pub fn is_whole(&self, terms: &[Needs]) -> bool {
        terms.iter().all(|&terms| self.schemes(terms).is_empty())
    }

    fn schemes(&self, terms: Needs) -> &[Scheme] {
        self.0.iter().find(|(of, _)| *of == terms).map_or(&[], |(_, schemes)| schemes)
    }
}

impl Division {
    /// The first terms under which all members have a scheme in common, and the first such scheme.
    ///
    /// ```
    /// use gramer_engine::division::{Division, Offer, TERMS};
    /// use gramer_engine::reference::Reference;
    /// use gramer_cpu::Cpu;
    /// use gramer_engine::{Ask, Needs, Query, Scheme};
    /// use gramer_pattern::Task;
    ///
    /// let query = Query::new(Task::Clique { k: 4 });
    /// let ask = Ask::new(&query);
    /// let [cpu, reference] = [Offer::of(&Cpu, &ask), Offer::of(&Reference::default(), &ask)];
    /// let both = Division::among(&[&cpu, &reference], &TERMS).expect("both divide by ids");
    /// assert_eq!(both.terms, Needs::SHARE | Needs::BY_IDS);
    /// assert_eq!(both.scheme, Scheme::Ids { ascending: false });
    /// ```
    pub fn among(members: &[&Offer], terms: &[Needs]) -> Option<Self> {
        let (first, others) = members.split_first()?;
        terms.iter().find_map(|&terms| {
            let all_have = |scheme: &&Scheme| {
                others.iter().all(|member| member.schemes(terms).contains(scheme))
            };
            let scheme = first.schemes(terms).iter().find(all_have)?.clone();
            Some(Division { terms, scheme })
        })
    }

    /// Whether units have their embeddings by [`Scheme::Ids`], and lists are left whole.
    pub fn by_ids(&self) -> bool {
        self.terms.has(Needs::BY_IDS)
    }

    /// Whether the work is divided in phases.
    pub fn in_phases(&self) -> bool {
        self.terms.has(Needs::PEERS)
    }
}
