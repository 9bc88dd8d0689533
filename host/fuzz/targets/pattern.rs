//! Patterns in all forms of files, and in one line. What is accepted must be a pattern that its JSON gives back.
#![no_main]

use std::path::Path;

use gramer_pattern::{MAX_VERTICES, parse_pattern, parse_text, pattern_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse_pattern(bytes, Path::new("fuzz")) {
        Ok(pattern) => {
            assert!((1..=MAX_VERTICES).contains(&pattern.vertices()));
            let json = serde_json::to_vec(&pattern).expect("memory");
            assert_eq!(parse_pattern(&json, Path::new("json")).expect("our own JSON"), pattern);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok((pattern, labels)) = parse_text(text) {
        assert!((1..=MAX_VERTICES).contains(&pattern.vertices()) && labels.len() <= text.len());
        let number = |label: u32| label.to_string();
        let (again, _) = parse_text(&pattern_text(&pattern, &number, &number)).expect("our own text");
        let sizes = |p: &gramer_pattern::Pattern| (p.vertices(), p.edge_count(), p.absences().len());
        assert_eq!(sizes(&again), sizes(&pattern));
    }
});
