//! Errors of the host as exceptions of Python.

use std::any::Any;
use std::panic::resume_unwind;

use gramer_base::memory::AllocationRefusal;
use pyo3::exceptions::{
    PyException, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::{PyErr, create_exception};

create_exception!(
    gramer,
    Error,
    PyException,
    "Base of the exceptions of gramer, except\nValueError (an argument is out of range) and OSError (a file can't be read or written)."
);
create_exception!(
    gramer,
    InputError,
    Error,
    "A file holds something that it should not. The message names file and line."
);
create_exception!(
    gramer,
    UnsupportedError,
    Error,
    "The device can't do the task. The message names one that can."
);
create_exception!(
    gramer,
    DeviceError,
    Error,
    "A device, or what drives it, failed or isn't there."
);

/// The exception for an error of the host.
pub fn raise(error: gramer_base::Error) -> PyErr {
    use gramer_base::Error as Host;
    let message = error.to_string();
    match error {
        Host::Usage(_) => PyValueError::new_err(message),
        Host::Input { .. } => InputError::new_err(message),
        // With its number, Python makes a FileNotFoundError and the like of it.
        Host::Io { path, source, .. } => match source.raw_os_error() {
            Some(code) => PyOSError::new_err((code, message, path)),
            None => PyOSError::new_err(message),
        },
        Host::Unsupported(_) => UnsupportedError::new_err(message),
        Host::Memory(_) => PyMemoryError::new_err(message),
        Host::Threads(_) => PyRuntimeError::new_err(message),
        Host::Interrupted => PyKeyboardInterrupt::new_err(message),
        _ => DeviceError::new_err(message),
    }
}

/// The exception for a panic: `MemoryError` where an array was refused. Of others PyO3 makes one.
pub fn unwound(panic: Box<dyn Any + Send>) -> PyErr {
    match panic.downcast::<AllocationRefusal>() {
        Ok(refused) => raise(refused.0),
        Err(panic) => resume_unwind(panic),
    }
}
