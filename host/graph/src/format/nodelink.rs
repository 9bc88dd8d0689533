//! JSON with nodes and links, as NetworkX, D3, vis.js and graphology write it, and the elements of Cytoscape.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use super::Sink;
use super::attributes::{AttributeGraph, Values};
use super::json_edges::{Object, Parts};
use crate::Graph;
use crate::write::each_edge;
use gramer_base::error::{Result, quote, said};

/// Whether a text is an object of JSON, or a list of objects or lists. There is no other format of graphs in JSON here.
pub(super) fn sniff(head: &[u8]) -> bool {
    match head.trim_ascii_start() {
        [b'{', rest @ ..] => matches!(rest.trim_ascii_start().first(), Some(b'"' | b'}')),
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start().first(), Some(b'[' | b'{')),
        _ => false,
    }
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    directed: bool,
    nodes: Option<Vec<Value>>,
    links: Option<Vec<Object>>,
    edges: Option<Vec<Object>>,
    elements: Option<Elements>,
    /// NetworkX's: by node, its neighbours.
    adjacency: Option<Vec<Vec<Object>>>,
}

/// Cytoscape's, of both kinds apart or together.
#[derive(Deserialize)]
#[serde(untagged)]
enum Elements {
    Apart {
        nodes: Vec<Element>,
        #[serde(default)]
        edges: Vec<Element>,
    },
    Together(Vec<Element>),
}

#[derive(Deserialize)]
struct Element {
    data: Object,
}

impl Elements {
    /// Nodes and edges.
    fn parts(self) -> (Vec<Value>, Vec<Object>) {
        let data = |elements: Vec<Element>| elements.into_iter().map(|element| element.data);
        let (nodes, edges): (Vec<Object>, _) = match self {
            Elements::Apart { nodes, edges } => (data(nodes).collect(), data(edges).collect()),
            Elements::Together(all) => data(all).partition(|data| !data.contains_key("source")),
        };
        (nodes.into_iter().map(Value::Object).collect(), edges)
    }
}

/// The end of an edge. D3 puts the node in its place.
fn end(edge: &mut Object, keys: [&str; 2]) -> Option<Value> {
    match keys.into_iter().find_map(|key| edge.remove(key))? {
        Value::Object(mut node) => node.remove("id"),
        end => Some(end),
    }
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut text = vec![];
    input.read_to_end(&mut text).map_err(|source| sink.refused(source))?;
    let (directed, Parts { nodes, edges, keys }) = parts(&text, sink)?;
    if let Some([source, target]) = keys.filter(|keys| *keys != ["source", "target"]) {
        let (source, target) = (quote(&source), quote(&target));
        sink.note(format!("{source} and {target} are the ends of an edge"));
    }
    let mut graph = AttributeGraph::new(sink);
    // Graphology's ids are keys. Without ids, links name nodes by their positions, from 0.
    let all_have = |key: &str| nodes.iter().all(|node| node.get(key).is_some());
    let any_has = |key: &str| nodes.iter().any(|node| node.get(key).is_some());
    let key = if !any_has("id") && all_have("key") { "key" } else { "id" };
    let by_position = nodes.iter().all(Value::is_object) && !any_has(key);
    for (at, node) in nodes.into_iter().enumerate() {
        let (id, node) = match node {
            Value::Object(mut node) => {
                let id = node.remove(key).or(by_position.then(|| at.into()));
                (id.ok_or_else(|| sink.fault(format!("node {at} has no `id`")))?, node)
            }
            id => (id, Object::new()),
        };
        let values = fill(graph.values(false), node, sink, |key| graph.left_out(false, key))?;
        graph.vertex(1, &name(&id, sink)?, values)?;
    }
    for mut edge in edges {
        let ends = [["source", "from"], ["target", "to"]].map(|keys| end(&mut edge, keys));
        let [Some(source), Some(target)] = ends else {
            return Err(sink.fault("an edge has no `source` or no `target`"));
        };
        edge.remove("key");
        edge.remove("id");
        let values = fill(graph.values(true), edge, sink, |key| graph.left_out(true, key))?;
        graph.edge(1, [&name(&source, sink)?, &name(&target, sink)?], values)?;
    }
    if directed {
        sink.directed();
    }
    graph.finish(sink)
}

/// Whether edges are directed, and the nodes and edges of a text.
fn parts(text: &[u8], sink: &Sink<'_>) -> Result<(bool, Parts)> {
    let fault = |error: serde_json::Error| {
        let text = error.to_string();
        let what = if text.starts_with("recursion limit") {
            "values are nested more than 127 deep: remove the attribute that is".into()
        } else if error.is_eof() {
            format!("the file is cut off: {}", said(&text))
        } else {
            said(&text)
        };
        sink.fault_at(error.line() as u64, what)
    };
    let of_list = |values| Ok((false, Parts::of_list(values).map_err(|what| sink.fault(what))?));
    if text.trim_ascii_start().first() == Some(&b'[') {
        return of_list(serde_json::from_slice(text).map_err(fault)?);
    }
    let document = match serde_json::from_slice::<Document>(text) {
        Ok(document) => document,
        // An object in each line.
        Err(error) if error.is_syntax() && error.line() > 1 => {
            let values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
            let values: Vec<Value> = values.collect::<Result<_, _>>().map_err(fault)?;
            return of_list(values);
        }
        Err(error) => return Err(fault(error)),
    };
    let Document { directed, nodes, links, edges, elements, adjacency } = document;
    let (nodes, edges) = match (nodes, links.or(edges), elements) {
        (_, _, Some(elements)) => elements.parts(),
        (Some(nodes), Some(edges), None) => (nodes, edges),
        (nodes, ..) => {
            if let (Some(nodes), Some(adjacency)) = (&nodes, adjacency) {
                return Ok((directed, Parts::of_adjacency(nodes.clone(), adjacency)));
            }
            let all: Object = serde_json::from_slice(text).unwrap_or_default();
            if let (None, Some(parts)) = (&nodes, Parts::of_neighbours(&all)) {
                return Ok((directed, parts));
            }
            let what = match nodes {
                Some(_) => "`links` or `edges`",
                None => "`nodes` and `links`, or `elements`",
            };
            let others = all.keys().filter(|key| !matches!(key.as_str(), "nodes" | "directed"));
            let found: Vec<String> = others.take(5).map(quote).collect();
            return Err(sink.fault(format!(
                "holds no {what}, but {}; in Python: gramer.Graph.from_networkx takes what NetworkX reads",
                if found.is_empty() { "nothing".into() } else { found.join(", ") }
            )));
        }
    };
    Ok((directed, Parts { nodes, edges, keys: None }))
}

/// Sets the attributes that count; `left_out` takes the names of others.
fn fill<'a>(
    mut values: Values<'a>,
    object: Object,
    sink: &Sink<'_>,
    mut left_out: impl FnMut(String),
) -> Result<Values<'a>> {
    for (key, value) in object {
        let counts = !value.is_null() && !value.is_object() && !value.is_array();
        if !counts || !values.set(&key, name(&value, sink)?) {
            left_out(key);
        }
    }
    Ok(values)
}

/// The text of an id or a label.
fn name(value: &Value, sink: &Sink<'_>) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        // Whole numbers of more than 64 bits have lost digits.
        Value::Number(number)
            if number.as_f64().is_some_and(|n| number.is_f64() && n.abs() >= 2f64.powi(53)) =>
        {
            let what = format!("the number {number} is too large to be exact: write it as a text");
            Err(sink.fault(what))
        }
        // Tuples of NetworkX are lists.
        other => Ok(other.to_string()),
    }
}

/// Writes names as ids. A graph with labels has them as the attribute `name`, too: labels that all differ would
/// else pass for names.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    let names: Vec<String> =
        (0..graph.vertices() as u32).map(|v| graph.vertex_name(v).to_string()).collect();
    // Numbers stay numbers.
    let id = |v: u32| serde_json::to_string(&graph.vertex_name(v));
    write!(out, "{{\"directed\": false, \"multigraph\": false, \"graph\": {{}},\n\"nodes\": [")?;
    for v in 0..graph.vertices() as u32 {
        let comma = if v == 0 { "" } else { "," };
        write!(out, "{comma}\n{{\"id\": {}", id(v)?)?;
        if graph.has_vertex_labels() {
            let label = graph.vertex_label_name(graph.view().vertex_label(v)).to_string();
            write!(out, ", \"name\": {}, \"label\": {}", json!(names[v as usize]), json!(label))?;
        }
        write!(out, "}}")?;
    }
    write!(out, "],\n\"links\": [")?;
    let mut comma = "";
    each_edge(graph, |u, v, label| {
        write!(out, "{comma}\n{{\"source\": {}, \"target\": {}", id(u)?, id(v)?)?;
        comma = ",";
        if graph.has_edge_labels() {
            write!(out, ", \"label\": {}", json!(graph.edge_label_name(label).to_string()))?;
        }
        write!(out, "}}")
    })?;
    writeln!(out, "]}}")
}
