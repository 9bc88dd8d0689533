//! The page `docs/reference/methods.md`: which method of each device answers which question.

use std::fmt::Write as _;

use gramer_base::choice::Choice;
use gramer_engine::{Answer, Ask, Engine, Needs, Precision, Query};
use gramer_pattern::task::{Induced, Mappings, Measure, SizeLimit, Task};
use gramer_pattern::{Pattern, Statistic};

use crate::device;

/// The columns of the page.
pub const DEVICES: [&str; 5] = ["cpu", "reference", "gpu", "emulator", "emulator:set-small"];

/// Terms and needs with the letter that stands for them.
pub const TERMS: [(Needs, &str); 5] = [
    (Needs::LIST, "L"),
    (Needs::SHARE, "S"),
    (Needs::SHARE.and(Needs::BY_IDS), "I"),
    (Needs::PEERS, "P"),
    (Needs::MEMORY, "M"),
];

/// One task of each kind and of each size that some device treats in its own way.
pub fn tasks() -> Vec<Task> {
    let motif = |k, induced| Task::Motif { k, induced };
    let fsm = |limit, measure| Task::Fsm { limit, support: 2, measure };
    let mut labelled = Pattern::clique(3);
    labelled.set_vertex_label(0, 1);
    let mut open = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    open.set_absent(0, 2);
    let two = Pattern::from_edges(4, &[(0, 1), (2, 3)]);
    let matched = |pattern| Task::Match { pattern, induced: Induced::Edge, mappings: None };
    let sizes = [3, 4, 5, 6, 7, 8].map(|k| motif(k, Induced::Vertex));
    let cliques = [3, 4, 8, 16].map(|k| Task::Clique { k });
    cliques
        .into_iter()
        .chain([Task::CliqueSizes { smallest: 3, largest: 8 }])
        .chain([Task::MaximalCliques, Task::MaximumClique])
        .chain(Statistic::ALL.iter().map(|(statistic, ..)| Task::Statistic(*statistic)))
        .chain(sizes)
        .chain([motif(4, Induced::Edge), motif(6, Induced::Edge)])
        .chain([
            fsm(SizeLimit::MaxVertices(3), Measure::Embeddings),
            fsm(SizeLimit::MaxEdges(2), Measure::Mni),
            fsm(SizeLimit::MaxEdges(2), Measure::Transactions),
            fsm(SizeLimit::MaxEdges(2), Measure::Instances),
            matched(Pattern::clique(4)),
            matched(labelled),
            matched(open),
            matched(two),
            Task::Match {
                pattern: Pattern::from_edges(3, &[(0, 1), (1, 2)]),
                induced: Induced::Edge,
                mappings: Some(Mappings::Homomorphism),
            },
        ])
        .collect()
}

/// Forms of answers with their names.
pub fn answers() -> [(Answer, &'static str); 4] {
    let precision = Precision { relative: 0.05, seed: 1 };
    [
        (Answer::Counts, "counts"),
        (Answer::PerVertex, "per vertex"),
        (Answer::PerEdge, "per edge"),
        (Answer::Estimate(precision), "estimate"),
    ]
}

/// Method of a device for a question, and the letters of the terms under which one fits.
fn cell(engine: &dyn Engine, query: &Query) -> String {
    let fits = |needs: Needs| {
        let query = query.clone().list(needs.has(Needs::LIST));
        let terms = needs.without(Needs::LIST | Needs::MEMORY);
        let memory = needs.has(Needs::MEMORY).then_some(1 << 40);
        engine.choose(&Ask::new(&query).terms(terms).memory(memory)).fits
    };
    let Some(first) = fits(Needs::NONE).into_iter().next() else { return "–".into() };
    let letters: String =
        TERMS.iter().filter(|(needs, _)| !fits(*needs).is_empty()).map(|(_, l)| *l).collect();
    if letters.is_empty() { first.method } else { format!("{} {letters}", first.method) }
}

/// A question of several sizes and the same of one more: "cliques of 3, 4 vertices". `None` if they differ otherwise.
fn of_sizes(several: &str, more: &str) -> Option<String> {
    const UNIT: &str = " vertices";
    let parts = |what: &str| {
        let (subject, sizes) = what.strip_suffix(UNIT)?.rsplit_once(" of ")?;
        let plain = sizes.split(", ").all(|size| size.parse::<usize>().is_ok());
        plain.then(|| (subject.to_string(), sizes.to_string()))
    };
    let ((subject, sizes), (same, size)) = (parts(several)?, parts(more)?);
    (subject == same).then(|| format!("{subject} of {sizes}, {size}{UNIT}"))
}

/// The page.
pub fn page() -> String {
    let options = device::DeviceOptions::default();
    let engines: Vec<_> = DEVICES.iter().map(|name| options.unopened(name)).collect();
    let mut text = String::from(
        "# Methods\n\n\
         The method that answers a question on each device, as `gramer plan` chooses it. `gramer plan --methods`\n\
         writes this page, and a test compares it. A dash or a missing column: the device has no method for the\n\
         question. Letters after a method name the terms under which the device has some method for it:\n\n\
         | letter | term |\n|---|---|\n\
         | L | every embedding is listed |\n\
         | S | the work is divided into shares among devices of one kind |\n\
         | I | the work is divided into shares among devices of several kinds |\n\
         | P | devices or processes join their results phase by phase |\n\
         | M | the memory of the host is limited |\n\n\
         `gramer plan motif -k 5 GRAPH --device gpu` prints all methods of a device with the reasons of those\n\
         that don't fit. GPUs of one hardware join cliques and motifs in phases, too.\n",
    );
    for (answer, name) in answers() {
        let mut rows: Vec<(String, Vec<String>)> = vec![];
        for task in tasks() {
            let what = task.info().subject;
            let kind = match &task {
                Task::Match { pattern, .. } if pattern.has_vertex_labels() => ", labelled",
                Task::Match { pattern, .. } if pattern.has_absences() => ", with absent pairs",
                Task::Match { pattern, .. } if !pattern.is_connected() => ", of two components",
                Task::Match { mappings: Some(_), .. } => ", homomorphisms or edge isomorphisms",
                _ => "",
            };
            let what = what + kind;
            let query = Query::new(task).answer(answer);
            let cells = engines.iter().map(|engine| match engine {
                Ok(engine) => cell(engine.as_ref(), &query),
                Err(error) => error.to_string(),
            });
            let cells: Vec<String> = cells.collect();
            if cells.iter().all(|cell| cell == "–") {
                continue;
            }
            // Sizes with the same methods share a row.
            if let Some((last, same)) = rows.last_mut()
                && *same == cells
                && let Some(both) = of_sizes(last, &what)
            {
                *last = both;
                continue;
            }
            rows.push((what, cells));
        }
        let has = |at: &usize| rows.iter().any(|(_, cells)| cells[*at] != "–");
        let columns: Vec<usize> = (0..DEVICES.len()).filter(has).collect();
        let _ = write!(text, "\n## Answer: {name}\n\n| question |");
        columns.iter().for_each(|&at| text.push_str(&format!(" `{}` |", DEVICES[at])));
        text.push_str("\n|---|");
        columns.iter().for_each(|_| text.push_str("---|"));
        text.push('\n');
        for (what, cells) in &rows {
            let cells: Vec<&str> = columns.iter().map(|&at| &*cells[at]).collect();
            let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
        }
    }
    text.push_str("\n## Statistics\n\nTasks without parameters.\n\n");
    text.push_str("| task | definition |\n|---|---|\n");
    for (statistic, name, _) in Statistic::ALL {
        let _ = writeln!(text, "| `mine {name}` | {} |", statistic.info().meaning);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_engine::division::TERMS as DIVISIONS;
    use gramer_engine::{Scheme, reason::refusal};

    /// Tasks × answers × terms × devices: a method and the scheme of its terms, or reasons that can be read.
    #[test]
    fn every_question_has_a_method_or_a_reason() {
        let options = device::DeviceOptions::default();
        for name in DEVICES {
            let engine = options.unopened(name).unwrap();
            for task in tasks() {
                for (answer, _) in answers() {
                    for list in [false, true] {
                        let query = Query::new(task.clone()).answer(answer).list(list);
                        for terms in DIVISIONS.into_iter().chain([Needs::NONE]) {
                            for memory in [None, Some(1 << 40)] {
                                let ask = Ask::new(&query).terms(terms).memory(memory);
                                let choices = engine.choose(&ask);
                                let what = format!("{name}, {query:?}, {terms:?}, {memory:?}");
                                for plan in &choices.fits {
                                    let ids =
                                        matches!(plan.scheme, Scheme::Ids { ascending: false });
                                    assert!(ids || !terms.has(Needs::BY_IDS), "{what}: {plan:?}");
                                }
                                assert!(
                                    !(choices.fits.is_empty() && choices.not.is_empty()),
                                    "{what}"
                                );
                                let said = refusal(name, &ask, &choices).to_string();
                                assert!(said.contains(&format!("`{name}`")), "{what}: {said}");
                            }
                        }
                    }
                }
            }
        }
    }

    fn sorted(mut names: Vec<String>) -> Vec<String> {
        names.sort();
        names
    }

    /// The names of all tasks, which serde lists where it knows none.
    fn names() -> Vec<String> {
        let unknown = serde_json::json!({ "task": "no such task" });
        let said = serde_json::from_value::<Task>(unknown).unwrap_err().to_string();
        let (_, known) = said.split_once("expected one of ").expect(&said);
        let known = known.split(", ").map(|name| name.trim_matches('`'));
        let names = known.flat_map(|name| match name {
            "statistic" => Statistic::ALL.iter().map(|(_, name, _)| *name).collect(),
            _ => vec![name],
        });
        sorted(names.map(String::from).collect())
    }

    #[test]
    fn the_page_has_every_task_and_the_schema_every_measure() {
        let here: Vec<&str> = tasks().iter().map(Task::name).collect();
        let missing: Vec<String> =
            names().into_iter().filter(|name| !here.contains(&&**name)).collect();
        assert!(missing.is_empty(), "add them to `tasks`: {missing:?}");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/answer.schema.json");
        let schema: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let listed = |field: &str| {
            let names = schema["properties"][field]["enum"].as_array().expect(field).iter();
            sorted(names.map(|name| name.as_str().expect("a name").to_string()).collect())
        };
        let measures = Measure::ALL.iter().map(|(_, name, _)| name.to_string()).collect();
        assert_eq!(listed("measure"), sorted(measures), "{path}");
    }

    #[test]
    fn the_page_is_as_the_tables_are() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/methods.md");
        let kept = std::fs::read_to_string(path).unwrap();
        assert_eq!(kept, page(), "it is old: gramer plan --methods > docs/reference/methods.md");
    }
}
