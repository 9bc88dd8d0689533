//! The reader of `bvgraph`: the text of the properties, a byte 0, and the stream.
#![no_main]

mod common;

use std::path::Path;

use gramer_base::Context;
use gramer_graph::read::{ReadOptions, read_bvgraph};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let properties = String::from_utf8_lossy(&bytes[..end]);
    let stream = bytes.get(end + 1..).unwrap_or_default();
    // A few bytes may stand for millions of arcs: memory is not what is tested here.
    let options = ReadOptions { max_vertices: Some(1 << 12), ..ReadOptions::default() };
    let context = Context::with_threads(1);
    match read_bvgraph(Path::new("fuzz.graph"), &properties, stream, &options, &context) {
        Ok(loaded) => common::check(&loaded.graph),
        Err(error) => assert!(error.to_string().starts_with("fuzz.")),
    }
});
