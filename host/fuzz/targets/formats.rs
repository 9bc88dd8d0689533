//! The reader of each format of the table: the first byte says which one.
#![no_main]

mod common;

use gramer_base::choice::Choice;
use gramer_graph::read::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, text)) = bytes.split_first() else { return };
    let (format, ..) = Format::ALL[usize::from(*first) % Format::ALL.len()];
    // Those have their own targets.
    if !matches!(format, Format::Image | Format::BvGraph) {
        common::read_as(Some(format), text);
    }
});
