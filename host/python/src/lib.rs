//! The extension module `gramer._gramer`: what the Python package `gramer` is built on.
//!
//! Python's half (`gramer/__init__.py`) converts graphs of other libraries and documents the
//! functions; this half owns the graph, runs the engines without Python's global lock, listens to
//! signals meanwhile, and hands arrays over without copying them.

mod error;
mod graph;
mod pattern;
mod per;
mod run;
mod stream;

use pyo3::prelude::*;

/// What `gramer/__init__.py` wraps; not meant to be used by itself.
#[pymodule]
fn _gramer(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add_class::<graph::Graph>()?;
    module.add_class::<pattern::Pattern>()?;
    module.add_class::<stream::Embeddings>()?;
    module.add_function(wrap_pyfunction!(pattern::table, module)?)?;
    module.add("Error", python.get_type::<error::Error>())?;
    module.add("InputError", python.get_type::<error::InputError>())?;
    module.add("UnsupportedError", python.get_type::<error::UnsupportedError>())?;
    module.add("DeviceError", python.get_type::<error::DeviceError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
