//! The table of formats, walked.

mod names;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::Dictionaries;
use crate::read::{GraphFile, ReadOptions, read_bytes};
use crate::write::{each_edge, write_text};
use gramer_base::Context;
use gramer_base::budget::Budget;

#[test]
fn each_format_has_its_own_name_and_extensions() {
    let mut seen = vec![];
    for (at, entry) in TABLE.iter().enumerate() {
        assert_eq!(entry.format as usize, at, "{}", entry.name);
        assert_eq!(Format::named(entry.name), Some(entry.format));
        assert!(!entry.about.is_empty());
        assert!(entry.writes.is_empty() || entry.format.is_written(), "{}", entry.name);
        for extension in entry.writes {
            assert!(!seen.contains(extension), "{extension} twice");
            seen.push(extension);
            assert_eq!(Format::written_as(extension), Some(entry.format));
        }
        let own = matches!(entry.format, Format::Image | Format::BvGraph);
        assert_eq!(matches!(entry.read, ReaderKind::Own), own, "{}", entry.name);
    }
}

/// A graph of people, whose names and labels are odd, read from JSON.
fn people(seed: u64, vertex_labels: bool, edge_labels: bool, plain: bool) -> Graph {
    const ODD: [&str; 12] = [
        "alice",
        "B & <C>",
        "it's",
        "a\tb",
        "x,y;z|w",
        "Žofie 🦀",
        " blank ",
        "42",
        "007",
        "-1",
        "#7",
        "%c",
    ];
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let count = 2 + random(14);
    let mut names: Vec<String> =
        (0..count).map(|v| format!("{}{v}", ODD[v as usize % ODD.len()])).collect();
    if plain {
        names.iter_mut().for_each(|name| *name = name.trim().into());
    } else {
        names[0] = "quoted \"name\", with \\ and\na line end".into();
        names[1] = "long ".repeat(2000);
    }
    let kind = |n: u64| ["kinase", "Ligand & co", "x \u{e9}"][n as usize].to_string();
    let nodes: Vec<_> = names
        .iter()
        .map(|name| match vertex_labels {
            true => json!({"id": name, "name": name, "label": kind(random(3))}),
            false => json!({"id": name}),
        })
        .collect();
    let mut links = vec![];
    for u in 0..count {
        for v in 0..u {
            if random(3) == 0 {
                let (source, target) = (&names[u as usize], &names[v as usize]);
                links.push(match edge_labels {
                    true => json!({"source": source, "target": target, "label": kind(random(3))}),
                    false => json!({"source": source, "target": target}),
                });
            }
        }
    }
    let text = json!({"nodes": nodes, "links": links}).to_string();
    parse("people.json", text.as_bytes(), Some(Format::NodeLink)).unwrap().graph
}

fn parse(name: &str, text: &[u8], format: Option<Format>) -> Result<GraphFile> {
    let options = ReadOptions { format, ..ReadOptions::default() };
    read_bytes(Path::new(name), text.to_vec(), &options, &Context::with_threads(1))
}

/// Vertices with their labels, and edges with theirs, by name; names are numbers from `first` on if it is given.
fn content(graph: &Graph, first: Option<u64>, keeps: Capabilities) -> (Vec<String>, Vec<String>) {
    let view = graph.view();
    let name = |v: u32| match first {
        Some(first) => (first + u64::from(v)).to_string(),
        None => graph.vertex_name(v).to_string(),
    };
    let named = |v: &u32| keeps.isolated || view.degree(*v) > 0;
    let labelled = keeps.vertex_labels && graph.has_vertex_labels();
    let mut vertices: Vec<String> = (0..graph.vertices() as u32)
        .filter(named)
        .map(|v| match labelled {
            true => format!("{} {}", name(v), graph.vertex_label_name(view.vertex_label(v))),
            false => name(v),
        })
        .collect();
    let mut edges = vec![];
    let each = each_edge(graph, |u, v, label| {
        let ends = [name(u), name(v)];
        let (one, two) = (ends.iter().min().cloned(), ends.iter().max().cloned());
        let label = match keeps.edge_labels && graph.has_edge_labels() {
            true => graph.edge_label_name(label).to_string(),
            false => String::new(),
        };
        edges.push(format!("{one:?} {two:?} {label}"));
        Ok::<(), ()>(())
    });
    each.unwrap();
    vertices.sort();
    edges.sort();
    (vertices, edges)
}

/// Whether this build reads a format through a sink, not by a special reader.
fn is_built(entry: &&Entry) -> bool {
    let columnar = matches!(entry.format, Format::Parquet | Format::Arrow);
    !matches!(entry.read, ReaderKind::Own) && (cfg!(feature = "columnar") || !columnar)
}

/// Whether names and labels of any text are written.
fn takes_texts(entry: &Entry) -> bool {
    entry.keeps.texts && entry.write.is_some()
}

#[test]
fn what_is_written_is_read_again() {
    for entry in TABLE
        .iter()
        .filter(|entry| takes_texts(entry) || matches!(entry.read, ReaderKind::Whole(_)))
    {
        if entry.format != Format::Image && !is_built(&entry) {
            continue;
        }
        let Some(write) = entry.write else { continue };
        for seed in 0..40 {
            // In the Trivial Graph Format names with blanks leave no room for labels.
            let vertex_labels = seed % 2 == 1 && entry.format != Format::Tgf;
            let edge_labels = seed % 4 > 1;
            // Neither this nor Pajek has a way to write line ends, and Pajek none to write quotes.
            let plain = matches!(entry.format, Format::Pajek | Format::Tgf) || seed % 8 == 0;
            let graph = people(seed, vertex_labels, edge_labels, plain);
            if graph.edges() == 0 && !entry.keeps.isolated {
                continue;
            }
            let mut text = vec![];
            write(&mut text, &graph).unwrap();
            let shown = String::from_utf8_lossy(&text[..text.len().min(3000)]).into_owned();
            // The content decides, not the name.
            let read =
                parse("g", &text, None).unwrap_or_else(|e| panic!("{}: {e}\n{shown}", entry.name));
            // An edge list between names is read as a table.
            let format = if entry.format == Format::Edges { Format::Table } else { entry.format };
            assert_eq!(read.format, format, "{shown}");
            let first = (!entry.keeps.ids).then_some(entry.first_id);
            let (back, own) =
                (content(&read.graph, None, entry.keeps), content(&graph, first, entry.keeps));
            assert_eq!(back, own, "{} {seed}: {shown}", entry.name);
        }
    }
}

#[test]
fn what_a_format_can_not_hold_is_refused() {
    let graph = people(3, false, false, false);
    let refused = |format: Format| {
        format.entry().write.unwrap()(&mut vec![], &graph).unwrap_err().to_string()
    };
    assert!(refused(Format::Pajek).contains("can't be written as Pajek"));
    assert!(refused(Format::Tgf).contains("can't be written as tgf: its texts have no line ends"));
    let text = json!({"nodes": [{"id": "a\u{1}b"}], "links": []}).to_string();
    let graph = parse("g", text.as_bytes(), None).unwrap().graph;
    for format in [Format::GraphMl, Format::Gexf] {
        let error = format.entry().write.unwrap()(&mut vec![], &graph).unwrap_err().to_string();
        assert!(error.contains("control character"), "{error}");
    }
}

#[test]
fn labels_are_written_behind_names_of_one_word() {
    let written = |text: &str| {
        let graph = parse("g", text.as_bytes(), None).unwrap().graph;
        let mut text = vec![];
        let written = write_text(&mut text, &graph, Format::Tgf).map_err(|e| e.to_string());
        written.map(|()| String::from_utf8(text).unwrap())
    };
    for text in [
        "7 a b\n8 a b\n9 c\n#\n7 9 is next to\n8 9 x\n",
        "ada x\nbob x\n#7 x\n#\nada bob\n",
        "7\n8\n9\n#\n7 8\n",
    ] {
        assert_eq!(written(text).as_deref(), Ok(text));
    }
    assert_eq!(written("ada,bob\nbob,c d\n").unwrap(), "1 ada\n2 bob\n3 c d\n#\n1 2\n2 3\n");
    let people = |names: [&str; 2], labels: [&str; 2]| {
        let node = |i: usize| json!({"id": names[i], "name": names[i], "label": labels[i]});
        let links = json!([{"source": names[0], "target": names[1]}]);
        written(&json!({"nodes": [node(0), node(1)], "links": links}).to_string()).unwrap_err()
    };
    for (names, labels, message) in [
        (["a", "b"], ["x", "y"], "the name `x` can't be written as tgf: no two vertices have the"),
        (["a", "b c"], ["x", "x"], "the name `b c` can't be written as tgf: a name in front of"),
        (["p", "b"], ["x 3 2", "x 3 2"], "a file that begins with it looks like one of another"),
        (["a", "b"], ["", ""], "a label needs a text"),
    ] {
        let error = people(names, labels);
        assert!(error.contains(message), "{error}");
    }
}

/// The samples of `tests/formats` by the name of their format: one has the format's name, others add a dash.
fn samples(entry: &Entry) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut samples: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            let rest = name.strip_prefix(entry.name);
            // `node-link` is no sample of `node`.
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
        .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
        .collect();
    samples.sort();
    samples
}

#[test]
fn each_format_has_a_sample_which_is_read() {
    for entry in TABLE.iter().filter(is_built) {
        let samples = samples(entry);
        assert!(!samples.is_empty(), "tests/formats has no sample {}", entry.name);
        for (path, text) in samples {
            let shown = path.display();
            let read = parse("g", &text, None).unwrap_or_else(|error| panic!("{shown}: {error}"));
            assert_eq!(read.format, entry.format, "{shown}");
            // A triangle with a tail, and a vertex alone where the format holds one.
            let mut degrees: Vec<usize> =
                (0..read.graph.vertices() as u32).map(|v| read.graph.view().degree(v)).collect();
            degrees.retain(|&degree| degree > 0);
            degrees.sort_unstable();
            match entry.format {
                // A path of both sides and an edge.
                Format::Konect => assert_eq!(degrees, [1, 1, 1, 1, 2, 2], "{shown}"),
                _ => assert_eq!(degrees, [1, 2, 2, 3], "{shown}"),
            }
            let forced = parse("g", &text, Some(entry.format)).unwrap();
            assert_eq!(forced.graph.view().neighbours, read.graph.view().neighbours, "{shown}");
        }
    }
}

/// Formats without numbers of vertices and edges: nothing tells that lines are missing at the end.
const WITHOUT_COUNTS: [Format; 9] = [
    Format::Lg,
    Format::Arabesque,
    Format::Pajek,
    Format::AdjList,
    Format::Multiline,
    Format::Lgl,
    Format::Transactions,
    Format::Tgf,
    Format::Markdown,
];

#[test]
fn a_text_that_is_cut_off_is_noticed() {
    for entry in TABLE.iter().filter(is_built) {
        for (path, text) in samples(entry) {
            let whole = parse("g", &text, Some(entry.format)).unwrap();
            for end in text.len() / 2..text.len() {
                let lines = text[end - 1] == b'\n' || text[end] == b'\n';
                // The last line of these has a remark if it has no end; a name that ends early is a name.
                let told = matches!(entry.read, ReaderKind::Whole(_));
                let without = WITHOUT_COUNTS.contains(&entry.format) && (lines || !told);
                if without || entry.format == Format::Table && !lines {
                    continue;
                }
                let Ok(read) = parse("g", &text[..end], Some(entry.format)) else { continue };
                let same = content(&read.graph, None, ALL) == content(&whole.graph, None, ALL);
                let told = read.notes.iter().any(|note| !whole.notes.contains(note));
                let shown = String::from_utf8_lossy(&text[..end]);
                assert!(same || told, "{}: {shown}", path.display());
            }
        }
    }
}

#[test]
fn formats_that_are_held_as_a_whole_are_refused_where_memory_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let budget = Budget { bytes: 64 << 20, folder: folder.path().into() };
    let context = Context { budget: Some(Arc::new(budget)), ..Context::with_threads(1) };
    let options = ReadOptions::default();
    for (format, streams) in
        [(Format::GraphMl, false), (Format::NodeLink, false), (Format::Dimacs, true)]
    {
        let (path, text) = samples(format.entry()).swap_remove(0);
        let read = read_bytes(&path, text, &options, &context);
        match streams {
            true => assert_eq!(read.unwrap().graph.edges(), 4),
            false => assert!(read.unwrap_err().to_string().contains("memory is limited, and only")),
        }
    }
}

/// Checks that a graph is sound, and the same from its image, its text and its table, as `host/fuzz` does.
fn comes_back(graph: &Graph, shown: &str) {
    let view = graph.view();
    for v in 0..graph.vertices() as u32 {
        assert!(view.neighbours(v).is_sorted_by(|a, b| a < b), "{shown}");
        assert!(view.neighbours(v).iter().all(|&u| view.neighbours(u).contains(&v)), "{shown}");
    }
    let mut bytes = vec![];
    crate::image::write_to(&mut bytes, graph, "g").unwrap();
    let back = crate::image::from_bytes(Path::new("g"), &bytes).expect(shown);
    assert_eq!(content(&back, None, ALL), content(graph, None, ALL), "{shown}");
    let mut text = vec![];
    write_text(&mut text, graph, Format::Tve).unwrap();
    let back = parse("g", &text, Some(Format::Tve)).expect(shown).graph;
    assert_eq!(back.view().neighbours, view.neighbours, "{shown}");
    let mut text = vec![];
    let written = write_text(&mut text, graph, Format::Table);
    if written.is_ok() && graph.edges() > 0 {
        let keeps = Format::Table.entry().keeps;
        let back = parse("g", &text, Some(Format::Table)).expect(shown).graph;
        assert_eq!(content(&back, None, keeps), content(graph, None, keeps), "{shown}");
    }
}

#[test]
fn damaged_texts_are_read_or_refused() {
    let mut state = 5u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below.max(1)
    };
    // What readers look for, and numbers at the ends of their ranges.
    const PARTS: [&str; 12] = [
        "\n",
        " ",
        "\"",
        "0",
        "-1",
        "18446744073709551615",
        "4294967296",
        "[",
        "}",
        "<node id=\"a\">",
        "\u{e9}",
        "t # 9",
    ];
    for entry in TABLE.iter().filter(is_built) {
        for (path, text) in samples(entry) {
            for trial in 0..120 {
                let mut damaged = text.clone();
                for _ in 0..1 + random(3) {
                    let at = random(damaged.len());
                    match random(4) {
                        0 => damaged[at] = random(256) as u8,
                        1 => drop(damaged.drain(at..(at + random(20)).min(damaged.len()))),
                        2 => damaged.truncate(at + 1),
                        _ => drop(damaged.splice(at..at, PARTS[random(PARTS.len())].bytes())),
                    }
                    if damaged.is_empty() {
                        break;
                    }
                }
                let format = (trial % 2 == 0).then_some(entry.format);
                match parse("g", &damaged, format) {
                    Ok(read) => comes_back(&read.graph, &String::from_utf8_lossy(&damaged)),
                    Err(error) => {
                        let message = error.to_string();
                        assert!(message.starts_with("g"), "{}: {message}", path.display());
                    }
                }
            }
        }
    }
}
