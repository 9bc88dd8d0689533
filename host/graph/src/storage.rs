//! An array that lives in memory or in a mapped file.

use std::ops::Deref;
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;

/// A read-only array: a vector of ours, or a part of a mapped image.
#[derive(Debug, Clone)]
pub enum Storage<T: Pod> {
    /// In memory.
    Owned(Vec<T>),
    /// `len` elements from byte `start` of the file.
    Mapped {
        /// The mapped file.
        map: Arc<Mmap>,
        /// First byte; a multiple of the element's alignment.
        start: usize,
        /// Number of elements.
        len: usize,
    },
}

impl<T: Pod> Deref for Storage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Storage::Owned(items) => items,
            Storage::Mapped { map, start, len } => {
                bytemuck::cast_slice(&map[*start..*start + *len * size_of::<T>()])
            }
        }
    }
}

impl<T: Pod> From<Vec<T>> for Storage<T> {
    fn from(items: Vec<T>) -> Self {
        Storage::Owned(items)
    }
}
