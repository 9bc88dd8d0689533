//! The reader of each format of the table: the last byte says which one, so that the beginning of a sample stays whole.
#![no_main]

mod common;

use gramer_base::choice::Choice;
use gramer_graph::read::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((last, text)) = bytes.split_last() else { return };
    let (format, ..) = Format::ALL[usize::from(*last) % Format::ALL.len()];
    // Those have their own targets.
    if !matches!(format, Format::Image | Format::BvGraph) {
        common::read_as(Some(format), text);
    }
});
