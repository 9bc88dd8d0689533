//! GAMMA (Hu et al.): gains of grouping, filter and layout, and copied pages.

use gramer_base::choice::Choice;
use gramer_base::error::Result;
use gramer_gpu::{Ablation, Access, Settings, Strategy, TableSettings};
use gramer_graph::generate::{Model, Recipe, generate};
use gramer_graph::{Builder, Graph};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};

use super::point::{NamedSettings, Point, points_file, speed_up};
use super::{Input, Lab};
use crate::paper::report::{Answer, Block, Cases, Claim, Section, far, near, span};

pub(super) fn table(name: &str, memory: Option<u64>, table: TableSettings) -> NamedSettings {
    let strategy = Some(Strategy::Table);
    (name.into(), Settings { strategy, memory, table, ..Settings::default() })
}

/// A mechanism: what is left out, the paper's figure, the claim, how many times as fast, and whether that is an average.
type MechanismClaim = (&'static str, &'static str, &'static str, f64, bool);

const MECHANISMS: [MechanismClaim; 3] = [
    (
        "without groups",
        "GAMMA, figure 26",
        "prefix groups make cliques 1.254 times as fast on average",
        1.254,
        true,
    ),
    (
        "without all",
        "GAMMA, figure 32",
        "groups, filter and layout make intersections of cliques at least 1.2 times as fast",
        1.2,
        false,
    ),
    (
        "without layout",
        "GAMMA, figure 34",
        "the layout makes the search 1.19 times as fast on average",
        1.19,
        true,
    ),
];
const OF_MATCHING: [MechanismClaim; 2] = [
    (
        "without groups",
        "GAMMA, figure 27",
        "prefix groups make matching 1.254 times as fast on average",
        1.254,
        true,
    ),
    (
        "without all",
        "GAMMA, figure 33",
        "groups, filter and layout make intersections of matching at least 1.04 times as fast",
        1.04,
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
    let own =
        |name: &str, without| table(name, None, TableSettings { without, ..Default::default() });
    let settings = [
        own("all", none),
        own(MECHANISMS[0].0, Ablation { groups: true, ..none }),
        own(MECHANISMS[1].0, Ablation { groups: true, filter: true, layout: true, ..none }),
        own(MECHANISMS[2].0, Ablation { layout: true, ..none }),
        own("without filter", Ablation { filter: true, ..none }),
    ];
    // Each is a separate program, which takes seconds to build on a processor behind OpenCL.
    let settings = if lab.options.quick { &settings[..2] } else { &settings[..] };
    let tasks = if lab.options.quick { &tasks[..1] } else { tasks };
    let mut cases = vec![Cases::default(); claims.len()];
    for input in lab.plain.iter().filter(|input| input.name != "citeseer") {
        for (name, task) in tasks {
            let task = std::slice::from_ref(task);
            let points = lab.compare(experiment, input, (name, task), settings)?;
            for (cases, without) in cases.iter_mut().zip(&points[1..]) {
                cases.add(speed_up(without.as_ref(), points[0].as_ref()));
            }
        }
    }
    let claims = claims.iter().zip(cases).map(|(&(name, place, claim, times, average), cases)| {
        let bar = near(times, 1.0);
        let each = span(&cases.values, 2);
        let held = if average { cases.mean() } else { cases };
        let why = match average {
            true => format!("whole runs {name}; the cases: {each} times"),
            false => {
                format!("whole runs {name}; the paper times intersections alone")
            }
        };
        Claim {
            place,
            claim,
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

/// Budget for [`large`], an eighth of its lists; offsets and tables take most of it.
const LARGE_BUDGET: u64 = 32 << 20;

/// A graph whose lists are many times the budget. Nothing is generated where nothing is measured.
fn large(lab: &Lab<'_>) -> Result<Input> {
    let model = Model::Rmat { scale: 20, edge_factor: 16, a: 0.57, b: 0.19, c: 0.19 };
    let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
    let graph = match lab.options.verdicts {
        true => Builder::new().build(),
        false => generate(&recipe, lab.context)?,
    };
    Ok(Input { name: "rmat20".into(), graph })
}

const POLICIES: &str = "The policies of the setting `access`. *Hot*: share of the entries read on the device. *Hits*: \
    share of the reads counted before extensions, and that of the best set of pages fixed for the whole run; `cold` \
    counts the first extension only. `rank`, GRAMER's high-priority prefix as pages, is no part of GAMMA.";
const POLICY_HEADER: [&str; 5] =
    ["graph and policy", "ms", "hot, %", "hits, %", "best fixed set, %"];

/// Row of a policy in the table of figure 28.
fn policy_row(point: &Point) -> Vec<String> {
    let share =
        |share: Option<f64>| share.map_or("–".into(), |share| format!("{:.2}", 100.0 * share));
    vec![
        format!("{}, {}", point.graph, point.setting),
        format!("{:.2}", 1e3 * point.seconds),
        share(point.hot),
        share(point.hits),
        share(point.fixed),
    ]
}

/// Figure 28.
pub fn access(lab: &Lab<'_>) -> Result<Vec<Section>> {
    // Claims compare the first with the third.
    let modes = [Access::Heat, Access::Recent, Access::Cold, Access::Rank];
    let (mut cases, mut again, mut rows) = (Cases::default(), Cases::default(), vec![]);
    let large = if lab.options.quick { None } else { Some(large(lab)?) };
    let own = lab.plain.iter().filter(|input| input.name != "citeseer");
    let budgets = own.map(|input| (input, small(&input.graph, 1)));
    for (input, memory) in budgets.chain(large.iter().map(|input| (input, LARGE_BUDGET))) {
        let memory = Some(memory);
        let settings = modes.map(|access| {
            table(access.name(), memory, TableSettings { access, ..Default::default() })
        });
        let task = [Task::Clique { k: 4 }];
        let points = lab.compare("figure 28", input, ("cliques of 4", &task), &settings)?;
        // A graph that fits all the same has no pages, and is no case.
        let paged = points[0].as_ref().is_none_or(|p| p.hot.is_some());
        if paged {
            cases.add(speed_up(points[2].as_ref(), points[0].as_ref()));
        }
        again.add(points[0].as_ref().and_then(|p| p.again));
        rows.extend(points.iter().flatten().map(policy_row));
    }
    let bar = near(1.51, 1.0);
    let claim = Claim {
        place: "GAMMA, figure 28",
        claim: "pages by heat are 51.0 % faster on average than reading all over the bus",
        bar: format!("from {bar:.2} times on"),
        answer: Answer::Any(cases.mean().finding(|t| t >= bar, 2, " times")),
        why: format!(
            "the cases: {} times; OpenCL has no demand paging, which the paper compares as well",
            span(&cases.values, 2)
        ),
    };
    let pages = Claim {
        place: "GAMMA, figure 7",
        claim: "over half of the hot pages of an extension were hot in earlier ones",
        bar: "above half of the pages".into(),
        answer: Answer::Any(again.finding(|share| share > 0.5, 2, " of the pages")),
        why: "cliques; as many pages as have room".into(),
    };
    Ok(vec![Section {
        title: "GAMMA, figures 7 and 28: which pages are copied".into(),
        blocks: vec![
            Block::Text(POLICIES.into()),
            Block::Table { header: POLICY_HEADER.map(String::from).to_vec(), rows },
            points_file(),
        ],
        claims: vec![claim, pages],
    }])
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
