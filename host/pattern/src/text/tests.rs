use super::*;
use crate::{Origin, PatternInput, labelled_name, name, read_pattern};
use gramer_base::context::Cancel;
use gramer_graph::names::Interner;
use std::path::Path;

fn parsed(text: &str) -> Pattern {
    parse_text(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn fault(text: &str) -> String {
    parse_text(text).expect_err(text).to_string()
}

#[test]
fn a_letter_is_a_vertex() {
    for word in ["a", "0", " b "] {
        assert!(is_text(word), "{word}");
        assert_eq!((parsed(word).vertices(), parsed(word).edge_count()), (1, 0));
    }
    assert!(!is_text("-") && !is_text("house"));
}

#[test]
fn ways_to_write_a_pattern_are_the_same() {
    let triangle = Pattern::clique(3);
    for text in ["a-b, b-c, c-a", "a-b-c-a", " a - b ;b-c\nc-a,", "1-2,2-3,3-1", "x-y-z,x-z"] {
        assert_eq!(parsed(text), triangle, "{text}");
    }
    let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    wedge.set_vertex_label(0, 4);
    wedge.set_edge_label(0, 1, 7);
    wedge.set_absent(0, 2);
    for text in [
        "a:4-[7]-b, b-c, a!-c",
        "a:4 -[ 7 ]- b:* -[*]- c !- a:4",
        "a!-c, c-b".replace("a!-c, c-b", "a:\"4\"-[\"7\"]-b-c, c!-a").as_str(),
    ] {
        assert_eq!(parsed(text), wedge, "{text}");
    }
    assert_eq!(labelled_name(&wedge), "wedge[4,*,*]{7,*}!{0-2}");
    assert_eq!(name(&parsed("a-b, c-d-e")), "wedge+edge");
    assert_eq!(parsed("a:3").vertices(), 1);
}

#[test]
fn labels_that_are_words_are_kept_until_the_graph_is_known() {
    let (pattern, labels) =
        parse_text("a:Kinase-[binds]-b:Kinase, b-[\"up, \\\"fast\\\"\"]-c:7").unwrap();
    let texts: Vec<&str> = labels.iter().map(|label| label.text.as_str()).collect();
    assert_eq!(texts, ["Kinase", "Kinase", "7", "binds", "up, \"fast\""]);
    assert_eq!(pattern.vertex_label(0), pattern.vertex_label(1));
    assert_ne!(pattern.edge_label(0, 1), pattern.edge_label(1, 2));
    let input = PatternInput { labels, ..PatternInput::from(pattern) };
    let names = |texts: &[&str]| {
        let mut interner = Interner::default();
        texts.iter().for_each(|text| _ = interner.number(text.as_bytes()).unwrap());
        interner.finish()
    };
    let (vertex, edge) = (names(&["x", "Kinase", "7"]), names(&["binds", "up, \"fast\""]));
    let resolved = input.resolve(Some(&vertex), Some(&edge)).unwrap();
    assert_eq!(resolved.vertex_labels(), [1, 1, 2]);
    assert_eq!([resolved.edge_label(0, 1), resolved.edge_label(1, 2)], [Some(0), Some(1)]);
    let missing = input.resolve(Some(&edge), Some(&edge)).unwrap_err().to_string();
    assert_eq!(
        missing,
        "the graph has no vertex label `Kinase`: its labels are `binds`, `up, \"fast\"`"
    );
    let (pattern, labels) = parse_text("a:kinaze-b:X").unwrap();
    let near = PatternInput { labels, ..PatternInput::from(pattern) };
    let near = near.resolve(Some(&vertex), None).unwrap_err().to_string();
    assert_eq!(near, "the graph has no vertex label `kinaze`: did you mean `Kinase`?");
    let number = input.resolve(None, Some(&edge)).unwrap_err().to_string();
    assert!(number.contains("the vertex labels of the graph are numbers"), "{number}");
}

#[test]
fn faults_name_the_character() {
    for (text, what) in [
        ("", "the pattern is empty"),
        (" , ;", "the pattern is empty"),
        ("a-b, b-", "character 8: the name of a vertex is missing"),
        ("a-b b-c", "character 5: an edge `-`, `!-` or a comma is missing"),
        ("a->b", "character 3: edges have no direction"),
        ("a:1->b", "character 5: edges have no direction"),
        ("a-[3]->b", "character 7: edges have no direction"),
        ("a-b, a-b", "character 7: a-b is repeated"),
        ("a-b, b!-a", "b-a is both an edge and a pair that must not be joined"),
        ("a!-b, b-a", "b-a is both an edge and a pair that must not be joined"),
        ("a!-b, b!-a", "b-a is repeated"),
        ("a-b-b", "b-b is a loop"),
        ("a:1-b, a:2-c", "character 8: `a` has another label before"),
        ("a:-b", "character 3: a label is missing"),
        ("a:\"x-b", "character 3: the quote is not closed"),
        ("a-[3-b", "the label of an edge is written a-[label]-b"),
        ("a!b", "character 2: `!` is followed by `-`"),
        ("a-(b)", "character 3: `(` is not part of the name of a vertex"),
        ("a--b", "`-` is not part of the name of a vertex"),
    ] {
        let said = fault(text);
        assert!(said.contains(what), "{text}: {said}");
    }
    let many: Vec<String> = (0..33).map(|i| format!("v{i}-v{}", i + 1)).collect();
    assert!(fault(&many.join(",")).contains("at most 32 vertices"));
}

#[test]
fn words_are_a_file_then_a_name_then_a_text() {
    let read = |words: &str| read_pattern(Path::new(words), &Cancel::default());
    let origin = |words: &str| read(words).unwrap_or_else(|e| panic!("{words}: {e}")).origin;
    for name in ["triangle", "5-path", "K3,3", "tailed-triangle", "triangle+edge"] {
        assert_eq!(origin(name), Origin::Name, "{name}");
    }
    for text in ["a-b", "1-2-3", "a-b, b-c", "a:1", "x-long_name, x-y", "a-[7]-b"] {
        assert_eq!(origin(text), Origin::Text, "{text}");
    }
    // A slip in a name is not an edge between its words.
    for (words, near) in [
        ("tailed-triangel", "tailed-triangle"),
        ("5-pth", "5-path"),
        ("trangle", "triangle"),
        ("k-4", "4-clique"),
    ] {
        let said = read(words).unwrap_err().to_string();
        assert!(said.contains(&format!("did you mean {near}?")), "{said}");
    }
    assert!(read("a->b").unwrap_err().to_string().contains("edges have no direction"));
    for words in ["nowhere/a-b,b-c", "query-1.graph", "K3,3,3", "first-second"] {
        assert!(read(words).unwrap_err().to_string().contains("there is no such file"), "{words}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("house");
    std::fs::write(&path, "0 1\n").unwrap();
    assert_eq!(origin(&path.to_string_lossy()), Origin::File);
}

proptest::proptest! {
    /// A pattern that is written as text is the same when it is read.
    #[test]
    fn a_text_comes_back(
        n in 1usize..8,
        pairs in proptest::collection::vec(0u8..4, 28),
        labels in proptest::collection::vec(0u32..4, 8),
    ) {
        let mut pattern = Pattern::new(n);
        let mut text: Vec<String> = (0..n).map(|i| match labels[i] {
            0 => format!("v{i}"),
            label => format!("v{i}:{label}"),
        }).collect();
        for (i, &label) in labels[..n].iter().enumerate().filter(|(_, label)| **label > 0) {
            pattern.set_vertex_label(i, label);
        }
        let all = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
        for ((i, j), kind) in all.zip(pairs) {
            match kind {
                0 => pattern.set_absent(i, j),
                1 => pattern.add_edge(i, j),
                2 => {
                    pattern.add_edge(i, j);
                    pattern.set_edge_label(i, j, 9);
                }
                _ => continue,
            }
            text.push(format!("v{i}{}v{j}", ["!-", "-", "-[9]-"][usize::from(kind)]));
        }
        proptest::prop_assert_eq!(&parse_text(&text.join(", ")).unwrap().0, &pattern);
        // Its own text numbers vertices in the order in which they are named.
        let number = |label: Label| label.to_string();
        let own = parse_text(&pattern_text(&pattern, &number, &number)).unwrap().0;
        proptest::prop_assert_eq!(own.canonical().0, pattern.canonical().0);
        let quoted = |label: Label| format!("a \"{label}\\ {label}");
        let (read, labels) = parse_text(&pattern_text(&pattern, &quoted, &quoted)).unwrap();
        proptest::prop_assert_eq!(read.edge_count(), pattern.edge_count());
        for label in labels {
            let written = label.text.ends_with(|c: char| ('1'..='9').contains(&c));
            proptest::prop_assert!(written && label.text.starts_with("a \""), "{:?}", label.text);
        }
    }
}
