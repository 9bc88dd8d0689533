//! Graphs.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use gramer_base::Context;
use gramer_base::context::Cancel;
use gramer_base::error::{Place, Result};
use gramer_base::memory::{Phase, collected};
use gramer_base::output::write_output;
use gramer_engine::{Ask, Column, Engine, EngineExt, Facts, Outcome, Per, Query, Sink, Subject};
use gramer_graph::names::Interner;
use gramer_graph::read::{Columns, Format, Ids, ReadOptions, VertexTable, read};
use gramer_graph::{Builder, Dictionaries, Names, VertexId, image, prepare};
use gramer_pattern::{Task, read_pattern};
use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::device::Prepared;
use crate::error::raise;
use crate::pattern::Pattern;
use crate::per;
use crate::question::{Options, choice, task_of};
use crate::run::supervised;
use crate::stream::Embeddings;

/// An undirected simple graph, shared by everything that was made of it.
#[pyclass(frozen, module = "gramer")]
pub struct Graph {
    graph: Arc<gramer_graph::Graph>,
    /// The same in the order that the engines want, once one ran.
    ranked: OnceLock<Arc<gramer_graph::Graph>>,
    prepared: Prepared,
    /// Remarks of the reader.
    notes: Vec<String>,
}

impl Graph {
    fn of(graph: gramer_graph::Graph, notes: Vec<String>) -> Self {
        let (ranked, prepared) = (OnceLock::new(), Prepared::default());
        Graph { graph: Arc::new(graph), ranked, prepared, notes }
    }

    /// Bytes to keep for arrays that can't be refused, where memory is limited: twice those of the graph.
    fn room(&self) -> usize {
        2 * (16 * self.graph.vertices() + 8 * self.graph.edges())
    }

    fn ranked(&self, context: &Context) -> Result<Arc<gramer_graph::Graph>> {
        if let Some(ranked) = self.ranked.get() {
            return Ok(ranked.clone());
        }
        let ranked = self.graph.guarded(|| prepare::renumber(&self.graph, context))?;
        Ok(self.ranked.get_or_init(|| Arc::new(ranked)).clone())
    }
}

/// Numbers of rows, as SciPy has them: of 32 or of 64 bits.
#[derive(FromPyObject)]
enum Indices<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

impl Indices<'_> {
    fn len(&self) -> usize {
        match self {
            Indices::Short(array) => array.as_array().len(),
            Indices::Long(array) => array.as_array().len(),
        }
    }

    /// A number; `None` if it is missing or negative.
    fn get(&self, at: usize) -> Option<u64> {
        match self {
            Indices::Short(array) => u64::try_from(*array.as_array().get(at)?).ok(),
            Indices::Long(array) => u64::try_from(*array.as_array().get(at)?).ok(),
        }
    }
}

/// The texts of a dictionary.
fn texts(names: Option<&Names>) -> Option<Vec<String>> {
    names.map(|names| names.iter().map(|name| name.into_owned()).collect())
}

#[pymethods]
impl Graph {
    /// From a file.
    #[staticmethod]
    #[pyo3(signature = (path, *, format, ids, allow_mismatch, columns, vertex_table, labels, labels_column,
        vertex_labels, edge_labels, verify, max_vertices, options))]
    #[expect(clippy::too_many_arguments, reason = "one for each option of the reader")]
    fn read(
        python: Python<'_>,
        path: PathBuf,
        format: Option<String>,
        ids: String,
        allow_mismatch: bool,
        columns: [Option<String>; 6],
        vertex_table: Option<(PathBuf, Option<String>, Option<String>)>,
        labels: Option<PathBuf>,
        labels_column: Option<usize>,
        vertex_labels: bool,
        edge_labels: bool,
        verify: bool,
        max_vertices: Option<u64>,
        options: Options,
    ) -> PyResult<Self> {
        let format = format.map(|name| choice::<Format>("format", &name)).transpose()?;
        let [source, target, edge_label, label, weight, time] = columns;
        let how = ReadOptions {
            format,
            ids: choice::<Ids>("ids", &ids)?,
            allow_mismatch,
            columns: Columns { source, target, edge_label, label, weight, time },
            vertex_table: vertex_table.map(|(path, id, label)| VertexTable { path, id, label }),
            labels,
            labels_column,
            vertex_labels,
            edge_labels,
            verify,
            max_vertices,
            ..ReadOptions::default()
        };
        let watch = options.watch(python, 0)?;
        let context = options.context();
        let loaded = supervised(python, &context, &watch, |context| read(&path, &how, context))?;
        let said = |note| format!("{}: {note}", Place::file(&path));
        Ok(Graph::of(loaded.graph, loaded.notes.into_iter().map(said).collect()))
    }

    /// From an array of two columns of ids. `names` are those of ids, of vertex labels and of edge labels.
    #[staticmethod]
    fn from_edges(
        python: Python<'_>,
        edges: PyReadonlyArray2<'_, u64>,
        vertices: Option<u64>,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        edge_labels: Option<PyReadonlyArray1<'_, u32>>,
        names: [Option<Vec<String>>; 3],
        options: Options,
    ) -> PyResult<Self> {
        let [vertex_names, label_names, edge_label_names] =
            names.map(|texts| texts.map(dictionary));
        let names = Dictionaries {
            vertices: vertex_names.transpose()?,
            vertex_labels: label_names.transpose()?,
            edge_labels: edge_label_names.transpose()?,
        };
        let _phase = Phase::begin(&"taking the edges");
        let edges = edges.as_array();
        let largest = edges.iter().copied().max().unwrap_or(0);
        let of_edges = edge_labels.as_ref().map_or(0, |labels| labels.as_array().len());
        let of_vertices = labels.as_ref().map_or(0, |labels| labels.as_array().len());
        let mut builder =
            Builder::with_room(edges.nrows(), largest, of_edges, of_vertices).map_err(raise)?;
        match &edge_labels {
            Some(labels) => {
                let rows = edges.rows().into_iter().zip(labels.as_array());
                rows.for_each(|(e, &label)| builder.labelled_edge(e[0], e[1], label));
            }
            None => edges.rows().into_iter().for_each(|e| builder.edge(e[0], e[1])),
        }
        if let Some(vertices) = vertices {
            builder.vertex_range(0..vertices);
        }
        if let Some(labels) = &labels {
            let labels = labels.as_array();
            (0..).zip(labels).for_each(|(id, &label)| builder.vertex_label(id, label));
        }
        let (watch, context) = (options.watch(python, 0)?, options.context());
        let graph = supervised(python, &context, &watch, |context| builder.build_with(context))?;
        Ok(Graph::of(graph.with_names(names), Vec::new()))
    }

    /// From the rows of a compressed sparse matrix, which are read where they lie.
    #[staticmethod]
    fn from_rows(
        python: Python<'_>,
        starts: Indices<'_>,
        columns: Indices<'_>,
        options: Options,
    ) -> PyResult<Self> {
        let wrong = |what: String| PyValueError::new_err(format!("the matrix {what}"));
        let count = |at: usize| {
            starts
                .get(at)
                .ok_or_else(|| wrong(format!("has a row that begins before 0, number {at}")))
        };
        let rows = starts.len().checked_sub(1).ok_or_else(|| wrong("has no indptr".into()))?;
        let _phase = Phase::begin(&"taking the matrix");
        let mut builder = Builder::with_room(columns.len(), rows as u64, 0, 0).map_err(raise)?;
        builder.vertex_range(0..rows as u64);
        for row in 0..rows {
            let (from, to) = (count(row)?, count(row + 1)?);
            if from > to || to > columns.len() as u64 {
                return Err(wrong(format!("has a row that ends at {to}, number {row}")));
            }
            for at in from..to {
                match columns.get(at as usize) {
                    Some(column) if column < rows as u64 => builder.edge(row as u64, column),
                    _ => {
                        return Err(wrong(format!("names a column that isn't there in row {row}")));
                    }
                }
            }
        }
        let (watch, context) = (options.watch(python, 0)?, options.context());
        let graph = supervised(python, &context, &watch, |context| builder.build_with(context))?;
        Ok(Graph::of(graph, Vec::new()))
    }

    /// A pattern by its name, from a line of text or from a file; its labels may be names of the graph's.
    fn pattern(&self, words: PathBuf) -> PyResult<Pattern> {
        let input = read_pattern(&words, &Cancel::default()).map_err(raise)?;
        input.resolve_in(&self.graph).map(Pattern).map_err(raise)
    }

    /// As an image file.
    fn save(&self, python: Python<'_>, path: PathBuf, name: &str) -> PyResult<()> {
        python
            .detach(|| {
                let write = |out: &mut dyn Write| image::write_to(out, &self.graph, name);
                self.graph.guarded(|| write_output(&path, false, write))
            })
            .map_err(raise)
    }

    #[getter]
    fn vertices(&self) -> usize {
        self.graph.vertices()
    }

    #[getter]
    fn edges(&self) -> usize {
        self.graph.edges()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    #[getter]
    fn dropped(&self) -> (u64, u64) {
        let stats = self.graph.stats();
        (stats.self_loops, stats.duplicates)
    }

    /// V + 1 positions in `neighbours`, not copied.
    #[getter]
    fn offsets<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<u64>> {
        view(this, this.get().graph.view().offsets)
    }

    /// 2 E neighbours, not copied.
    #[getter]
    fn neighbours<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<VertexId>> {
        view(this, this.get().graph.view().neighbours)
    }

    /// V ids of the input, not copied.
    #[getter]
    fn ids<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<u64>> {
        view(this, this.get().graph.original_ids())
    }

    /// The names that ids are numbers of, if vertices have names.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        texts(self.graph.names().vertices.as_deref())
    }

    /// The texts that vertex labels are numbers of, if they are texts.
    #[getter]
    fn label_names(&self) -> Option<Vec<String>> {
        texts(self.graph.names().vertex_labels.as_deref())
    }

    /// The same of edge labels.
    #[getter]
    fn edge_label_names(&self) -> Option<Vec<String>> {
        texts(self.graph.names().edge_labels.as_deref())
    }

    /// V labels, not copied.
    #[getter]
    fn labels<'py>(this: &Bound<'py, Self>) -> Option<Bound<'py, PyArray1<u32>>> {
        this.get().graph.view().vertex_labels.map(|labels| view(this, labels))
    }

    /// 2 E labels, not copied.
    #[getter]
    fn edge_labels<'py>(this: &Bound<'py, Self>) -> Option<Bound<'py, PyArray1<u32>>> {
        this.get().graph.view().edge_labels.map(|labels| view(this, labels))
    }

    /// Answers a task: patterns with counts, and the other lines: sizes of cliques that are larger than a pattern can be,
    /// or names, with counts.
    #[expect(clippy::type_complexity, reason = "a tuple that only gramer/__init__.py takes apart")]
    fn run(
        &self,
        python: Python<'_>,
        question: &Bound<'_, PyDict>,
        options: Options,
    ) -> PyResult<(Vec<(Pattern, u128)>, Vec<(Py<PyAny>, u128)>)> {
        let outcome = self.outcome(python, &task_of(question)?, &options, None)?;
        let counts = outcome.results.into_iter().map(|c| (Pattern(c.pattern), c.count)).collect();
        let key = |of: Subject| -> PyResult<Py<PyAny>> {
            match of {
                Subject::Clique(size) => Ok(size.into_pyobject(python)?.into_any().unbind()),
                of => Ok(of.name().into_pyobject(python)?.into_any().unbind()),
            }
        };
        let rows = outcome.rows.into_iter().map(|row| Ok((key(row.of)?, row.count)));
        Ok((counts, rows.collect::<PyResult<_>>()?))
    }

    /// In how many occurrences of each pattern each vertex is: patterns, and V numbers for each; Python's
    /// own where one needs more than 64 bits.
    fn per_vertex<'py>(
        &self,
        python: Python<'py>,
        question: &Bound<'_, PyDict>,
        options: Options,
    ) -> PyResult<Vec<(Pattern, Bound<'py, PyAny>)>> {
        let task = task_of(question)?;
        if answers(options.engine(python)?.as_ref(), &task, Per::Vertex) {
            let outcome = self.counted_per(python, &task, Per::Vertex, &options)?;
            let ranked = self.ranked(&options.context()).map_err(raise)?;
            return per::arrays(python, &outcome, Per::Vertex, &ranked, &self.graph);
        }
        let tally = per::Vertices::new(self.graph.vertices());
        let outcome = self.outcome(python, &task, &options, Some(&tally))?;
        let ranked = self.ranked(&options.context()).map_err(raise)?;
        let _phase = Phase::begin(per::ANSWERING);
        let by_id = per::positions(&ranked, &self.graph).map_err(raise)?;
        let counts = tally.finish(&by_id).map_err(raise)?;
        let column = |column| {
            let (pattern, counts) = column?;
            Ok((Pattern(pattern), PyArray1::from_vec(python, counts).into_any()))
        };
        let columns = per::columns(&outcome, counts, self.graph.vertices()).map(column);
        columns.collect::<Result<_>>().map_err(raise)
    }

    /// In how many occurrences of each pattern each edge is, parallel to `neighbours`.
    fn per_edge<'py>(
        &self,
        python: Python<'py>,
        question: &Bound<'_, PyDict>,
        options: Options,
    ) -> PyResult<Vec<(Pattern, Bound<'py, PyAny>)>> {
        let task = task_of(question)?;
        let (watch, context) = (options.watch(python, self.room())?, options.context());
        let ranked = supervised(python, &context, &watch, |context| self.ranked(context))?;
        let engine = options.engine(python)?;
        if let (Task::Clique { k }, false) = (&task, answers(engine.as_ref(), &task, Per::Edge)) {
            let tally = per::Edges::new(&ranked).map_err(raise)?;
            self.outcome(python, &task, &options, Some(&tally))?;
            let _phase = Phase::begin(per::ANSWERING);
            let by_id = per::positions(&ranked, &self.graph).map_err(raise)?;
            let counts = python.detach(|| tally.finish(&by_id, &self.graph)).map_err(raise)?;
            let clique = Pattern(gramer_pattern::Pattern::clique(*k));
            return Ok(vec![(clique, PyArray1::from_vec(python, counts).into_any())]);
        }
        let outcome = self.counted_per(python, &task, Per::Edge, &options)?;
        per::arrays(python, &outcome, Per::Edge, &ranked, &self.graph)
    }

    /// How many occurrences of each pattern each graph of a file of several has, by ascending number.
    fn per_graph<'py>(
        &self,
        python: Python<'py>,
        question: &Bound<'_, PyDict>,
        options: Options,
    ) -> PyResult<Vec<(Pattern, Bound<'py, PyAny>)>> {
        let outcome = self.counted_per(python, &task_of(question)?, Per::Graph, &options)?;
        let ranked = self.ranked(&options.context()).map_err(raise)?;
        per::arrays(python, &outcome, Per::Graph, &ranked, &self.graph)
    }

    /// The lines of a statistic.
    fn lines(
        &self,
        python: Python<'_>,
        question: &Bound<'_, PyDict>,
        options: Options,
    ) -> PyResult<Vec<(String, u128)>> {
        let outcome = self.outcome(python, &task_of(question)?, &options, None)?;
        Ok(outcome.rows.iter().map(|row| (row.of.name(), row.count)).collect())
    }

    /// The columns by vertex, or by edge parallel to `neighbours`, with their names and orbits.
    #[expect(clippy::type_complexity, reason = "a tuple that only gramer/_numbers.py takes apart")]
    fn columns<'py>(
        &self,
        python: Python<'py>,
        question: &Bound<'_, PyDict>,
        per: &str,
        options: Options,
    ) -> PyResult<Vec<(String, Option<usize>, Bound<'py, PyAny>)>> {
        let per = choice::<Per>("per", per)?;
        let outcome = self.counted_per(python, &task_of(question)?, per, &options)?;
        let ranked = self.ranked(&options.context()).map_err(raise)?;
        let _phase = Phase::begin(per::ANSWERING);
        let by_id = per::positions(&ranked, &self.graph).map_err(raise)?;
        let column = |column: &Column| {
            let counts = collected(column.counts.iter()).map_err(raise)?;
            let moved = per::moved(&counts, per, &ranked, &by_id, &self.graph).map_err(raise)?;
            let orbit = column.orbit.as_ref().map(|orbit| orbit.number);
            Ok((column.of.name(), orbit, per::array(python, moved)?))
        };
        outcome.columns.iter().map(column).collect()
    }

    /// The embeddings, as they are found.
    fn embeddings(
        &self,
        python: Python<'_>,
        question: &Bound<'_, PyDict>,
        limit: Option<u64>,
        options: Options,
    ) -> PyResult<Embeddings> {
        let task = task_of(question)?;
        let engine = options.engine(python)?;
        let (query, facts) = (Query::new(task.clone()).list(true), Facts::of(&self.graph));
        engine.plan(&Ask::new(&query).facts(Some(&facts))).map_err(raise)?;
        let (watch, context) = (options.watch(python, self.room())?, options.context());
        let graph = supervised(python, &context, &watch, |context| self.ranked(context))?;
        Embeddings::start(engine, graph, task, limit, context, self.room())
    }
}

/// Different texts by number.
fn dictionary(texts: Vec<String>) -> PyResult<Arc<Names>> {
    let mut interner = Interner::default();
    for text in &texts {
        interner.number(text.as_bytes()).map_err(raise)?;
    }
    match interner.len() == texts.len() {
        true => Ok(Arc::new(interner.finish())),
        false => Err(PyValueError::new_err("a name is repeated")),
    }
}

/// Whether an engine counts a task per vertex or per edge.
fn answers(engine: &dyn Engine, task: &Task, per: Per) -> bool {
    let query = Query::new(task.clone()).answer(per.into());
    engine.plan(&Ask::new(&query)).is_ok()
}

impl Graph {
    fn counted_per(
        &self,
        python: Python<'_>,
        task: &Task,
        what: Per,
        options: &Options,
    ) -> PyResult<Outcome> {
        let engine = options.engine(python)?;
        let (query, facts) = (Query::new(task.clone()).answer(what.into()), Facts::of(&self.graph));
        engine.plan(&Ask::new(&query).facts(Some(&facts))).map_err(raise)?;
        let (watch, context) = (options.watch(python, self.room())?, options.context());
        supervised(python, &context, &watch, |context| {
            let graph = self.ranked(context)?;
            graph.guarded(|| engine.prepare(&graph, context)?.run_per(task, what, context))
        })
    }

    fn outcome(
        &self,
        python: Python<'_>,
        task: &Task,
        options: &Options,
        sink: Option<&dyn Sink>,
    ) -> PyResult<Outcome> {
        let engine = options.engine(python)?;
        let (watch, context) = (options.watch(python, self.room())?, options.context());
        supervised(python, &context, &watch, |context| {
            let graph = self.ranked(context)?;
            graph.guarded(|| self.prepared.run(&*engine, &graph, task, sink, context))
        })
    }
}

/// A read-only array that lies in the graph and keeps it alive.
fn view<'py, T: Element>(graph: &Bound<'py, Graph>, items: &[T]) -> Bound<'py, PyArray1<T>> {
    // SAFETY: the items live as long as `graph`, which the array keeps alive and which is frozen;
    // nothing can write through the array.
    let array =
        unsafe { PyArray1::borrow_from_array(&ArrayView1::from(items), graph.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    array
}
