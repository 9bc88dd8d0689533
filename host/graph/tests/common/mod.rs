//! What tests of readers share.
#![allow(dead_code, reason = "each test binary uses some of it")]

use std::path::Path;

use gramer_base::{Context, Result};
use gramer_graph::read::{Format, GraphFile, ReadOptions, read_bytes};

/// Reads a text as if from a file of this name.
pub fn parse_named(name: &str, text: &str, format: Option<Format>) -> Result<GraphFile> {
    let options = ReadOptions { format, ..ReadOptions::default() };
    read_bytes(Path::new(name), text.into(), &options, &Context::with_threads(1))
}

/// Reads a text as if from a file `g`.
pub fn parse(text: &str) -> GraphFile {
    parse_named("g", text, None).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// The message with which a text is refused.
pub fn refused(text: &str) -> String {
    match parse_named("g", text, None) {
        Err(error) => error.to_string(),
        Ok(read) => panic!("{text:?} is read as {}: {:?}", read.format, pairs(&read)),
    }
}

/// The edges by original id, the smaller one first.
pub fn pairs(loaded: &GraphFile) -> Vec<(u64, u64)> {
    let graph = &loaded.graph;
    let ids = graph.original_ids();
    let mut pairs: Vec<(u64, u64)> = (0..graph.vertices() as u32)
        .flat_map(|u| graph.view().neighbours(u).iter().map(move |&v| (u, v)))
        .map(|(u, v)| (ids[u as usize], ids[v as usize]))
        .filter(|(u, v)| u < v)
        .collect();
    pairs.sort_unstable();
    pairs
}
