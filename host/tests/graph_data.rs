//! The real graphs: each is read in its own format and has its known size.

use std::path::{Path, PathBuf};

use environment::data;
use gramer::Context;
use gramer::cpu::Cpu;
use gramer::engine::compress::compress;
use gramer::graph::read::{Format, GraphFile, ReadOptions, read};
use gramer_testing::environment;

fn load(path: &Path, labels: Option<PathBuf>, labels_column: Option<usize>) -> GraphFile {
    let options = ReadOptions { labels, labels_column, ..ReadOptions::default() };
    read(path, &options, &Context::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The file that holds a graph of `stats.tsv`, and its format; `None` for binary files of other
/// programs.
fn file_of(folder: &str, name: &str) -> Option<(String, Format)> {
    let zst = format!("{name}.zst");
    Some(match (folder, name) {
        ("citeseer", "citeseer.edgelist") => (name.to_string(), Format::Edges),
        ("citeseer", "citeseer.lg") => (name.to_string(), Format::Lg),
        ("citeseer", "citeseer.graph" | "citeseer-single-label.graph") => {
            (name.to_string(), Format::Arabesque)
        }
        ("citeseer", _) => return None,
        ("cnr-2000" | "web-stanford", _) => ("edges_directed.txt.zst".into(), Format::Edges),
        ("fb100-cornell5", _) => ("edges.txt.zst".into(), Format::Edges),
        ("kg-FB15K237" | "kg-WN18", _) => (zst, Format::Triples),
        ("power" | "polblogs", _) => (zst, Format::Metis),
        (folder, _) if folder.starts_with("sm-") => (zst, Format::Tve),
        (_, name) if name.ends_with(".mtx") => (zst, Format::Mtx),
        (_, name) if name.ends_with(".csv") || name.ends_with(".edges") => (zst, Format::Edges),
        ("ca-astroph", _) => (zst, Format::Edges),
        (folder, _) => (format!("{folder}.txt.zst"), Format::Edges),
    })
}

#[test]
fn real_graphs_have_their_known_sizes() {
    let Some(data) = data() else { return };
    let stats = std::fs::read_to_string(data.join("stats.tsv")).unwrap();
    let (mut read_graphs, mut others) = (0, Vec::new());
    for row in stats.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let number = |i: usize| columns[i].parse::<u64>().ok();
        let Some((file, format)) = file_of(columns[0], columns[1]) else {
            others.push(columns[1]);
            continue;
        };
        let path = data.join(columns[0]).join(&file);
        let loaded = load(&path, None, None);
        let (graph, what) = (&loaded.graph, path.display());
        assert_eq!(loaded.format, format, "{what}");
        let view = graph.view();
        let alone = (0..graph.vertices() as u32).filter(|&v| view.degree(v) == 0).count();
        let stats = graph.stats();
        let declares = !matches!(format, Format::Edges | Format::Triples);
        if let Some(declared) = number(3).filter(|_| declares) {
            assert_eq!(graph.vertices() as u64, declared, "{what}: vertices");
        }
        assert_eq!((graph.vertices() - alone) as u64, number(4).unwrap(), "{what}: with edges");
        assert_eq!(graph.edges() as u64, number(5).unwrap(), "{what}: edges");
        assert_eq!(stats.self_loops, number(7).unwrap(), "{what}: self loops");
        // The table counts the matrix of this one, our file has each edge once.
        if columns[0] != "fb100-cornell5" {
            assert_eq!(stats.raw_edges, number(6).unwrap(), "{what}: edges read");
            assert_eq!(stats.duplicates, number(8).unwrap(), "{what}: duplicates");
        }
        assert_eq!(graph.max_degree() as u64, number(9).unwrap(), "{what}: degree");
        // Of the one graph with labels on its edges, the table gives those.
        let labels = if columns[0] == "sm-hprd-elabel" {
            graph.edge_label_count()
        } else {
            graph.vertex_label_count()
        };
        if let Some(known) = number(10).filter(|_| declares) {
            assert_eq!(labels as u64, known, "{what}: labels");
        }
        read_graphs += 1;
    }
    println!("{read_graphs} graphs read; binary files of other programs: {others:?}");
    assert!(read_graphs >= 29, "{read_graphs}");
}

#[test]
fn labels_of_real_graphs() {
    let Some(data) = data() else { return };
    let load = |graph: &str, labels: &str, column: Option<usize>| {
        load(&data.join(graph), Some(data.join(labels)), column)
    };
    let rmat = load("rmat12/rmat12.txt.zst", "rmat12/labels.txt.zst", None);
    assert_eq!((rmat.graph.vertices(), rmat.graph.edges()), (3352, 48222));
    assert_eq!((rmat.graph.vertex_label_count(), rmat.notes.len()), (29, 0));
    let rmat = load("rmat15/rmat15.txt.zst", "rmat15/labels.txt.zst", None).graph;
    assert_eq!((rmat.vertices(), rmat.edges()), (24204, 441189));
    let musae = load("musae-facebook/edges.csv.zst", "musae-facebook/target.csv.zst", None).graph;
    assert_eq!(musae.vertex_label_count(), 4);
    for (column, labels) in [7, 3, 105, 105, 134, 45, 4339].into_iter().enumerate() {
        let attributes = "fb100-cornell5/attrs.txt.zst";
        let graph = load("fb100-cornell5/edges.txt.zst", attributes, Some(column + 1)).graph;
        assert_eq!(graph.vertex_label_count(), labels, "column {}", column + 1);
    }
    // By rows, with vertices that the edge list leaves out.
    let citeseer = load("citeseer/citeseer.edgelist", "citeseer/fractal_vlabels", None);
    assert!(citeseer.notes[1].starts_with("48 of 3312 labels"), "{:?}", citeseer.notes);
    assert!(citeseer.notes[0].starts_with("55 edges are given again"), "{:?}", citeseer.notes);
}

#[test]
fn a_graph_of_the_webgraph_framework_is_the_edge_list_of_it() {
    let Some(data) = data() else { return };
    let coded = load(&data.join("cnr-2000/cnr-2000.graph"), None, None);
    let listed = load(&data.join("cnr-2000/edges_directed.txt.zst"), None, None);
    assert_eq!((coded.format, coded.bytes), (Format::BvGraph, 1_164_848));
    assert_eq!(coded.graph.stats(), listed.graph.stats());
    assert_eq!((coded.graph.vertices(), coded.graph.stats().raw_edges), (325_557, 3_216_152));
    // Nodes are numbered from 0; all have an edge.
    assert_eq!(coded.graph.original_ids(), listed.graph.original_ids());
    assert!(coded.graph.view().neighbours == listed.graph.view().neighbours);
}

#[test]
fn relations_are_edge_labels() {
    let Some(data) = data() else { return };
    let kg = load(&data.join("kg-FB15K237/train2id.txt.zst"), None, None);
    assert!(kg.graph.edge_label_count() > 200 && kg.notes[0].contains("another label"));
}

#[test]
fn files_of_other_kinds_are_refused() {
    let Some(data) = data() else { return };
    for (file, reason) in [
        ("citeseer/fractal_adjlists", "columns, but the first edge line has"),
        ("citeseer/graphminer_graph.edge.bin", "is neither text nor an image"),
        ("citeseer/peregrine_data.bin", "is neither text nor an image"),
        ("rmat12/labels.txt.zst", "it holds one number, but an edge has two vertex ids"),
        ("kg-WN18/relation2id.txt", "it holds one number, but an edge has two vertex ids"),
        ("kg-WN18/SOURCE", "columns, of which more than two hold text"),
        ("ground_truth.tsv", "don't say which hold the two ends of an edge"),
        ("cnr-2000/cnr-2000.properties", ""),
    ] {
        let path = data.join(file);
        let error = read(&path, &ReadOptions::default(), &Context::default());
        let message = error.map(|l| l.format).expect_err(file).to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        assert!(message.contains(reason), "{message}");
    }
}

/// The paper's table A.1 (Ferraz et al., "DuMato"), whose rows are running sums over k from 4 on.
#[test]
fn cliques_of_ca_astroph_are_replaced_as_the_paper_says() {
    let Some(data) = data() else { return };
    let graph = load(&data.join("ca-astroph/ca-AstroPh.txt.zst"), None, None).graph;
    let (mut replaced, mut removed) = (0, 0);
    for (k, cliques, published) in [
        (4, 9_580_415, (412, 412)),
        (5, 64_997_961, (1134, 2250)),
        (6, 400_401_488, (1710, 5094)),
        (7, 2_218_947_958, (2126, 8548)),
        (8, 11_088_038_672, (2442, 12276)),
        // The paper has 15384: two digits are exchanged there.
        (9, 50_170_510_922, (2658, 15834)),
    ] {
        let found = compress(&Cpu, &graph, k, &Context::default()).unwrap();
        replaced += found.replaced.len();
        removed += found.score;
        assert_eq!((found.cliques, (replaced, removed)), (cliques, published), "{k}");
    }
}
