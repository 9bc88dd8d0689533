//! Names of unlabelled patterns.

mod family;
pub use family::FAMILIES;

use gramer_graph::{Graph, NO_LABEL, Name};

use std::sync::OnceLock;

use super::canonical::DICTIONARY_VERTICES;
use super::plan::search::bits;
use super::{Dictionary, MAX_VERTICES, Pattern, PatternInput, SMALL_VERTICES, VertexSet};

/// A name, the number of vertices and the edges.
type NamedPattern = (&'static str, usize, &'static [(usize, usize)]);

/// Names that the field uses, with one graph of each.
const NAMED: &[NamedPattern] = &[
    ("vertex", 1, &[]),
    ("edge", 2, &[(0, 1)]),
    ("wedge", 3, &[(0, 1), (0, 2)]),
    ("triangle", 3, &[(0, 1), (0, 2), (1, 2)]),
    ("tailed-triangle", 4, &[(0, 1), (0, 2), (1, 2), (0, 3)]),
    ("diamond", 4, &[(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]),
    ("fork", 5, &[(0, 1), (0, 2), (0, 3), (3, 4)]),
    ("bull", 5, &[(0, 1), (0, 2), (1, 2), (0, 3), (1, 4)]),
    ("cricket", 5, &[(0, 1), (0, 2), (1, 2), (0, 3), (0, 4)]),
    ("lollipop", 5, &[(0, 1), (0, 2), (1, 2), (0, 3), (3, 4)]),
    ("banner", 5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4)]),
    ("hourglass", 5, &[(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]),
    ("house", 5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]),
    ("dart", 5, &[(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4)]),
    ("kite", 5, &[(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 4)]),
    ("gem", 5, &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)]),
];

/// The canonical name of an unlabelled pattern (labels are ignored).
///
/// Well-known graphs have the field's names: `wedge`, `triangle`, a few more of 4 and 5 vertices, and those of
/// [`FAMILIES`], such as `5-path` and `K2,3`. Other graphs of up to 6
/// vertices are called `VvEe.N`: the N-th connected graph of V vertices and E edges, from 0, by
/// the smallest adjacency bits (`6v8e.3`). Larger ones are named by the bits of their canonical
/// form, in hexadecimal (`8v-a3f…`), and those of more than [`SMALL_VERTICES`] by their numbers of vertices
/// and edges alone (`24v30e`), a name that others may share. Of several components the name is that of each, the
/// largest first (`triangle+edge`).
pub fn name(pattern: &Pattern) -> String {
    let n = pattern.vertices();
    let components = pattern.components();
    if components.len() > 1 {
        let part = |&part: &VertexSet| pattern.induced(&bits(part).collect::<Vec<_>>());
        let mut parts: Vec<Pattern> = components.iter().map(part).collect();
        parts.sort_by_key(|part| std::cmp::Reverse((part.vertices(), part.edge_count())));
        return parts.iter().map(name).collect::<Vec<_>>().join("+");
    }
    let edges = pattern.edge_count();
    let plain = Pattern::from_edges(n, &pattern.edges());
    if let Some(name) = family::name_of(&plain) {
        return name;
    }
    if n > SMALL_VERTICES {
        return format!("{n}v{edges}e");
    }
    let (canonical, _) = plain.canonical();
    let known = TABLES.get(n).map_or(&[][..], |_| table(n));
    if let Some((name, ..)) = known.iter().find(|(_, p)| *p == canonical) {
        return name.to_string();
    }
    if (1..=DICTIONARY_VERTICES).contains(&n) {
        let same = Dictionary::of(n).patterns().iter().filter(|p| p.edge_count() == edges);
        if let Some(at) = same.into_iter().position(|p| *p == canonical) {
            return format!("{n}v{edges}e.{at}");
        }
    }
    format!("{n}v-{:x}", canonical.bits())
}

/// By number of vertices, so that the names of small patterns need no dictionary of larger ones: that of
/// 5 vertices takes as long to make as all else that a small graph needs.
static TABLES: [OnceLock<Vec<(&'static str, Pattern)>>; DICTIONARY_VERTICES + 1] =
    [const { OnceLock::new() }; DICTIONARY_VERTICES + 1];

/// The names of patterns of `n` vertices, up to [`DICTIONARY_VERTICES`], with their canonical forms.
fn table(n: usize) -> &'static [(&'static str, Pattern)] {
    TABLES[n].get_or_init(|| {
        let of_size = NAMED.iter().filter(|(_, vertices, _)| *vertices == n);
        of_size
            .map(|&(name, n, edges)| (name, Pattern::from_edges(n, edges).canonical().0))
            .collect()
    })
}

/// Whether words are the name of a family whose size is beyond [`MAX_VERTICES`](crate::MAX_VERTICES).
pub(crate) fn is_too_large(words: &str) -> bool {
    let (mut sum, mut small, mut rest) = (0u64, String::new(), words);
    while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[begin..].find(|c: char| !c.is_ascii_digit());
        let end = end.map_or(rest.len(), |end| begin + end);
        sum = sum.saturating_add(rest[begin..end].parse().unwrap_or(u64::MAX));
        small += &rest[..begin];
        small.push('5');
        rest = &rest[end..];
    }
    sum > crate::MAX_VERTICES as u64 && named(&(small + rest)).is_some()
}

/// The pattern that a name stands for, one of [`name`] or of [`names`]: `triangle`, `5-path`, `K3,3`, `6v8e.3`,
/// `triangle+edge`; in canonical form if it has up to [`SMALL_VERTICES`] vertices. `None` for other names.
pub fn named(wanted: &str) -> Option<Pattern> {
    if let Some((first, rest)) = wanted.split_once('+') {
        let (first, rest) = (named(first)?, named(rest)?);
        let n = first.vertices();
        (n + rest.vertices() <= MAX_VERTICES).then_some(())?;
        let moved = rest.edges().into_iter().map(|(i, j)| (n + i, n + j));
        let edges: Vec<(usize, usize)> = first.edges().into_iter().chain(moved).collect();
        return Some(canonical(Pattern::from_edges(n + rest.vertices(), &edges)));
    }
    if let Some(&(_, n, edges)) = NAMED.iter().find(|(name, ..)| *name == wanted) {
        return Some(Pattern::from_edges(n, edges).canonical().0);
    }
    if let Some((_, name)) = OTHER_NAMES.iter().find(|(words, _)| words.contains(&wanted)) {
        return named(name);
    }
    if let Some(pattern) = family::named(wanted) {
        return Some(canonical(pattern));
    }
    let (vertices, rest) = wanted.split_once('v')?;
    let (edges, number) = rest.split_once("e.")?;
    let (vertices, edges): (usize, usize) = (vertices.parse().ok()?, edges.parse().ok()?);
    if !(1..=DICTIONARY_VERTICES).contains(&vertices) {
        return None;
    }
    let same = Dictionary::of(vertices).patterns().iter().filter(|p| p.edge_count() == edges);
    same.into_iter().nth(number.parse().ok()?).cloned()
}

/// The canonical form of a pattern that has one, else the pattern.
fn canonical(pattern: Pattern) -> Pattern {
    match pattern.vertices() {
        ..=SMALL_VERTICES => pattern.canonical().0,
        _ => pattern,
    }
}

/// Names for users: those of single patterns, and one for each family.
pub fn names() -> Vec<String> {
    let single = NAMED.iter().map(|(name, ..)| name.to_string());
    single.chain(family::FAMILIES.iter().map(|(name, _)| name.to_string())).collect()
}

/// Other names of patterns, which are accepted, and the name in answers.
const OTHER_NAMES: &[(&[&str], &str)] = &[
    (&["cherry"], "wedge"),
    (&["paw"], "tailed-triangle"),
    (&["chordal-square", "chordal-cycle"], "diamond"),
    (&["chair"], "fork"),
    (&["butterfly", "bowtie", "bow-tie"], "hourglass"),
    (&["square", "rectangle", "quadrilateral", "quadrangle"], "4-cycle"),
    (&["pentagon"], "5-cycle"),
    (&["hexagon"], "6-cycle"),
    (&["claw"], "3-star"),
    (&["tetrahedron"], "4-clique"),
];

/// Words without a size, which lead to a similar name.
const WORDS: &[(&[&str], &str)] = &[
    (&["cycle", "ring", "circle"], "4-cycle"),
    (&["wheel"], "4-wheel"),
    (&["biclique", "bipartite", "utility"], "K3,3"),
    (&["star"], "3-star"),
    (&["clique", "complete"], "4-clique"),
    (&["path", "chain", "line"], "4-path"),
    (&["fan"], "gem"),
];

/// Other names of a pattern or of the members of a family, such as `paw` and `square (4-cycle)`.
pub fn other_names(name: &str) -> Vec<String> {
    let family = |member: &str| member.split_once('-').map(|(_, family)| format!("k-{family}"));
    let of = |(words, member): &(&[&str], &str)| {
        let is_member = family(member).as_deref() == Some(name);
        let text = |word: &&str| match is_member {
            true => format!("{word} ({member})"),
            false => word.to_string(),
        };
        let words = if is_member || *member == name { *words } else { &[] };
        words.iter().map(text).collect::<Vec<_>>()
    };
    OTHER_NAMES.iter().flat_map(of).collect()
}

/// Names similar to an unknown word (`K_4`, `square`, `triange`), the nearest first.
///
/// ```
/// use gramer_pattern::similar;
///
/// assert_eq!(similar("K_4"), ["4-clique"]);
/// assert_eq!(similar("square"), ["4-cycle"]);
/// assert_eq!(similar("triange"), ["triangle"]);
/// assert!(similar("data/query.graph").is_empty());
/// ```
pub fn similar(wanted: &str) -> Vec<String> {
    let wanted = wanted.to_lowercase().replace(['_', ' '], "-");
    if let Some(pattern) = named(&wanted) {
        return vec![name(&pattern)];
    }
    if let Some((part, rest)) = wanted.split_once('+') {
        let (part, rest) = (similar(part), similar(rest));
        let both = part.first().zip(rest.first());
        return both.map(|(part, rest)| format!("{part}+{rest}")).into_iter().collect();
    }
    if let Some((_, name)) = WORDS.iter().find(|(words, _)| words.contains(&&*wanted)) {
        return vec![name.to_string()];
    }
    // A size and a family in either order: `clique4`, `cycle-5`, `4clique`, `K4`, `C5`.
    let is_digit = |c: char| c.is_ascii_digit();
    let size: String = wanted.chars().filter(|&c| is_digit(c)).collect();
    let word: String = wanted.chars().filter(|&c| !is_digit(c) && c != '-').collect();
    let family = match &*word {
        "k" | "complete" => "clique",
        "c" | "ring" | "gon" => "cycle",
        "p" | "chain" | "line" => "path",
        "s" => "star",
        "w" => "wheel",
        other => other,
    };
    let families = ["clique", "cycle", "path", "star", "wheel"];
    if !size.is_empty() {
        let distance = |one: &&&str| strsim::damerau_levenshtein(one, family);
        let near = families.iter().min_by_key(distance).filter(|one| distance(one) <= 1);
        let name = near.map(|near| format!("{size}-{near}"));
        return name.into_iter().filter(|name| named(name).is_some()).collect();
    }
    // A slip of the pen: a letter in four, and one in short words.
    let most = (wanted.chars().count() / 4).max(1);
    let others = OTHER_NAMES.iter().flat_map(|(words, name)| words.iter().map(move |w| (w, name)));
    let mut near: Vec<(usize, String)> = NAMED
        .iter()
        .map(|(name, ..)| (name, name))
        .chain(others)
        .map(|(word, name)| (strsim::damerau_levenshtein(word, &wanted), name.to_string()))
        .chain(families.iter().map(|family| {
            let distance = strsim::damerau_levenshtein(family, &wanted);
            (distance, similar(family).concat())
        }))
        .filter(|(distance, _)| *distance <= most && wanted.len() > 2)
        .collect();
    near.sort();
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name).collect()
}

/// The name of a pattern with its labels, by canonical vertex and edge: `wedge[2,0,1]{7,*}`.
/// `*` stands for any label. Pairs that must not be joined follow: `4-path!{0-2}`.
pub fn labelled_name(pattern: &Pattern) -> String {
    labelled(pattern, &|label| Name::Number(label.into()), &|label| Name::Number(label.into()))
}

/// As [`labelled_name`], with the labels of a graph as its input has them: `edge[Kinase,"a, b"]`.
pub fn labelled_name_in(pattern: &Pattern, graph: &Graph) -> String {
    let vertex = |label| graph.vertex_label_name(label);
    labelled(pattern, &vertex, &|label| graph.edge_label_name(label))
}

/// As [`labelled_name`], with the labels as the user wrote them.
pub fn labelled_name_as(pattern: &Pattern, input: &PatternInput) -> String {
    labelled(pattern, &|label| input.label_name(label), &|label| input.label_name(label))
}

/// A label in the name of a pattern: in quotes where it would not be read as one word.
pub fn label_text(label: &Name<'_>) -> String {
    let text = label.to_string();
    let apart = |c: char| c.is_whitespace() || c.is_control() || ",[]{}\"*!:".contains(c);
    match text.is_empty() || text.contains(apart) {
        true => format!("{text:?}"),
        false => text,
    }
}

/// The names that labels have.
type Labels<'g> = dyn Fn(u32) -> Name<'g> + 'g;

fn labelled<'g>(pattern: &Pattern, vertex: &Labels<'g>, edge: &Labels<'g>) -> String {
    let list = |labels: &mut dyn Iterator<Item = u32>, name: &Labels<'g>| {
        let text = |l| if l == NO_LABEL { "*".to_string() } else { label_text(&name(l)) };
        labels.map(text).collect::<Vec<_>>().join(",")
    };
    let mut text = name(pattern);
    if !pattern.vertex_labels().is_empty() {
        text += &format!("[{}]", list(&mut pattern.vertex_labels().iter().copied(), vertex));
    }
    let absent = pattern.absences().into_iter().map(|(i, j)| format!("{i}-{j}"));
    let absent = absent.collect::<Vec<_>>().join(",");
    if pattern.has_edge_labels() {
        let labels =
            pattern.edges().into_iter().map(|(i, j)| pattern.edge_label(i, j).unwrap_or(NO_LABEL));
        text += &format!("{{{}}}", list(&mut labels.into_iter(), edge));
    }
    if !absent.is_empty() {
        text += &format!("!{{{absent}}}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_motif_has_a_name_of_its_own_that_leads_back() {
        for k in 3..=6 {
            let mut names: Vec<String> = vec![];
            for p in Dictionary::of(k).patterns() {
                let name = name(p);
                assert_eq!(named(&name).as_ref(), Some(p), "{name}");
                names.push(name);
            }
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }

    #[test]
    fn each_row_of_names_is_used() {
        for &(wanted, vertices, edges) in NAMED {
            assert!(vertices <= DICTIONARY_VERTICES, "{wanted} has no dictionary");
            assert_eq!(name(&Pattern::from_edges(vertices, edges)), wanted);
        }
    }

    #[test]
    fn other_names_are_accepted() {
        for &(words, wanted) in OTHER_NAMES {
            for word in words {
                assert_eq!(named(word).map(|pattern| name(&pattern)).as_deref(), Some(wanted));
            }
        }
        for &(words, name) in WORDS {
            assert!(named(name).is_some() && words.iter().all(|word| named(word).is_none()));
        }
        assert_eq!(other_names("tailed-triangle"), ["paw"]);
        assert_eq!(other_names("k-star"), ["claw (3-star)"]);
    }

    #[test]
    fn large_patterns_have_names() {
        for wanted in ["20-clique", "31-star", "32-path", "17-cycle", "K3,15", "20-wheel", "K19-e"]
        {
            assert_eq!(name(&named(wanted).unwrap()), wanted);
        }
        for (wanted, size) in [("33-clique", 33), ("32-star", 33), ("33-path", 33)] {
            assert_eq!(named(wanted), None, "{size} vertices are too many");
        }
        let mut tailed = named("19-cycle").unwrap();
        tailed.add_edge(0, 9);
        assert_eq!(name(&tailed), "19v20e");
    }

    #[test]
    fn words_that_are_no_names_lead_to_some() {
        let cases = [
            ("triange", "triangle"),
            ("Triangle", "triangle"),
            ("K_4", "4-clique"),
            ("k_5", "5-clique"),
            ("C_5", "5-cycle"),
            ("dimond+egde", "diamond+edge"),
            ("square", "4-cycle"),
            ("wheel", "4-wheel"),
            ("star", "3-star"),
            ("clique", "4-clique"),
            ("5cyle", "5-cycle"),
            ("hose", "house"),
            ("dimond", "diamond"),
            ("tailed_triangle", "tailed-triangle"),
            ("bowtie", "hourglass"),
            ("squre", "4-cycle"),
            ("claws", "3-star"),
            ("clqiue", "4-clique"),
        ];
        for (word, name) in cases {
            assert_eq!(similar(word), [name], "{word}");
            assert!(named(name).is_some(), "{name}");
        }
        for none in
            ["", "x", "query.graph", "data/q3.txt", "K99", "40-wheel", "elephant", "e", "12"]
        {
            assert!(similar(none).is_empty(), "{none}: {:?}", similar(none));
        }
    }

    #[test]
    fn names_of_the_motifs_of_four() {
        let names: Vec<String> = Dictionary::of(4).patterns().iter().map(name).collect();
        let mut sorted = names.clone();
        sorted.sort();
        let expected = ["3-star", "4-clique", "4-cycle", "4-path", "diamond", "tailed-triangle"];
        assert_eq!(sorted, expected);
    }
}
