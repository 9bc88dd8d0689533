//! Vertices, vertex labels and edge labels with names.

mod common;

use std::path::Path;
use std::sync::Arc;

use common::{parse, parse_named, refused};
use gramer_base::budget::Budget;
use gramer_base::{Context, Result};
use gramer_graph::read::{
    Columns, Format, GraphFile, Ids, ReadOptions, VertexTable, read, read_bytes,
};
use gramer_graph::write::write_text;
use gramer_graph::{Graph, Order, image};

/// The edges by name, each with its label where there are labels, sorted.
fn edges(graph: &Graph) -> Vec<String> {
    let view = graph.view();
    let mut edges: Vec<String> = vec![];
    for u in 0..graph.vertices() as u32 {
        for &v in view.neighbours(u).iter().filter(|&&v| u < v) {
            let mut ends = [graph.vertex_name(u).to_string(), graph.vertex_name(v).to_string()];
            ends.sort();
            let label = view.edge_label(u, v).filter(|_| graph.has_edge_labels());
            let label = label.map_or(String::new(), |l| format!(":{}", graph.edge_label_name(l)));
            edges.push(format!("{}-{}{label}", ends[0], ends[1]));
        }
    }
    edges.sort();
    edges
}

fn read_with(text: &str, options: &ReadOptions) -> Result<GraphFile> {
    read_bytes(Path::new("g"), text.into(), options, &Context::with_threads(2))
}

fn columns(source: &str, target: &str, label: Option<&str>) -> ReadOptions {
    let columns = Columns {
        source: Some(source.into()),
        target: Some(target.into()),
        edge_label: label.map(Into::into),
        ..Columns::default()
    };
    ReadOptions { columns, ..ReadOptions::default() }
}

const FRIENDS: [&str; 3] = ["alice-bob", "alice-carol", "bob-carol"];

#[test]
fn edges_between_names_in_every_kind_of_table() {
    for text in [
        "alice,bob\nbob,carol\ncarol,alice\n",
        "alice bob\nbob carol\nalice carol\n",
        "alice\tbob\nbob\tcarol\nalice\tcarol",
        "alice;bob\r\nbob;carol\r\ncarol;alice\r\n",
        "alice|bob\nbob|carol\ncarol|alice\n",
        "\u{feff}source,target\nalice,bob\nbob,carol\ncarol,alice\n",
        "sep=;\r\nSource;Target\r\nalice;bob\r\nbob;carol\r\ncarol;alice\r\n",
        ",source,target\n0,alice,bob\n1,bob,carol\n2,carol,alice\n",
        "\"\",\"from\",\"to\"\n\"1\",\"alice\",\"bob\"\n\"2\",\"bob\",\"carol\"\n\"3\",\"carol\",\"alice\"\n",
        "\"from\" \"to\"\n\"1\" \"alice\" \"bob\"\n\"2\" \"bob\" \"carol\"\n\"3\" \"carol\" \"alice\"\n",
        "alice bob {}\nbob carol {'weight': 3, 'since': 'a b'}\ncarol alice {}\n",
        "alice, bob\nbob, carol\ncarol, alice\n",
        "alice,bob,\nbob,carol,\ncarol,alice,\n",
        "alice bob 2009-01-01\nbob carol NA\ncarol alice 2010-05-05\n",
        "# a comment\n\nalice,bob\n% another\nbob,carol\ncarol,alice\n",
        "name_a,name_b,weight\nalice,bob,0.5\nbob,carol,\ncarol,alice,NA\n",
        "weight,node1,node2\n1,alice,bob\n2,bob,carol\n3,carol,alice\n",
        "Source,Target,Type,Id,Label,Weight\nalice,bob,Undirected,0,,1.0\nbob,carol,Undirected,1,,1.0\ncarol,alice,Undirected,2,,1\n",
        "'alice' 'bob'\n'bob' 'carol'\n'carol' 'alice'\n",
    ] {
        let read = parse(text);
        assert_eq!(read.format, Format::Table, "{text:?}");
        assert_eq!(edges(&read.graph), FRIENDS, "{text:?}: {:?}", read.notes);
        // In the order in which they first come.
        assert_eq!(read.graph.original_ids(), [0, 1, 2]);
        assert_eq!(read.graph.id_of_name("carol"), Some(2));
    }
}

#[test]
fn a_number_among_names_is_a_name() {
    // 7 and 007, 1 and 1.0 are two; negative and huge numbers are names.
    let read = parse("bob 7\n007 7\n-1 1.0\n1 99999999999999999999\n");
    let expected = ["-1-1.0", "007-7", "1-99999999999999999999", "7-bob"];
    assert_eq!(edges(&read.graph), expected);
    for text in ["-1 5\n5 6\n", "18446744073709551616 5\n5 6\n"] {
        assert_eq!(parse(text).graph.vertices(), 3, "{text}");
    }
    // As numbers they are one, up to 2^64 - 1.
    let numbers = parse("7 18446744073709551615\n007 3\n");
    assert_eq!(numbers.graph.original_ids(), [3, 7, u64::MAX]);
    let texts = ReadOptions { ids: Ids::Text, ..ReadOptions::default() };
    assert_eq!(edges(&read_with("7 9\n007 3\n", &texts).unwrap().graph), ["007-3", "7-9"]);
    let number = ReadOptions { ids: Ids::Number, ..ReadOptions::default() };
    let error = read_with("7 9\n7 bob\n", &number).unwrap_err().to_string();
    assert!(error.starts_with("g:2: ") && error.contains("the setting `ids`"), "{error}");
}

#[test]
fn a_name_late_in_a_list_of_numbers_makes_names_of_all() {
    for early in [10, 200_000] {
        let mut text: String = (0..early).map(|i| format!("{} {}\n", i, i + 1)).collect();
        text += "5 bob\n";
        let read = parse(&text);
        assert_eq!(read.graph.vertices(), early + 2);
        let line = early + 1;
        let said = format!("line {line}, `5 bob`, has an id that is not a number");
        assert!(read.notes.iter().any(|note| note.starts_with(&said)), "{:?}", read.notes);
        assert_eq!(read.graph.id_of_name("bob"), Some(early as u64 + 1));
    }
}

#[test]
fn what_a_first_row_is_depends_on_the_others() {
    // Names of columns are no vertices of the rows below.
    assert_eq!(edges(&parse("u v\nv w\nw u\n").graph), ["u-v", "u-w", "v-w"]);
    assert_eq!(edges(&parse("source target\ntarget x\nx source\n").graph).len(), 3);
    let odd = parse("person,friend\nalice,bob\nbob,carol\n");
    assert_eq!(odd.graph.edges(), 3);
    assert!(odd.notes.iter().any(|n| n.starts_with("line 1 is read as an edge from `person`")));
    // One line alone is an edge, unless it names both ends.
    assert_eq!(edges(&parse("ann bob\n").graph), ["ann-bob"]);
    assert!(refused("source,target\n").contains("holds no edge"));
    // Two words over numbers are names of columns, as ever.
    let read = parse("alice bob\n1 2\n");
    assert_eq!((read.format, read.graph.edges()), (Format::Edges, 1));
}

#[test]
fn columns_that_say_nothing_are_refused_with_the_way_on() {
    for text in [
        "/m/1 /location/of /m/2\n/m/2 /location/of /m/3\n",
        "0 alice bob\n1 bob carol\n",
        "id,label\nalice,red\nbob,blue\n",
        "one,two,three\nalice,bob,carol\nbob,carol,dan\n",
    ] {
        let message = refused(text);
        assert!(message.starts_with("g:1: "), "{text:?}: {message}");
        assert!(
            message.contains("the setting `source` and the setting `target`"),
            "{text:?}: {message}"
        );
    }
    let triples = "/m/1 /is/in /m/2\n/m/2 /is/of /m/3\n";
    let read = read_with(triples, &columns("1", "3", Some("2"))).unwrap();
    assert_eq!(edges(&read.graph), ["/m/1-/m/2:/is/in", "/m/2-/m/3:/is/of"]);
    assert_eq!(read.graph.edge_label_number("/is/of"), Some(1));
    let table = "index,person,friend\n0,alice,bob\n1,bob,carol\n";
    let read = read_with(table, &columns("Person", "friend", None)).unwrap();
    assert_eq!(edges(&read.graph), ["alice-bob", "bob-carol"]);
    let wrong = read_with(table, &columns("person", "enemy", None)).unwrap_err().to_string();
    assert!(wrong.contains("they are `index`, `person`, `friend`"), "{wrong}");
    // With named columns, numbers stay numbers.
    let numbers = read_with("9 1 2\n9 2 3\n", &columns("2", "3", None)).unwrap();
    assert_eq!(numbers.graph.original_ids(), [1, 2, 3]);
    assert!(numbers.graph.names().vertices.is_none());
}

#[test]
fn relations_are_labels_and_everything_ignored_is_named() {
    let read = parse("head,relation,tail,score\na,likes,b,1\nb,knows,c,2\n");
    assert_eq!(edges(&read.graph), ["a-b:likes", "b-c:knows"]);
    let said = "line 1 names the columns: `head` and `tail` are the ends of an edge, `relation` is its label, \
                `score` is ignored";
    assert!(read.notes.contains(&said.into()), "{:?}", read.notes);
    // Numbers as ids stay numbers, and a column of labels is read all the same.
    for text in [
        "source,target,relation\n1,2,likes\n2,3,knows\n",
        "sep=;\nrelation;from;to\nlikes;1;2\nknows;2;3\n",
    ] {
        let read = parse(text);
        assert_eq!(edges(&read.graph), ["1-2:likes", "2-3:knows"]);
        assert_eq!(read.graph.original_ids(), [1, 2, 3]);
    }
    let forced =
        parse_named("g", "source,target,relation\n1,2,likes\n", Some(Format::Edges)).unwrap();
    assert!(!forced.graph.has_edge_labels());
    // Labels that are all numbers stay numbers.
    let read = parse("source,target,relation\na,b,7\nb,c,9\n");
    assert_eq!(edges(&read.graph), ["a-b:7", "b-c:9"]);
    assert!(read.graph.names().edge_labels.is_none());
    assert_eq!(read.graph.edge_label_number("9"), Some(9));
}

#[test]
fn faults_have_their_line() {
    for (text, line, what) in [
        ("alice,bob\nbob\n", 2, "has 1 column, but"),
        ("alice,bob\nbob,\n", 2, "column 2 is empty"),
        ("alice,bob\nbob,carol,dan\n", 2, "has 3 columns, but"),
        ("# a\n\nalice,bob\n# c\n\n# d\nbob,carol\n\n# e\nx,\n", 10, "column 2 is empty"),
        ("sep=;\nu;v\n1;a\n;b\n", 4, "column 1 is empty"),
        ("alice bob\nbob carol dan\n", 2, "has 3 columns, but"),
        ("source,target\n\"a,b\nb,c\n", 2, "never closed"),
        ("source,target\na,b\n\"c\nd\",\n", 3, "column 2 is empty"),
    ] {
        let message = refused(text);
        assert!(message.starts_with(&format!("g:{line}: ")), "{text:?}: {message}");
        assert!(message.contains(what), "{text:?}: {message}");
    }
    let latin1 = b"source,target\nJos\xe9,b\n".to_vec();
    let error = read_bytes(Path::new("g"), latin1, &ReadOptions::default(), &Context::default());
    assert!(error.unwrap_err().to_string().contains("is not UTF-8; convert the file"));
    let said = parse("source,target\na,b\nNaN,a\nb,NaN\nNA,c\n").notes;
    for what in [
        "`NaN` is read as the name of a vertex with 2 edges;",
        "`NA` is read as the name of a vertex with 1 edge;",
    ] {
        assert!(said.iter().any(|note| note.starts_with(what)), "{said:?}");
    }
    for (text, hint) in [
        ("1 2\n3.5 1\n", true),
        ("1 2\n-3 1\n", true),
        ("1 2\n\"3.5\" 1\n", true),
        ("weight source target\n0.5 1 2\n0.5 1 2.5\n", true),
        ("weight source target\n0.5 1 2\n0.5 1 2 3\n", false),
        ("0 1 0.5\n1 2 0.5 3\n", false),
        ("0 1\n1;2 3\n", false),
        ("0 1\nalice\n", false),
        ("0 1\n1,,2\n", false),
    ] {
        let number = ReadOptions { ids: Ids::Number, ..ReadOptions::default() };
        let message = read_with(text, &number).unwrap_err().to_string();
        assert_eq!(message.contains("the setting `ids` text"), hint, "{message}");
    }
    let comments = parse("a,b\n#tag,b\nb,c\n").notes;
    assert!(comments[0].starts_with("line 2 begins with # or % and is"), "{comments:?}");
    let most = ReadOptions { max_vertices: Some(2), ..ReadOptions::default() };
    let error = read_with("a b\nb c\n", &most).unwrap_err().to_string();
    assert!(error.contains("more than 2 vertices"), "{error}");
}

/// Names that are hard to write.
fn odd_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "a,b",
        "say \"hi\"",
        "\"",
        "\"\"",
        "two\nlines",
        "tab\there",
        "🦀 crab",
        "#tag",
        "% of",
        " lead",
        "trail ",
        "'single'",
        "semi;colon",
        "pipe|pipe",
        "0",
        "007",
        "-1",
        "1e5",
        "null",
        "NA",
        "{}",
        "x[",
        "source",
        "target",
        "\r\n",
        "é",
        "\u{202e}",
    ]
    .map(String::from)
    .into();
    names.push("long ".repeat(2000));
    names
}

/// A ring of odd names with labels.
fn odd_graph() -> Graph {
    let names = odd_names();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = "from,to,relation\n".to_string();
    for (i, name) in names.iter().enumerate() {
        let next = &names[(i + 1) % names.len()];
        text += &format!("{},{},{}\n", quoted(name), quoted(next), quoted(&format!("to {next}")));
    }
    let graph = parse(&text).graph;
    assert_eq!((graph.vertices(), graph.edges()), (names.len(), names.len()));
    for name in &names {
        assert!(graph.id_of_name(name).is_some(), "{name:?}");
    }
    graph
}

#[test]
fn odd_names_survive_tables() {
    let graph = odd_graph();
    let mut out = vec![];
    write_text(&mut out, &graph, Format::Table).unwrap();
    let again = parse(std::str::from_utf8(&out).unwrap());
    assert_eq!(again.format, Format::Table);
    assert_eq!(edges(&again.graph), edges(&graph));
    let mut out = vec![];
    write_text(&mut out, &graph, Format::Edges).unwrap();
    let again = parse(std::str::from_utf8(&out).unwrap());
    assert_eq!(edges(&again.graph), edges(&graph.without_edge_labels()));
}

#[test]
fn names_survive_images() {
    let graph = gramer_graph::prepare::renumber(&odd_graph(), &Context::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.gramer");
    image::write(&path, &graph, "odd").unwrap();
    for verify in [true, false] {
        let again = image::open(&path, verify).unwrap();
        assert_eq!(again.order(), Order::RankOn1);
        assert_eq!(edges(&again), edges(&graph));
        assert_eq!(again.id_of_name("🦀 crab"), graph.id_of_name("🦀 crab"));
    }
    // Every changed byte is found.
    let bytes = std::fs::read(&path).unwrap();
    let at = memchr::memmem::find(&bytes, "🦀".as_bytes()).unwrap();
    let mut broken = bytes.clone();
    broken[at] = 0xff;
    assert!(image::from_bytes(&path, &broken).unwrap_err().to_string().contains("checksum"));
    image::seal(&mut broken);
    let error = image::from_bytes(&path, &broken).unwrap_err().to_string();
    assert!(error.contains("names are not UTF-8"), "{error}");
    // Without the check nothing worse happens than another name.
    std::fs::write(&path, &broken).unwrap();
    assert_eq!(image::open(&path, false).unwrap().edges(), graph.edges());
}

#[test]
fn tables_of_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let graph = write("edges.csv", "alice,bob\nbob,carol\ncarol,alice\n");
    let load = |text: &str, id: Option<&str>, label: Option<&str>| {
        let path = write("nodes.csv", text);
        let (id, label) = (id.map(Into::into), label.map(Into::into));
        let vertex_table = Some(VertexTable { path, id, label });
        read(&graph, &ReadOptions { vertex_table, ..ReadOptions::default() }, &Context::default())
    };
    let labels = |loaded: &GraphFile| -> Vec<String> {
        let graph = &loaded.graph;
        let label = |v| graph.vertex_label_name(graph.view().vertex_label(v)).to_string();
        (0..graph.vertices() as u32).map(label).collect()
    };
    for (text, id, label) in [
        ("Id,Label\nalice,red\nbob,blue\ncarol,red\n", None, None),
        ("bob blue\nalice red\ncarol red\n", None, None),
        ("x;group;name\n1;red;alice\n2;blue;bob\n3;red;carol\n", None, None),
        ("a,b,c\nred,1,alice\nblue,2,bob\nred,3,carol\n", Some("c"), Some("a")),
        ("red,1,alice\nblue,2,bob\nred,3,carol\n", Some("3"), Some("1")),
        ("id,type\nalice,red\nalice,red\nbob,blue\ncarol,red\ndan,green\n", None, None),
    ] {
        let loaded = load(text, id, label).unwrap();
        assert_eq!(labels(&loaded), ["red", "blue", "red"], "{text:?}: {:?}", loaded.notes);
        assert!(loaded.graph.vertex_label_number("blue").is_some());
    }
    // A first row over numbers with decimal commas names the columns, with any vertex names.
    let shares = load("source;share\nalice;0,5\nbob;1,5\ncarol;0,5\n", None, None).unwrap();
    assert_eq!(labels(&shares), ["0,5", "1,5", "0,5"]);
    assert!(
        !shares.notes.iter().any(|note| note.contains("not in the graph")),
        "{:?}",
        shares.notes
    );
    let several = load("id,type\nalice,red\nalice,blue\n", None, None).unwrap_err().to_string();
    assert!(
        several.contains("nodes.csv:3: vertex `alice` has the labels `red` and `blue`"),
        "{several}"
    );
    let open = load("a,b,c\nalice,1,x\n", None, None).unwrap_err().to_string();
    assert!(open.contains("the setting `id` and the setting `label`"), "{open}");
    let some = load("id,type\nalice,red\n", None, None).unwrap();
    assert!(some.notes.iter().any(|n| n.contains("2 vertices have no row, `bob` for one")));
    assert_eq!(labels(&some), ["red", "", ""]);
    let labelled = |text: &str, labels_column| {
        let labels = Some(write("labels.txt", text));
        let options = ReadOptions { labels, labels_column, ..ReadOptions::default() };
        read(&graph, &options, &Context::default())
    };
    let two = labelled("alice 1\nbob 2\ncarol 1\n", None).unwrap();
    assert_eq!(labels(&two), ["1", "2", "1"]);
    // Numbers of names are no ids.
    assert!(labelled("0 1\n1 2\n2 1\n", None).is_err());
    assert_eq!(labelled("1\n2\n1\n", Some(1)).unwrap_err().exit_code(), 2);
    // `id` names the column, though its other name is unusual.
    let header = load("id,role\nalice,red\nbob,blue\ncarol,red\n", None, None).unwrap();
    assert!(
        header.notes.iter().all(|note| !note.contains("not in the graph")),
        "{:?}",
        header.notes
    );
    let path = folder.path().join("latin.csv");
    std::fs::write(&path, b"id,role\nalice,B\xfcro\nbob,x\n").unwrap();
    let vertex_table = Some(VertexTable { path, id: None, label: None });
    let options = ReadOptions { vertex_table, ..ReadOptions::default() };
    let latin = read(&graph, &options, &Context::default()).unwrap_err().to_string();
    assert!(latin.contains("latin.csv:2: the label") && latin.contains("iconv"), "{latin}");
    let none = load("id,type\nzoe,red\n", None, None).unwrap_err().to_string();
    assert!(none.contains("none of its ids is a vertex"), "{none}");
}

#[test]
fn names_are_read_where_memory_is_limited() {
    let text: String = (0..60_000u32)
        .flat_map(|i| [(i, i + 1), (i, i / 2)])
        .map(|(u, v)| format!("v{u},v{v}\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let budget = |bytes| {
        let folder = folder.path().to_path_buf();
        let budget = Some(Arc::new(Budget { bytes, folder }));
        Context { budget, ..Context::with_threads(1) }
    };
    let read = |context: &Context| {
        read_bytes(Path::new("g"), text.clone().into(), &ReadOptions::default(), context)
    };
    let whole = read(&Context::with_threads(1)).unwrap().graph;
    let limited = read(&budget(64 << 20)).unwrap().graph;
    assert_eq!(limited.view().neighbours, whole.view().neighbours);
    assert_eq!(edges(&limited), edges(&whole));
    let error = read(&budget(1 << 20)).unwrap_err().to_string();
    assert!(error.contains("memory is limited, and the names of the first"), "{error}");
    // With named columns, numbers stay numbers, too.
    let text: String = (0..1000).map(|i| format!("x {} {}\n", 3 * i, 3 * i + 3)).collect();
    let numbers = |context: &Context| {
        let options = columns("2", "3", None);
        read_bytes(Path::new("g"), text.clone().into(), &options, context).unwrap().graph
    };
    let (limited, whole) = (numbers(&budget(64 << 20)), numbers(&Context::with_threads(1)));
    assert_eq!(limited.original_ids(), whole.original_ids());
    assert_eq!(limited.view().neighbours, whole.view().neighbours);
}

#[test]
fn forced_edge_lists_take_the_first_two_columns() {
    let read = parse_named("g", "alice,bob,x\nbob,carol,y\n", Some(Format::Edges)).unwrap();
    assert_eq!(edges(&read.graph), ["alice-bob", "bob-carol"]);
}

#[test]
fn heads_are_compared_with_names_as_well() {
    let cut = refused("# Nodes: 3 Edges: 9\na b\nb c\n");
    assert!(cut.contains("says 9 edges, but 2 follow"), "{cut}");
    let lenient = ReadOptions { allow_mismatch: true, ..ReadOptions::default() };
    for text in ["# Nodes: 3 Edges: 9\na b\nb c\n", "# Nodes: 3 Edges: 9\n1 2\n2 3\n"] {
        let read = read_with(text, &lenient).unwrap();
        assert!(read.notes.iter().any(|n| n.contains("says 9 edges, but 2 follow")), "{text}");
    }
}
