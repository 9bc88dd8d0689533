//! Graphs whose vertices and edges have attributes: which of them are names and labels.
//!
//! GraphML, GEXF, GML, Pajek and JSON let programs call the name of a vertex as they like. A vertex is called by its
//! attribute `name`, else by its attribute `label`, if each vertex has one and no two are the same; else by its id.
//! Labels are the attribute that the options name, else `label`, unless that is the name, else `type`. Other attributes
//! are left out, with a note.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::Sink;
use gramer_base::error::{Error, Place, Result, quote};

/// The attributes that count.
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    name: Option<String>,
    label: Option<String>,
    kind: Option<String>,
    /// The attribute that the options name as the label.
    named_label: Option<&'a str>,
    /// Its value.
    label_by_name: Option<String>,
}

impl Values<'_> {
    /// Sets an attribute; returns `false` if it is ignored.
    pub fn set(&mut self, key: &str, value: String) -> bool {
        let is_label = self.named_label == Some(key);
        if is_label {
            self.label_by_name = Some(value.clone());
        }
        match key {
            "name" => self.name = Some(value),
            "label" => self.label = Some(value),
            "type" => self.kind = Some(value),
            _ => return is_label,
        }
        true
    }

    /// Sets the default of an attribute that the element doesn't have.
    pub fn set_default(&mut self, key: &str, value: &str) {
        if self.named_label == Some(key) {
            self.label_by_name.get_or_insert_with(|| value.into());
        }
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
struct Vertex<'a> {
    id: String,
    /// The line that declares it; `None` while only edges name it.
    line: Option<u64>,
    values: Values<'a>,
}

#[derive(Debug)]
struct Edge<'a> {
    line: u64,
    ends: [u32; 2],
    values: Values<'a>,
}

/// Graph collected from elements in any order.
#[derive(Debug)]
pub(super) struct AttributeGraph<'a> {
    path: &'a Path,
    /// Attributes that the options name as the labels of vertices and of edges.
    named_labels: [Option<&'a str>; 2],
    vertices: Vec<Vertex<'a>>,
    numbers: HashMap<String, u32>,
    edges: Vec<Edge<'a>>,
    /// Names of ignored attributes, of vertices and of edges.
    left_out: [BTreeSet<String>; 2],
}

impl<'a> AttributeGraph<'a> {
    /// Creates an empty graph for the file of a sink.
    pub fn new(sink: &Sink<'a>) -> Self {
        let columns = &sink.options().columns;
        AttributeGraph {
            path: sink.path(),
            named_labels: [columns.label.as_deref(), columns.edge_label.as_deref()],
            vertices: vec![],
            numbers: HashMap::new(),
            edges: vec![],
            left_out: Default::default(),
        }
    }

    /// Attributes of an element that begins.
    pub fn values(&self, of_edge: bool) -> Values<'a> {
        Values { named_label: self.named_labels[usize::from(of_edge)], ..Values::default() }
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
    pub fn vertex(&mut self, line: u64, id: &str, values: Values<'a>) -> Result<()> {
        let number = self.number(line, id)?;
        let vertex = &mut self.vertices[number as usize];
        if let Some(first) = vertex.line {
            let what = format!(
                "vertex {} is declared twice, first at line {first}; give each its own id",
                quote(id)
            );
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
    pub fn edge(&mut self, line: u64, ends: [&str; 2], values: Values<'a>) -> Result<()> {
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
        let AttributeGraph { path, named_labels, vertices, edges, left_out, .. } = self;
        let undeclared =
            |edge: &&Edge| edge.ends.iter().any(|&end| vertices[end as usize].line.is_none());
        if let Some(edge) = edges.iter().find(undeclared) {
            let end = edge.ends.iter().find(|&&end| vertices[end as usize].line.is_none());
            let id = quote(&vertices[end.map_or(0, |&end| end as usize)].id);
            let what = format!(
                "an edge goes to {id}, which is not a declared vertex: the file may be cut off; each end of an edge is the \
                 id of a vertex"
            );
            return Err(Error::input(Place::line(path, edge.line), what));
        }
        let name = |vertex: &Vertex| vertex.values.name.clone();
        let label = |vertex: &Vertex| vertex.values.label.clone();
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
        let of = Labelled { elements: "vertices", named: named_labels[0], left_out: &left_out[0] };
        let label_of_vertex = of.label(sink, vertices.iter().map(|v| &v.values), by_label)?;
        let mut own = Vec::with_capacity(vertices.len());
        for vertex in &vertices {
            let number = sink.vertex(names(vertex).unwrap_or_default().as_bytes())?;
            if let Some(label) = label_of_vertex(&vertex.values) {
                sink.vertex_label(number, label.as_bytes())?;
            }
            own.push(number);
        }
        let of = Labelled { elements: "edges", named: named_labels[1], left_out: &left_out[1] };
        let label_of_edge = of.label(sink, edges.iter().map(|e| &e.values), false)?;
        for edge in &edges {
            let [source, target] = edge.ends.map(|end| own[end as usize]);
            sink.edge(source, target, label_of_edge(&edge.values).map(str::as_bytes))?;
        }
        let labelled = [
            vertices.iter().any(|vertex| label_of_vertex(&vertex.values).is_some()),
            edges.iter().any(|edge| label_of_edge(&edge.values).is_some()),
        ];
        let of = [("vertices", "label"), ("edges", "edge_label")];
        let of = of.into_iter().zip(named_labels);
        for ((((of, setting), named), mut left_out), labelled) in of.zip(left_out).zip(labelled) {
            // An element may have an empty value of the label's attribute.
            left_out.retain(|name| Some(name.as_str()) != named);
            if left_out.is_empty() {
                continue;
            }
            let list: Vec<String> = left_out.iter().take(10).map(quote).collect();
            let more = if left_out.len() > 10 { " and others" } else { "" };
            let cure = match labelled || left_out.iter().all(|name| name == "weight") {
                true => String::new(),
                false => format!("; the setting `{setting}` makes one of them the label"),
            };
            sink.note(format!("attributes of {of} are left out: {}{more}{cure}", list.join(", ")));
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

/// Labels of the vertices or the edges of a graph.
struct Labelled<'a> {
    elements: &'static str,
    /// The attribute that the options name.
    named: Option<&'a str>,
    /// Other attributes of the elements.
    left_out: &'a BTreeSet<String>,
}

type LabelOf = for<'v> fn(&'v Values<'_>) -> Option<&'v str>;

impl Labelled<'_> {
    /// What gives the label of an element. `is_name`: their attribute `label` is their name.
    ///
    /// # Errors
    /// Where no element has the attribute that the options name.
    fn label<'v>(
        &self,
        sink: &mut Sink<'_>,
        all: impl Iterator<Item = &'v Values<'v>> + Clone,
        is_name: bool,
    ) -> Result<LabelOf> {
        let of = self.elements;
        let labels = !is_name && all.clone().any(|values| values.label.is_some());
        let kinds = all.clone().any(|values| values.kind.is_some());
        let own = [("label", labels), ("type", kinds)].into_iter().filter(|(_, any)| *any);
        if let Some(named) = self.named {
            if all.clone().next().is_some() && all.clone().all(|v| v.label_by_name.is_none()) {
                let own = own.map(|(name, _)| quote(name));
                let have: Vec<String> =
                    own.chain(self.left_out.iter().map(quote)).take(20).collect();
                if self.left_out.contains(named) {
                    let named = quote(named);
                    let what = format!("the attribute {named} of {of} holds no text and no number");
                    return Err(Error::usage(format!("{}: {what}", Place::file(sink.path()))));
                }
                return Err(Error::usage(format!(
                    "{}: {of} have no attribute {}{}",
                    Place::file(sink.path()),
                    quote(named),
                    if have.is_empty() {
                        String::new()
                    } else {
                        format!(", but {}", have.join(", "))
                    }
                )));
            }
            for (name, _) in own.filter(|(name, _)| *name != named) {
                sink.note(format!(
                    "the attribute `{name}` of {of} is left out: their labels are {}",
                    quote(named)
                ));
            }
            return Ok(|values| values.label_by_name.as_deref());
        }
        if labels && kinds {
            let what = "is left out: their labels are `label`";
            sink.note(format!("the attribute `type` of {of} {what}"));
        } else if kinds {
            sink.note(format!("the attribute `type` is taken as the label of {of}"));
        }
        Ok(match labels {
            true => |values| values.label.as_deref(),
            false => |values| values.kind.as_deref(),
        })
    }
}
