//! The reader of `edges`.
#![no_main]

mod common;

use gramer_graph::read::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| common::read_as(Some(Format::Edges), bytes));
