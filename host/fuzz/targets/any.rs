//! Detection of the format, decompression, and the reader that follows.
#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| common::read_as(None, bytes));
