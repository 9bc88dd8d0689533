//! A share of a run, for programs that use the library: `--share`.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use gramer_engine::{Share, Units};
use gramer_graph::Graph;
use gramer_graph::error::{Error, Place, Result};

use super::Common;

/// An option that no help shows: what people share out is `--device A,B` and `--distribute`.
#[derive(Debug, Clone, clap::Args)]
pub struct ShareArgs {
    /// Mine the work units of FILE alone, a share as the library serialises it for the graph in the order
    /// of Rank(ON_1), and write the library's outcome as JSON to the file of --to
    #[arg(long, hide = true, value_name = "FILE", requires = "to")]
    #[arg(conflicts_with_all = ["estimate", "checkpoint", "distribute"])]
    pub share: Option<PathBuf>,
}

impl Common {
    /// The share that is asked for, if one is.
    pub(super) fn share(&self, graph: &Graph, per: bool) -> Result<Option<Share>> {
        let Some(path) = &self.share.share else { return Ok(None) };
        if per {
            return Err(Error::usage("--share is of runs without --per"));
        }
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let wrong = |what: String| Error::input(Place::file(path), what);
        let share: Share = serde_json::from_reader(BufReader::new(file))
            .map_err(|e| wrong(format!("this is no share of work units: {e}")))?;
        Units::Share(&share).check(graph.view()).map_err(|e| wrong(e.to_string()))?;
        Ok(Some(share))
    }
}
