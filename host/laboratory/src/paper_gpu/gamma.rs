//! GAMMA (Hu et al.): what grouping, the filter and the layout are worth, and which pages are copied.

use gramer_gpu::{Access, Settings, Strategy, TableSettings, Without};
use gramer_graph::Graph;
use gramer_graph::error::Result;
use gramer_pattern::task::Task;

use super::Lab;
use super::point::{Named, shown, speed_up};
use crate::paper::report::{Answer, Block, Cases, Claim, Section, near};

fn table(name: &str, memory: Option<u64>, table: TableSettings) -> Named {
    let strategy = Some(Strategy::Table);
    (name.into(), Settings { strategy, memory, table, ..Settings::default() })
}

pub fn sections(lab: &Lab<'_>) -> Result<Vec<Section>> {
    Ok(vec![mechanisms(lab)?, access(lab)?])
}

/// What is left out; the paper's figure, the claim, and how many times as fast it makes cliques at least.
const MECHANISMS: [(&str, &str, &str, f64); 3] = [
    ("without groups", "GAMMA, figure 26", "prefix groups make cliques 1.254 times as fast", 1.254),
    (
        "without filter",
        "GAMMA, figure 32",
        "the three stages make cliques at least 1.2 times as fast",
        1.2,
    ),
    ("without layout", "GAMMA, figure 34", "the layout makes the search 1.19 times as fast", 1.19),
];

/// Figures 26, 27 and 32 to 34.
fn mechanisms(lab: &Lab<'_>) -> Result<Section> {
    let none = Without::default();
    let own =
        |name: &str, without| table(name, None, TableSettings { without, ..Default::default() });
    let settings = [
        own("all", none),
        own(MECHANISMS[0].0, Without { groups: true, ..none }),
        own(MECHANISMS[1].0, Without { filter: true, ..none }),
        own(MECHANISMS[2].0, Without { layout: true, ..none }),
    ];
    // Each is a program of its own, which takes a processor seconds to build.
    let settings = if lab.options.quick { &settings[..2] } else { &settings[..] };
    let (mut rows, mut cases) = (vec![], [(); 3].map(|()| Cases::default()));
    let sizes: &[usize] = if lab.options.quick { &[4] } else { &[4, 5] };
    for input in lab.plain.iter().filter(|input| input.name != "citeseer") {
        for &k in sizes {
            let name = format!("cliques of {k}");
            let task = [Task::Clique { k }];
            let points = lab.compare("figure 26", input, (&name, &task), settings)?;
            for (cases, without) in cases.iter_mut().zip(&points[1..]) {
                cases.add(speed_up(without.as_ref(), points[0].as_ref()));
            }
            let own = points.iter().map(|p| shown(p.as_ref()));
            rows.push(std::iter::once(format!("{}, {name}", input.name)).chain(own).collect());
        }
    }
    let names = settings.iter().map(|(name, _)| format!("{name}, ms"));
    let header = std::iter::once("graph, task".to_string()).chain(names).collect();
    let claims = MECHANISMS.iter().zip(cases).map(|(&(name, place, claim, times), cases)| {
        let bar = near(times, 1.0);
        Claim {
            place,
            claim,
            bar: format!("from {bar:.2} times on"),
            answer: Answer::Any(cases.finding(|t| t >= bar, 2, " times")),
            why: format!("{name} against all; the paper's numbers are of other graphs and a V100"),
        }
    });
    Ok(Section {
        title: "GAMMA, figures 26, 27 and 32 to 34: mechanisms of the extension".into(),
        claims: claims.collect(),
        blocks: vec![Block::Table { header, rows }],
    })
}

/// A budget that has room for the offsets and for less than half of the lists.
fn small(graph: &Graph) -> u64 {
    let (vertices, edges) = (graph.vertices() as u64, graph.edges() as u64);
    4 * (vertices + edges) + (24 << 10)
}

/// Figure 28.
fn access(lab: &Lab<'_>) -> Result<Section> {
    let modes = [("heat", Access::Heat), ("recent", Access::Recent), ("cold", Access::Cold)];
    let (mut rows, mut cases) = (vec![], Cases::default());
    for input in lab.plain.iter().filter(|input| input.name != "citeseer") {
        let memory = Some(small(&input.graph));
        let settings = modes.map(|(name, access)| {
            table(name, memory, TableSettings { access, ..Default::default() })
        });
        let task = [Task::Clique { k: 4 }];
        let points = lab.compare("figure 28", input, ("cliques of 4", &task), &settings)?;
        // A graph that fits all the same has no pages, and is no case.
        let paged = points[0].as_ref().is_none_or(|p| p.hot.is_some());
        if paged {
            cases.add(speed_up(points[2].as_ref(), points[0].as_ref()));
        }
        let own = points.iter().map(|p| {
            let hot = p.as_ref().and_then(|p| p.hot);
            let hot = hot.map_or("–".into(), |hot| format!("{:.1} %", 100.0 * hot));
            format!("{} ({hot})", shown(p.as_ref()))
        });
        rows.push(std::iter::once(input.name.clone()).chain(own).collect());
    }
    let names = modes.iter().map(|(name, _)| format!("{name}, ms (read hot)"));
    let header = std::iter::once("graph".to_string()).chain(names).collect();
    let bar = near(1.51, 1.0);
    let claim = Claim {
        place: "GAMMA, figure 28",
        claim: "pages by heat are 51.0 % faster than reading all over the bus",
        bar: format!("from {bar:.2} times on"),
        answer: Answer::Any(cases.finding(|t| t >= bar, 2, " times")),
        why:
            "the paper's comparison with demand paging (47.4 %) can't be repeated: OpenCL has none"
                .into(),
    };
    Ok(Section {
        title: "GAMMA, figure 28: which pages are copied".into(),
        blocks: vec![Block::Table { header, rows }],
        claims: vec![claim],
    })
}
