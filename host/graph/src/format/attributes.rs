//! Graphs whose vertices and edges have attributes: which of them are names and labels.
//!
//! GraphML, GEXF, GML, Pajek and JSON let programs call the name of a vertex as they like. A vertex is called by its
//! attribute `name`, else by its attribute `label`, if each vertex has one and no two are the same; else by its id.
//! Labels are `label`, unless that is the name, else `type`. Other attributes are left out, with a note.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::Sink;
use gramer_base::error::{Error, Place, Result, quote};

/// The attributes that count.
#[derive(Debug, Default)]
pub(super) struct Values {
    name: Option<String>,
    label: Option<String>,
    kind: Option<String>,
}

impl Values {
    /// Sets an attribute; returns `false` if it is ignored.
    pub fn set(&mut self, key: &str, value: String) -> bool {
        match key {
            "name" => self.name = Some(value),
            "label" => self.label = Some(value),
            "type" => self.kind = Some(value),
            _ => return false,
        }
        true
    }

    /// Sets the default of an attribute that the element doesn't have.
    pub fn set_default(&mut self, key: &str, value: &str) {
        let own = match key {
            "name" => &mut self.name,
            "label" => &mut self.label,
            "type" => &mut self.kind,
            _ => return,
        };
        own.get_or_insert_with(|| value.into());
    }
}

#[derive(Debug)]
struct Vertex {
    id: String,
    /// The line that declares it; `None` while only edges name it.
    line: Option<u64>,
    values: Values,
}

#[derive(Debug)]
struct Edge {
    line: u64,
    ends: [u32; 2],
    values: Values,
}

/// Graph collected from elements in any order.
#[derive(Debug)]
pub(super) struct AttributeGraph<'a> {
    path: &'a Path,
    vertices: Vec<Vertex>,
    numbers: HashMap<String, u32>,
    edges: Vec<Edge>,
    /// Names of ignored attributes, of vertices and of edges.
    left_out: [BTreeSet<String>; 2],
}

impl<'a> AttributeGraph<'a> {
    /// Creates an empty graph for a file.
    pub fn new(path: &'a Path) -> Self {
        let left_out = Default::default();
        AttributeGraph { path, vertices: vec![], numbers: HashMap::new(), edges: vec![], left_out }
    }

    fn fault(&self, line: u64, what: impl Into<String>) -> Error {
        Error::input(Place::line(self.path, line), what)
    }

    fn number(&mut self, line: u64, id: &str) -> Result<u32> {
        if let Some(&number) = self.numbers.get(id) {
            return Ok(number);
        }
        let number = u32::try_from(self.vertices.len())
            .map_err(|_| self.fault(line, "there are more than 2^32 vertices"))?;
        self.vertices.push(Vertex { id: id.into(), line: None, values: Values::default() });
        self.numbers.insert(id.into(), number);
        Ok(number)
    }

    /// Declares a vertex.
    ///
    /// # Errors
    /// For an id that was declared before.
    pub fn vertex(&mut self, line: u64, id: &str, values: Values) -> Result<()> {
        let number = self.number(line, id)?;
        let vertex = &mut self.vertices[number as usize];
        if let Some(first) = vertex.line {
            let what = format!("vertex {} is declared twice, first at line {first}", quote(id));
            return Err(self.fault(line, what));
        }
        (vertex.line, vertex.values) = (Some(line), values);
        Ok(())
    }

    /// Whether a vertex is declared.
    pub fn is_declared(&self, id: &str) -> bool {
        let number = self.numbers.get(id);
        number.is_some_and(|&number| self.vertices[number as usize].line.is_some())
    }

    /// Adds an edge between vertices that are declared before or later.
    pub fn edge(&mut self, line: u64, ends: [&str; 2], values: Values) -> Result<()> {
        let ends = [self.number(line, ends[0])?, self.number(line, ends[1])?];
        if values.name.is_some() {
            self.left_out(true, "name");
        }
        self.edges.push(Edge { line, ends, values });
        Ok(())
    }

    /// Records an attribute that is left out.
    pub fn left_out(&mut self, of_edge: bool, name: impl Into<String>) {
        self.left_out[usize::from(of_edge)].insert(name.into());
    }

    /// Number of edges so far.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Hands the graph over.
    ///
    /// # Errors
    /// For an edge to a vertex that isn't declared.
    pub fn finish(self, sink: &mut Sink<'_>) -> Result<()> {
        let AttributeGraph { path, vertices, edges, left_out, .. } = self;
        let undeclared =
            |edge: &&Edge| edge.ends.iter().any(|&end| vertices[end as usize].line.is_none());
        if let Some(edge) = edges.iter().find(undeclared) {
            let end = edge.ends.iter().find(|&&end| vertices[end as usize].line.is_none());
            let id = quote(&vertices[end.map_or(0, |&end| end as usize)].id);
            let what = format!(
                "an edge goes to {id}, which is not a declared vertex: the file may be cut off"
            );
            return Err(Error::input(Place::line(path, edge.line), what));
        }
        let name = |vertex: &Vertex| vertex.values.name.clone();
        let label = |vertex: &Vertex| vertex.values.label.clone();
        let kind = |vertex: &Vertex| vertex.values.kind.clone();
        let by_name = are_names(vertices.iter().map(|v| v.values.name.as_deref()));
        let by_label = !by_name && are_names(vertices.iter().map(|v| v.values.label.as_deref()));
        let names: fn(&Vertex) -> Option<String> = match (by_name, by_label) {
            (true, _) => name,
            (_, true) => label,
            _ => |vertex| Some(vertex.id.clone()),
        };
        let attribute = if by_name { "name" } else { "label" };
        if (by_name || by_label) && vertices.iter().any(|v| names(v).as_ref() != Some(&v.id)) {
            sink.note(format!(
                "vertices are called by their attribute `{attribute}`, not by their ids"
            ));
        }
        if !by_name && vertices.iter().any(|v| v.values.name.is_some()) {
            sink.note("the attribute `name` of vertices is left out: not each has one, or two are the same");
        }
        let labels = !by_label && vertices.iter().any(|v| v.values.label.is_some());
        let kinds = vertices.iter().any(|v| v.values.kind.is_some());
        let label: fn(&Vertex) -> Option<String> = if labels { label } else { kind };
        note_label(sink, "vertices", labels, kinds);
        let mut own = Vec::with_capacity(vertices.len());
        for vertex in &vertices {
            let number = sink.vertex(names(vertex).unwrap_or_default().as_bytes())?;
            if let Some(label) = label(vertex) {
                sink.vertex_label(number, label.as_bytes())?;
            }
            own.push(number);
        }
        let labels = edges.iter().any(|e| e.values.label.is_some());
        let kinds = edges.iter().any(|e| e.values.kind.is_some());
        note_label(sink, "edges", labels, kinds);
        for edge in &edges {
            let [source, target] = edge.ends.map(|end| own[end as usize]);
            let label = if labels { &edge.values.label } else { &edge.values.kind };
            sink.edge(source, target, label.as_deref().map(str::as_bytes))?;
        }
        for (of, left_out) in ["vertices", "edges"].iter().zip(left_out) {
            if !left_out.is_empty() {
                let list: Vec<String> = left_out.iter().take(10).map(quote).collect();
                let more = if left_out.len() > 10 { " and others" } else { "" };
                sink.note(format!("attributes of {of} are left out: {}{more}", list.join(", ")));
            }
        }
        Ok(())
    }
}

/// Whether all are there and different.
fn are_names<'a>(mut values: impl Iterator<Item = Option<&'a str>>) -> bool {
    let mut seen = HashSet::new();
    values.all(|value| value.is_some_and(|value| !value.is_empty() && seen.insert(value)))
        && !seen.is_empty()
}

fn note_label(sink: &mut Sink<'_>, of: &str, labels: bool, kinds: bool) {
    match (labels, kinds) {
        (true, true) => {
            sink.note(format!("the attribute `type` of {of} is left out: their labels are `label`"))
        }
        (false, true) => sink.note(format!("the attribute `type` is taken as the label of {of}")),
        _ => {}
    }
}
