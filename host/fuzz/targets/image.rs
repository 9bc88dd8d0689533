//! Binary images. So that the fuzzer gets past the checksums, they are made right first: what is
//! left must still be refused or be a sound graph as far as the reader promises.
#![no_main]

use std::path::Path;

use gramer::graph::image;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("fuzz");
    let _ = image::from_bytes(path, bytes);
    let mut sealed = bytes.to_vec();
    image::seal(&mut sealed);
    let Ok(graph) = image::from_bytes(path, &sealed) else { return };
    let view = graph.view();
    for v in 0..graph.vertices() as u32 {
        let row = view.neighbours(v);
        assert!(row.is_sorted_by(|a, b| a < b) && !row.contains(&v));
        assert!(row.iter().all(|&u| (u as usize) < graph.vertices()));
    }
});
