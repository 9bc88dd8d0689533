//! Edges in JSON without nodes and links: rows of a table, pairs, and lists of neighbours.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::read::names as column_names;
use gramer_base::error::quote;

pub(super) type Object = Map<String, Value>;

/// Nodes and edges, the latter with `source` and `target`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub nodes: Vec<Value>,
    pub edges: Vec<Object>,
    /// The keys of the ends of edges, where rows name them otherwise.
    pub keys: Option<[String; 2]>,
}

impl Parts {
    /// Rows with the names of both ends, or pairs; a third value of a pair is its weight or holds its attributes.
    ///
    /// # Errors
    /// What else a value is.
    pub fn of_list(values: Vec<Value>) -> Result<Self, String> {
        check_pairs(&values)?;
        let mut parts = Parts::default();
        let mut known = HashSet::new();
        for (at, value) in values.into_iter().enumerate() {
            let (source, target, rest) = match value {
                Value::Object(row) => parts.ends_of_row(row, at)?,
                Value::Array(pair) => ends_of_pair(pair, at)?,
                other => return Err(format!("value {at} of the list is {other}, {EDGE}")),
            };
            for end in [&source, &target] {
                if known.insert(text(end)) {
                    parts.nodes.push(end.clone());
                }
            }
            parts.edges.push(edge(source, target, rest));
        }
        Ok(parts)
    }

    /// Objects by vertex with its neighbours, in a list or as keys of their attributes. `None` for other objects.
    pub fn of_neighbours(all: &Object) -> Option<Self> {
        let mut nodes: Vec<Value> = all.keys().map(|key| Value::String(key.clone())).collect();
        let mut both = EdgesOfBothEnds::default();
        let mut known: HashSet<String> = all.keys().cloned().collect();
        for (source, neighbours) in all {
            let neighbours: Vec<(Value, Object)> = match neighbours {
                Value::Array(list) => {
                    let plain = |end: &Value| !end.is_array() && !end.is_object() && !end.is_null();
                    list.iter()
                        .all(plain)
                        .then(|| list.iter().map(|end| (end.clone(), Object::new())).collect())?
                }
                Value::Object(of) => {
                    let with = |(end, value): (&String, &Value)| {
                        Some((Value::String(end.clone()), value.as_object()?.clone()))
                    };
                    of.iter().map(with).collect::<Option<_>>()?
                }
                _ => return None,
            };
            for (target, rest) in neighbours {
                let name = text(&target);
                if known.insert(name) {
                    nodes.push(target.clone());
                }
                both.add(Value::String(source.clone()), target, rest);
            }
        }
        (!all.is_empty()).then_some(Parts { nodes, edges: both.edges, keys: None })
    }

    /// NetworkX's nodes, with the neighbours of each.
    pub fn of_adjacency(nodes: Vec<Value>, adjacency: Vec<Vec<Object>>) -> Self {
        let mut both = EdgesOfBothEnds::default();
        for (node, neighbours) in nodes.iter().zip(adjacency) {
            let source = node.get("id").unwrap_or(node);
            for mut rest in neighbours {
                if let Some(target) = rest.remove("id") {
                    both.add(source.clone(), target, rest);
                }
            }
        }
        Parts { nodes, edges: both.edges, keys: None }
    }

    /// The ends of a row, under the keys of the first one, and its other values.
    fn ends_of_row(
        &mut self,
        mut row: Object,
        at: usize,
    ) -> Result<(Value, Value, Object), String> {
        if self.keys.is_none() {
            let names: Vec<String> = row.keys().cloned().collect();
            self.keys =
                column_names::ends(&names).map(|(u, v)| [names[u].clone(), names[v].clone()]);
        }
        let ends = self.keys.as_ref().and_then(|[u, v]| Some((row.remove(u)?, row.remove(v)?)));
        let Some((source, target)) = ends else {
            let keys: Vec<String> = row.keys().take(5).map(quote).collect();
            return Err(format!(
                "object {at} has no `source` and `target`, but {}",
                keys.join(", ")
            ));
        };
        Ok((end(source, at)?, end(target, at)?, row))
    }
}

/// Edges from lists of neighbours, in which an edge is given at both of its ends.
#[derive(Default)]
struct EdgesOfBothEnds {
    edges: Vec<Object>,
    seen: HashSet<[String; 2]>,
}

impl EdgesOfBothEnds {
    /// Adds an edge unless it was added from its other end.
    fn add(&mut self, source: Value, target: Value, rest: Object) {
        let [u, v] = [text(&source), text(&target)];
        if !self.seen.contains(&[v.clone(), u.clone()]) {
            self.seen.insert([u, v]);
            self.edges.push(edge(source, target, rest));
        }
    }
}

/// An edge with its ends among its attributes.
fn edge(source: Value, target: Value, mut rest: Object) -> Object {
    rest.insert("source".into(), source);
    rest.insert("target".into(), target);
    rest
}

/// What an element of a list must be.
const EDGE: &str = "but an edge is a pair, or an object with `source` and `target`";

/// The text by which an end is known.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// An end of an edge: a text or a number.
fn end(value: Value, at: usize) -> Result<Value, String> {
    match value {
        Value::String(_) | Value::Number(_) => Ok(value),
        other => Err(format!("an end of edge {at} is {other}, but must be a text or a number")),
    }
}

fn ends_of_pair(pair: Vec<Value>, at: usize) -> Result<(Value, Value, Object), String> {
    let count = pair.len();
    let mut values = pair.into_iter();
    let (Some(source), Some(target), 2 | 3) = (values.next(), values.next(), count) else {
        return Err(format!("value {at} of the list has {count} values, {EDGE}"));
    };
    let rest = match values.next() {
        None => Object::new(),
        Some(Value::Object(attributes)) => attributes,
        Some(weight) => Object::from_iter([("weight".to_string(), weight)]),
    };
    Ok((end(source, at)?, end(target, at)?, rest))
}

/// Refuses pairs that may be the rows of a matrix, or the neighbours of vertices that are counted from 0.
fn check_pairs(values: &[Value]) -> Result<(), String> {
    let row = |value: &Value| -> Option<Vec<u64>> {
        value.as_array()?.iter().map(|value| value.as_f64().map(|number| number as u64)).collect()
    };
    let Some(rows) = values.iter().map(row).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let matrix = rows.len() > 2 && rows.iter().all(|row| row.len() == rows.len());
    let listed = |i: usize, j: u64| {
        usize::try_from(j).ok().and_then(|j| rows.get(j)).is_some_and(|of| of.contains(&(i as u64)))
    };
    let neighbours =
        rows.len() > 2 && rows.iter().enumerate().all(|(i, row)| row.iter().all(|&j| listed(i, j)));
    if !matrix && !neighbours {
        return Ok(());
    }
    let what = if matrix { "the rows of a matrix" } else { "the neighbours of vertices from 0 on" };
    Err(format!("the list may hold pairs or {what}: write objects with `source` and `target`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(parts: &Parts) -> Vec<String> {
        let end = |edge: &Object, key: &str| text(&edge[key]);
        parts.edges.iter().map(|e| format!("{}-{}", end(e, "source"), end(e, "target"))).collect()
    }

    fn list(text: &str) -> Result<Parts, String> {
        Parts::of_list(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn rows_and_pairs_are_edges() {
        let parts = list(r#"[["a", 1], [1, "c", 0.5], ["c", "a", {"type": "x"}]]"#).unwrap();
        assert_eq!(pairs(&parts), ["a-1", "1-c", "c-a"]);
        assert_eq!((parts.nodes.len(), &parts.edges[2]["type"]), (3, &"x".into()));
        let parts = list(r#"[{"w": 2, "to": "b", "from": "a"}]"#).unwrap();
        assert_eq!(parts.nodes.len(), 2);
        assert!(parts.keys.is_some());
        for (text, what) in [
            ("[[1, 2, 3, 4]]", "has 4 values"),
            ("[7]", "value 0 of the list is 7"),
            (r#"[{"name": "a"}]"#, "object 0 has no `source` and `target`, but `name`"),
            ("[[null, 1]]", "an end of edge 0 is null"),
            ("[[0,1,1],[1,0,1],[1,1,0]]", "rows of a matrix"),
            ("[[3,1],[0,2],[1,3],[2,0]]", "neighbours of vertices"),
        ] {
            assert!(list(text).unwrap_err().contains(what), "{text}: {:?}", list(text));
        }
    }

    #[test]
    fn lists_of_neighbours_have_each_edge_once() {
        let of = |text: &str| Parts::of_neighbours(&serde_json::from_str(text).unwrap());
        let parts = of(r#"{"0": [1, 2], "1": [0], "2": ["0", 1], "x": []}"#).unwrap();
        assert_eq!(
            (pairs(&parts), parts.nodes.len()),
            (vec!["0-1".into(), "0-2".into(), "2-1".into()], 4)
        );
        let parts = of(r#"{"a": {"b": {"type": "t"}}, "b": {"a": {}}}"#).unwrap();
        assert_eq!((pairs(&parts), &parts.edges[0]["type"]), (vec!["a-b".into()], &"t".into()));
        assert_eq!(of(r#"{"a": 1}"#), None);
        assert_eq!(of("{}"), None);
    }
}
