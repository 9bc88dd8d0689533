//! An array that lives in memory or in a mapped file.

use std::ops::Deref;
use std::sync::Arc;

use bytemuck::Pod;

use super::mapping::Mapping;

/// A read-only array: a vector of ours, or a part of a mapped image. Copies share its elements.
#[derive(Debug, Clone)]
pub struct Storage<T: Pod>(Place<T>);

#[derive(Debug, Clone)]
enum Place<T> {
    Owned(Arc<Vec<T>>),
    /// `len` elements from byte `start` on: inside the file, at a multiple of their alignment.
    Mapped {
        map: Arc<Mapping>,
        start: usize,
        len: usize,
    },
}

impl<T: Pod> Storage<T> {
    /// The elements in the bytes `at` of a file.
    ///
    /// # Panics
    /// If the file ends before, or elements would not be aligned.
    pub fn mapped(map: Arc<Mapping>, at: std::ops::Range<usize>) -> Self {
        let elements: &[T] = bytemuck::cast_slice(&map[at.clone()]);
        let len = elements.len();
        Storage(Place::Mapped { map, start: at.start, len })
    }
}

impl<T: Pod> Deref for Storage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Owned(items) => items,
            Place::Mapped { map, start, len } => {
                bytemuck::cast_slice(&map[*start..*start + *len * size_of::<T>()])
            }
        }
    }
}

impl<T: Pod> From<Vec<T>> for Storage<T> {
    fn from(items: Vec<T>) -> Self {
        Storage(Place::Owned(Arc::new(items)))
    }
}
