//! Peers of the tests, in threads.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Barrier, Mutex};

use gramer_base::error::Result;

use gramer_engine::Peers;

/// Threads as processes.
pub(crate) struct Threads {
    count: usize,
    barrier: Barrier,
    next: Mutex<HashMap<usize, usize>>,
    found: Mutex<Vec<Vec<u8>>>,
}

impl Threads {
    pub(crate) fn new(count: usize) -> Self {
        let barrier = Barrier::new(count);
        Threads { count, barrier, next: Mutex::default(), found: Mutex::default() }
    }
}

/// A single process that records the bytes of each level.
#[derive(Default)]
pub(crate) struct CountingPeer {
    next: Mutex<HashMap<usize, usize>>,
    pub(crate) bytes: Mutex<Vec<usize>>,
}

impl Peers for CountingPeer {
    fn threads(&self) -> usize {
        1
    }

    fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
        let first = self.next.lock().unwrap().insert(level, all).unwrap_or(0);
        Ok(first..all)
    }

    fn join(&self, _level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.bytes.lock().unwrap().push(found.len());
        Ok(vec![found])
    }
}

impl Peers for Threads {
    fn threads(&self) -> usize {
        self.count
    }

    fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
        let mut next = self.next.lock().unwrap();
        let at = next.entry(level).or_default();
        let range = *at..(*at + 3).min(all).max(*at);
        *at = range.end;
        Ok(range)
    }

    fn join(&self, _level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.found.lock().unwrap().push(found);
        self.barrier.wait();
        let all = self.found.lock().unwrap().clone();
        self.barrier.wait();
        self.found.lock().unwrap().clear();
        self.barrier.wait();
        Ok(all)
    }
}
