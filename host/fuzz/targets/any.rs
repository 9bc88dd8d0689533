//! Detection of the format, decompression, and whatever reader follows.
#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| common::read_as(None, bytes));
