//! GAMMA (Hu et al.): gains of grouping, filter and layout, and copied pages.

use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};
use gramer_gpu::{Ablation, Access, Settings, Strategy, TableSettings};
use gramer_graph::generate::{Model, Recipe, generate};
use gramer_graph::{Builder, Graph};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};

use super::point::{NamedSettings, Point, at_least, kernel_speed_up, points_file, speed_up};
use super::{Input, Lab};
use crate::paper::report::{Answer, Block, Cases, Claim, Section, far, near, span};

pub(super) fn table(name: &str, memory: Option<u64>, table: TableSettings) -> NamedSettings {
    let strategy = Some(Strategy::Table);
    (name.into(), Settings { strategy, memory, table, ..Settings::default() })
}

/// A claim of what mechanisms are worth.
#[derive(Clone, Copy)]
struct MechanismClaim {
    /// The setting without them.
    without: &'static str,
    place: &'static str,
    claim: &'static str,
    /// How many times as fast they make it.
    times: f64,
    measure: Measure,
    /// Whether that is the average of the cases, or of each.
    average: bool,
}

/// Measured part of a run.
#[derive(Clone, Copy)]
enum Measure {
    /// All of it.
    Run,
    /// The kernel that intersects, on the same tables in each setting.
    Intersections,
}

const fn claim_of(
    [without, place, claim]: [&'static str; 3],
    times: f64,
    measure: Measure,
    average: bool,
) -> MechanismClaim {
    MechanismClaim { without, place, claim, times, measure, average }
}

const WITHOUT: [&str; 4] = ["without groups", "without all", "without layout", "without filter"];

const MECHANISMS: [MechanismClaim; 3] = [
    claim_of(
        [
            WITHOUT[0],
            "GAMMA, figure 26",
            "prefix groups make cliques 1.254 times as fast on average",
        ],
        1.254,
        Measure::Run,
        true,
    ),
    claim_of(
        [
            WITHOUT[1],
            "GAMMA, figure 32",
            "groups, filter and layout make intersections of cliques at least 1.2 times as fast",
        ],
        1.2,
        Measure::Intersections,
        false,
    ),
    claim_of(
        [
            WITHOUT[2],
            "GAMMA, figure 34",
            "the layout makes the search 1.19 times as fast on average",
        ],
        1.19,
        Measure::Run,
        true,
    ),
];
const OF_MATCHING: [MechanismClaim; 2] = [
    claim_of(
        [
            WITHOUT[0],
            "GAMMA, figure 27",
            "prefix groups make matching 1.254 times as fast on average",
        ],
        1.254,
        Measure::Run,
        true,
    ),
    claim_of(
        [
            WITHOUT[1],
            "GAMMA, figure 33",
            "groups, filter and layout make intersections of matching at least 1.04 times as fast",
        ],
        1.04,
        Measure::Intersections,
        false,
    ),
];

/// Figures 26, 32 and 34.
pub fn mechanisms(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let sizes: &[usize] = if lab.options.quick { &[4] } else { &[4, 5] };
    let tasks: Vec<(String, Task)> =
        sizes.iter().map(|&k| (format!("cliques of {k}"), Task::Clique { k })).collect();
    let title = "GAMMA, figures 26, 32 and 34: mechanisms of the extension";
    without_each(lab, ("figure 26", title), &tasks, &MECHANISMS)
}

/// A pattern's name, its number of vertices, and its edges.
type NamedEdges = (&'static str, usize, &'static [(usize, usize)]);

/// Patterns of the matching tasks; the text of the paper doesn't have the drawings of its three.
pub(super) const NAMED: [NamedEdges; 3] = [
    ("cycle of 4", 4, &[(0, 1), (1, 2), (2, 3), (0, 3)]),
    ("diamond", 4, &[(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]),
    (
        "clique of 5 less an edge",
        5,
        &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)],
    ),
];

/// Matching tasks of [`NAMED`].
pub(super) fn patterns() -> Vec<(String, Task)> {
    let task = |vertices, edges: &[_]| Task::Match {
        pattern: Pattern::from_edges(vertices, edges),
        induced: Induced::Edge,
        mappings: None,
    };
    NAMED.iter().map(|&(name, n, edges)| (name.to_string(), task(n, edges))).collect()
}

/// Figures 27 and 33.
pub fn matching(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let title = "GAMMA, figures 27 and 33: the same, subgraph matching";
    without_each(lab, ("figure 27", title), &patterns(), &OF_MATCHING)
}

/// Tasks with all mechanisms and with some left out, and claims of them.
fn without_each(
    lab: &Lab<'_>,
    (experiment, title): (&str, &str),
    tasks: &[(String, Task)],
    claims: &'static [MechanismClaim],
) -> Result<Vec<Section>> {
    let none = Ablation::default();
    let own = |name: &str, without| {
        let (name, settings) = table(name, None, TableSettings { without, ..Default::default() });
        (name, Settings { times: true, ..settings })
    };
    let settings = [
        own("all", none),
        own(WITHOUT[0], Ablation { groups: true, ..none }),
        own(WITHOUT[1], Ablation { groups: true, filter: true, layout: true, ..none }),
        own(WITHOUT[2], Ablation { layout: true, ..none }),
        own(WITHOUT[3], Ablation { filter: true, ..none }),
    ];
    // Each is a separate program, which takes seconds to build on a processor behind OpenCL.
    let settings = if lab.options.quick { &settings[..2] } else { &settings[..] };
    let tasks = if lab.options.quick { &tasks[..1] } else { tasks };
    let mut cases = vec![Cases::default(); claims.len()];
    for input in lab.plain.iter().filter(|input| input.name != "citeseer") {
        for (name, task) in tasks {
            let task = std::slice::from_ref(task);
            let points = lab.compare(experiment, input, (name, task), settings)?;
            for (cases, own) in cases.iter_mut().zip(claims) {
                let at = settings.iter().position(|(name, _)| name == own.without);
                let without = at.and_then(|at| points[at].as_ref());
                let times = match own.measure {
                    Measure::Run => speed_up(without, points[0].as_ref()),
                    Measure::Intersections => kernel_speed_up(without, points[0].as_ref()),
                };
                cases.add(times);
            }
        }
    }
    let claims = claims.iter().zip(cases).map(|(own, cases)| {
        let bar = near(own.times, 1.0);
        let each = span(&cases.values, 2);
        let what = match own.measure {
            Measure::Run => "whole runs",
            Measure::Intersections => "times of the kernel that intersects",
        };
        let (held, why) = match own.average {
            true => (cases.mean(), format!("{what}; the cases: {each} times")),
            false => (cases, what.into()),
        };
        Claim {
            place: own.place,
            claim: own.claim,
            bar: format!("from {bar:.2} times on"),
            answer: Answer::Any(held.finding(|t| t >= bar, 2, " times")),
            why,
        }
    });
    Ok(vec![Section { title: title.into(), claims: claims.collect(), blocks: vec![points_file()] }])
}

/// A budget with room for the offsets and for less than half of the lists, which store each edge `times` times.
fn small(graph: &Graph, times: u64) -> u64 {
    let (vertices, edges) = (graph.vertices() as u64, graph.edges() as u64);
    4 * (vertices + times * edges) + (24 << 10)
}

/// A budget with room for the offsets, a hundredth of the lists of larger neighbours, and as much for tables.
fn hundredth(graph: &Graph) -> u64 {
    let (vertices, edges) = (graph.vertices() as u64, graph.edges() as u64);
    // Of 8 bytes for each page of 2 KiB, and of states of warps that take a sixteenth of it.
    let pages = edges / 64;
    (4 * vertices + 8 * edges / 100 + pages + (64 << 10)) * 17 / 16
}

/// A graph of 16 edges for each of 2^scale vertices. Nothing is generated where nothing is measured.
fn rmat(lab: &Lab<'_>, scale: u32) -> Result<Input> {
    let model = Model::Rmat { scale, edge_factor: 16, a: 0.57, b: 0.19, c: 0.19 };
    let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
    let graph = match lab.options.verdicts {
        true => Builder::new().build(),
        false => generate(&recipe, lab.context)?,
    };
    Ok(Input { name: format!("rmat{scale}"), graph })
}

const POLICIES: &str = "The policies of the setting `access`. *Room*: share of the pages that the device has room for. \
    *Hot*: share of the entries read on the device. *Hits*: share of the reads counted before extensions, and that of \
    the best set of pages fixed for the whole run; `cold` counts the first extension only. `rank`, GRAMER's \
    high-priority prefix as pages, is no part of GAMMA.";
const POLICY_HEADER: [&str; 6] =
    ["graph and policy", "ms", "room, %", "hot, %", "hits, %", "best fixed set, %"];

/// Row of a policy in the table of figure 28.
fn policy_row(point: &Point) -> Vec<String> {
    let share =
        |share: Option<f64>| share.map_or("–".into(), |share| format!("{:.2}", 100.0 * share));
    let least = if point.stopped { "over " } else { "" };
    vec![
        format!("{}, {}", point.graph, point.setting),
        format!("{least}{:.2}", 1e3 * point.seconds),
        share(point.room),
        share(point.hot),
        share(point.hits),
        share(point.fixed),
    ]
}

/// Speed-ups of heat over reading all over the bus, hot pages that were hot before, and a row for each policy.
#[derive(Default)]
struct Policies {
    cases: Cases,
    again: Cases,
    rows: Vec<Vec<String>>,
}

impl Policies {
    /// Counts cliques of `k` with each policy.
    fn measure(&mut self, lab: &Lab<'_>, input: &Input, k: usize, memory: u64) -> Result<()> {
        // Cases compare the first with the third.
        let modes = [Access::Heat, Access::Recent, Access::Cold, Access::Rank];
        let settings = modes.map(|access| {
            let own = TableSettings { access, ..Default::default() };
            table(access.name(), Some(memory), own)
        });
        let name = format!("cliques of {k}");
        let points = lab.compare("figure 28", input, (&name, &[Task::Clique { k }]), &settings)?;
        // A graph that fits all the same has no pages, and is no case.
        let paged = points[0].as_ref().is_none_or(|p| p.hot.is_some());
        if paged {
            self.cases.add(at_least(points[2].as_ref(), points[0].as_ref(), FASTER));
        }
        self.again.add(points[0].as_ref().and_then(|p| p.again));
        self.rows.extend(points.iter().flatten().map(policy_row));
        Ok(())
    }

    /// The section of figure 28.
    fn section(self) -> Section {
        let bar = near(FASTER, 1.0);
        let claim = Claim {
            place: "GAMMA, figure 28",
            claim: "pages by heat are 51.0 % faster on average than reading all over the bus",
            bar: format!("from {bar:.2} times on"),
            answer: Answer::Any(self.cases.mean().finding(|t| t >= bar, 2, " times")),
            why: format!(
                "the cases: {} times; OpenCL has no demand paging, which the paper compares as well",
                span(&self.cases.values, 2)
            ),
        };
        let pages = Claim {
            place: "GAMMA, figure 7",
            claim: "over half of the hot pages of an extension were hot in earlier ones",
            bar: "above half of the pages".into(),
            answer: Answer::Any(self.again.finding(|share| share > 0.5, 2, " of the pages")),
            why: "cliques; as many pages as have room".into(),
        };
        Section {
            title: "GAMMA, figures 7 and 28: which pages are copied".into(),
            blocks: vec![
                Block::Text(POLICIES.into()),
                Block::Table { header: POLICY_HEADER.map(String::from).to_vec(), rows: self.rows },
                points_file(),
            ],
            claims: vec![claim, pages],
        }
    }
}

/// How many times as fast heat is in figure 28, on average.
const FASTER: f64 = 1.51;

/// Figure 28. Triangles alone end in minutes on the largest graph.
pub fn access(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let mut policies = Policies::default();
    for input in lab.plain.iter().filter(|input| input.name != "citeseer") {
        policies.measure(lab, input, 4, small(&input.graph, 1))?;
    }
    let larger: &[(u32, usize)] = if lab.options.quick { &[] } else { &[(20, 4), (24, 3)] };
    for &(scale, k) in larger {
        let input = match rmat(lab, scale) {
            Ok(input) => input,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // The host has too little memory for it.
            Err(error) => {
                lab.failed.borrow_mut().push(format!("figure 28, rmat{scale}: {error}"));
                policies.cases.add(None);
                continue;
            }
        };
        policies.measure(lab, &input, k, hundredth(&input.graph))?;
    }
    Ok(vec![policies.section()])
}

/// Figure 30: the time that the bus takes, as the difference to a device that has the whole graph.
pub fn breakdown(lab: &Lab<'_>) -> Result<Vec<Section>> {
    let mut cases = Cases::default();
    let mut tasks = vec![("cliques of 4".to_string(), Task::Clique { k: 4 })];
    tasks.extend(patterns().into_iter().take(2));
    for input in lab.plain.iter().filter(|input| input.name != "citeseer") {
        for (name, task) in if lab.options.quick { &tasks[..1] } else { &tasks[..] } {
            // Cliques have lists of larger vertices alone.
            let times = if matches!(task, Task::Clique { .. }) { 1 } else { 2 };
            let paged = TableSettings { access: Access::Heat, ..Default::default() };
            let settings = [
                table("resident", None, TableSettings::default()),
                table("paged", Some(small(&input.graph, times)), paged),
            ];
            let task = std::slice::from_ref(task);
            let points = lab.compare("figure 30", input, (name, task), &settings)?;
            let times = speed_up(points[1].as_ref(), points[0].as_ref());
            cases.add(times.map(|times| (1.0 - 1.0 / times).max(0.0)));
        }
    }
    let bar = far(0.271, 0.0);
    let claim = Claim {
        place: "GAMMA, figure 30",
        claim: "transfers between host and device take 27.1 % of the time on average",
        bar: format!("up to {:.1} %", 100.0 * bar),
        answer: Answer::Any(cases.mean().finding(|share| share <= bar, 3, " of the time")),
        why: format!(
            "the difference to a run with the whole graph on the device, with room for less than half of the lists; the cases: {}; \
             kernels don't tell computation from their own memory",
            span(&cases.values, 2)
        ),
    };
    Ok(vec![Section {
        title: "GAMMA, figure 30: time of transfers".into(),
        blocks: vec![points_file()],
        claims: vec![claim],
    }])
}
