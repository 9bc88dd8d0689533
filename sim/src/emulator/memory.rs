//! Sparse device memory: unwritten memory reads as zero and takes no space.

use std::collections::HashMap;

use gramer_sim::ddr::Contents;

/// Bytes of a page.
const PAGE: u64 = 1 << 16;

/// Device memory with the banks' address ranges.
pub struct Memory {
    pages: HashMap<u64, Box<[u8]>>,
    banks: Vec<(u64, u64)>,
}

impl Memory {
    /// Creates a memory with banks of `(first address, bytes)`.
    pub fn new(banks: Vec<(u64, u64)>) -> Self {
        Memory { pages: HashMap::new(), banks }
    }

    /// Whether a range lies in one bank.
    pub fn holds(&self, address: u64, size: u64) -> bool {
        self.banks.iter().any(|&(base, bytes)| address >= base && address - base + size <= bytes)
    }

    /// Copies bytes in.
    pub fn write(&mut self, mut address: u64, mut data: &[u8]) {
        while !data.is_empty() {
            let at = (address % PAGE) as usize;
            let size = data.len().min(PAGE as usize - at);
            let page = self
                .pages
                .entry(address / PAGE)
                .or_insert_with(|| vec![0; PAGE as usize].into_boxed_slice());
            page[at..at + size].copy_from_slice(&data[..size]);
            address += size as u64;
            data = &data[size..];
        }
    }

    /// Copies bytes out.
    pub fn read(&self, mut address: u64, mut out: &mut [u8]) {
        while !out.is_empty() {
            let at = (address % PAGE) as usize;
            let size = out.len().min(PAGE as usize - at);
            let (part, rest) = out.split_at_mut(size);
            match self.pages.get(&(address / PAGE)) {
                Some(page) => part.copy_from_slice(&page[at..at + size]),
                None => part.fill(0),
            }
            address += size as u64;
            out = rest;
        }
    }

    /// Reads whole lines.
    pub fn lines(&self, address: u64, count: usize) -> Vec<[u8; 64]> {
        let mut lines = vec![[0; 64]; count];
        self.read(address, lines.as_flattened_mut());
        lines
    }
}

impl Contents for Memory {
    fn line(&self, address: u64) -> Option<[u8; 64]> {
        self.holds(address, 64).then(|| {
            let mut line = [0; 64];
            self.read(address, &mut line);
            line
        })
    }
}
