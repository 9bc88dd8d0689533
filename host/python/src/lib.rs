//! The extension module `gramer._gramer`: what the Python package `gramer` is built on.
//!
//! Python's half (`gramer/__init__.py`) converts graphs of other libraries and documents the
//! functions; this half owns the graph, runs the engines without Python's global lock, listens to
//! signals meanwhile, and hands arrays over without copying them.

mod device;
mod error;
mod graph;
mod pattern;
mod per;
mod question;
mod run;
mod stream;

use gramer_base::spare::SpareAllocator;
use pyo3::prelude::*;

/// Python must not end where memory is refused.
#[global_allocator]
static ALLOCATOR: SpareAllocator = SpareAllocator;

/// The native part of `gramer/__init__.py`; not for direct use.
#[pymodule]
fn _gramer(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add_class::<graph::Graph>()?;
    module.add_class::<pattern::Pattern>()?;
    module.add_class::<stream::Embeddings>()?;
    module.add_function(wrap_pyfunction!(pattern::table, module)?)?;
    let close = wrap_pyfunction!(device::close, module)?;
    python.import("atexit")?.call_method1("register", (close,))?;
    module.add("Error", python.get_type::<error::Error>())?;
    module.add("InputError", python.get_type::<error::InputError>())?;
    module.add("UnsupportedError", python.get_type::<error::UnsupportedError>())?;
    module.add("DeviceError", python.get_type::<error::DeviceError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
