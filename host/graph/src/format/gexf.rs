//! GEXF, as Gephi and NetworkX write it.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use super::Sink;
use super::attributes::{AttributeGraph, Values};
use super::xml::{self, Element, Part, Xml, escaped};
use crate::Graph;
use crate::write::each_edge;
use gramer_base::error::Result;

pub(super) fn sniff(head: &[u8]) -> bool {
    xml::begins(head, "gexf")
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let path = sink.path();
    let mut xml = Xml::new(input, path);
    let mut graph = AttributeGraph::new(sink);
    // Titles of attributes by class (nodes or edges) and id.
    let mut titles: HashMap<(bool, String), String> = HashMap::new();
    let mut of_edges = false;
    let mut open: Vec<(Element, Values<'_>)> = vec![];
    let mut directed = false;
    // Numbers of nodes and edges that the file claims.
    let mut claims: [Option<u64>; 2] = [None; 2];
    loop {
        match xml.next()? {
            Part::Open(element) => match element.name.as_str() {
                "graph" => directed |= element.get("defaultedgetype") == Some("directed"),
                "attributes" => of_edges = element.get("class") == Some("edge"),
                "attribute" => {
                    let id = xml.need(&element, "id")?;
                    let title = element.get("title").unwrap_or(id).into();
                    titles.insert((of_edges, id.into()), title);
                }
                "nodes" => claims[0] = element.get("count").and_then(|count| count.parse().ok()),
                "edges" => claims[1] = element.get("count").and_then(|count| count.parse().ok()),
                "node" | "edge" => {
                    let mut values = graph.values(element.name == "edge");
                    if let Some(label) = element.get("label") {
                        values.set("label", label.into());
                    }
                    open.push((element, values));
                }
                "attvalue" => {
                    // `id` in GEXF 1.0, `for` since.
                    let key = element.get("for").or(element.get("id"));
                    let (Some(key), Some((of, values))) = (key, open.last_mut()) else { continue };
                    let edge = of.name == "edge";
                    let title = titles.get(&(edge, key.into())).map_or(key, String::as_str);
                    // The element's own label stands.
                    let label = title == "label" && of.get("label").is_some();
                    let value = element.get("value").unwrap_or_default();
                    if label || !values.set(title, value.into()) {
                        graph.left_out(edge, title);
                    }
                }
                "parent" => graph.left_out(false, "parent"),
                _ => {}
            },
            Part::Close(name) if name == "node" || name == "edge" => {
                let Some((element, mut values)) = open.pop() else { continue };
                if name == "node" {
                    graph.vertex(element.line, xml.need(&element, "id")?, values)?;
                    continue;
                }
                directed |= element.get("type") == Some("directed");
                let weight = element.get("weight");
                if weight.is_some_and(|weight| !values.set("weight", weight.into())) {
                    graph.left_out(true, "weight");
                }
                let ends = [xml.need(&element, "source")?, xml.need(&element, "target")?];
                graph.edge(element.line, ends, values)?;
            }
            Part::Close(_) | Part::Text(_) => {}
            Part::End => break,
        }
    }
    if directed {
        sink.directed();
    }
    if let Some(count) = claims[0] {
        sink.claim_vertices(count);
    }
    if let Some(count) = claims[1] {
        sink.claim_edges(count);
    }
    graph.finish(sink)
}

/// Writes names as ids and labels, and labels of vertices as the attribute `type`.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<gexf xmlns=\"http://www.gexf.net/1.2draft\" version=\"1.2\">")?;
    writeln!(out, "  <graph mode=\"static\" defaultedgetype=\"undirected\">")?;
    if graph.has_vertex_labels() {
        writeln!(out, "    <attributes class=\"node\">")?;
        writeln!(out, "      <attribute id=\"0\" title=\"type\" type=\"string\"/>")?;
        writeln!(out, "    </attributes>")?;
    }
    writeln!(out, "    <nodes count=\"{}\">", graph.vertices())?;
    for v in 0..graph.vertices() as u32 {
        let name = escaped(&graph.vertex_name(v).to_string())?;
        write!(out, "      <node id=\"{name}\" label=\"{name}\"")?;
        if graph.has_vertex_labels() {
            let label =
                escaped(&graph.vertex_label_name(graph.view().vertex_label(v)).to_string())?;
            let value = format!("<attvalue for=\"0\" value=\"{label}\"/>");
            writeln!(out, "><attvalues>{value}</attvalues></node>")?;
        } else {
            writeln!(out, "/>")?;
        }
    }
    writeln!(out, "    </nodes>\n    <edges count=\"{}\">", graph.edges())?;
    let mut id = 0u64;
    each_edge(graph, |u, v, label| {
        let (u, v) = (
            escaped(&graph.vertex_name(u).to_string())?,
            escaped(&graph.vertex_name(v).to_string())?,
        );
        write!(out, "      <edge id=\"{id}\" source=\"{u}\" target=\"{v}\"")?;
        id += 1;
        if graph.has_edge_labels() {
            let label = escaped(&graph.edge_label_name(label).to_string())?;
            write!(out, " label=\"{label}\"")?;
        }
        writeln!(out, "/>")
    })?;
    writeln!(out, "    </edges>\n  </graph>\n</gexf>")
}
