//! Damaged files of columns: each is read or refused, and nothing panics.

use std::path::{Path, PathBuf};

use crate::read::{Format, GraphFile, ReadOptions, read_bytes};
use gramer_base::context::Context;
use gramer_base::error::Result;

fn parse(bytes: Vec<u8>, format: Format) -> Result<GraphFile> {
    // A flipped bit may declare any number of rows: so few vertices have no more.
    let options =
        ReadOptions { format: Some(format), max_vertices: Some(64), ..ReadOptions::default() };
    read_bytes(Path::new("g"), bytes, &options, &Context::with_threads(1))
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// Names of samples with their formats.
fn samples() -> Vec<(String, Format)> {
    let names = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name());
    let format = |name: &str| match name.split('-').next() {
        Some("arrow") => Some(Format::Arrow),
        Some("parquet") => Some(Format::Parquet),
        _ => None,
    };
    let mut samples: Vec<(String, Format)> = names
        .filter_map(|name| name.into_string().ok())
        .filter_map(|name| format(&name).map(|format| (name, format)))
        .collect();
    samples.sort_by(|one, other| one.0.cmp(&other.0));
    samples
}

/// Names of both ends of each edge, sorted.
fn edges(read: &GraphFile) -> Vec<(String, String)> {
    let graph = &read.graph;
    let name = |v: u32| graph.vertex_name(v).to_string();
    let mut edges: Vec<(String, String)> = (0..graph.vertices() as u32)
        .flat_map(|u| graph.view().neighbours(u).iter().map(move |&v| (name(u), name(v))))
        .collect();
    edges.sort();
    edges
}

#[test]
fn a_flipped_byte_is_read_or_refused() {
    let (mut refused, mut read) = (0, 0);
    for (name, format) in samples() {
        let whole = sample(&name);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            // One bit, or all eight.
            bytes[at] ^= if at % 3 == 0 { 0xff } else { 1 << (at / 3 % 8) };
            match parse(bytes, format) {
                Ok(_) => read += 1,
                Err(error) => {
                    let message = error.to_string();
                    assert!(message.starts_with('g'), "{name}, byte {at}: {message}");
                    refused += 1;
                }
            }
        }
    }
    // Padding, remarks of pandas and letters of names are free; lengths, places and types are not.
    assert!(refused > 1000 && read > 1000, "{refused} refused, {read} read");
}

#[test]
fn checksums_of_pages_tell_each_change_of_a_name() {
    let whole = sample("parquet-checksums");
    let own = edges(&parse(whole.clone(), Format::Parquet).unwrap());
    // The values of both columns, each behind its length; the statistics of the footer repeat some.
    let first = |text: &[u8]| whole.windows(text.len()).position(|w| w == text).unwrap();
    let source = first(b"\x03\0\0\0ada\x03\0\0\0bob\x04\0\0\0carl\x04\0\0\0carl");
    let target = first(b"\x03\0\0\0bob\x04\0\0\0carl\x03\0\0\0ada\x04\0\0\0dora");
    for at in [source, target].into_iter().flat_map(|from| from..from + 30) {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            let error = parse(bytes, Format::Parquet).unwrap_err().to_string();
            assert!(error.contains("the Parquet file is damaged: "), "{error}");
        }
    }
    // Without checksums a letter is a letter.
    let mut plain = sample("arrow-numbers");
    assert_eq!(parse(plain.clone(), Format::Arrow).unwrap().graph.edges(), 4);
    plain.truncate(plain.len() / 2);
    assert!(parse(plain, Format::Arrow).is_err());
    assert_eq!(own.len(), 8);
}

#[test]
fn lengths_beyond_the_file_are_refused_before_memory_is_taken() {
    for name in ["arrow-lz4", "arrow-zstd"] {
        let whole = sample(name);
        // Four bytes of LZ4 or Zstandard begin a frame; the decompressed length is in front.
        let frame: &[u8] =
            if name == "arrow-lz4" { b"\x04\x22\x4d\x18" } else { b"\x28\xb5\x2f\xfd" };
        let frames = whole.windows(4).enumerate().filter(|(_, w)| *w == frame).map(|(at, _)| at);
        let frames: Vec<usize> = frames.collect();
        assert!(!frames.is_empty(), "{name}");
        for at in frames {
            for byte in 3..8 {
                let mut bytes = whole.clone();
                bytes[at - 8 + byte] = 0x7f;
                let error = parse(bytes, Format::Arrow).unwrap_err().to_string();
                assert!(error.contains("of it can't hold"), "{name}, {byte}: {error}");
            }
        }
    }
}
