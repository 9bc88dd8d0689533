//! Edge lists as other programs write them: columns by name, separators, text, decimals.

mod common;

use common::{pairs, parse, parse_named, refused};
use gramer_graph::read::Format;

const TRIANGLE: [(u64, u64); 3] = [(1, 2), (1, 3), (2, 3)];

/// Whether a text is a triangle, and its remarks.
fn triangle(text: &str) -> Vec<String> {
    let read = parse(text);
    assert_eq!(read.format, Format::Edges, "{text:?}");
    assert_eq!(pairs(&read), TRIANGLE, "{text:?}: {:?}", read.notes);
    read.notes
}

#[test]
fn columns_are_found_by_their_names() {
    for names in [
        "index,source,target",
        "weight,source,target",
        "edge_id,u,v",
        "edge_id,U,V",
        ",source,target",
        "\"\",\"from\",\"to\"",
        "n,From,To",
        "w,src,dst",
        "w,head,tail",
        "w,node1,node2",
        "w,node_1,node_2",
        "w,FromNodeId,ToNodeId",
        "w,Source Node,Target Node",
        "w,protein_a,protein_b",
        ",0,1",
        ",person,friend",
    ] {
        let notes = triangle(&format!("{names}\n0,1,2\n1,2,3\n2,1,3\n"));
        assert!(
            notes.iter().any(|n| n.contains("is taken as the names of the columns")),
            "{notes:?}"
        );
        assert!(
            notes.contains(&"column 1 of the edge list is ignored".into()),
            "{names}: {notes:?}"
        );
    }
    let apart = triangle("source,weight,target\n1,7,2\n2,7,3\n1,7,3\n");
    assert!(
        apart.iter().any(|n| n.starts_with("columns 1 and 3, `source` and `target`")),
        "{apart:?}"
    );
    let far = triangle("a,k,z,source,target\n9,9,9,1,2\n9,9,9,2,3\n9,9,9,1,3\n");
    assert!(far.contains(&"columns 1 to 3 of the edge list are ignored".into()), "{far:?}");
    // R puts no name over the names of rows.
    triangle("\"from\" \"to\"\n\"1\" 1 2\n\"2\" 2 3\n\"3\" 1 3\n");
    triangle("\"V1\" \"V2\"\n\"1\" 1 2\n\"2\" 2 3\n\"3\" 1 3\n");
    // A comment that names columns in front of the first edge.
    let comment = triangle("# index FromNodeId ToNodeId\n5 1 2\n6 2 3\n9 1 3\n");
    assert!(comment.iter().any(|n| n.starts_with("line 1 names columns 2 and 3")), "{comment:?}");
    assert!(triangle("# FromNodeId\tToNodeId\n1\t2\n2\t3\n1\t3\n").is_empty());
}

#[test]
fn names_that_leave_the_ends_open_are_refused() {
    for text in [
        "index,person,friend\n0,1,2\n1,2,3\n",
        "person,friend,year\n1,2,2009\n2,3,2010\n",
        ",a1,k,q\n0,1,2,3\n1,2,3,4\n",
        "id,label\n0,5\n1,6\n",
        "node,group\n0,5\n1,6\n",
        "id,target\n0,5\n1,6\n",
        "index source target\n1 2\n2 3\n",
    ] {
        let message = refused(text);
        assert!(message.starts_with("g:1: the columns `"), "{text:?}: {message}");
        assert!(
            message.contains("name them with the setting `source` and the setting `target`"),
            "{text:?}: {message}"
        );
        let forced = parse_named("g", text, Some(Format::Edges));
        assert!(forced.is_ok(), "{text:?}: {forced:?}");
    }
    // Nothing but the first two columns can be ids.
    assert_eq!(pairs(&parse("person,friend,since\n1,2,2009-01-01\n2,3,NA\n")), [(1, 2), (2, 3)]);
}

#[test]
fn many_whole_numbers_without_names_are_refused() {
    let message = refused("1 2 3 4 5 6\n2 3 4 5 6 7\n");
    assert!(message.contains("has 6 columns, but an edge has two ids"), "{message}");
    let text = "1 2 3 4 5 6\n2 3 4 5 6 7\n";
    assert_eq!(pairs(&parse_named("g", text, Some(Format::Edges)).unwrap()), [(1, 2), (2, 3)]);
    assert_eq!(pairs(&parse("1 2 3 4 5\n2 3 4 5 6\n")), [(1, 2), (2, 3)]);
    // An index without a name may be a path: it is said.
    let notes = parse("0 1 2\n1 2 3\n2 1 3\n").notes;
    assert!(notes.iter().any(|n| n.starts_with("column 1 counts the lines")), "{notes:?}");
}

#[test]
fn separators_quotes_and_further_columns_of_any_kind() {
    for text in [
        "1 2 {}\n2 3 {}\n1 3 {}\n",
        "1 2 {'weight': 3}\n2 3 {'weight': 3, 'name': 'a b'}\n1 3 {}\n",
        "1,2,\n2,3,\n1,3,\n",
        "1, 2,\n2, 3,\n1, 3,\n",
        "1;2\n2;3\n1;3\n",
        "1; 2 ;x\n2;3;\n1;3;\"a;b\"\n",
        "1|2\n2|3\n1|3\n",
        "\"1\",\"2\"\n\"2\",\"3\"\n\"1\",\"3\"\n",
        "'1' '2'\n'2' '3'\n'1' '3'\n",
        "sep=,\r\nSource,Target\r\n1,2\r\n2,3\r\n1,3\r\n",
        "sep=;\r\nSource;Target\r\n1;2\r\n2;3\r\n1;3\r\n",
        "\u{feff}sep=;\n1;2\n2;3\n1;3\n",
        "1 2 2009-01-01\n2 3 NA\n1 3 2010-05-05\n",
        "1,2,\n2,3,5\n1,3,\n",
        "1\t2\tNew York\n2\t3\tRome\n1\t3\tSan Remo\n",
        "source\ttarget\tplace\n1\t2\tNew York\n2\t3\tRome\n1\t3\tSan Remo\n",
        "1,2,New York\n2,3,\"Rome, Italy\"\n1,3,\n",
        "source,target,weight\n1,2,\n2,3,\n1,3,0.5\n",
        "id\tsource\tnote\ttarget\n7\t1\t\t2\n8\t2\tx y\t3\n9\t1\t\t3\n",
        "Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,1.0\n2,3,Undirected,1,,1.0\n1,3,Undirected,2,,1\n",
    ] {
        triangle(text);
    }
    for text in ["1 2\n2 3 x\n", "1,2,3\n1,2\n"] {
        assert!(refused(text).contains("columns, but the first "), "{text:?}");
    }
    assert!(refused("1;2\n1;2;3\n").contains("`1;2` is not an edge line"));
    // A separator in a name, in a row that lacks the last column; and a cut line.
    for text in [
        "from,to,note,eur\nAnn Lee,Bob,x,1\nSmith, John,Bob\nBob,Ann Lee,x,3\n",
        "from;to;note\nann;bob;\"a note\"\nbob;carl\ncarl;ann;\n",
        "from\tto\tnote\nann\tbob\ta note\nbob\tcarl\n",
        "from,to,note\nann,bob,a note\nbob,car",
    ] {
        let message = refused(text);
        assert!(message.contains("remove the line if it is cut"), "{message}");
    }
}

/// A cut line may look like a whole one.
#[test]
fn a_last_line_without_an_end_is_a_note() {
    let notes = |text: &str| parse(text).notes.join("\n");
    let (cut, whole) = ("from,to\nann,bob\nbob,carl\nann,c", "from,to\nann,bob\nbob,carl\n");
    assert!(notes(cut).contains("the last line does not end with a newline"), "{}", notes(cut));
    assert!(!notes(whole).contains("newline"), "{}", notes(whole));
    // Quotes are read in another way, and blank lines have no names.
    assert!(
        notes("a,b\n\"b\",c").contains("newline")
            && !notes("a,b\n\"b\",c\n \n").contains("newline")
    );
}

/// A shorter line of numbers is refused with its line, and one without an end with the likely cause.
#[test]
fn a_shorter_last_line_of_numbers_says_whether_it_has_an_end() {
    for (text, line) in
        [("0 1\n1 2\n2", "g:3: "), ("0 1 5\n1 2 5\n2 0", "g:3: "), ("u,v,w\n1,2,7\n2", "g:3: ")]
    {
        let (cut, whole) = (refused(text), refused(&format!("{text}\n")));
        let end = "; the last line does not end with a newline, so the file may be cut off";
        assert!(cut.starts_with(line) && cut.contains(end), "{cut}");
        assert!(whole.starts_with(line) && !whole.contains("newline"), "{whole}");
    }
    // All columns, and a fault of another kind.
    assert!(parse("0 1\n1 2\n2 0").notes.is_empty());
    assert!(!refused("0 1\n1 2.5").contains("newline"));
}

#[test]
fn whole_numbers_with_decimals_are_ids() {
    for text in [
        "1.0 2.0\n2.0 3.0\n1.0 3.0\n",
        "1 2\n2.0 3\n1 3\n",
        "1.000000000000000000e+00,2e+0\n2,3.\n1,3\n",
        "source,target\n1.0,2.0\n2.0,3.0\n1.0,3.0\n",
    ] {
        let notes = triangle(text);
        assert!(
            notes.iter().any(|n| n.starts_with("ids with decimals or an exponent")),
            "{notes:?}"
        );
    }
    assert_eq!(pairs(&parse("1e+05 2\n")), [(2, 100_000)]);
    for text in ["1.5 2\n", "1 -2.0\n", "1 1e+20\n"] {
        assert!(refused(text).contains("is not a vertex id"), "{text:?}");
    }
}

#[test]
fn text_that_is_no_table_is_refused() {
    for text in ["hello\n", "0 1\n1;2\n", "some words of a page\n", "x = [1, 2]\n"] {
        assert!(refused(text).starts_with("g:"), "{text:?}");
    }
}

#[test]
fn hashes_are_no_numbers_and_open_quotes_make_a_table() {
    let hashes = parse("0e12345,1e5\n1e5,77\n");
    assert_eq!((hashes.format, hashes.graph.vertices()), (Format::Table, 3));
    let text = parse("source,target,text\n1,2,\"hi\n7,8,9\"\n3,4,x\n");
    assert_eq!((text.format, text.graph.edges(), text.graph.vertices()), (Format::Table, 2, 4));
    assert_eq!(parse("\"multi\nline\",b\nb,c\n").graph.edges(), 2);
    // Names may have a separator of their own.
    assert_eq!(parse("u v w\n7;9;0\n7;7;12\n0;7;4\n8;1;5\n").graph.edges(), 3);
    // Behind a line of names the first line is an edge.
    assert_eq!(parse("source,target\n2,1\n3,1\n").graph.edges(), 2);
}

#[test]
fn zeros_in_front_and_blanks_around_are_noted() {
    let zips = parse("from_zip,to_zip\n01234,90210\n90210,1234\n").notes.join("\n");
    assert!(
        zips.contains("ids with zeros in front, such as `01234`, are read as numbers"),
        "{zips}"
    );
    let blanks = parse("a,b\nb ,c\nc,a\n");
    assert_eq!(blanks.graph.vertices(), 4);
    let notes = blanks.notes.join("\n");
    assert!(
        notes.contains("`b ` and `b` are two vertices: blanks around names are part of them"),
        "{notes}"
    );
}

#[test]
fn decimal_commas_between_blanks_are_refused() {
    let rows = "alice bob 0,5\nbob carol 0,7\ncarol alice 0,7\n";
    let refusal = refused(rows);
    assert!(refusal.contains("write decimals with a point"), "{refusal}");
    let refusal = refused(&format!("source target weight\n{rows}"));
    assert!(refusal.contains("line 1 names 3 columns, but rows have 4"), "{refusal}");
    assert_eq!(parse("Apollo 11,12\nApollo 12,13\n").graph.edges(), 2);
    assert_eq!(parse("\"US Route 66\",7\n\"US Route 1\",8\n").graph.edges(), 2);
}
