//! A search plan as the words that the core executes: `docs/reference/set-core.md`, section *Plans*. Only this module
//! writes them.
//!
//! The core executes a chain: one vertex after another gets its image, and the members of the last set are counted or
//! listed. Plans that are trees of steps, or end in a formula of several sets, are left to other devices; the plan of
//! the same pattern that visits every embedding is always a chain.

use gramer_graph::{Label, NO_LABEL};
use gramer_machine::Accelerator;
use gramer_machine::set::{
    ID_BITS, PLAN_LABELS, PLAN_SETS, PLAN_WORDS, RECORD_NARROW, WORD_KINDS, WORDS_A_BEAT,
};
use gramer_pattern::plan::candidates::ByLabel;
use gramer_pattern::plan::matching_order::Estimates;
use gramer_pattern::plan::planner::Planner;
use gramer_pattern::plan::search::{CandidateSet, SearchPlan, Source, Step, bits};
use gramer_pattern::task::Induced;
use gramer_pattern::{MAX_VERTICES, Pattern};

use super::image::Order;

mod chain;
mod counted;

pub use counted::CountPlan;

use chain::{Chain, chain};

/// What a word does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A set is made and stored.
    Make,
    /// Members, or pairs of them, are counted.
    Count,
    /// The next vertex goes along a set.
    Walk,
    /// Members are listed, each with the images before it.
    List,
}

impl Kind {
    /// Its number in a word: its place in [`WORD_KINDS`].
    fn number(self) -> u64 {
        let name = match self {
            Kind::Make => "make",
            Kind::Count => "count",
            Kind::Walk => "walk",
            Kind::List => "list",
        };
        let at = WORD_KINDS.iter().position(|(n, _)| *n == name);
        at.expect("every kind has a number") as u64
    }

    /// The kind with a number.
    pub fn of(number: u64) -> Option<Kind> {
        [Kind::Make, Kind::Count, Kind::Walk, Kind::List]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// A word. Vertices are numbered in the order in which they get their images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Kind.
    pub kind: Kind,
    /// With a stored set and a list: members that are not in the list; else those that are.
    pub difference: bool,
    /// Count: pairs of members. List: a record takes a whole beat.
    pub pairs: bool,
    /// The stored set.
    pub stored: Option<u8>,
    /// The vertex whose image's neighbours are streamed.
    pub streams: Option<u8>,
    /// Make: the set that is made.
    pub to: u8,
    /// Vertices whose images are above all members, as bits.
    pub bounds: u8,
    /// Vertices whose images are no members, as bits.
    pub conflicts: u8,
    /// The number of the members' label, from 1 on; 0: any.
    pub label: u8,
    /// Count: how it is used.
    pub term: Term,
}

/// How the count of a word is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Term {
    /// It is added to the sum.
    #[default]
    Sum,
    /// It is kept, and the next word follows.
    First,
    /// The same.
    Second,
    /// The product of the two that were kept less this is added.
    Last,
}

impl Term {
    const ALL: [Term; 4] = [Term::Sum, Term::First, Term::Second, Term::Last];
}

/// A search plan for the core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The words, from the root's on.
    pub words: Vec<Word>,
    /// Vertices that get their images one after another.
    pub levels: u32,
    /// Neighbours that the root needs at least.
    pub least: usize,
    /// The root's label, if not any.
    pub root: Option<Label>,
    /// The labels that words name, from number 1 on.
    pub labels: Vec<Label>,
    /// The pattern's vertices in the order in which they get their images.
    placed: Vec<usize>,
    /// How many mappings each counted one stands for.
    factor: u128,
    /// How many mappings an occurrence has.
    automorphisms: u128,
}

/// Words while they are written.
struct Writer<'a> {
    plan: &'a SearchPlan,
    words: Vec<Word>,
    /// The vertices' places in the order, by pattern vertex.
    order: [u8; MAX_VERTICES],
    /// The stored sets' numbers, by number in the plan.
    stored: Vec<Option<u8>>,
    sets: u32,
    labels: Vec<Label>,
}

impl Writer<'_> {
    fn mask(&self, vertices: impl Iterator<Item = usize>) -> u8 {
        vertices.fold(0, |mask, v| mask | 1 << self.order[v])
    }

    /// The number of a class' label.
    fn label(&mut self, class: u8) -> u8 {
        let label = self.plan.classes[usize::from(class)];
        if label == NO_LABEL {
            return 0;
        }
        let known = self.labels.iter().position(|&of| of == label);
        let at = known.unwrap_or_else(|| {
            self.labels.push(label);
            self.labels.len() - 1
        });
        at as u8 + 1
    }

    /// The words that make a set, the last of which leaves it in `to`.
    fn make(&mut self, set: &CandidateSet) -> Vec<Word> {
        let mut stored = set.parent.and_then(|parent| self.stored[parent]);
        let bounds = self.mask(bits(set.bounds));
        let label = self.label(set.class);
        let lists = set.list.iter().map(|list| (list.of, false));
        let without = set.subtract.iter().map(|&of| (of, true));
        let mut words = vec![];
        for (of, difference) in lists.chain(without) {
            let to = self.sets as u8;
            self.sets += 1;
            words.push(Word {
                kind: Kind::Make,
                difference,
                pairs: false,
                stored,
                streams: Some(self.order[of]),
                to,
                bounds,
                conflicts: 0,
                label,
                term: Term::Sum,
            });
            stored = Some(to);
        }
        words
    }

    /// A word that goes along, or counts, what a source says of a set that is stored.
    fn look(&self, kind: Kind, source: &Source) -> Word {
        Word {
            kind,
            difference: false,
            pairs: false,
            stored: self.stored[source.set],
            streams: None,
            to: 0,
            bounds: self.mask(bits(source.bounds)),
            conflicts: self.mask(source.conflicts.iter().copied()),
            label: 0, // that of the set's members is known
            term: Term::Sum,
        }
    }

    /// The words after a step; for the last one, with the counted set. `false` if the intersection of two sets would need
    /// another set.
    fn step(&mut self, step: &Step, end: Option<&Chain<'_>>) -> bool {
        let (mut count, mut single) = (None, false);
        let measured = end.and_then(|end| end.measured);
        for &number in step.sets.iter().chain(&measured) {
            let mut words = self.make(&self.plan.sets[number]);
            self.stored[number] = words.last().map(|word| word.to);
            // What is counted at once needn't be stored.
            if end.is_some_and(|end| end.source.set == number) {
                count = words.pop();
                single = words.is_empty();
            }
            self.words.extend(words);
        }
        let Some(end) = end else { return true };
        let look = self.look(Kind::Count, end.source);
        let one = match count {
            None => Word { pairs: end.pairs, ..look },
            Some(last) => Word {
                kind: Kind::Count,
                pairs: end.pairs,
                to: 0,
                bounds: last.bounds | look.bounds,
                conflicts: look.conflicts,
                ..last
            },
        };
        let Some(other) = end.other else {
            self.words.push(one);
            return true;
        };
        let other = self.look(Kind::Count, other);
        // Those of both: the other's members that the last word of the one leaves.
        let both = Word {
            stored: other.stored,
            bounds: one.bounds | other.bounds,
            conflicts: one.conflicts | other.conflicts,
            ..one
        };
        let terms = [(one, Term::First), (other, Term::Second), (both, Term::Last)];
        self.words.extend(terms.map(|(word, term)| Word { term, ..word }));
        single
    }
}

/// Whether a pattern has as many vertices as a core that places `levels` of them takes.
fn fits(pattern: &Pattern, levels: u32) -> Result<(), String> {
    match (3..=levels as usize + 1).contains(&pattern.vertices()) {
        true => Ok(()),
        false => Err(format!("matches patterns of 3 to {} vertices", levels + 1)),
    }
}

impl Program {
    /// The words of a plan for a core that places up to `levels` vertices.
    ///
    /// # Errors
    /// Unsupported feature, as the end of a sentence that begins with the core's name.
    pub fn of(plan: &SearchPlan, levels: u32) -> Result<Self, String> {
        if plan.sets.iter().any(|s| s.list.is_some_and(|l| l.edge_label != NO_LABEL)) {
            return Err("matches patterns without labels of edges".into());
        }
        let Some(chain) = chain(plan) else {
            return Err("takes plans that are a chain of steps".into());
        };
        if chain.steps.len() > levels as usize {
            return Err(format!("matches patterns of up to {} vertices", levels + 1));
        }
        let mut order = [0; MAX_VERTICES];
        for (at, step) in (0..).zip(&chain.steps) {
            order[step.vertex] = at;
        }
        let stored = vec![None; plan.sets.len()];
        let mut writer = Writer { plan, words: vec![], order, stored, sets: 0, labels: vec![] };
        for (at, step) in chain.steps.iter().enumerate() {
            if at > 0 {
                let Some(source) = &step.source else {
                    return Err("takes plans with one root".into());
                };
                let walk = writer.look(Kind::Walk, source);
                writer.words.push(walk);
            }
            let last = at + 1 == chain.steps.len();
            if !writer.step(step, last.then_some(&chain)) {
                return Err("takes plans that are a chain of steps".into());
            }
        }
        if writer.words.len() > PLAN_WORDS as usize || writer.sets > PLAN_SETS {
            return Err(format!("takes plans of up to {PLAN_WORDS} words and {PLAN_SETS} sets"));
        }
        debug_assert!(writer.labels.len() < PLAN_LABELS as usize, "the root's needs no number");
        let neighbours = plan.pattern.neighbours(chain.steps[0].vertex);
        let root = plan.classes[usize::from(chain.steps[0].class)];
        Ok(Program {
            words: writer.words,
            levels: chain.steps.len() as u32,
            least: neighbours.count_ones() as usize,
            root: (root != NO_LABEL).then_some(root),
            labels: writer.labels,
            placed: chain.steps.iter().map(|step| step.vertex).collect(),
            factor: plan.factor * chain.times,
            automorphisms: plan.automorphisms,
        })
    }

    /// The words that count the occurrences of a pattern: of the plan that counts, or if that isn't a
    /// chain of the plan that meets every embedding.
    ///
    /// # Errors
    /// As [`Program::of`].
    pub fn counting(pattern: &Pattern, induced: Induced, levels: u32) -> Result<Self, String> {
        Program::first(pattern, levels, |emit| SearchPlan::of(pattern, induced, false, emit))
    }

    /// The same, of the plans that are best by what is known of a graph.
    ///
    /// # Errors
    /// As [`Program::of`].
    pub fn estimated(
        pattern: &Pattern,
        induced: Induced,
        levels: u32,
        estimates: &Estimates,
    ) -> Result<Self, String> {
        let (space, induced) = (&ByLabel::new(pattern), induced == Induced::Vertex);
        let planner = Planner { pattern, space, estimates, induced, limit: None };
        Program::first(pattern, levels, |emit| planner.best(false, emit))
    }

    /// The words that list the occurrences of a pattern, or its mappings: of the plan that meets each of them, the
    /// best by `estimates` if there are some.
    ///
    /// # Errors
    /// As [`Program::of`].
    pub fn listing(
        pattern: &Pattern,
        (induced, mappings): (Induced, bool),
        levels: u32,
        estimates: Option<&Estimates>,
    ) -> Result<Self, String> {
        fits(pattern, levels)?;
        let plan = match estimates {
            None => SearchPlan::of(pattern, induced, mappings, true),
            Some(estimates) => {
                let (space, induced) = (&ByLabel::new(pattern), induced == Induced::Vertex);
                Planner { pattern, space, estimates, induced, limit: None }.best(mappings, true)
            }
        };
        let mut program = Program::of(&plan, levels)?;
        let last = program.words.last_mut().filter(|word| word.kind == Kind::Count && !word.pairs);
        let Some(last) = last.filter(|_| program.placed.len() + 1 == pattern.vertices()) else {
            return Err("takes plans that meet one embedding after another".into());
        };
        last.kind = Kind::List;
        last.pairs = pattern.vertices() > RECORD_NARROW as usize;
        Ok(program)
    }

    /// Of a program that lists: the pattern's vertices in the order of a record, the last that gets its image first.
    pub fn listed(&self) -> Vec<usize> {
        let last = (0..=self.placed.len()).find(|v| !self.placed.contains(v));
        last.into_iter().chain(self.placed.iter().copied()).collect()
    }

    fn first(
        pattern: &Pattern,
        levels: u32,
        plan: impl Fn(bool) -> SearchPlan,
    ) -> Result<Self, String> {
        fits(pattern, levels)?;
        Program::of(&plan(false), levels).or_else(|_| Program::of(&plan(true), levels))
    }

    /// Occurrences, from the sum of all clusters.
    pub fn occurrences(&self, sum: u128) -> u128 {
        sum * self.factor / self.automorphisms
    }

    /// Whether what is counted once is a number of whole occurrences, so that sums of some roots are, too.
    pub fn is_whole(&self) -> bool {
        self.factor.is_multiple_of(self.automorphisms)
    }

    /// Mappings, from the sum of all clusters.
    pub fn mappings(&self, sum: u128) -> u128 {
        sum * self.factor
    }

    /// The order that it wants an image in.
    pub fn order(&self) -> Order {
        if self.labels.is_empty() { Order::View } else { Order::Labels }
    }

    /// The ids of the labels and the words as whole beats of the in-stream. `range` says which ids, from the first to
    /// below the second, vertices with a label have.
    pub fn beats(&self, machine: &Accelerator, range: impl Fn(Label) -> [u32; 2]) -> Vec<u8> {
        let field =
            |part, name| machine.streams.input.field(part, name).expect("a description is checked");
        let words = self.words.len().next_multiple_of(WORDS_A_BEAT as usize);
        let mut bytes = vec![0; (PLAN_LABELS as usize + words) * 8];
        let (labels, words) = bytes.split_at_mut(PLAN_LABELS as usize * 8);
        let any = [0, (1 << ID_BITS) - 1];
        let ranges = std::iter::once(any).chain(self.labels.iter().map(|&label| range(label)));
        for (to, [low, high]) in labels.chunks_exact_mut(8).zip(ranges) {
            field("label", "low").set(to, low.into());
            field("label", "high").set(to, high.into());
        }
        for (to, word) in words.chunks_exact_mut(8).zip(&self.words) {
            for (name, value) in [
                ("kind", word.kind.number()),
                ("difference", word.difference.into()),
                ("pairs", word.pairs.into()),
                ("stored", word.stored.is_some().into()),
                ("streams", word.streams.is_some().into()),
                ("of", word.streams.unwrap_or(0).into()),
                ("from", word.stored.unwrap_or(0).into()),
                ("to", word.to.into()),
                ("bounds", word.bounds.into()),
                ("conflicts", word.conflicts.into()),
                ("label", word.label.into()),
                ("term", word.term as u64),
            ] {
                field("word", name).set(to, value);
            }
        }
        bytes
    }

    /// The ids of labels and the words of such beats, these read up to the first that counts or lists.
    ///
    /// # Panics
    /// If a word has no kind.
    pub fn read(machine: &Accelerator, beats: &[u8]) -> (Vec<[u32; 2]>, Vec<Word>) {
        let field = |part, name, bytes: &[u8]| {
            machine.streams.input.field(part, name).map_or(0, |field| field.get(bytes))
        };
        let (labels, beats) = beats.split_at(PLAN_LABELS as usize * 8);
        let range = |bytes| ["low", "high"].map(|name| field("label", name, bytes) as u32);
        let ranges = labels.chunks_exact(8).map(range).collect();
        let mut words = vec![];
        for bytes in beats.chunks_exact(8) {
            let get = |name| field("word", name, bytes);
            let kind = Kind::of(get("kind")).expect("a word of a kind");
            words.push(Word {
                kind,
                difference: get("difference") == 1,
                pairs: get("pairs") == 1,
                stored: (get("stored") == 1).then(|| get("from") as u8),
                streams: (get("streams") == 1).then(|| get("of") as u8),
                to: get("to") as u8,
                bounds: get("bounds") as u8,
                conflicts: get("conflicts") as u8,
                label: get("label") as u8,
                term: Term::ALL[get("term") as usize % Term::ALL.len()],
            });
            let goes_on = [1, 2].contains(&get("term"));
            if matches!(kind, Kind::Count | Kind::List) && !goes_on {
                break;
            }
        }
        (ranges, words)
    }
}

#[cfg(test)]
mod tests;
