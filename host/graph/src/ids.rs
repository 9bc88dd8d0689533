//! Ids of the input.

use std::sync::{Arc, OnceLock};

use super::VertexId;
use gramer_base::Storage;

/// The id of each vertex.
#[derive(Debug, Clone)]
pub(super) enum Ids {
    Stored(Storage<u64>),
    /// Numbers of the vertices, which only a slice needs in memory.
    Numbers {
        vertices: usize,
        slice: Arc<OnceLock<Vec<u64>>>,
    },
}

impl Ids {
    pub fn of(vertices: usize, stored: Option<Storage<u64>>) -> Self {
        stored.map_or_else(|| Ids::Numbers { vertices, slice: Arc::default() }, Ids::Stored)
    }

    /// Stored ids.
    pub fn stored(self) -> Option<Storage<u64>> {
        match self {
            Ids::Stored(ids) => Some(ids),
            Ids::Numbers { .. } => None,
        }
    }

    #[inline]
    pub fn of_vertex(&self, v: VertexId) -> u64 {
        match self {
            Ids::Stored(ids) => ids[v as usize],
            Ids::Numbers { .. } => v.into(),
        }
    }

    pub fn all(&self) -> &[u64] {
        match self {
            Ids::Stored(ids) => ids,
            Ids::Numbers { vertices, slice } => {
                slice.get_or_init(|| (0..*vertices as u64).collect())
            }
        }
    }

    pub fn are_numbers(&self) -> bool {
        match self {
            Ids::Stored(ids) => ids.iter().zip(0..).all(|(&id, v)| id == v),
            Ids::Numbers { .. } => true,
        }
    }
}
