//! Statements about the graph in the head of a file, compared with the data.
//!
//! Formats with numbers in their own header compare these themselves. Here are those of comments, which any text
//! may have: of SNAP (`# Nodes: 6 Edges: 9`), of KONECT (`% asym unweighted`, then `% 9 6 6`), and words that call the
//! graph directed; and a first line `V E` that would pass for an edge.

use std::path::Path;

use super::scan::{self, is_comment, quote};
use crate::Graph;
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result};

/// A number that a line claims.
#[derive(Debug, Clone, Copy)]
struct Count {
    line: u64,
    number: u64,
}

/// Claims of a head.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    vertices: Option<Count>,
    edges: Option<Count>,
    /// Line that declares the graph directed, or the words of a matrix that is not symmetric.
    pub directed: Option<String>,
    /// The numbers of the first line of an edge list, where these may be those of vertices and edges.
    pub first_line: Option<Vec<u64>>,
    /// Whether the format was named: then the first line is what that says.
    pub forced: bool,
}

impl Claims {
    /// Parses the claims in comments before the first line with content.
    pub fn of(head: &[u8], forced: bool) -> Self {
        let mut claims = Claims { forced, ..Claims::default() };
        let mut konect = false;
        let comments = (1..)
            .zip(scan::lines(head))
            .take_while(|(_, (_, line))| line.is_empty() || is_comment(line))
            .filter(|(_, (_, line))| !line.is_empty());
        for (nth, (number, (_, line))) in comments.enumerate() {
            let text = String::from_utf8_lossy(&line[..line.len().min(1000)]).to_ascii_lowercase();
            let text = text.trim_start_matches(['#', '%']).trim();
            let words: Vec<&str> = text.split_whitespace().collect();
            let named = || format!("line {number}, {},", quote(line));
            if nth == 0
                && line[0] == b'%'
                && matches!(words.first(), Some(&("sym" | "asym" | "bip")))
            {
                konect = true;
                if words[0] == "asym" {
                    claims.directed = Some(named());
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
        claims
    }

    /// Parses `Nodes: 6 Edges: 9`, in one line or two.
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
    pub fn check(&self, path: &Path, graph: &Graph, lenient: bool) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        let stats = graph.stats();
        let (read, edges) = (stats.raw_edges, graph.edges() as u64);
        if let Some(Count { line, number }) = self.edges {
            if read < number && !lenient {
                let what = format!(
                    "this line says {}, but {}: the file is cut off, or the line is wrong (the setting \
                     `allow_mismatch` reads the file all the same)",
                    counted(number, "edge", "edges"),
                    counted(read, "follows", "follow")
                );
                return Err(Error::input(Place::line(path, line), what));
            }
            // Each edge in both directions or once, self loops counted or not.
            let simple = stats.duplicates == 0 || stats.duplicates == edges;
            let meant = [read, read - stats.self_loops, edges, edges + stats.self_loops];
            let is_meant = meant.contains(&number) || simple && 2 * number == read;
            if !is_meant {
                let number = counted(number, "edge", "edges");
                let read = counted(read, "follows", "follow");
                notes.push(format!("line {line} says {number}, but {read}"));
            }
        }
        if let Some(Count { line, number }) = self.vertices
            && number != graph.vertices() as u64
        {
            let read = graph.vertices();
            notes.push(match (read as u64) < number {
                true => format!(
                    "line {line} says {}, but {} an edge: the others are not in the graph",
                    counted(number, "vertex", "vertices"),
                    counted(read, "has", "have")
                ),
                false => format!(
                    "line {line} says {}, but {}",
                    counted(number, "vertex", "vertices"),
                    counted(read, "follows", "follow")
                ),
            });
        }
        if let Some(directed) = &self.directed
            && stats.duplicates != edges
        {
            notes.push(format!("{directed} says that edges are directed: direction is dropped"));
        }
        notes.extend(self.check_first_line(path, graph)?);
        let bits = graph.vertices() == 2 && graph.original_ids().iter().all(|&id| id < 2);
        if self.first_line.as_ref().is_some_and(|line| line.len() == 2)
            && bits
            && read == 2
            && !self.forced
        {
            notes.push(
                "the two lines could be a matrix as well: they are taken as edges (the setting `format` can be matrix)".into(),
            );
        }
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
        // An edge has two vertices.
        if a < others.max(2) {
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
                "{what}; put # in front of it, or, if it is an edge all the same, name the format with the setting \
                 `format`: edges"
            );
            return Err(Error::input(Place::file(path), what));
        }
        Ok(Some(format!("{what}; it is taken as an edge (if it is not one, put # in front of it)")))
    }
}

/// Whether a comment calls the graph directed.
fn says_directed(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("directed") else { return false };
    let rest = rest.trim_start_matches([':', '=', ' ', '\t']);
    !["no", "false", "0"].contains(&rest)
}
