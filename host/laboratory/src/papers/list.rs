//! Every experiment of the papers: figures and tables with measurements.

/// An experiment.
#[derive(Debug)]
pub(super) struct Experiment {
    pub paper: &'static str,
    /// Figure or table.
    pub name: &'static str,
    pub what: &'static str,
    /// As the claims of the reports name it.
    pub places: &'static [&'static str],
    /// What of it isn't run, and why.
    pub note: &'static str,
}

const fn of(
    paper: &'static str,
    name: &'static str,
    what: &'static str,
    places: &'static [&'static str],
    note: &'static str,
) -> Experiment {
    Experiment { paper, name, what, places, note }
}

const GRAMER: &str = "GRAMER";
const DUMATO: &str = "DuMato";
const GAMMA: &str = "GAMMA";
const GSI: &str = "GSI";
const SGSI: &str = "SGSI";

const OTHERS: &str = "other programs, not part of the project";
const LARGE: &str = "Mico, Patents, Youtube and LiveJournal aren't at hand";

/// All of them.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    of(
        GRAMER,
        "figure 3",
        "stalls of a CPU for random accesses",
        &["figure 3", "figure 3 (candidate)"],
        "a profiler's stalls of the paper's CPU",
    ),
    of(GRAMER, "figure 5a", "accesses to the top 5 % of the vertices", &["figure 5a"], LARGE),
    of(GRAMER, "figure 5b", "accesses to the top 5 % of the edges", &["figure 5b"], LARGE),
    of(GRAMER, "figure 8a", "accuracy of ON_k", &["figure 8a"], ""),
    of(GRAMER, "figure 8b", "cost of ON_k", &["figure 8b"], ""),
    of(
        GRAMER,
        "table II",
        "resources and clock",
        &["tables II, IV"],
        "no place and route; area by Yosys in docs/results/hardware",
    ),
    of(
        GRAMER,
        "table III",
        "running times",
        &["table III"],
        "24 of 42 rows are of graphs that aren't at hand: samples of graphs of their sizes stand for nine; 5-CF of ca-astroph in ascending order is a sample; 4-MC of ca-astroph takes more than 100 million cycles",
    ),
    of(GRAMER, "figure 11a", "energy", &["figure 11a"], "no power was measured"),
    of(GRAMER, "figure 11b", "share of the preparation", &["figure 11b"], LARGE),
    of(
        GRAMER,
        "figure 12",
        "hit ratios and speed of three memory hierarchies on P2P",
        &[
            "figure 12 (a tenth)",
            "figure 12 (a fifth)",
            "figure 12 (by size)",
            "figure 12 (a tenth, candidate)",
            "figure 12 (a fifth, candidate)",
            "figure 12 (a tenth, replay)",
            "figure 12 (a fifth, replay)",
            "figure 12 (a tenth, candidate, replay)",
            "figure 12 (a fifth, candidate, replay)",
            "figure 12 (by size, replay)",
            "figure 12 (Mico's size, candidate, replay)",
        ],
        "Mico isn't at hand: its size by a replay of accesses on two other graphs",
    ),
    of(
        GRAMER,
        "table IV",
        "clock with ancestor buffers and compaction",
        &["tables II, IV"],
        "no place and route",
    ),
    of(GRAMER, "figure 13a", "speed by slots", &["figure 13a"], LARGE),
    of(GRAMER, "figure 13b", "work stealing", &["figure 13b"], LARGE),
    of(GRAMER, "figure 14a", "speed by τ", &["figure 14a", "figure 14a (candidate)"], LARGE),
    of(GRAMER, "figure 14b", "speed by λ", &["figure 14b", "figure 14b (candidate)"], LARGE),
    of(
        DUMATO,
        "table 6.3",
        "depth-first search by thread, by warp, and by hand",
        &["DuMato, table 6.3"],
        "no program by hand; Mico, DBLP and LiveJournal aren't at hand; larger k take minutes",
    ),
    of(DUMATO, "figure 6.1", "instructions and divergence", &[], "a profiler's counters"),
    of(
        DUMATO,
        "table 6.4",
        "transactions and instructions by thread and by warp",
        &[],
        "a profiler's counters of a search by single threads",
    ),
    of(
        DUMATO,
        "table 6.5",
        "virtual warps",
        &["DuMato, table 6.5"],
        "motifs of 8 of citeseer and of 6 of ca-astroph take minutes; Mico and DBLP aren't at hand",
    ),
    of(
        DUMATO,
        "figure 6.2",
        "active warps over time",
        &["DuMato, figure 6.2"],
        "means of runs, no drawn course",
    ),
    of(
        DUMATO,
        "figure 6.3",
        "active virtual warps over time",
        &[],
        "which virtual warps share a warp isn't recorded",
    ),
    of(
        DUMATO,
        "figure 6.4",
        "threshold and number of threads, motifs",
        &["DuMato, figure 6.4"],
        "",
    ),
    of(
        DUMATO,
        "figure 6.5",
        "threshold and number of threads, cliques",
        &["DuMato, figure 6.5"],
        "",
    ),
    of(
        DUMATO,
        "figure 6.6",
        "active warps by threshold",
        &["DuMato, figure 6.6"],
        "means of runs, no drawn course",
    ),
    of(
        DUMATO,
        "table 6.6",
        "donations",
        &["DuMato, table 6.6"],
        "Mico, DBLP and LiveJournal aren't at hand; cliques of 10 and 11 of ca-astroph take minutes",
    ),
    of(
        DUMATO,
        "table 6.7",
        "balance off and on",
        &["DuMato, table 6.7"],
        "motifs of citeseer alone; larger ones take hours without balance",
    ),
    of(DUMATO, "table 6.8", "other programs", &[], OTHERS),
    of(DUMATO, "table A.1", "compression by cliques", &["DuMato, table A.1"], ""),
    of(
        GAMMA,
        "figure 7",
        "hot pages that stay hot",
        &["GAMMA, figure 7"],
        "cliques, not subgraph matching",
    ),
    of(
        GAMMA,
        "figure 16",
        "peak memory",
        &["GAMMA, figure 16"],
        "rows of embedding tables, counted: tables here reserve memory by rule; other programs aren't part of the project",
    ),
    of(GAMMA, "figures 17 to 23", "against other programs", &[], OTHERS),
    of(
        GAMMA,
        "table 4",
        "frequent patterns by other sorts",
        &["GAMMA, table 4"],
        "the sort alone beside one thread; xtr2sort is another program",
    ),
    of(GAMMA, "figure 24", "density of Kronecker graphs", &["GAMMA, figure 24"], ""),
    of(GAMMA, "figure 25", "number of warps", &["GAMMA, figure 25"], "Pangolin is another program"),
    of(
        GAMMA,
        "figure 26",
        "prefix groups, cliques",
        &["GAMMA, figure 26"],
        "twelve graphs of the paper aren't at hand",
    ),
    of(
        GAMMA,
        "figure 27",
        "prefix groups, subgraph matching",
        &["GAMMA, figure 27"],
        "the paper's three queries are drawings that aren't at hand",
    ),
    of(
        GAMMA,
        "figure 28",
        "pages by heat",
        &["GAMMA, figure 28"],
        "cliques alone, of the paper's three tasks; OpenCL has no demand paging",
    ),
    of(
        GAMMA,
        "figure 29",
        "merge of sorted segments",
        &["GAMMA, figure 29"],
        "xtr2sort is another program",
    ),
    of(
        GAMMA,
        "figure 30",
        "time of computation and of transfers",
        &["GAMMA, figure 30"],
        "transfers as the difference to a run without them; Orkut isn't at hand",
    ),
    of(
        GAMMA,
        "figure 31",
        "compression of embedding tables",
        &["GAMMA, figure 31"],
        "the paper's four graphs aren't at hand",
    ),
    of(
        GAMMA,
        "figure 32",
        "intersections, cliques",
        &["GAMMA, figure 32"],
        "whole runs, not recorded intersections alone",
    ),
    of(
        GAMMA,
        "figure 33",
        "intersections, subgraph matching",
        &["GAMMA, figure 33"],
        "whole runs, not recorded intersections alone",
    ),
    of(GAMMA, "figure 34", "layout without bank conflicts", &["GAMMA, figure 34"], ""),
    of(
        GAMMA,
        "figures 35 and 36",
        "one to eight GPUs",
        &[],
        "one device is measured; docs/results/bench/gpus.md compares two",
    ),
    of(GAMMA, "figures 37 and 38", "several GPUs against other programs", &[], OTHERS),
    of(
        GSI,
        "table 3",
        "steps of the join",
        &["GSI, table 3"],
        "gowalla, patent, road, WatDiv and DBpedia aren't at hand",
    ),
    of(
        GSI,
        "table 4",
        "PCSR against compressed rows",
        &["GSI, table 4"],
        "five graphs aren't at hand",
    ),
    of(
        SGSI,
        "table 5",
        "layers of balance",
        &["SGSI, table 5"],
        "FR, YH and WD aren't at hand: graphs of 10^9 edges",
    ),
    of(GSI, "figure 14", "against other programs", &[], OTHERS),
    of(
        GSI,
        "figure 15",
        "by size of the graph and number of multiprocessors",
        &[],
        "WatDiv isn't at hand; multiprocessors can't be switched off by OpenCL",
    ),
    of(
        GSI,
        "figure 16",
        "by labels and size of the query",
        &["GSI, figure 16"],
        "gowalla isn't at hand",
    ),
    of(
        SGSI,
        "table 6",
        "memory",
        &["SGSI, table 6"],
        "the device alone, of one graph; other programs and five graphs aren't at hand",
    ),
    of(SGSI, "table 7", "breakdown of time", &[], "graphs of 10^9 edges aren't at hand"),
    of(
        SGSI,
        "figure 17",
        "enormous graphs",
        &["SGSI, figure 17c"],
        "17a and b: graphs of 10^9 edges aren't at hand",
    ),
];
