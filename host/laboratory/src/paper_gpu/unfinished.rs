//! Measurements are kept in a file beside the report until that is written, so that an interrupted or failed run can
//! be continued.

use std::fs;
use std::path::{Path, PathBuf};

use gramer_base::error::{Error, Place, Result};
use gramer_base::output::{check_own, write_own};
use serde::{Deserialize, Serialize};

use super::Point;
use crate::paper::Progress;

/// The file's name in the folder of the report.
const NAME: &str = "unfinished.json";

/// Points of an unfinished run.
#[derive(Debug, Default)]
pub(super) struct PartialRun {
    /// The file; none where nothing is measured.
    path: Option<PathBuf>,
    kept: PartialRunFile,
}

/// Content of its file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct PartialRunFile {
    /// The device and what else all points must have in common.
    run: String,
    points: Vec<Point>,
}

impl PartialRun {
    /// Those of a run like `run` in the folder of a report, if one was interrupted; else none.
    ///
    /// # Errors
    /// [`Error::Io`] if the file can't be read, [`Error::Usage`] if it is no plain file, none of this program or of
    /// another run: it is the user's to remove.
    pub fn open(folder: &Path, run: String, tell: Progress<'_>) -> Result<Self> {
        let (path, run) =
            (folder.join(NAME), [&run, ", program ", env!("CARGO_PKG_VERSION")].concat());
        if folder.exists() {
            check_own(&path, "file of points", &[])?;
        }
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(PartialRun {
                    path: Some(path),
                    kept: PartialRunFile { run, points: vec![] },
                });
            }
            Err(error) => return Err(Error::io(&path, "read", error)),
        };
        let refused = |what: String| {
            let place = Place::file(&path);
            Error::usage(format!(
                "{place}: {what}; remove it to start over, or name another folder"
            ))
        };
        let kept: PartialRunFile = serde_json::from_str(&text)
            .map_err(|e| refused(format!("is no file of points: {e}")))?;
        if kept.run != run {
            return Err(refused(format!("is of another run ({}, not {run})", kept.run)));
        }
        tell(&format!(
            "{}: {} points of a run before are taken over",
            path.display(),
            kept.points.len()
        ));
        Ok(PartialRun { path: Some(path), kept })
    }

    /// The same with the points of a report.
    pub fn with(mut self, points: &[Point]) -> Self {
        self.kept.points.extend_from_slice(points);
        self
    }

    /// The point of an experiment, a graph, a task and a setting.
    pub fn point(&self, names: [&str; 4]) -> Option<Point> {
        self.kept.points.iter().find(|p| p.names() == names).cloned()
    }

    /// Number of queries of a graph.
    pub fn queries(&self, graph: &str) -> usize {
        let tasks = self.kept.points.iter().filter(|p| p.graph == graph).map(|p| &p.task);
        tasks.filter_map(|task| task.split_once(" queries")?.0.parse().ok()).next().unwrap_or(0)
    }

    /// Keeps a point.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add(&mut self, point: &Point) -> Result<()> {
        self.kept.points.push(point.clone());
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_string(&self.kept)
            .map_err(|e| Error::Device(format!("the points are no JSON: {e}")))?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
        }
        write_own(path, |out| out.write_all(text.as_bytes()))
    }

    /// The report has all points.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn end(self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(path, "remove", error))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(setting: &str) -> Point {
        Point {
            experiment: "table 1".into(),
            graph: "g".into(),
            task: "cliques".into(),
            setting: setting.into(),
            loads: Some(3.0),
            ..Point::of(0.125, 7)
        }
    }

    #[test]
    fn points_are_taken_over_by_the_same_run_alone() {
        let folder = tempfile::tempdir().unwrap();
        let open = |run: &str| PartialRun::open(folder.path(), run.into(), &|_| {});
        let mut first = open("a").unwrap();
        first.add(&point("on")).unwrap();
        first.add(&point("off")).unwrap();
        let again = open("a").unwrap();
        assert_eq!(again.point(["table 1", "g", "cliques", "off"]), Some(point("off")));
        assert_eq!(again.point(["table 1", "g", "cliques", "16"]), None);
        let other = open("b").unwrap_err();
        assert!(
            other.exit_code() == 2 && other.to_string().contains("is of another run"),
            "{other}"
        );
        again.end().unwrap();
        assert_eq!(open("b").unwrap().point(["table 1", "g", "cliques", "off"]), None);
        fs::write(folder.path().join(NAME), "[").unwrap();
        assert!(open("a").unwrap_err().to_string().contains("is no file of points"));
    }
}
