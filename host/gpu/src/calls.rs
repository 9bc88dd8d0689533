//! Calls of OpenCL: the time that the device takes for each, and faults that tests ask for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gramer_base::error::Result;
use gramer_base::output::write_output;
use opencl3::error_codes::ClError;
use opencl3::event::Event;

/// Injected failure of an OpenCL call, for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Number of the call, from 0.
    pub call: u64,
    /// The code of OpenCL that it ends with.
    pub code: i32,
    /// Whether all calls after it end so as well, as those to a lost device do.
    pub lasting: bool,
}

/// The calls to a device: programs, memory, transfers and kernels.
pub(crate) struct Calls {
    fault: Option<Fault>,
    number: AtomicU64,
    profiled: bool,
    events: Mutex<Vec<(String, Event)>>,
}

/// Activity of the device, in nanoseconds of its clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub name: String,
    pub start: u64,
    pub end: u64,
}

impl Calls {
    pub fn new(fault: Option<Fault>, profiled: bool) -> Self {
        Calls { fault, number: AtomicU64::new(0), profiled, events: Mutex::default() }
    }

    /// Must precede each call: returns the error injected by a test instead of it.
    pub fn next(&self) -> std::result::Result<(), ClError> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Some(f) if number == f.call || f.lasting && number > f.call => Err(ClError(f.code)),
            _ => Ok(()),
        }
    }

    /// Whether times are requested.
    pub fn profiled(&self) -> bool {
        self.profiled
    }

    /// Keeps what was queued, if times are requested.
    pub fn queued(&self, name: &str, event: Event) {
        if self.profiled {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.push((name.into(), event));
        }
    }

    /// The times of all that was queued since they were last taken, which must be done; `None` if times
    /// aren't requested.
    pub fn take(&self) -> Option<Vec<Span>> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let span = |(name, event): (String, Event)| {
            let start = event.profiling_command_start().ok()?;
            Some(Span { name, start, end: event.profiling_command_end().ok()? })
        };
        self.profiled.then(|| events.drain(..).filter_map(span).collect())
    }
}

/// Time by name, and how often it was called.
pub(crate) fn totals(spans: &[Span]) -> BTreeMap<&str, (Duration, u64)> {
    let mut totals: BTreeMap<&str, (Duration, u64)> = BTreeMap::new();
    for span in spans {
        let total = totals.entry(&span.name).or_default();
        total.0 += Duration::from_nanos(span.end.saturating_sub(span.start));
        total.1 += 1;
    }
    totals
}

/// Writes spans as a trace in the format of the Chromium browser, which trace viewers such as Perfetto
/// open: kernels in one row, transfers in another. Without `force` it replaces no file.
///
/// # Errors
/// [`gramer_base::Error::Io`].
pub(crate) fn write_trace(path: &Path, force: bool, device: &str, spans: &[Span]) -> Result<()> {
    let begin = spans.iter().map(|s| s.start).min().unwrap_or(0);
    let micros = |nanos: u64| nanos as f64 / 1e3;
    write_output(path, force, |out| {
        writeln!(out, "{{\"otherData\": {{\"device\": {device:?}}}, \"traceEvents\": [")?;
        for (row, name) in [(1, "kernels"), (2, "transfers")] {
            writeln!(
                out,
                "{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": {row}, \
                 \"args\": {{\"name\": \"{name}\"}}}}{}",
                if row == 2 && spans.is_empty() { "" } else { "," }
            )?;
        }
        for (at, span) in spans.iter().enumerate() {
            let row = if TRANSFERS.contains(&span.name.as_str()) { 2 } else { 1 };
            writeln!(
                out,
                "{{\"name\": {:?}, \"ph\": \"X\", \"pid\": 1, \"tid\": {row}, \"ts\": {:.3}, \
                 \"dur\": {:.3}}}{}",
                span.name,
                micros(span.start - begin),
                micros(span.end.saturating_sub(span.start)),
                if at + 1 == spans.len() { "" } else { "," }
            )?;
        }
        writeln!(out, "]}}")
    })
}

/// Names of operations other than kernels.
pub(crate) const TRANSFERS: [&str; 3] = [WRITE, READ, CLEAR];
pub(crate) const WRITE: &str = "write";
pub(crate) const READ: &str = "read";
pub(crate) const CLEAR: &str = "clear";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_comes_once_or_stays() {
        let codes = |lasting| {
            let calls = Calls::new(Some(Fault { call: 1, code: -36, lasting }), false);
            (0..4).map(|_| calls.next().err().map(|e| e.0)).collect::<Vec<_>>()
        };
        assert_eq!(codes(false), [None, Some(-36), None, None]);
        assert_eq!(codes(true), [None, Some(-36), Some(-36), Some(-36)]);
        assert_eq!(Calls::new(None, false).take(), None);
    }

    #[test]
    fn a_trace_has_a_row_for_kernels_and_one_for_transfers() {
        let span = |name: &str, start, end| Span { name: name.into(), start, end };
        let spans =
            [span("search", 1_000, 3_500), span(READ, 4_000, 4_100), span("search", 5_000, 5_500)];
        assert_eq!(totals(&spans)["search"], (Duration::from_nanos(3_000), 2));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        write_trace(&path, false, "a \"device\"", &spans).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in [
            r#"{"name": "search", "ph": "X", "pid": 1, "tid": 1, "ts": 0.000, "dur": 2.500},"#,
            r#"{"name": "read", "ph": "X", "pid": 1, "tid": 2, "ts": 3.000, "dur": 0.100},"#,
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.contains(r#"{"device": "a \"device\""}"#) && text.ends_with("}\n]}\n"));
        write_trace(&path, true, "none", &[]).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains(",\n]"));
    }
}
