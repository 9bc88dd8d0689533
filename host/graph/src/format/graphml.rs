//! GraphML, as NetworkX, igraph, Gephi and yEd write it.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use super::Sink;
use super::attributes::{AttributeGraph, Values};
use super::xml::{self, Element, Part, Xml, escaped};
use crate::Graph;
use crate::write::each_edge;
use gramer_base::error::Result;

/// Elements with the text of a vertex or an edge in files of yEd.
const NODE_LABEL: &str = "NodeLabel";
const EDGE_LABEL: &str = "EdgeLabel";

pub(super) fn sniff(head: &[u8]) -> bool {
    xml::begins(head, "graphml")
}

/// A node or an edge that is open, with its attributes so far.
struct Open<'a> {
    element: Element,
    values: Values<'a>,
}

/// Names of attributes, by the ids of their keys, and their defaults.
#[derive(Default)]
struct Keys {
    /// Keys without a name are called by their ids.
    names: HashMap<String, String>,
    /// Defaults of nodes and of edges.
    defaults: [Vec<(String, String)>; 2],
    /// The key that is open, and what it is for.
    open: Option<(String, String)>,
}

impl Keys {
    fn open(&mut self, id: &str, element: &Element) {
        self.names.insert(id.into(), element.get("attr.name").unwrap_or(id).into());
        self.open = Some((id.into(), element.get("for").unwrap_or("all").into()));
    }

    /// Sets the default of the open key.
    fn set_default(&mut self, value: &str) {
        let Some((id, of)) = &self.open else { return };
        for (own, defaults) in ["node", "edge"].iter().zip(&mut self.defaults) {
            if of == own || of == "all" {
                defaults.push((self.names[id].clone(), value.into()));
            }
        }
    }
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let path = sink.path();
    let mut xml = Xml::new(input, path);
    let (mut graph, mut keys) = (AttributeGraph::new(sink), Keys::default());
    let mut open: Vec<Open<'_>> = vec![];
    let (mut data, mut text): (Option<String>, _) = (None, String::new());
    let (mut graphs, mut depth, mut directed) = (0, 0, false);
    loop {
        match xml.next()? {
            Part::Open(element) => match element.name.as_str() {
                "graph" => {
                    graphs += usize::from(depth == 0);
                    depth += 1;
                    directed |= element.get("edgedefault") == Some("directed");
                    if graphs > 1 {
                        let what =
                            "a second graph begins here, but one file is one graph: split it";
                        return Err(xml.fault(element.line, what));
                    }
                }
                "key" => keys.open(xml.need(&element, "id")?, &element),
                "node" | "edge" => {
                    let values = graph.values(element.name == "edge");
                    open.push(Open { element, values });
                }
                "hyperedge" => {
                    let what = "the graph has a hyperedge, but an edge here has two ends: remove hyperedges";
                    return Err(xml.fault(element.line, what));
                }
                "data" => {
                    data = Some(xml.need(&element, "key")?.into());
                    text.clear();
                }
                "default" | NODE_LABEL | EDGE_LABEL => text.clear(),
                _ => {}
            },
            Part::Text(more) => text += &more,
            Part::Close(name) => match name.as_str() {
                "graph" => depth -= 1,
                "key" => keys.open = None,
                "default" => keys.set_default(&text),
                NODE_LABEL | EDGE_LABEL => {
                    if let (Some(open), false) = (open.last_mut(), text.trim().is_empty()) {
                        open.values.set_default("label", text.trim());
                        // yEd's label is what the key is for.
                        data = None;
                    }
                }
                "data" => {
                    let (Some(key), Some(open)) = (data.take(), open.last_mut()) else { continue };
                    let name = keys.names.get(&key).unwrap_or(&key);
                    if !open.values.set(name, std::mem::take(&mut text)) {
                        graph.left_out(open.element.name == "edge", name);
                    }
                }
                "node" | "edge" => {
                    let Some(open) = open.pop() else { continue };
                    directed |= open.element.get("directed") == Some("true");
                    close(open, &keys, &xml, &mut graph)?;
                }
                _ => {}
            },
            Part::End => break,
        }
    }
    if directed {
        sink.directed();
    }
    graph.finish(sink)
}

/// Processes a node or an edge at its end.
fn close<'a>(
    open: Open<'a>,
    keys: &Keys,
    xml: &Xml<'_>,
    graph: &mut AttributeGraph<'a>,
) -> Result<()> {
    let Open { element, mut values } = open;
    let is_edge = element.name == "edge";
    for (name, value) in &keys.defaults[usize::from(is_edge)] {
        values.set_default(name, value);
    }
    if is_edge {
        let ends = [xml.need(&element, "source")?, xml.need(&element, "target")?];
        return graph.edge(element.line, ends, values);
    }
    graph.vertex(element.line, xml.need(&element, "id")?, values)
}

/// Writes names as ids. A graph with labels has them as the attribute `name`, too: labels that all differ would
/// else pass for names.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    let (vertex_labels, edge_labels) = (graph.has_vertex_labels(), graph.has_edge_labels());
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    let mut key = |id: &str, of: &str, name: &str| {
        writeln!(out, "  <key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"string\"/>")
    };
    if vertex_labels {
        key("v_name", "node", "name")?;
        key("v_label", "node", "label")?;
    }
    if edge_labels {
        key("e_label", "edge", "label")?;
    }
    writeln!(out, "  <graph edgedefault=\"undirected\">")?;
    for v in 0..graph.vertices() as u32 {
        let name = escaped(&graph.vertex_name(v).to_string())?;
        if vertex_labels {
            let label =
                escaped(&graph.vertex_label_name(graph.view().vertex_label(v)).to_string())?;
            writeln!(
                out,
                "    <node id=\"{name}\"><data key=\"v_name\">{name}</data><data key=\"v_label\">{label}</data></node>"
            )?;
        } else {
            writeln!(out, "    <node id=\"{name}\"/>")?;
        }
    }
    each_edge(graph, |u, v, label| {
        let (u, v) = (
            escaped(&graph.vertex_name(u).to_string())?,
            escaped(&graph.vertex_name(v).to_string())?,
        );
        write!(out, "    <edge source=\"{u}\" target=\"{v}\"")?;
        match edge_labels {
            true => {
                let label = escaped(&graph.edge_label_name(label).to_string())?;
                writeln!(out, "><data key=\"e_label\">{label}</data></edge>")
            }
            false => writeln!(out, "/>"),
        }
    })?;
    writeln!(out, "  </graph>\n</graphml>")
}
