//! Names of patterns that have a size.

use crate::{MAX_VERTICES, Pattern};

/// Families of patterns: the name, where k, m and n are sizes, and what it is.
pub const FAMILIES: &[(&str, &str)] = &[
    ("k-clique", "all pairs of k vertices; Kk"),
    ("k-cycle", "a ring of k vertices; Ck, cyclek"),
    ("k-path", "a chain of k vertices; Pk, pathk"),
    ("k-star", "a vertex with k leaves; Sk, stark, K1,k"),
    ("k-wheel", "a ring of k vertices and one that is joined to all; Wk, wheelk"),
    ("Km,n", "all pairs between m and n vertices"),
    ("Kk-e", "a clique of k vertices without one edge"),
];

/// The pattern of a family: `5-path`, `path5`, `P5`, `K3,3`, `K5-e`.
pub fn named(wanted: &str) -> Option<Pattern> {
    let lower = wanted.to_ascii_lowercase();
    if let Some(sizes) = lower.strip_prefix('k') {
        if let Some((left, right)) = sizes.split_once(',') {
            return biclique(size(left)?, size(right)?);
        }
        if let Some(k) = sizes.strip_suffix("-e") {
            return without_an_edge(size(k)?);
        }
    }
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty();
    let (word, k) = match lower.split_once('-') {
        Some((k, word)) if digits(k) && word.len() > 1 => (word, k),
        Some((word, k)) if digits(k) && word.len() > 1 => (word, k),
        Some(_) => return None,
        None => lower.split_at(lower.find(|c: char| c.is_ascii_digit())?),
    };
    let k = size(k)?;
    match word {
        "clique" | "k" => in_range(k).then(|| Pattern::clique(k)),
        "path" | "p" => in_range(k).then(|| Pattern::from_edges(k, &chain(k))),
        "cycle" | "c" => (k >= 3 && in_range(k)).then(|| Pattern::from_edges(k, &ring(k))),
        "star" | "s" => biclique(1, k),
        "wheel" | "w" if k >= 3 && in_range(k + 1) => {
            let spokes = (0..k).map(|i| (i, k));
            Some(Pattern::from_edges(k + 1, &ring(k).into_iter().chain(spokes).collect::<Vec<_>>()))
        }
        _ => None,
    }
}

/// The name of a connected pattern of four or more vertices without labels that is of a family.
pub fn name_of(pattern: &Pattern) -> Option<String> {
    let (n, edges) = (pattern.vertices(), pattern.edge_count());
    if n < 4 {
        return None;
    }
    let all = n * (n - 1) / 2;
    let largest = (0..n).map(|i| pattern.degree(i)).max().unwrap_or(0);
    match edges {
        _ if edges == all => Some(format!("{n}-clique")),
        _ if edges == n - 1 && largest == n - 1 => Some(format!("{}-star", n - 1)),
        _ if edges == n - 1 && largest == 2 => Some(format!("{n}-path")),
        _ if edges == n && largest == 2 => Some(format!("{n}-cycle")),
        // Of four vertices it is the diamond.
        _ if n > 4 && edges == all - 1 => Some(format!("K{n}-e")),
        _ if is_wheel(pattern) => Some(format!("{}-wheel", n - 1)),
        _ => biclique_sides(pattern).map(|(m, n)| format!("K{m},{n}")),
    }
}

/// Whether a vertex is joined to all of a ring, and there are no other edges.
fn is_wheel(pattern: &Pattern) -> bool {
    let n = pattern.vertices();
    let Some(hub) = (0..n).find(|&i| pattern.degree(i) == n - 1) else { return false };
    let ring: Vec<usize> = (0..n).filter(|&i| i != hub).collect();
    ring.iter().all(|&i| pattern.degree(i) == 3) && pattern.induced(&ring).is_connected()
}

/// The smaller and the larger side of a complete bipartite pattern.
fn biclique_sides(pattern: &Pattern) -> Option<(usize, usize)> {
    let n = pattern.vertices();
    let is_right = |i| pattern.has_edge(0, i);
    let fits = |i, j| pattern.has_edge(i, j) == (is_right(i) != is_right(j));
    let right = pattern.degree(0);
    let complete = (0..n).all(|i| (0..i).all(|j| fits(i, j)));
    (complete && right > 0).then(|| (right.min(n - right), right.max(n - right)))
}

fn size(text: &str) -> Option<usize> {
    let is_number = text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|&k| is_number && k <= MAX_VERTICES)
}

fn in_range(vertices: usize) -> bool {
    (2..=MAX_VERTICES).contains(&vertices)
}

fn chain(k: usize) -> Vec<(usize, usize)> {
    (1..k).map(|i| (i - 1, i)).collect()
}

fn ring(k: usize) -> Vec<(usize, usize)> {
    chain(k).into_iter().chain([(0, k - 1)]).collect()
}

fn biclique(m: usize, n: usize) -> Option<Pattern> {
    let edges = (0..m).flat_map(|i| (m..m + n).map(move |j| (i, j))).collect::<Vec<_>>();
    (m > 0 && n > 0 && in_range(m + n)).then(|| Pattern::from_edges(m + n, &edges))
}

fn without_an_edge(k: usize) -> Option<Pattern> {
    (k >= 3 && in_range(k)).then(|| {
        let edges = Pattern::clique(k).edges();
        Pattern::from_edges(k, &edges[1..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name;

    #[test]
    fn every_way_to_write_a_family_leads_to_it() {
        for (words, expected) in [
            (&["K4", "k4", "clique4", "clique-4", "4-clique"][..], "4-clique"),
            (&["K3", "C3", "3-cycle", "K2,1-e"][..3], "triangle"),
            (&["P5", "path5", "5-path"], "5-path"),
            (&["S4", "star4", "4-star", "K1,4", "K4,1"], "4-star"),
            (&["C6", "cycle6"], "6-cycle"),
            (&["K4-e", "diamond"], "diamond"),
            (&["K2,2"], "4-cycle"),
            (&["K2,3", "K3,2", "k2,3"], "K2,3"),
            (&["K4,3"], "K3,4"),
            (&["W5", "5-wheel"], "5-wheel"),
            (&["K5-e"], "K5-e"),
            (&["W4", "wheel4", "wheel-4"], "4-wheel"),
            (&["W3"], "4-clique"),
            (&["K3-e"], "wedge"),
        ] {
            for word in words {
                let pattern = crate::named(word).unwrap_or_else(|| panic!("{word} has no pattern"));
                assert_eq!(name(&pattern), expected, "{word}");
            }
        }
        let of = |word: &str| {
            let pattern = named(word).unwrap();
            (pattern.vertices(), pattern.edge_count())
        };
        assert_eq!(
            [of("K3,3"), of("K5-e"), of("wheel5"), of("K16,16")],
            [(6, 9), (5, 9), (6, 10), (32, 256)]
        );
        for none in [
            "K", "K1", "K33", "K0,3", "K16,17", "K2-e", "C2", "W2", "W32", "K+3", "5path6", "-5",
            "K3,3,3",
        ] {
            assert!(crate::named(none).is_none(), "{none}");
        }
    }

    #[test]
    fn names_of_several_components_lead_back() {
        for wanted in ["triangle+edge", "4-cycle+wedge+vertex", "edge+edge", "20-clique+edge"] {
            assert_eq!(name(&crate::named(wanted).unwrap()), wanted);
        }
        assert!(crate::named("20-clique+20-clique").is_none());
    }
}
