//! Names of columns: which two of them are the ends of an edge.

use super::edges::begins_as_name;
use super::scan::{self, is_number};
use super::table::Separator;

/// Two columns, from 0.
pub(crate) type EndColumns = (usize, usize);

/// Usual names of both ends, in small letters without marks.
const ENDS: &[(&str, &str)] = &[
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("source", "dst"),
    ("source", "sink"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("src", "trg"),
    ("from", "to"),
    ("u", "v"),
    ("head", "tail"),
    ("start", "end"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("subject", "object"),
    ("citing", "cited"),
    ("follower", "followee"),
    ("parent", "child"),
    ("ego", "alter"),
    ("caller", "callee"),
    ("prev", "curr"),
    ("previous", "next"),
    ("payer", "payee"),
    ("buyer", "seller"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("left", "right"),
    ("row", "column"),
    ("row", "col"),
];

/// Usual names of ends of two kinds.
const KINDS: &[(&str, &str)] = &[
    ("user", "item"),
    ("user", "product"),
    ("user", "movie"),
    ("customer", "item"),
    ("customer", "product"),
    ("customer", "shop"),
    ("author", "paper"),
    ("actor", "movie"),
];

/// Names of both ends that columns of a matrix may have as well.
const LETTERS: &[(&str, &str)] = &[("i", "j"), ("x", "y"), ("a", "b")];

/// Words around the name of an end, as in `FromNodeId`.
const AROUND: [&str; 9] =
    ["id", "node", "vertex", "key", "ip", "addr", "address", "subreddit", "account"];

/// Names of columns that hold no vertex.
const VALUES: [&str; 14] = [
    "label",
    "labels",
    "class",
    "group",
    "type",
    "category",
    "community",
    "cluster",
    "weight",
    "value",
    "degree",
    "color",
    "colour",
    "name",
];

/// Columns that name the label of an edge, in small letters without marks.
pub(crate) const EDGE_LABELS: [&str; 8] = [
    "edgelabel",
    "edgetype",
    "relation",
    "relationship",
    "relationtype",
    "predicate",
    "interaction",
    "interactiontype",
];

/// Whether a column of this name holds the label of an edge.
pub(crate) fn is_edge_label(name: &str) -> bool {
    EDGE_LABELS.contains(&plain(name).as_str())
}

/// A field without its quotes.
#[inline]
pub(crate) fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
        _ => field,
    }
}

/// Whether digits begin with a zero that counts: quotes around `007` make a text of it.
pub(crate) fn keeps_zeros(unquoted: &[u8]) -> bool {
    matches!(unquoted, [b'0', _, ..]) && unquoted.iter().all(u8::is_ascii_digit)
}

/// The names of a line.
pub(crate) fn of(line: &[u8], separator: Separator) -> Vec<String> {
    let name = |field| String::from_utf8_lossy(unquoted(field)).into_owned();
    separator.split(line).map(name).collect()
}

/// The names of a line whose separator is another than that of the rows, if there are as many as columns.
pub(crate) fn apart(line: &[u8], columns: usize) -> Option<Vec<String>> {
    let bytes = b";|\t,".iter().map(|&byte| Separator::Byte(byte));
    let mut all = bytes.chain([Separator::Blanks]).map(|separator| of(line, separator));
    all.find(|names| names.len() == columns)
}

/// Whether a first line names columns, in front of the line `next`: its fields are names, of which the first may
/// be empty, and ids follow. An empty name in front of the numbers 0, 1, … is a header, too, as pandas writes it.
pub(crate) fn is_header(line: &[u8], next: Option<&[u8]>, separator: Separator) -> bool {
    let columns: Vec<&[u8]> = separator.split(line).map(unquoted).collect();
    let follow = |line: &[u8]| {
        let mut columns = separator.split(line).map(unquoted);
        // A column in front of the ids may hold anything.
        (0..3).filter(|_| columns.next().is_some_and(|field| whole(field).is_some())).count() > 1
    };
    if columns.len() < 2 || columns.iter().any(|field| field.contains(&0)) {
        return false;
    }
    let named = |field: &&[u8]| begins_as_name(field);
    let mut rest = columns.iter().skip_while(|field| field.is_empty());
    let names = rest.next().is_some_and(named) && rest.next().is_none_or(named);
    if names {
        return next.map_or_else(|| says_ends(line), follow)
            && !columns.iter().any(|field| is_number(field));
    }
    let counted = (0..).zip(&columns[1..]).all(|(i, field)| scan::count(field) == Some(i));
    columns[0].is_empty() && counted && next.is_some_and(follow)
}

/// The columns whose names are those of both ends.
pub(crate) fn ends(names: &[String]) -> Option<EndColumns> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let known = usual(&plain, ENDS).or_else(|| usual(&plain, KINDS));
    known.or_else(|| usual(&plain, LETTERS)).or_else(|| numbered(&plain))
}

/// Notes on the ends of edges between numbers: equal ones in two columns may be two vertices, and others than the first two
/// columns were taken.
pub(crate) fn notes(names: &[String], ends: EndColumns) -> Vec<String> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let (u, v) = ends;
    let [source, target] = [u, v].map(|column| scan::quote(&names[column]));
    let kinds = (usual(&plain, KINDS) == Some(ends)).then(|| {
        format!(
            "equal numbers in the columns {source} and {target} are one vertex: if they are two, give one kind other ids"
        )
    });
    let others = (ends != (0, 1)).then(|| {
        format!(
            "columns {} and {}, {source} and {target}, are taken as the ends of the edges",
            u + 1,
            v + 1
        )
    });
    kinds.into_iter().chain(others).collect()
}

/// The columns with names that hardly anything but ends of edges has: not those that vertices may have as well.
pub(crate) fn usual_ends(names: &[String]) -> Option<EndColumns> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let stem = |name: &str| AROUND.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit()));
    usual(&plain, ENDS)
        .or_else(|| usual(&plain, KINDS))
        .or_else(|| numbered(&plain).filter(|&(u, v)| stem(&plain[u]) && stem(&plain[v])))
}

/// Whether columns named by letters, such as x and y, may hold something else: they are not the first two, and another
/// column is named as the ids of vertices are, or the first one holds text, or the values have fractions.
pub(crate) fn are_letters_of_values(
    names: &[String],
    ends: EndColumns,
    first_is_text: bool,
    fractions: bool,
) -> bool {
    const IDS: [&str; 6] = ["id", "osmid", "node", "vertex", "name", "label"];
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let is_id = |name: &String| {
        IDS.contains(&name.as_str()) || name.ends_with("id") && !name.contains("edge")
    };
    let others = || (0..plain.len()).filter(|&at| at != ends.0 && at != ends.1);
    let holds_ids =
        || first_is_text && !is_edge_label(&names[0]) || others().any(|at| is_id(&plain[at]));
    let letters = plain[ends.0].len() == 1 && plain[ends.1].len() == 1;
    letters && ends != (0, 1) && (fractions || usual(&plain, ENDS) != Some(ends) && holds_ids())
}

/// Whether names of columns have an end of an edge that hardly any word but a name of a column is.
pub(crate) fn are_columns(names: &[String]) -> Option<EndColumns> {
    const SURE: [&str; 3] = ["source", "src", "from"];
    let sure = |column: usize| SURE.contains(&bare(&plain(&names[column])));
    usual_ends(names).filter(|&(u, v)| sure(u) || sure(v))
}

/// Why the columns found as ends may be others: two in front of them have usual names as well, while theirs may name a
/// time.
pub(crate) fn rivals(names: &[String], ends: EndColumns) -> Option<String> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let sure = |column: usize| matches!(bare(&plain[column]), "source" | "src");
    let before = |&(_, v): &EndColumns| v < ends.0;
    let stem = |name: &str| VALUES.contains(&&name[..name.len() - 1]);
    let mut pairs = ENDS.iter().chain(LETTERS);
    let other = pairs.find_map(|pair| usual(&plain, std::slice::from_ref(pair)).filter(before));
    let numbered = || numbered(&plain).filter(|&(u, _)| !stem(&plain[u])).filter(before);
    let (u, v) = other.or_else(numbered).filter(|_| !sure(ends.0) && !sure(ends.1))?;
    let [u, v, s, t] = [u, v, ends.0, ends.1].map(|column| scan::quote(&names[column]));
    Some(format!(
        "{u} and {v}, or {s} and {t}, may be the ends of an edge: name them with the setting `source` and the setting \
         `target`"
    ))
}

/// Why columns of these names, the first of which would be the ends, are refused: they belong to vertices.
pub(crate) const OF_VERTICES: &str = "look like those of a table of vertices, which the setting `vertex_table` takes; \
                                      if two of them are the ends of an edge, name these with the setting `source` \
                                      and the setting `target`";

/// Whether rows have a name in front, as R writes it without a name of the column: the first fields count the rows, or
/// are in quotes and differ from the second ones, in quotes or in being numbers.
pub(crate) fn have_names_of_rows<'a>(
    rows: impl Iterator<Item = &'a [u8]>,
    separator: Separator,
) -> bool {
    let quoted = |field: &[u8]| unquoted(field).len() < field.len();
    let kind = |field: &[u8]| (quoted(field), is_number(unquoted(field)));
    let (mut count, mut from, mut counts, mut apart) = (0, None, true, true);
    for row in rows {
        let mut fields = separator.split(row);
        let (first, second) = (fields.next().unwrap_or_default(), fields.next());
        let number = scan::count(unquoted(first));
        let from = *from.get_or_insert(number.unwrap_or(2));
        counts &= from < 2 && number == Some(from + count);
        apart &= quoted(first) && second.is_some_and(|second| kind(second) != kind(first));
        // One row alone counts nothing.
        count += 1;
        if !counts && !apart {
            return false;
        }
    }
    apart || counts && count > 1
}

/// The note on rows that repeat the names of the columns.
pub(crate) fn repeated(rows: u64) -> Option<String> {
    let rows = match rows {
        0 => return None,
        1 => "1 row repeats the names of the columns and is".to_string(),
        _ => format!("{rows} rows repeat the names of the columns and are"),
    };
    Some(format!("{rows} left out"))
}

/// Why rows with more fields than names are refused.
pub(crate) fn too_few(line: u64, names: usize, columns: usize) -> String {
    format!(
        "line {line} names {names} columns, but rows have {columns}: name the ends with the setting `source` and the \
         setting `target`, or name each column"
    )
}

/// The plain names of a line with any separator.
fn plain_names(line: &[u8]) -> Vec<String> {
    let apart = |b: &u8| scan::is_blank(*b) || matches!(b, b',' | b';' | b'|');
    line.split(apart).map(|name| plain(&String::from_utf8_lossy(name))).collect()
}

/// Whether a first line has usual names of both ends.
pub(crate) fn says_ends(line: &[u8]) -> bool {
    usual(&plain_names(line), ENDS).is_some()
}

/// Whether the first line of a text names both ends and the label of an edge.
pub(super) fn says_edge_label(text: &[u8]) -> bool {
    let content =
        |line: &&[u8]| !line.is_empty() && !scan::is_comment(line) && !line.starts_with(b"sep=");
    let Some(line) = scan::lines(text).map(|(_, line)| line).find(content) else { return false };
    let has_label = || plain_names(line).iter().any(|name| EDGE_LABELS.contains(&name.as_str()));
    begins_as_name(line) && says_ends(line) && has_label()
}

/// The columns with such names of both ends; names are plain.
fn usual(names: &[String], ends: &[(&str, &str)]) -> Option<EndColumns> {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let bare: Vec<&str> = names.iter().map(|name| bare(name)).collect();
    [all, bare].iter().find_map(|names| {
        let find = |wanted: &str| names.iter().position(|name| *name == wanted);
        // `tail, head` is an edge as well as `head, tail`.
        let mut pairs = ends.iter().filter_map(|(u, v)| find(u).zip(find(v)));
        pairs.next().map(|(u, v)| (u.min(v), u.max(v)))
    })
}

/// The only two columns whose names are alike up to a last digit or letter, as `node1` and `node2`; those in front,
/// if there are several such pairs.
fn numbered(names: &[String]) -> Option<EndColumns> {
    let mut found = Vec::new();
    for (u, first) in names.iter().enumerate() {
        for (v, second) in names.iter().enumerate().skip(u + 1) {
            let ends = ["1", "0", "a"].iter().zip(["2", "1", "b"]).any(|(one, two)| {
                let stem = first.strip_suffix(*one).filter(|stem| !stem.is_empty());
                stem.is_some() && stem == second.strip_suffix(two)
            });
            if ends {
                found.push((u, v));
            }
        }
    }
    found.iter().copied().find(|&ends| found.len() == 1 || ends == (0, 1))
}

/// Whether the second of two columns of these names holds no vertex, such as `id` and `label`, `stop_id` and `stop_name`.
pub(crate) fn is_value(first: &str, second: &str) -> bool {
    let (first, second) = (plain(first), plain(second));
    let one = matches!(first.as_str(), "id" | "node" | "nodeid" | "vertex" | "vertexid");
    let own = second.strip_prefix(first.strip_suffix("id").unwrap_or(&first));
    VALUES.contains(&second.as_str())
        || one && second == "target"
        || !first.is_empty() && own.is_some_and(|rest| rest == "name" || rest == "label")
}

/// Whether the first two columns are named as the id of a vertex and what belongs to it.
pub(crate) fn are_of_vertex(names: &[String]) -> bool {
    let id = |name: &str| name.ends_with("id") || matches!(name, "node" | "vertex");
    matches!(names, [first, second, ..] if id(&plain(first)) && is_value(first, second))
}

/// Small letters and digits alone. Of a column of Neo4j, such as `id:START_ID(Person)`, its meaning.
pub(crate) fn plain(name: &str) -> String {
    const NEO4J: [(&str, &str); 3] =
        [(":START_ID", "start"), (":END_ID", "end"), (":TYPE", "edgetype")];
    if let Some((_, plain)) = NEO4J.iter().find(|(mark, _)| name.contains(mark)) {
        return plain.to_string();
    }
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Without `node`, `id` and the like at its ends.
fn bare(name: &str) -> &str {
    let mut bare = name;
    loop {
        let less = AROUND.iter().find_map(|word| {
            let less = bare.strip_suffix(word).or(bare.strip_prefix(word));
            less.filter(|less| !less.is_empty())
        });
        match less {
            Some(less) => bare = less,
            None => return bare,
        }
    }
}

/// Whether a text is digits, an `e` and digits, as hashes are: programs write numbers as `1e+05` or `1.0E5`.
pub(crate) fn has_bare_exponent(field: &[u8]) -> bool {
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let at = field.iter().position(|byte| matches!(byte, b'e' | b'E'));
    at.is_some_and(|at| digits(&field[..at]) && digits(&field[at + 1..]))
}

/// A vertex id that is written as a decimal number, such as `1.0` or `1e+05`.
pub(crate) fn whole(field: &[u8]) -> Option<u64> {
    if let Ok(id) = scan::id(field) {
        return Some(id);
    }
    if !is_number(field) || field.first() == Some(&b'-') {
        return None;
    }
    let text = std::str::from_utf8(field).ok()?.trim_start_matches('+');
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    if has_bare_exponent(field) {
        return None;
    }
    let exponent: i64 = exponent.parse().ok()?;
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let after = after.trim_end_matches('0');
    let digits = format!("{before}{after}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let zeros = exponent - after.len() as i64;
    if zeros < 0 {
        // A fraction, unless what is cut off is zeros: `10e-1`.
        let kept = digits.len() as i64 + zeros;
        let (kept, cut) = digits.split_at_checked(usize::try_from(kept).ok()?)?;
        return if cut.bytes().all(|b| b == b'0') && !kept.is_empty() {
            kept.parse().ok()
        } else {
            None
        };
    }
    digits.parse::<u64>().ok()?.checked_mul(10u64.checked_pow(u32::try_from(zeros).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_in_their_usual_spellings() {
        let find = |names: &str| ends(&of(names.as_bytes(), Separator::Byte(b',')));
        for (names, expected) in [
            ("source,target", (0, 1)),
            ("Index,SOURCE,Target", (1, 2)),
            ("\"\",\"from\",\"to\"", (1, 2)),
            ("weight,u,v", (1, 2)),
            ("edge_id,src,dst", (1, 2)),
            ("tail,head", (0, 1)),
            ("FromNodeId,ToNodeId", (0, 1)),
            ("id,from_node,to_node", (1, 2)),
            ("w,node1,node2", (1, 2)),
            ("id_1,id_2", (0, 1)),
            ("score,protein_a,protein_b", (1, 2)),
            ("type1,type2,id1,id2", (0, 1)),
            ("source,weight,target", (0, 2)),
        ] {
            assert_eq!(find(names), Some(expected), "{names}");
        }
        for names in ["person,friend", "index,alpha,beta", "id,label", "w,x1,x2,y1,y2"] {
            assert_eq!(find(names), None, "{names}");
        }
        assert!(is_value("id", "Label") && is_value("id", "target") && !is_value("node", "friend"));
    }

    #[test]
    fn whole_numbers_in_decimals() {
        for (text, expected) in [
            ("7", Some(7)),
            ("1.0", Some(1)),
            ("0.0", Some(0)),
            ("1.", Some(1)),
            ("1e5", None),
            ("0e12", None),
            ("1e+05", Some(100_000)),
            ("1.25E2", Some(125)),
            ("1.0E5", Some(100_000)),
            ("2.000000000000000000e+00", Some(2)),
            ("10e-1", Some(1)),
            ("18446744073709551615.0", Some(u64::MAX)),
            ("18446744073709551616.0", None),
            ("1.5", None),
            ("1e-5", None),
            ("-1.0", None),
            ("1e999999999999", None),
            ("nan", None),
            ("", None),
        ] {
            assert_eq!(whole(text.as_bytes()), expected, "{text}");
        }
    }
}
