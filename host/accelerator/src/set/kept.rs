//! Streams of earlier launches, kept for the same launches on the same graph.

use std::sync::{Arc, Mutex, PoisonError};

use super::units::{InStream, Streams};

/// Bytes of streams that are kept: beyond them the oldest are dropped.
const MOST_BYTES: usize = 64 << 20;

/// Streams by what they are of, those used last at the end.
pub(crate) struct KeptStreams<K> {
    all: Mutex<Vec<(K, Streams)>>,
}

impl<K> Default for KeptStreams<K> {
    fn default() -> Self {
        KeptStreams { all: Mutex::default() }
    }
}

fn bytes_of(streams: &Streams) -> usize {
    streams.iter().map(|stream| stream.head.len() + stream.units.len()).sum()
}

impl<K: PartialEq> KeptStreams<K> {
    /// The kept streams of `key`, else those that `make` makes; also whether it made them.
    pub fn get(&self, key: K, make: impl FnOnce() -> Vec<InStream>) -> (Streams, bool) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|(of, _)| *of == key);
        let (entry, made) = match found {
            Some(at) => (all.remove(at), false),
            None => ((key, Arc::new(make())), true),
        };
        let streams = Arc::clone(&entry.1);
        all.push(entry);
        let mut bytes: usize = all.iter().map(|(_, streams)| bytes_of(streams)).sum();
        while bytes > MOST_BYTES && all.len() > 1 {
            bytes -= bytes_of(&all.remove(0).1);
        }
        (streams, made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(bytes: usize) -> Vec<InStream> {
        vec![InStream { head: vec![], units: vec![0; bytes], wait: true }]
    }

    #[test]
    fn the_oldest_streams_are_dropped() {
        let kept = KeptStreams::default();
        let half = MOST_BYTES / 2;
        let (first, made) = kept.get(1, || streams(half));
        assert!(made);
        let (again, made) = kept.get(1, || streams(half));
        assert!(!made && Arc::ptr_eq(&first, &again));
        assert!(kept.get(2, || streams(half)).1);
        // The first is used again, so the second is the oldest.
        assert!(!kept.get(1, || streams(half)).1);
        assert!(kept.get(3, || streams(1)).1);
        assert!(!kept.get(1, || streams(half)).1 && kept.get(2, || streams(half)).1);
        // Streams that are too large alone are kept until the next ones.
        assert!(kept.get(4, || streams(MOST_BYTES + 1)).1);
        assert!(!kept.get(4, || streams(1)).1);
        assert!(kept.get(1, || streams(1)).1 && kept.get(4, || streams(1)).1);
    }
}
