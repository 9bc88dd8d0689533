//! What the head of a file says of the graph, and whether that is what was read.
//!
//! Formats with numbers in a header of their own compare these themselves. Here are those of comments, which any text
//! may have: of SNAP (`# Nodes: 6 Edges: 9`), of KONECT (`% asym unweighted`, then `% 9 6 6`), and words that call the
//! graph directed; and a first line `V E` that would pass for an edge.

use std::path::Path;

use super::scan::{self, Fault, is_comment, quote};
use crate::Graph;
use crate::error::{Error, Place, Result};

/// A number that a line claims.
#[derive(Debug, Clone, Copy)]
struct Count {
    line: u64,
    number: u64,
}

/// What a head claims.
#[derive(Debug, Default)]
pub(super) struct Claims {
    vertices: Option<Count>,
    edges: Option<Count>,
    /// The line that calls the graph directed, or the words of a matrix that is not symmetric.
    pub directed: Option<String>,
    /// The numbers of the first line of an edge list, where these may be those of vertices and edges.
    pub first_line: Option<Vec<u64>>,
    /// Whether the format was named: then the first line is what that says.
    pub forced: bool,
}

impl Claims {
    /// Those of the comments in front of the first line with content.
    ///
    /// # Errors
    /// A fault for a bipartite graph, both sides of which have the same ids.
    pub fn of(head: &[u8], forced: bool) -> Result<Self, Fault> {
        let mut claims = Claims { forced, ..Claims::default() };
        let mut konect = false;
        let comments = (1..)
            .zip(scan::lines(head))
            .take_while(|(_, (_, line))| line.is_empty() || is_comment(line))
            .filter(|(_, (_, line))| !line.is_empty());
        for (nth, (number, (at, line))) in comments.enumerate() {
            let text = String::from_utf8_lossy(&line[..line.len().min(1000)]).to_ascii_lowercase();
            let text = text.trim_start_matches(['#', '%']).trim();
            let words: Vec<&str> = text.split_whitespace().collect();
            let named = || format!("line {number}, {},", quote(line));
            if nth == 0
                && line[0] == b'%'
                && matches!(words.first(), Some(&("sym" | "asym" | "bip")))
            {
                konect = true;
                match words[0] {
                    "asym" => claims.directed = Some(named()),
                    "bip" if !forced => return Err(bipartite(head, at)),
                    _ => {}
                }
                continue;
            }
            if nth == 1 && konect {
                let counts: Vec<u64> = words.iter().map_while(|word| word.parse().ok()).collect();
                if counts.len() == words.len() && !counts.is_empty() {
                    let count = |number_of: &u64| Count { line: number, number: *number_of };
                    claims.edges = counts.first().map(count);
                    claims.vertices = counts.get(1).map(count);
                }
                continue;
            }
            claims.words(text, number);
            if says_directed(text) {
                claims.directed = Some(named());
            }
        }
        Ok(claims)
    }

    /// Takes `Nodes: 6 Edges: 9`, in one line or two.
    fn words(&mut self, text: &str, line: u64) {
        let marks = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | ',' | ';');
        let words: Vec<&str> = text.split(marks).filter(|word| !word.is_empty()).collect();
        let pair = |at: usize| {
            let of = match *words.get(at)? {
                "nodes" | "vertices" | "|v|" => 'v',
                "edges" | "arcs" | "links" | "|e|" => 'e',
                _ => return None,
            };
            Some((of, words.get(at + 1)?.parse().ok()?))
        };
        // Nothing but such words, so that a sentence claims nothing.
        let found: Option<Vec<(char, u64)>> = (0..words.len()).step_by(2).map(pair).collect();
        for (of, number) in found.into_iter().flatten() {
            let count = Some(Count { line, number });
            if of == 'v' { self.vertices = count } else { self.edges = count }
        }
    }

    /// Compares with the graph; remarks.
    ///
    /// # Errors
    /// [`Error::Input`] for fewer edges than claimed, and for a first line that says what follows.
    pub fn check(&self, path: &Path, graph: &Graph) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        let stats = graph.stats();
        let (read, edges) = (stats.raw_edges, graph.edges() as u64);
        if let Some(Count { line, number }) = self.edges {
            if read < number {
                let what = format!(
                    "this line says {number} edges, but {read} follow: the file is cut off, or the line is \
                     wrong (then correct or remove it)"
                );
                return Err(Error::input(Place::line(path, line), what));
            }
            // Each edge in both directions or once, self loops counted or not.
            let simple = stats.duplicates == 0 || stats.duplicates == edges;
            let meant = [read, read - stats.self_loops, edges, edges + stats.self_loops];
            let is_meant = meant.contains(&number) || simple && 2 * number == read;
            if !is_meant {
                notes.push(format!("line {line} says {number} edges, but {read} follow"));
            }
        }
        if let Some(Count { line, number }) = self.vertices
            && number != graph.vertices() as u64
        {
            let read = graph.vertices();
            notes.push(match (read as u64) < number {
                true => format!(
                    "line {line} says {number} vertices, but {read} have an edge: the others are not in \
                     the graph"
                ),
                false => format!("line {line} says {number} vertices, but {read} follow"),
            });
        }
        if let Some(directed) = &self.directed
            && stats.duplicates != edges
        {
            notes.push(format!("{directed} says that edges are directed: direction is dropped"));
        }
        notes.extend(self.check_first_line(path, graph)?);
        Ok(notes)
    }

    /// Some edge lists begin with a line `V E`, or `V V E`, which nothing but its meaning tells from an edge. If it
    /// says what follows, it is refused (where it fits less well, or the format was named: remarked) rather than
    /// silently taken as an edge.
    fn check_first_line(&self, path: &Path, graph: &Graph) -> Result<Option<String>> {
        const SMALL: u64 = 16;
        let Some(numbers) = &self.first_line else { return Ok(None) };
        let following = graph.stats().raw_edges - 1;
        let (&[a, b] | &[a, b, _]) = &numbers[..] else { return Ok(None) };
        let square = numbers.len() == 3;
        if numbers.last() != Some(&following) || square && a != b {
            return Ok(None);
        }
        // Vertices of the other lines: without those ends that only this line has.
        let own = usize::from(a != b);
        let (mut others, mut largest) = (0u64, 0);
        for (v, &id) in (0u32..).zip(graph.original_ids()) {
            if (id != a && id != b) || graph.view().degree(v) > own {
                others += 1;
                largest = largest.max(id);
            }
        }
        if a < others {
            return Ok(None);
        }
        let shown = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let what = format!(
            "the first line, {shown}, reads as an edge but looks like the numbers of vertices and edges: \
             {following} edge lines follow"
        );
        let exact = a == others || a == largest + 1 || square;
        if (exact || following >= SMALL) && !self.forced {
            let what = format!(
                "{what}; put # before it, or, if it is an edge all the same, name the format with the setting \
                 `format`: edges"
            );
            return Err(Error::input(Place::file(path), what));
        }
        Ok(Some(format!("{what}; it is taken as an edge (if it is none, put # before it)")))
    }
}

/// Whether a comment calls the graph directed.
fn says_directed(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("directed") else { return false };
    let rest = rest.trim_start_matches([':', '=', ' ', '\t']);
    !["no", "false", "0"].contains(&rest)
}

/// The fault of a bipartite graph of KONECT.
fn bipartite(head: &[u8], at: usize) -> Fault {
    let numbers = scan::lines(&head[at..]).nth(1).map(|(_, line)| line).unwrap_or_default();
    let left = scan::fields(numbers).filter_map(scan::count).nth(1);
    let by = left.map_or("N".to_string(), |left| left.to_string());
    let what = format!(
        "the graph is bipartite (`bip`), and both sides are numbered from 1: the same id means two vertices; \
         number one side behind the other: awk '!/^%/ {{print $1, $2 + {by}}}' FILE"
    );
    Fault { at, what }
}
