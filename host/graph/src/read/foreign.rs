//! Formats of other programs that are not read: recognised by their first bytes or lines, so that a message can name
//! them with a way on.

use super::scan::{self, Fault};

/// What is wrong with a file that is no text, by its first bytes.
pub(super) fn binary(head: &[u8]) -> Option<&'static str> {
    const KINDS: &[(&[u8], &str)] = &[
        (
            b"PAR1",
            "is a Parquet file; write its two columns as CSV, in Python: pandas.read_parquet(FILE).to_csv(OUT, index=False)",
        ),
        (
            b"ARROW1",
            "is an Arrow file; write its two columns as CSV, in Python: pandas.read_feather(FILE).to_csv(OUT, index=False)",
        ),
        (b"\x89HDF\r\n", "is an HDF5 file; write its edges as text, two ids a line"),
        (
            b"\x93NUMPY",
            "is an array of NumPy; in Python: gramer.Graph.from_edges(numpy.load(FILE)), or numpy.savetxt(OUT, numpy.load(FILE), fmt=\"%d\")",
        ),
        (
            b"SQLite format 3",
            "is an SQLite database; write a query as CSV: sqlite3 -csv FILE 'SELECT source, target FROM …'",
        ),
        (b"%PDF-", "is a PDF document, not a graph"),
        (b"\x89PNG", "is a picture, not a graph"),
        (b"\xff\xd8\xff", "is a picture, not a graph"),
        (b"GIF8", "is a picture, not a graph"),
        (b"\x7fELF", "is a program, not a graph"),
        (
            b"version https://git-lfs",
            "is a pointer of Git LFS, not the file itself; fetch that with `git lfs pull`",
        ),
    ];
    KINDS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what)
}

/// A text format that is not read.
struct Kind {
    name: &'static str,
    /// Whether a first line with content is one of it.
    is: fn(&str) -> bool,
    /// How to make a graph of it.
    way: &'static str,
}

/// All of them; lines are in small letters.
const KINDS: &[Kind] = &[
    Kind {
        name: "a GEXF file",
        is: |text| text.starts_with('<') && text.contains("<gexf"),
        way: "gramer.Graph.from_networkx(networkx.read_gexf(FILE))",
    },
    Kind {
        name: "a GraphML file",
        is: |text| text.starts_with('<') && text.contains("<graphml"),
        way: "gramer.Graph.from_networkx(networkx.read_graphml(FILE))",
    },
    Kind {
        name: "a page of HTML (a failed download, perhaps)",
        is: |text| text.starts_with("<!doctype html") || text.starts_with("<html"),
        way: "",
    },
    Kind {
        name: "an XML file",
        is: |text| {
            text.starts_with("<?xml") || text.starts_with("<!--") || text.starts_with("<graph")
        },
        way: "gramer.Graph.from_networkx(networkx.read_graphml(FILE))",
    },
    Kind {
        name: "a Pajek file",
        is: |text| text.starts_with("*vertices") || text.starts_with("*network"),
        way: "gramer.Graph.from_networkx(networkx.read_pajek(FILE))",
    },
    Kind {
        name: "a GML file",
        is: |text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let at = words.iter().position(|word| *word == "graph" || *word == "graph[");
            let front = ["creator", "version", "comment", "graph", "graph["];
            words.first().is_some_and(|word| front.contains(word))
                && at.is_some_and(|at| words[at] == "graph[" || words.get(at + 1) == Some(&"["))
        },
        way: "gramer.Graph.from_networkx(networkx.read_gml(FILE))",
    },
    Kind {
        name: "a DOT file of Graphviz",
        is: |text| {
            let text = text.strip_prefix("strict").unwrap_or(text).trim_start();
            let rest = text.strip_prefix("digraph").or(text.strip_prefix("graph"));
            rest.is_some_and(|rest| rest.contains('{') && !rest.starts_with(char::is_alphanumeric))
        },
        way: "gramer.Graph.from_networkx(networkx.Graph(networkx.nx_pydot.read_dot(FILE)))",
    },
    Kind {
        name: "a LEDA file",
        is: |text| text.starts_with("leda.graph"),
        way: "gramer.Graph.from_networkx(networkx.read_leda(FILE))",
    },
    Kind {
        name: "a graph6 file",
        is: |text| text.starts_with(">>graph6<<"),
        way: "gramer.Graph.from_networkx(networkx.read_graph6(FILE))",
    },
    Kind {
        name: "a sparse6 file",
        is: |text| text.starts_with(">>sparse6<<"),
        way: "gramer.Graph.from_networkx(networkx.read_sparse6(FILE))",
    },
    Kind {
        name: "JSON",
        is: |text| {
            let next = text.get(1..).unwrap_or_default().trim_start();
            text.starts_with('{') && (next.is_empty() || next.starts_with(['"', '}']))
                || text.starts_with('[') && (next.is_empty() || next.starts_with(['[', '{', '"']))
        },
        way: "gramer.Graph.from_networkx(networkx.node_link_graph(json.load(open(FILE))))",
    },
    Kind {
        name: "a UCINET DL file",
        is: |text| text.starts_with("dl ") && text.contains('='),
        way: "",
    },
];

/// Bytes of a text in which its kind shows.
const SHOWS: usize = 4096;

/// Refuses a text in a format of another program.
pub(super) fn refuse(head: &[u8]) -> Result<(), Fault> {
    let fault = |at, what: String| Err(Fault { at, what });
    let content = |(_, line): &(usize, &[u8])| !line.is_empty() && !scan::is_comment(line);
    let Some((at, first)) = scan::lines(head).find(content) else { return Ok(()) };
    // No such format begins with a number.
    if first[0].is_ascii_digit() {
        return Ok(());
    }
    if let Some((at, way)) = by_line(head, at, first) {
        return fault(at, way);
    }
    let from = &head[at..];
    let text = String::from_utf8_lossy(&from[..from.len().min(SHOWS)]).to_ascii_lowercase();
    match KINDS.iter().find(|kind| (kind.is)(&text)) {
        Some(Kind { name, way: "", .. }) => fault(at, format!("this is {name}, which is not read")),
        Some(Kind { name, way, .. }) => {
            fault(at, format!("this is {name}, which is not read; in Python: {way}"))
        }
        None => Ok(()),
    }
}

/// Formats whose lines a small program turns into edges; where and what.
fn by_line(head: &[u8], at: usize, first: &[u8]) -> Option<(usize, String)> {
    if first.eq_ignore_ascii_case(b"AdjacencyGraph")
        || first.eq_ignore_ascii_case(b"WeightedAdjacencyGraph")
    {
        let what = "this is an adjacency graph of Ligra, which is not read; make an edge list of it: awk \
                    'NR == 2 {n = $1} NR == 3 {m = $1} NR > 3 && NR <= n + 3 {o[NR - 4] = $1} NR > n + 3 && \
                    NR <= n + m + 3 {while (v < n - 1 && o[v + 1] <= NR - n - 4) v++; print v, $1}' FILE";
        return Some((at, what.into()));
    }
    // Comments of DIMACS are lines of `c`.
    let content = |(_, line): &(usize, &[u8])| {
        !line.is_empty() && !scan::is_comment(line) && *line != b"c" && !line.starts_with(b"c ")
    };
    let (at, line) = scan::lines(head).find(content)?;
    let words: Vec<&[u8]> = line.split(|b| scan::is_blank(*b)).filter(|w| !w.is_empty()).collect();
    let [b"p", kind, counts @ ..] = &words[..] else { return None };
    if counts.len() < 2 || counts.iter().any(|count| scan::count(count).is_none()) {
        return None;
    }
    let letter = if *kind == b"sp" { 'a' } else { 'e' };
    let what = format!(
        "this is a DIMACS file, which is not read; make an edge list of it: awk '$1 == \"{letter}\" \
         {{print $2, $3}}' FILE"
    );
    Some((at, what))
}
