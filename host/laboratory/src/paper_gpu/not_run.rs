//! What of the papers' experiments isn't repeated, and why.

use crate::paper::report::{Block, Section};

/// Figures and tables with the reason.
const REASONS: [[&str; 3]; 14] = [
    [
        "DuMato, table 6.3",
        "depth-first by thread against by warp",
        "there is no search by single threads here",
    ],
    [
        "DuMato, table 6.4",
        "transactions and instructions",
        "a profiler's counters; the joins' loads are counted instead",
    ],
    ["DuMato, tables 6.5 and 6.6", "Mico, DBLP, LiveJournal", "these graphs aren't at hand"],
    [
        "DuMato, table 6.5",
        "motifs of 8 of citeseer, of 6 of ca-astroph",
        "they take minutes; sizes 7 and 5 are run",
    ],
    [
        "DuMato, table 6.8",
        "other programs",
        "not part of the project; docs/gpu.md has their own times",
    ],
    [
        "GAMMA, figure 7",
        "hot pages kept between extensions",
        "which pages stay isn't reported; hits are (docs/out-of-core.md)",
    ],
    [
        "GAMMA, figures 17 to 25",
        "other programs, and twelve graphs",
        "not part of the project, or not at hand",
    ],
    [
        "GAMMA, table 4, figure 29",
        "frequent patterns by other sorts; xtr2sort",
        "there is one sort here; its merge is compared with and without the mirrored search",
    ],
    [
        "GAMMA, figures 35 to 38",
        "one to eight GPUs",
        "one device is measured; `make bench-gpus` compares several",
    ],
    ["GSI, table 4", "PCSR against compressed rows", "rows found by binary search are not built"],
    [
        "GSI, table 3",
        "gowalla, patent, road, WatDiv, DBpedia",
        "these graphs aren't at hand; enron is another copy",
    ],
    ["GSI, figures 14 to 16", "other programs; WatDiv", "not part of the project, or not at hand"],
    [
        "SGSI, tables 5 to 7",
        "PBE; DB, FR, YH and WD",
        "not part of the project; graphs of 10^9 edges aren't at hand",
    ],
    ["SGSI, figure 17", "1 to 9 billion edges", "graphs of that size aren't at hand"],
];

pub fn section() -> Section {
    let rows = REASONS.iter().map(|row| row.map(String::from).to_vec()).collect();
    let header = ["paper", "what", "why it isn't repeated"].map(String::from).to_vec();
    Section {
        title: "Not repeated".into(),
        blocks: vec![Block::Table { header, rows }],
        claims: vec![],
    }
}
