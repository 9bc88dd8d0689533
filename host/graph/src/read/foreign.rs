//! Files that hold no graph that is read here: recognised by their first bytes or lines, so that a message can name
//! them with the cure.

use std::path::Path;

use super::scan::{self, Fault};
use gramer_base::error::{Error, Place, Result};

/// Refuses what is not text at all.
pub(super) fn check_text(path: &Path, head: &[u8]) -> Result<()> {
    let fault = |what: String| Err(Error::input(Place::file(path), what));
    if head.is_empty() {
        return fault("is empty".into());
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return fault("is text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE > OUT".into());
    }
    if let Some(what) = binary(head) {
        return fault(what.into());
    }
    if let Some(at) = memchr::memchr(0, head) {
        return fault(format!(
            "is neither text nor an image of this program (byte {at} is zero); the setting \
             `format` lists those that can be read"
        ));
    }
    Ok(())
}

/// Fault and remedy of a binary file, by its first bytes.
pub(super) fn binary(head: &[u8]) -> Option<&'static str> {
    const PICTURE: &str = "is a picture, not a graph: look for the file of the graph itself";
    const KINDS: &[(&[u8], &str)] = &[
        (
            b"FEA1",
            "is a Feather file of version 1; write it as version 2, in Python: pandas.read_feather(FILE).to_feather(OUT)",
        ),
        (b"\x89HDF\r\n", "is an HDF5 file; write its edges as text, two ids a line"),
        (
            b"\x93NUMPY",
            "is an array of NumPy; in Python: gramer.Graph.from_edges(numpy.load(FILE)), or numpy.savetxt(OUT, numpy.load(FILE), fmt=\"%d\")",
        ),
        (
            b"MATLAB 5.0 MAT-file",
            "is a file of MATLAB; in Python: gramer.Graph.from_scipy(scipy.io.loadmat(FILE)[NAME])",
        ),
        (
            b"SQLite format 3",
            "is an SQLite database; write a query as CSV: sqlite3 -csv FILE 'SELECT source, target FROM …'",
        ),
        (b"%PDF-", "is a PDF document, not a graph: look for the file of the graph itself"),
        (b"\x89PNG", PICTURE),
        (b"\xff\xd8\xff", PICTURE),
        (b"GIF8", PICTURE),
        (b"II*\0", PICTURE),
        (b"MM\0*", PICTURE),
        (b"\x7fELF", "is a program, not a graph"),
        (b"7z\xbc\xaf\x27\x1c", "is compressed with 7z; unpack it: 7z x FILE"),
        (b"Rar!\x1a\x07", "is a RAR archive; unpack it: unrar x FILE"),
        (
            b"version https://git-lfs",
            "is a pointer of Git LFS, not the file itself; fetch that with `git lfs pull`",
        ),
    ];
    let kind = KINDS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what);
    kind.or_else(|| match head {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(PICTURE),
        // A bitmap has zeros behind its size.
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(PICTURE),
        [0x80, 2..=5, ..] => Some(
            "is a pickle of Python; there: gramer.Graph.from_networkx(pickle.load(open(FILE, \"rb\"))), if you trust \
             its source",
        ),
        head if is_of_snap(head) => Some(
            "looks like a binary graph of SNAP, which has no mark of its own; write it as text, in Python: \
             snap.SaveEdgeList(snap.TUNGraph.Load(snap.TFIn(FILE)), OUT), or TNGraph if it is directed",
        ),
        head if head.get(257..262) == Some(b"ustar") => {
            Some("is a tar archive; unpack it: tar -xf FILE")
        }
        _ => None,
    })
}

/// Whether numbers are those of a graph that SNAP saved: the largest id and the number of edges, which has 32 or 64
/// bits; then the ports of a hash table, twice their number in front, each a position or -1.
fn is_of_snap(head: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = head.get(at..at + 4)?;
        Some(i32::from_le_bytes(bytes.try_into().ok()?))
    };
    let table = |at: usize| -> Option<bool> {
        let ports = number(at).filter(|&ports| ports > 1 && number(at + 4) == Some(ports))?;
        let shown: Vec<i32> =
            (0..ports.min(1000) as usize).map_while(|port| number(at + 8 + 4 * port)).collect();
        let free = shown.iter().filter(|&&port| port == -1).count();
        Some(shown.iter().all(|&port| (-1..ports).contains(&port)) && free > 0)
    };
    number(0).is_some_and(|largest| largest > 0)
        && (table(8) == Some(true) || number(8) == Some(0) && table(12) == Some(true))
}

/// A text that is not a graph, or in a format that is not read.
struct Kind {
    /// Name of the format.
    name: &'static str,
    /// Whether a text is one, by its first lines with content in small letters.
    is: fn(&str) -> bool,
    /// Remedy.
    cure: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "a page of HTML",
        is: |text| {
            // A name in a table may hold the tag as well.
            let begins = |tag: &&str| text.starts_with(*tag);
            ["<!doctype html", "<table", "<div", "<body", "<head"].iter().any(begins)
                || text.starts_with('<') && text.contains("<html")
        },
        cure: "the download may have failed: open its address in a browser, and fetch the file behind the link",
    },
    Kind {
        name: "the message of a server",
        is: |text| text.starts_with("404: not found") || text.starts_with("404 not found"),
        cure: "the download failed: check its address",
    },
    Kind {
        name: "a picture in SVG",
        is: |text| text.starts_with('<') && text.contains("<svg"),
        cure: "it holds no graph: look for the file of the graph itself",
    },
    Kind {
        name: "XML of a kind that is not read",
        is: |text| text.starts_with("<?xml") || text.starts_with("<!--"),
        cure: "GraphML and GEXF are read",
    },
    Kind {
        name: "a DOT file of Graphviz, which is not read",
        is: |text| {
            // Writers put their name in front.
            let comment = text.strip_prefix("/*").and_then(|text| text.split_once("*/"));
            let text = comment.map_or(text, |(_, text)| text.trim_start());
            let text = text.strip_prefix("strict").unwrap_or(text).trim_start();
            let rest = text.strip_prefix("digraph").or(text.strip_prefix("graph"));
            rest.is_some_and(|rest| rest.contains('{') && !rest.starts_with(char::is_alphanumeric))
        },
        cure: "convert it with Graphviz: gv2gml FILE > OUT.gml",
    },
    Kind {
        name: "a list in JSON that holds no edges",
        is: |text| {
            let next = text.get(1..).unwrap_or_default().trim_start();
            text.starts_with('[') && (next.is_empty() || next.starts_with('"'))
        },
        cure: "write pairs, `[[\"a\", \"b\"], ...]`, or objects with `source` and `target`",
    },
    Kind {
        name: "a GDF file of GUESS, which is not read",
        is: |text| text.starts_with("nodedef>") || text.starts_with("nodedef >"),
        cure: "open it in Gephi and export it as GraphML, or keep the lines behind `edgedef>`",
    },
    Kind {
        name: "a VNA file of NetDraw, which is not read",
        is: |text| text.starts_with("*node data") || text.starts_with("*tie data"),
        cure: "keep the lines behind `*Tie data`",
    },
    Kind {
        name: "a TLP file of Tulip, which is not read",
        is: |text| text.starts_with("(tlp"),
        cure: "export it from Tulip as GML or CSV",
    },
    Kind {
        name: "a UCINET DL file, which is not read",
        is: |text| text.starts_with("dl ") && text.contains('='),
        cure: "convert it, in Python: igraph.Graph.Read_DL(FILE).write_graphml(OUT)",
    },
];

/// Bytes of a text in which its kind shows.
const SHOWS: usize = 4096;

/// Refuses a text that is not a graph, or in a format that is not read.
pub(super) fn refuse(head: &[u8]) -> Result<(), Fault> {
    let content = |(_, line): &(usize, &[u8])| !line.is_empty() && !scan::is_comment(line);
    let Some((at, first)) = scan::lines(head).find(content) else { return Ok(()) };
    // Of these texts, only a server's message may begin with a number.
    if first[0].is_ascii_digit() && !first.starts_with(b"404") {
        return Ok(());
    }
    let from = &head[at..];
    let text = String::from_utf8_lossy(&from[..from.len().min(SHOWS)]).to_ascii_lowercase();
    match KINDS.iter().find(|kind| (kind.is)(&text)) {
        Some(Kind { name, cure, .. }) => Err(Fault { at, what: format!("this is {name}; {cure}") }),
        None => Ok(()),
    }
}
