//! What one extension of a table needs: its steps, and the program with the functions of a user.

use std::sync::Arc;

use gramer_base::error::{Error, Result};

use super::super::run::Step;
use super::super::store::Segment;
use super::filter::{EdgeFilter, Filter};
use super::mining::{Kernels, Mining};
use super::source::{FunctionRole, Functions};
use super::{MOST_EDGES, MOST_VERTICES, Positions};
use crate::program::Program;

/// An extension of rows of this many vertices or edges.
pub(super) struct Extension {
    steps: Vec<Step>,
    program: Arc<Program>,
    edges: bool,
}

impl Extension {
    /// # Errors
    /// [`Error::Usage`] as [`Table::extend_vertex`](super::Table::extend_vertex), [`Error::Device`].
    pub fn new(mining: &Mining, columns: usize, by: &Positions, filter: &Filter) -> Result<Self> {
        if columns >= MOST_VERTICES {
            return Err(Error::usage(format!(
                "rows have {columns} vertices, and a table has at most {MOST_VERTICES}"
            )));
        }
        let terms = filter.terms(columns, mining.labels())?;
        let steps = terms.steps(columns, by.of(columns)?);
        let functions = Functions::keep(FunctionRole::Vertex, &filter.sources);
        let kernels = Kernels::Extension { degrees: terms.has_degrees() };
        Ok(Extension { steps, program: mining.program(kernels, &functions)?, edges: false })
    }

    /// # Errors
    /// [`Error::Usage`] as [`Table::extend_edge`](super::Table::extend_edge), [`Error::Device`].
    pub fn of_edges(mining: &Mining, columns: usize, filter: &EdgeFilter) -> Result<Self> {
        if columns >= MOST_EDGES {
            return Err(Error::usage(format!(
                "rows have {columns} edges, and a table has at most {MOST_EDGES}"
            )));
        }
        let steps = filter.step(mining.labels())?.into_iter().collect();
        let functions = Functions::keep(FunctionRole::Edge, &filter.sources);
        Ok(Extension { steps, program: mining.program(Kernels::Edges, &functions)?, edges: true })
    }

    pub fn run(
        &self,
        mining: &Mining,
        segment: Segment,
        found: &mut dyn FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        mining.extend((&self.program, self.edges), segment, &self.steps, Some(found))?;
        Ok(())
    }

    pub fn count(&self, mining: &Mining, segment: Segment) -> Result<u128> {
        mining.extend((&self.program, self.edges), segment, &self.steps, None)
    }
}
