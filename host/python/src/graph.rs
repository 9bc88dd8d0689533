//! Graphs.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gramer_engine::cpu::Cpu;
use gramer_engine::reference::Reference;
use gramer_engine::{Ask, Engine, Facts, Outcome, Per, PerOutcome, Query, Sink};
use gramer_gpu::{Gpu, Settings, default_cache, is_gpu};
use gramer_graph::choice::Choice;
use gramer_graph::error::{Place, Result};
use gramer_graph::output::write_output;
use gramer_graph::read::{Format, ReadOptions, read};
use gramer_graph::{Builder, Context, Order, VertexId, image, prepare};
use gramer_pattern::Task;
use gramer_pattern::task::{Induced, Measure, SizeLimit};
use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raise;
use crate::pattern::Pattern;
use crate::per;
use crate::run::{Watch, supervised};
use crate::stream::Embeddings;

/// An undirected simple graph, shared by everything that was made of it.
#[pyclass(frozen, module = "gramer")]
pub struct Graph {
    graph: Arc<gramer_graph::Graph>,
    /// The same in the order that the engines want, once one ran.
    ranked: OnceLock<Arc<gramer_graph::Graph>>,
    /// Remarks of the reader.
    notes: Vec<String>,
}

impl Graph {
    fn of(graph: gramer_graph::Graph, notes: Vec<String>) -> Self {
        Graph { graph: Arc::new(graph), ranked: OnceLock::new(), notes }
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

    /// A number; `None` where there is none, or a negative one.
    fn get(&self, at: usize) -> Option<u64> {
        match self {
            Indices::Short(array) => u64::try_from(*array.as_array().get(at)?).ok(),
            Indices::Long(array) => u64::try_from(*array.as_array().get(at)?).ok(),
        }
    }
}

/// Threads, progress, time: what every run takes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    device: String,
    threads: usize,
    progress: Option<Py<PyAny>>,
    timeout: Option<f64>,
}

impl Options {
    pub fn context(&self) -> Context {
        Context::with_threads(self.threads)
    }

    fn watch(&self, python: Python<'_>) -> PyResult<Watch> {
        let limit = match self.timeout {
            None => None,
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
                PyValueError::new_err(format!(
                    "timeout is {seconds}, but must be seconds from 0 on"
                ))
            })?),
        };
        Ok(Watch { progress: self.progress.as_ref().map(|p| p.clone_ref(python)), limit })
    }

    /// The engine of this process that `device` names.
    pub fn engine(&self) -> PyResult<Box<dyn Engine>> {
        match self.device.as_str() {
            "cpu" => Ok(Box::new(Cpu)),
            "reference" => Ok(Box::new(Reference::default())),
            gpu if is_gpu(gpu) => {
                let settings = Settings { cache: default_cache(), ..Settings::default() };
                Ok(Box::new(Gpu::open(gpu, &settings).map_err(raise)?))
            }
            other => Err(PyValueError::new_err(format!("no device is called {other:?}"))),
        }
    }
}

/// What is asked, as Python says it.
pub fn task_of(question: &Bound<'_, PyDict>) -> PyResult<Task> {
    let item = |name: &str| {
        question.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("no {name} is given")))
    };
    let induced = || choice::<Induced>("induced", &item("induced")?.extract::<String>()?);
    let task = match item("task")?.extract::<String>()?.as_str() {
        "clique" => Task::Clique { k: item("k")?.extract()? },
        "maximal-cliques" => Task::MaximalCliques,
        "motif" => Task::Motif { k: item("k")?.extract()?, induced: induced()? },
        "fsm" => Task::Fsm {
            limit: match item("max_edges")?.extract()? {
                Some(edges) => SizeLimit::MaxEdges(edges),
                None => SizeLimit::MaxVertices(item("max_vertices")?.extract()?),
            },
            support: item("support")?.extract()?,
            measure: choice::<Measure>("measure", &item("measure")?.extract::<String>()?)?,
        },
        "match" => Task::Match {
            pattern: item("pattern")?.cast::<Pattern>()?.get().0.clone(),
            induced: induced()?,
            mappings: item("mappings")?.extract()?,
        },
        other => return Err(PyValueError::new_err(format!("no task is called {other:?}"))),
    };
    task.check().map_err(raise)?;
    Ok(task)
}

fn choice<T: Choice>(what: &str, name: &str) -> PyResult<T> {
    match T::ALL.iter().find(|(_, known, _)| *known == name) {
        Some((value, ..)) => Ok(*value),
        None => {
            let known: Vec<&str> = T::ALL.iter().map(|(_, name, _)| *name).collect();
            let message = format!("{what} is {name:?}, but must be one of {}", known.join(", "));
            Err(PyValueError::new_err(message))
        }
    }
}

#[pymethods]
impl Graph {
    /// From a file.
    #[staticmethod]
    #[pyo3(signature = (path, *, format, labels, labels_column, vertex_labels, edge_labels, verify,
        max_vertices, options))]
    #[expect(clippy::too_many_arguments, reason = "one for each option of the reader")]
    fn read(
        python: Python<'_>,
        path: PathBuf,
        format: Option<String>,
        labels: Option<PathBuf>,
        labels_column: Option<usize>,
        vertex_labels: bool,
        edge_labels: bool,
        verify: bool,
        max_vertices: Option<u64>,
        options: Options,
    ) -> PyResult<Self> {
        let format = format.map(|name| choice::<Format>("format", &name)).transpose()?;
        let how = ReadOptions {
            format,
            labels,
            labels_column,
            vertex_labels,
            edge_labels,
            verify,
            max_vertices,
            order: Order::Input,
        };
        let watch = options.watch(python)?;
        let context = options.context();
        let loaded = supervised(python, &context, &watch, |context| read(&path, &how, context))?;
        let said = |note| format!("{}: {note}", Place::file(&path));
        Ok(Graph::of(loaded.graph, loaded.notes.into_iter().map(said).collect()))
    }

    /// From an array of two columns of ids.
    #[staticmethod]
    fn from_edges(
        python: Python<'_>,
        edges: PyReadonlyArray2<'_, u64>,
        vertices: Option<u64>,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        edge_labels: Option<PyReadonlyArray1<'_, u32>>,
        options: Options,
    ) -> PyResult<Self> {
        let mut builder = Builder::new();
        let edges = edges.as_array();
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
        let (watch, context) = (options.watch(python)?, options.context());
        let graph = supervised(python, &context, &watch, |context| builder.build_with(context))?;
        Ok(Graph::of(graph, Vec::new()))
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
        let mut builder = Builder::new();
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
        let (watch, context) = (options.watch(python)?, options.context());
        let graph = supervised(python, &context, &watch, |context| builder.build_with(context))?;
        Ok(Graph::of(graph, Vec::new()))
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

    /// Answers a task: patterns with counts, and sizes with counts of cliques that are larger
    /// than a pattern can be.
    #[expect(clippy::type_complexity, reason = "a tuple that only gramer/__init__.py takes apart")]
    fn run(
        &self,
        python: Python<'_>,
        question: &Bound<'_, PyDict>,
        options: Options,
    ) -> PyResult<(Vec<(Pattern, u128)>, Vec<(usize, u128)>)> {
        let outcome = self.outcome(python, &task_of(question)?, &options, None)?;
        let counts = outcome.results.into_iter().map(|c| (Pattern(c.pattern), c.count)).collect();
        Ok((counts, outcome.larger_cliques))
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
        if answers(options.engine()?.as_ref(), &task, Per::Vertex) {
            let outcome = self.counted_per(python, &task, Per::Vertex, &options)?;
            let ranked = self.ranked(&options.context()).map_err(raise)?;
            let by_id = per::positions(&ranked, &self.graph);
            let columns = per::by_pattern(&outcome).map_err(raise)?;
            let column = |(pattern, counts): (_, Vec<u128>)| {
                let mut moved = vec![0; counts.len()];
                counts.iter().zip(&by_id).for_each(|(&count, &at)| moved[at as usize] = count);
                Ok((Pattern(pattern), per::array(python, moved)?))
            };
            return columns.into_iter().map(column).collect();
        }
        let tally = per::Vertices::new(self.graph.vertices());
        let outcome = self.outcome(python, &task, &options, Some(&tally))?;
        let ranked = self.ranked(&options.context()).map_err(raise)?;
        let by_id = per::positions(&ranked, &self.graph);
        Ok(per::columns(&outcome, tally.finish(&by_id), self.graph.vertices())
            .map(|(pattern, counts)| {
                (Pattern(pattern), PyArray1::from_vec(python, counts).into_any())
            })
            .collect())
    }

    /// In how many occurrences of each pattern each edge is, parallel to `neighbours`.
    fn per_edge<'py>(
        &self,
        python: Python<'py>,
        question: &Bound<'_, PyDict>,
        options: Options,
    ) -> PyResult<Vec<(Pattern, Bound<'py, PyAny>)>> {
        let task = task_of(question)?;
        let ranked = self.ranked(&options.context()).map_err(raise)?;
        let engine = options.engine()?;
        if let (Task::Clique { k }, false) = (&task, answers(engine.as_ref(), &task, Per::Edge)) {
            let tally = per::Edges::new(&ranked);
            self.outcome(python, &task, &options, Some(&tally))?;
            let by_id = per::positions(&ranked, &self.graph);
            let counts = python.detach(|| tally.finish(&by_id, &self.graph));
            let clique = Pattern(gramer_pattern::Pattern::clique(*k));
            return Ok(vec![(clique, PyArray1::from_vec(python, counts).into_any())]);
        }
        let outcome = self.counted_per(python, &task, Per::Edge, &options)?;
        let by_id = per::positions(&ranked, &self.graph);
        let columns = per::by_pattern(&outcome).map_err(raise)?;
        let column = |(pattern, counts): (_, Vec<u128>)| {
            let moved = per::by_entry(&counts, &ranked, &by_id, &self.graph);
            Ok((Pattern(pattern), per::array(python, moved)?))
        };
        columns.into_iter().map(column).collect()
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
        let engine = options.engine()?;
        let (query, facts) = (Query::new(task.clone()).list(true), Facts::of(&self.graph));
        engine.plan(&Ask::new(&query).facts(Some(&facts))).map_err(raise)?;
        let (watch, context) = (options.watch(python)?, options.context());
        let graph = supervised(python, &context, &watch, |context| self.ranked(context))?;
        Embeddings::start(engine, graph, task, limit, context)
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
    ) -> PyResult<PerOutcome> {
        let engine = options.engine()?;
        let (watch, context) = (options.watch(python)?, options.context());
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
        let engine = options.engine()?;
        let (watch, context) = (options.watch(python)?, options.context());
        supervised(python, &context, &watch, |context| {
            let graph = self.ranked(context)?;
            graph.guarded(|| engine.run(&graph, task, sink, context))
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
